"""Health, headers, and what the web process must not load."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.test import Client

from config import paths
from config.staticfiles import PlotlyFinder

pytestmark = pytest.mark.django_db


def test_health_tells_each_part_and_works_without_redis(client: Client):
    got = client.get("/healthz")
    assert got.status_code == 200
    assert got.json() == {"ok": True, "database": True, "redis": False, "live": False}
    assert "no-store" in got["Cache-Control"]


@pytest.mark.redis
def test_health_sees_a_real_redis(client: Client, redis_url: str):
    assert client.get("/healthz").json()["redis"] is True


def test_scripts_come_from_this_site_alone(client: Client):
    policy = client.get("/healthz")["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";") if rule.strip())
    assert rules["script-src"] == rules["default-src"] == rules["connect-src"] == "'self'"
    assert rules["object-src"] == rules["frame-ancestors"] == "'none'"


def test_plotly_is_one_file_of_its_package():
    finder = PlotlyFinder()
    assert finder.find("plotly/plotly.min.js").endswith("plotly.min.js")
    assert finder.find("plotly/widgetbundle.js") == []
    assert finder.find("plotly/../plotly.min.js") == []
    assert [path for path, _ in finder.list(None)] == ["plotly.min.js"]


def loaded_by(code: str) -> set[str]:
    asked = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        cwd=paths.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 0, asked.stderr
    return set(asked.stdout.split())


def test_the_web_process_imports_neither_torch_nor_plotly_s_python():
    loaded = loaded_by(
        "import config.asgi\n"
        "from django.urls import get_resolver\n"
        "get_resolver().url_patterns\n"
        "import importlib\n"
        "from scenarios import evidence, library\n"
        "[library.get(key) for key in library.keys()]\n"
    )
    assert "practice.urls" in loaded
    assert not {"torch", "sklearn"} & loaded
