"""Tables, and the columns of other libraries."""

import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import aescomb

SIV = aescomb.Key("siv", bytes(range(32)))
GCM = aescomb.Key("gcm", bytes(range(16)))
CTR = aescomb.Key("ctr", bytes(range(16)))
COUNT = 100
TABLE = pa.table(
    {
        "id": pa.array(range(COUNT), pa.int32()),
        "name": pa.array([None if i % 7 == 0 else f"name {i}" for i in range(COUNT)]),
        "born": pa.array([None if i % 5 == 0 else 1900 + i for i in range(COUNT)]),
        "kind": pa.array([["a", "b", None][i % 3] for i in range(COUNT)]).dictionary_encode(),
    },
    metadata={"of": "people"},
)
NONCES = random.Random(5).randbytes(12 * COUNT)
COLUMNS = {
    "name": {"key": GCM, "nonces": NONCES, "associated_data": "id"},
    "born": {"key": SIV, "associated_data": b"born"},
    "kind": SIV,
}


def in_parts(table):
    return pa.concat_tables([table[:30], table[30:30], table[30:]])


@pytest.mark.parametrize(
    "table",
    [TABLE, TABLE[20:50], TABLE[:0], in_parts(TABLE), TABLE.to_batches()[0]],
    ids=["table", "slice", "empty", "parts", "batch"],
)
def test_tables(table):
    columns = COLUMNS | {"name": COLUMNS["name"] | {"nonces": NONCES[: 12 * table.num_rows]}}
    sealed = aescomb.seal_table(table, columns)
    sealed.validate(full=True)
    assert type(sealed) is type(table)
    assert sealed.schema.names == table.schema.names
    assert sealed.schema.metadata == table.schema.metadata
    assert sealed.column("id") == table.column("id")
    for name in columns:
        assert sealed.column(name).null_count == table.column(name).null_count
        call = dict(columns[name]) if name != "kind" else {"key": SIV}
        if name == "name":
            call["associated_data"] = table.column("id")
        key = call.pop("key")
        nonces = call.pop("nonces", None)
        expected = key.seal_many(nonces, table.column(name), **call)
        assert list(expected) == sealed.column(name).to_pylist()
    opened = aescomb.open_table(sealed, columns, schema=table.schema)
    assert opened.equals(table, check_metadata=True)
    if isinstance(table, pa.Table):
        assert [part.num_rows for part in sealed.to_batches()] == [
            part.num_rows for part in table.to_batches()
        ]


def test_lists_of_columns():
    sealed = aescomb.seal_table(TABLE, ["name", "born"], SIV)
    assert sealed["kind"] == TABLE["kind"]
    opened = aescomb.open_table(sealed, ("born", "name"), SIV, schema=TABLE.schema)
    assert opened == TABLE
    binary = aescomb.open_table(sealed, ["name"], SIV)
    assert binary["name"].type == pa.binary()
    assert binary["born"] == sealed["born"]
    numbers = bytes(16 * COUNT)
    encrypted = aescomb.seal_table(TABLE, {"born": {"key": CTR, "nonces": numbers}})
    columns = {"born": {"key": CTR, "nonces": numbers, "to": "int64"}}
    assert aescomb.open_table(encrypted, columns) == TABLE


def test_keys_by_rows():
    keys = aescomb.Keys({kind: aescomb.Key("siv", kind.encode() * 32) for kind in "ab"})
    kinds = pa.array([["a", "b"][i % 3 % 2] for i in range(COUNT)])
    table = TABLE.set_column(3, "kind", kinds)
    columns = {"name": {"key": keys, "ids": "kind"}, "born": {"key": keys, "ids": kinds}}
    sealed = aescomb.seal_table(table, columns)
    for name in columns:
        expected = keys.of(kinds).seal_many(None, table[name])
        assert sealed[name].to_pylist() == list(expected)
    assert aescomb.open_table(sealed, columns, schema=table.schema) == table
    with pytest.raises(aescomb.InputError, match="message 2: null in ids"):
        aescomb.seal_table(TABLE, {"name": {"key": keys, "ids": "kind"}})


def test_failures():
    sealed = aescomb.seal_table(TABLE, ["name", "born"], SIV)
    names = sealed["name"].to_pylist()
    names[4], names[5] = names[5], bytes(40)
    forged = sealed.set_column(1, "name", [names])
    with pytest.raises(aescomb.OpenError) as caught:
        aescomb.open_table(forged, ["name", "born"], SIV)
    assert caught.value.indices == [5] and caught.value.__notes__ == ["column 'name'"]
    opened, failed = aescomb.open_table(
        forged, ["name", "born"], SIV, schema=TABLE.schema, on_failure="return"
    )
    assert failed == {"name": [5]}
    assert opened["name"][4:6].to_pylist() == [TABLE["name"][5].as_py(), None]
    assert opened["born"] == TABLE["born"]
    with pytest.raises(aescomb.InputError, match="message 1: nonce of 0") as caught:
        aescomb.seal_table(TABLE, ["name"], GCM)
    assert caught.value.__notes__ == ["column 'name'"]


def test_mistakes():
    lists = pa.table({"a": [[1]], "b": [b"1"]})
    twice = pa.table([[1], [2]], ["a", "a"])
    for call, error, text in [
        (lambda: aescomb.seal_table(lists, ["a"], SIV), TypeError, "messages: .* not list"),
        (lambda: aescomb.seal_table(lists, ["c"], SIV), KeyError, "one column 'c' .* not 0"),
        (lambda: aescomb.seal_table(twice, ["a"], SIV), KeyError, "one column 'a' .* not 2"),
        (lambda: aescomb.seal_table(lists, "b", SIV), TypeError, "not str"),
        (lambda: aescomb.seal_table(lists, ["b"]), TypeError, r"columns\['b'\]: expected a Key or"),
        (lambda: aescomb.seal_table(lists, {"b": 7}), TypeError, r"columns\['b'\]: .* not int"),
        (
            lambda: aescomb.seal_table(lists, ["b"], aescomb.Key("cmac", bytes(16))),
            TypeError,
            "cmac encrypts nothing",
        ),
        (
            lambda: aescomb.seal_table(lists, {"b": {"key": SIV, "associated_data": "c"}}),
            KeyError,
            "c",
        ),
        (lambda: aescomb.seal_table(7, ["b"], SIV), TypeError, "int|Expected"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_frames():
    frame = pl.DataFrame(TABLE)
    sealed = pl.DataFrame(aescomb.seal_table(frame, ["name", "born"], SIV))
    opened = aescomb.open_table(sealed, ["name", "born"], SIV, schema=pa.table(frame).schema)
    assert pl.DataFrame(opened).equals(frame)
    frame = TABLE.to_pandas()
    sealed = aescomb.seal_table(frame, ["name", "born", "kind"], SIV)
    opened = aescomb.open_table(
        sealed, ["name", "born", "kind"], SIV, schema=pa.table(frame).schema
    )
    pd.testing.assert_frame_equal(opened.to_pandas(), frame)


def test_series_of_pandas():
    for series in (
        pd.Series(["one", None, "three"]),
        pd.Series([1, 2, 3]),
        pd.Series([1, None, 3], dtype="Int16"),
        pd.Series([1.5, None]),
        pd.Series([True, False]),
        pd.Series(["x", "y", None, "x"], dtype="category"),
        pd.to_datetime(pd.Series(["2020-01-01", None])),
        pd.Series([b"one", None], dtype=pd.ArrowDtype(pa.binary())),
        pd.Series(["one", "two"], index=[7, 3])[::-1],
    ):
        column = pa.array(series, from_pandas=True)
        sealed = pa.array(SIV.seal_many(None, series))
        assert sealed.to_pylist() == list(SIV.seal_many(None, column))
        of = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        opened = pa.array(SIV.open_many(None, sealed, to=of))
        assert opened.to_pylist() == column.to_pylist()
        kept = pd.Series(sealed, dtype=pd.ArrowDtype(sealed.type))
        assert list(SIV.open_many(None, kept)) == list(SIV.open_many(None, sealed))


def test_arrays_of_objects():
    values = np.array([b"one", None, b"", bytearray(b"four")], object)
    expected = SIV.seal_many(None, [b"one", None, b"", b"four"])
    assert SIV.seal_many(None, values) == expected and expected[1] is None
    sealed = np.array(expected, object)
    assert SIV.open_many(None, sealed) == [b"one", None, b"", b"four"]
    nonces = np.array([bytes(12), None, bytes(12), bytes(12)], object)
    assert GCM.seal_many(nonces, values) == GCM.seal_many(bytes(48), values)
    with pytest.raises(TypeError, match=r"messages\[1\]: expected a bytes-like object, not float"):
        SIV.seal_many(None, np.array([b"one", float("nan")], object))
