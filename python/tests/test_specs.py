"""Tables by specs: types, parts, mistakes; and the command."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import aescomb
from aescomb.columns import Cipher, Failure, Keyset, decrypt_table, encrypt_table

SIV, GCM, PRF = Keyset("aes-256-siv"), Keyset("aes-256-gcm"), Keyset("aes-256-cmac-prf")
KEYS = [SIV, GCM, PRF]
COUNT = 100
TABLE = pa.table(
    {
        "id": pa.array(range(COUNT), pa.int32()),
        "name": pa.array([None if i % 7 == 0 else f"name {i}" for i in range(COUNT)]),
        "born": pa.array([None if i % 5 == 0 else 1900 + i for i in range(COUNT)]),
        "kind": pa.array([["a", "b", None][i % 3] for i in range(COUNT)]).dictionary_encode(),
        "list": pa.array([[i] for i in range(COUNT)]),
    },
    metadata={"of": "people"},
)
SPEC = {
    "dataset": "people",
    "columns": {
        "name": {"encryption": "deterministic", "format": "tink"},
        "born": {"encryption": "randomized", "format": "plain"},
        "kind": {"encryption": "deterministic", "format": "plain"},
    },
}


def one(encryption="randomized", kind="tink", **more):
    return {"dataset": "d", "columns": {"v": {"encryption": encryption, "format": kind, **more}}}


def in_parts(table):
    return pa.concat_tables([table[:30], table[30:30], table[30:]])


@pytest.mark.parametrize(
    "table",
    [TABLE, TABLE[20:50], TABLE[:0], TABLE[7:8], in_parts(TABLE), TABLE.to_batches()[0]],
    ids=["table", "slice", "empty", "one null", "parts", "batch"],
)
def test_tables(table):
    encrypted = encrypt_table(table, SPEC, KEYS)
    encrypted.validate(full=True)
    assert type(encrypted) is type(table)
    assert encrypted.schema.names == table.schema.names
    assert encrypted.schema.metadata[b"of"] == b"people"
    assert json.loads(encrypted.schema.metadata[b"aescomb"])["dataset"] == "people"
    for name in ["id", "list"]:
        assert encrypted.column(name) == table.column(name)
    for name in SPEC["columns"]:
        assert encrypted.column(name).null_count == table.column(name).null_count
    if isinstance(table, pa.Table):
        for name in table.schema.names:
            parts = [len(part) for part in table.column(name).chunks]
            assert [len(part) for part in encrypted.column(name).chunks] == parts
    opened = decrypt_table(encrypted, KEYS)
    assert opened == table
    assert opened.schema.metadata == table.schema.metadata


TYPES = [
    pa.array([b"a", None, b""], pa.binary()),
    pa.array([b"a", None, b""], pa.large_binary()),
    pa.array([b"a" * 20, None, b""], pa.binary_view()),
    pa.array([b"abc", None, b"def"], pa.binary(3)),
    pa.array(["a", None, "é"], pa.string()),
    pa.array(["a", None, "é"], pa.large_string()),
    pa.array(["a" * 20, None, "é"], pa.string_view()),
    pa.array([True, None, False]),
    *[
        pa.array([7, None, 100], of)
        for of in [
            *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
            *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        ]
    ],
    pa.array([np.float16(1.5), None, np.float16(-2)], pa.float16()),
    pa.array([1.5, None, -2], pa.float32()),
    pa.array([1.5, None, float("nan")], pa.float64())[:2],
    pa.array([1, None, 2], pa.int32()).cast(pa.date32()),
    pa.array([86_400_000, None, 0], pa.int64()).cast(pa.date64()),
    pa.array([1, None, 2], pa.int32()).cast(pa.time32("s")),
    pa.array([1, None, 2], pa.int64()).cast(pa.time64("ns")),
    pa.array([1, None, 2], pa.int64()).cast(pa.timestamp("us")),
    pa.array([1, None, 2], pa.int64()).cast(pa.timestamp("ns", "Europe/Berlin")),
    pa.array([1, None, 2], pa.int64()).cast(pa.duration("ms")),
    pa.array([1, None, 2]).cast(pa.decimal128(22, 2)),
    pa.array([1, None, 2]).cast(pa.decimal256(70, 5)),
    pa.array([(1, 2, 3), None, (0, -1, 5)], pa.month_day_nano_interval()),
    pa.array(["a", None, "a"]).dictionary_encode(),
    pa.array([1, None, 1]).dictionary_encode(),
]


@pytest.mark.parametrize("column", TYPES, ids=lambda column: str(column.type))
@pytest.mark.parametrize("encryption", ["deterministic", "randomized"])
@pytest.mark.parametrize("kind", ["tink", "plain"])
def test_types(column, encryption, kind):
    for part in [column, column[1:], column[:0], column[1:2]]:
        table = pa.table({"v": part})
        encrypted = encrypt_table(table, one(encryption, kind), KEYS)
        encrypted.validate(full=True)
        opened = decrypt_table(encrypted, KEYS)
        assert opened.schema == table.schema
        # A dictionary may come back with its values in other places.
        plain = getattr(column.type, "value_type", column.type)
        assert opened["v"].cast(plain) == table["v"].cast(plain)


def test_random_columns():
    """Values, nulls, parts and slices of random lengths, every way."""
    ways = [
        ("tink", "aes-256-gcm"),
        ("plain", "aes-256-cmac-prf"),
        ("spark", "aes-128-cbc-pkcs7"),
        ("clickhouse", "aes-256-gcm"),
        ("tink", "aes-256-siv"),
    ]
    for seed in range(60):
        rng = random.Random(seed)
        values = [
            None if rng.random() < 0.2 else rng.randbytes(rng.choice([0, 1, 15, 16, 17, 200]))
            for _ in range(rng.choice([0, 1, 2, 40, 1100]))
        ]
        column = pa.array(values, rng.choice([pa.binary(), pa.large_binary(), pa.binary_view()]))
        cuts = sorted(rng.randrange(len(values) + 1) for _ in range(rng.randrange(4)))
        parts = [column[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)])]
        table = pa.table({"v": pa.chunked_array(parts)})
        kind, key = ways[seed % len(ways)]
        encryption = "deterministic" if key == "aes-256-siv" else "randomized"
        more = {"nonces": "n"} if kind == "clickhouse" else {}
        keys = Keyset(key)
        encrypted = encrypt_table(table, one(encryption, kind, **more), keys)
        assert decrypt_table(encrypted, keys) == table, (seed, kind)


def test_frames():
    frames = [
        pl.DataFrame({"v": ["a", None]}),
        pd.DataFrame({"v": ["a", None]}),
    ]
    for frame in frames:
        encrypted = encrypt_table(frame, one(), GCM)
        assert decrypt_table(encrypted, GCM)["v"].to_pylist() == ["a", None]


def test_threads():
    table = pa.table({"v": [f"value {i}" for i in range(120_000)]})
    encrypted = encrypt_table(table, one("deterministic"), SIV, threads=3)
    assert encrypted == encrypt_table(table, one("deterministic"), SIV)
    assert decrypt_table(encrypted, SIV, threads=3) == table


def test_a_key_for_each_row():
    keys = Keyset("aes-256-gcm")
    other = keys.add("aes-128-gcm")
    ids = [keys.primary, None, other, keys.primary]
    table = pa.table({"v": ["a", None, "c", "d"], "tenant": pa.array(ids, pa.int64())})
    spec = one(key_column="tenant")
    encrypted = encrypt_table(in_parts(table), spec, keys)
    for value, i in zip(encrypted["v"].to_pylist(), ids):
        assert value is None or value[:5] == b"\1" + i.to_bytes(4, "big")
    assert decrypt_table(encrypted, keys) == in_parts(table)
    assert decrypt_table(encrypted.select(["v"]), keys)["v"] == table["v"]
    for wrong, reason in [(None, "the key identifier is null"), (3, "unknown key 3")]:
        table = pa.table({"v": ["a", "b"], "tenant": pa.array([other, wrong], pa.int64())})
        with pytest.raises(aescomb.CellError) as error:
            encrypt_table(table, spec, keys)
        assert (error.value.column, error.value.row, error.value.reason) == ("v", 1, reason)


def test_nonces_beside():
    spec = one(kind="clickhouse", nonces="iv")
    for table in [
        TABLE.select(["name"]).rename_columns(["v"]),
        pa.table({"v": pa.array([], "string")}),
    ]:
        table = in_parts(table)
        encrypted = encrypt_table(table, spec, GCM)
        assert encrypted.schema.names == ["v", "iv"]
        assert encrypted["iv"].type == pa.binary(12)
        assert decrypt_table(encrypted, GCM) == table


def test_failures():
    table = in_parts(pa.table({"v": [f"value {i}" for i in range(60)]}))
    encrypted = encrypt_table(table, one(), GCM)
    values = encrypted["v"].to_pylist()
    values[0], values[31] = values[1], b"short"
    values[40] = values[40][:-1] + bytes([values[40][-1] ^ 1])
    values[59] = b"\1\0\0\0\5" + values[59][5:]
    damaged = pa.table({"v": pa.chunked_array([values[:30], values[30:]])})
    damaged = damaged.replace_schema_metadata(encrypted.schema.metadata)
    opened, failures = decrypt_table(damaged, GCM, on_failure="return")
    assert failures == [
        Failure("v", 31, "no key identifier at the beginning"),
        Failure("v", 40, "authentication failed"),
        Failure("v", 59, "unknown key 5"),
    ]
    assert opened["v"].null_count == 3
    assert opened["v"][0].as_py() == "value 1"
    with pytest.raises(aescomb.CellError, match='column "v", row 31: no key identifier') as error:
        decrypt_table(damaged, GCM)
    assert error.value.row == 31
    with pytest.raises(aescomb.CellError, match="unknown key"):
        decrypt_table(encrypted, Keyset("aes-256-gcm"))
    wrong = Keyset()
    wrong.add("aes-256-gcm", bytes(32), "raw")
    with pytest.raises(aescomb.CellError, match="row 0: authentication failed"):
        decrypt_table(encrypted, wrong)


def test_damaged_arrow_columns():
    """What the C data interface hands over is checked."""
    header = Cipher(one(), GCM, pa.schema({"v": pa.string()})).header
    cipher = Cipher.with_header(header, GCM)
    offsets = np.array([0, 5, 2, 7], "int32")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"1234567")]
    damaged = pa.table({"v": pa.Array.from_buffers(pa.string(), 3, buffers)})
    with pytest.raises(ValueError, match="element 1: value offsets 5 and 2") as error:
        cipher.encrypt(damaged)
    assert error.value.__notes__ == ["column 'v'"]


def test_mistakes():
    table = pa.table({"v": ["a"], "w": ["b"]})
    for spec, keys, words in [
        (one(format="nonsense"), GCM, "unknown variant"),
        (one("deterministic"), GCM, "a key for aes-256-siv"),
        (one("randomized", "plain"), GCM, "aes-256-cmac-prf"),
        ({"dataset": "d"}, GCM, "columns"),
        (one(key=3), GCM, "key 3: unknown key"),
        (one(limit=5), Keyset(), "no keyset"),
    ]:
        with pytest.raises(aescomb.ColumnError, match=words):
            encrypt_table(table, spec, keys)
    with pytest.raises(aescomb.ColumnError, match="no such column"):
        encrypt_table(table.select(["w"]), one(), GCM)
    with pytest.raises(ValueError, match="give a spec"):
        decrypt_table(table, GCM)
    with pytest.raises(ValueError, match="encrypted already"):
        encrypt_table(encrypt_table(table, one(), GCM), one(), GCM)
    with pytest.raises(aescomb.ColumnError, match="binary values"):
        decrypt_table(table, GCM, one())
    with pytest.raises(ValueError, match="'raise' or 'return'"):
        Cipher(one(), GCM, table.schema).decrypt(table, on_failure="skip")
    with pytest.raises(aescomb.ColumnError, match="Int64; allowed: Utf8"):
        Cipher(one(), GCM, table.schema).encrypt(pa.table({"v": [1]}))
    numbers = pa.table({"v": [[1]]})
    with pytest.raises(TypeError, match="list"):
        encrypt_table(numbers, one(), GCM)
    cipher = Cipher(one(limit=3), GCM, table.schema)
    many = pa.table({"v": ["a"] * 4})
    with pytest.raises(aescomb.ColumnError, match="3 values under random nonces"):
        cipher.encrypt(many)


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "aescomb.columns", *map(str, arguments)],
        capture_output=True,
        text=True,
        **options,
    )


SPEC_TOML = """
dataset = "people"

[columns.name]
encryption = "deterministic"
format = "tink"

[columns.born]
encryption = "randomized"
format = "plain"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC_TOML)
    people = TABLE.drop(["list"])
    pa.parquet.write_table(
        people, tmp_path / "people.parquet", row_group_size=30, compression="none"
    )
    return tmp_path


def test_command(folder):
    people, keys = folder / "people.parquet", folder / "keys"
    done = command(
        "encrypt",
        people,
        folder / "a.parquet",
        "--spec",
        folder / "spec.toml",
        "--keys",
        keys,
        "--create-keys",
    )
    assert done.returncode == 0, done.stderr
    assert "encrypted: files 1, rows 100" in done.stderr
    assert sorted(os.listdir(keys)) == ["aes-256-cmac-prf.json", "aes-256-siv.json"]
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in keys.iterdir())
    # pyarrow reads it, and so do we from pyarrow.
    table = pa.parquet.read_table(folder / "a.parquet")
    read = [Keyset.from_json(file.read_text()) for file in keys.iterdir()]
    assert decrypt_table(table, read) == TABLE.drop(["list"])
    assert b"name 12" not in (folder / "a.parquet").read_bytes()
    assert b"name 12" in people.read_bytes()
    shown = command("inspect", "--json", folder / "a.parquet")
    report = json.loads(shown.stdout)
    columns = {column["name"]: column for column in report["columns"]}
    assert report["rows"] == 100 and columns["name"]["encrypted"]["format"] == "tink"
    assert not columns["name"]["statistics"] and columns["id"]["statistics"]
    assert "deterministic, format tink" in command("inspect", folder / "a.parquet").stdout
    done = command("verify", folder / "a.parquet", "--keys", keys)
    assert (done.returncode, done.stdout) == (0, "")
    done = command("decrypt", folder / "a.parquet", folder / "b.parquet", "--keys", keys)
    assert done.returncode == 0, done.stderr
    assert pa.parquet.read_table(folder / "b.parquet") == TABLE.drop(["list"])
    # As written by pyarrow.
    encrypted = encrypt_table(TABLE.drop(["list"]), folder / "spec.toml", read)
    pa.parquet.write_table(encrypted, folder / "c.parquet")
    done = command("decrypt", folder / "c.parquet", folder / "d.parquet", "--keys", keys)
    assert done.returncode == 0, done.stderr
    assert pa.parquet.read_table(folder / "d.parquet") == TABLE.drop(["list"])


def test_command_rotates(folder):
    keys, wrapping = folder / "siv.json", folder / "wrapping.json"
    spec = folder / "spec.toml"
    spec.write_text(SPEC_TOML.split("[columns.born]")[0])
    for file, of, more in [
        (wrapping, "aes-256-gcm", []),
        (keys, "aes-256-siv", ["--wrapped-by", wrapping]),
    ]:
        done = command("keys", "add", file, "--type", of, *more)
        assert done.returncode == 0, done.stderr
    old = int(done.stdout)
    assert "encryptedKeyset" in keys.read_text()
    given = ["--keys", keys, "--wrapped-by", wrapping]
    done = command(
        "encrypt", folder / "people.parquet", folder / "a.parquet", "--spec", spec, *given
    )
    assert done.returncode == 0, done.stderr
    new = int(
        command("keys", "add", keys, "--type", "aes-256-siv", "--wrapped-by", wrapping).stdout
    )
    for action, key in [("primary", new), ("disable", old)]:
        done = command("keys", action, keys, key, "--wrapped-by", wrapping)
        assert done.returncode == 0, done.stderr
    shown = command("keys", "list", keys, "--wrapped-by", wrapping).stdout
    assert [line.split() for line in shown.splitlines()] == [
        [str(old), "disabled", "aes-256-siv"],
        [str(new), "primary", "aes-256-siv"],
    ]
    done = command("rotate", folder / "a.parquet", folder / "b.parquet", *given)
    assert done.returncode == 2 and f"key {old} is not enabled" in done.stderr, done.stderr
    assert not (folder / "b.parquet").exists()
    command("keys", "enable", keys, old, "--wrapped-by", wrapping)
    done = command("rotate", folder / "a.parquet", folder / "b.parquet", *given)
    assert done.returncode == 0, done.stderr
    command("keys", "remove", keys, old, "--wrapped-by", wrapping)
    done = command("verify", folder / "b.parquet", *given)
    assert done.returncode == 0, done.stderr
    done = command("verify", folder / "a.parquet", *given)
    assert done.returncode == 1
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == COUNT - TABLE["name"].null_count
    assert lines[0]["column"] == "name" and lines[0]["reason"] == f"unknown key {old}"


def test_command_wraps_keysets(folder):
    """Files that are encrypted under the plain keyset are decrypted under the wrapped one."""
    plain, wrapped = folder / "siv.json", folder / "wrapped.json"
    wrapping, spec = folder / "wrapping.json", folder / "spec.toml"
    spec.write_text(SPEC_TOML.split("[columns.born]")[0])
    for file, of in [(wrapping, "aes-256-gcm"), (plain, "aes-256-siv")]:
        assert command("keys", "add", file, "--type", of).returncode == 0
    a, b = folder / "a.parquet", folder / "b.parquet"
    done = command("encrypt", folder / "people.parquet", a, "--spec", spec, "--keys", plain)
    assert done.returncode == 0, done.stderr
    before = plain.read_text()

    def wrap(*arguments):
        return command("keys", "wrap", *arguments, "--wrapped-by", wrapping)

    done = wrap(plain, wrapped)
    assert done.returncode == 0, done.stderr
    assert "encryptedKeyset" in wrapped.read_text() and plain.read_text() == before
    assert wrapped.stat().st_mode & 0o777 == 0o600
    given = ["--overwrite", "--wrapped-by", wrapping]
    # A plain one is refused where wrapped ones are wanted.
    assert command("decrypt", a, b, "--keys", plain, *given).returncode == 2
    done = command("decrypt", a, b, "--keys", wrapped, *given)
    assert done.returncode == 0, done.stderr
    done = wrap(plain)
    assert done.returncode == 0 and "encryptedKeyset" in plain.read_text()
    done = command("decrypt", a, b, "--keys", plain, *given)
    assert done.returncode == 0, done.stderr
    given = pyarrow.parquet.read_table(folder / "people.parquet")
    assert pyarrow.parquet.read_table(b) == given
    for mistake, text in [
        ((plain,), "it is wrapped"),
        ((wrapping,), "cannot wrap itself"),
        ((folder / "none.json",), "No such file"),
        ((wrapping, wrapped), "cannot wrap itself"),
        ((plain, wrapped), "it is there"),
    ]:
        done = wrap(*mistake)
        assert done.returncode == 2 and text in done.stderr, done.stderr


def test_command_is_killed(tmp_path):
    """A file is complete or absent, and the next run goes on."""
    rows = 300_000
    people = pa.table({"name": [f"somebody {i}" for i in range(rows)]})
    (tmp_path / "in").mkdir()
    names = [f"{i}.parquet" for i in range(6)]
    for name in names:
        pa.parquet.write_table(people, tmp_path / "in" / name, row_group_size=50_000)
    (tmp_path / "spec.toml").write_text(SPEC_TOML.split("[columns.born]")[0])
    arguments = [
        "encrypt",
        tmp_path / "in",
        tmp_path / "out",
        "--spec",
        tmp_path / "spec.toml",
        "--keys",
        tmp_path / "keys",
        "--create-keys",
    ]
    killed = subprocess.Popen([sys.executable, "-m", "aescomb.columns", *map(str, arguments)])
    partial = tmp_path / "out" / ".3.parquet.partial"
    while not partial.exists() and killed.poll() is None:
        time.sleep(0.001)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    there = sorted(os.listdir(tmp_path / "out"))
    assert there[0].endswith(".partial"), there
    complete = there[1:]
    assert complete == names[: len(complete)] and len(complete) < len(names)
    for name in complete:
        assert pa.parquet.read_metadata(tmp_path / "out" / name).num_rows == rows
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    assert f"complete already: files {len(complete)}" in done.stderr
    assert sorted(os.listdir(tmp_path / "out")) == names
    done = command("verify", tmp_path / "out", "--keys", tmp_path / "keys")
    assert done.returncode == 0, done.stderr


def test_command_and_csv(folder):
    pa.csv.write_csv(TABLE.select(["id", "name"]), folder / "in.csv")
    spec = folder / "spec.toml"
    spec.write_text(SPEC_TOML.split("[columns.born]")[0])
    given = ["--spec", spec, "--keys", folder / "keys"]
    done = command("encrypt", folder / "in.csv", folder / "a.csv", *given, "--create-keys")
    assert done.returncode == 0, done.stderr
    done = command("decrypt", folder / "a.csv", folder / "b.csv", *given)
    assert done.returncode == 0, done.stderr
    assert pa.csv.read_csv(folder / "b.csv") == pa.csv.read_csv(folder / "in.csv")
    assert "name" not in "".join((folder / "a.csv").read_text().splitlines()[1:])


def test_command_that_is_wrong(folder):
    for arguments, words in [
        (["encrypt"], "Usage"),
        (["verify", folder / "people.parquet", "--keys", folder / "none.json"], "none.json"),
        (["inspect", folder / "spec.toml"], ".parquet or .csv"),
        (["keys", "list", folder / "spec.toml"], "spec.toml"),
        (["keys", "add", folder / "k.json", "--type", "des"], "key type"),
    ]:
        done = command(*arguments)
        assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)
