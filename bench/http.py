"""A small asynchronous HTTP client for load on loopback: cookies, forms, one kept connection a candidate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import urlencode


@dataclass(frozen=True)
class Answer:
    """`wire_bytes` is the body as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    wire_bytes: int

    @property
    def text(self) -> str:
        return self.body.decode()


class Client:
    """One person's browser, as far as load is concerned. Only ever talks to 127.0.0.1."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.ask("GET", path, b"", headers)

    async def post(self, path: str, form: Mapping[str, str], **headers: str) -> Answer:
        body = urlencode({**form, "csrfmiddlewaretoken": self.cookies.get("csrftoken", "")}).encode()
        more = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body)), **headers}
        return await self.ask("POST", path, body, more)

    async def ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Once more on a fresh connection where the server had closed the kept one."""
        try:
            return await self._ask(method, path, body, headers)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            return await self._ask(method, path, body, headers)

    async def _ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        named = {"Host": "localhost", **({"Cookie": cookies} if cookies else {}), **headers}
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        await writer.drain()
        return await self._read(reader)

    async def _read(self, reader: asyncio.StreamReader) -> Answer:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(": ")
            if name.lower() == "set-cookie":
                self.cookies |= {key: morsel.value for key, morsel in SimpleCookie(value).items()}
            headers[name.lower()] = value
        body = await self._body(reader, headers)
        return Answer(int(first.split()[1]), headers, body, len(body))

    async def _body(self, reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return await reader.readexactly(int(headers.get("content-length", "0")))
        parts = []
        while size := int((await reader.readline()).split(b";")[0], 16):
            parts.append(await reader.readexactly(size))
            await reader.readexactly(2)
        await reader.readexactly(2)
        return b"".join(parts)

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None
