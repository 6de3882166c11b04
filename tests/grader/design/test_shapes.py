"""Shapes through collectives: typed in any form, judged line by line, each difference in a sentence."""

from __future__ import annotations

import pytest

from grader.design import reading, shapes
from grader.design.base import NotAnAnswer
from grader.design.shapes import judge
from grader.design.tensors import Layer, Trace

GATHER = Layer(
    "l",
    "A layer",
    "Text.",
    4,
    (
        Trace("x", "x", "given", (), (256, 2, 512)),
        Trace("y", "x gathered", "all-gather", ("x",), (0,), "Joined."),
        Trace("z", "x split", "all-to-all", ("y",), (2, 1), "Cut and joined."),
    ),
)
TASK = shapes.Task((shapes.traced(0, GATHER),))
RIGHT = {"0-y": ["[1024, 2, 512]"], "0-z": ["[1024, 8, 128]"]}


def told(**typed: str) -> dict[str, tuple[str, ...]]:
    given = RIGHT | {name.replace("_", "0-"): [text] for name, text in typed.items()}
    return {line.field: line.told for line in judge(TASK, given).lines if not line.right}


def test_right_shapes_are_right_however_they_are_written():
    for text in (
        "1024 2 512",
        "(1024, 2, 512)",
        "1024×2×512",
        "1024x2x512",
        "torch.Size([1024, 2, 512])",
        " [1024,2,512] ",
    ):
        assert told(_y=text) == {}, text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("[256, 2, 512]", ("That is the shape before it: [256, 2, 512] goes in.",)),
        ("[2, 1024, 512]", ("The sides are right, and their order is not.",)),
        ("[1024, 2]", ("That has 2 dimensions, and 3 are right.",)),
        ("[4096, 2, 512]", ("Dimension 0 is 1,024 and not 4,096, 4 times too large.",)),
        (
            "[64, 3, 512]",
            ("Dimension 0 is 1,024 and not 64, 16 times too small.", "Dimension 1 is 2 and not 3."),
        ),
    ],
)
def test_a_wrong_shape_is_told_by_what_differs(typed, said):
    assert told(_y=typed) == {"0-y": said}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Nothing was typed. Write a shape like [1024, 2, 512]."),
        ("b s h", "I cannot read “b”: write whole numbers, like [1024, 2, 512]."),
        ("[1024, 0, 512]", "A side of 0 leaves nothing: write whole numbers from 1 on."),
        ("1 2 3 4 5 6 7", "That has 7 dimensions; 6 are the most here."),
        ("9" * 30, "I cannot read “999999999999999999999999”: write whole numbers, like [1024, 2, 512]."),
        ("-4 2", "I cannot read “-4”: write whole numbers, like [1024, 2, 512]."),
        ("[" * 3000, "That is 3,000 characters; a shape is shorter."),
    ],
)
def test_what_is_no_shape_is_not_judged_and_the_others_are_not_either(typed, said):
    with pytest.raises(NotAnAnswer) as refused:
        judge(TASK, RIGHT | {"0-y": [typed]})
    assert refused.value.fields == {"0-y": said}


def test_ranks_that_differ_are_asked_for_one_by_one_and_others_once():
    for seed in range(80):
        for traced in shapes.draw(seed).layers:
            for name, by_rank in traced.layer.shapes().items():
                mine = [one for one in traced.asked if one.trace.name == name]
                if traced.layer.traces and any(t.name == name and t.is_given for t in traced.layer.traces):
                    assert mine == []
                elif len(set(by_rank)) == 1:
                    assert [one.rank for one in mine] == [None] and mine[0].shape == by_rank[0]
                else:
                    assert [(one.rank, one.shape) for one in mine] == list(enumerate(by_rank))


def test_some_exercise_asks_by_rank_and_every_line_has_a_reason():
    tasks = [shapes.draw(seed) for seed in range(40)]
    every = [one for task in tasks for traced in task.layers for one in traced.asked]
    assert any(one.rank is not None for one in every)
    assert all(one.trace.why and one.trace.text for one in every)
    numbers = {sum(len(traced.asked) for traced in task.layers) for task in tasks}
    assert min(numbers) >= 9 and max(numbers) <= 17
    assert len({task.fingerprint for task in tasks}) == len(tasks)


def test_a_seed_gives_the_same_exercise():
    assert shapes.draw(5) == shapes.draw(5) and shapes.draw(5) != shapes.draw(6)


def test_a_dimension_that_does_not_divide_is_refused():
    uneven = Layer(
        "u", "U", "t", 4, (Trace("x", "x", "given", (), (6, 2)), Trace("y", "y", "reduce-scatter", ("x",), (0,)))
    )
    with pytest.raises(ValueError, match=r"dimension 0 of \[6, 2\] does not divide by 4"):
        uneven.shapes()


def test_a_shape_is_read_as_numbers():
    assert reading.shape("4096, 2 ×1024") == (4096, 2, 1024)
