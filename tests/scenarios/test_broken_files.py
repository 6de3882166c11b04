"""Every way to break a scenario file that authors and strangers have gets one clear message: file, line and repair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from scenarios import library, released, told, yamlfile

FLAGSHIP = library.file_of("slow-all-reduce", 1)
NAME = "slow-all-reduce.yaml"
TEXT = FLAGSHIP.read_text()

STEPS = TEXT[TEXT.index("steps:\n") : TEXT.index("causes:\n")]
BLOWN_UP = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@dataclass(frozen=True)
class Broken:
    """One broken file: its bytes, the line that is named (None: the whole file), and what is said of it."""

    name: str
    content: bytes
    line: int | None
    said: str


def swap(name: str, old: str, new: str, said: str, *, after: int | None = 0) -> Broken:
    """The flagship with one text replaced; the line named is `after` lines below it, elsewhere if None."""
    assert TEXT.count(old) == 1, f"{old!r} stands {TEXT.count(old)} times"
    line = TEXT[: TEXT.index(old)].count("\n") + 1
    return Broken(name, TEXT.replace(old, new).encode(), None if after is None else line + after, said)


def whole(name: str, content: str | bytes, line: int | None, said: str) -> Broken:
    return Broken(name, content.encode() if isinstance(content, str) else content, line, said)


BROKEN = [
    # What is no text, no YAML, or too much of it.
    whole("five megabytes", "# " + "x" * 5_000_000 + "\n" + TEXT, None, "has 5012349 bytes and may have 200000"),
    whole("UTF-16", TEXT.encode("utf-16"), 1, "byte 0xff is not UTF-8; save the file in that encoding"),
    whole("Latin-1", TEXT.replace("Packed", "Gepäck").encode("latin-1"), None, "is not UTF-8; save the file"),
    whole("a control character", TEXT.replace("title: Your", "title: \x07Your"), 6, "may not stand in YAML; delete it"),
    whole("a picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), 1, "byte 0x89 is not UTF-8"),
    whole("nothing", "", 1, "a scenario is a mapping of fields to values; start with `key:`"),
    whole("a list", "- key: a\n- key: b\n", 1, "a scenario is a mapping of fields to values"),
    whole("two documents", "key: a\n---\nkey: b\n", 2, "leave out the second `---`"),
    swap("a tab", "stop_weight: 1\n", "\tstop_weight: 1\n", "indent with spaces, not tabs"),
    swap("a key twice", "level: senior\n", "level: senior\ntrack: fabric\n", 'key "track" stands twice', after=1),
    swap("an open bracket", "facts:\n", "facts: [\n", "no valid YAML", after=None),
    swap("a colon in a text", "title: Your all-reduce got slow", "title: Your all-reduce: slow", "in quotes"),
    swap("an unknown alias", "params: {samples: [3, 4]}", "params: *some", "undefined alias 'some'"),
    whole("aliases that explode", BLOWN_UP, None, "more than 20000 values once its aliases are written out; use fewer"),
    whole(
        "an alias in itself",
        "key: a\nfacts: &facts [*facts]\n",
        2,
        "alias *facts stands inside its own anchor; write the value out",
    ),
    whole("a deep nest", "key: " + "[a, " * 40 + "]" * 40 + "\n", 1, "nested deeper than 30; flatten them"),
    whole("a very deep nest", "key: a\nfacts: " + "[" * 90_000 + "\n", 2, "nested deeper than 30; flatten them"),
    whole(
        "a tag", TEXT.replace("level: senior", "level: !!python/name:os.system senior"), 8, "is not allowed; write a pl"
    ),
    # Fields.
    swap("a missing field", "level: senior\n", "", 'field "level" is missing in the file', after=-7),
    swap("an unknown field", "time_budget_min: 90", "time_budget: 90", 'unknown; did you mean "time_budget_min"?'),
    swap("a wrong nesting", "level: senior", "level: {is: senior}", "level is {'is': 'senior'}; it must be 'mid'"),
    swap("a field one level too deep", "    answer: None.", "      answer: None.", "no valid YAML"),
    swap("a number as text", "time_budget_min: 90", "time_budget_min: an hour", "it should be a valid number"),
    swap("no time", "time_budget_min: 90", "time_budget_min: 0", "time_budget_min is 0; it should be greater than 0"),
    swap("endless time", "time_budget_min: 90", "time_budget_min: .inf", "it should be a finite number"),
    swap("a number without its unit", "{value: 5.6 s}", "{value: 5.6}", "it must be text, with its unit"),
    swap("an unknown unit", "{value: 5.6 s}", "{value: 5.6 parsec}", "parsec"),
    swap("a unit of another kind", "{value: 280 GB}", "{value: 280 Gb/s}", "280 Gb/s"),
    swap(
        "a floor that is not the scale's",
        "{value: 5.6 s}",
        "{value: 56 s}",
        "the one that the scale gives, 5.595",
        after=-4,
    ),
    swap("a key with capitals", "  - id: metric\n", "  - id: Metric\n", "lower-case words joined by hyphens"),
    swap(
        "a text without end",
        "  - id: metric\n    question: Which number",
        "  - id: metric\n    question: " + "W" * 400,
        "at most 300",
        after=1,
    ),
    # References between parts.
    swap("an unknown step", "  - link-rates\n", "  - link-rate\n", 'did you mean "link-rates"?'),
    swap(
        "a step twice", "  - link-rates\n", "  - microbenchmark\n", 'step "microbenchmark" stands twice; leave one out'
    ),
    swap("an unknown cause", "  - id: no-overlap\n", "  - id: no-overlaps\n", 'did you mean "no-overlap"?'),
    swap("a cause that the lab cannot inject", "  - id: no-overlap\n", "  - id: clock-skew\n", "the lab cannot inject"),
    swap(
        "a cause without a fix",
        "    effects: {no-overlap: cures}\n",
        "",
        'no fix cures cause "no-overlap"; give one',
        after=None,
    ),
    swap(
        "a cause twice",
        "  - id: no-overlap\n",
        "  - id: worse-placement\n",
        'causes name "worse-placement" twice',
        after=None,
    ),
    swap(
        "one cause only",
        TEXT[TEXT.index("  - id: slow-input-rank\n    places") : TEXT.index("fixes:\n")],
        "",
        "at least 2 items",
        after=None,
    ),
    swap(
        "an effect that is none",
        "    effects: {no-overlap: cures}",
        "    effects: {no-overlap: heals}",
        "must be 'cures', 'mit",
    ),
    swap("a place of another kind", "link:leaf1-spine1", "rank:1", 'place "rank:1" is no link; write it like'),
    swap(
        "a place that is not built",
        "      - link:leaf1-spine1\n",
        "      - link:leaf1-spine7\n",
        "the lab cannot run it",
        after=None,
    ),
    swap(
        "a magnitude out of bounds",
        "{duty: [0.224, 0.32]}",
        "{duty: [0.01, 0.32]}",
        "duty is 0.01, but must be",
        after=None,
    ),
    swap("hints out of order", "  - level: 2\n", "  - level: 3\n", "hints climb from level 1", after=None),
    swap(
        "a fact without its source",
        "    answer: None. Every",
        "    source: talk\n    answer: None. Every",
        'source "talk" is no reference',
    ),
    swap(
        "an unknown rubric",
        "at_floor_from: 0.85",
        "at_floor_from: 0.85\nrubric: harsh",
        'there is no rubric "harsh"',
        after=1,
    ),
    swap(
        "a pair of one",
        "fixes:\n",
        "pairs:\n  - causes: [no-overlap, no-overlap]\n    debrief: x\nfixes:\n",
        "name two causes",
        after=1,
    ),
    swap(
        "a decoy that is a cause",
        "fixes:\n",
        "decoys:\n  - {cause: no-overlap, tempts: x, settled_by: [link-rates]}\nfixes:\n",
        "so it is no decoy",
        after=1,
    ),
    # Texts.
    swap(
        "a brief that names the cause",
        "every link is up.",
        "every link is up but a degraded link.",
        'names "degraded-link"',
        after=None,
    ),
    swap(
        "a hint that names the cause",
        "text: If the ranks are alike",
        "text: No overlap. If the ranks are alike",
        'names "no-overlap"',
        after=None,
    ),
    swap(
        "an unknown number in the brief", "{mfu_now}", "{mfu_then}", 'placeholder "{mfu_then}" is unknown', after=None
    ),
    swap("a template", "answer: None. Every", "answer: None. {% include secret %} Every", "the text holds a template"),
    swap(
        "a script",
        "answer: None. Every",
        "answer: None. <script>alert(1)</script> Every",
        "the text holds HTML (<script>)",
    ),
    swap(
        "a picture from elsewhere",
        "answer: None. Every",
        "answer: See ![x](https://example.org/p.png). Every",
        "and to no images",
    ),
    # What only the calibration and the list of releases know.
    whole(
        "causes that cannot be told apart",
        TEXT.replace(STEPS, "steps: [per-rank-step-times, microbenchmark, change-log]\n"),
        None,
        "cannot be told apart within 90 minutes",
    ),
    swap(
        "an edit to a released revision",
        "time_budget_min: 90",
        "time_budget_min: 80",
        "is released and may not change; write the edit as",
        after=None,
    ),
]


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Broken], list[str]]:
    """What `scenario check` says of a broken file; each is read once."""
    file, known = tmp_path_factory.mktemp("broken") / NAME, {}

    def problems(broken: Broken) -> list[str]:
        if broken.name not in known:
            file.write_bytes(broken.content)
            known[broken.name] = told.problems_of(file)
        return known[broken.name]

    return problems


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_file_gets_one_clear_message_with_file_line_and_repair(check, broken):
    problems = check(broken)
    (told_so, *others) = [problem for problem in problems if broken.said in problem] or [str(problems)]
    assert broken.said in told_so
    assert told_so.startswith(f"{NAME}:")
    assert "\n" not in told_so and len(told_so) < 400
    assert len(others) == 0 or broken.name == "causes that cannot be told apart"


@pytest.mark.parametrize("broken", [one for one in BROKEN if one.line], ids=lambda broken: broken.name)
def test_the_line_is_that_of_the_fault(check, broken):
    (told_so, *_) = [problem for problem in check(broken) if broken.said in problem]
    assert told_so.startswith(f"{NAME}:{broken.line}: ")


def test_there_are_at_least_thirty():
    assert len(BROKEN) >= 30 and len({broken.name for broken in BROKEN}) == len(BROKEN)


def test_an_alias_that_does_not_explode_is_written_out(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("key: a\nplaces: &places [rank:0, rank:1]\nothers: *places\n")
    assert yamlfile.plain(yamlfile.read(file))["others"] == ["rank:0", "rank:1"]


def test_a_comment_in_a_released_revision_is_no_edit(tmp_path):
    file = tmp_path / NAME
    file.write_text(f"# yaml-language-server: $schema=../../schema.json\n{TEXT}")
    assert released.is_released(library.load(file)) and not released.is_changed(library.load(file))
