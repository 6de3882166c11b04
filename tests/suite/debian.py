"""Programs that no wheel brings: Chromium and PostgreSQL's server, from Debian where they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

QUIET = {"DEBIAN_FRONTEND": "noninteractive"}
CLUSTER_CONF = Path("/etc/postgresql-common/createcluster.conf")


class Missing(Exception):
    """One line: what is missing and how to get it."""


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def postgres_bin() -> Path | None:
    """The folder that holds `initdb`, the newest version first."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]), reverse=True)
    found = versions[0] if versions else shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def apt(*packages: str) -> None:
    """Installs Debian packages. Raises Missing with the repair where this user or system cannot."""
    names = " ".join(packages)
    if not shutil.which("apt-get"):
        raise Missing(f"the tests need {names} (Debian's names); install them with this system's package manager")
    if os.geteuid() != 0:
        raise Missing(f"the tests need {names}: as root, apt-get install {names}")
    print(f"Installing from Debian: {names} …", flush=True)
    env = {**os.environ, **QUIET}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    for command in (["apt-get", "update", "-q"], install):
        done = subprocess.run(command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Missing(f"apt-get could not install {names}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")


def ensure_chromium() -> str:
    if not chromium():
        apt("chromium", "fonts-dejavu-core")
    found = chromium()
    if not found:
        raise Missing("chromium was installed but is not on PATH")
    return found


def ensure_postgres() -> Path:
    """The server's programs, without Debian's own cluster, which would start a daemon that nobody asked for."""
    if not postgres_bin():
        apt("postgresql-common")
        if CLUSTER_CONF.is_file():
            CLUSTER_CONF.write_text(CLUSTER_CONF.read_text() + "\ncreate_main_cluster = false\n")
        apt("postgresql")
    found = postgres_bin()
    if not found:
        raise Missing("postgresql was installed but its initdb was not found under /usr/lib/postgresql")
    return found
