"""Spark: its values there and back, data frames and SQL, and a cluster that loses a worker."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from aescomb.columns import Keyset, decrypt_table, encrypt_table
from aescomb.columns import spark as columns
from conftest import SECRET, SPEC, TEXTS, people

HOME = Path(pyspark.__file__).parent


def session(master, **more):
    builder = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.pyspark.python", sys.executable)
        .config("spark.driver.memory", "1g")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
    )
    for name, value in more.items():
        builder = builder.config(name.replace("_", "."), value)
    return builder.getOrCreate()


@pytest.fixture(scope="module")
def spark():
    made = session("local[2]")
    yield made
    made.stop()


def spec(**more):
    column = {"encryption": "randomized", "format": "spark", "type": "string", **more}
    return {"dataset": "d", "columns": {"v": column}}


def frame(spark, values, of):
    rows = list(enumerate(values))
    return spark.createDataFrame(rows, f"i int, v {of}").repartition(3)


def collected(frame):
    return [row.v for row in sorted(frame.collect(), key=lambda row: row.i)]


def to_bytes(values):
    return [None if value is None else bytes(value) for value in values]


@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("mode", ["GCM", "CBC"])
def test_values_there_and_back(spark, bits, mode):
    key, keys = bytes(range(bits // 8)), Keyset()
    keys.add(f"aes-{bits}-gcm" if mode == "GCM" else f"aes-{bits}-cbc-pkcs7", key)
    literal = f.lit(bytearray(key))
    ours = encrypt_table(pa.table({"v": TEXTS}), spec(), keys)["v"].to_pylist()
    ours = [None if value is None else bytearray(value) for value in ours]
    opened = frame(spark, ours, "binary").select(
        "i", f.aes_decrypt("v", literal, f.lit(mode)).cast("string").alias("v")
    )
    assert collected(opened) == TEXTS
    theirs = frame(spark, TEXTS, "string").select(
        "i", f.aes_encrypt("v", literal, f.lit(mode)).alias("v")
    )
    theirs = pa.table({"v": pa.array(to_bytes(collected(theirs)), "binary")})
    assert decrypt_table(theirs, keys, spec())["v"].to_pylist() == TEXTS


def test_associated_data_there_and_back(spark):
    key, keys = bytes(range(16)), Keyset()
    keys.add("aes-128-gcm", key)
    literal, data = f.lit(bytearray(key)), spec(associated_data="bound")
    ours = encrypt_table(pa.table({"v": TEXTS}), data, keys)["v"].to_pylist()
    ours = [None if value is None else bytearray(value) for value in ours]
    call = f.aes_decrypt("v", literal, f.lit("GCM"), f.lit("DEFAULT"), f.lit("bound"))
    opened = frame(spark, ours, "binary").select("i", call.cast("string").alias("v"))
    assert collected(opened) == TEXTS


def test_old_data_in_ecb(spark):
    key, keys = bytes(range(16)), Keyset()
    keys.add("aes-128-ecb-pkcs7", key)
    call = f.aes_encrypt("v", f.lit(bytearray(key)), f.lit("ECB")).alias("v")
    theirs = collected(frame(spark, TEXTS, "string").select("i", call))
    theirs = pa.table({"v": pa.array(to_bytes(theirs), "binary")})
    opened = decrypt_table(theirs, keys, spec(encryption="deterministic"))
    assert opened["v"].to_pylist() == TEXTS


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=lambda row: row[0])


def test_frames(spark, wrapped, capfd):
    given = spark.createDataFrame(people(1000)).repartition(4)
    encrypted, header = columns.encrypt(given, SPEC, wrapped)
    assert dict(encrypted.dtypes) == {"id": "bigint", "name": "binary", "born": "binary"}
    encrypted.explain(extended=True)
    opened = columns.decrypt(encrypted, header, wrapped)
    assert opened.schema == given.schema
    assert rows(opened) == rows(given)
    # By Spark itself, as the format is its own.
    key = f.lit(bytearray(SECRET))
    born = encrypted.select("id", f.hex(f.aes_decrypt("born", key)).alias("born")).collect()
    numbers = {row.id: row.born for row in born}
    for row in given.collect():
        little = None if row.born is None else row.born.to_bytes(8, "little").hex().upper()
        assert numbers[row.id] == little
    # Neither plans nor what is printed have keys.
    shown = "".join(capfd.readouterr()) + header
    for secret in [SECRET.decode(), SECRET.hex(), SECRET.hex().upper()]:
        assert secret not in shown


def test_sql(spark, wrapped):
    names = {
        "name": SPEC["columns"]["name"],
        "city": {"encryption": "randomized", "format": "spark"},
    }
    columns.register(spark, {"dataset": "people", "columns": names}, wrapped)
    frame(spark, TEXTS, "string").createOrReplaceTempView("texts")
    for column in names:
        sql = f"select i, aescomb_encrypt(v, '{column}') as e from texts"
        sql = f"select i, e, aescomb_decrypt(e, '{column}') as v from ({sql})"
        opened = spark.sql(sql)
        assert collected(opened) == TEXTS
        values = {bytes(row.e) for row in opened.collect() if row.e is not None}
        there = [text for text in TEXTS if text is not None]
        assert len(values) == (len(set(there)) if column == "name" else len(there))


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture
def cluster(tmp_path):
    """A master and two workers: processes of their own on the loopback address."""
    port, processes = free_port(), []
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOG_DIR": str(tmp_path)}

    def start(name, *arguments):
        log = open(tmp_path / f"{name}.log", "wb")
        command = [HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{arguments[0]}"]
        process = subprocess.Popen(
            [*map(str, command), *arguments[1:]],
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
        processes.append(process)

    start(
        "master", "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"
    )
    for i in range(2):
        work = tmp_path / f"work{i}"
        start(
            f"worker{i}",
            "worker.Worker",
            "--host",
            "127.0.0.1",
            "--cores",
            "1",
            "--memory",
            "1g",
            "--webui-port",
            "0",
            "--work-dir",
            str(work),
            f"spark://127.0.0.1:{port}",
        )
    yield f"spark://127.0.0.1:{port}", processes[1:], tmp_path
    for process in processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def test_a_worker_is_killed(cluster, wrapped):
    master, workers, folder = cluster
    SparkSession.getActiveSession() and SparkSession.getActiveSession().stop()
    spark = session(
        master, spark_executor_memory="512m", spark_executor_cores="1", spark_task_maxFailures="8"
    )
    try:
        executors = spark._jsc.sc().statusTracker()
        deadline = time.monotonic() + 90
        while len(executors.getExecutorInfos()) < 3:
            assert time.monotonic() < deadline, "both executors within 90 seconds"
            time.sleep(0.2)
        count, parts = 200_000, 40
        given = spark.range(0, count, 1, parts).select(
            "id",
            f.concat(f.lit("name "), f.col("id") % 1000).alias("name"),
            (f.col("id") * 3).alias("born"),
        )
        encrypted, header = columns.encrypt(given, SPEC, wrapped)
        begun = folder / "begun"
        begun.mkdir()

        def slowed(batches, begun=str(begun)):
            # So that the worker dies while tasks are running.
            for batch in batches:
                Path(begun, str(os.getpid())).touch()
                time.sleep(0.3)
                yield batch

        slow = encrypted.mapInArrow(slowed, encrypted.schema)
        target = str(folder / "encrypted")
        pid = os.fork()
        if pid == 0:
            # Kills one worker, with its executor, once both work.
            while len(os.listdir(begun)) < 2:
                time.sleep(0.05)
            os.killpg(workers[0].pid, signal.SIGKILL)
            os._exit(0)
        slow.write.parquet(target)
        assert os.waitpid(pid, 0)[1] == 0
        assert workers[0].wait() == -signal.SIGKILL
        there = spark.read.parquet(target)
        opened = columns.decrypt(there, header, wrapped)
        total, ids, born, names = opened.agg(
            f.count("*"), f.count_distinct("id"), f.sum("born"), f.count_distinct("name")
        ).first()
        assert (total, ids, names) == (count, count, 1000)
        assert born == 3 * count * (count - 1) // 2
        wrong = opened.where(f.col("name") != f.concat(f.lit("name "), f.col("id") % 1000))
        assert wrong.count() == 0
    finally:
        spark.stop()
    # What was sent and logged has no key.
    logs = list(folder.rglob("*.log")) + list(folder.rglob("std*"))
    assert logs
    for log in logs:
        text = log.read_bytes()
        for secret in [SECRET, SECRET.hex().encode()]:
            assert secret not in text, log
