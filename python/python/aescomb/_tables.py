"""Tables, column by column. Needs pyarrow."""

from collections.abc import Iterable, Mapping
from typing import Any

from aescomb._aescomb import Key, Keys

_METHODS = {
    "aead": ("seal_many", "open_many"),
    "cipher": ("encrypt_many", "decrypt_many"),
}


def seal_table(
    table: Any,
    columns: Mapping[str, Key | Mapping[str, Any]] | Iterable[str],
    key: Key | None = None,
) -> Any:
    """Seals columns of a table, or encrypts them in a mode that does not authenticate.

    ``table`` is a ``pyarrow.Table`` or ``RecordBatch``, or anything that ``pyarrow.table``
    takes, such as a data frame of polars or pandas. The result is a ``Table``, or a
    ``RecordBatch`` if one is given, with the other columns as they are.

    ``columns`` says what to do with which column: a key, or the arguments of its ``seal_many``
    or ``encrypt_many`` with ``"key"`` among them. ``associated_data`` may be the name of a
    column. ``"key"`` may be ``Keys``; ``"ids"`` is then the name of the column, or a column, of
    the rows' identifiers. Columns that are all sealed under ``key`` may be a list of names.
    Every column needs nonces of its own unless the mode needs none.

    >>> import aescomb, pyarrow
    >>> key = aescomb.Key("siv", bytes(range(32)))
    >>> table = pyarrow.table({"id": [1, 2], "name": ["Ada", None], "born": [1815, 1906]})
    >>> columns = {"name": key, "born": {"key": key, "associated_data": "id"}}
    >>> sealed = aescomb.seal_table(table, columns)
    >>> sealed.schema.types
    [DataType(int64), DataType(binary), FixedSizeBinaryType(fixed_size_binary[24])]
    >>> aescomb.open_table(sealed, columns, schema=table.schema) == table
    True
    """
    sealed, _ = _each(table, columns, key, 0, {})
    return sealed


def open_table(
    table: Any,
    columns: Mapping[str, Key | Mapping[str, Any]] | Iterable[str],
    key: Key | None = None,
    *,
    schema: Any = None,
    on_failure: str = "raise",
) -> Any:
    """Opens or decrypts columns that ``seal_table`` has sealed or encrypted.

    The arguments of a column are those of ``open_many`` or ``decrypt_many``. Its type is ``to``
    if that is among them, or that of its name in ``schema``, a ``pyarrow.Schema``; else it is
    binary. With ``on_failure="return"`` the table comes with the indices of messages that
    failed, by the names of columns where some did.

    >>> import aescomb, pyarrow
    >>> key = aescomb.Key("siv", bytes(range(32)))
    >>> sealed = aescomb.seal_table(pyarrow.table({"name": ["Ada", None]}), ["name"], key)
    >>> opened = aescomb.open_table(sealed, {"name": {"key": key, "to": "string"}})
    >>> opened["name"].to_pylist()
    ['Ada', None]
    >>> forged = pyarrow.table({"name": [bytes(20), None]})
    >>> table, failed = aescomb.open_table(forged, ["name"], key, on_failure="return")
    >>> table["name"].to_pylist(), failed
    ([None, None], {'name': [0]})
    """
    types = {} if schema is None else dict(zip(schema.names, schema.types))
    opened, failed = _each(table, columns, key, 1, types, on_failure=on_failure)
    return (opened, failed) if on_failure == "return" else opened


def _each(
    table: Any,
    columns: Mapping[str, Key | Mapping[str, Any]] | Iterable[str],
    key: Key | None,
    method: int,
    types: Mapping[str, Any],
    **arguments: Any,
) -> tuple[Any, dict[str, list[int]]]:
    """Gives columns to one of the two methods of their keys."""
    import pyarrow  # type: ignore[import-untyped]

    if not isinstance(table, pyarrow.Table | pyarrow.RecordBatch):
        table = pyarrow.table(table)
    given = table
    every: dict[str, list[int]] = {}
    for name, call in _calls(columns, key).items():
        places = given.schema.get_all_field_indices(name)
        if len(places) != 1:
            raise KeyError(f"columns: expected one column {name!r} in the table, not {len(places)}")
        call = {**call, **arguments}
        chosen = call.pop("key", key)
        if isinstance(chosen, Keys):
            ids = call.pop("ids", None)
            chosen = chosen.of(given.column(ids) if isinstance(ids, str) else ids)
        if not isinstance(chosen, Key):
            raise TypeError(
                f"columns[{name!r}]: expected a Key or Keys, not {type(chosen).__name__}"
            )
        methods = _METHODS.get(chosen.mode.kind)
        if methods is None:
            raise TypeError(f"columns[{name!r}]: {chosen.mode.name} encrypts nothing")
        data = call.get("associated_data")
        if isinstance(data, str):
            call["associated_data"] = given.column(data)
        if method == 1 and name in types:
            call.setdefault("to", _values(types[name]))
        try:
            result = getattr(chosen, methods[method])(
                call.pop("nonces", None), given.column(places[0]), **call
            )
        except Exception as error:
            error.add_note(f"column {name!r}")
            raise
        if arguments.get("on_failure") == "return":
            result, failed = result
            if failed:
                every[name] = failed
        made = pyarrow.chunked_array if isinstance(table, pyarrow.Table) else pyarrow.array
        column = made(result)
        field = given.schema.field(places[0]).with_type(column.type)
        table = table.set_column(places[0], field, column)
    return table, every


def _calls(
    columns: Mapping[str, Key | Mapping[str, Any]] | Iterable[str], key: Key | None
) -> dict[str, Mapping[str, Any]]:
    """The arguments for each column, ``"key"`` among them."""
    if isinstance(columns, str):
        raise TypeError("columns: expected a list or a mapping of names, not str")
    if isinstance(columns, Mapping):
        return {
            name: call if isinstance(call, Mapping) else {"key": call}
            for name, call in columns.items()
        }
    return {name: {"key": key} for name in columns}


def _values(of: Any) -> Any:
    """The type of the values of a dictionary, which has its own indices; else the type."""
    return getattr(of, "value_type", of) if hasattr(of, "index_type") else of
