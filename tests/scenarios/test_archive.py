"""Export and import: one file that comes back as it was, and nothing of one that is not sound."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from scenarios import archive, archive_in, bank, library, released, tables_file
from scenarios.archive_in import import_archive
from scenarios.errors import BankIncomplete, ScenarioError
from scenarios.knowledge import knowledge_for

KEY, TABLE = "slow-all-reduce", "leaf-spine-ddp"

Members = dict[str, bytes]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The flagship with a few of its runs: one instance of each cause and two healthy ones."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("bank")
        wanted: dict[str, int] = {}
        for head in bank.heads(TABLE):
            cause = head.instance.cause
            if wanted.setdefault(cause, 0) < (2 if cause == "healthy" else 1):
                wanted[cause] += 1
                (folder / TABLE).mkdir(exist_ok=True)
                shutil.copy(bank.path_of(TABLE, head.instance.id), folder / TABLE)
        patch.setattr(bank, "FOLDER", folder)
        file = tmp_path_factory.mktemp("exported") / "flagship.zip"
        archive.export(library.get(KEY, 1), file)
        return file


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation with no incidents."""
    for module, name in ((library, "library"), (bank, "bank"), (tables_file, "calibration")):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(module, "FOLDER", tmp_path / name)
    monkeypatch.setattr(released, "FILE", tmp_path / "released.json")
    return tmp_path


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def members_of(file: Path) -> Members:
    with zipfile.ZipFile(file) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def pack(file: Path, members: Members) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return file


def signed(members: Members, **changed: object) -> Members:
    """The members with a manifest that fits them: what somebody would send who knows how an archive is made."""
    manifest = {**json.loads(members[archive.MANIFEST]), **changed}
    others = {name: content for name, content in members.items() if name != archive.MANIFEST}
    manifest["members"] = {name: hashlib.sha256(content).hexdigest() for name, content in others.items()}
    return {**members, archive.MANIFEST: json.dumps(manifest).encode()}


def a_run(members: Members) -> str:
    return next(name for name in members if name.startswith(archive.BANK))


def edited(members: Members, edit: Callable[[dict], None]) -> Members:
    """The members with the content of one file of the bank changed."""
    name = a_run(members)
    content = json.loads(gzip.decompress(members[name]))
    edit(content)
    return signed({**members, name: gzip.compress(json.dumps(content).encode())})


def test_what_is_exported_comes_back_as_it_was(exported, empty):
    brought = import_archive(exported)
    assert brought.written == len(held(empty)) - 1  # the list of releases is not of the archive
    here = held(empty)
    members = members_of(exported)
    assert here[f"library/stragglers/{KEY}.yaml"] == members["scenario.yaml"]
    assert json.loads(here[f"calibration/{TABLE}.json"]) == json.loads(members["calibration.json"])
    assert {f"bank/{TABLE}/{name[5:]}" for name in members if name.startswith("bank/")} < set(here)
    assert knowledge_for(library.get(KEY)).calibration == json.loads(members["manifest.json"])["calibration"]
    assert {one.cause for one in bank.complete_instances(library.get(KEY))} == {*library.get(KEY).prior, "healthy"}
    assert released.is_released(library.get(KEY))


def test_exporting_what_was_imported_gives_the_same_bytes(exported, empty):
    import_archive(exported)
    again = empty / "again.zip"
    archive.export(library.get(KEY), again)
    assert again.read_bytes() == exported.read_bytes()


def test_importing_twice_writes_nothing_anew(exported, empty):
    import_archive(exported)
    before = held(empty)
    assert import_archive(exported).written == 0
    assert held(empty) == before


def test_a_new_revision_lies_beside_the_one_that_is_offered(exported, empty, tmp_path):
    import_archive(exported)
    members = members_of(exported)
    text = members["scenario.yaml"].replace(b"revision: 1\n", b"revision: 2\n")
    newer = pack(tmp_path / "newer.zip", signed({**members, "scenario.yaml": text}, revision=2, released=False))
    import_archive(newer)
    assert (library.get(KEY).revision, library.coming(KEY)) == (1, [2])


def test_the_command_exports_and_imports(exported, empty):
    out = io.StringIO()
    call_command("scenario", "import", str(exported), "--json", stdout=out)
    assert json.loads(out.getvalue())["key"] == KEY
    file = empty / "flagship.zip"
    call_command("scenario", "export", KEY, "--to", str(file), stdout=io.StringIO())
    assert file.read_bytes() == exported.read_bytes()


def test_what_is_not_calibrated_is_not_exported(exported, empty):
    import_archive(exported)
    tables_file.path_of(TABLE).unlink()
    with pytest.raises(BankIncomplete):
        archive.export(library.get(KEY), empty / "x.zip")
    assert list(empty.glob("x.zip*")) == []


def test_a_folder_that_is_not_there_is_named(exported, empty):
    import_archive(exported)
    with pytest.raises(CommandError, match="No such file or directory") as caught:
        call_command("scenario", "export", KEY, "--to", str(empty / "none" / "x.zip"))
    assert caught.value.returncode == 2


def escaping(name: str) -> Callable[[Members], Members]:
    return lambda members: signed({**members, name: b"{}"})


def without(name: str) -> Callable[[Members], Members]:
    return lambda members: signed({key: content for key, content in members.items() if key != name})


def text_with(old: bytes, new: bytes, **manifest: object) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        assert old in members["scenario.yaml"]
        text = members["scenario.yaml"].replace(old, new, 1)
        return signed({**members, "scenario.yaml": text}, released=False, **manifest)

    return change


def calibration_with(**fields: object) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        content = {**json.loads(members["calibration.json"]), **fields}
        return signed({**members, "calibration.json": json.dumps(content).encode()})

    return change


def another_table(members: Members) -> Members:
    return edited(members, lambda content: content["instance"].update(table="elsewhere"))


def another_id(members: Members) -> Members:
    return edited(members, lambda content: content["instance"].update(id="f" * 32))


def a_broken_run(members: Members) -> Members:
    return edited(members, lambda content: content["experiments"].update(job={"spec": 1}))


def no_gzip(members: Members) -> Members:
    return signed({**members, a_run(members): b"not gzip"})


def a_bomb(members: Members) -> Members:
    bomb = gzip.compress(b" " * (archive_in.LARGEST_RUNS + 10))
    return signed({**members, a_run(members): bomb})


def unsigned(members: Members) -> Members:
    return {**members, "scenario.yaml": members["scenario.yaml"] + b"# one line more\n"}


REFUSED = {
    "a path that leaves the folder": (escaping("bank/../../evil.json.gz"), "is none that an export writes"),
    "an absolute path": (escaping("/etc/evil"), "is none that an export writes"),
    "a path with a drive": (escaping("C:\\evil.json"), "is none that an export writes"),
    "a folder": (escaping("bank/"), "is none that an export writes"),
    "a program": (escaping("bank/run.py"), "is none that an export writes"),
    "no scenario": (without("scenario.yaml"), "it holds no scenario.yaml"),
    "no calibration": (without("calibration.json"), "it holds no calibration.json"),
    "a member changed afterwards": (unsigned, "is not what its digest says"),
    "a form of the future": (lambda members: signed(members, form=2), "its form is 2, and this installation reads 1"),
    "another key": (lambda members: signed(members, key="other"), "its scenario is not sound"),
    "another revision": (lambda members: signed(members, revision=7), "says revision 7, its scenario 1"),
    "a scenario with a fault": (text_with(b"  - link-rates\n", b"  - link-rate\n"), 'did you mean "link-rates"'),
    "a step that was not calibrated": (
        text_with(b"  - link-rates\n", b"  - link-rates\n  - path-map\n"),
        "lacks path-map",
    ),
    "a digest that is not the tables'": (calibration_with(digest="0" * 16), "its digest is not that of its tables"),
    "a calibration of another form": (calibration_with(tables={}), "calibration.json: "),
    "a run of another table": (another_table, "of table elsewhere"),
    "a run under another name": (another_id, "holds instance " + "f" * 32),
    "a run that cannot be read": (a_broken_run, "holds no runs that can be read: "),
    "no gzip": (no_gzip, "holds no runs that can be read"),
    "a run that unpacks without end": (a_bomb, "bytes once unpacked"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_archive_that_is_not_sound_is_refused_and_leaves_nothing(name, exported, empty, tmp_path):
    change, said = REFUSED[name]
    file = pack(tmp_path / "sent.zip", change(members_of(exported)))
    before = held(empty)
    with pytest.raises(ScenarioError) as caught:
        import_archive(file)
    assert said in str(caught.value) and str(caught.value).startswith("sent.zip: ")
    assert held(empty) == before


def test_a_file_that_is_no_archive_is_refused(empty, tmp_path):
    file = tmp_path / "x.zip"
    file.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(CommandError, match="is no archive that can be read") as caught:
        call_command("scenario", "import", str(file))
    assert caught.value.returncode == 2


def test_a_listing_that_lies_about_a_size_is_refused(exported, empty, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_in, "LARGEST_MEMBER", 10_000)
    with pytest.raises(ScenarioError, match="bytes and may have 10000"):
        import_archive(exported)
    assert held(empty) == {}


def test_a_member_that_stands_twice_is_refused(exported, empty, tmp_path):
    file = tmp_path / "sent.zip"
    shutil.copy(exported, file)
    with pytest.warns(UserWarning), zipfile.ZipFile(file, "a") as opened:
        opened.writestr("scenario.yaml", b"key: other\n")
    with pytest.raises(ScenarioError, match="stands in it twice"):
        import_archive(file)


def test_a_released_revision_that_was_changed_is_refused(exported, empty, tmp_path):
    import_archive(exported)
    sent = pack(tmp_path / "sent.zip", text_with(b"time_budget_min: 90", b"time_budget_min: 91")(members_of(exported)))
    before = held(empty)
    with pytest.raises(ScenarioError, match="revision 1 is released and may not change"):
        import_archive(sent)
    assert held(empty) == before


def test_runs_and_tables_that_are_here_are_never_replaced(exported, empty, tmp_path):
    import_archive(exported)
    members = edited(members_of(exported), lambda content: content["instance"].update(jobs={"add-gpus": {}}))
    sent = pack(tmp_path / "sent.zip", members)
    before = held(empty)
    with pytest.raises(ScenarioError, match="is here with other content; give the scenario a table of its own"):
        import_archive(sent)
    assert held(empty) == before


def test_an_incident_that_disagrees_about_a_table_that_is_here_is_refused(exported, empty, tmp_path):
    import_archive(exported)
    members = members_of(exported)
    text = members["scenario.yaml"].replace(b"key: slow-all-reduce\n", b"key: another-incident\n")
    text = text.replace(b"{duty: [0.224,", b"{duty: [0.23,")
    sent = {**members, "scenario.yaml": text}
    file = pack(tmp_path / "sent.zip", signed(sent, key="another-incident", released=False))
    before = held(empty)
    with pytest.raises(ScenarioError, match=r'params of cause "throttled-rank" is .* share its runs'):
        import_archive(file)
    assert held(empty) == before


@pytest.mark.parametrize(
    "obstacle", [f"calibration/{TABLE}.json/a", f"bank/{TABLE}", f"library/stragglers/{KEY}.yaml/a"]
)
def test_where_a_file_cannot_take_its_place_the_others_leave(exported, empty, obstacle):
    """A folder stands where a file belongs, or a file where a folder does."""
    (empty / obstacle).parent.mkdir(parents=True, exist_ok=True)
    (empty / obstacle).write_text("in the way")
    with pytest.raises(OSError):
        import_archive(exported)
    assert held(empty) == {obstacle: b"in the way"}
