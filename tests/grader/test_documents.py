"""docs/transcript.md says what is true: its examples grade, its tables are complete."""

import json
import re
from pathlib import Path

import pytest

from grader.transcript import KINDS, Transcript
from tests.grader.scoring import STANDARD, grade

PAGE = (Path(__file__).parents[2] / "docs" / "transcript.md").read_text()
EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)]


def test_the_sound_example_scores_high_and_the_lucky_one_is_capped(knowledge):
    sound, lucky = (grade(example, knowledge) for example in EXAMPLES)
    assert sound.total > 0.9
    assert sound.predictions[0].score > 0.9
    assert lucky.labels == ("lucky",)
    assert lucky.total <= 0.30


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_event_is_described(kind):
    assert f"`{kind}`" in PAGE


@pytest.mark.parametrize("field", sorted(Transcript.model_fields))
def test_every_field_of_the_file_is_described(field):
    assert f"`{field}`" in PAGE


def test_the_weights_are_those_that_score():
    for name, weight in STANDARD.weights.items():
        assert re.search(rf"{name}\s+{weight:.2f}", PAGE), name
