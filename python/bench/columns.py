"""Measures columns: aescomb beside others, rows per second on one core.

    python columns.py [--systems NAME,...] [--rows N] [--bytes N,...] [--quick] [--json]
    python columns.py --growth 1e5,1e6,... [--json]

A column of text with a tenth of nulls, Arrow in and Arrow out, nonces made inside. Competitors
take turns, round by round, on one thread; figures are medians. aescomb alone is given batches of
65,536 rows, as engines and files have them; an engine has the whole column. Loops in Python go over
a part of the rows, as what they cost does not depend on how many there are; Spark, Ray,
chDB and polars-encryption have fewer rows (`--few`), as they take microseconds for each or copy
them.

Systems: `key` and `columns` (aescomb in Arrow columns), `loops` (cryptography, pycryptodome,
Tink), `polars` (with polars-encryption), `duckdb`, `chdb`, `spark`, `ray`. What is not installed is
left out. `--quick` ends within three minutes, and leaves out the last three.

Time of engines is that of encryption alone: less that of the same work without it. Spark:
`local[1]`, a column that it has cached to one that it throws away. Ray: one CPU, a
dataset in its store to another. chDB: `encrypt` over a Parquet file.

`--growth` measures one array and, from 10^6 rows on, also a Parquet file by the command (`python -m
aescomb.columns encrypt`), with the most memory that it had.
"""

import argparse
import functools
import importlib.util
import json
import os
import random
import statistics
import subprocess
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
from aescomb.columns import Cipher, Keyset, WrappedKeys

KEY, LONG = bytes(range(32)), bytes(range(64))
# Rows that loops go over.
PART = 20_000
# Rows of a batch, and of one that is written to a file.
BATCH, FILE_BATCH = 1 << 16, 1_000_000

# Runs a command and prints the most KiB of memory that it had, in a process of its own: a process
# that is just made has as much as the one that makes it.
MEMORY = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""

Work = Callable[[], object]
# A name, how many rows, what is measured, and what is not of it.
Item = tuple[str, int, Work, Work | None]


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


def in_batches(values: pa.Array, rows: int = BATCH) -> Callable[[Callable[[Any], Any]], Work]:
    batches = [values[start : start + rows] for start in range(0, len(values), rows)]

    def of(work: Callable[[Any], Any]) -> Work:
        def each() -> None:
            for batch in batches:
                work(batch)

        return each

    return of


def of_keys(values: pa.Array, _: int) -> Iterator[Item]:
    rows = len(values)
    ctr, gcm, siv = aescomb.Key("ctr", KEY), aescomb.Key("gcm", KEY), aescomb.Key("siv", LONG)
    each = in_batches(values)
    yield "aescomb.Key, CTR", rows, each(lambda batch: ctr.encrypt_many("inline", batch)), None
    yield "aescomb.Key, GCM", rows, each(lambda batch: gcm.seal_many("inline", batch)), None
    yield "aescomb.Key, SIV", rows, each(lambda batch: siv.seal_many(None, batch, b"d")), None


def of_columns(values: pa.Array, _: int) -> Iterator[Item]:
    for name, made in [
        ("aescomb.columns, tink, GCM", cipher("randomized", "tink", "aes-256-gcm", KEY)),
        ("aescomb.columns, plain, GCM", cipher("randomized", "plain", "aes-256-cmac-prf", KEY)),
        ("aescomb.columns, tink, SIV", cipher("deterministic", "tink", "aes-256-siv", LONG)),
    ]:
        work = in_batches(values)(functools.partial(made.encrypt_column, "v"))
        yield name, len(values), work, None


def loops(values: pa.Array, _: int) -> Iterator[Item]:
    part = values[:PART]
    gcm, siv = AESGCM(KEY), AESSIV(LONG)

    def of(seal: Callable[[bytes], bytes], rows: int = PART) -> Work:
        def work() -> object:
            texts = part[:rows].to_pylist()
            sealed = [None if text is None else seal(text.encode()) for text in texts]
            return pa.array(sealed, pa.binary())

        return work

    def random_gcm(text: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + gcm.encrypt(nonce, text, None)

    yield "loop over cryptography, GCM", PART, of(random_gcm), None
    yield "loop over cryptography, SIV", PART, of(lambda text: siv.encrypt(text, [b"d"])), None
    if have("Crypto"):
        from Crypto.Cipher import AES

        def pycryptodome(text: bytes) -> bytes:
            made = AES.new(LONG, AES.MODE_SIV)
            made.update(b"d")
            sealed, tag = made.encrypt_and_digest(text)
            return tag + sealed

        yield "loop over pycryptodome, SIV", PART // 10, of(pycryptodome, PART // 10), None
    if have("tink"):
        import tink
        from tink import aead, daead

        aead.register()
        daead.register()
        handle = tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM)
        primitive = handle.primitive(aead.Aead)
        yield "loop over Tink, GCM", PART, of(lambda text: primitive.encrypt(text, b"d")), None
        template = daead.deterministic_aead_key_templates.AES256_SIV
        siv_handle = tink.new_keyset_handle(template).primitive(daead.DeterministicAead)
        seal = siv_handle.encrypt_deterministically
        yield "loop over Tink, SIV", PART, of(lambda text: seal(text, b"d")), None


def through_polars(values: pa.Array, few: int) -> Iterator[Item]:
    import polars as pl

    from aescomb.columns import local

    frame = pl.DataFrame({"v": pl.Series(values)})
    keys = Keyset()
    keys.add("aes-256-gcm", KEY)
    spec = {"dataset": "d", "columns": {"v": {"encryption": "randomized", "format": "tink"}}}
    made = Cipher(spec, keys, pa.schema({"v": pa.string_view()}))
    ours = local.polars(made, "encrypt", "v")
    name = "aescomb.columns through Polars, GCM"
    yield name, len(values), lambda: frame.with_columns(ours), None
    if have("polars_encryption"):
        import polars_encryption

        # One nonce for all values, hexadecimal text: what it has.
        theirs = polars_encryption.encrypt(pl.col("v"), key=KEY, nonce=bytes(12))
        part = frame[:few]
        name = "polars-encryption, GCM-SIV"
        yield name, len(part), lambda: part.with_columns(theirs), None


def through_duckdb(values: pa.Array, _: int) -> Iterator[Item]:
    import duckdb

    from aescomb.columns import local

    connection = duckdb.connect(config={"threads": 1})
    local.duckdb(connection, cipher("randomized", "tink", "aes-256-gcm", KEY), "v")
    connection.register("t", pa.table({"v": values}))

    def ask(what: str) -> Work:
        # Sums, so that nothing but the encryption takes long.
        sql = f"select sum(octet_length({what})) from t"
        return lambda: connection.execute(sql).fetchall()

    name = "aescomb.columns through DuckDB, GCM"
    yield name, len(values), ask("encrypt_v(v)"), ask("encode(v)")


def of_chdb(values: pa.Array, few: int, folder: Path) -> Iterator[Item]:
    import chdb

    values = values[:few]
    path = folder / "values.parquet"
    pa.parquet.write_table(pa.table({"v": values}), path)
    key = f"unhex('{KEY.hex()}')"
    encrypted = f"encrypt('aes-256-gcm', v, {key}, substring(concat(toString(rand64()), v), 1, 12))"

    def ask(what: str) -> Work:
        sql = f"select sum(length({what})) from file('{path}', Parquet) settings max_threads = 1"
        return lambda: chdb.query(sql, "CSV").bytes()

    yield "chDB encrypt, GCM", len(values), ask(encrypted), ask("v")


def through_spark(values: pa.Array, few: int) -> Iterator[Item]:
    import pandas as pd
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    from aescomb.columns import spark as columns

    values = values[:few]
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
    literal = f.lit(bytearray(KEY))

    def thrown_away(frame: Any) -> Work:
        return lambda: frame.write.format("noop").mode("overwrite").save()

    own = frame.select(f.aes_encrypt("v", literal).alias("v"))
    ours, _ = columns.encrypt(frame, *for_workers("spark"))

    @f.udf("binary")
    def rows(text: str) -> Any:
        # In the worker: its class cannot be sent.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(12)
        return None if text is None else nonce + AESGCM(KEY).encrypt(nonce, text.encode(), None)

    @f.pandas_udf("binary")
    def series(texts: pd.Series) -> pd.Series:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        made = AESGCM(KEY)

        def seal(text: str) -> Any:
            nonce = os.urandom(12)
            return None if text is None else nonce + made.encrypt(nonce, text.encode(), None)

        return texts.map(seal)

    for name, work in [
        ("Spark aes_encrypt, GCM", own),
        ("Spark row UDF over cryptography, GCM", frame.select(rows("v"))),
        ("Spark pandas UDF over cryptography, GCM", frame.select(series("v"))),
        ("aescomb.columns through Spark, GCM", ours),
    ]:
        yield name, len(values), thrown_away(work), thrown_away(frame)


def through_ray(values: pa.Array, few: int) -> Iterator[Item]:
    import ray

    from aescomb.columns import ray as columns

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    values = values[:few]
    step = -(-len(values) // 4)
    parts = [pa.table({"v": values[i : i + step]}) for i in range(0, len(values), step)]
    given = ray.data.from_arrow(parts).materialize()
    ours, _ = columns.encrypt(given, *for_workers("tink"))
    same = given.map_batches(lambda batch: batch, batch_format="pyarrow", zero_copy_batch=True)
    name = "aescomb.columns through Ray, GCM"
    yield name, len(values), lambda: ours.materialize(), lambda: same.materialize()


def for_workers(kind: str) -> tuple[Any, WrappedKeys]:
    wrapping = Keyset("aes-256-gcm").to_json()
    keys = Keyset()
    keys.add("aes-256-gcm", KEY)
    spec = {"dataset": "d", "columns": {"v": {"encryption": "randomized", "format": kind}}}
    return spec, WrappedKeys(keys, lambda: Keyset.from_json(wrapping))


SYSTEMS: dict[str, tuple[str, Callable[..., Iterator[Item]]]] = {
    "key": ("aescomb", of_keys),
    "columns": ("aescomb", of_columns),
    "loops": ("cryptography", loops),
    "polars": ("polars", through_polars),
    "duckdb": ("duckdb", through_duckdb),
    "chdb": ("chdb", of_chdb),
    "spark": ("pyspark", through_spark),
    "ray": ("ray", through_ray),
}


def timed(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(works: list[Item], rounds: int) -> dict[str, float]:
    """Seconds for a row, by names."""
    times: dict[str, list[float]] = {name: [] for name, *_ in works}
    for i in range(rounds + 1):
        for name, count, work, beside in works:
            took = timed(work) - (timed(beside) if beside else 0)
            # The first round warms up.
            if i > 0:
                times[name].append(took / count)
    return {name: statistics.median(costs) for name, costs in times.items()}


def compared(given: argparse.Namespace) -> list[dict[str, object]]:
    results: list[dict[str, object]] = []
    systems = given.systems.split(",")
    with tempfile.TemporaryDirectory() as folder:
        for width in map(int, given.bytes.split(",")):
            # As many as offsets of 32 bits tell when they are encrypted.
            rows = min(given.rows, (2**31 - 1) // (width + 33))
            values = column(rows, width)
            works: list[Item] = []
            for system in systems:
                package, items = SYSTEMS[system]
                if have(package):
                    more = (Path(folder),) if system == "chdb" else ()
                    works += items(values, given.few, *more)
            counts = {name: count for name, count, *_ in works}
            for name, cost in measured(works, given.rounds).items():
                result = {"bytes": width, "name": name, "rows": counts[name]}
                results.append(result | {"ns": cost * 1e9, "rows_per_second": 1 / cost})
            if "ray" in systems and have("ray"):
                import ray

                ray.shutdown()
    return results


def command(rows: int, folder: Path) -> tuple[float, float]:
    """Seconds, and the most MiB of memory, that the command takes to encrypt a file."""
    table = pa.table({"v": column(FILE_BATCH, 24)})
    encryption = {"encryption": "randomized", "format": "tink"}
    spec = {"dataset": "d", "columns": {"v": encryption}}
    (folder / "spec.json").write_text(json.dumps(spec))
    path, out = folder / "in.parquet", folder / "out.parquet"
    with pa.parquet.ParquetWriter(path, table.schema, use_dictionary=False) as writer:
        for start in range(0, rows, FILE_BATCH):
            writer.write_table(table[: min(FILE_BATCH, rows - start)])
    arguments = [sys.executable, "-m", "aescomb.columns", "encrypt", path, out, "--overwrite"]
    arguments += ["--spec", folder / "spec.json", "--keys", folder / "keys", "--create-keys"]
    arguments += ["--threads", "1"]
    start = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY, *map(str, arguments)], stdout=subprocess.PIPE, check=True
    )
    took = time.perf_counter() - start
    size = out.stat().st_size
    if size < 50 * rows:
        sys.exit(f"the encrypted file has {size} bytes only")
    out.unlink()
    return took, int(ran.stdout) / 1024


def growth(given: argparse.Namespace) -> list[dict[str, object]]:
    results: list[dict[str, object]] = []
    made = cipher("randomized", "tink", "aes-256-gcm", KEY)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for rows in (int(float(text)) for text in given.growth.split(",")):
            if rows <= (2**31 - 1) // (24 + 33):
                values = column(rows, 24)
                work = functools.partial(made.encrypt_column, "v")
                works: list[Item] = [
                    ("one array", rows, lambda: work(values), None),
                    ("batches of 10,000 rows", rows, in_batches(values, 10_000)(work), None),
                ]
                for name, cost in measured(works, given.rounds).items():
                    results.append({"name": name, "rows": rows, "ns": cost * 1e9})
            if rows >= FILE_BATCH:
                took, most = command(rows, Path(folder))
                cost = {"name": "the command", "rows": rows, "ns": took / rows * 1e9}
                results.append(cost | {"mib": most})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--few", type=int, default=1_000_000, help="rows of slow systems")
    parser.add_argument("--bytes", default="8,16,24,64,200")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--growth", metavar="ROWS,...", help="how cost grows, instead")
    parser.add_argument("--folder", help="where --growth writes files of up to 10 GB")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if unknown := set(given.systems.split(",")) - set(SYSTEMS):
        parser.error(f"--systems: {', '.join(sorted(unknown))}; allowed: {', '.join(SYSTEMS)}")
    if given.quick:
        given.rows, given.rounds = min(given.rows, 1_000_000), min(given.rounds, 3)
        slow = {"chdb", "spark", "ray"}
        left = [name for name in given.systems.split(",") if name not in slow]
        given.systems = ",".join(left)
    results = growth(given) if given.growth else compared(given)
    if given.json:
        kind = "growth" if given.growth else "columns"
        print(json.dumps({"version": aescomb.__version__, kind: results}))
        return
    if given.growth:
        print("| rows | | ns a row | MiB |\n|---|---|---|---|")
        for result in results:
            memory = f"{result['mib']:.0f}" if "mib" in result else ""
            print(f"| {result['rows']:,} | {result['name']} | {result['ns']:.1f} | {memory} |")
        return
    print("A tenth of the rows are null; one thread")
    print("| bytes | | rows | ns a row | rows a second |\n|---|---|---|---|---|")
    for result in results:
        rate = f"{result['rows_per_second']:,.0f}"
        start = f"| {result['bytes']} | {result['name']} | {result['rows']:,}"
        print(f"{start} | {result['ns']:.1f} | {rate} |")


if __name__ == "__main__":
    main()
