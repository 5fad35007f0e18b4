"""Format-preserving encryption: known answers, an oracle, columns of all forms, mistakes."""

import random
import string
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import aescomb
import ff1_oracle

SAMPLES = Path(__file__).parents[2] / "vectors/ff1/nist-samples.txt"
KEY = bytes(range(16))
DIGITS = aescomb.Ff1(KEY, string.digits)
ALNUM = string.digits + string.ascii_lowercase


def test_samples_of_nist():
    lines = [line.split() for line in SAMPLES.read_text().splitlines() if line[0] != "#"]
    assert len(lines) == 9
    for key, tweak, alphabet, plain, sealed in lines:
        tweak = b"" if tweak == "-" else bytes.fromhex(tweak)
        ff1 = aescomb.Ff1(bytes.fromhex(key), alphabet)
        assert ff1.encrypt(plain, tweak) == sealed
        assert ff1.decrypt(sealed, tweak) == plain
        assert ff1.encrypt_many([plain] * 3, tweak) == [sealed] * 3
        radix = aescomb.Ff1(bytes.fromhex(key), radix=len(alphabet))
        numerals, other = ([alphabet.index(c) for c in text] for text in (plain, sealed))
        assert radix.encrypt(numerals, tweak) == other


def values(rng, alphabet, count, lengths, nulls=0.0):
    def value():
        if rng.random() < nulls:
            return None
        return "".join(rng.choices(alphabet, k=rng.choice(lengths)))

    return [value() for _ in range(count)]


def sealed(ff1, alphabet, plain, tweaks):
    def one(value, tweak):
        numerals = [alphabet.index(c) for c in value]
        made = ff1_oracle.encrypt(ff1, len(alphabet), tweak, numerals)
        return "".join(alphabet[x] for x in made)

    return [value and one(value, tweak) for value, tweak in zip(plain, tweaks)]


@pytest.mark.parametrize("alphabet", [string.digits, "01", ALNUM, "zyxwvutsrqponmlkjihgfedcba"])
@pytest.mark.parametrize("key_bytes", [16, 24, 32])
def test_oracle(alphabet, key_bytes):
    rng = random.Random(f"{alphabet} {key_bytes}")
    key = rng.randbytes(key_bytes)
    ff1 = aescomb.Ff1(key, alphabet)
    least = ff1.min_length
    plain = values(rng, alphabet, 60, [*range(least, least + 14), 40, 90], nulls=0.1)
    same = rng.randbytes(11)
    expected = sealed(key, alphabet, plain, [same] * len(plain))
    assert ff1.encrypt_many(plain, same) == expected
    assert ff1.decrypt_many(expected, same) == plain
    tweaks = [None if x is None else rng.randbytes(rng.choice((0, 3, 16, 40))) for x in plain]
    expected = sealed(key, alphabet, plain, tweaks)
    assert ff1.encrypt_many(plain, tweaks) == expected
    for column in (tweaks, pa.array(tweaks, pa.binary()), pa.array(tweaks, pa.binary_view())):
        assert list(ff1.encrypt_many(pa.array(plain), column)) == expected
        assert ff1.decrypt_many(expected, column) == plain


TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
]


@pytest.mark.parametrize("nulls", [0, 0.3, 1])
@pytest.mark.parametrize("of", TYPES, ids=str)
def test_columns(of, nulls):
    rng = random.Random(f"{of} {nulls}")
    plain = values(rng, string.digits, 1000, [6, 12, 13, 16, 30], nulls)
    expected = pa.array(DIGITS.encrypt_many(plain, b"t"), pa.string()).cast(of)
    column = pa.array(plain, pa.string()).cast(of)
    for start, stop in ((0, 1000), (7, 901), (500, 500), (999, 1000)):
        made = pa.array(DIGITS.encrypt_many(column[start:stop], b"t"))
        made.validate(full=True)
        assert made.type == of and made == expected[start:stop]
        assert pa.array(DIGITS.decrypt_many(made, b"t")) == column[start:stop]
    parts = pa.chunked_array([column[:10], column[10:10], column[10:700], column[701:]])
    tweaks = [b"%d" % (i % 3) for i in range(len(parts))]
    made = pa.chunked_array(DIGITS.encrypt_many(parts, tweaks))
    assert made.type == of and [len(part) for part in made.chunks] == [10, 0, 690, 299]
    assert (
        made.to_pylist()
        == pa.array(
            DIGITS.encrypt_many(column[:700].to_pylist() + column[701:].to_pylist(), tweaks)
            if pa.types.is_string(of)
            else DIGITS.encrypt_many(pa.concat_arrays([column[:700], column[701:]]), tweaks)
        ).to_pylist()
    )
    assert pa.chunked_array(DIGITS.decrypt_many(made, tweaks)) == parts


def test_fixed_size():
    column = pa.array([b"123456", None, b"654321"], pa.binary(6))
    made = pa.array(DIGITS.encrypt_many(column))
    assert made.type == pa.binary(6) and made[1].as_py() is None
    assert made[2].as_py().decode() == DIGITS.encrypt("654321")
    assert pa.array(DIGITS.decrypt_many(made)) == column


def test_dictionaries():
    column = pa.array(["123456", None, "654321", "123456"]).dictionary_encode()
    made = pa.array(DIGITS.encrypt_many(column, b"t"))
    assert made.type == column.type and made.indices == column.indices
    assert made.to_pylist() == DIGITS.encrypt_many(column.to_pylist(), b"t")
    assert pa.array(DIGITS.decrypt_many(made, b"t")) == column
    # With a tweak for each row they are no dictionary any more.
    tweaks = [b"1", None, b"2", b"3"]
    made = pa.array(DIGITS.encrypt_many(column, tweaks))
    assert made.type == pa.string()
    assert made.to_pylist() == DIGITS.encrypt_many(column.to_pylist(), tweaks)
    # What no row has is no mistake.
    unused = pa.DictionaryArray.from_arrays([1, 1], ["bad", "123456"])
    assert pa.array(DIGITS.encrypt_many(unused)).to_pylist() == [DIGITS.encrypt("123456")] * 2
    used = pa.DictionaryArray.from_arrays([1, 1, 0], ["bad", "123456"])
    with pytest.raises(aescomb.InputError) as caught:
        DIGITS.encrypt_many(used)
    assert caught.value.message == 2


def test_other_libraries():
    plain = ["123456", None, "0987654321"]
    expected = DIGITS.encrypt_many(plain)
    made = DIGITS.encrypt_many(pl.Series(plain))
    assert pl.Series(made).to_list() == expected
    series = pd.Series(plain, dtype="string[pyarrow]")
    assert list(DIGITS.encrypt_many(series)) == expected
    assert DIGITS.encrypt_many(np.array(plain, object)) == expected
    assert DIGITS.encrypt_many(np.array(["123456"])) == expected[:1]
    assert DIGITS.encrypt_many(tuple(plain)) == DIGITS.encrypt_many(iter(plain)) == expected


@pytest.mark.parametrize("radix", [2, 10, 1000, 65_535, 65_536])
def test_numerals(radix):
    rng = random.Random(radix)
    ff1 = aescomb.Ff1(KEY, radix=radix)
    assert (ff1.radix, ff1.alphabet) == (radix, None)
    width = ff1.min_length + 5
    rows = [[rng.randrange(radix) for _ in range(width)] for _ in range(50)]
    expected = [ff1_oracle.encrypt(KEY, radix, b"t", row) for row in rows]
    assert ff1.encrypt_many(rows, b"t") == expected
    assert ff1.decrypt_many([*expected, None], b"t") == [*rows, None]
    assert ff1.decrypt(expected[3], b"t") == rows[3]
    array = np.array(rows, np.uint16)
    made = ff1.encrypt_many(array, b"t")
    assert made.dtype == np.uint16 and made.tolist() == expected
    assert (array == rows).all()
    assert ff1.decrypt_many(np.asfortranarray(made), b"t").tolist() == rows
    tweaks = np.frombuffer(rng.randbytes(50 * 4), np.uint8).reshape(50, 4)
    each = ff1.encrypt_many(array, tweaks)
    assert each.tolist() == ff1.encrypt_many(rows, [bytes(tweak) for tweak in tweaks])


@pytest.mark.parametrize("form", ["list", "arrow", "dictionary", "numbers"])
def test_a_key_for_each_row(form):
    rng = random.Random(form)
    names = [f"tenant {i}" for i in range(5)] if form != "numbers" else list(range(-2, 3))
    keys = {name: rng.randbytes(rng.choice((16, 24, 32))) for name in names}
    ff1 = aescomb.Ff1(keys, string.digits)
    plain = values(rng, string.digits, 400, [6, 16, 33], nulls=0.1)
    chosen = [rng.choice(names) if value else None for value in plain]
    tweaks = [rng.randbytes(4) for _ in plain]
    ids = chosen if form == "list" else pa.array(chosen)
    ids = ids.dictionary_encode() if form == "dictionary" else ids
    alone = {name: aescomb.Ff1(key, string.digits) for name, key in keys.items()}
    for given, each in ((b"t", [b"t"] * 400), (tweaks, tweaks)):
        rows = zip(plain, chosen, each)
        expected = [value and alone[name].encrypt(value, tweak) for value, name, tweak in rows]
        for column in (plain, pa.array(plain), pa.chunked_array([plain[:7], plain[7:]])):
            made = ff1.encrypt_many(column, given, ids=ids, threads=3)
            assert list(made) == expected
            assert list(ff1.decrypt_many(made, given, ids=ids)) == plain
    assert ff1.decrypt(alone[names[3]].encrypt("123456"), id=names[3]) == "123456"


def test_wrong_ids():
    ff1 = aescomb.Ff1({"a": KEY, 7: bytes(32)}, "01")
    row = "01" * 10
    with pytest.raises(aescomb.InputError) as caught:
        ff1.encrypt_many([row, row], ids=["a", "b"])
    assert (caught.value.message, caught.value.field) == (1, "key")
    with pytest.raises(aescomb.InputError) as caught:
        ff1.encrypt_many([None, row], ids=["a", None])
    assert (caught.value.message, caught.value.field) == (1, "null")
    with pytest.raises(aescomb.InputError) as caught:
        ff1.encrypt_many([row, row], ids=["a"])
    assert caught.value.field == "count"
    for call in (
        lambda: ff1.encrypt_many([row]),
        lambda: ff1.encrypt(row),
        lambda: DIGITS.encrypt_many(["123456"], ids=["a"]),
        lambda: DIGITS.encrypt("123456", id="a"),
        lambda: ff1.encrypt_many([row], ids=b"a"),
        lambda: aescomb.Ff1({1.5: KEY}, "01"),
        lambda: aescomb.Ff1({"a": "key"}, "01"),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError):
        aescomb.Ff1({}, "01")
    with pytest.raises(aescomb.InputError):
        aescomb.Ff1({"a": KEY, "b": b"short"}, "01")


def test_nothing():
    assert DIGITS.encrypt_many([]) == []
    assert DIGITS.encrypt_many([None]) == [None]
    assert pa.array(DIGITS.encrypt_many(pa.array([], pa.string()))).type == pa.string()
    assert list(DIGITS.encrypt_many(pa.array([], pa.large_string()), [])) == []
    parts = pa.chunked_array([], pa.string())
    assert pa.chunked_array(DIGITS.encrypt_many(parts)).type == pa.string()
    assert aescomb.Ff1(KEY, radix=10).encrypt_many(np.zeros((0, 7), np.uint16)).shape == (0, 7)


@pytest.mark.parametrize("tweaked", [False, True])
def test_threads(tweaked):
    rng = random.Random(7)
    column = pa.array(values(rng, string.digits, 100_000, [6, 15, 16, 19, 40], 0.1))
    tweaks = [b"%d" % i for i in range(len(column))] if tweaked else b"t"
    made = pa.array(DIGITS.encrypt_many(column, tweaks))
    assert pa.array(DIGITS.encrypt_many(column, tweaks, threads=4)) == made
    assert pa.array(DIGITS.decrypt_many(made, tweaks, threads=3)) == column
    damaged = column.to_pylist()
    damaged[77_777] = damaged[99_999] = "12345678x"
    for threads in (1, 4):
        with pytest.raises(aescomb.InputError) as caught:
            DIGITS.encrypt_many(pa.array(damaged), tweaks, threads=threads)
        assert caught.value.message == 77_777

    results = [None] * 4

    def work(i):
        results[i] = pa.array(DIGITS.encrypt_many(column, tweaks))

    workers = [threading.Thread(target=work, args=[i]) for i in range(len(results))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(result == made for result in results)


def refused(call, message, field, given, allowed, position=None):
    with pytest.raises(aescomb.InputError) as caught:
        call()
    error = caught.value
    found = (error.message, error.field, error.given, error.allowed, error.position)
    assert found == (message, field, given, allowed, position), error
    return str(error)


def test_mistakes():
    for plain in (["123456", None, "12a456"], pa.array(["123456", None, "12a456"])):
        text = refused(
            lambda plain=plain: DIGITS.encrypt_many(plain),
            2,
            "character",
            ord("a"),
            "'0' to '9'",
            2,
        )
        assert text == "message 2: character 'a' at position 2; allowed: '0' to '9'"
        with pytest.raises(aescomb.InputError):
            DIGITS.decrypt_many(plain)
    refused(lambda: DIGITS.encrypt("1234é6"), 0, "character", 0xC3, "'0' to '9'", 4)
    refused(lambda: DIGITS.encrypt_many(["12345"]), 0, "value_length", 5, "6 to 65536")
    refused(lambda: DIGITS.encrypt_many(["1" * 65_537]), 0, "value_length", 65_537, "6 to 65536")
    refused(lambda: DIGITS.encrypt_many([""]), 0, "value_length", 0, "6 to 65536")
    tweak = bytes(65_537)
    refused(lambda: DIGITS.encrypt("123456", tweak), None, "tweak_length", 65_537, "at most 65536")
    many = ["123456", "123456"]
    refused(
        lambda: DIGITS.encrypt_many(many, [b"", tweak]), 1, "tweak_length", 65_537, "at most 65536"
    )
    refused(lambda: DIGITS.encrypt_many(many, [b"1"]), None, "count", 1, "2")
    refused(
        lambda: DIGITS.encrypt_many(many, [b"1", None]),
        1,
        "null",
        0,
        "bytes, as the message is not null",
    )
    parts = pa.chunked_array([["123456"], ["12345x"]])
    refused(lambda: DIGITS.encrypt_many(parts), 1, "character", ord("x"), "'0' to '9'", 5)
    kilo = aescomb.Ff1(KEY, radix=1000)
    for numeral, shown in ((1000, 1000), (65_536, 65_536), (-1, -1), (1 << 100, 1 << 100)):
        call = lambda numeral=numeral: kilo.encrypt_many([[1, 2], [0, numeral]])  # noqa: E731
        refused(call, 1, "numeral", shown, "at most 999", 1)
    array = np.array([[1, 2], [1000, 0]], np.uint16)
    refused(lambda: kilo.encrypt_many(array), 1, "numeral", 1000, "at most 999", 0)
    for key in (b"", bytes(15), bytes(33)):
        refused(
            lambda key=key: aescomb.Ff1(key, "01"), None, "key_length", len(key), "16, 24 or 32"
        )
    refused(lambda: aescomb.Ff1(KEY, radix=1), None, "radix", 1, "2 to 65536")
    refused(lambda: aescomb.Ff1(KEY, radix=65_537), None, "radix", 65_537, "2 to 65536")
    refused(lambda: aescomb.Ff1(KEY, "x"), None, "radix", 1, "2 to 65536")
    with pytest.raises(aescomb.InputError) as caught:
        aescomb.Ff1(KEY, "0120")
    assert (caught.value.field, caught.value.position) == ("alphabet", 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: aescomb.Ff1(KEY),
        lambda: aescomb.Ff1(KEY, "01", radix=2),
        lambda: aescomb.Ff1("key", "01"),
        lambda: DIGITS.encrypt_many("123456"),
        lambda: DIGITS.encrypt_many(b"123456"),
        lambda: DIGITS.encrypt_many([b"123456"]),
        lambda: DIGITS.encrypt_many([123456]),
        lambda: DIGITS.encrypt_many({"123456": 1}),
        lambda: DIGITS.encrypt_many(pa.array([123456])),
        lambda: DIGITS.encrypt_many(["123456"], "tweak"),
        lambda: DIGITS.encrypt_many(["123456"], ["tweak"]),
        lambda: DIGITS.encrypt_many(["123456"], [(b"a", b"b")]),
        lambda: DIGITS.encrypt(b"123456"),
        lambda: DIGITS.encrypt("123456", "tweak"),
        lambda: aescomb.Ff1(KEY, radix=1000).encrypt_many(["123456"]),
        lambda: aescomb.Ff1(KEY, radix=1000).encrypt_many([1, 2]),
        lambda: aescomb.Ff1(KEY, radix=1000).encrypt_many([[1.5, 2]]),
        lambda: aescomb.Ff1(KEY, radix=1000).encrypt_many(np.zeros((2, 2), np.int32)),
    ],
)
def test_wrong_types(call):
    with pytest.raises(TypeError):
        call()


def test_damaged_columns():
    column = pa.array(["123456", "654321"])
    offsets = pa.py_buffer(np.array([0, 6, 4], np.int32))
    damaged = pa.Array.from_buffers(pa.string(), 2, [None, offsets, column.buffers()[2]])
    with pytest.raises(ValueError):
        DIGITS.encrypt_many(damaged)


def test_shown():
    assert repr(DIGITS) == '<aescomb.Ff1 of "0123456789">'
    assert repr(aescomb.Ff1(KEY, radix=1000)) == "<aescomb.Ff1 of radix 1000>"
    assert (DIGITS.alphabet, DIGITS.radix, DIGITS.min_length) == (string.digits, 10, 6)
