"""A form that cannot be judged is told beside its fields, keeps what was typed, and costs nothing."""

from __future__ import annotations

import pytest

from practice.design import items
from practice.models import DesignAttempt
from tests.practice.design.conftest import right

WRONG = {
    "groups/1": ("data", "0 1 banana", "I cannot read “banana”"),
    "shapes": ("0-", "b s h", "I cannot read “b”"),
    "cadence": ("mtbf", "5,6 h", "Write a decimal point"),
}


@pytest.mark.parametrize("item", sorted(WRONG))
def test_one_field_that_cannot_be_read_is_told_and_the_others_stay(ada, item):
    attempt = ada.start(item)
    start, typed, said = WRONG[item]
    form = right(attempt)
    field = next(name for name in form if name.startswith(start))
    answer = ada.send(attempt, "answer", form | {field: [typed]})
    html = answer.content.decode()
    assert answer.status_code == 422 and said in html and "1 thing to mend" in html
    assert 'aria-invalid="true"' in html and typed in html
    others = [values[0] for name, values in form.items() if name not in (field, "crosses")]
    assert all(value in html for value in others)
    assert not attempt.is_answered and attempt.right is None
    assert ada.send(attempt, "answer", form).status_code == 302 and attempt.right == attempt.asked


@pytest.mark.parametrize("item", sorted(items.every()))
def test_nothing_at_all_is_no_answer(ada, item):
    attempt = ada.start(item)
    answer = ada.send(attempt, "answer", {})
    assert answer.status_code == 422 and not attempt.is_answered
    assert 'class="field-error"' in answer.content.decode()


@pytest.mark.parametrize("item", ["", "groups", "groups/9", "groups/x", "question/none", "shapes/1", "x" * 300])
def test_an_exercise_that_there_is_not_cannot_be_started(ada, item):
    answer = ada.send_start(item)
    assert answer.status_code == 422 and "Choose an exercise from the list." in answer.content.decode()
    assert not DesignAttempt.objects.exists()


def test_a_nul_and_a_long_field_and_many_of_them_are_no_error_of_ours(ada):
    attempt = ada.start("cadence")
    form = {"f0": ["x" * 20_000] * 40} | {f"f{at}\x00": ["\x00x"] * 3 for at in range(1, 100)}
    assert ada.send(attempt, "draft", form).status_code == 302
    assert len(attempt.answer) <= 80 and all(len(values) <= 16 for values in attempt.answer.values())
    assert len(attempt.answer["f0"][0]) == 8_000 and attempt.answer["f1"] == ["x"] * 3
    assert ada.send(attempt, "answer", {"mtbf": "\x00", "lost": "<b>9</b>"}).status_code == 422
    assert "<b>9</b>" not in ada.page(attempt)


def test_markup_in_an_answer_stays_text(ada):
    item = next(id for id in items.every() if id.startswith("question/"))
    attempt = ada.start(item)
    ada.send(attempt, "answer", {"baseline": "<script>alert(1)</script>"})
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in ada.page(attempt)
