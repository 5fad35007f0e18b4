"""Data frames of Spark: ``encrypt`` and ``decrypt``, and functions for SQL. Needs pyspark.

Workers get keys wrapped; they need this package, pyarrow, and what unwraps keys.
"""

import json
from typing import Any

from aescomb.columns._tables import Cipher, Spec, spec_json
from aescomb.columns._workers import Worker, WrappedKeys


def encrypt(frame: Any, spec: Spec, keys: WrappedKeys) -> tuple[Any, str]:
    """The data frame with its columns encrypted, and the header that ``decrypt`` wants."""
    from pyspark.sql.pandas.types import to_arrow_schema  # type: ignore[import-not-found]

    schema = to_arrow_schema(frame.schema)
    cipher = Cipher(spec, keys.open(), schema)
    encrypted = cipher.encrypt(schema.empty_table()).schema
    worker = Worker("encrypt", cipher.header, keys, spec, schema=_plain(encrypted))
    return _mapped(frame, worker), cipher.header


def decrypt(frame: Any, header: str, keys: WrappedKeys, spec: Spec | None = None) -> Any:
    """The data frame with its columns decrypted."""
    from pyspark.sql.pandas.types import to_arrow_schema

    cipher = Cipher.with_header(header, keys.open(), spec)
    decrypted = cipher.decrypt(to_arrow_schema(frame.schema).empty_table()).schema
    worker = Worker("decrypt", header, keys, spec, schema=_plain(decrypted))
    return _mapped(frame, worker)


def register(session: Any, spec: Spec, keys: WrappedKeys) -> None:
    """Makes ``aescomb_encrypt(value, column)`` and ``aescomb_decrypt(value, column)`` in SQL.

    The second argument is the name of a column of the spec. Values are of its ``type``, which is
    text without one. Nothing keeps a salt, so the format ``plain`` with random nonces wants
    ``encrypt``. So does ``ff1``, as what is encrypted is of bytes here.
    """
    import pyarrow  # type: ignore[import-untyped]
    from pyspark.sql.functions import arrow_udf  # type: ignore[import-not-found]

    given = json.loads(spec_json(spec))
    for column in given["columns"].values():
        column.setdefault("type", "string")
        if column["format"] == "ff1":
            raise ValueError("spec: a column of tokens ('ff1') in SQL; use encrypt")
    schema = pyarrow.schema([(name, pyarrow.string()) for name in given["columns"]])
    header = Cipher(given, keys.open(), schema).header
    encrypting, decrypting = (Worker(way, header, keys) for way in ("encrypt", "decrypt"))

    def aescomb_encrypt(values: pyarrow.Array, column: pyarrow.Array) -> pyarrow.Array:
        return _named(encrypting, column, values, pyarrow.binary())

    def aescomb_decrypt(values: pyarrow.Array, column: pyarrow.Array) -> pyarrow.Array:
        return _named(decrypting, column, values, pyarrow.string())

    session.udf.register("aescomb_encrypt", arrow_udf(aescomb_encrypt, "binary"))
    session.udf.register("aescomb_decrypt", arrow_udf(aescomb_decrypt, "string"))


def _named(worker: Worker, column: Any, values: Any, of: Any) -> Any:
    """The values of a batch whose rows all name one column."""
    names = column.unique().to_pylist()
    if len(names) > 1:
        raise ValueError(f"column: expected one name for all rows, not {names}")
    return worker.column(names[0], values).cast(of) if names else values.cast(of)


def _plain(schema: Any) -> Any:
    """With bytes in the one type that Spark has for them, and without metadata."""
    import pyarrow

    fields = []
    for field in schema:
        if pyarrow.types.is_fixed_size_binary(field.type):
            field = field.with_type(pyarrow.binary())
        fields.append(field)
    return pyarrow.schema(fields)


def _mapped(frame: Any, worker: Worker) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return frame.mapInArrow(worker.each, from_arrow_schema(worker.schema))
