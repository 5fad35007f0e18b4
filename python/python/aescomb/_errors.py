"""What methods raise, beside ``TypeError`` for objects of a wrong type."""


class Error(ValueError):
    """Any error of this package."""

    __module__ = "aescomb"


class InputError(Error):
    """A mistake in what was given, found before any message is touched.

    >>> import aescomb
    >>> try:
    ...     aescomb.Key("gcm", bytes(16)).seal_many([b"short", bytes(12)], [b"one", b"two"],
    ...                                             tag_bytes=17)
    ... except aescomb.InputError as error:
    ...     print(error)
    ...     print(error.field, error.given, error.allowed)
    tag of 17 bytes; allowed: 4, 8, 12, 13, 14, 15 or 16
    tag_length 17 4, 8, 12, 13, 14, 15 or 16
    """

    __module__ = "aescomb"

    message: int | None
    """Index of the message that is wrong, if it is one."""
    field: str
    """What is wrong with it: ``"nonce_length"``, ``"tag_length"``, ``"count"``, ..."""
    given: int | str | None
    """What was given, in the unit of the field, or its name; ``None`` for nothing and for numbers
    below 0."""
    allowed: str
    """What the field may be."""
    position: int | None
    """Where in its value a character or numeral is that is wrong, or in an alphabet."""

    def __init__(
        self,
        text: str,
        message: int | None,
        field: str,
        given: int | str | None,
        allowed: str,
        position: int | None = None,
    ) -> None:
        super().__init__(text, message, field, given, allowed, position)
        self.message = message
        self.field = field
        self.given = given
        self.allowed = allowed
        self.position = position

    def __str__(self) -> str:
        return str(self.args[0])


class OpenError(Error):
    """Messages with wrong tags (authentication failed) or invalid padding.

    >>> import aescomb
    >>> key = aescomb.Key("gcm", bytes(16))
    >>> nonces = [bytes(12), bytes(11) + b"1"]
    >>> sealed = key.seal_many(nonces, [b"one", b"two"])
    >>> try:
    ...     key.open_many(nonces, [sealed[0], bytes(19)])
    ... except aescomb.OpenError as error:
    ...     print(error.indices)
    [1]
    """

    __module__ = "aescomb"

    indices: list[int]
    """Places of those messages in their batch, in ascending order."""

    def __init__(self, text: str, indices: list[int]) -> None:
        super().__init__(text, indices)
        self.indices = indices

    def __str__(self) -> str:
        return str(self.args[0])


class ColumnError(Error):
    """A mistake in a spec, a keyset, a column or a file of ``aescomb.columns``.

    >>> import pyarrow
    >>> from aescomb.columns import Keyset, encrypt_table
    >>> spec = {"dataset": "d", "columns": {"a": {"encryption": "randomized", "format": "tink"}}}
    >>> encrypt_table(pyarrow.table({"b": [1]}), spec, Keyset("aes-128-gcm"))
    Traceback (most recent call last):
    aescomb.ColumnError: column "a": no such column; allowed: one of that name
    """

    __module__ = "aescomb"


class CellError(ColumnError):
    """A value that cannot be encrypted or decrypted.

    >>> import aescomb, pyarrow
    >>> from aescomb.columns import Keyset, decrypt_table
    >>> spec = {"dataset": "d", "columns": {"a": {"encryption": "randomized", "format": "tink"}}}
    >>> try:
    ...     decrypt_table(pyarrow.table({"a": [b"short"]}), Keyset("aes-128-gcm"), spec)
    ... except aescomb.CellError as error:
    ...     print(error.column, error.row, error.reason)
    a 0 no key identifier at the beginning
    """

    __module__ = "aescomb"

    column: str
    """Its column."""
    row: int
    """Its row, from 0 on."""
    reason: str
    """What is wrong with it."""

    def __init__(self, text: str, column: str, row: int, reason: str) -> None:
        super().__init__(text, column, row, reason)
        self.column = column
        self.row = row
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])
