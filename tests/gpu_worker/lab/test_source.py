"""The store that batches come from really delivers, and really delivers slowly where a fault says so."""

from __future__ import annotations

import os
import socket
import threading
import time

import pytest

from gpu_worker.jobs.shape import RECORD_BYTES
from gpu_worker.ranks.source import Reader, make_data_set, serve_ranks


@pytest.fixture
def readers():
    data_set = make_data_set()
    pairs = [socket.socketpair() for _ in range(2)]
    serving = threading.Thread(target=serve_ranks, args=(data_set, [pair[0] for pair in pairs], {1: 200e3}))
    serving.start()
    readers = [Reader(pair[1].detach()) for pair in pairs]
    yield readers
    for reader in readers:
        reader.close()
    serving.join(timeout=10)
    assert not serving.is_alive()
    os.close(data_set)


def test_documents_come_in_the_order_that_was_asked_for(readers):
    first, second = readers[0].read([5]), readers[0].read([9])
    assert readers[0].read([9, 5]) == second + first
    assert len(first) == RECORD_BYTES and first != second


def test_a_slow_store_takes_the_time_that_its_rate_says(readers):
    begun = time.monotonic()
    body = readers[1].read(range(4))
    rate = len(body) / (time.monotonic() - begun)
    assert body == readers[0].read(range(4))
    assert rate < 210e3  # never faster than it may, however the machine is loaded
