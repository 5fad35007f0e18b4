"""Damages random fields of Arrow columns, and prints how often which outcome was right.

usage: damage.py SEED COUNT

A mistake ends it with an exception, or with a signal.
"""

import collections
import json
import random
import struct
import sys
from dataclasses import replace

import pyarrow as pa

import aescomb
import structs
from structs import LAYOUTS, Chunks, Malformed, Untold, bitmap

CMAC = aescomb.Key("cmac", bytes(range(16)))
GCM = aescomb.Key("gcm", bytes(range(16)))
SIV = aescomb.Key("siv", bytes(range(32)))
PADDED = aescomb.Key("cbc-pkcs7", bytes(range(16)))


def nonces(n):
    return bytes(12 * n)


def with_data(column, n):
    return GCM.seal_many(nonces(n), [b"text"] * n, column)


# Each with so many messages as the column has values.
CALLS = [
    lambda column, n: CMAC.mac_many(column),
    lambda column, n: CMAC.verify_many(column, bytes(16 * n), on_failure="return"),
    lambda column, n: CMAC.verify_many([b""] * n, column, on_failure="return"),
    lambda column, n: GCM.seal_many(nonces(n), column),
    lambda column, n: with_data(column, n),
    lambda column, n: GCM.seal_many(pa.array([bytes(12)] * n, pa.binary(12)), column, column),
    lambda column, n: GCM.seal_many(column, [b"text"] * n),
    lambda column, n: GCM.seal_many(column, pa.array([b"text"] * n, pa.binary())),
    lambda column, n: GCM.open_many(nonces(n), column, on_failure="return"),
    lambda column, n: PADDED.encrypt_many(bytes(16 * n), column),
    lambda column, n: PADDED.decrypt_many(bytes(16 * n), column, on_failure="return"),
    lambda column, n: SIV.seal_many(None, column, b"data"),
    lambda column, n: SIV.open_many(None, column, on_failure="return"),
    lambda column, n: GCM.open_many("inline", column, on_failure="return"),
]
DATA = 4
NUMBERS = [
    0, 1, 2, 3, 7, -1, -2, 127, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40,
    1 << 47, 1 << 48, 1 << 61, 1 << 62, (1 << 63) - 1, -(1 << 31), -(1 << 63),
]  # fmt: skip
FORMATS = [
    None, b"", b"z", b"Z", b"vz", b"w:0", b"w:1", b"w:16", b"w:17", b"w:", b"w:-16", b"w:x",
    b"w:2147483647", b"w:2147483648", b"u", b"U", b"vu", b"b", b"C", b"i", b"l", b"+s", b"\xff",
    b"l" * 3000,
]  # fmt: skip


def good(rng):
    layout = rng.choice(list(LAYOUTS))
    count, before, after = rng.choice((1, 2, 5, 9)), rng.choice((0, 0, 3, 9)), rng.choice((0, 2))
    fixed = layout == "fixed_size_binary"
    lengths = [16] if fixed or rng.random() < 0.5 else [0, 1, 12, 13, 16, 32, 400]
    width = rng.choice((0, 12, 16)) if fixed else None
    values = [
        rng.randbytes(rng.choice(lengths) if width is None else width)
        for _ in range(before + count + after)
    ]
    column = replace(LAYOUTS[layout](values), length=count, offset=before)
    if column.dictionary and rng.random() < 0.3:
        distinct = column.dictionary
        valid = [rng.random() < 0.7 for _ in range(distinct.length)]
        distinct = distinct.with_buffer(0, bitmap(valid))
        column = replace(column, dictionary=replace(distinct, null_count=-1))
    if rng.random() < 0.3:
        valid = [rng.random() < 0.5 for _ in range(before)] + [1] * (count + after)
        column = column.with_buffer(0, bitmap(valid))
    if rng.random() < 0.1:
        valid = [rng.random() < 0.7 for _ in values]
        nulls = valid[before : before + count].count(False)
        return replace(column.with_buffer(0, bitmap(valid)), null_count=rng.choice((nulls, -1)))
    return replace(column, null_count=rng.choice((0, -1)))


def number(rng, old):
    near = [old + 1, old - 1, old ^ 1 << rng.randrange(63)]
    new = rng.choice([*NUMBERS, *near, *near])
    return max(-(1 << 63), min(new, (1 << 63) - 1))


def damaged(rng, column):
    def buffer(column):
        """Changes a field of a buffer, or its length."""
        i = rng.randrange(len(column.buffers))
        data = column.buffers[i]
        if data is None or rng.random() < 0.1:
            return column.with_buffer(i, rng.choice((None, b"", bytes(64), b"\xff" * 64)))
        if rng.random() < 0.1:
            # The buffers of values may be shorter than anything tells.
            return column.with_buffer(i, data[: rng.randrange(len(data) + 1)])
        letter = rng.choice("iiqB")
        size = struct.calcsize(letter)
        place = rng.randrange(max(1, len(data) // size)) * size
        if place + size > len(data):
            return column
        (old,) = struct.unpack_from(letter, data, place)
        new = number(rng, old) & (1 << 8 * size) - 1
        new = new.to_bytes(size, sys.byteorder)
        return column.with_buffer(i, data[:place] + new + data[place + size :])

    def field(name, old):
        return lambda column: replace(column, **{name: number(rng, old)})

    def flag(name):
        return lambda column: replace(column, **{name: True})

    buffers = len(column.buffers)
    if column.dictionary and rng.random() < 0.5:
        return replace(column, dictionary=damaged(rng, column.dictionary))
    return rng.choice(
        [
            buffer, buffer, buffer, buffer, buffer, buffer, buffer, buffer,
            field("length", column.length), field("length", column.length),
            field("offset", column.offset), field("offset", column.offset),
            field("null_count", column.null_count), field("n_buffers", buffers),
            field("n_children", 0), field("schema_children", 0), flag("no_buffers"),
            lambda column: replace(column, dictionary=LAYOUTS["binary"]([b"value"])),
            lambda column: replace(column, schema_dictionary=LAYOUTS["binary"]([b"value"])),
            flag("released"), flag("schema_released"),
            lambda column: replace(column, format=rng.choice(FORMATS)),
        ]
    )(column)  # fmt: skip


def outcome(call, column, n):
    try:
        result = call(column, n)
    except aescomb.InputError as error:
        return ("refused", error.message, error.field)
    if isinstance(result, tuple):
        return tuple(map(list, result))
    return list(result)


def expect(call, given, column, counts):
    """``given``: what is made of ``column``."""
    try:
        values = structs.values(column)
    except Untold:
        return
    except (Malformed, UnicodeDecodeError):
        try:
            call(given, min(max(column.length, 0), 9))
        except (ValueError, TypeError):
            counts["malformed"] += 1
            return
        except MemoryError:
            # Room for so many values comes before a look at each.
            if max(column.length, column.dictionary.length if column.dictionary else 0) >= 1 << 30:
                return
            raise
        raise AssertionError(f"taken: {column}") from None
    n = len(values)
    found = outcome(call, given, n)
    expected = outcome(call, values, n)
    if None in values and call is CALLS[DATA]:
        # In a list it says that there is none.
        expected = ("refused", values.index(None), "null")
    if column.dictionary and found != expected:
        # Of several mistakes, that of the first value in the dictionary is told.
        assert found[0] == expected[0] == "refused", (found, expected, column)
        assert outcome(call, [values[found[1]]], 1) == ("refused", 0, found[2])
        counts["right"] += 1
        return
    assert found == expected, (found, expected, column)
    counts["null" if None in values else "right"] += 1


def received(rng, counts):
    """Damages the body of a batch that pyarrow reads, or the number of its values."""
    values = [rng.randbytes(rng.choice((5, 16, 40))) for _ in range(6)]
    types = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary_view()]
    batch = pa.record_batch([pa.array(values, rng.choice(types))], ["column"])
    body = bytearray(batch.serialize())
    start = len(body) - sum(-(-(b.size if b else 0) // 8) * 8 for b in batch.column(0).buffers())
    if rng.random() < 0.1:
        count = rng.choice((0, 3, 7, 1000, 1 << 20, 1 << 31, 1 << 60))
        body = body.replace(struct.pack("<q", 6), struct.pack("<q", count))
    for _ in range(rng.choice((0, 1, 1, 2))):
        place = rng.randrange(start, len(body))
        body[place] ^= rng.choice((1, 2, 16, 128, 255))
    column = pa.ipc.read_record_batch(bytes(body), batch.schema).column(0)
    n = len(column)
    if rng.random() < 0.5:
        column = pa.chunked_array([column])
    call = rng.choice(CALLS)
    try:
        column.validate(full=True)
    except Exception:
        try:
            found = outcome(call, column, min(n, 9))
        except (ValueError, TypeError):
            counts["received, refused"] += 1
            return
        # What is damaged is no place of a value, but the prefix in a view or what is unused.
    else:
        found = outcome(call, column, n)
    assert found == outcome(call, column.to_pylist(), n)
    counts["received, right"] += 1


def main(seed, count):
    rng = random.Random(seed)
    counts = collections.Counter()
    for i in range(count):
        column = good(rng)
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            column = damaged(rng, column)
        in_stream = rng.random() < 0.3 and not (column.released or column.schema_released)
        given = Chunks((column,)) if in_stream else column
        expect(rng.choice(CALLS), given, column, counts)
        if i % 4 == 0:
            received(rng, counts)
    print(json.dumps(counts))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
