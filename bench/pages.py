"""What the first page costs over the wire, and what the processes hold in memory."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from bench.figure import Figure
from bench.http import Client

LINKED = re.compile(r'(?:<link[^>]+rel="(?:stylesheet|icon)"[^>]+href|<script[^>]+src)="([^"]+)"|href="([^"]+\.svg)"')


async def first_page(port: int) -> tuple[int, list[str]]:
    """Bytes of the page and everything it links, and addresses off the site."""
    client = Client(port)
    page = await client.get("/", Accept_Encoding="gzip, br")
    linked = {first or second for first, second in LINKED.findall(page.text)}
    foreign = sorted(address for address in linked if address.startswith(("http:", "https:", "//")))
    total = page.wire_bytes
    for address in sorted(linked - set(foreign)):
        total += (await client.get(address, Accept_Encoding="gzip, br")).wire_bytes
    client.close()
    return total, foreign


def resident_mb(pids: set[int]) -> float:
    """Memory of processes together, shared pages counted once (proportional set size)."""
    total_kb = 0
    for pid in pids:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total_kb += int(re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[1])  # type: ignore[index]
    return total_kb / 1024


def measure(port: int, web: set[int], lab: set[int]) -> list[Figure]:
    total, foreign = asyncio.run(first_page(port))
    return [
        Figure("first page", "bytes over the wire, all it links included", total / 1000, "kB", mark=120.0),
        Figure("first page", "requests off the site", float(len(foreign)), "", mark=0.0),
        Figure("memory", "web process", resident_mb(web), "MB", mark=150.0),
        Figure("memory", "lab worker, idle, all its processes", resident_mb(lab), "MB", mark=450.0),
    ]
