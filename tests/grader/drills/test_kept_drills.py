"""A drill asks and tells what it did. Where that changed on purpose: `python -m tests.grader.drills.pin`."""

from __future__ import annotations

import json
from functools import cache

import pytest

from grader.drills import making
from grader.drills.making import drill
from tests.grader.drills import kept


@cache
def kept_drills():
    return json.loads(kept.FILE.read_text())


@pytest.mark.parametrize("id", kept.IDS)
def test_a_drill_is_told_as_it_was(id):
    """The question, its answer, the way to it, and each slip with what it would have given and what is said to it."""
    before = dict(kept_drills()[id])
    digests = before.pop("digests")
    assert kept.told(drill(id, kept.WHOLE_SEED)) == before
    differs = kept.first_difference(kept.digests(id), digests)
    assert differs is None, (differs, kept.told(drill(id, differs or 0)))


def test_nothing_is_kept_that_is_not_asked():
    assert list(kept_drills()) == kept.IDS


def test_a_change_of_a_word_or_a_number_would_be_seen():
    made = kept.told(drill("ddp-buckets/1", 0))
    other = [{**made, "steps": [*made["steps"][:-1], "So."]}, {**made, "slips": made["slips"][1:]}]
    assert len({kept._digest(one) for one in (made, *other)}) == 3
    whole = kept.digests("ddp-buckets/1")
    assert kept.first_difference(whole, whole) is None
    assert kept.first_difference(whole[:30] + "x" + whole[31:], whole) == 5


def test_topics_have_titles_as_a_page_shows_them():
    titles = {name: making._topic(name, module).title for name, module in making._MODULES.items()}
    assert titles == {
        "buckets": "Buckets and overlap",
        "checkpoints": "Checkpoints and failures",
        "collectives": "Collectives and their floors",
        "fabric": "Links, rings and uplinks",
        "latency": "Latency against bandwidth",
        "memory": "Memory of a rank",
        "parallel": "Parallel dimensions",
        "stragglers": "Stragglers and scaling",
        "transformers": "Parameters, FLOP and MFU",
    }
    assert {name: topic.title for name, topic in making.TOPICS.items()} == titles
