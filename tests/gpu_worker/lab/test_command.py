"""`manage.py lab`, as root and as an ordinary user: answers, JSON and exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "manage.py", "lab"]
MICROBENCHMARK = ("run", "microbenchmark", "--ranks", "4", "--size", "14MB", "--rate", "400Mbit", "--json")


def lab(*words: str, wrapper: tuple[str, ...] = (), folder: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({"DATA_DIR": folder, "HOME": folder} if folder else {})}
    command = [*wrapper, *COMMAND, *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180)


@pytest.fixture
def nobodys_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="r37-")
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("action", ["probes", "faults"])
def test_probes_and_faults_are_lists_of_objects_with_an_id(action):
    answer = lab(action, "--json")
    assert answer.returncode == 0, answer.stderr
    assert all(one["id"] for one in json.loads(answer.stdout))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "gossip"), "no probe 'gossip'"),
        (("run", "microbenchmark", "--size", "banana"), "--size"),
        (("run", "microbenchmark", "--fault", "degraded-link:rate=2Gbit"), "must be below"),
        (("run", "microbenchmark", "--place", "rank:1"), "belongs to no --fault"),
        (("dance",), "invalid choice: 'dance'"),
        ((), "ACTION"),
    ],
)
def test_bad_words_end_with_code_2_and_one_line_that_says_why(words, said):
    answer = lab(*words)
    assert answer.returncode == 2
    assert said in answer.stderr.splitlines()[-1]
    assert "Traceback" not in answer.stderr


@pytest.mark.lab
def test_capabilities_name_what_there_is_and_why_not():
    found = json.loads(lab("capabilities", "--json").stdout)
    assert set(found) == {"namespaces", "token_bucket", "gloo", "nccl", "nvml", "packet_loss"}
    assert all(facts["available"] or facts["reason"] for facts in found.values())


@pytest.mark.lab
def test_a_run_prints_readings_with_units_series_and_a_finding():
    answer = lab(*MICROBENCHMARK)
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert set(told) >= {"probe", "fault", "provenance", "readings", "series", "finding"}
    assert {"seconds", "floor_s", "fraction_of_floor", "algbw", "busbw"} <= set(told["readings"])
    assert told["readings"]["fraction_of_floor"]["value"] > 0.85
    assert told["finding"] == "at-floor" and told["fault"] is None


@pytest.mark.lab
def test_an_ordinary_user_measures_the_same(nobodys_folder):
    wrapper = (sys.executable, str(Path(__file__).with_name("as_nobody.py"))) if os.geteuid() == 0 else ()
    answer = lab(*MICROBENCHMARK, wrapper=wrapper, folder=nobodys_folder)
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert told["provenance"]["namespaces"] == "user"
    assert told["readings"]["fraction_of_floor"]["value"] > 0.85


@pytest.mark.lab
def test_an_ordinary_user_loses_packets_without_any_command_line_tool(nobodys_folder):
    wrapper = (sys.executable, str(Path(__file__).with_name("as_nobody.py"))) if os.geteuid() == 0 else ()
    words = ("run", "microbenchmark", "--size", "4MB", "--repeats", "2", "--fault", "lossy-link", "--json")
    answer = lab(*words, wrapper=wrapper, folder=nobodys_folder)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["fired"]["lossy-link"]["lost"] > 0


@pytest.mark.lab
def test_a_fault_that_cannot_show_ends_with_code_1():
    answer = lab("run", "microbenchmark", "--fault", "degraded-link:rate=50Mbit", "--place", "link:leaf2-spine0")
    assert answer.returncode == 1
    assert "crosses leaf2-spine0" in answer.stderr


@pytest.mark.lab
def test_sweep_leaves_the_living_alone():
    answer = lab("sweep", "--json")
    assert answer.returncode == 0
    assert json.loads(answer.stdout) == []
