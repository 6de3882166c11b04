"""What is written down is true: settings, commands, and that nothing loads from elsewhere."""

from __future__ import annotations

import re
import subprocess

import pytest
from django.core.management import get_commands, load_command_class

from config import paths

ROOMS = ("config", "grader", "gpu_worker", "scenarios", "practice", "bench")
READS = re.compile(
    r"""(?:env\.(?:text|flag|words|whole_number)\(|environ(?:\.get\(|\[)|getenv\()\s*["']([A-Z][A-Z0-9_]+)"""
)
# Read or set for libraries or for children, and no settings of ours.
NOT_OURS = {"XDG_RUNTIME_DIR", "DJANGO_SETTINGS_MODULE", "PATH", "HOME", "LD_LIBRARY_PATH"}
OF_LIBRARIES = ("GLOO_", "TORCH_", "NCCL_", "OMP_", "MASTER_")
SETTINGS = (paths.BASE_DIR / "docs" / "settings.md").read_text()
README = (paths.BASE_DIR / "README.md").read_text()


def tracked(*patterns: str) -> list[str]:
    """Files of the repository, also those not yet committed; a checkout without git has none."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=paths.BASE_DIR, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if (paths.BASE_DIR / name).is_file()]


def variables_read() -> set[str]:
    found: set[str] = set()
    for room in ROOMS:
        for file in (paths.BASE_DIR / room).rglob("*.py"):
            found |= set(READS.findall(file.read_text()))
    return {name for name in found - NOT_OURS if not name.startswith(OF_LIBRARIES)}


def documented() -> set[str]:
    return set(re.findall(r"^\| `([A-Z0-9_]+)` \|", SETTINGS, re.MULTILINE)) | {"CI", "ARGS"}


def test_every_variable_that_is_read_is_documented():
    assert len(variables_read()) > 8
    assert sorted(variables_read() - documented()) == []


def test_every_documented_variable_is_read():
    everything = "\n".join((paths.BASE_DIR / name).read_text() for name in tracked("*.py", "Makefile"))
    assert [name for name in documented() if name not in everything] == []


def commands_of_readme() -> list[list[str]]:
    blocks = re.findall(r"```(?:\w*)\n(.*?)```", README, re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line.split() for line in lines if line.startswith(("make ", "python manage.py", "PORT="))]


def test_every_make_goal_of_the_readme_exists():
    goals = set(re.findall(r"^([a-z]+):", (paths.BASE_DIR / "Makefile").read_text(), re.MULTILINE))
    named = {words[words.index("make") + 1] for words in commands_of_readme() if "make" in words}
    assert {"run", "test"} <= named
    assert named <= goals


def test_every_management_command_of_the_readme_exists():
    named = {words[2] for words in commands_of_readme() if words[:2] == ["python", "manage.py"]}
    assert named
    assert named <= set(get_commands())


def own_commands() -> list[tuple[str, str]]:
    return sorted((name, app) for name, app in get_commands().items() if app in ROOMS)


@pytest.mark.parametrize(("name", "app"), own_commands())
def test_every_command_of_ours_says_what_it_is_for(name: str, app: str):
    assert len(load_command_class(app, name).help) > 20


@pytest.mark.parametrize(("name", "app"), own_commands())
def test_every_command_of_ours_is_written_down(name: str, app: str):
    pages = [README, *(file.read_text() for file in (paths.BASE_DIR / "docs").rglob("*.md"))]
    assert any(re.search(rf"manage\.py {name}\b", page) for page in pages)


def test_every_picture_and_page_that_the_readme_names_is_there():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (paths.BASE_DIR / target).exists(), target


def test_pages_load_nothing_from_another_site():
    for name in tracked("templates/*.html", "static/*.css", "static/*.js"):
        text = (paths.BASE_DIR / name).read_text()
        assert not re.search(r"""(?:src|href)=["']https?://|@import|url\(["']?https?://""", text), name
