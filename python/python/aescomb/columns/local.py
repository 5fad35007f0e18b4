"""Columns in engines of one process: Polars, DuckDB, DataFusion and Daft.

Each function wants one of these packages, and a ``Cipher``; Daft sends functions to workers, and
wants a ``Worker``. Values are text, or bytes when they are encrypted; tokens are text.
"""

from typing import Any

from aescomb.columns._tables import Cipher, is_tokens
from aescomb.columns._workers import Worker


def polars(cipher: Cipher, way: str, column: str) -> Any:
    """An expression: the column of this name, encrypted (``"encrypt"``) or decrypted."""
    import polars as pl  # type: ignore[import-not-found,unused-ignore]
    import pyarrow  # type: ignore[import-untyped]

    work = _work(cipher, way, column)
    # The type of what is decrypted is that of nothing decrypted.
    tokens = is_tokens(cipher.header, column)
    empty = cipher.decrypt_column(column, pyarrow.array([], "string" if tokens else "binary"))
    of = pl.Binary if way == "encrypt" and not tokens else pl.Series(empty).dtype
    return pl.col(column).map_batches(lambda values: pl.Series(work(values)), return_dtype=of)


def duckdb(connection: Any, cipher: Cipher, column: str) -> None:
    """Makes ``encrypt_COLUMN(value)`` and ``decrypt_COLUMN(value)`` in a connection of DuckDB."""
    sealed = "VARCHAR" if is_tokens(cipher.header, column) else "BLOB"
    for way, of, to in [("encrypt", "VARCHAR", sealed), ("decrypt", sealed, "VARCHAR")]:
        connection.create_function(
            f"{way}_{column}", _work(cipher, way, column), [of], to, type="arrow"
        )


def datafusion(context: Any, cipher: Cipher, column: str) -> None:
    """Makes ``encrypt_COLUMN(value)`` and ``decrypt_COLUMN(value)`` in a context of DataFusion."""
    import pyarrow  # type: ignore[import-untyped]
    from datafusion import udf  # type: ignore[import-not-found,unused-ignore]

    sealed = pyarrow.string() if is_tokens(cipher.header, column) else pyarrow.binary()
    types = {"encrypt": sealed, "decrypt": pyarrow.string()}
    for way, of in [("encrypt", "decrypt"), ("decrypt", "encrypt")]:
        work, to = _work(cipher, way, column), types[way]

        def cast(values: Any, work: Any = work, to: Any = to) -> Any:
            return work(values).cast(to)

        name = f"{way}_{column}"
        context.register_udf(udf(cast, [types[of]], to, "volatile", name))


def daft(worker: Worker, column: str) -> Any:
    """An expression: the column of this name, as the worker does it."""
    import daft as engine  # type: ignore[import-not-found,unused-ignore]

    types = engine.DataType
    is_bytes = worker.way == "encrypt" and not is_tokens(worker.header, column)
    to = types.binary() if is_bytes else types.string()

    @engine.func.batch(return_dtype=to)  # type: ignore[untyped-decorator,unused-ignore]
    def done(values: engine.Series) -> Any:
        return worker.column(column, values.to_arrow())

    return done(engine.col(column))


def _work(cipher: Cipher, way: str, column: str) -> Any:
    if way not in ("encrypt", "decrypt"):
        raise ValueError(f"way: expected 'encrypt' or 'decrypt', not '{way}'")
    method = getattr(cipher, f"{way}_column")
    return lambda values: method(column, values)
