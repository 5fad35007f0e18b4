"""Arrow columns that are damaged are refused, whatever is wrong with them."""

import gc
import json
import random
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import aescomb
import structs
from structs import LAYOUTS, Chunks, Column, bitmap, view

CTR = aescomb.Key("ctr", bytes(range(16)))
PADDED = aescomb.Key("cbc-pkcs7", bytes(range(16)))
GCM = aescomb.Key("gcm", bytes(range(16)))
CMAC = aescomb.Key("cmac", bytes(range(16)))
GMAC = aescomb.Key("gmac", bytes(range(16)))

COUNT = 5
RNG = random.Random(3)
# Of a length that is good for every use.
VALUES = [RNG.randbytes(16) for _ in range(COUNT)]
OTHERS = [RNG.randbytes(16) for _ in range(COUNT)]
PLAIN = pa.array(OTHERS, pa.binary())
LARGE = pa.array(OTHERS, pa.large_binary())
FIXED = pa.array(OTHERS, pa.binary(16))

# Everything that takes a column, beside lists and beside columns.
CALLS = {
    "messages of encrypt_many": lambda column: CTR.encrypt_many(OTHERS, column),
    "messages of encrypt_many, columns": lambda column: CTR.encrypt_many(FIXED, column),
    "messages of encrypt_many, padded": lambda column: PADDED.encrypt_many(OTHERS, column),
    "messages of decrypt_many": lambda column: CTR.decrypt_many(OTHERS, column),
    "messages of decrypt_many, padded": lambda column: PADDED.decrypt_many(
        OTHERS, column, on_failure="return"
    ),
    "messages of seal_many": lambda column: GCM.seal_many(OTHERS, column),
    "messages of seal_many, columns": lambda column: GCM.seal_many(FIXED, column, PLAIN),
    "messages of open_many": lambda column: GCM.open_many(OTHERS, column, on_failure="return"),
    "messages of open_many, columns": lambda column: GCM.open_many(
        FIXED, column, LARGE, on_failure="return"
    ),
    "messages of mac_many": lambda column: CMAC.mac_many(column),
    "messages of verify_many": lambda column: CMAC.verify_many(column, OTHERS, on_failure="return"),
    "messages of verify_many, columns": lambda column: CMAC.verify_many(
        column, FIXED, on_failure="return"
    ),
    "nonces of encrypt_many": lambda column: CTR.encrypt_many(column, OTHERS),
    "nonces of encrypt_many, columns": lambda column: CTR.encrypt_many(column, PLAIN),
    "nonces of decrypt_many": lambda column: CTR.decrypt_many(column, LARGE),
    "nonces of seal_many": lambda column: GCM.seal_many(column, OTHERS),
    "nonces of seal_many, columns": lambda column: GCM.seal_many(column, PLAIN, PLAIN),
    "nonces of open_many": lambda column: GCM.open_many(column, LARGE, on_failure="return"),
    "nonces of mac_many": lambda column: GMAC.mac_many(PLAIN, column),
    "nonces of verify_many": lambda column: GMAC.verify_many(
        OTHERS, OTHERS, column, on_failure="return"
    ),
    "associated_data of seal_many": lambda column: GCM.seal_many(OTHERS, OTHERS, column),
    "associated_data of seal_many, columns": lambda column: GCM.seal_many(FIXED, PLAIN, column),
    "associated_data of open_many": lambda column: GCM.open_many(
        FIXED, LARGE, column, on_failure="return"
    ),
    "tags of verify_many": lambda column: CMAC.verify_many(OTHERS, column, on_failure="return"),
    "tags of verify_many, columns": lambda column: CMAC.verify_many(
        PLAIN, column, on_failure="return"
    ),
}


def plain(result):
    """A result as lists of bytes."""
    if isinstance(result, tuple):
        return tuple(map(plain, result))
    return list(result)


def refused(call, column, text):
    with pytest.raises(ValueError, match=text) as caught:
        CALLS[call](column)
    assert type(caught.value) is ValueError
    assert str(caught.value).startswith(f"{call.split()[0]}: ")


def refused_by_all(column, text):
    for call in CALLS:
        refused(call, column, text)


@pytest.fixture(autouse=True, scope="module")
def everything_is_released():
    """And only once, whether it was good or damaged."""
    yield
    gc.collect()
    assert not structs.ALIVE


@pytest.fixture(params=CALLS)
def call(request):
    return request.param


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


def with_offset(column):
    """The same values, behind three others of the buffers."""
    made = {b"z": "binary", b"Z": "large_binary", b"vz": "binary_view", b"i": "dictionary"}
    before = LAYOUTS[made.get(column.format, "fixed_size_binary")]([bytes(16)] * 3 + VALUES)
    return replace(before, length=COUNT, offset=3)


def test_good_columns(call, layout):
    expected = plain(CALLS[call](VALUES))
    column = LAYOUTS[layout](VALUES)
    before = set(structs.ALIVE)
    for good in (
        column,
        with_offset(column),
        replace(column, null_count=-1),
        column.with_buffer(0, bitmap([1] * COUNT)),
        replace(with_offset(column), null_count=-1).with_buffer(0, bitmap([0] * 3 + [1] * COUNT)),
        Chunks((column,)),
        Chunks(
            tuple(replace(column, offset=i, length=n) for i, n in [(0, 2), (0, 0), (2, 3)]),
        ),
    ):
        assert plain(CALLS[call](good)) == expected
    assert set(structs.ALIVE) == before


def test_lengths_of_all_sizes(layout):
    values = [RNG.randbytes(RNG.choice((0, 5, 12, 13, 40))) for _ in range(3000)]
    if layout == "dictionary":
        values = values[:1000]
    if layout == "fixed_size_binary":
        values = [value.ljust(40) for value in values]
    assert list(CMAC.mac_many(LAYOUTS[layout](values))) == CMAC.mac_many(values)


def test_no_values(layout):
    column = LAYOUTS[layout]([bytes(16)])
    for buffers in (column.buffers, (None,) * len(column.buffers)):
        empty = replace(column, length=0, buffers=buffers)
        assert list(CMAC.mac_many(empty)) == []
        assert list(CMAC.mac_many(Chunks((empty, empty)))) == []
    assert list(CMAC.mac_many(Chunks((), schema=column))) == []


@pytest.mark.parametrize("layout", ["binary", "large_binary", "binary_view"])
def test_buffers_that_are_not_aligned(call, layout):
    column = LAYOUTS[layout](VALUES)
    # Buffers end where a page ends, so one more byte shifts them.
    column = column.with_buffer(1, column.buffers[1] + b"?")
    if layout == "binary_view":
        column = column.with_buffer(4, column.buffers[4] + b"?")
    assert plain(CALLS[call](column)) == plain(CALLS[call](VALUES))


SOME = [-1, -(1 << 63), (1 << 48) + 1, 1 << 62, (1 << 63) - 1]
DAMAGE = {
    **{f"length {n}": (dict(length=n), f"length {n}; allowed: 0 to") for n in SOME},
    **{f"offset {n}": (dict(offset=n), f"offset {n}; allowed: 0 to") for n in SOME},
    **{
        f"null_count {n}": (dict(null_count=n), f"null_count {n}; allowed: 0, .* or -1")
        for n in (-2, 1, COUNT + 1, 1 << 62, -(1 << 63))
    },
    **{f"n_buffers {n}": (dict(n_buffers=n), f"n_buffers {n}; allowed: ") for n in (0, 1, -1)},
    "n_buffers 2^62": (dict(n_buffers=1 << 62), "n_buffers 4611686018427387904; allowed: "),
    "no buffers": (dict(no_buffers=True), "buffers at 0x0"),
    "children": (dict(n_children=1), "n_children 1; allowed: 0"),
    "children -1": (dict(n_children=-1), "n_children -1; allowed: 0"),
    "children of the type": (dict(schema_children=1), "n_children 1; allowed: 0"),
    "children of the type -1": (dict(schema_children=-1), "n_children -1; allowed: 0"),
    "released": (dict(released=True), '"arrow_array" was released'),
    "released type": (dict(schema_released=True), '"arrow_schema" was released'),
    "format null": (dict(format=None), "format is null; allowed: a string"),
    "format not UTF-8": (dict(format=b"w\xff"), r"format w\\xff; allowed: a string of UTF-8"),
    **{
        f"format {format}": (dict(format=format.encode()), r'format "w:.*; allowed: w: and 0 to')
        for format in (
            "w:", "w:-16", "w:+16", "w:16 ", "w: 16", "w:0x10", "w:1.5", "w:2147483648", "w:16,16",
            f"w:{1 << 64}", "w:00000000016", f"w:{'0' * 5000}16", "w:١٦", "w:w:16",
        )
    },
    **{
        f"format {format}": (dict(format=format.encode()), r'format "d:.*; allowed: d: with prec')
        for format in (
            "d:", "d:1", "d:x,2", "d:1,2,99", "d:1,2,128,4", "d:0,1", "d:39,0", "d:10,0,32",
            "d:300,2", "d:9,-129",
        )
    },
    "address of the array": (dict(shift=1), '"arrow_array" at 0x.*; allowed: a multiple of 8'),
    "address of the type": (dict(schema_shift=4), '"arrow_schema" at 0x.*; allowed: a multiple'),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_structs(layout, damage):
    changes, text = DAMAGE[damage]
    column = LAYOUTS[layout](VALUES)
    if layout == "dictionary" and "format" in changes and changes["format"]:
        text = "format|indices of format"
    refused_by_all(replace(column, **changes), text)
    # A stream ends with a struct that was released, and its structs are in no capsules.
    if damage not in ("released", "address of the array", "address of the type"):
        of_type = changes.keys() & {"format", "schema_children", "schema_released"}
        parts = [] if of_type else [column]
        refused_by_all(Chunks((*parts, replace(column, **changes))), text)


def test_numbers_of_buffers(layout):
    column = LAYOUTS[layout](VALUES)
    right = len(column.buffers)
    for number in (right - 1, right + 1) if layout != "binary_view" else (2,):
        refused_by_all(replace(column, n_buffers=number), f"n_buffers {number}; allowed: ")


@pytest.mark.parametrize("i", [1, 2, 3, 4])
def test_null_buffers(layout, i):
    column = LAYOUTS[layout](VALUES)
    if i < len(column.buffers):
        refused_by_all(column.with_buffer(i, None), f"buffer {i} is null; allowed: one of .* bytes")


def test_sizes_that_overflow():
    for width in (1 << 30, (1 << 31) - 1):
        column = replace(structs.fixed(VALUES), format=b"w:%d" % width, length=1 << 48, offset=99)
        refused_by_all(column, "allowed: .*281474976710656")


OTHER_FORMATS = {
    "": 'one of format ""', "w": 'one of format "w"', "q": 'one of format "q"', "n": "null",
    "+s": "struct", "+l": "list", "+w:3": r'one of format "\+w:3"', "zz": 'one of format "zz"',
    "ts": 'one of format "ts"', "tsn": 'one of format "tsn"', "tsx:UTC": "one of format",
    "tDn:": "one of format", "x\n": r'one of format "x\\n"',
    "x" * 100_000: 'one of format "x{1024}"',
}  # fmt: skip


@pytest.mark.parametrize("format", OTHER_FORMATS, ids=lambda format: format[:20])
def test_other_types(layout, format):
    if layout == "dictionary":
        column = LAYOUTS[layout](VALUES)
        dictionary = replace(column.dictionary, format=format.encode())
        column = replace(column, dictionary=dictionary)
        text = f"expected an Arrow column.*not a dictionary of {OTHER_FORMATS[format]}"
    else:
        column = replace(LAYOUTS[layout](VALUES), format=format.encode())
        text = f"expected an Arrow column.*not {OTHER_FORMATS[format]}"
    for call in CALLS.values():
        for given in (column, Chunks((column,))):
            with pytest.raises(TypeError, match=text):
                call(given)


INDICES = {
    "too large": (b"i", struct.pack("=5i", 0, 1, 5, 3, 4), "element 2: index 5; allowed: less th"),
    "negative": (b"i", struct.pack("=5i", 0, 1, -1, 3, 4), "element 2: index -1; allowed: less"),
    "negative int8": (b"c", struct.pack("=5b", 0, 1, 2, 3, -128), "element 4: index -128"),
    "uint8": (b"C", struct.pack("=5B", 0, 1, 2, 3, 255), "element 4: index 255"),
    "int16": (b"s", struct.pack("=5h", 0, 1, 2, 3, -4), "element 4: index -4"),
    "uint16": (b"S", struct.pack("=5H", 0, 1, 2, 3, 65535), "element 4: index 65535"),
    "uint32": (b"I", struct.pack("=5I", (1 << 32) - 1, 1, 2, 3, 4), "element 0: index 4294967295"),
    "int64": (b"l", struct.pack("=5q", 0, 1, 1 << 62, 3, 4), "element 2: index 46116860184273879"),
    "uint64": (b"L", struct.pack("=5Q", 0, 1, (1 << 64) - 1, 3, 4), "element 2: index "),
}


@pytest.mark.parametrize("damage", INDICES)
def test_damaged_indices(damage):
    format, indices, text = INDICES[damage]
    column = replace(LAYOUTS["dictionary"](VALUES), format=format).with_buffer(1, indices)
    refused_by_all(column, text)
    refused_by_all(Chunks((column,)), text)
    # Where a value is null, its index is not looked at.
    wrong = int(text.split()[1].rstrip(":"))
    valid = [i != wrong for i in range(COUNT)]
    column = replace(column, null_count=1).with_buffer(0, bitmap(valid))
    expected = [value if bit else None for value, bit in zip(VALUES, valid)]
    assert list(CMAC.mac_many(column)) == CMAC.mac_many(expected)


def test_damaged_dictionaries():
    column = LAYOUTS["dictionary"](VALUES)
    for change, text in [
        (dict(length=4), "index 4; allowed: less than 4"),
        (dict(length=-1), "length -1"),
        (dict(n_buffers=1), "n_buffers 1"),
        (dict(released=True), '"arrow_array" was released'),
        (dict(schema_released=True), '"arrow_schema" was released'),
        (dict(null_count=2), "null_count 2"),
        (dict(n_children=1), "n_children 1"),
    ]:
        changed = replace(column, dictionary=replace(column.dictionary, **change))
        refused_by_all(changed, text)
    twice = replace(column, dictionary=column)
    for call in CALLS.values():
        with pytest.raises(TypeError, match="not a dictionary of a dictionary"):
            call(twice)
    refused_by_all(replace(twice, schema_dictionary=column.dictionary), "a dictionary of a dict")
    stream = Chunks((replace(column, dictionary=None),), schema=column)
    refused_by_all(stream, "no dictionary; allowed: that of the type")
    plain = LAYOUTS["fixed_size_binary"](VALUES)
    stream = Chunks((replace(plain, dictionary=plain),), schema=plain)
    refused_by_all(stream, "a dictionary; allowed: none of this type")
    ends = with_ends("binary", OFFSETS["beyond"], 0)
    refused_by_all(replace(column, dictionary=ends), "dictionary: element 1: value offsets")


def nulled(values, valid):
    return [value if bit else None for value, bit in zip(values, valid)]


@pytest.mark.parametrize(
    "valid", [[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [0, 0, 0, 0, 1]], ids=str
)
def test_nulls(layout, valid):
    column = LAYOUTS[layout](VALUES)
    count = valid.count(0)
    nulls = replace(column.with_buffer(0, bitmap(valid)), null_count=count)
    behind = with_offset(column).with_buffer(0, bitmap([0] * 3 + valid))
    first = valid.index(0)
    for given in (
        nulls,
        replace(nulls, null_count=-1),
        replace(behind, null_count=count),
        Chunks(
            tuple(
                replace(nulls, offset=i, length=n, null_count=-1)
                for i, n in [(0, 2), (2, 0), (2, 3)]
            )
        ),
    ):
        for name, call in CALLS.items():
            if name.startswith("messages"):
                assert plain(call(given)) == plain(call(nulled(VALUES, valid)))
                continue
            with pytest.raises(aescomb.InputError, match=f"null in {name.split()[0]}") as caught:
                call(given)
            assert (caught.value.field, caught.value.message) == ("null", first)
    for wrong in {0, 1, 3, 5} - {count}:
        refused_by_all(replace(nulls, null_count=wrong), f"null_count {wrong}; allowed: {count}, ")


def test_what_is_null_is_not_looked_at(layout):
    """Neither bytes nor offsets nor views, whatever they are."""
    valid = [1, 1, 0, 1, 0]
    column = replace(LAYOUTS[layout](VALUES), null_count=2).with_buffer(0, bitmap(valid))
    garbage = {
        "binary": struct.pack("=6i", 0, 16, 32, 48, 64, 64),
        "large_binary": struct.pack("=6q", 0, 16, 32, 48, 64, 64),
        "binary_view": column.buffers[1][:32]
        + b"\xff" * 16
        + column.buffers[1][48:64]
        + b"\xff" * 16,
        "fixed_size_binary": b"".join(VALUES[:2]) + bytes(16) + VALUES[3] + bytes(16),
        "dictionary": struct.pack("=5i", 0, 1, -7, 3, 1 << 30),
    }
    damaged = column.with_buffer(1, garbage[layout])
    for name, call in CALLS.items():
        if name.startswith("messages"):
            assert plain(call(damaged)) == plain(call(nulled(VALUES, valid)))


ENDS = [16 * i for i in range(COUNT + 1)]
OFFSETS = {
    "descending": [0, 16, 48, 32, 64, 80],
    "descending at the end": [0, 16, 32, 48, 64, 63],
    "negative first": [-1, *ENDS[1:]],
    "least first": ["least", *ENDS[1:]],
    "negative": [0, 16, -32, 48, 64, 80],
    "beyond": [0, 16, 1 << 30, 48, 64, 80],
    "greatest": [0, 16, "greatest", 48, 64, 80],
    "first beyond": [81, *ENDS[1:]],
    "last negative": [*ENDS[:-1], -1],
    "last least": [*ENDS[:-1], "least"],
    "all negative": [-80, -64, -48, -32, -16, -8],
}


def with_ends(layout, ends, offset):
    bits, letter = (31, "i") if layout == "binary" else (63, "q")
    limits = {"least": -(1 << bits), "greatest": (1 << bits) - 1}
    ends = [0] * offset + [limits.get(end, end) for end in ends]
    offsets = struct.pack(f"={len(ends)}{letter}", *ends)
    return replace(LAYOUTS[layout](VALUES).with_buffer(1, offsets), offset=offset)


@pytest.mark.parametrize("damage", OFFSETS)
@pytest.mark.parametrize("layout", ["binary", "large_binary"])
def test_damaged_offsets(layout, damage):
    for offset in (0, 3):
        column = with_ends(layout, OFFSETS[damage], offset)
        refused_by_all(column, "value offset.* -?[0-9]+.*; allowed: ")
        refused_by_all(Chunks((column,)), "value offset")


@pytest.mark.parametrize("last", [(1 << 48) + 1, 1 << 62, "greatest"])
def test_offsets_beyond_any_memory(last):
    column = with_ends("large_binary", [*ENDS[:-1], last], 0)
    refused_by_all(column, "last value offset [0-9]+; allowed: 0 to 281474976710656")


VIEWS = {
    "length": (view(400, b"", 0, 0), "view of 400 bytes at 0 in data buffer 0; .* 48 bytes"),
    "length, one more": (view(17, b"", 0, 32), "view of 17 bytes at 32 in data buffer 0"),
    "length, all": (view((1 << 31) - 1, b"", 0, 0), "view of 2147483647 bytes"),
    "length -1": (view(-1, b"", 0, 0), "view of -1 bytes; allowed: 0 or more"),
    "length, least": (view(-(1 << 31), b"", 0, 0), "view of -2147483648 bytes"),
    "buffer 2": (view(16, b"", 2, 0), "data buffer 2; allowed: less than 2"),
    "buffer 9": (view(16, b"", 9, 0), "data buffer 9; allowed: less than 2"),
    "buffer -1": (view(16, b"", -1, 0), "data buffer -1; allowed: less than 2"),
    "buffer, greatest": (view(16, b"", (1 << 31) - 1, 0), "data buffer 2147483647"),
    "buffer, least": (view(16, b"", -(1 << 31), 0), "data buffer -2147483648"),
    "offset": (view(16, b"", 1, 17), "16 bytes at 17 in data buffer 1; allowed: inside its 32"),
    "offset 2^30": (view(16, b"", 0, 1 << 30), "16 bytes at 1073741824"),
    "offset, greatest": (view(16, b"", 0, (1 << 31) - 1), "16 bytes at 2147483647"),
    "offset -1": (view(16, b"", 0, -1), "16 bytes at -1 in data buffer 0"),
    "offset, least": (view(16, b"", 0, -(1 << 31)), "16 bytes at -2147483648"),
    "all bits": (b"\xff" * 16, "view of -1 bytes"),
}


@pytest.mark.parametrize("damage", VIEWS)
def test_damaged_views(damage):
    given, text = VIEWS[damage]
    for i, offset in [(0, 0), (2, 0), (COUNT - 1, 4)]:
        column = structs.by_views([bytes(8)] * offset + VALUES)
        views, place = column.buffers[1], 16 * (offset + i)
        views = views[:place] + given + views[place + 16 :]
        column = replace(column.with_buffer(1, views), offset=offset, length=COUNT)
        refused_by_all(column, f"element {i}: .*{text}")
        refused_by_all(Chunks((column,)), f"element {i}: .*{text}")


def test_place_of_damage():
    """It is counted from the beginning of the column, not of its part."""
    views = structs.by_views(VALUES)
    views = views.with_buffer(1, views.buffers[1][:48] + b"\xff" * 16 + bytes(16))
    ends = with_ends("binary", OFFSETS["beyond"], 0)
    for column, text in [(views, "element 8: view"), (ends, "element 6: value offsets")]:
        whole = LAYOUTS["binary_view" if column is views else "binary"](VALUES)
        refused("messages of mac_many", Chunks((whole, column)), text)


LENGTHS = {
    "negative": ((-1, 32), "length of a data buffer -1; allowed: 0 to"),
    "least": ((48, -(1 << 63)), "length of a data buffer -9223372036854775808"),
    "2^62": ((1 << 62, 32), "length of a data buffer 4611686018427387904"),
    "too short": ((47, 32), "element 4: .* allowed: inside its 47 bytes"),
    "none": ((48, 0), "element 1: .* allowed: inside its 0 bytes"),
}


@pytest.mark.parametrize("damage", LENGTHS)
def test_damaged_lengths_of_buffers(damage):
    lengths, text = LENGTHS[damage]
    column = structs.by_views(VALUES)
    refused_by_all(column.with_buffer(4, struct.pack("=2q", *lengths)), text)


def test_views_without_lengths_of_buffers():
    """Then the last buffer is taken for them."""
    column = structs.by_views(VALUES)
    one = Column(b"vz", COUNT, column.buffers[:3])
    refused_by_all(one, "element 0: view into data buffer 0; allowed: less than 0")
    short = structs.by_views([b"short"] * COUNT)
    assert list(CMAC.mac_many(replace(short, buffers=(*short.buffers[:2], None)))) == CMAC.mac_many(
        [b"short"] * COUNT
    )


STREAMS = {
    "get_schema fails": (dict(schema_code=5, error=b"no type"), "get_schema .* code 5: no type"),
    "get_schema, negative": (dict(schema_code=-1, error=b""), "get_schema failed with code -1"),
    "get_next fails": (dict(next_code=22, error=b"no more"), "get_next .* code 22: no more"),
    "no message": (dict(next_code=22), "get_next failed with code 22: no message"),
    "no function for it": (dict(next_code=1, missing=("get_last_error",)), "code 1: no message"),
    "message not UTF-8": (dict(next_code=1, error=b"\xff\xfe"), "code 1: \ufffd\ufffd"),
    "long message": (dict(next_code=1, error=b"x" * 100_000), "code 1: x{1024}$"),
    "no get_schema": (dict(missing=("get_schema",)), "get_schema is null; allowed: a function"),
    "no get_next": (dict(missing=("get_next",)), "get_next is null; allowed: a function"),
    "released": (dict(missing=("release",)), '"arrow_array_stream" was released'),
}


@pytest.mark.parametrize("damage", STREAMS)
def test_damaged_streams(layout, damage):
    changes, text = STREAMS[damage]
    before = set(structs.ALIVE)
    refused_by_all(Chunks((LAYOUTS[layout](VALUES),), **changes), text)
    assert set(structs.ALIVE) == before


def test_arrays_of_other_types_than_their_stream(layout):
    for other in LAYOUTS:
        # Only the numbers of buffers tell.
        if {len(LAYOUTS[name](VALUES).buffers) for name in (layout, other)} == {2, 3}:
            stream = Chunks((LAYOUTS[layout](VALUES),), schema=LAYOUTS[other](VALUES))
            refused_by_all(stream, "n_buffers|dictionary; allowed")


def test_structs_can_be_taken_once(call, layout):
    class Again:
        def __init__(self, column):
            self.capsules = column.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    again = Again(LAYOUTS[layout](VALUES))
    CALLS[call](again)
    refused(call, again, '"arrow_array" was released')


def stream_of(array):
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([array], ["column"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def received(stream):
    """What pyarrow reads, which checks nothing, in one part and as a column of a table."""
    yield pa.ipc.open_stream(stream).read_next_batch().column(0)
    yield pa.ipc.open_stream(stream).read_all().column(0)


VIEW = struct.pack("<i4s", 16, VALUES[1][:4])
IPC = {
    "view, length": ("binary_view", VIEW, view(400, VALUES[1][:4], 0, 0)[:8]),
    "view, negative length": ("binary_view", VIEW, view(-400, VALUES[1][:4], 0, 0)[:8]),
    "view, buffer": (
        "binary_view", view(16, VALUES[1][:4], 0, 16), view(16, VALUES[1][:4], 9, 16)
    ),
    "view, offset": (
        "binary_view", view(16, VALUES[1][:4], 0, 16), view(16, VALUES[1][:4], 0, 1 << 30)
    ),
    "offset": ("binary", struct.pack("<ii", 48, 64), struct.pack("<ii", 64, 48)),
    "negative offset": ("binary", struct.pack("<ii", 0, 16), struct.pack("<ii", -9, 16)),
    "last offset": ("binary", struct.pack("<ii", 64, 80), struct.pack("<ii", 64, 1 << 30)),
    "large offset": ("large_binary", struct.pack("<q", 48), struct.pack("<q", 49 << 40)),
    "last large offset": ("large_binary", struct.pack("<q", 80), struct.pack("<q", 1 << 30)),
}  # fmt: skip
TYPES = {
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "fixed_size_binary": pa.binary(16),
}


@pytest.mark.parametrize("damage", IPC)
def test_untrusted_ipc(call, damage):
    layout, old, new = IPC[damage]
    stream = stream_of(pa.array(VALUES, TYPES[layout]))
    head, _, tail = stream.rpartition(old)
    assert head
    for column in received(stream):
        assert plain(CALLS[call](column)) == plain(CALLS[call](VALUES))
    for column in received(head + new + tail):
        refused(call, column, "offset|view")


@pytest.mark.parametrize("layout", TYPES)
@pytest.mark.parametrize("count", [COUNT + 1, 1 << 20, 1 << 40])
def test_untrusted_ipc_that_is_too_long(call, layout, count):
    """Buffers are shorter than the number of values says, which is there twice."""
    stream = stream_of(pa.array(VALUES, TYPES[layout]))
    number = struct.pack("<q", COUNT)
    assert stream.count(number) == 2
    for column in received(stream.replace(number, struct.pack("<q", count))):
        assert len(column) == count
        refused(call, column, "(?i)buffer")


def test_foreign_memory_is_not_read():
    given = view(400, b"", 0, 0)
    column = pa.Array.from_buffers(
        pa.binary_view(), 1, [None, pa.py_buffer(given), pa.py_buffer(b"A" * 64)]
    )
    with pytest.raises(ValueError, match="view of 400 bytes at 0 in data buffer 0"):
        CTR.encrypt_many(bytes(16), column)


def test_random_damage():
    """In a process of its own, as what goes wrong may end it."""
    program = Path(__file__).with_name("damage.py")
    for seed in range(2):
        done = subprocess.run(
            [sys.executable, program, str(seed), "4000"], capture_output=True, text=True
        )
        assert done.returncode == 0, f"seed {seed}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert not done.stderr
        counts = json.loads(done.stdout)
        assert len(counts) == 5 and min(counts.values()) > 100, counts
