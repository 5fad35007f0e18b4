"""Not run, but checked by mypy: what the stubs say of the package's use."""

from typing import assert_type

import numpy as np
import polars as pl
from numpy.typing import NDArray

import aescomb

key = aescomb.Key("gcm", bytes(16))
rows: NDArray[np.uint8] = np.zeros((2, 24), np.uint8)

assert_type(key.mode.kind == "aead", bool)
assert_type(key.seal_many(bytes(24), [b"one", bytearray(b"two")]), list[bytes])
assert_type(key.seal_many([bytes(12)] * 2, rows, b"header"), NDArray[np.uint8])
assert_type(key.seal_many(rows[:, :12], rows, [b"one", None, (b"two", b"")]), NDArray[np.uint8])
column = key.seal_many(bytes(24), pl.Series([b"one", b"two"]))
assert_type(column, aescomb.Column)
assert_type(column[0], bytes | str | None)
assert_type(key.open_many(bytes(24), column, to="string"), aescomb.Column)
assert_type(key.open_many(bytes(24), column, to=column), aescomb.Column)
assert_type(key.seal_many(None, [b"one", None]), list[bytes | None])
assert_type(key.mac_many([b"one", None]), list[bytes | None])
assert_type(key.mac_many((b"one", b"two")), list[bytes])
assert_type(key.open_many(bytes(24), column), aescomb.Column)
assert_type(key.open_many(bytes(24), column, on_failure="return"), tuple[aescomb.Column, list[int]])
assert_type(
    key.open_many(bytes(24), [b"", b""], on_failure="return"),
    tuple[list[bytes | None], list[int]],
)
assert_type(key.encrypt_many(None, rows, out=rows), NDArray[np.uint8])
assert_type(key.mac_many([b"one"], tag_bytes=8), list[bytes])
assert_type(key.verify_many([b"one"], [b"tag"], on_failure="return"), list[int])
assert_type(key.seal(bytes(12), memoryview(b"message"), b"header"), bytes)
keys = aescomb.Keys({"one": key, "two": key})
assert_type(keys["one"], aescomb.Key)
assert_type(keys.of(["one", None]).seal_many(None, [b"one", b"two"]), list[bytes])
assert_type(key.seal_many("inline", [b"one"], threads=4), list[bytes])
assert_type(key.open("inline", b"sealed"), bytes)
digits = aescomb.Ff1(bytes(16), "0123456789")
assert_type(digits.encrypt_many(["123456"], b"tweak", threads=2), list[str])
assert_type(digits.decrypt_many(["123456", None], [b"one", None]), list[str | None])
assert_type(digits.encrypt_many(pl.Series(["123456"])), aescomb.Column)
assert_type(digits.encrypt("123456"), str)
numerals = aescomb.Ff1(bytes(16), radix=1000)
assert_type(numerals.encrypt_many([[1, 2], None]), list[list[int] | None])
assert_type(numerals.encrypt_many(np.zeros((2, 2), np.uint16)), NDArray[np.uint16])
assert_type(numerals.decrypt((1, 2), b"tweak"), list[int])
tenants = aescomb.Ff1({"acme": bytes(16), "initech": bytes(32)}, "01")
assert_type(tenants.encrypt_many(["01" * 10], ids=["acme"]), list[str])
assert_type(tenants.decrypt("01" * 10, b"tweak", id="acme"), str)
aescomb.Ff1(bytes(16))  # type: ignore[call-overload]
key.seal_many("random", [b"one"])  # type: ignore[arg-type]
try:
    key.open(bytes(12), b"message")
except aescomb.OpenError as error:
    assert_type(error.indices, list[int])
except aescomb.InputError as error:
    assert_type(error.message, int | None)

key.seal_many(bytes(24), 7)  # type: ignore[call-overload]
key.seal_many(bytes(24), [b"one"], out=rows)  # type: ignore[call-overload]
key.open_many(bytes(24), [b"one"], on_failure="ignore")  # type: ignore[call-overload]
key.open_many(bytes(24), [b"one"], to="string")  # type: ignore[call-overload]
