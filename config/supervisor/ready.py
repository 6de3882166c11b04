"""Does it answer? One question a kind of service, each asked of the service itself."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from config import paths
from config.supervisor.plan import HOST, Start

ASK_WITHIN_S = 2.0


def redis_answers(path: Path) -> bool:
    """PING over the socket, in Redis's own protocol."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(ASK_WITHIN_S)
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
    except OSError:
        return False


def health(port: int) -> dict[str, Any] | None:
    """What `/healthz` says; None where it does not answer, or says that nothing works."""
    try:
        asking = http.client.HTTPConnection(HOST, port, timeout=ASK_WITHIN_S)
        asking.request("GET", "/healthz", headers={"Host": "localhost"})
        answer = asking.getresponse()
        return json.loads(answer.read()) if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None


def web_answers(port: int) -> bool:
    return health(port) is not None


def evidence_is_live(port: int) -> bool:
    """The lab worker lives and its machine's last self-check passed."""
    return bool((health(port) or {}).get("live"))


def lab_answers(file: Path, pid: int) -> bool:
    """The worker wrote its process id once it took work."""
    try:
        return file.read_text() == str(pid)
    except OSError:
        return False


def question(name: str, start: Start) -> Callable[[int], bool]:
    """What to ask the service of that name; takes the process id of its present run."""
    return {
        "redis": lambda pid: redis_answers(paths.redis_socket(start.data)),
        "web": lambda pid: web_answers(start.port),
        "lab": lambda pid: lab_answers(paths.lab_ready_file(start.data), pid),
    }[name]
