"""Every form of input gives what a list of bytes gives."""

import array
import random

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import aescomb

COUNT = 5000
RNG = random.Random(7)
GCM = aescomb.Key("gcm", bytes(range(16)))
CTR = aescomb.Key("ctr", bytes(range(16)))
CMAC = aescomb.Key("cmac", bytes(range(16)))
PADDED = aescomb.Key("cbc-pkcs7", bytes(range(16)))

MESSAGES = [RNG.randbytes(RNG.randrange(200)) for _ in range(COUNT)]
NONCES = [RNG.randbytes(12) for _ in range(COUNT)]
DATA = [RNG.randbytes(RNG.randrange(20)) for _ in range(COUNT)]
SEALED = GCM.seal_many(NONCES, MESSAGES, DATA)
ROWS = np.frombuffer(RNG.randbytes(24 * COUNT), np.uint8).reshape(COUNT, 24)
ROW_LIST = [row.tobytes() for row in ROWS]


def table(values):
    return np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)


def column(values, type=pa.binary()):
    return pa.array(values, type)


LISTS = [
    tuple,
    iter,
    lambda values: [bytearray(value) for value in values],
    lambda values: [memoryview(value) for value in values],
    lambda values: [np.frombuffer(value, np.uint8) for value in values],
    lambda values: [array.array("B", value) for value in values],
    # Every second byte of something.
    lambda values: [memoryview(bytes(b for c in value for b in (c, 0)))[::2] for value in values],
    lambda values: np.array([*values, None], object)[:-1],
]
COLUMNS = [
    column,
    lambda values: column(values, pa.large_binary()),
    lambda values: column(values, pa.binary_view()),
    lambda values: column([b"?", None, *values, b"?"])[2:-1],
    lambda values: column([b"?", None, *values, b"?"], pa.large_binary())[2:-1],
    lambda values: pa.chunked_array([column(values[:9]), column([]), column(values[9:])]),
    lambda values: pl.Series(values, dtype=pl.Binary),
]
NONCE_FORMS = [
    b"".join,
    lambda values: bytearray(b"".join(values)),
    lambda values: np.frombuffer(b"".join(values), np.uint8),
    table,
    lambda values: table(values)[::-1][::-1],
    lambda values: np.asfortranarray(table(values)),
    lambda values: column(values, pa.binary(12)),
]


@pytest.mark.parametrize("form", LISTS)
def test_lists(form):
    sealed = GCM.seal_many(form(NONCES), form(MESSAGES), form(DATA) if form is not tuple else DATA)
    assert sealed == SEALED
    assert GCM.open_many(form(NONCES), form(SEALED), DATA) == MESSAGES


@pytest.mark.parametrize("form", COLUMNS)
def test_columns(form):
    messages = form(MESSAGES)
    sealed = GCM.seal_many(form(NONCES), messages, form(DATA))
    assert isinstance(sealed, aescomb.Column)
    arrow = pa.array(sealed)
    arrow.validate(full=True)
    assert arrow.type == (pa.binary_view() if isinstance(messages, pl.Series) else messages.type)
    assert arrow.to_pylist() == SEALED
    assert list(sealed) == SEALED
    opened = GCM.open_many(NONCES, sealed, DATA)
    assert pl.Series(opened).to_list() == MESSAGES
    tags = CMAC.mac_many(messages, tag_bytes=8)
    assert pa.array(tags).type == pa.binary(8)
    assert list(tags) == CMAC.mac_many(MESSAGES, tag_bytes=8)
    CMAC.verify_many(messages, tags)


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("mode", ["gcm", "ccm", "otr", "cbc-pkcs7", "ctr", "copa"])
def test_columns_with_offsets(mode, type):
    """Of more messages than the library is given at once, also if they begin later."""
    count = 2500
    key = aescomb.Key(mode, bytes(range(16)))
    messages = [bytes([i % 251]) * (i * 7 % 90) for i in range(count)]
    data = [bytes(i % 20) for i in range(count)]
    width = key.mode.nonce_bytes[1]
    width = 12 if width > 16 or mode in ("gcm", "ccm", "otr") else width
    flat = b"".join(i.to_bytes(width, "big") for i in range(count))
    nonces = [flat[i : i + width] for i in range(0, len(flat), width)]
    fixed = pa.array(nonces, pa.binary(width))
    if key.mode.kind == "cipher":
        encrypted = key.encrypt_many(nonces, messages)
        for given in (fixed, np.frombuffer(flat, np.uint8).reshape(count, width)):
            result = key.encrypt_many(given, column(messages, type))
            assert pa.array(result).to_pylist() == encrypted
            decrypted = key.decrypt_many(given, pa.array(result))
            assert list(decrypted) == messages
        part = key.encrypt_many(fixed[7:], column(messages, type)[7:])
        assert list(part) == encrypted[7:]
        return
    sealed = key.seal_many(nonces, messages, data)
    plain = key.seal_many(nonces, messages)
    columns = column(messages, type), column(data, type)
    result = pa.array(key.seal_many(fixed, *columns))
    result.validate(full=True)
    assert result.type == type and result.to_pylist() == sealed
    assert list(key.seal_many(fixed, columns[0])) == plain
    part = key.seal_many(fixed[1100:], columns[0][1100:], columns[1][1100:])
    assert list(part) == sealed[1100:]
    assert list(key.open_many(fixed, result, columns[1])) == messages
    for i in (5, 2047, 2499):
        sealed[i] = bytes([sealed[i][0] ^ 1]) + sealed[i][1:]
    forged = column(sealed, type)
    opened, failed = key.open_many(fixed, forged, columns[1], on_failure="return")
    assert failed == [5, 2047, 2499]
    assert list(opened) == [None if i in failed else m for i, m in enumerate(messages)]
    with pytest.raises(aescomb.OpenError) as info:
        key.open_many(fixed, forged, columns[1])
    assert info.value.indices == failed


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary()], ids=str)
def test_tags_of_columns_with_offsets(type):
    count = 2500
    messages = [bytes([i % 251]) * (i * 7 % 90) for i in range(count)]
    records = column(messages, type)
    tags = CMAC.mac_many(records)
    assert list(tags) == CMAC.mac_many(messages)
    CMAC.verify_many(records, tags)
    wrong = list(tags)
    wrong[1], wrong[2300] = bytes(16), bytes(16)
    for form in (column(wrong, pa.binary(16)), b"".join(wrong), wrong):
        assert CMAC.verify_many(records, form, on_failure="return") == [1, 2300]
    with pytest.raises(aescomb.InputError):
        CMAC.verify_many(records, column(wrong[1:], pa.binary(16)))
    with pytest.raises(aescomb.InputError, match="tag of 17 bytes"):
        CMAC.verify_many(records, column([bytes(17)] * count, pa.binary(17)))


def test_columns_that_are_refused():
    records = column([bytes(20)] * 1500)
    with pytest.raises(aescomb.InputError) as info:
        GCM.seal_many(column([b""] * 1500, pa.binary(0)), records)
    assert info.value.field == "nonce_length"
    with pytest.raises(aescomb.InputError) as info:
        short = column([bytes(20)] * 1200 + [bytes(15)] + [bytes(20)] * 299)
        GCM.open_many(bytes(12 * 1500), short)
    assert (info.value.message, info.value.field) == (1200, "text_length")


@pytest.mark.parametrize("form", NONCE_FORMS)
def test_nonces(form):
    assert GCM.seal_many(form(NONCES), MESSAGES, DATA) == SEALED
    assert list(GCM.seal_many(form(NONCES), column(MESSAGES), DATA)) == SEALED


def test_arrow_is_not_copied():
    messages = column(MESSAGES)
    before = pa.total_allocated_bytes()
    GCM.seal_many(NONCES, messages)
    assert pa.total_allocated_bytes() == before
    sealed = GCM.seal_many(NONCES, messages)
    addresses = [pa.array(sealed).buffers()[2].address for _ in range(2)]
    assert addresses[0] == addresses[1]
    # The results outlive the object.
    arrow = pa.array(sealed)
    del sealed
    assert arrow[0].as_py() == GCM.seal(NONCES[0], MESSAGES[0])


def test_arrays():
    sealed = GCM.seal_many(table(NONCES), ROWS, DATA)
    assert (sealed.shape, sealed.dtype) == ((COUNT, 40), np.uint8)
    assert [row.tobytes() for row in sealed] == GCM.seal_many(NONCES, ROW_LIST, DATA)
    assert (GCM.open_many(NONCES, sealed, DATA) == ROWS).all()
    data = table(ROW_LIST)
    assert (
        GCM.seal_many(NONCES, ROWS, data) == table(GCM.seal_many(NONCES, ROW_LIST, ROW_LIST))
    ).all()
    tags = CMAC.mac_many(ROWS)
    assert [row.tobytes() for row in tags] == CMAC.mac_many(ROW_LIST)
    CMAC.verify_many(ROWS, tags)
    encrypted = PADDED.encrypt_many(bytes(16 * COUNT), ROWS)
    assert encrypted.shape == (COUNT, 32)


def test_rows_with_gaps():
    packets = np.zeros((COUNT, 64), np.uint8)
    packets[:, 14:38] = ROWS
    nonces = table([nonce + bytes(4) for nonce in NONCES])
    expected = CTR.encrypt_many(nonces, ROWS)
    assert (CTR.encrypt_many(nonces, packets[:, 14:38]) == expected).all()
    out = packets[:, 14:38]
    assert CTR.encrypt_many(nonces, out, out=out) is out
    assert (packets[:, 14:38] == expected).all()
    assert not packets[:, :14].any() and not packets[:, 38:].any()


def test_out():
    expected = GCM.seal_many(NONCES, ROWS)
    out = np.empty((COUNT, 40), np.uint8)
    assert GCM.seal_many(NONCES, ROWS, out=out) is out
    assert (out == expected).all()
    # In place, with room for the tag.
    out[:, :24] = ROWS
    GCM.seal_many(NONCES, out[:, :24], out=out)
    assert (out == expected).all()
    GCM.open_many(NONCES, out, out=out[:, :24])
    assert (out[:, :24] == ROWS).all()
    one = np.zeros((1, 40), np.uint8)
    GCM.seal_many(NONCES[:1], one[:, :24], out=one)


def test_failures_in_arrays():
    sealed = GCM.seal_many(NONCES, ROWS)
    sealed[[3, 4999], 20] ^= 1
    opened, failed = GCM.open_many(NONCES, sealed, on_failure="return")
    assert failed == [3, 4999]
    good = np.delete(np.arange(COUNT), failed)
    assert (opened[good] == ROWS[good]).all()
    assert not opened[failed].any()


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary(), pa.binary(40)], ids=str)
def test_failures_in_columns(type):
    sealed = GCM.seal_many(NONCES, ROW_LIST)
    sealed[5] = bytes(40)
    opened, failed = GCM.open_many(NONCES, column(sealed, type), on_failure="return")
    assert failed == [5]
    arrow = pa.array(opened)
    arrow.validate(full=True)
    assert arrow.null_count == 1
    assert arrow.to_pylist() == [*ROW_LIST[:5], None, *ROW_LIST[6:]] == list(opened)


@pytest.mark.parametrize("form", COLUMNS)
def test_padding(form):
    nonces = bytes(16 * COUNT)
    encrypted = PADDED.encrypt_many(nonces, form(MESSAGES))
    assert list(PADDED.decrypt_many(nonces, encrypted)) == MESSAGES
    broken = list(encrypted)
    broken[2] = bytes(16)
    decrypted, failed = PADDED.decrypt_many(nonces, form(broken), on_failure="return")
    assert failed == [2]
    assert pa.array(decrypted).to_pylist() == [*MESSAGES[:2], None, *MESSAGES[3:]]
    with pytest.raises(aescomb.OpenError):
        PADDED.decrypt(bytes(16), bytes(16))


def test_padding_of_one_length():
    encrypted = PADDED.encrypt_many(bytes(16 * 3), column([b"one", b"two", b"six"], pa.binary(3)))
    assert pa.array(encrypted).type == pa.binary(16)
    decrypted = PADDED.decrypt_many(bytes(16 * 3), encrypted)
    assert list(decrypted) == [b"one", b"two", b"six"]


@pytest.mark.parametrize("mode", ["julius", "copa", "mcoe-g"])
def test_results_of_other_lengths(mode):
    key = aescomb.Key(mode, bytes(16))
    bytes_of_nonce = key.mode.nonce_bytes[1]
    nonces = bytes(bytes_of_nonce * COUNT)
    lengths = np.array([len(message) for message in MESSAGES])
    for form in (list, column):
        sealed = key.seal_many(nonces, form(MESSAGES), b"header")
        opened = key.open_many(nonces, sealed, b"header", opened_lengths=lengths)
        assert list(opened) == MESSAGES


def test_nothing():
    assert GCM.seal_many([], []) == []
    assert GCM.seal_many(b"", []) == []
    assert GCM.open_many([], [], on_failure="return") == ([], [])
    assert len(GCM.seal_many([], column([]))) == 0
    assert pa.array(GCM.seal_many([], column([], pa.binary(3)))).to_pylist() == []
    assert GCM.seal_many([], np.empty((0, 24), np.uint8)).shape[0] == 0
    empty = CTR.encrypt_many(bytes(32), np.empty((2, 0), np.uint8))
    assert empty.shape == (2, 0)
    assert CTR.encrypt_many(bytes(32), [b"", b""]) == [b"", b""]
    assert list(CTR.encrypt_many(bytes(32), column([b"", b""], pa.binary(0)))) == [b"", b""]
    assert GCM.seal_many(bytes(24), np.empty((2, 0), np.uint8)).shape == (2, 16)


def test_column_is_a_sequence():
    columns = CTR.encrypt_many(bytes(16 * 3), column([b"a", b"bc", b""]))
    assert len(columns) == 3
    assert columns[-1] == b"" and len(columns[1]) == 2
    with pytest.raises(IndexError):
        columns[3]
    with pytest.raises(IndexError):
        columns[-4]
    assert pa.DataType._import_from_c_capsule(columns.__arrow_c_schema__()) == pa.binary()


def test_names():
    key = aescomb.Key("aes-256-gcm", bytes(32))
    assert (key.key_bits, key.mode.name, repr(key)) == (256, "gcm", "<aescomb.Key aes-256-gcm>")
    assert key.mode == aescomb.Key("gcm", bytes(16)).mode != CTR.mode
    assert len({mode for mode in aescomb.modes()} | {key.mode}) == len(aescomb.modes())
    assert repr(key.mode) == "<aescomb.Mode gcm>"
    for mode in aescomb.modes():
        assert mode.kind in ("cipher", "mac", "aead")
        assert mode.title and mode.source and mode.nonce_reuse is not None
        assert (mode.kind == "cipher") == (mode.tag_bytes == ())
        assert mode.key_bytes and mode.data_components >= 0
        assert mode.research is None or mode.research
        for length in mode.key_bytes:
            aescomb.Key(mode.name, bytearray(range(length)))
