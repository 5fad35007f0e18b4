"""Columns of tokens: what they are, mistakes, and the command."""

import json
import random
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest

import aescomb
from aescomb.columns import Failure, Keyset, decrypt_table, encrypt_table

SECRET = bytes(range(32))
KEYS = Keyset()
KEYS.add("aes-256-ff1", SECRET)
DIGITS = "0123456789"
CARDS = ["4111111111111111", None, "378282246310005", "4111111111111111", "000000"]


def spec(alphabet="digits", **more):
    column = {"encryption": "deterministic", "format": "ff1", "alphabet": alphabet, **more}
    return {"dataset": "people", "columns": {"card": column}}


@pytest.mark.parametrize("of", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("shape", ["array", "slice", "parts", "dictionary", "nulls", "empty"])
def test_there_and_back(of, shape):
    column = pa.chunked_array([pa.array(CARDS, of)])
    if shape == "slice":
        column = column[1:4]
    elif shape == "parts":
        column = pa.chunked_array([pa.array(part, of) for part in (CARDS[:2], [], CARDS[2:])])
    elif shape == "dictionary":
        column = pa.chunked_array([pa.DictionaryArray.from_arrays([0, None, 2, 0], CARDS)])
    elif shape == "nulls":
        column = pa.chunked_array([pa.nulls(3, of)])
    elif shape == "empty":
        column = column[:0]
    table = pa.table({"card": column})
    tokens = encrypt_table(table, spec(), KEYS)
    tokens.validate(full=True)
    assert tokens.column("card").type == column.type
    ff1 = aescomb.Ff1(SECRET, DIGITS)
    expected = ff1.encrypt_many(column.to_pylist(), b"people\0card")
    assert tokens.column("card").to_pylist() == expected
    assert decrypt_table(tokens, KEYS) == table


def test_random_texts():
    chance = random.Random(5)
    for alphabet in [DIGITS, "abcdefghijklmnopqrstuvwxyz", "qwertyuiop-", "01"]:
        least = aescomb.Ff1(SECRET, alphabet).min_length
        for tweak in [None, "", "tweak"]:
            lengths = [chance.randrange(least, least + 40) for _ in range(200)]
            values = ["".join(chance.choices(alphabet, k=length)) for length in lengths]
            table = pa.table({"card": values})
            own = spec(alphabet) if tweak is None else spec(alphabet, tweak=tweak)
            tokens = encrypt_table(table, own, KEYS)
            given = b"people\0card" if tweak is None else tweak.encode()
            expected = aescomb.Ff1(SECRET, alphabet).encrypt_many(values, given)
            assert tokens.column("card").to_pylist() == expected
            assert decrypt_table(tokens, KEYS, own) == table


def test_mistakes():
    table = pa.table({"card": pa.chunked_array([["123456", None], ["4111-1111"]])})
    with pytest.raises(aescomb.CellError, match="row 2: character at position 4"):
        encrypt_table(table, spec(), KEYS)
    with pytest.raises(aescomb.CellError, match="row 0: value of 5 characters; allowed: 6 to"):
        encrypt_table(pa.table({"card": ["12345"]}), spec(), KEYS)
    with pytest.raises(aescomb.ColumnError, match="allowed: string"):
        encrypt_table(pa.table({"card": [1]}), spec(), KEYS)
    with pytest.raises(aescomb.ColumnError, match="a key for ff1"):
        encrypt_table(table, spec(), Keyset("aes-256-siv"))
    with pytest.raises(aescomb.ColumnError, match="'1' again"):
        encrypt_table(table, spec("0121"), KEYS)
    tokens = encrypt_table(pa.table({"card": CARDS}), spec(), KEYS)
    damaged = tokens.set_column(0, "card", [["x" * 6, *tokens["card"].to_pylist()[1:]]])
    damaged = damaged.replace_schema_metadata(tokens.schema.metadata)
    opened, failures = decrypt_table(damaged, KEYS, on_failure="return")
    reason = "character at position 0; allowed: those of the alphabet"
    assert failures == [Failure("card", 0, reason)]
    assert opened["card"].to_pylist() == [None, *CARDS[1:]]


def test_another_key_makes_another_text():
    tokens = encrypt_table(pa.table({"card": CARDS}), spec(), KEYS)
    other = Keyset("aes-256-ff1")
    header = json.loads(tokens.schema.metadata[b"aescomb"])
    header["columns"]["card"]["key"] = other.primary
    tokens = tokens.replace_schema_metadata({"aescomb": json.dumps(header)})
    opened = decrypt_table(tokens, other)["card"].to_pylist()
    assert opened != CARDS
    assert [value and len(value) for value in opened] == [value and len(value) for value in CARDS]


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "aescomb.columns", *map(str, arguments)],
        capture_output=True,
        text=True,
    )


def test_command(tmp_path):
    table = pa.table({"card": CARDS * 20})
    pa.parquet.write_table(table, tmp_path / "in.parquet", row_group_size=30)
    (tmp_path / "spec.json").write_text(json.dumps(spec()))
    keys = tmp_path / "keys"
    a, b, c = (tmp_path / f"{name}.parquet" for name in "abc")
    given = ["--spec", tmp_path / "spec.json", "--keys", keys, "--create-keys"]
    done = command("encrypt", tmp_path / "in.parquet", a, *given)
    assert done.returncode == 0, done.stderr
    file = keys / "aes-256-ff1.json"
    shown = command("inspect", a).stdout
    assert "format ff1" in shown and "alphabet of 10 characters" in shown
    old = Keyset.from_json(file.read_text()).primary
    new = int(command("keys", "add", file, "--type", "aes-128-ff1").stdout)
    assert command("keys", "primary", file, new).returncode == 0
    done = command("rotate", a, b, "--keys", keys)
    assert done.returncode == 0, done.stderr
    assert pa.parquet.read_table(a) != pa.parquet.read_table(b)
    assert command("keys", "remove", file, old).returncode == 0
    assert command("verify", b, "--keys", keys).returncode == 0
    assert "unknown key" in command("verify", a, "--keys", keys).stderr
    done = command("decrypt", b, c, "--keys", keys)
    assert done.returncode == 0, done.stderr
    assert pa.parquet.read_table(c) == table
