"""Memory that is kept for later results."""

import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import aescomb

ROWS = 100_000
VALUES = pa.array([None if i % 7 == 3 else b"%040d" % i for i in range(ROWS)], pa.binary())


@pytest.fixture(autouse=True, params=["1 GiB", "5 MiB", "nothing"])
def kept(request):
    most = {"1 GiB": 1 << 30, "5 MiB": 5 << 20, "nothing": 0}[request.param]
    before = aescomb.keep_memory(most)
    yield
    assert aescomb.keep_memory(before) == most


@pytest.mark.parametrize("mode, nonces", [("gcm", "inline"), ("siv", None)])
def test_results_that_are_there_stay(mode, nonces):
    """Only memory of results that nobody has is used again."""
    key = aescomb.Key(mode, bytes(32))
    held = []
    for i in range(20):
        part = VALUES[i * 10 :]
        column = key.seal_many(nonces, part)
        if i % 3 == 0:
            held.append((part, column))
        elif i % 3 == 1:
            # The buffers live longer than the column.
            held.append((part, pa.array(column)))
    for part, column in held:
        assert pa.array(key.open_many(nonces, column)) == part


def test_threads():
    key = aescomb.Key("siv", bytes(32))
    expected = pa.array(key.seal_many(None, VALUES))

    def seal(_):
        return pa.array(key.seal_many(None, VALUES)) == expected

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(seal, range(40)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork():
    """Parent and child have the same memory kept, and each its own pages."""
    key = aescomb.Key("siv", bytes(32))
    expected = pa.array(key.seal_many(None, VALUES))
    other = pa.array(key.seal_many(None, VALUES[::-1]))
    child = os.fork()
    if child == 0:
        good = pa.array(key.seal_many(None, VALUES[::-1])) == other
        os._exit(0 if good else 1)
    assert pa.array(key.seal_many(None, VALUES)) == expected
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("given", [-1, 1 << 64, 1.5, None])
def test_mistakes(given):
    with pytest.raises((OverflowError, TypeError)):
        aescomb.keep_memory(given)
