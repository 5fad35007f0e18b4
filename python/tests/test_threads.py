"""One key in many threads; the interpreter lock is released."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

import aescomb

COUNT = 40_000
MESSAGES = [bytes([i % 251]) * (i % 80) for i in range(COUNT)]
NULLS = [None if i % 11 == 5 else message for i, message in enumerate(MESSAGES)]


def test_threads():
    key = aescomb.Key("ccm", bytes(16))
    messages = [bytes([i % 256]) * (i % 300) for i in range(6000)]
    nonces = [i.to_bytes(12, "big") for i in range(6000)]
    expected = key.seal_many(nonces, messages)

    def work(i):
        part = slice(100 * i, 100 * i + 1000)
        sealed = key.seal_many(nonces[part], messages[part])
        assert key.open_many(nonces[part], sealed) == messages[part]
        return sealed == expected[part]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(50)))


def test_interpreter_lock():
    """Another thread runs while a call does."""
    key = aescomb.Key("cbc", bytes(16))
    rows = np.zeros((4096, 8192), np.uint8)
    nonces = bytes(16 * len(rows))
    stop, counted = threading.Event(), 0

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    thread.start()
    try:
        # From now on nobody is asked to give the lock away.
        sys.setswitchinterval(1000)
        before, calls = counted, 0
        while counted == before and calls < 100:
            key.encrypt_many(nonces, rows, out=rows)
            calls += 1
        assert counted > before
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()


def test_lists_that_change():
    """Copies of what may change are taken before the lock is released."""
    key = aescomb.Key("gcm", bytes(16))
    messages = [bytearray(b"message") for _ in range(3000)]
    nonces = [i.to_bytes(12, "big") for i in range(3000)]
    expected = key.seal_many(nonces, messages)
    stop = threading.Event()

    def shrink():
        # A buffer that was still exported could not change its size.
        while not stop.is_set():
            for message in messages:
                message.append(0)
                message.pop()

    thread = threading.Thread(target=shrink)
    thread.start()
    try:
        for _ in range(20):
            sealed = key.seal_many(nonces, messages)
            assert sum(a == b for a, b in zip(sealed, expected)) > 2000
    finally:
        stop.set()
        thread.join()


def forms(messages):
    yield messages
    yield pa.array(messages, pa.binary())
    yield pa.array(messages, pa.large_binary())
    yield pa.array(messages, pa.binary_view())
    half = len(messages) // 2
    yield pa.chunked_array([messages[:half], messages[half:]], pa.binary())


@pytest.mark.parametrize("mode", ["gcm", "siv", "ctr", "cbc-pkcs7", "cmac", "julius"])
@pytest.mark.parametrize("messages", [MESSAGES, NULLS], ids=["all", "nulls"])
def test_threads_of_a_call(mode, messages):
    """They do what one thread does."""
    lengths = next(m for m in aescomb.modes() if m.name == mode).key_bytes
    one = aescomb.Key(mode, bytes(range(lengths[0])))
    keys = {i: aescomb.Key(mode, bytes([i]) * lengths[0]) for i in range(5)}
    many = aescomb.Keys(keys).of([i % 5 for i in range(COUNT)])
    width = {"siv": None, "cmac": None, "gcm": 12}.get(mode, 16)
    nonces = width and b"".join(i.to_bytes(width, "big") for i in range(COUNT))
    lens = [0 if message is None else len(message) for message in messages]
    opened_lengths = {"opened_lengths": lens} if mode == "julius" else {}
    for key in (one, many):
        for form in forms(messages):
            if mode == "cmac":
                tags = list(key.mac_many(form))
                assert list(key.mac_many(form, threads=4)) == tags
                tags[7] = tags[-1] = bytes(16)
                for given in (tags, pa.array(tags, pa.binary(16))):
                    failed = key.verify_many(form, given, on_failure="return", threads=3)
                    assert failed == [7, COUNT - 1]
                continue
            seal, unseal = (
                (key.seal_many, key.open_many)
                if key.mode.kind == "aead"
                else (key.encrypt_many, key.decrypt_many)
            )
            sealed = seal(nonces, form)
            assert list(seal(nonces, form, threads=4)) == list(sealed)
            opened = unseal(nonces, sealed, threads=3, **opened_lengths)
            assert list(opened) == messages
            if width:
                sealed = seal("inline", form, threads=2)
                assert list(unseal("inline", sealed, threads=5, **opened_lengths)) == messages


def test_arrays_on_threads():
    rows = np.arange(COUNT * 24, dtype=np.uint32).astype(np.uint8).reshape(COUNT, 24)
    key = aescomb.Key("ctr", bytes(16))
    nonces = bytes(16 * COUNT)
    expected = key.encrypt_many(nonces, rows)
    assert (key.encrypt_many(nonces, rows, threads=4) == expected).all()
    assert key.encrypt_many(nonces, rows, out=rows, threads=4) is rows
    assert (rows == expected).all()


def test_failures_on_threads():
    """They are those of all threads, in order; a mistake is the first one."""
    key = aescomb.Key("gcm", bytes(16))
    nonces = bytes(12 * COUNT)
    sealed = key.seal_many(nonces, NULLS)
    failed = [3, 9_999, 20_000, COUNT - 1]
    for i in failed:
        sealed[i] = bytes(30)
    for form in forms(sealed):
        opened, found = key.open_many(nonces, form, on_failure="return", threads=4)
        assert found == failed
        expected = [None if i in failed else m for i, m in enumerate(NULLS)]
        assert list(opened) == expected
    for i in failed[1:]:
        sealed[i] = b"short"
    for form in forms(sealed):
        with pytest.raises(aescomb.InputError) as caught:
            key.open_many(nonces, form, threads=4)
        assert (caught.value.message, caught.value.field) == (9_999, "text_length")


def test_numbers_of_threads():
    key = aescomb.Key("siv", bytes(32))
    expected = key.seal_many(None, MESSAGES)
    for threads in (1, 2, 1000, 1 << 62, None):
        assert key.seal_many(None, MESSAGES, threads=threads) == expected
        assert key.seal_many(None, [], threads=threads) == []
        assert key.seal_many(None, [b""], threads=threads) == [key.seal(None, b"")]
    with pytest.raises(ValueError, match="threads: expected one or more, not 0"):
        key.seal_many(None, MESSAGES, threads=0)
    for wrong, error in [(-1, OverflowError), (1.5, TypeError), ("2", TypeError)]:
        with pytest.raises(error):
            key.seal_many(None, MESSAGES, threads=wrong)
