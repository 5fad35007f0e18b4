"""Mistakes raise exceptions that say what is wrong."""

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest

import aescomb

GCM = aescomb.Key("gcm", bytes(16))
CTR = aescomb.Key("ctr", bytes(16))
CBC = aescomb.Key("cbc", bytes(16))
ECB = aescomb.Key("ecb", bytes(16))
CMAC = aescomb.Key("cmac", bytes(16))
SIV = aescomb.Key("siv", bytes(32))
PADDED = aescomb.Key("cbc-pkcs7", bytes(16))
N2 = bytes(2 * 12)
ROWS = np.zeros((2, 24), np.uint8)

TAGS = "4, 8, 12, 13, 14, 15 or 16"
MISTAKES = [
    (lambda: aescomb.Key("gcm", bytes(17)), (None, "key_length", 17, "16, 24 or 32")),
    (lambda: aescomb.Key("aes-256-gcm", bytes(16)), (None, "key_length", 128, "256")),
    (lambda: CTR.encrypt_many([bytes(16), bytes(12)], [b"", b""]), (1, "nonce_length", 12, "16")),
    (lambda: CTR.encrypt_many(None, [b""]), (0, "nonce_length", 0, "16")),
    (lambda: GCM.seal_many([b""], [b""]), (0, "nonce_length", 0, "1 to 4294967294")),
    (lambda: ECB.encrypt_many([b"1"], [b""]), (0, "nonce_length", 1, "none")),
    (lambda: CTR.encrypt(bytes(12), b""), (0, "nonce_length", 12, "16")),
    (lambda: GCM.seal_many(N2, [b"", b""], tag_bytes=3), (None, "tag_length", 3, TAGS)),
    (lambda: GCM.seal_many(N2, [b"", b""], tag_bytes=1 << 62), (None, "tag_length", 1 << 62, TAGS)),
    (lambda: GCM.open_many(N2, [bytes(16), bytes(15)]), (1, "text_length", 15, "at least 16")),
    (
        lambda: CBC.encrypt_many(bytes(32), [bytes(16), b"1"]),
        (1, "text_length", 1, "a multiple of 16"),
    ),
    (
        lambda: CMAC.verify_many([b"", b""], [bytes(16), b"1"]),
        (1, "tag_length", 1, "4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 or 16"),
    ),
    (lambda: GCM.seal_many(N2[:12], [b"", b""]), (None, "count", 1, "2")),
    (lambda: GCM.seal_many(N2[:-1], [b"", b""]), (None, "count", 23, "12 for each message")),
    (lambda: GCM.seal_many(N2, [b"", b""], [b""]), (None, "count", 1, "2")),
    (lambda: GCM.seal_many(N2, [b"", b""], [b"", ()] * 2), (None, "count", 4, "2")),
    (lambda: CMAC.verify_many([b""], []), (None, "count", 0, "1")),
    (
        lambda: aescomb.Key("julius", bytes(16)).open_many(
            bytes(16), [bytes(16)], opened_lengths=[]
        ),
        (None, "count", 0, "1"),
    ),
    (
        lambda: aescomb.Key("julius", bytes(16)).open(bytes(16), bytes(32)),
        (0, "opened_length", None, "1 to 16"),
    ),
    (lambda: GCM.seal_many(N2, [b"", b""], (b"", b"")), (0, "data_count", 2, "at most 1")),
    (lambda: GCM.seal_many(N2, [b"", b""], [b"", (b"", b"")]), (1, "data_count", 2, "at most 1")),
    (lambda: CBC.seal_many(None, []), (None, "operation", 4, "encrypt and decrypt")),
    (lambda: GCM.encrypt_many(None, []), (None, "operation", 0, "seal and open")),
    (lambda: GCM.mac(b""), (None, "operation", 2, "seal and open")),
    (lambda: CMAC.open(None, b""), (None, "operation", 5, "mac and verify")),
    (lambda: CTR.verify(b"", b""), (None, "operation", 3, "encrypt and decrypt")),
    (
        lambda: GCM.seal_many(pa.array([bytes(12), None], pa.binary(12)), [b"", b""]),
        (1, "null", 0, "bytes, as the message is not null"),
    ),
    (
        lambda: GCM.seal_many(N2, [b"", b""], pa.chunked_array([[b""], [None]], pa.large_binary())),
        (1, "null", 0, "bytes, as the message is not null"),
    ),
    (
        lambda: GCM.seal_many([b"1", None, None], [b"", None, b""]),
        (2, "null", 0, "bytes, as the message is not null"),
    ),
    (
        lambda: GCM.seal_many(N2, ROWS, out=np.zeros((2, 39), np.uint8)),
        (None, "output_length", 39, "40"),
    ),
    (
        lambda: GCM.seal_many(N2, ROWS, out=np.zeros((3, 40), np.uint8)),
        (None, "output_length", 3, "2"),
    ),
]


@pytest.mark.parametrize("call, expected", MISTAKES)
def test_mistakes(call, expected):
    with pytest.raises(aescomb.InputError) as caught:
        call()
    error = caught.value
    assert (error.message, error.field, error.given, error.allowed) == expected
    assert (error.message is None) or str(error).startswith(f"message {error.message}: ")
    assert isinstance(error, aescomb.Error) and isinstance(error, ValueError)


TYPES = [
    (lambda: aescomb.Key("gcm", "0" * 16), "key: expected a bytes-like object, not str"),
    (lambda: aescomb.Key(b"gcm", bytes(16)), "str"),
    (
        lambda: GCM.seal_many(N2, [b"", "two"]),
        r"messages\[1\]: expected a bytes-like object, not str",
    ),
    (lambda: GCM.seal_many([b"", 1], [b"", b""]), r"nonces\[1\]: .* not int"),
    (lambda: GCM.seal_many(N2, b"one message"), "messages: expected a list .*, not bytes"),
    (lambda: GCM.seal_many(N2, "messages"), "messages: expected a list .*, not str"),
    (lambda: GCM.seal_many(N2, {b"": b""}), "messages: expected a list .*, not dict"),
    (lambda: GCM.seal_many(N2, 7), "messages: expected a list .*, not int"),
    (lambda: GCM.seal_many(N2, None), "messages: expected a list .*, not NoneType"),
    (lambda: GCM.seal_many(N2, [1, 2]), r"messages\[0\]: .* not int"),
    (lambda: GCM.seal_many(N2, [ROWS, ROWS]), r"messages\[0\]: .* not ndarray"),
    (lambda: GCM.seal_many(N2, np.zeros((2, 2), np.int32)), "an array of dtype uint8"),
    (lambda: GCM.seal_many(N2, np.zeros((2, 2, 2), np.uint8)), "two dimensions, not 3"),
    (lambda: GCM.seal_many(N2, np.zeros(2, np.uint8)), "messages: expected a list .*, not ndarray"),
    (lambda: GCM.seal_many(N2, ROWS[:, ::2]), "numpy.ascontiguousarray"),
    (lambda: GCM.seal_many(N2, ROWS[::-1]), "numpy.ascontiguousarray"),
    (lambda: GCM.seal_many(N2, np.broadcast_to(ROWS[0], (2, 24))), "numpy.ascontiguousarray"),
    (lambda: GCM.seal_many(N2, pa.array([[1], [2]])), "messages: .* or a dictionary .* not list"),
    (lambda: GCM.seal_many(N2, pa.nulls(2)), "messages: expected an Arrow column .* not null"),
    (lambda: GCM.seal_many(pa.nulls(2), [b"", b""]), "nonces: expected an Arrow column"),
    (lambda: GCM.open_many([], [], to="string"), "to: only results of an Arrow column"),
    (lambda: GCM.open_many([], pa.array([b""]), to=7), "to: expected 'binary', .*, not int"),
    (lambda: GCM.open_many([], pa.array([b""]), to=pa.list_(pa.int8())), "to: .*, not list"),
    (
        lambda: GCM.open_many([], pa.array([b""]), to=pa.dictionary(pa.int8(), pa.string())),
        "to: .*, not a dictionary",
    ),
    (lambda: GCM.seal_many(N2, pa.table({"a": [b"", b""]})), "not struct"),
    (lambda: GCM.seal_many(N2, [b"", b""], "header"), "associated_data: expected bytes"),
    (lambda: GCM.seal_many(N2, [b"", b""], [b"", 2]), r"associated_data\[1\]: .* not int"),
    (lambda: GCM.seal_many(N2, [b"", b""], (b"", 2)), r"associated_data\[1\]: .* not int"),
    (lambda: SIV.seal_many(None, [b""], [(b"", 2)]), r"associated_data\[0\]\[1\]: .* not int"),
    (lambda: GCM.seal_many(N2, [b"", b""], out=ROWS), "out: only results of an array"),
    (lambda: GCM.seal_many(N2, ROWS, out=bytearray(80)), "out: expected an array"),
    (lambda: GCM.seal_many(N2, ROWS, out=[]), "out: expected an array"),
    (
        lambda: CTR.encrypt_many(bytes(32), ROWS, out=memoryview(bytes(48)).cast("B", (2, 24))),
        "read-only",
    ),
    (lambda: PADDED.decrypt_many(bytes(32), np.zeros((2, 16), np.uint8)), "differ in length"),
    (lambda: GCM.seal(bytes(12), [b""]), "message: expected a bytes-like object, not list"),
    (
        lambda: GCM.seal(bytes(12), b"", [b""]),
        "associated_data: expected a bytes-like object, not list",
    ),
    (lambda: GCM.seal(12, b""), "nonce: expected a bytes-like object, not int"),
    (lambda: CMAC.verify(b"", None), "tag: expected a bytes-like object, not NoneType"),
]


@pytest.mark.parametrize("call, text", TYPES)
def test_types(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_values():
    with pytest.raises(ValueError, match="unknown mode; known: ecb, .*gcm"):
        aescomb.Key("kw", bytes(16))
    with pytest.raises(ValueError, match="expected 'raise' or 'return', not 'ignore'"):
        GCM.open_many([], [], on_failure="ignore")
    with pytest.raises(ValueError, match="to: expected 'binary', .*, not 'text'"):
        GCM.open_many([], pa.array([], pa.binary()), to="text")
    with pytest.raises(OverflowError):
        GCM.seal_many([], [], tag_bytes=-1)


def test_overlap():
    memory = np.zeros((5, 64), np.uint8)
    for messages, out in [
        (memory[:-1, :24], memory[1:, :24]),
        (memory[:, :24], memory[:, 1:25]),
        (memory.reshape(10, 32)[:5, :24], memory[:, :24]),
    ]:
        with pytest.raises(aescomb.InputError) as error:
            CTR.encrypt_many(bytes(16 * len(messages)), messages, out=out)
        assert error.value.field == "overlap"
    assert not memory.any()


def test_nothing_is_touched():
    """A mistake far behind in a large batch leaves the array as it was."""
    rows = np.zeros((20000, 24), np.uint8)
    nonces = [bytes(16)] * 19999 + [b""]
    with pytest.raises(aescomb.InputError) as error:
        CTR.encrypt_many(nonces, rows, out=rows)
    assert error.value.message == 19999
    assert not rows.any()


def test_place_in_a_large_batch():
    messages = [bytes(16)] * 10000
    messages[9000] = b"1"
    with pytest.raises(aescomb.InputError) as error:
        CBC.encrypt_many(bytes(16 * 10000), messages)
    assert error.value.message == 9000
    assert str(error.value) == "message 9000: text of 1 bytes; allowed: a multiple of 16"


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("offsets", [[0, 5, 3], [-1, 0, 2], [0, 90, 2]])
def test_broken_offsets(type, offsets):
    width = "i4" if type == pa.binary() else "i8"
    buffers = [None, pa.py_buffer(np.array(offsets, width).tobytes()), pa.py_buffer(bytes(8))]
    with pytest.raises(ValueError, match="offsets"):
        GCM.seal_many(N2, pa.Array.from_buffers(type, 2, buffers))


class Exports:
    def __init__(self, value):
        self.value = value

    def __arrow_c_array__(self, requested_schema=None):
        return self.value


def test_broken_exporters():
    capsules = pa.array([b"1", b"2"]).__arrow_c_array__()
    assert len(GCM.seal_many(N2, Exports(capsules))) == 2
    # They can be taken once.
    with pytest.raises(ValueError, match="released"):
        GCM.seal_many(N2, Exports(capsules))
    for value in (None, (), (1, 2), capsules[:1], capsules[::-1]):
        with pytest.raises((TypeError, ValueError)):
            GCM.seal_many(N2, Exports(value))


class Boasts:
    def __len__(self):
        return 1 << 60

    def __iter__(self):
        return iter([b"one", b"two"])


def test_more_than_memory():
    with pytest.raises(MemoryError):
        CTR.encrypt_many([], np.empty((1 << 45, 0), np.uint8))
    with pytest.raises(aescomb.InputError):
        CTR.encrypt_many(np.empty((1 << 45, 0), np.uint8), [b""])
    many = pa.FixedSizeBinaryArray.from_buffers(pa.binary(0), 1 << 45, [None, pa.py_buffer(b"")])
    with pytest.raises(MemoryError):
        CTR.encrypt_many([], many)
    with pytest.raises(MemoryError):
        CMAC.mac_many(many)
    with pytest.raises(MemoryError):
        SIV.seal_many(None, many)
    with pytest.raises(MemoryError):
        aescomb.Keys({b"": GCM}).of(many)
    assert len(GCM.seal_many(N2, Boasts())) == 2


class Interrupted:
    def __iter__(self):
        yield b"one"
        raise KeyError("mine")


def test_exceptions_of_others_pass():
    with pytest.raises(KeyError, match="mine"):
        GCM.seal_many(N2, Interrupted())


@pytest.mark.parametrize(
    "error", [aescomb.InputError("text", 1, "count", 2, "3"), aescomb.OpenError("text", [1])]
)
def test_copies(error):
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(other), vars(other)) == (str(error), vars(error))
