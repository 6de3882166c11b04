"""Words in, words out: what is said of a quantity and of its answer, to the letter."""

from __future__ import annotations

import pytest

from grader.napkin import page
from grader.napkin.asking import MOST_VALUES, QuestionError, answer, named, said
from grader.quantities import QUANTITIES
from grader.quantities.base import Argument, Result

FRACTION = QUANTITIES["fraction-of-floor"]
RING = QUANTITIES["ring-all-reduce"]


def test_a_quantity_is_described_line_by_line():
    assert page.described(FRACTION) == [
        "fraction-of-floor: Physics or a fault: how much of an observed time the floor explains",
        "formula  floor / observed; physics from the threshold on",
        "source   a convention: the threshold is stated, not measured",
        "note     Over 100 % means that the floor or the measurement is wrong.",
        "arguments",
        "  observed   time   what was measured",
        "  floor      time   what the bytes need",
        "  threshold  ratio  from which share on physics explains it [0.85]",
        "example  napkin fraction-of-floor observed=20s floor=5.6s",
        "  ratio      28 %   of the observed time is the floor",
        "  verdict    fault  physics or fault",
        "  threshold  85 %   from here on it is physics",
    ]
    assert not any(line.startswith("note") for line in page.described(RING))


def test_a_quantity_is_declared_for_programs():
    told = page.as_json(QUANTITIES["scaling-efficiency"])
    assert list(told) == ["id", "title", "formula", "source", "note", "arguments", "results", "example"]
    assert told["id"] == "scaling-efficiency" and told["title"] == "What more ranks bring of what they could"
    assert told["arguments"][-1] == {
        "name": "kind", "kind": "choice", "required": True, "default": None, "choices": ["strong", "weak"],
        "about": "of scaling: is the work fixed for all, or a rank",
    }  # fmt: skip
    assert told["results"][0] == {"name": "efficiency", "unit": "ratio", "about": "of perfect scaling"}
    threshold = page.as_json(FRACTION)["arguments"][-1]
    assert (threshold["required"], threshold["default"], threshold["choices"]) == (False, 0.85, [])


@pytest.mark.parametrize(
    ("quantity", "argument", "text"),
    [
        ("ring-all-reduce", "ranks", ""), ("fraction-of-floor", "threshold", "0.85"), ("mfu", "layers", "optional"),
        ("activation-memory", "selective", "no"), ("parallel-groups", "order", "pipeline-data-expert-context-tensor"),
        ("training-days", "recompute", "full"), ("pipeline-bubble", "interleave", "1"),
    ],
)  # fmt: skip
def test_a_default_is_written_as_one_would_type_it(quantity, argument, text):
    one = QUANTITIES[quantity]
    assert one.default_text(next(a for a in one.arguments if a.name == argument)) == text


def test_arguments_that_may_be_left_out_stand_in_brackets():
    assert FRACTION.usage == "observed=… floor=… [threshold=0.85]"
    assert "[layers=…]" in QUANTITIES["mfu"].usage


@pytest.mark.parametrize(
    ("argument", "parameter"),
    [
        (Argument("size", "data", ""), "size_bytes"), (Argument("rate", "rate", ""), "rate_bits_per_s"),
        (Argument("save", "time", ""), "save_s"), (Argument("peak", "compute-rate", ""), "peak_flop_per_s"),
        (Argument("ranks", "count", ""), "ranks"), (Argument("optimizer_bytes", "data", ""), "optimizer_bytes"),
        (Argument("bytes", "data", "", feeds="element_bytes"), "element_bytes"),
    ],
)  # fmt: skip
def test_an_argument_feeds_the_parameter_of_its_name_and_unit(argument, parameter):
    assert argument.parameter == parameter


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (5.594, "time", "5.59 s"), (True, "flag", "yes"), (False, "flag", "no"), (33.93, "days", "33.9 days"),
        ("fault", "word", "fault"), (64, "count", "64"),
        ([1e6, 2e6], "data", "1 MB  2 MB"),
        ([1.0] * 6, "data", "1 B  1 B  1 B  1 B  1 B  1 B"),
        ([1.0] * 7, "data", "1 B  1 B  1 B  1 B  1 B  1 B  … 7 in all"),
        ([1.0] * 1500, "data", "1 B  1 B  1 B  1 B  1 B  1 B  … 1,500 in all"),
        ([[0, 1], [2, 3]], "ranks", "[0 1]  [2 3]"),
        ([list(range(12))], "ranks", "[0 1 2 3 4 5 6 7 8 9 10 11]"),
        ([list(range(13))], "ranks", "[0 1 2 3 4 5 … 12]"),
    ],
)  # fmt: skip
def test_a_value_is_said_as_a_person_reads_it(value, kind, text):
    assert said(value, Result("x", kind, "")) == text


def test_an_answer_is_lines_that_align():
    assert answer(RING, ["ranks=1024", "size=140GB", "rate=400Gbit/s"]).lines() == [
        "time            5.59 s    the wire floor",
        "bytes_per_rank  280 GB    what a rank sends, and receives",
        "busbw_factor    1.998 ×   f: busbw over algbw",
        "algbw           200 Gb/s  S/t at the floor",
        "busbw           400 Gb/s  f·S/t at the floor: the link's rate",
    ]


def test_an_answer_is_data_with_units():
    assert answer(FRACTION, ["observed=20s", "floor=5.6s"]).as_json() == {
        "quantity": "fraction-of-floor",
        "results": {
            "ratio": {"value": pytest.approx(0.28), "unit": "ratio"},
            "verdict": {"value": "fault", "unit": "text"},
            "threshold": {"value": 0.85, "unit": "ratio"},
        },
        "formula": "floor / observed; physics from the threshold on",
        "source": "a convention: the threshold is stated, not measured",
    }


SIZE_AND_RATE = (
    "the whole array, of a rank's own for all-reduce, gathered for all-gather; what each rank's link carries one way"
)
EXAMPLE = "for example: napkin ring-all-reduce ranks=1024 size=140GB rate=400Gbit/s"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("ring-allreduce",
         '"ring-allreduce" is no quantity; did you mean "ring-all-reduce"?; `napkin` alone lists them'),
        ("ring-all-reduce ranks=4", f"ring-all-reduce: size, rate are missing ({SIZE_AND_RATE}), {EXAMPLE}"),
        (
            "ring-all-reduce ranks=4 size=1GB",
            f"ring-all-reduce: rate is missing (what each rank's link carries one way), {EXAMPLE}",
        ),
        ("ring-all-reduce 1024", 'ring-all-reduce: "1024" has no name; write name=value, here ranks=… size=… rate=…'),
        ("ring-all-reduce rank=4", 'ring-all-reduce: "rank" is no argument; did you mean "ranks"?'),
        ("ring-all-reduce colour=4", 'ring-all-reduce: "colour" is no argument; known: ranks, size, rate'),
        ("ring-all-reduce ranks=4 ranks=8", "ring-all-reduce: ranks: is given twice; leave one out"),
        ("ring-all-reduce ranks=4 size=1 rate=1Gb/s",
         "ring-all-reduce: size: 1 of what? Write the unit too, for example 280 GB."),
        (
            "activation-memory batch=1 seq=1 hidden=1 layers=1 heads=1 selective=maybe",
            'activation-memory: selective: "maybe" is neither yes nor no; write selective=yes or selective=no',
        ),
        (
            "collective op=gossip ranks=4 size=1GB rate=1Gb/s",
            'collective: op: "gossip" is none of the choices; known: all-reduce, reduce-scatter, all-gather, '
            "all-to-all, broadcast, reduce",
        ),
        (
            "straggler-score own_median=0s reference_median=1s",
            "straggler-score: own_median: A time must be more than zero, and 0 is not. Write a time like 5.6 s.",
        ),
        ("oversubscription hosts=1.5 uplinks=1 host_rate=1Gb/s uplink_rate=1Gb/s",
         "oversubscription: hosts must be a whole number of at least 1, not 1.5"),
        (f"ring-all-reduce {'x' * 60}",
         f'ring-all-reduce: "{"x" * 40}" has no name; write name=value, here ranks=… size=… rate=…'),
    ],
)  # fmt: skip
def test_a_refusal_is_one_whole_sentence(words, sentence):
    with pytest.raises(QuestionError) as refused:
        id, *rest = words.split()
        answer(named(id), rest)
    assert str(refused.value) == sentence


def test_a_list_has_a_most():
    buckets = QUANTITIES["ddp-buckets"]
    many = ",".join(["1B"] * (MOST_VALUES + 1))
    with pytest.raises(QuestionError, match=r"^ddp-buckets: sizes: holds 100,001 values; give at most 100,000$"):
        answer(buckets, [f"sizes={many}"])


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("ON", True), ("1", True), ("true", True), ("no", False),
                                             ("Off", False), ("0", False), ("false", False)])  # fmt: skip
def test_a_flag_is_read_in_every_spelling(text, value):
    memory = QUANTITIES["activation-memory"]
    words = ["batch=1", "seq=2048", "hidden=12288", "layers=1", "heads=96"]
    assert answer(memory, [*words, f"selective={text}"]).values["attention_bytes"] == (
        0 if value else 80 * 2048 * 12288
    )


def test_a_bare_number_is_taken_in_the_unit_that_the_argument_names():
    words = ["tokens=1000", "hidden=100", "top_k=2", "experts_parallel=8"]
    moe = QUANTITIES["moe-all-to-all"]
    bare, written = (answer(moe, [*words, f"bytes={text}"]).values for text in ("2", "2B"))
    assert bare == written
    assert answer(moe, [*words, "bytes=2e0"]).values == bare
