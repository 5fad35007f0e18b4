"""Engines of one process, there and back."""

import pyarrow as pa
import pytest

from aescomb.columns import Cipher, Keyset, Worker, local
from conftest import SPEC, people

TABLE = people(500).select(["id", "name"])


@pytest.fixture(scope="module")
def cipher():
    spec = {"dataset": "people", "columns": {"name": SPEC["columns"]["name"]}}
    return Cipher(spec, Keyset("aes-256-siv"), TABLE.schema)


def expected(cipher):
    return cipher.encrypt(TABLE)["name"].to_pylist()


def test_polars(cipher):
    import polars as pl

    frame = pl.from_arrow(TABLE).with_columns(name=pl.col("name").cast(pl.String))
    spec = {"dataset": "people", "columns": {"name": SPEC["columns"]["name"]}}
    keys = Keyset("aes-256-siv")
    cipher = Cipher(spec, keys, pa.schema({"name": pa.string_view()}))
    encrypted = frame.with_columns(local.polars(cipher, "encrypt", "name"))
    assert encrypted.schema["name"] == pl.Binary
    assert (
        encrypted["name"].to_list()
        == Cipher(spec, keys, TABLE.schema).encrypt(TABLE)["name"].to_pylist()
    )
    opened = encrypted.with_columns(local.polars(cipher, "decrypt", "name"))
    assert opened["name"].to_list() == TABLE["name"].to_pylist()


def test_duckdb(cipher):
    import duckdb

    connection = duckdb.connect()
    local.duckdb(connection, cipher, "name")
    connection.register("people", TABLE)
    sql = "select encrypt_name(name) e, decrypt_name(e) d from people order by id"
    rows = connection.execute(sql).fetchall()
    assert [e for e, _ in rows] == expected(cipher)
    assert [d for _, d in rows] == TABLE["name"].to_pylist()


def test_datafusion(cipher):
    from datafusion import SessionContext

    context = SessionContext()
    local.datafusion(context, cipher, "name")
    context.from_arrow(TABLE, "people")
    sql = (
        "select e, decrypt_name(e) d from (select id, encrypt_name(name) e from people) order by id"
    )
    rows = context.sql(sql).to_pylist()
    assert [row["e"] for row in rows] == expected(cipher)
    assert [row["d"] for row in rows] == TABLE["name"].to_pylist()


def test_daft(wrapped):
    import daft

    spec = {"dataset": "people", "columns": {"name": SPEC["columns"]["name"]}}
    # Daft's text is large.
    schema = pa.schema({"name": pa.large_string()})
    cipher = Cipher(spec, wrapped.open(), schema)
    encrypt, decrypt = (Worker(way, cipher.header, wrapped) for way in ("encrypt", "decrypt"))
    frame = daft.from_arrow(TABLE)
    encrypted = frame.with_column("name", local.daft(encrypt, "name"))
    opened = encrypted.with_column("name", local.daft(decrypt, "name"))
    large = TABLE.select(["name"]).cast(schema)
    assert encrypted.sort("id").to_pydict()["name"] == cipher.encrypt(large)["name"].to_pylist()
    assert opened.sort("id").to_pydict()["name"] == TABLE["name"].to_pylist()
