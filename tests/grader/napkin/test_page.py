"""docs/napkin.md is what the declarations say."""

from pathlib import Path

from grader.napkin.page import page

PAGE = Path(__file__).parents[3] / "docs" / "napkin.md"


def test_the_page_is_made_from_the_declarations():
    assert PAGE.read_text() == page(), "run: python manage.py napkin --write-docs"
