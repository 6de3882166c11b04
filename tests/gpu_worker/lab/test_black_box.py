"""A rank's black box, both ends in one process: lines as they arrive, answers late or never, how a process ended."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Iterator

import pytest

from gpu_worker.launcher.blackbox import LENGTH, USAGE, BlackBox, make_box
from gpu_worker.launcher.hang import _how_it_ended, _told
from gpu_worker.ranks.storage import Storage, serve_storage


@pytest.fixture
def box() -> Iterator[BlackBox]:
    made = make_box()
    yield made
    made.close_writing()
    made.store.close()
    made.close()


def say(box: BlackBox, text: str) -> None:
    os.write(box.log_writing, text.encode())


def reply(box: BlackBox, **answer: object) -> None:
    data = pickle.dumps(answer)
    box.answering.sendall(LENGTH.pack(len(data)) + data)


def soon() -> float:
    return time.monotonic() + 0.2


def test_lines_are_kept_in_order_with_the_time_of_their_arrival(box):
    say(box, "first\nsec")
    box.read_log()
    say(box, "ond\n\nlast without an end")
    box.drain_log()
    assert [line for _, line in box.log] == ["first", "second", "last without an end"]
    assert [at for at, _ in box.log] == sorted(at for at, _ in box.log)


def test_reading_a_silent_log_does_not_wait(box):
    assert box.read_log() is False


def test_an_answer_that_came_too_late_is_passed_over(box):
    box.ask(USAGE)
    assert box.answer(time.monotonic()) is None
    reply(box, number=1)
    box.ask(USAGE)
    reply(box, number=2)
    assert box.answer(soon()) == {"number": 2}


def test_a_rank_that_is_gone_answers_nothing(box):
    box.answering.close()
    box.ask(USAGE)
    assert box.answer(soon()) is None


def test_stacks_are_read_from_where_the_last_dump_ended(box):
    os.write(box.stacks, b"one")
    offset = box.stacks_size()
    os.write(box.stacks, b"two")
    assert box.stacks_from(offset) == "two"
    assert box.last_dump() == b""


def wait_status(code: int = 0, number: int = 0) -> int:
    return code << 8 | number


def test_how_a_process_ended_is_told_from_its_status_and_its_last_words(box):
    say(box, "Traceback\nRuntimeError: Timed out waiting 3000ms\n")
    box.drain_log()
    assert _how_it_ended(wait_status(number=signal.SIGKILL), box) == {"how": "died", "signal": 9}
    assert _how_it_ended(wait_status(), box) == {"how": "left", "exit_code": 0}
    raised = _how_it_ended(wait_status(code=1), box)
    assert raised == {
        "how": "raised",
        "exit_code": 1,
        "exception": "RuntimeError",
        "text": "Timed out waiting 3000ms",
    }
    assert _told(raised) == "exited with code 1"
    assert _told({"how": "died", "signal": 9}) == "was ended by signal 9 (SIGKILL)"


def test_a_store_says_that_it_has_an_object_only_once_it_has_all_of_it(box):
    pid = os.fork()
    if pid == 0:
        serve_storage(box.keep_store(), None)
        os._exit(0)
    storage = Storage(os.dup(box.storage.fileno()))
    storage.write(b"x" * 300_000)
    storage.write(b"")
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
    box.store.close()
    with pytest.raises(OSError):
        storage.write(b"x" * 300_000)
