"""The published schema is the form's own, and an editor shows what each field is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings
from ruamel.yaml import YAML

from scenarios import library, palette, told
from scenarios.format import Scenario

SCHEMA = json.loads(told.schema_text())


def objects(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"Scenario": schema, **schema["$defs"]}


def test_the_published_file_is_current():
    """Stale: python manage.py scenario schema --write"""
    assert told.SCHEMA.read_text() == told.schema_text()


@pytest.mark.parametrize("name", objects(SCHEMA))
def test_every_field_says_what_it_is(name):
    for field, about in objects(SCHEMA)[name]["properties"].items():
        assert about.get("description", "").endswith((".", "?")), f"{name}.{field} has no sentence to show"


@pytest.mark.parametrize("name", objects(SCHEMA))
def test_every_list_text_and_mapping_has_a_largest_size(name):
    def unbounded(about: dict[str, Any], path: str) -> list[str]:
        found = []
        for kind, bound in (("array", "maxItems"), ("string", "maxLength")):
            if about.get("type") == kind and bound not in about and "enum" not in about and "const" not in about:
                found.append(path)
        for part in ("items", "additionalProperties"):
            if isinstance(about.get(part), dict):
                found += unbounded(about[part], f"{path}.{part}")
        for part in ("anyOf", "prefixItems"):
            for inner in about.get(part, ()):
                found += unbounded(inner, f"{path}.{part}")
        return found

    fields = objects(SCHEMA)[name]["properties"].items()
    assert [path for field, about in fields for path in unbounded(about, f"{name}.{field}")] == []


def test_the_schema_is_named_from_the_authoring_guide_by_a_path_that_exists():
    guide = (settings.BASE_DIR / "docs" / "authoring.md").read_text()
    line = "# yaml-language-server: $schema=../../schema.json"
    assert line in guide
    for path in library.files().values():
        assert (path.parent / line.partition("=")[2]).resolve() == told.SCHEMA.resolve()


def test_what_the_library_holds_has_the_schemas_fields():
    for path in sorted(library.FOLDER.glob("*/*.yaml")):
        tree = YAML(typ="safe", pure=True).load(path.read_text())
        assert set(tree) <= set(SCHEMA["properties"])
        assert set(SCHEMA["required"]) <= set(tree)


def test_without_steps_a_scenario_offers_the_whole_palette():
    said = library.get("slow-all-reduce").model_dump()
    del said["steps"]
    assert list(Scenario.model_validate(said).steps) == palette.offered()


def test_the_guide_names_every_field():
    guide = (settings.BASE_DIR / "docs" / "authoring.md").read_text()
    assert [name for name in Scenario.model_fields if f"`{name}`" not in guide] == []
