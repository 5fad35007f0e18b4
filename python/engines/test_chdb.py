"""Values of ClickHouse, there and back. It runs in the process."""

import io

import chdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from aescomb.columns import Keyset, decrypt_table, encrypt_table, mysql_key
from conftest import TEXTS

MODES = {"gcm": "gcm", "cbc": "cbc-pkcs7", "ctr": "ctr", "ofb": "ofb"}


def ask(sql):
    sql += " settings output_format_parquet_string_as_string = 0"
    table = pa.parquet.read_table(io.BytesIO(chdb.query(sql, "Parquet").bytes()))
    return table.column(0).to_pylist()


def table(name, values, of):
    return pa.table({"i": range(len(values)), name: pa.array(values, of)})


def keys(mode, key):
    keyset = Keyset()
    keyset.add(mode, key)
    return keyset


def quoted(key):
    return f"unhex('{key.hex()}')"


def spec(encryption="randomized", **more):
    column = {"encryption": encryption, "format": "clickhouse", "type": "string", **more}
    return {"dataset": "d", "columns": {"v": column}}


@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("mode", MODES)
def test_clickhouse_decrypts_what_we_encrypt(tmp_path, bits, mode):
    key, path = bytes(range(bits // 8)), tmp_path / "v.parquet"
    given = spec(nonces="iv")
    encrypted = encrypt_table(
        table("v", TEXTS, "string"), given, keys(f"aes-{bits}-{MODES[mode]}", key)
    )
    pa.parquet.write_table(encrypted, path)
    sql = f"decrypt('aes-{bits}-{mode}', assumeNotNull(v), {quoted(key)}, assumeNotNull(iv))"
    rows = f"from file('{path}', Parquet) where v is not null order by i"
    assert ask(f"select {sql} {rows}") == [t.encode() for t in TEXTS if t is not None]


@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("mode", MODES)
def test_we_decrypt_what_clickhouse_encrypts(tmp_path, bits, mode):
    key, path = bytes(range(bits // 8)), tmp_path / "v.parquet"
    pa.parquet.write_table(table("v", TEXTS, "string"), path)
    size = 12 if mode == "gcm" else 16
    nonces = [bytes([i]) * size for i in range(len(TEXTS))]
    nonce = f"unhex(repeat(leftPad(hex(toUInt8(i)), 2, '0'), {size}))"
    encrypted = f"encrypt('aes-{bits}-{mode}', v, {quoted(key)}, {nonce})"
    values = ask(f"select {encrypted} from file('{path}', Parquet) order by i")
    encrypted = table("v", values, "binary").append_column("iv", pa.array(nonces, "binary"))
    opened = decrypt_table(encrypted, keys(f"aes-{bits}-{MODES[mode]}", key), spec(nonces="iv"))
    assert opened["v"].to_pylist() == TEXTS


def test_associated_data(tmp_path):
    key, path = bytes(range(32)), tmp_path / "v.parquet"
    given = spec(nonces="iv", associated_data="bound")
    encrypted = encrypt_table(table("v", TEXTS, "string"), given, keys("aes-256-gcm", key))
    pa.parquet.write_table(encrypted, path)
    sql = f"decrypt('aes-256-gcm', assumeNotNull(v), {quoted(key)}, assumeNotNull(iv), 'bound')"
    rows = f"from file('{path}', Parquet) where v is not null order by i"
    assert ask(f"select {sql} {rows}") == [t.encode() for t in TEXTS if t is not None]


@pytest.mark.parametrize("bits", [128, 256])
@pytest.mark.parametrize("mode", ["ecb", "cbc"])
def test_mysql(tmp_path, bits, mode):
    """Of keys that are passwords."""
    password, path = b"a password of many more than thirty-two bytes", tmp_path / "v.parquet"
    pa.parquet.write_table(table("v", TEXTS, "string"), path)
    nonce = b"sixteen bytes iv"
    iv = f", {quoted(nonce)}" if mode == "cbc" else ""
    encrypted = f"aes_encrypt_mysql('aes-{bits}-{mode}', v, {quoted(password)}{iv})"
    values = ask(f"select {encrypted} from file('{path}', Parquet) order by i")
    key = keys(f"aes-{bits}-{mode}-pkcs7", mysql_key(bits, password))
    given, encrypted = spec("deterministic"), table("v", values, "binary")
    if mode == "cbc":
        given = spec(nonces="iv")
        nonces = pa.array([nonce] * len(TEXTS), "binary")
        encrypted = encrypted.append_column("iv", nonces)
    assert decrypt_table(encrypted, key, given)["v"].to_pylist() == TEXTS
    if mode == "cbc":
        encrypted = encrypt_table(table("v", TEXTS, "string"), spec(nonces="iv"), key)
        pa.parquet.write_table(encrypted, path)
        given = f"assumeNotNull(v), {quoted(password)}, assumeNotNull(iv)"
        sql = f"aes_decrypt_mysql('aes-{bits}-cbc', {given})"
        rows = f"from file('{path}', Parquet) where v is not null order by i"
        assert ask(f"select {sql} {rows}") == [t.encode() for t in TEXTS if t is not None]


def test_ecb_of_old_data(tmp_path):
    key, path = bytes(range(16)), tmp_path / "v.parquet"
    pa.parquet.write_table(table("v", TEXTS, "string"), path)
    encrypted = f"encrypt('aes-128-ecb', v, {quoted(key)})"
    values = ask(f"select {encrypted} from file('{path}', Parquet) order by i")
    keyset = keys("aes-128-ecb-pkcs7", key)
    opened = decrypt_table(table("v", values, "binary"), keyset, spec("deterministic"))
    assert opened["v"].to_pylist() == TEXTS
