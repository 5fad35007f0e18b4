"""Whatever is given, a method returns or raises one of Python's exceptions."""

import random

import numpy as np
import pyarrow as pa
import pytest

import aescomb

POOL = [
    None, 0, -1, 12, 1 << 70, 1.5, "", "gcm", b"", bytes(12), bytes(16), bytes(24), bytes(32),
    bytearray(24), memoryview(bytes(32)), [], (), {}, [b"", b"1"], (b"", b"1"), [bytes(12)] * 2,
    [bytes(16)] * 2, [bytes(33)] * 3, [None, b""], [(b"", b""), b""], [[b""], [b""]], [0, 16],
    range(3), object(), np.zeros((2, 12), np.uint8), np.zeros((2, 16), np.uint8),
    np.zeros((2, 32), np.uint8), np.zeros((0, 0), np.uint8), np.zeros((3, 0), np.uint8),
    np.zeros((2, 32), np.uint8)[::-1], np.zeros((2, 4, 4), np.uint8), np.zeros(4), np.array(b"x"),
    np.array(["x", b"y"], object), np.array([b"x", b"yy"]), np.zeros((2, 2), object),
    pa.array([b"", b"1"]), pa.array([b"1" * 16, b"2" * 16], pa.binary(16)), pa.array([b"", None]),
    pa.array([1]), pa.array([bytes(32)] * 2, pa.binary_view()), pa.chunked_array([[b"1"], [b"2"]]),
    pa.table({"a": [1]}), pa.nulls(2), pa.nulls(2, pa.binary()), pa.array([None, b"1" * 16]),
    pa.array(["1", None], pa.string_view()), pa.array([True, None]), pa.array([None, 1.5]),
    pa.array([b"1" * 16, None, b"1" * 16]).dictionary_encode(), [None, b"1"],
]  # fmt: skip
NAMES = [
    "associated_data", "tag_bytes", "opened_lengths", "opened_length", "on_failure", "out",
    "nonces", "to",
]  # fmt: skip


@pytest.mark.parametrize("mode", aescomb.modes(), ids=lambda mode: mode.name)
def test_nonsense(mode):
    rng = random.Random(mode.name)
    key = aescomb.Key(mode.name, bytes(range(mode.key_bytes[0])))
    methods = [
        getattr(key, f"{name}{many}")
        for name in ("encrypt", "decrypt", "seal", "open", "mac", "verify")
        for many in ("", "_many")
    ]
    for _ in range(3000):
        method = rng.choice(methods)
        positional = [rng.choice(POOL) for _ in range(rng.choice((2, 2, 2, 3)))]
        named = {name: rng.choice(POOL) for name in rng.sample(NAMES, rng.choice((0, 0, 0, 1, 2)))}
        if "to" in named and rng.random() < 0.8:
            named["to"] = rng.choice(("binary", "string", "int8", pa.int64(), pa.binary(3)))
        if "on_failure" in named:
            named["on_failure"] = rng.choice(("raise", "return"))
        try:
            method(*positional, **named)
        except (TypeError, ValueError, OverflowError):
            pass


@pytest.mark.parametrize("ff1", [{"alphabet": "01"}, {"radix": 1000}], ids=str)
def test_nonsense_of_values(ff1):
    rng = random.Random(str(ff1))
    ff1 = aescomb.Ff1(bytes(16), **ff1)
    pool = [
        *POOL, "01" * 20, ["01" * 20, None], [[1, 2], [3, 4]], np.zeros((2, 3), np.uint16),
        pa.array(["01" * 20, None]), pa.array(["01" * 20, None]).dictionary_encode(),
    ]  # fmt: skip
    for _ in range(3000):
        method = getattr(ff1, rng.choice(("encrypt", "decrypt")) + rng.choice(("", "_many")))
        try:
            method(*(rng.choice(pool) for _ in range(rng.choice((1, 2, 2)))))
        except (TypeError, ValueError, OverflowError):
            pass
