"""How a rank's training loop gets its documents: it reads them itself, or worker processes read and decode ahead.

A worker is a process, since decoding is plain Python, which in a thread would take turns with the training loop. All
workers of a rank share its one connection to the store, a request at a time, and decode side by side.
"""

from __future__ import annotations

import itertools
import os
import struct
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gpu_worker.fabric.namespaces import die_with_parent
from gpu_worker.jobs.shape import RECORD_BYTES
from gpu_worker.ranks.source import INDEX, Reader

# Of an answer: processor seconds that it took, pairs that were merged, bytes that follow.
ANSWER = struct.Struct("=dQQ")
Act = Callable[[], object]
SHOWN_AS = 256  # the first number that no byte has: what merged pairs are written as


@dataclass(frozen=True)
class Decoded:
    """Documents one after the other, what decoding them cost, and how many pairs were merged on the way."""

    documents: bytearray
    cpu_s: float
    merges: int


class Loader(Protocol):
    """`ask` for documents by index as far ahead as `depth` says; `take` what was asked for first."""

    depth: int

    def ask(self, indices: Sequence[int]) -> None: ...

    def take(self) -> Decoded: ...

    def close(self) -> None: ...


def decode(documents: bytearray, passes: int) -> int:
    """Merges the most frequent pair of neighbours, `passes` times in each document; returns how many were merged.

    It is how a byte-pair tokenizer is fitted, and how quality filters find text that repeats itself. In plain Python,
    as many an input pipeline is: about a millisecond for a pass over 8 kB.
    """
    merged = 0
    for first in range(0, len(documents), RECORD_BYTES):
        tokens = list(documents[first : first + RECORD_BYTES])
        for number in range(passes):
            tokens, count = _merge(tokens, SHOWN_AS + number)
            merged += count
    return merged


def _merge(tokens: list[int], name: int) -> tuple[list[int], int]:
    """The tokens with their most frequent pair written as `name`, and how often it was."""
    pairs = Counter(itertools.pairwise(tokens))
    if not pairs:
        return tokens, 0
    (left, right), _ = pairs.most_common(1)[0]
    answer: list[int] = []
    for token in tokens:
        if answer and token == right and answer[-1] == left:
            answer[-1] = name
        else:
            answer.append(token)
    return answer, len(tokens) - len(answer)


class InTheLoop:
    """The training loop reads and decodes its documents when it needs them."""

    depth = 0

    def __init__(self, reader: Reader, passes: int) -> None:
        self._reader, self._passes = reader, passes
        self._asked: deque[list[int]] = deque()

    def ask(self, indices: Sequence[int]) -> None:
        self._asked.append(list(indices))

    def take(self) -> Decoded:
        """Its processor time is the loop's own and is not told apart."""
        documents = self._reader.read(self._asked.popleft())
        return Decoded(documents, 0.0, decode(documents, self._passes) if self._passes else 0)

    def close(self) -> None:
        self._reader.close()


class Workers:
    """Processes that answer in turn. They end with the rank, whatever ends it."""

    def __init__(self, reader: Reader, count: int, depth: int, passes: int) -> None:
        self.depth = depth
        self._asked = self._taken = 0
        turn_read, turn_write = os.pipe()
        os.write(turn_write, b"1")
        self._pipes = [_fork_worker(reader, passes, turn_read, turn_write) for _ in range(count)]

    def ask(self, indices: Sequence[int]) -> None:
        _, asking = self._pipes[self._asked % len(self._pipes)]
        os.write(asking, b"".join(INDEX.pack(number) for number in (len(indices), *indices)))
        self._asked += 1

    def take(self) -> Decoded:
        """Waits for the answer. Raises OSError where the worker is gone."""
        answers, _ = self._pipes[self._taken % len(self._pipes)]
        self._taken += 1
        cpu_s, merges, size = ANSWER.unpack(_read(answers, ANSWER.size))
        return Decoded(_read(answers, size), cpu_s, merges)

    def close(self) -> None:
        """Ends the workers: each sees that nobody will ask again, the last one first, which held the others' pipes."""
        for answers, asking in self._pipes:
            os.close(asking)
            os.close(answers)


def _fork_worker(reader: Reader, passes: int, turn_read: int, turn_write: int) -> tuple[int, int]:
    """(descriptor of answers, descriptor of requests) of a new worker."""
    asked, asking = os.pipe()
    answers, answering = os.pipe()
    if os.fork() == 0:
        try:
            die_with_parent()
            os.close(asking)  # its own copy would keep its requests open for ever
            os.close(answers)
            _work(reader, passes, asked, answering, lambda: os.read(turn_read, 1), lambda: os.write(turn_write, b"1"))
        except OSError:
            traceback.print_exc(file=sys.stderr)
        finally:
            os._exit(0)
    os.close(asked)
    os.close(answering)
    return answers, asking


def _work(
    reader: Reader,
    passes: int,
    asked: int,
    answering: int,
    take_turn: Act,
    end_turn: Act,
) -> None:
    """For ever: a request, the documents, their decoding, the answer."""
    while True:
        (count,) = INDEX.unpack(_read(asked, INDEX.size))
        indices = [index for (index,) in INDEX.iter_unpack(_read(asked, count * INDEX.size))]
        begun = time.process_time()
        take_turn()
        documents = reader.read(indices)
        end_turn()
        merges = decode(documents, passes)
        _write(answering, ANSWER.pack(time.process_time() - begun, merges, len(documents)) + documents)


def _read(descriptor: int, size: int) -> bytearray:
    whole = bytearray()
    while len(whole) < size:
        part = os.read(descriptor, size - len(whole))
        if not part:
            raise OSError("the other end of the loader's pipe is gone")
        whole += part
    return whole


def _write(descriptor: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def make_loader(source: int, workers: int, depth: int, passes: int) -> Loader:
    """By the job's knobs; `source` is the descriptor of this rank's connection to the store."""
    reader = Reader(source)
    return Workers(reader, workers, depth, passes) if workers else InTheLoop(reader, passes)
