"""A broken scenario file gets one line a fault, with file, line and repair."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpu_worker.probes import PROBES
from scenarios import brief, library
from scenarios.errors import ScenarioError, ScenarioErrors
from scenarios.format import Scenario

FLAGSHIP = library.file_of("slow-all-reduce", 1)


def changed(tmp_path: Path, old: str, new: str) -> tuple[Path, int]:
    """The flagship with one text replaced, and the line where it stood."""
    text = FLAGSHIP.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    file = tmp_path / "slow-all-reduce.yaml"
    file.write_text(text.replace(old, new))
    return file, text[: text.index(old)].count("\n") + 1


def errors_of(file: Path) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        library.load(file)
    error = caught.value
    return [str(one) for one in error.errors] if isinstance(error, ScenarioErrors) else [str(error)]


BROKEN = [
    ("  - link-rates\n", "  - link-rate\n", 'step "link-rate" is not in the palette; did you mean "link-rates"?'),
    ("  - link-rates\n", "  - resume-replay\n", 'step "resume-replay" cannot be measured yet'),
    ("  - id: no-overlap\n", "  - id: no-overlaps\n", 'cause "no-overlaps" is not in the list of causes; did you'),
    ("    effects: {no-overlap: cures}", "    effects: {no-overlap: cure}", "must be 'cures', 'mitigates'"),
    ("    effects: {no-overlap: cures}", "    effects: {overlap: cures}", 'name cause "overlap", which the'),
    ("    catches: [degraded-link]", "    catches: [degraded-lnk]", 'did you mean "degraded-link"?'),
    ("link:leaf1-spine1", "rank:1", 'place "rank:1" is no link; write it like link:host1-leaf0'),
    ("time_budget_min: 90", "time_budget: 90", 'field "time_budget" is unknown; did you mean "time_budget_min"?'),
    ("key: slow-all-reduce", "key: slow-all-reduced", "call the file slow-all-reduced.yaml"),
    ("{value: 5.6 s}", "{value: 5.6}", "it must be text, with its unit"),
    ("{value: 5.6 s}", "{value: 56 s}", "no accepted value is the one that the scale gives, 5.595"),
    ("{mfu_now}", "{mfu_then}", 'placeholder "{mfu_then}" is unknown'),
    ("every link is up.", "every link is up but for a degraded link.", 'the text names "degraded-link"'),
    ("    params: {duty: [", "    params: {duty: [0.5, ", "causes.0.params.duty"),
    ("  - level: 2\n", "  - level: 3\n", "hints climb from level 1"),
    ("{duty: [0.224, 0.32]}", "{duty: [0.01, 0.32]}", "the lab cannot run it: fault throttled-rank: duty"),
    ("      - link:leaf1-spine1\n", "      - link:leaf1-spine7\n", "the lab cannot run it"),
    ("facts:\n", "setting: {job: {microbatches: 8}}\nfacts:\n", "microbatches is 8; Extra inputs are not permitted"),
    ("    title: Reboot the switches\n", "    title: Reboot\n    job: {microbatch: 999}\n", "microbatch is 999"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), BROKEN)
def test_a_fault_is_named_with_its_line_and_a_repair(tmp_path, monkeypatch, old, new, said):
    monkeypatch.delitem(PROBES, "resume-replay", raising=False)  # as if it had no probe
    file, line = changed(tmp_path, old, new)
    told = errors_of(file)
    assert any(said in one for one in told), told
    named = [re.match(r"slow-all-reduce\.yaml:(\d+): ", one) for one in told if said in one]
    assert any(found and abs(int(found[1]) - line) <= 30 for found in named)


def test_the_line_is_exact_for_a_step(tmp_path):
    file, line = changed(tmp_path, "  - link-rates\n", "  - link-rate\n")
    assert errors_of(file) == [
        f'slow-all-reduce.yaml:{line}: step "link-rate" is not in the palette; did you mean "link-rates"?'
    ]


def test_text_that_is_no_yaml_names_its_line(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("key: a\ntitle: [1, 2\nlevel: b\n")
    assert errors_of(file)[0].startswith("x.yaml:3: no valid YAML")


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words"])
def test_what_is_no_mapping_is_refused(tmp_path, text):
    file = tmp_path / "x.yaml"
    file.write_text(text)
    assert "a scenario is a mapping" in errors_of(file)[0]


def test_every_scenario_of_the_library_is_sound():
    """Older and coming revisions too: elsewhere a broken one is left out."""
    for path in library.every_file():
        assert library.load(path).key == path.stem.partition("@")[0]
    assert len(library.every()) == len(library.every_file()) >= len(library.keys()) > 0


def test_a_revision_that_is_not_kept_is_named():
    with pytest.raises(ScenarioError, match="revision 99 is not kept; the newest is"):
        library.get("slow-all-reduce", 99)


def test_an_unknown_key_gets_the_nearest():
    with pytest.raises(ScenarioError, match='did you mean "slow-all-reduce"'):
        library.get("slow-allreduce")


def test_an_older_revision_is_read_from_its_own_file(tmp_path, monkeypatch):
    folder = tmp_path / "stragglers"
    folder.mkdir()
    text = FLAGSHIP.read_text()
    (folder / "slow-all-reduce.yaml").write_text(text.replace("revision: 1\n", "revision: 2\n"))
    (folder / "slow-all-reduce@1.yaml").write_text(text)
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    monkeypatch.setattr(library.files, "__defaults__", (tmp_path,))
    assert library.get("slow-all-reduce").revision == 2
    assert library.get("slow-all-reduce", 1).revision == 1
    assert library.keys() == ["slow-all-reduce"]


def test_the_schema_describes_every_field():
    schema = json.loads(json.dumps(Scenario.model_json_schema(by_alias=True)))
    assert set(schema["properties"]) >= {"key", "brief", "causes", "fixes", "estimates"}
    assert schema["additionalProperties"] is False


def test_the_brief_prints_the_measured_numbers(scenario):
    numbers = {
        "mfu_before": 0.4, "mfu_now": 0.223, "step_s_before": 23.8, "step_s_now": 42.7,
        "collective_s_before": 0.47, "collective_s_now": 1.19, "work_ratio": 0.56,
    }  # fmt: skip
    text = brief.fill(scenario.brief, numbers)
    assert "**22 %**" in text and "1.19 s" in text and "{" not in text
