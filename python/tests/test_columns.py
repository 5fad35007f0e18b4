"""Columns with nulls, of text, of numbers, in parts: row by row what one message gives."""

import decimal
import random
import struct

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

import aescomb

RNG = random.Random(11)
RAW = bytes(range(32))
GCM = aescomb.Key("gcm", RAW[:16])
SIV = aescomb.Key("siv", RAW)
CTR = aescomb.Key("ctr", RAW[:16])
CMAC = aescomb.Key("cmac", RAW[:16])
ECB_PADDED = aescomb.Key("ecb-pkcs7", RAW[:16])

BYTES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(24)]
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
# What a column of text becomes.
AS_BYTES = dict(zip(TEXTS, BYTES))


def values(count, of):
    if of in TEXTS:
        letters = "aé€😀"
        lengths = (RNG.choice((0, 1, 5, 40)) for _ in range(count))
        return ["".join(RNG.choices(letters, k=n)) for n in lengths]
    if of == pa.binary(24):
        return [RNG.randbytes(24) for _ in range(count)]
    return [RNG.randbytes(RNG.choice((0, 1, 12, 13, 24, 70))) for _ in range(count)]


# Which rows have a value.
VALID = {
    "all": [1] * 7,
    "none": [0] * 7,
    "first": [1, 0, 0, 0, 0, 0, 0],
    "last": [0, 0, 0, 0, 0, 0, 1],
    "most": [1, 1, 1, 0, 1, 1, 1],
    "by turns": [0, 1, 0, 1, 0, 1, 0],
    "one row": [1],
    "one null": [0],
    "no row": [],
    "many": [i % 10 != 3 for i in range(2500)],
    "many, few of them": [i % 100 == 3 for i in range(2500)],
}
SHAPES = {
    "array": lambda given, of: pa.array(given, of),
    "slice": lambda given, of: pa.array([None, *given[:1], *given, None], of)[
        1 + len(given[:1]) : -1
    ],
    "parts": lambda given, of: pa.chunked_array(
        [pa.array(part, of) for part in (given[:2], [], given[2:3], given[3:-1], given[3:][-1:])],
        of,
    ),
    "parts with offsets": lambda given, of: pa.chunked_array([pa.array(given, of)] * 2, of)[
        len(given) // 2 : len(given) // 2 + len(given)
    ],
    "no parts": lambda given, of: pa.chunked_array([], of),
}


def lengths_of(column):
    return [len(part) for part in column.chunks] if isinstance(column, pa.ChunkedArray) else None


def taken(result, column):
    """A result as pyarrow takes it over, which has the parts of what was given."""
    if isinstance(column, pa.ChunkedArray):
        taken = pa.chunked_array(result)
        assert lengths_of(taken) == lengths_of(column)
    else:
        taken = pa.array(result)
    taken.validate(full=True)
    assert taken.null_count == column.null_count
    assert pa.array(result).to_pylist() == taken.to_pylist()
    return taken


def plain(value):
    return value.encode() if isinstance(value, str) else value


def by_rows(function, *columns):
    """What the function gives for each row whose first value is not null."""
    return [None if row[0] is None else function(*row) for row in zip(*columns)]


@pytest.mark.parametrize("of", BYTES + TEXTS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("valid", VALID)
def test_nulls_and_parts(of, shape, valid):
    valid = VALID[valid]
    given = [value if bit else None for value, bit in zip(values(len(valid), of), valid)]
    column = SHAPES[shape](given, of)
    rows = column.to_pylist()
    assert sorted(map(str, rows)) == sorted(map(str, given)) or shape == "no parts"
    messages = [None if row is None else plain(row) for row in rows]
    binary = AS_BYTES.get(of, of)
    to = "string" if of in TEXTS else None
    count = len(rows)

    siv = taken(SIV.seal_many(None, column), column)
    assert siv.type == (pa.binary(40) if of == pa.binary(24) else binary)
    oracle = AESSIV(RAW)
    by_oracle = by_rows(lambda m: oracle.encrypt(m, None) if m else None, messages)
    for row, expected in zip(siv.to_pylist(), by_oracle):
        assert row == expected or expected is None
    opened = taken(SIV.open_many(None, siv, to=to), column)
    assert opened.type == of and opened.to_pylist() == rows
    assert SIV.open_many(None, siv.to_pylist()) == messages

    nonces = [RNG.randbytes(12) for _ in rows]
    data = [RNG.randbytes(i % 9) for i, _ in enumerate(rows)]
    oracle = AESGCM(RAW[:16])
    sealed = by_rows(lambda m, n, d: oracle.encrypt(n, m, d), messages, nonces, data)
    masked = [None if row is None else nonce for row, nonce in zip(rows, nonces)]
    for nonces_given in (
        nonces,
        masked,
        b"".join(nonces),
        np.frombuffer(b"".join(nonces), np.uint8).reshape(count, 12),
        pa.array(nonces, pa.binary()),
        pa.array(nonces, pa.binary(12)),
        pa.array(masked, pa.binary(12)),
        pa.array(masked, pa.large_binary()),
        pa.array(masked, pa.binary_view()),
        SHAPES["parts"](masked, pa.binary(12)),
    ):
        for data_of in (pa.binary(), pa.large_binary(), pa.binary_view()):
            masked_data = [None if row is None else d for row, d in zip(rows, data)]
            data_given = pa.array(masked_data, data_of)
            result = taken(GCM.seal_many(nonces_given, column, data_given), column)
            assert result.to_pylist() == sealed
        opened = taken(GCM.open_many(nonces_given, result, data_given, to=to), column)
        assert opened.type == of and opened.to_pylist() == rows
    assert GCM.seal_many(nonces, messages, data) == sealed

    encrypted = taken(CTR.encrypt_many(bytes(16 * count), column), column)
    assert encrypted.type == binary
    expected = by_rows(lambda m: CTR.encrypt(bytes(16), m), messages)
    assert encrypted.to_pylist() == expected
    assert taken(CTR.decrypt_many(bytes(16 * count), encrypted, to=to), column).type == of
    padded = ECB_PADDED.encrypt_many(None, column)
    expected = by_rows(lambda m: ECB_PADDED.encrypt(None, m), messages)
    assert list(padded) == expected
    opened = taken(ECB_PADDED.decrypt_many(None, padded, to=to), column)
    assert opened.to_pylist() == rows

    tags = taken(CMAC.mac_many(column, tag_bytes=8), column)
    assert tags.type == pa.binary(8)
    assert tags.to_pylist() == by_rows(lambda m: CMAC.mac(m, tag_bytes=8), messages)
    CMAC.verify_many(column, tags)
    CMAC.verify_many(messages, tags)


def test_tags_of_nulls():
    """A tag without a message is wrong, and a message without a tag is a mistake."""
    column = pa.array([b"one", None, b"three", None])
    tags = pa.array(CMAC.mac_many(column)).to_pylist()
    CMAC.verify_many(column, tags)
    tags[3] = tags[0]
    for form in (tags, pa.array(tags), pa.chunked_array([tags[:3], tags[3:]])):
        assert CMAC.verify_many(column, form, on_failure="return") == [3]
    with pytest.raises(aescomb.OpenError) as caught:
        CMAC.verify_many(column, bytes(64))
    assert caught.value.indices == [0, 1, 2, 3]
    tags[2] = None
    for form in (tags, pa.array(tags)):
        with pytest.raises(aescomb.InputError, match="message 2: null in tags") as caught:
            CMAC.verify_many(column, form)
        assert caught.value.message == 2


@pytest.mark.parametrize("count", [4, 3000])
def test_rows_of_mistakes(count):
    """They are counted in the column, with nulls, over all its parts."""
    half = count // 2
    given = [None, *[b"text"] * (half - 1)] * 2
    parts = pa.chunked_array([given[:half], given[half:]])
    nonces = [bytes(12)] * count
    nonces[-1] = b""
    with pytest.raises(aescomb.InputError) as caught:
        GCM.seal_many(nonces, parts)
    assert (caught.value.message, caught.value.field) == (count - 1, "nonce_length")
    nonces[-1] = None
    for form in (nonces, pa.array(nonces)):
        with pytest.raises(aescomb.InputError) as caught:
            GCM.seal_many(form, parts)
        assert (caught.value.message, caught.value.field) == (count - 1, "null")
        assert "null in nonces" in str(caught.value)
    data = pa.array([b"data"] * (half + 1) + [None] * (half - 1))
    with pytest.raises(aescomb.InputError, match="null in associated_data") as caught:
        GCM.seal_many(bytes(12 * count), parts, data)
    assert caught.value.message == half + 1
    sealed = pa.chunked_array(GCM.seal_many(bytes(12 * count), parts)).to_pylist()
    sealed[-1] = bytes(3)
    short = pa.chunked_array([sealed[:half], sealed[half:]])
    with pytest.raises(aescomb.InputError) as caught:
        GCM.open_many(bytes(12 * count), short)
    assert (caught.value.message, caught.value.field) == (count - 1, "text_length")
    sealed[-1] = bytes(20)
    sealed[1] = bytes(30)
    forged = pa.chunked_array([sealed[:half], sealed[half:]])
    for column in (forged, forged.cast(pa.large_binary()), forged.cast(pa.binary_view())):
        opened, failed = GCM.open_many(bytes(12 * count), column, on_failure="return")
        assert failed == [1, count - 1]
        expected = list(given)
        expected[1] = expected[-1] = None
        assert pa.chunked_array(opened).to_pylist() == expected == list(opened)


@pytest.mark.parametrize("letter, of", [("i", pa.binary()), ("q", pa.large_binary())])
def test_bytes_of_nulls(letter, of):
    """Values that are null may have bytes, which change nothing."""
    offsets = pa.py_buffer(struct.pack(f"=6{letter}", 0, 3, 8, 8, 13, 16))
    results = []
    for garbage in (b"xxxxx", b"yyyyy"):
        memory = pa.py_buffer(b"one" + garbage + garbage[::-1] + b"two")
        column = pa.Array.from_buffers(of, 5, [pa.py_buffer(b"\x15"), offsets, memory])
        assert column.to_pylist() == [b"one", None, b"", None, b"two"]
        sealed = pa.array(SIV.seal_many(None, column))
        results.append(sealed)
        assert sealed.to_pylist() == SIV.seal_many(None, column.to_pylist())
        # Only what is not null is there.
        assert sealed.buffers()[2].size == 3 + 3 + 3 * 16
        assert pa.array(SIV.open_many(None, sealed)) == column
        sealed = GCM.seal_many(bytes(60), column, column)
        assert list(GCM.open_many(bytes(60), sealed, column)) == column.to_pylist()
    assert results[0] == results[1]


def test_text():
    words = ["one", "zwei", None, "три", "四" * 20]
    for of in TEXTS:
        sealed = pa.array(SIV.seal_many(None, pa.array(words, of)))
        assert sealed.type == AS_BYTES[of]
        assert sealed.to_pylist()[:2] == SIV.seal_many(None, [b"one", b"zwei"])
        opened = SIV.open_many(None, sealed, to="string")
        assert pa.array(opened).type == of and list(opened) == words
        for to in (*TEXTS, *BYTES[:3]):
            opened = pa.array(SIV.open_many(None, sealed, to=to))
            opened.validate(full=True)
            assert opened.type == to
            expected = words if to in TEXTS else [word and word.encode() for word in words]
            assert opened.to_pylist() == expected
    series = pl.Series(words)
    sealed = pl.Series(SIV.seal_many(None, series))
    assert sealed.dtype == pl.Binary and sealed.null_count() == 1
    opened = pl.Series(SIV.open_many(None, sealed, to="string"))
    assert opened.dtype == pl.String and opened.to_list() == words


@pytest.mark.parametrize("of", BYTES[:3], ids=str)
@pytest.mark.parametrize("key", [SIV, ECB_PADDED], ids=str)
def test_what_is_no_text(of, key):
    seal = key.seal_many if key is SIV else key.encrypt_many
    unseal = key.open_many if key is SIV else key.decrypt_many
    # The third ends in the middle of a letter that the fourth goes on with.
    given = [b"good", None, "é".encode()[:1], "é".encode()[1:], b"also good", b"\xff" * 20]
    sealed = pa.array(seal(None, pa.array(given, of)))
    with pytest.raises(aescomb.InputError) as caught:
        unseal(None, sealed, to="string")
    error = caught.value
    assert (error.message, error.field, error.given, error.allowed) == (2, "utf8", 0, "UTF-8")
    assert str(error) == "message 2: result is not UTF-8 from byte 0 on; allowed: UTF-8"
    parts = pa.chunked_array([sealed[:2], sealed[4:]])
    with pytest.raises(aescomb.InputError) as caught:
        unseal(None, parts, to="string")
    assert caught.value.message == 3
    assert list(unseal(None, parts)) == [*given[:2], *given[4:]]
    text = unseal(None, parts[:3], to="string")
    assert list(text) == ["good", None, "also good"]


def test_results_of_fixed_size():
    column = pa.array([b"abc", None, b"def"], pa.binary(3))
    sealed = pa.array(SIV.seal_many(None, column))
    assert sealed.type == pa.binary(19)
    assert pa.array(SIV.open_many(None, sealed, to="string")).type == pa.string()
    assert pa.array(SIV.open_many(None, sealed, to=pa.binary(3))) == column
    with pytest.raises(aescomb.InputError) as caught:
        SIV.open_many(None, sealed, to=pa.binary(4))
    assert (caught.value.message, caught.value.given, caught.value.allowed) == (0, 3, "4")
    for none in (pa.array([], pa.binary(3)), pa.array([None, None], pa.binary(3))):
        sealed = pa.array(SIV.seal_many(None, none))
        assert sealed.type == pa.binary(19) and sealed.null_count == len(none)
        assert pa.array(SIV.open_many(None, sealed)) == none


VALUES = {
    pa.bool_(): [True, False],
    pa.int8(): [-128, 0, 127],
    pa.int16(): [-32768, 1, 32767],
    pa.int32(): [-(1 << 31), 2, (1 << 31) - 1],
    pa.int64(): [-(1 << 63), 3, (1 << 63) - 1],
    pa.uint8(): [0, 255],
    pa.uint16(): [0, 65535],
    pa.uint32(): [0, (1 << 32) - 1],
    pa.uint64(): [0, (1 << 64) - 1],
    pa.float16(): [0.5, -2.0, float("inf")],
    pa.float32(): [0.5, -2.0, float("-inf")],
    pa.float64(): [0.1, -1e300, float("inf")],
    pa.decimal32(9, 2): [decimal.Decimal("1234567.89"), decimal.Decimal("-0.01")],
    pa.decimal64(18, 0): [decimal.Decimal(10**18 - 1), decimal.Decimal(-1)],
    pa.decimal128(38, 10): [decimal.Decimal("1.5"), decimal.Decimal(-(10**27))],
    pa.decimal256(76, -2): [decimal.Decimal(100), decimal.Decimal(-(10**70))],
    pa.date32(): [-1, 0, 20000],
    pa.date64(): [0, 86400000],
    pa.time32("s"): [0, 86399],
    pa.time32("ms"): [1],
    pa.time64("us"): [1],
    pa.time64("ns"): [86399999999999],
    pa.timestamp("s"): [-1, 1],
    pa.timestamp("ms"): [1 << 40],
    pa.timestamp("us", tz="UTC"): [1, 1 << 50],
    pa.timestamp("ns", tz="Europe/Berlin"): [1, 1 << 60],
    pa.duration("s"): [-1],
    pa.duration("ms"): [1],
    pa.duration("us"): [1],
    pa.duration("ns"): [1 << 60],
    pa.month_day_nano_interval(): [pa.MonthDayNano([1, -2, 3])],
}
NAMED = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def storage(of):
    """The type of integer in which values of a type are given here."""
    temporal = pa.types.is_temporal(of) and of != pa.month_day_nano_interval()
    return {32: pa.int32(), 64: pa.int64()}[of.bit_width] if temporal else of


@pytest.mark.parametrize("of", VALUES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_values(of, shape):
    given = [None, *VALUES[of] * 7, None, VALUES[of][0]]
    column = SHAPES[shape](given, storage(of)).cast(of)
    width = max(of.bit_width // 8, 1)
    numbers = bytes(16 * len(column))

    sealed = taken(SIV.seal_many(None, column), column)
    assert sealed.type == pa.binary(width + 16)
    opened = taken(SIV.open_many(None, sealed, to=of), column)
    assert opened.type == of and opened.equals(column)
    encrypted = taken(CTR.encrypt_many(numbers, column), column)
    assert encrypted.type == pa.binary(width)
    assert taken(CTR.decrypt_many(numbers, encrypted, to=of), column).equals(column)
    padded = taken(ECB_PADDED.encrypt_many(None, column), column)
    assert taken(ECB_PADDED.decrypt_many(None, padded, to=of), column).equals(column)
    # Also if it was kept as something else.
    views = sealed.cast(pa.binary()).cast(pa.binary_view())
    assert taken(SIV.open_many(None, views, to=of), views).equals(column)
    assert taken(CMAC.mac_many(column), column).type == pa.binary(16)


def test_encoding():
    """It is fixed: what is sealed today is opened in ten years."""
    cases = [
        (pa.array([1, -2], pa.int64()), [struct.pack("<q", n) for n in (1, -2)]),
        (pa.array([1, 513], pa.uint16()), [b"\1\0", b"\1\2"]),
        (pa.array([True, False]), [b"\1", b"\0"]),
        (pa.array([1.5, float("nan")]), [struct.pack("<d", f) for f in (1.5, float("nan"))]),
        (pa.array([1.5, 2], pa.float32()), [struct.pack("<f", f) for f in (1.5, 2)]),
        (pa.array([1, 2], pa.int32()).cast(pa.date32()), [b"\1\0\0\0", b"\2\0\0\0"]),
        (
            pa.array([5, 6], pa.int64()).cast(pa.timestamp("us", tz="UTC")),
            [struct.pack("<q", n) for n in (5, 6)],
        ),
        (
            pa.array([decimal.Decimal("-0.05"), decimal.Decimal("1.00")], pa.decimal128(5, 2)),
            [n.to_bytes(16, "little", signed=True) for n in (-5, 100)],
        ),
        (pa.array(["é", ""]), ["é".encode(), b""]),
    ]
    for column, expected in cases:
        assert list(SIV.seal_many(None, column)) == SIV.seal_many(None, expected)
        # As anything else that is taken by rows, too.
        assert GCM.seal_many(bytes(24), [b"", b""], column) == GCM.seal_many(
            bytes(24), [b"", b""], expected
        )


@pytest.mark.parametrize("name", [*NAMED, "float16", "float32", "float64"])
def test_names_of_types(name):
    of = pa.bool_() if name == "bool" else getattr(pa, name)()
    column = pa.array(VALUES[of], of)
    opened = pa.array(SIV.open_many(None, SIV.seal_many(None, column), to=name))
    assert opened.type == of and opened.equals(column)


def test_values_of_another_type():
    sealed = pa.array(SIV.seal_many(None, pa.array([None, 1, 2], pa.int32())))
    for to, allowed in [("int64", "8"), ("int8", "1"), (pa.decimal128(3, 1), "16")]:
        for column in (sealed, sealed.cast(pa.binary_view())):
            with pytest.raises(
                aescomb.InputError, match="message 1: result of 4 bytes for"
            ) as error:
                SIV.open_many(None, column, to=to)
            assert (error.value.field, error.value.allowed) == ("output_length", allowed)
    padded = ECB_PADDED.encrypt_many(None, pa.array([b"12345678", None, b"1234"]))
    with pytest.raises(aescomb.InputError, match="message 2: result of 4 bytes for Int64"):
        ECB_PADDED.decrypt_many(None, padded, to="int64")
    sealed = SIV.seal_many(None, pa.array([0, None, 1, 2], pa.uint8()))
    with pytest.raises(aescomb.InputError, match="message 3: .* neither 0 nor 1 for Boolean"):
        SIV.open_many(None, sealed, to="bool")
    # A message that fails has no result to look at.
    forged = [*list(SIV.seal_many(None, [b"1234", b"5678"])), bytes(17), bytes(23)]
    opened, failed = SIV.open_many(None, pa.array(forged), to="int32", on_failure="return")
    assert failed == [2, 3]
    assert pa.array(opened).null_count == 2
    assert pa.array(opened)[1].as_py() == struct.unpack("<i", b"5678")[0]
    with pytest.raises(TypeError, match="pyarrow.array"):
        opened[0]


def test_polars():
    for series in (
        pl.Series([1, None, 3]),
        pl.Series([1.5, None]),
        pl.Series([True, None, False]),
        pl.Series(["one", None, "three" * 5]),
        pl.Series([b"one", None, b"three" * 5]),
        pl.Series([1, None]).cast(pl.Datetime("us", "UTC")),
        pl.Series(["x", None]).cast(pl.Categorical),
        pl.Series([], dtype=pl.Int8),
    ):
        sealed = pl.Series(SIV.seal_many(None, series))
        assert sealed.null_count() == series.null_count()
        if series.dtype in (pl.String, pl.Binary, pl.Categorical):
            to = "binary" if series.dtype == pl.Binary else "string"
        else:
            to = series.to_arrow().type
        opened = pl.Series(SIV.open_many(None, sealed, to=to))
        assert opened.to_list() == series.to_list()


INDEX_TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()]


@pytest.mark.parametrize("of", [*BYTES, *TEXTS, pa.int32(), pa.bool_()], ids=str)
@pytest.mark.parametrize("indices", INDEX_TYPES, ids=str)
def test_dictionaries(of, indices):
    """Without nonces, a dictionary is done once and its indices stay."""
    distinct = {pa.int32(): [5, -6, 7], pa.bool_(): [True, False, True]}.get(of)
    distinct = pa.array(distinct or values(3, of), of)
    # Not all values of the dictionary are there, and some rows are null.
    column = pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 0, None, 2], indices), distinct)
    rows = column.to_pylist()
    messages = [
        None if row is None else struct.pack("<i", row) if of == pa.int32() else plain(row)
        for row in rows
    ]
    if of == pa.bool_():
        messages = [row and b"\1" for row in rows]
    to = "string" if of in TEXTS else of
    for given in (column, column[1:5], pa.chunked_array([column[:2], column[2:2], column[2:]])):
        expected = messages[1:5] if len(given) == 4 else messages
        sealed = taken(SIV.seal_many(None, given, b"data"), given)
        assert sealed.type.index_type == indices
        part = sealed.chunks[-1] if isinstance(given, pa.ChunkedArray) else sealed
        part_given = given.chunks[-1] if isinstance(given, pa.ChunkedArray) else given
        assert part.indices == part_given.indices
        assert len(part.dictionary) == 3
        assert sealed.to_pylist() == SIV.seal_many(None, expected, b"data")
        opened = taken(SIV.open_many(None, sealed, b"data", to=to), given)
        assert opened.type == given.type and opened.equals(given)
        assert list(SIV.open_many(None, sealed, b"data")) == expected
        assert list(CMAC.mac_many(given)) == CMAC.mac_many(expected)
        padded = taken(ECB_PADDED.encrypt_many(None, given), given)
        assert padded.to_pylist() == ECB_PADDED.encrypt_many(None, expected)
        assert taken(ECB_PADDED.decrypt_many(None, padded, to=to), given).equals(given)
        # With nonces every row is another message.
        count = len(given)
        nonces = [bytes([i]) * 12 for i in range(count)]
        sealed = GCM.seal_many(nonces, given)
        plain_type = pa.chunked_array(sealed).type
        assert plain_type == GCM_TYPES.get(of, AS_BYTES.get(of, of))
        assert list(sealed) == GCM.seal_many(nonces, expected)
        data = SIV.seal_many(None, expected, [m or b"" for m in expected])
        if count != 4:
            given = given if isinstance(given, pa.Array) else given.combine_chunks()
        assert list(SIV.seal_many(None, given, given)) == data


GCM_TYPES = {pa.binary(24): pa.binary(40), pa.int32(): pa.binary(20), pa.bool_(): pa.binary(17)}


def test_dictionaries_with_nulls_in_them():
    distinct = pa.array(["a", None, "b"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 1], pa.int8()), distinct)
    sealed = SIV.seal_many(None, column)
    expected = SIV.seal_many(None, [b"a", None, None, b"b", None])
    assert list(sealed) == expected == pa.array(sealed).to_pylist()
    assert list(SIV.open_many(None, sealed, to="string")) == ["a", None, None, "b", None]
    nonces = bytes(60)
    assert list(GCM.seal_many(nonces, column)) == GCM.seal_many(
        nonces, [b"a", None, None, b"b", None]
    )
    with pytest.raises(aescomb.InputError, match="message 1: null in associated_data"):
        SIV.seal_many(None, [b"text"] * 5, column)
    empty = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))
    for none in (empty, empty[:0], pa.chunked_array([], column.type)):
        sealed = pa.chunked_array(SIV.seal_many(None, none))
        assert sealed.null_count == len(none) == len(sealed)


def test_failures_in_dictionaries():
    distinct = SIV.seal_many(None, [b"one", b"two", b"three"])
    distinct[1] = bytes(19)
    indices = pa.array([0, 1, 2, None, 1], pa.int8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(distinct))
    opened, failed = SIV.open_many(None, column, to="string", on_failure="return")
    assert failed == [1, 4]
    assert list(opened) == ["one", None, "three", None, None]
    assert pa.array(opened).null_count == 3
    with pytest.raises(aescomb.OpenError) as caught:
        SIV.open_many(None, pa.chunked_array([column[:1], column[3:]]))
    assert caught.value.indices == [2]
    # A value that no row has may fail.
    assert list(SIV.open_many(None, column[2:4])) == [b"three", None]
    # Mistakes are those of the first row that has the value.
    distinct[1] = b"short"
    column = pa.DictionaryArray.from_arrays(indices, pa.array(distinct))
    for given, row in [(column, 1), (pa.chunked_array([column[:0], column[2:]]), 2)]:
        with pytest.raises(aescomb.InputError) as caught:
            SIV.open_many(None, given[: row + 1])
        assert (caught.value.message, caught.value.field) == (row, "text_length")
    # What no row has is null then.
    opened = pa.array(SIV.open_many(None, column[2:4], to="string"))
    assert opened.to_pylist() == ["three", None]
    assert opened.dictionary.to_pylist() == [None, None, "three"]
    with pytest.raises(aescomb.InputError, match="message 2: result of 5 bytes for Int8"):
        distinct[1] = SIV.seal(None, b"1")
        distinct[0] = SIV.seal(None, b"2")
        SIV.open_many(None, pa.DictionaryArray.from_arrays(indices, pa.array(distinct)), to="int8")
    with pytest.raises(aescomb.InputError, match="message 0: nonce of 0 bytes"):
        CTR.encrypt_many(None, column)


def test_parts_with_other_dictionaries():
    parts = [pa.array(["a", "b", "a"]), pa.array(["c", None]), pa.array(["b", "b"])]
    column = pa.chunked_array([part.dictionary_encode() for part in parts])
    sealed = SIV.seal_many(None, column)
    assert list(sealed) == SIV.seal_many(None, [b"a", b"b", b"a", b"c", None, b"b", b"b"])
    taken(sealed, column)
    opened = pa.chunked_array(SIV.open_many(None, sealed, to="string"))
    assert opened.to_pylist() == column.to_pylist()
    same = column.unify_dictionaries()
    result = taken(SIV.seal_many(None, same), same)
    assert result.to_pylist() == list(sealed)
    first, *others = (part.dictionary.buffers()[2].address for part in result.chunks)
    assert others == [first, first]


@pytest.mark.parametrize("length", [0, 1, 64, 65, 1000])
@pytest.mark.parametrize("of", [*BYTES[:3], pa.int64()], ids=str)
def test_same_data_for_all(length, of):
    given = [None if i % 9 == 3 else i if of == pa.int64() else b"%d" % i for i in range(2500)]
    column = pa.chunked_array([given[:1100], [], given[1100:]], of)
    data, nonces = RNG.randbytes(length), RNG.randbytes(12 * len(given))
    sealed = GCM.seal_many(nonces, column, data)
    assert list(sealed) == list(GCM.seal_many(nonces, column, [data] * len(given)))
    opened = taken(GCM.open_many(nonces, sealed, data, to=of), column)
    assert opened.equals(column)
    with pytest.raises(aescomb.OpenError):
        GCM.open_many(nonces, sealed, data + b"?")
