"""`manage.py scenario …` from a shell: output and exit codes."""

from __future__ import annotations

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command

from scenarios import library

FLAGSHIP = library.path_of("slow-all-reduce")


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("scenario", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.mark.parametrize("arguments", [("list", "--json"), ("--json", "list")])
def test_the_list_names_every_scenario(arguments):
    assert [one["key"] for one in json.loads(said(*arguments))] == library.keys()


def test_the_schema_is_json_schema():
    schema = json.loads(said("schema"))
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "causes" in schema["required"]


def test_a_coming_revision_is_listed_as_not_offered_and_is_not_what_an_attempt_gets():
    listed = said("list")
    for key in (*library.keys(), *library.coming_keys()):
        for revision in library.coming(key):
            assert f"{key}  revision {revision}  not offered: " in listed
            assert revision == library.named(f"{key}@{revision}").revision
            assert key not in library.keys() or library.get(key).revision < revision


def test_a_sound_file_is_sound():
    assert said("check", str(FLAGSHIP)) == "1 sound\n"
    offered = [*map(str, library.files().values())]
    assert json.loads(said("check", "--json", *offered)) == [{"file": file, "errors": []} for file in offered]


def test_a_broken_file_exits_with_two_and_names_every_fault(tmp_path):
    file = tmp_path / "slow-all-reduce.yaml"
    file.write_text(FLAGSHIP.read_text().replace("  - link-rates\n", "  - link-rate\n").replace("retrain", "{x}"))
    with pytest.raises(CommandError) as caught:
        said("check", str(file))
    assert caught.value.returncode == 2
    assert 'step "link-rate" is not in the palette; did you mean "link-rates"?' in str(caught.value)


def test_a_missing_file_exits_with_two(tmp_path):
    with pytest.raises(CommandError) as caught:
        said("check", str(tmp_path / "none.yaml"))
    assert (caught.value.returncode, "there is no such file" in str(caught.value)) == (2, True)


@pytest.mark.parametrize("arguments", [("bank", "slow-allreduce"), ("calibrate", "slow-allreduce")])
def test_an_unknown_key_exits_with_two_and_the_nearest(arguments):
    with pytest.raises(CommandError, match='did you mean "slow-all-reduce"') as caught:
        said(*arguments)
    assert caught.value.returncode == 2


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--also", "synthetic-bath"), 'no experiment "synthetic-bath"; did you mean "synthetic-batch"'),
        (("--cause", "lossy-lnk"), 'no cause "lossy-lnk"; did you mean "lossy-link"'),
    ],
)
def test_runs_of_what_the_scenario_has_not_are_refused(wrong, told):
    with pytest.raises(CommandError, match=told) as caught:
        said("bank", "slow-all-reduce", "--plan", *wrong)
    assert caught.value.returncode == 2


def test_the_plan_of_one_cause_holds_its_runs_alone():
    whole = said("bank", "slow-all-reduce", "--plan", "--runs", "10", "--seed", "other")
    some = said("bank", "slow-all-reduce", "--plan", "--runs", "10", "--seed", "other", "--cause", "lossy-link")
    counted = [int(re.search(r"in all (\d+) runs", text)[1]) for text in (whole, some)]
    assert 0 < counted[1] < counted[0]


def test_no_runs_at_all_are_refused():
    with pytest.raises(CommandError, match="it must be at least 1") as caught:
        said("bank", "slow-all-reduce", "--runs", "0")
    assert caught.value.returncode == 2
