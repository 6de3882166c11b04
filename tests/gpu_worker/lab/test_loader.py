"""Workers really read and decode, in the order of asking, and hosts that share a store share its bytes."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from gpu_worker.jobs.shape import RECORD_BYTES
from gpu_worker.ranks.loader import decode, make_loader
from gpu_worker.ranks.source import Reader, make_data_set, serve_ranks


@pytest.fixture
def connections() -> Iterator[list[int]]:
    """Descriptors of three ranks' connections to a store; the last two share its 400 kB/s."""
    data_set = make_data_set()
    pairs = [socket.socketpair() for _ in range(3)]
    served = [pair[0] for pair in pairs]
    threading.Thread(target=serve_ranks, args=(data_set, served, {}, [([1, 2], 400e3)]), daemon=True).start()
    yield [pair[1].detach() for pair in pairs]
    os.close(data_set)


def test_decoding_merges_the_pairs_that_are_most_frequent():
    once = bytearray(b"ab" * (RECORD_BYTES // 2))
    assert decode(once, 1) == RECORD_BYTES // 2  # every pair of a and b
    assert decode(once, 2) == RECORD_BYTES // 2 + RECORD_BYTES // 4
    assert decode(bytearray(RECORD_BYTES), 0) == 0


def test_workers_answer_in_the_order_of_asking_whoever_is_first(connections):
    workers, direct = make_loader(connections[0], 2, 2, 3), make_loader(connections[1], 0, 0, 0)
    wanted = [[5, 6], [7], [8, 9, 10]]
    for indices in wanted:
        workers.ask(indices)
        direct.ask(indices)
    for indices in wanted:
        decoded = workers.take()
        assert decoded.documents == direct.take().documents
        assert len(decoded.documents) == len(indices) * RECORD_BYTES
        assert decoded.merges > 0 and decoded.cpu_s > 0
    workers.close()


def test_a_worker_that_is_gone_is_an_error_and_not_a_wait(connections):
    workers = make_loader(connections[0], 1, 1, 1)
    os.close(workers._pipes[0][1])  # its requests end, and so does it
    with pytest.raises(OSError, match="pipe is gone"):
        workers.take()


def test_two_hosts_of_one_store_take_twice_as_long_as_it_would_take_one(connections):
    readers = [Reader(connection) for connection in connections[1:]]
    begun = time.monotonic()
    threads = [threading.Thread(target=reader.read, args=([1, 2, 3, 4],)) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Never faster than the store may, however the machine is loaded.
    assert 8 * RECORD_BYTES / (time.monotonic() - begun) < 420e3
