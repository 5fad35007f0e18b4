"""Measures columns: aescomb beside others, rows per second on one core.

    python columns.py [--rows N] [--bytes N,N,...] [--quick] [--json] [--part N]

A column of text with a tenth of nulls, Arrow in and Arrow out, nonces made inside. Competitors
take turns, round by round, on one thread; figures are medians. Loops in Python go over
a part of the rows, as what they cost does not depend on how many there are. `--quick` ends
within three minutes, and leaves out Spark and chDB, which otherwise are measured if they are
installed; so are polars-encryption, Tink and pycryptodome.

Spark: `local[1]`, its time for a column that it has cached to one that it throws away, less that
of the same without encryption. chDB: `encrypt` over a Parquet file, less the time to read it.
"""

import argparse
import importlib.util
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

import aescomb
from aescomb.columns import Cipher, Keyset

KEY, LONG = bytes(range(32)), bytes(range(64))
# Rows that loops go over.
PART = 20_000

Work = Callable[[], object]


def have(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def column(rows: int, width: int) -> pa.Array:
    rng = random.Random(width)
    text = rng.randbytes(width * 1000).hex()
    values = [
        None if i % 10 == 3 else text[i % 1000 * width : i % 1000 * width + width]
        for i in range(min(rows, 100_000))
    ]
    part = pa.array(values, pa.string())
    parts = [part] * -(-rows // len(part))
    return pa.concat_arrays(parts)[:rows]


def cipher(encryption: str, kind: str, name: str, key: bytes) -> Cipher:
    keys = Keyset()
    keys.add(name, key)
    spec = {"dataset": "d", "columns": {"v": {"encryption": encryption, "format": kind}}}
    return Cipher(spec, keys, pa.schema({"v": pa.string()}))


def ours(values: pa.Array) -> Iterator[tuple[str, int, Work]]:
    rows = len(values)
    gcm, siv = aescomb.Key("gcm", KEY), aescomb.Key("siv", LONG)
    yield "aescomb Key, GCM", rows, lambda: gcm.seal_many("inline", values)
    yield "aescomb Key, SIV", rows, lambda: siv.seal_many(None, values, b"d")
    for name, made in [
        ("aescomb.columns, tink, GCM", cipher("randomized", "tink", "aes-256-gcm", KEY)),
        ("aescomb.columns, plain, GCM", cipher("randomized", "plain", "aes-256-cmac-prf", KEY)),
        ("aescomb.columns, tink, SIV", cipher("deterministic", "tink", "aes-256-siv", LONG)),
    ]:
        yield name, rows, lambda made=made: made.encrypt_column("v", values)


def loops(values: pa.Array) -> Iterator[tuple[str, int, Work]]:
    part = values[:PART]
    gcm, siv = AESGCM(KEY), AESSIV(LONG)

    def of(seal: Callable[[bytes], bytes]) -> Work:
        def work() -> object:
            texts = part.to_pylist()
            sealed = [None if text is None else seal(text.encode()) for text in texts]
            return pa.array(sealed, pa.binary())

        return work

    def random_gcm(text: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + gcm.encrypt(nonce, text, None)

    yield "loop over cryptography, GCM", PART, of(random_gcm)
    yield "loop over cryptography, SIV", PART, of(lambda text: siv.encrypt(text, [b"d"]))
    if have("Crypto"):
        from Crypto.Cipher import AES

        def pycryptodome(text: bytes) -> bytes:
            made = AES.new(LONG, AES.MODE_SIV)
            made.update(b"d")
            sealed, tag = made.encrypt_and_digest(text)
            return tag + sealed

        yield "loop over pycryptodome, SIV", PART, of(pycryptodome)
    if have("tink"):
        import tink
        from tink import aead, daead

        aead.register()
        daead.register()
        handle = tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM)
        primitive = handle.primitive(aead.Aead)
        yield "loop over Tink, GCM", PART, of(lambda text: primitive.encrypt(text, b"d"))
        template = daead.deterministic_aead_key_templates.AES256_SIV
        siv_handle = tink.new_keyset_handle(template).primitive(daead.DeterministicAead)
        seal = siv_handle.encrypt_deterministically
        yield "loop over Tink, SIV", PART, of(lambda text: seal(text, b"d"))


def frames(values: pa.Array) -> Iterator[tuple[str, int, Work]]:
    """Ours through other systems of one process."""
    rows = len(values)
    if have("polars"):
        import polars as pl

        from aescomb.columns import local

        frame = pl.DataFrame({"v": pl.Series(values)})
        keys = Keyset()
        keys.add("aes-256-gcm", KEY)
        spec = {"dataset": "d", "columns": {"v": {"encryption": "randomized", "format": "tink"}}}
        made = Cipher(spec, keys, pa.schema({"v": pa.string_view()}))
        yield (
            "aescomb.columns through Polars, GCM",
            rows,
            lambda: frame.with_columns(local.polars(made, "encrypt", "v")),
        )
    if have("duckdb"):
        import duckdb

        from aescomb.columns import local

        connection = duckdb.connect(config={"threads": 1})
        local.duckdb(connection, cipher("randomized", "tink", "aes-256-gcm", KEY), "v")
        connection.register("t", pa.table({"v": values}))
        # Sums, so that nothing but the encryption takes long.
        sql = "select sum(octet_length(encrypt_v(v))) from t"
        yield (
            "aescomb.columns through DuckDB, GCM",
            rows,
            lambda: connection.execute(sql).fetchall(),
        )


def clickhouse(values: pa.Array, folder: Path) -> Iterator[tuple[str, int, Work, Work]]:
    import chdb

    path = folder / "values.parquet"
    pa.parquet.write_table(pa.table({"v": values}), path)
    key = f"unhex('{KEY.hex()}')"
    encrypted = f"encrypt('aes-256-gcm', v, {key}, substring(concat(toString(rand64()), v), 1, 12))"

    def ask(what: str) -> Work:
        sql = f"select sum(length({what})) from file('{path}', Parquet) settings max_threads = 1"
        return lambda: chdb.query(sql, "CSV").bytes()

    yield "chDB encrypt, GCM", len(values), ask(encrypted), ask("v")


def spark(values: pa.Array) -> Iterator[tuple[str, int, Work, Work]]:
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    from aescomb.columns import WrappedKeys
    from aescomb.columns import spark as columns

    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    frame = session.createDataFrame(pa.table({"v": values})).repartition(4).cache()
    frame.count()
    wrapping = Keyset("aes-256-gcm").to_json()
    keys = Keyset()
    keys.add("aes-256-gcm", KEY)
    wrapped = WrappedKeys(keys, lambda: Keyset.from_json(wrapping))
    spec = {"dataset": "d", "columns": {"v": {"encryption": "randomized", "format": "spark"}}}
    literal = f.lit(bytearray(KEY))

    def thrown_away(frame: Any) -> Work:
        return lambda: frame.write.format("noop").mode("overwrite").save()

    own = frame.select(f.aes_encrypt("v", literal).alias("v"))
    ours, _ = columns.encrypt(frame, spec, wrapped)

    @f.udf("binary")
    def rows(text: str) -> Any:
        nonce = os.urandom(12)
        return None if text is None else nonce + AESGCM(KEY).encrypt(nonce, text.encode(), None)

    @f.pandas_udf("binary")
    def pandas(texts: Any) -> Any:
        made = AESGCM(KEY)

        def seal(text: str) -> Any:
            nonce = os.urandom(12)
            return None if text is None else nonce + made.encrypt(nonce, text.encode(), None)

        return texts.map(seal)

    for name, work in [
        ("Spark aes_encrypt, GCM", own),
        ("Spark row UDF over cryptography, GCM", frame.select(rows("v"))),
        ("Spark pandas UDF over cryptography, GCM", frame.select(pandas("v"))),
        ("aescomb.columns through Spark, GCM", ours),
    ]:
        yield name, len(values), thrown_away(work), thrown_away(frame)


def timed(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--bytes", default="8,16,24,64,200")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = min(given.rows, 1_000_000) if given.quick else given.rows
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for width in map(int, given.bytes.split(",")):
            values = column(rows, width)
            works: list[tuple[str, int, Work, Work | None]] = [
                (*item, None) for part in (ours, loops, frames) for item in part(values)
            ]
            if not given.quick and have("chdb"):
                works += clickhouse(values, Path(folder))
            if not given.quick and have("pyspark"):
                works += spark(values)
            times: dict[str, list[float]] = {name: [] for name, *_ in works}
            for i in range(given.rounds + 1):
                for name, count, work, beside in works:
                    took = timed(work) - (timed(beside) if beside else 0)
                    # The first round warms up.
                    if i > 0:
                        times[name].append(took / count)
            for name in times:
                cost = statistics.median(times[name])
                results.append(
                    {"bytes": width, "name": name, "ns": cost * 1e9, "rows_per_second": 1 / cost}
                )
    if given.json:
        print(json.dumps({"rows": rows, "version": aescomb.__version__, "results": results}))
        return
    print(f"{rows} rows, a tenth of them null; one thread")
    print("| bytes | | ns a row | rows a second |\n|---|---|---|---|")
    for result in results:
        rate = f"{result['rows_per_second']:,.0f}"
        print(f"| {result['bytes']} | {result['name']} | {result['ns']:.1f} | {rate} |")


if __name__ == "__main__":
    main()
