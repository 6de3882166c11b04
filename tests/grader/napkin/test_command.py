"""`manage.py napkin`: every quantity once, and one line for whatever cannot be answered."""

import json
import math
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from grader.napkin.asking import QuestionError, answer
from grader.quantities import QUANTITIES

ROOT = Path(__file__).parents[3]
HOUR, GB, GBIT, MIB = 3600, 1e9, 1e9, 2**20
# What is asked, and of each answer some values in base units, worked out by hand.
ASKED = [
    ("collective op=all-gather ranks=8 size=16GB rate=50GB/s", {"time": 0.28, "busbw_factor": 0.875}),
    ("ring-all-reduce ranks=1024 size=140GB rate=400Gbit/s", {"time": 5.59453125, "bytes_per_rank": 279.7265625 * GB}),
    ("hierarchical-all-reduce hosts=128 gpus_per_host=8 nics_per_host=8 size=140GB rate=400Gb/s",
     {"time": 2 * 127 / 128 * 140 / 8 * 8 / 400, "bytes_per_nic": 2 * 127 / 128 * 140 / 8 * GB}),
    ("alpha-beta op=all-reduce ranks=8 size=1MB rate=1Gbit/s latency=100us",
     {"time": 0.0154, "latency_share": 1.4 / 15.4, "rounds": 14, "equal_size": 1e5}),
    ("fraction-of-floor observed=20s floor=5.6s", {"ratio": 0.28, "verdict": "fault", "threshold": 0.85}),
    ("degraded-ring ranks=4 size=14MB rate=400Mbit slowest=100Mbit", {"time": 1.68, "slowdown": 4}),
    ("oversubscription hosts=32 uplinks=8 host_rate=400Gb/s uplink_rate=800Gb/s",
     {"ratio": 2, "worst_host_rate": 200 * GBIT}),
    ("transformer-params layers=2 hidden=10 vocab=100 seq=20", {"parameters": 2400 + 260 + 1200}),
    ("iteration-flops batch=1 seq=6 layers=1 hidden=1 vocab=16", {"flops": 96 * 6 * 3}),
    ("training-days params=1e9 tokens=1e12 gpus=100 achieved=100TFLOP/s", {"days": 8e21 / 1e16 / 86400}),
    ("mfu params=540B tokens_per_s=238.3k gpus=6144 peak=275TFLOPS", {"mfu": 3.24e12 * 238.3e3 / (6144 * 275e12)}),
    ("zero-memory params=7.5B ranks=64 stage=0", {"bytes_per_rank": 120 * GB}),
    ("activation-memory batch=1 seq=2048 hidden=12288 layers=1 heads=96",
     {"bytes_per_rank": 114 * 2048 * 12288, "attention_bytes": 80 * 2048 * 12288}),
    ("pipeline-bubble stages=4 microbatches=8", {"bubble_over_ideal": 3 / 8, "step_share": 3 / 11}),
    ("global-batch microbatch=2 data_parallel=128 accumulation=8", {"samples": 2048}),
    ("parallel-groups world=4 tensor=2",
     {"data_parallel": 2, "tensor": [[0, 1], [2, 3]], "data": [[0, 2], [1, 3]], "pipeline": [[0], [1], [2], [3]]}),
    ("tensor-parallel-traffic batch=1 seq=4096 hidden=8192 layers=80 tensor=8 bytes=2",
     {"bytes_per_rank": 35 * 2**30}),
    ("moe-all-to-all tokens=1000 hidden=100 top_k=2 experts_parallel=8 bytes=2",
     {"dispatch": 350_000, "forward": 700_000, "backward": 700_000, "step": 1_400_000}),
    ("ddp-buckets sizes=10MiB,20MiB,10MiB,5MiB cap_mb=25",
     {"buckets": 2, "bytes": [35 * MIB, 10 * MIB], "largest": 35 * MIB}),
    ("exposed-communication compute=500ms communication=400ms overlappable=0s", {"exposed": 0.4, "step": 0.9}),
    ("straggler-cost ranks=2 slow_factor=1.5 probability=50%", {"step_time_ratio": 1.375, "chance": 0.75}),
    ("straggler-score own_median=400ms reference_median=250ms", {"score": 0.625, "flagged": True}),
    ("scaling-efficiency time_1=2.1s ranks_1=8 time_n=2.8s ranks_n=64 kind=weak", {"efficiency": 0.75, "speedup": 6}),
    ("checkpoint-size params=70B", {"size": 980 * GB}),
    ("checkpoint-pause size=980GB writers=1 writer_rate=2GB/s storage_rate=100GB/s",
     {"time": 490, "limited_by": "writers"}),
    ("young-daly mtbf=5000s save=10s", {"interval": math.sqrt(1e5)}),
    ("availability-interval mtbf=4960s save=10s restart=40s", {"interval": 10 + math.sqrt(100_100)}),
    ("cluster-mtbf gpus=16384 reference_gpus=1024 reference_mtbf=7.9h", {"mtbf": 7.9 * HOUR / 16}),
    ("checkpoint-overhead save=40s interval=3h mtbf=100h restart=0s",
     {"save_share": 40 / 10800, "failure_share": 0.015, "lost_share": 40 / 10800 + 0.015}),
]  # fmt: skip

SOUND = "ranks=1024 size=140GB rate=400Gbit/s"
REFUSED = [
    ("ring-allreduce ranks=4", 'no quantity; did you mean "ring-all-reduce"'),
    ("zzz", "no quantity; known: "),
    (f"ring-all-reduce {SOUND} rank=4", 'ring-all-reduce: "rank" is no argument; did you mean "ranks"'),
    ("ring-all-reduce ranks=4 size=1GB", r"ring-all-reduce: rate is missing .*example: napkin ring-all-reduce ranks="),
    ("ring-all-reduce ranks=4", "size, rate are missing"),
    ("ring-all-reduce 1024", '"1024" has no name; write name=value, here ranks=…'),
    (f"ring-all-reduce {SOUND} ranks=8", "ranks: is given twice"),
    ("ring-all-reduce ranks=4 size=1GX rate=1Gb/s", "size: I do not know the unit “GX”"),
    ("ring-all-reduce ranks=4 size=1gb rate=1Gb/s", "size: Is “gb” bits or bytes"),
    ("ring-all-reduce ranks=4 size=1 rate=1Gb/s", "size: 1 of what"),
    ("ring-all-reduce ranks=4 size=5s rate=1Gb/s", "size: 5 s is a time, and an amount of data is asked for"),
    ("ring-all-reduce ranks=4 size=1Gb/s rate=1Gb/s", "size: .* is a rate"),
    ("ring-all-reduce ranks=4 size=1GB rate=1GB", "rate: .* is an amount of data"),
    ("ring-all-reduce ranks=4GB size=1GB rate=1Gb/s", "ranks: .* is an amount of data"),
    ("ring-all-reduce ranks=0 size=1GB rate=1Gb/s", "ranks: A number must be more than zero"),
    ("ring-all-reduce ranks=1 size=1GB rate=1Gb/s", "ring-all-reduce: ranks must be a whole number of at least 2"),
    ("ring-all-reduce ranks=2.5 size=1GB rate=1Gb/s", "ranks must be a whole number .* not 2.5"),
    ("ring-all-reduce ranks=-4 size=1GB rate=1Gb/s", "ranks: .* must be more than zero, and -4 is not"),
    ("ring-all-reduce ranks=4 size=0GB rate=1Gb/s", "size: .* must be more than zero"),
    ("ring-all-reduce ranks=nan size=1GB rate=1Gb/s", "ranks: I cannot read “nan”"),
    ("ring-all-reduce ranks=inf size=1GB rate=1Gb/s", "ranks: I cannot read “inf”"),
    ("ring-all-reduce ranks=4 size=1e400GB rate=1Gb/s", "size: 1e400 is larger than any number"),
    ("ring-all-reduce ranks=4 size=1e40GB rate=1Gb/s", "size: .* is outside anything a cluster has"),
    ("ring-all-reduce ranks=9**9**9 size=1GB rate=1Gb/s", "ranks: Powers are not read"),
    ("ring-all-reduce ranks=1,024 size=1GB rate=1Gb/s", "ranks: Write a decimal point"),
    ("ring-all-reduce ranks= size=1GB rate=1Gb/s", "ranks: Nothing was typed"),
    ("collective op=all-reduc ranks=4 size=1GB rate=1Gb/s", 'op: "all-reduc" is none of .*; did you mean "all-reduce"'),
    ("scaling-efficiency time_1=1s ranks_1=1 time_n=1s ranks_n=2 kind=linear", 'kind: .*known: strong, weak'),
    ("straggler-cost ranks=8 slow_factor=0.5", "straggler-cost: slow_factor must be 1 or more"),
    ("straggler-cost ranks=8 slow_factor=2 probability=150%", "probability must be from 0 to 1"),
    ("zero-memory params=7B ranks=8 stage=4", "stage: ZeRO has the stages 0 to 3"),
    ("mfu params=7B tokens_per_s=1e6 gpus=8 peak=1PFLOP/s layers=32", "give hidden and seq too"),
    ("mfu params=7B tokens_per_s=1e6 gpus=8 peak=312", "peak: 312 of what"),
    ("parallel-groups world=12 tensor=8", "world must be a multiple of tensor 8"),
    ("parallel-groups world=1e12", "world must be at most 131,072"),
    ("parallel-groups world=8 order=rows", "'rows' does not fit"),
    ("activation-memory batch=1 seq=1 hidden=1 layers=1 heads=1 selective=maybe", "selective: .*selective=yes"),
    ("ddp-buckets cap_mb=25", "sizes and params: give one of the two"),
    ("ddp-buckets sizes=10MB,2x cap_mb=25", "sizes: 2 x is a ratio"),
    ("ddp-buckets params=1e20", "over 100,000 buckets"),
    ("checkpoint-overhead save=-1s interval=3h mtbf=1h restart=0s", "save: A time must be zero or more"),
    (f"ring-all-reduce ranks={'4' * 1000} size=1GB rate=1Gb/s", "ranks: That is 1,000 characters"),
]  # fmt: skip


def run(line, *more):
    out = StringIO()
    call_command("napkin", *line.split(), *more, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(("line", "values"), ASKED, ids=[line.split()[0] for line, _ in ASKED])
def test_every_quantity_is_computed_as_json(line, values):
    told = json.loads(run(line, "--json"))
    quantity = QUANTITIES[line.split()[0]]
    assert list(told) == ["quantity", "results", "formula", "source"]
    assert (told["quantity"], told["formula"], told["source"]) == (quantity.id, quantity.formula, quantity.source)
    assert {name: one["unit"] for name, one in told["results"].items()} == {r.name: r.unit for r in quantity.results}
    for name, value in values.items():
        found = told["results"][name]["value"]
        assert found == (pytest.approx(value) if type(value) in (int, float) else value), name


def test_every_quantity_is_asked_once():
    assert sorted(line.split()[0] for line, _ in ASKED) == sorted(QUANTITIES)


@pytest.mark.parametrize(("line", "says"), REFUSED, ids=[line[:50] for line, _ in REFUSED])
def test_what_cannot_be_answered_is_one_line_with_the_argument_and_the_repair(line, says):
    with pytest.raises(CommandError, match=says) as refused:
        run(line)
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("id", QUANTITIES)
def test_a_quantity_alone_is_described_with_an_example_that_runs(id):
    told = run(id)
    quantity = QUANTITIES[id]
    assert quantity.formula in told and quantity.source in told and quantity.example in told
    assert all(argument.name in told for argument in quantity.arguments)
    assert run(f"{id} {quantity.example}")
    assert json.loads(run(id, "--json"))["arguments"][0]["name"] == quantity.arguments[0].name


def test_alone_it_lists_every_quantity_with_its_arguments():
    lines = run("").splitlines()
    assert [line.split()[0] for line in lines] == list(QUANTITIES)
    assert "ring-all-reduce  ranks=… size=… rate=…" in lines
    assert "pipeline-bubble  stages=… microbatches=… [interleave=1]" in lines
    assert [one["id"] for one in json.loads(run("", "--json"))] == list(QUANTITIES)


def test_answers_are_in_units_that_people_read():
    told = run(f"ring-all-reduce {SOUND}")
    assert "5.59 s" in told and "280 GB" in told and "400 Gb/s" in told and "1.998 ×" in told
    assert "29.6 min" in run("cluster-mtbf gpus=16384 reference_gpus=1024 reference_mtbf=7.9h")
    assert "175 billion" in run("transformer-params layers=96 hidden=12288 vocab=51200 seq=2048")
    assert "33.9 days" in run("training-days params=175B tokens=300B gpus=1024 achieved=140TFLOP/s")


def test_bits_and_bytes_are_told_apart():
    def seconds(size, rate):
        told = json.loads(run(f"ring-all-reduce ranks=2 size={size} rate={rate}", "--json"))
        return told["results"]["time"]["value"]

    assert seconds("1GB", "400Gb/s") == seconds("1GB", "50GB/s") == seconds("1GB", "400Gbit") == 0.02
    assert seconds("1GiB", "8Gb/s") == pytest.approx(2**30 / 1e9)
    assert seconds("8Gb", "8Gb/s") == seconds("1GB", "1GB/s") == 1


def test_an_option_that_there_is_not_is_one_line_too():
    with pytest.raises(
        CommandError, match="unrecognized arguments: --ranks 4; arguments are written name=value"
    ) as refused:
        call_command("napkin", "ring-all-reduce", "--ranks", "4")
    assert refused.value.returncode == 2


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        (["young-daly", "mtbf=5000s", "save=10s", "--json"], 0, '"quantity": "young-daly"', ""),
        (["young-daly", "mtbf=5000", "save=10s"], 2, "", "CommandError: young-daly: mtbf: 5000 of what?"),
        (["young-daly", "--mtbf", "5000s"], 2, "", "napkin: unrecognized arguments: --mtbf 5000s;"),
    ],
)
def test_a_shell_gets_the_exit_code_and_one_line_of_complaint(words, code, out, err):
    ran = subprocess.run([sys.executable, "manage.py", "napkin", *words], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, len(ran.stderr.splitlines())) == (code, 1 if err else 0)
    assert out in ran.stdout
    assert ran.stderr.startswith(err)


def test_json_may_stand_anywhere():
    before, between = StringIO(), StringIO()
    call_command("napkin", "--json", "young-daly", "mtbf=1h", "save=1s", stdout=before)
    call_command("napkin", "young-daly", "--json", "mtbf=1h", "save=1s", stdout=between)
    assert before.getvalue() == between.getvalue() == run("young-daly mtbf=1h save=1s", "--json")


def typed_values():
    """Names of arguments with values from tiny to beyond reason, in right units and in wrong ones."""
    odd = st.sampled_from(["1e-17", "1e12", "1e29", "9e29", "nan", "0.5"])
    number = st.integers(-2, 10**6).map(str) | odd
    unit = st.sampled_from(["", "", "GB", "s", "Gb/s", "%", "TFLOP/s", "B"])
    return st.tuples(number, unit).map("".join)


@given(st.data(), st.sampled_from(sorted(QUANTITIES)))
def test_any_words_are_answered_with_finite_numbers_or_refused_in_one_line(data, id):
    quantity = QUANTITIES[id]
    example = dict(word.split("=", 1) for word in quantity.example.split())
    changed = data.draw(st.dictionaries(st.sampled_from([a.name for a in quantity.arguments]), typed_values()))
    try:
        told = answer(quantity, [f"{name}={text}" for name, text in {**example, **changed}.items()])
    except QuestionError as refused:
        assert str(refused).startswith(f"{id}: ") and "\n" not in str(refused)
    else:
        json.dumps(told.as_json(), allow_nan=False)
        assert len(told.lines()) == len(quantity.results)
