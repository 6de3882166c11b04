"""Before any test: nothing may touch the data folder, the Redis or the broker of an installation in use."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import hypothesis
import pytest

# In CI the same examples every time: a change is judged by what it did. Elsewhere new ones are looked for.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")

pytest_plugins = ["pytester", "tests.support.guard", "tests.support.tried_again"]


def pytest_configure(config: pytest.Config) -> None:
    from django.conf import settings

    # A short path: a socket's may hold about a hundred characters.
    data = Path(tempfile.mkdtemp(prefix="rank37-test-"))
    config.add_cleanup(lambda: remove(data))
    os.environ["DATA_DIR"] = str(data)
    settings.DATA_DIR = data
    settings.STATIC_ROOT = data / "static"
    settings.STATIC_ROOT.mkdir()
    settings.REDIS_URL = f"unix://{data / 'redis.sock'}"
    settings.CELERY_BROKER_URL = f"redis+socket://{data / 'redis.sock'}"
    # Hashing passwords and compressing are not what is tested.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
