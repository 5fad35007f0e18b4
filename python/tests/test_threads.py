"""One key in many threads; the interpreter lock is released."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import aescomb


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
