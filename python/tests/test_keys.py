"""A key for each row, by identifiers."""

import random

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import aescomb
import structs
from structs import bitmap

RNG = random.Random(13)
TENANTS = [f"tenant {i}" for i in range(20)]


def keys_of(mode, ids):
    lengths = next(m for m in aescomb.modes() if m.name == mode).key_bytes
    made = {}
    for i, id in enumerate(ids):
        # Keys of all sizes that the mode has.
        made[id] = aescomb.Key(mode, RNG.randbytes(lengths[i % len(lengths)]))
    return made


@pytest.mark.parametrize("mode", ["gcm", "siv", "ctr", "cbc-pkcs7", "cmac", "ccm"])
@pytest.mark.parametrize("count", [0, 1, 7, 3000])
def test_rows(mode, count):
    table = keys_of(mode, TENANTS)
    keys = aescomb.Keys(table)
    kind = table[TENANTS[0]].mode.kind
    ids = [RNG.choice(TENANTS) for _ in range(count)]
    messages = [None if i % 9 == 4 else RNG.randbytes(i % 50) for i in range(count)]
    masked = [None if message is None else id for id, message in zip(ids, messages)]
    width = {"siv": None, "cmac": None, "gcm": 12, "ccm": 12}.get(mode, 16)
    nonces = None if width is None else [RNG.randbytes(width) for _ in range(count)]
    each = [None] * count if nonces is None else nonces
    do, undo = {"aead": ("seal", "open"), "cipher": ("encrypt", "decrypt"), "mac": ("mac", "")}[
        kind
    ]
    rows = zip(ids, each, messages)
    if kind == "mac":
        expected = [None if m is None else table[id].mac(m) for id, _, m in rows]
    else:
        expected = [None if m is None else getattr(table[id], do)(n, m) for id, n, m in rows]
    half = count // 2
    for ids_given in (
        ids,
        masked,
        pa.array(masked, pa.string()),
        pa.array(masked, pa.string_view()),
        pa.array(masked, pa.large_string()),
        pa.array(masked, pa.string()).dictionary_encode(),
        pa.chunked_array([masked[:half], masked[half:]], pa.string()),
        pl.Series(masked, dtype=pl.String),
        pl.Series(masked, dtype=pl.Categorical),
    ):
        key = keys.of(ids_given)
        assert key.mode.name == mode
        for column in (
            messages,
            pa.array(messages, pa.binary()),
            pa.array(messages, pa.binary_view()),
            pa.chunked_array([messages[:3], messages[3:]], pa.large_binary()),
            pa.array(messages, pa.binary()).dictionary_encode(),
        ):
            flat = nonces and pa.array(nonces, pa.binary(width))
            for nonces_given in (nonces, flat):
                if kind == "mac":
                    assert list(key.mac_many(column)) == expected
                    key.verify_many(column, expected)
                else:
                    sealed = getattr(key, f"{do}_many")(nonces_given, column)
                    assert list(sealed) == expected
                    assert list(getattr(key, f"{undo}_many")(nonces_given, sealed)) == messages


def test_failures():
    keys = aescomb.Keys(keys_of("gcm", [1, 2, 3]))
    ids, messages = [1, 2, 3, 1], [b"one", b"two", None, b"four"]
    sealed = keys.of(ids).seal_many(bytes(48), messages)
    others = keys.of([1, 3, 3, 2])
    for form in (sealed, pa.array(sealed), pa.chunked_array([sealed[:2], sealed[2:]])):
        opened, failed = others.open_many(bytes(48), form, on_failure="return")
        assert failed == [1, 3]
        assert list(opened) == [b"one", None, None, None]


@pytest.mark.parametrize(
    "of",
    [
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
    ],
    ids=str,
)
def test_numbers(of):
    ids = [-1, 5, 0] if pa.types.is_signed_integer(of) else [2**of.bit_width - 1, 5, 0]
    keys = aescomb.Keys(keys_of("siv", ids))
    messages = [b"one", b"two", b"three"]
    expected = [keys[id].seal(None, message) for id, message in zip(ids, messages)]
    numbers = np.array(ids, of.to_pandas_dtype())
    for form in (
        ids,
        pa.array(ids, of),
        numbers,
        pa.array(ids, of).dictionary_encode(),
        tuple(ids),
    ):
        assert keys.of(form).seal_many(None, messages) == expected


def test_bytes():
    keys = aescomb.Keys(keys_of("siv", [b"k1", b"k2"]))
    expected = [keys[id].seal(None, b"text") for id in (b"k2", b"k1")]
    for form in (
        [b"k2", b"k1"],
        pa.array([b"k2", b"k1"]),
        pa.array([b"k2", b"k1"], pa.binary(2)),
        pa.array([b"k2", b"k1"], pa.binary_view()),
        np.array([b"k2", b"k1"], object),
    ):
        assert keys.of(form).seal_many(None, [b"text"] * 2) == expected


def test_ids_of_other_kinds_are_others():
    made = keys_of("siv", ["1", 1, b"1"])
    keys = aescomb.Keys(made)
    assert len(keys) == 3 and all(id in keys for id in made)
    assert "2" not in keys and 2 not in keys and b"2" not in keys
    for id in made:
        assert keys[id] is made[id]
        assert keys.of([id]).seal_many(None, [b"x"]) == [made[id].seal(None, b"x")]
        assert keys.of(pa.array([id])).seal_many(None, [b"x"]) == [made[id].seal(None, b"x")]
    assert repr(keys) == "<aescomb.Keys of 3, siv>"
    assert repr(keys.of(["1"] * 5)) == "<aescomb.Key siv, 3 keys for 5 rows>"
    assert keys.of([]).key_bits == 128


def test_one_message():
    keys = aescomb.Keys(keys_of("gcm", "ab"))
    sealed = keys.of(["b"]).seal(bytes(12), b"text")
    assert keys["b"].open(bytes(12), sealed) == b"text"
    with pytest.raises(aescomb.InputError, match="2 ids of keys for 1 messages"):
        keys.of("a b".split()).seal(bytes(12), b"text")


def test_mistakes():
    keys = aescomb.Keys(keys_of("gcm", ["a", "b"]))
    ids = pa.chunked_array([["a"], ["b", None]])
    for form in (ids, ids.combine_chunks().dictionary_encode(), ["a", "b", None]):
        key = keys.of(form)
        for messages in ([b"1", b"2", b"3"], pa.array([b"1", b"2", b"3"])):
            with pytest.raises(aescomb.InputError) as caught:
                key.seal_many(bytes(36), messages)
            assert (caught.value.message, caught.value.field) == (2, "null")
            assert str(caught.value).startswith("message 2: null in ids; allowed: ")
            with pytest.raises(aescomb.InputError, match="3 ids of keys for 2 messages"):
                key.seal_many(bytes(24), messages[:2])
        assert list(key.seal_many(bytes(36), pa.array([b"1", b"2", None])))[2] is None
    for form in (["a", "c"], pa.array(["a", "c"]), pa.array(["a", "c"]).dictionary_encode()):
        with pytest.raises(aescomb.InputError) as caught:
            keys.of(form)
        assert (caught.value.message, caught.value.field) == (1, "key")
        assert str(caught.value) == "message 1: no key of id 'c'; allowed: the ids of 2 keys"
    for form in ([1], pa.array([1]), [b"a"], pa.array([b"a"])):
        with pytest.raises(aescomb.InputError, match="message 0: no key of id (1|b'a')"):
            keys.of(form)
    for form, text in [
        ([1.5], r"ids\[0\]: expected a string, bytes or an integer, not float"),
        ([True], r"ids\[0\]: .* not bool"),
        ("ab", "ids: expected a list .*, not str"),
        (b"ab", "ids: expected .*, not bytes"),
        (None, "ids: expected a list .*, not NoneType"),
        (pa.array([1.5]), "ids: expected an Arrow column of strings, bytes or integers, not Float"),
        (pa.array([True]), "ids: .* not Boolean"),
        (pa.array([[1]]), "ids: expected an Arrow column .* not list"),
    ]:
        with pytest.raises(TypeError, match=text):
            keys.of(form)
    with pytest.raises(OverflowError):
        keys.of([1 << 200])
    with pytest.raises(KeyError, match="c"):
        keys["c"]
    one = keys["a"]
    for given, error, text in [
        ({}, ValueError, "keys: expected one key or more"),
        ({"a": one, "b": b"key"}, TypeError, r"keys\['b'\]: expected a Key, not bytes"),
        ({1.5: one}, TypeError, "keys: the id 1.5: expected a string, bytes or an integer"),
        (
            {"a": one, "b": aescomb.Key("ccm", bytes(16))},
            ValueError,
            r"keys\['b'\]: expected one key for gcm, .*, not aes-128-ccm",
        ),
        ({"a": keys.of(["a"])}, ValueError, "one key for gcm, .* not gcm, 2 keys for 1 rows"),
        ([("a", one)], TypeError, "dict"),
    ]:
        with pytest.raises(error, match=text):
            aescomb.Keys(given)


def test_damaged_ids():
    keys = aescomb.Keys(keys_of("siv", [b"%16d" % i for i in range(3)]))
    ids = [b"%16d" % i for i in (0, 2, 1)]
    messages = [b"text"] * 3
    expected = [keys[id].seal(None, b"text") for id in ids]
    for layout in structs.LAYOUTS.values():
        column = layout(ids)
        assert keys.of(column).seal_many(None, messages) == expected
        for change in (
            dict(length=-1),
            dict(length=1 << 62),
            dict(offset=-1),
            dict(n_buffers=9999),
        ):
            damaged = structs.replace(column, **change)
            if layout is structs.by_views and "n_buffers" in change:
                continue
            with pytest.raises(ValueError, match="^ids: "):
                keys.of(damaged)
        nulls = structs.replace(column, null_count=1).with_buffer(0, bitmap([1, 0, 1]))
        assert keys.of(nulls).seal_many(None, [b"text", None, b"text"])[1] is None
