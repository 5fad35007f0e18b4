"""Tables, as a spec says. Needs pyarrow."""

import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from aescomb._aescomb import ColumnCipher, Keyset

_HEADER = b"aescomb"

Spec = Mapping[str, Any] | str | os.PathLike[str]
Keys = Keyset | Iterable[Keyset]


class Failure(NamedTuple):
    """A value that could not be decrypted."""

    column: str
    row: int
    reason: str


def spec_json(spec: Spec) -> str:
    """A mapping, JSON, or a path to a file of TOML, as JSON."""
    if isinstance(spec, os.PathLike):
        with open(spec, "rb") as file:
            return json.dumps(tomllib.load(file))
    return spec if isinstance(spec, str) else json.dumps(spec)


def _keysets(keys: Keys) -> list[Keyset]:
    return [keys] if isinstance(keys, Keyset) else list(keys)


def _given(table: Any) -> Any:
    import pyarrow  # type: ignore[import-untyped]

    known = isinstance(table, pyarrow.Table | pyarrow.RecordBatch)
    return table if known else pyarrow.table(table)


class Cipher:
    """Encrypts tables and batches of one schema as a spec says, and decrypts them.

    ``spec`` is a mapping, its JSON, or a path to its TOML. ``keys`` are a ``Keyset`` or several.
    ``schema`` is that of what is encrypted, of pyarrow. A spec with the format ``plain`` and
    random nonces derives a new key for each ``Cipher``: make one for each file.

    ``Cipher.of(schema, keys)`` decrypts; ``header`` says what was done, and is in the metadata of
    the schemas of encrypted tables.

    >>> import pyarrow
    >>> from aescomb.columns import Cipher, Keyset
    >>> keys = Keyset("aes-256-gcm")
    >>> column = {"encryption": "randomized", "format": "tink"}
    >>> spec = {"dataset": "people", "columns": {"name": column}}
    >>> batch = pyarrow.record_batch({"name": ["Ada", None]})
    >>> cipher = Cipher(spec, keys, batch.schema)
    >>> encrypted = cipher.encrypt(batch)
    >>> Cipher.of(encrypted.schema, keys).decrypt(encrypted) == batch
    True
    """

    _inner: ColumnCipher

    def __init__(self, spec: Spec, keys: Keys, schema: Any, *, threads: int = 1) -> None:
        columns = [(field.name, field.type) for field in schema]
        self._refuse_encrypted(schema)
        self._inner = ColumnCipher.encrypting(spec_json(spec), _keysets(keys), columns, threads)

    @classmethod
    def of(cls, schema: Any, keys: Keys, spec: Spec | None = None, *, threads: int = 1) -> "Cipher":
        """For what was encrypted as the header in the metadata of ``schema`` says.

        Without one, ``spec`` says it; the types of decrypted columns are in its columns' ``type``,
        or binary, or text for tokens. ``spec`` is also needed where it gave ``associated_data``.
        Nothing authenticates the header: one that does not agree with ``spec`` is refused.
        """
        header = (schema.metadata or {}).get(_HEADER)
        if header is not None:
            return cls.with_header(header.decode(), keys, spec, threads=threads)
        if spec is None:
            raise ValueError("schema: no metadata 'aescomb' in it; give a spec")
        return cls._made(ColumnCipher.with_spec(spec_json(spec), _keysets(keys), threads))

    @classmethod
    def with_header(
        cls, header: str, keys: Keys, spec: Spec | None = None, *, threads: int = 1
    ) -> "Cipher":
        """For what was encrypted as a header says; it also encrypts under the same keys.

        Workers that share in a file or a table use it. Each counts its own values towards limits.
        If ``spec`` is given, the header must agree with it, on all columns of the spec.
        """
        given = None if spec is None else spec_json(spec)
        return cls._made(ColumnCipher.with_header(header, given, _keysets(keys), threads))

    @classmethod
    def _made(cls, inner: ColumnCipher) -> "Cipher":
        cipher = cls.__new__(cls)
        cipher._inner = inner
        return cipher

    @staticmethod
    def _refuse_encrypted(schema: Any) -> None:
        if _HEADER in (schema.metadata or {}):
            raise ValueError("schema: its columns are encrypted already")

    @property
    def header(self) -> str:
        """What is done with which column, as JSON. No secret is in it."""
        return self._inner.header

    def encrypt(self, table: Any) -> Any:
        """Encrypts the columns of a table or batch.

        ``table`` is a ``pyarrow.Table`` or ``RecordBatch``, or anything that ``pyarrow.table``
        takes. The result is a ``Table``, or a ``RecordBatch`` if one is given, with the other
        columns as they are.
        """
        import pyarrow

        table = _given(table)
        self._refuse_encrypted(table.schema)
        columns, nonces = _columns(table), list[tuple[Any, Any]]()
        for name, keys, _ in self._inner.columns:
            i = _place(table, name)
            beside = None if keys is None else table.column(_place(table, keys))
            encrypted, own = self._inner.encrypt(name, table.column(i), beside)
            columns[i] = _like(table, i, encrypted)
            if own is not None:
                field = self._field(name, own)
                nonces.append((field, _array(table, own)))
        metadata = {**(table.schema.metadata or {}), _HEADER: self.header.encode()}
        columns += nonces
        schema = pyarrow.schema([field for field, _ in columns], metadata=metadata)
        return type(table).from_arrays([array for _, array in columns], schema=schema)

    def _field(self, column: str, nonces: Any) -> Any:
        import pyarrow

        names = {name: own for name, _, own in self._inner.columns}
        return pyarrow.field(names[column], pyarrow.chunked_array(nonces).type)

    def decrypt(self, table: Any, *, on_failure: str = "raise") -> Any:
        """Decrypts the columns of a table or batch.

        With ``on_failure="return"``, values that cannot be decrypted are null, and the result
        comes with a list of ``Failure``; else the first one raises ``CellError``.
        """
        import pyarrow

        if on_failure not in ("raise", "return"):
            raise ValueError(f"on_failure: expected 'raise' or 'return', not '{on_failure}'")
        table = _given(table)
        columns, gone, failures = _columns(table), set[int](), list[Failure]()
        for name, keys, nonces in self._inner.columns:
            i = _place(table, name)
            beside: dict[str, Any] = {}
            if keys is not None and keys in table.schema.names:
                beside["keys"] = table.column(_place(table, keys))
            if nonces is not None:
                gone.add(_place(table, nonces))
                beside["nonces"] = table.column(_place(table, nonces))
            stop = on_failure == "raise"
            decrypted, failed = self._inner.decrypt(name, table.column(i), stop=stop, **beside)
            columns[i] = _like(table, i, decrypted)
            failures += [Failure(name, row, reason) for row, reason in failed]
        metadata = {k: v for k, v in (table.schema.metadata or {}).items() if k != _HEADER}
        columns = [column for i, column in enumerate(columns) if i not in gone]
        schema = pyarrow.schema([field for field, _ in columns], metadata=metadata or None)
        result = type(table).from_arrays([array for _, array in columns], schema=schema)
        return (result, failures) if on_failure == "return" else result

    def encrypt_column(self, name: str, values: Any, keys: Any = None) -> Any:
        """An encrypted column, as an Arrow array of pyarrow, for engines that call with arrays.

        ``values`` is any Arrow column, and ``keys`` that of its keys if it has one.
        """
        import pyarrow

        encrypted, nonces = self._inner.encrypt(name, values, keys)
        if nonces is not None:
            raise ValueError(f"column {name!r}: its nonces have a column of their own; use encrypt")
        return pyarrow.array(encrypted)

    def decrypt_column(self, name: str, values: Any, keys: Any = None) -> Any:
        """A decrypted column, as an Arrow array of pyarrow."""
        import pyarrow

        decrypted, _ = self._inner.decrypt(name, values, keys)
        return pyarrow.array(decrypted)


def is_tokens(header: str, column: str) -> bool:
    """Whether the encrypted values of a column are text."""
    return bool(json.loads(header)["columns"][column]["format"] == "ff1")


def _columns(table: Any) -> list[tuple[Any, Any]]:
    return [(table.schema.field(i), table.column(i)) for i in range(table.num_columns)]


def _place(table: Any, name: str) -> int:
    places = table.schema.get_all_field_indices(name)
    if len(places) != 1:
        raise KeyError(f"columns: expected one column {name!r} in the table, not {len(places)}")
    return int(places[0])


def _array(table: Any, column: Any) -> Any:
    import pyarrow

    made = pyarrow.chunked_array if isinstance(table, pyarrow.Table) else pyarrow.array
    return made(column)


def _like(table: Any, i: int, column: Any) -> tuple[Any, Any]:
    """The column with the field of another, but for its type."""
    array = _array(table, column)
    field = table.schema.field(i).with_type(array.type)
    return (field if field.nullable or not array.null_count else field.with_nullable(True)), array


def encrypt_table(table: Any, spec: Spec, keys: Keys, *, threads: int = 1) -> Any:
    """Encrypts the columns of a table as a spec says: ``Cipher.encrypt`` of a new ``Cipher``.

    >>> import pyarrow
    >>> from aescomb.columns import Keyset, encrypt_table
    >>> column = {"encryption": "deterministic", "format": "plain"}
    >>> spec = {"dataset": "people", "columns": {"name": column}}
    >>> encrypted = encrypt_table(pyarrow.table({"name": ["Ada", "Ada"]}), spec,
    ...                           Keyset("aes-256-siv"))
    >>> len(encrypted["name"].unique())
    1
    """
    table = _given(table)
    return Cipher(spec, keys, table.schema, threads=threads).encrypt(table)


def decrypt_table(
    table: Any,
    keys: Keys,
    spec: Spec | None = None,
    *,
    on_failure: str = "raise",
    threads: int = 1,
) -> Any:
    """Decrypts the columns of a table: ``Cipher.decrypt`` of ``Cipher.of`` its schema.

    >>> import pyarrow
    >>> from aescomb.columns import Keyset, decrypt_table
    >>> column = {"encryption": "randomized", "format": "spark", "type": "string"}
    >>> spec = {"dataset": "people", "columns": {"name": column}}
    >>> forged = pyarrow.table({"name": [bytes(40), None]})
    >>> table, failures = decrypt_table(forged, Keyset("aes-256-gcm"), spec, on_failure="return")
    >>> table["name"].to_pylist(), failures
    ([None, None], [Failure(column='name', row=0, reason='authentication failed')])
    """
    table = _given(table)
    cipher = Cipher.of(table.schema, keys, spec, threads=threads)
    return cipher.decrypt(table, on_failure=on_failure)
