from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias, final, overload, type_check_only

from numpy import uint8, uint16
from numpy.typing import NDArray
from typing_extensions import Buffer

__all__ = [
    "Column",
    "ColumnCipher",
    "Ff1",
    "Key",
    "Keys",
    "Keyset",
    "Mode",
    "__version__",
    "columns_command",
    "keep_memory",
    "modes",
    "mysql_key",
]

__version__: Final[str]

@type_check_only
class _Array(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...

@type_check_only
class _Stream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

@type_check_only
class _Type(Protocol):
    def __arrow_c_schema__(self) -> Any: ...

_Arrow: TypeAlias = _Array | _Stream
_Table: TypeAlias = NDArray[uint8]
_Items: TypeAlias = Iterable[Buffer]
_Nullable: TypeAlias = Iterable[Buffer | None]
_To: TypeAlias = str | _Type
# A value for each message.
_Column: TypeAlias = _Nullable | _Table | _Arrow | Buffer
_Nonces: TypeAlias = _Column | Literal["inline"]
# A tuple has several components.
_Component: TypeAlias = Buffer | tuple[Buffer, ...] | None
_Data: TypeAlias = _Component | Iterable[_Component] | _Table | _Arrow

@final
class Mode:
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def kind(self) -> Literal["cipher", "mac", "aead"]: ...
    @property
    def key_bytes(self) -> tuple[int, ...]: ...
    @property
    def nonce_bytes(self) -> tuple[int, int]: ...
    @property
    def tag_bytes(self) -> tuple[int, ...]: ...
    @property
    def data_components(self) -> int: ...
    @property
    def nonce_reuse(self) -> str: ...
    @property
    def research(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...

def modes() -> list[Mode]: ...
def keep_memory(most: int) -> int: ...

@final
class Column:
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> bytes | str | None: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

_Texts: TypeAlias = Iterable[str]
_Numerals: TypeAlias = NDArray[uint16]
_Id: TypeAlias = str | int | bytes
_Ids: TypeAlias = Iterable[_Id | None] | _Arrow
_Tweaks: TypeAlias = Buffer | _Nullable | _Table | _Arrow

@final
class Ff1:
    @overload
    def __new__(
        cls,
        key: Buffer | dict[str, bytes] | dict[int, bytes] | dict[bytes, bytes],
        alphabet: str,
        *,
        radix: None = None,
    ) -> Ff1: ...
    @overload
    def __new__(
        cls,
        key: Buffer | dict[str, bytes] | dict[int, bytes] | dict[bytes, bytes],
        alphabet: None = None,
        *,
        radix: int,
    ) -> Ff1: ...
    @property
    def alphabet(self) -> str | None: ...
    @property
    def radix(self) -> int: ...
    @property
    def min_length(self) -> int: ...
    @overload
    def encrypt_many(
        self,
        values: _Numerals,
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> _Numerals: ...
    @overload
    def encrypt_many(
        self,
        values: _Arrow,
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> Column: ...
    @overload
    def encrypt_many(  # type: ignore[overload-overlap]
        self,
        values: _Texts,
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> list[str]: ...
    @overload
    def encrypt_many(  # type: ignore[overload-overlap]
        self,
        values: Iterable[str | None],
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> list[str | None]: ...
    @overload
    def encrypt_many(
        self,
        values: Iterable[Sequence[int] | None],
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> list[list[int] | None]: ...
    @overload
    def decrypt_many(
        self,
        values: _Numerals,
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> _Numerals: ...
    @overload
    def decrypt_many(
        self,
        values: _Arrow,
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> Column: ...
    @overload
    def decrypt_many(  # type: ignore[overload-overlap]
        self,
        values: _Texts,
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> list[str]: ...
    @overload
    def decrypt_many(  # type: ignore[overload-overlap]
        self,
        values: Iterable[str | None],
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> list[str | None]: ...
    @overload
    def decrypt_many(
        self,
        values: Iterable[Sequence[int] | None],
        tweaks: _Tweaks | None = None,
        *,
        ids: _Ids | None = None,
        threads: int | None = None,
    ) -> list[list[int] | None]: ...
    @overload
    def encrypt(self, value: str, tweak: Buffer | None = None, *, id: _Id | None = None) -> str: ...
    @overload
    def encrypt(
        self, value: Sequence[int], tweak: Buffer | None = None, *, id: _Id | None = None
    ) -> list[int]: ...
    @overload
    def decrypt(self, value: str, tweak: Buffer | None = None, *, id: _Id | None = None) -> str: ...
    @overload
    def decrypt(
        self, value: Sequence[int], tweak: Buffer | None = None, *, id: _Id | None = None
    ) -> list[int]: ...

@final
class Key:
    def __new__(cls, mode: str, key: Buffer) -> Key: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def key_bits(self) -> int: ...
    @overload
    def encrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Table,
        *,
        out: _Table | None = None,
        threads: int | None = None,
    ) -> _Table: ...
    @overload
    def encrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Arrow,
        *,
        out: None = None,
        threads: int | None = None,
    ) -> Column: ...
    @overload
    def encrypt_many(  # type: ignore[overload-overlap]
        self,
        nonces: _Nonces | None,
        messages: _Items,
        *,
        out: None = None,
        threads: int | None = None,
    ) -> list[bytes]: ...
    @overload
    def encrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Nullable,
        *,
        out: None = None,
        threads: int | None = None,
    ) -> list[bytes | None]: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Table,
        *,
        to: None = None,
        on_failure: Literal["raise"] = "raise",
        out: _Table | None = None,
        threads: int | None = None,
    ) -> _Table: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Table,
        *,
        to: None = None,
        on_failure: Literal["return"],
        out: _Table | None = None,
        threads: int | None = None,
    ) -> tuple[_Table, list[int]]: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Arrow,
        *,
        to: _To | None = None,
        on_failure: Literal["raise"] = "raise",
        out: None = None,
        threads: int | None = None,
    ) -> Column: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Arrow,
        *,
        to: _To | None = None,
        on_failure: Literal["return"],
        out: None = None,
        threads: int | None = None,
    ) -> tuple[Column, list[int]]: ...
    @overload
    def decrypt_many(  # type: ignore[overload-overlap]
        self,
        nonces: _Nonces | None,
        messages: _Items,
        *,
        to: None = None,
        on_failure: Literal["raise"] = "raise",
        out: None = None,
        threads: int | None = None,
    ) -> list[bytes]: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Nullable,
        *,
        to: None = None,
        on_failure: Literal["raise"] = "raise",
        out: None = None,
        threads: int | None = None,
    ) -> list[bytes | None]: ...
    @overload
    def decrypt_many(
        self,
        nonces: _Nonces | None,
        messages: _Nullable,
        *,
        to: None = None,
        on_failure: Literal["return"],
        out: None = None,
        threads: int | None = None,
    ) -> tuple[list[bytes | None], list[int]]: ...
    @overload
    def seal_many(
        self,
        nonces: _Nonces | None,
        messages: _Table,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        out: _Table | None = None,
        threads: int | None = None,
    ) -> _Table: ...
    @overload
    def seal_many(
        self,
        nonces: _Nonces | None,
        messages: _Arrow,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        out: None = None,
        threads: int | None = None,
    ) -> Column: ...
    @overload
    def seal_many(  # type: ignore[overload-overlap]
        self,
        nonces: _Nonces | None,
        messages: _Items,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        out: None = None,
        threads: int | None = None,
    ) -> list[bytes]: ...
    @overload
    def seal_many(
        self,
        nonces: _Nonces | None,
        messages: _Nullable,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        out: None = None,
        threads: int | None = None,
    ) -> list[bytes | None]: ...
    @overload
    def open_many(
        self,
        nonces: _Nonces | None,
        messages: _Table,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        opened_lengths: Iterable[int] | None = None,
        to: None = None,
        on_failure: Literal["raise"] = "raise",
        out: _Table | None = None,
        threads: int | None = None,
    ) -> _Table: ...
    @overload
    def open_many(
        self,
        nonces: _Nonces | None,
        messages: _Table,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        opened_lengths: Iterable[int] | None = None,
        to: None = None,
        on_failure: Literal["return"],
        out: _Table | None = None,
        threads: int | None = None,
    ) -> tuple[_Table, list[int]]: ...
    @overload
    def open_many(
        self,
        nonces: _Nonces | None,
        messages: _Arrow,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        opened_lengths: Iterable[int] | None = None,
        to: _To | None = None,
        on_failure: Literal["raise"] = "raise",
        out: None = None,
        threads: int | None = None,
    ) -> Column: ...
    @overload
    def open_many(
        self,
        nonces: _Nonces | None,
        messages: _Arrow,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        opened_lengths: Iterable[int] | None = None,
        to: _To | None = None,
        on_failure: Literal["return"],
        out: None = None,
        threads: int | None = None,
    ) -> tuple[Column, list[int]]: ...
    @overload
    def open_many(  # type: ignore[overload-overlap]
        self,
        nonces: _Nonces | None,
        messages: _Items,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        opened_lengths: Iterable[int] | None = None,
        to: None = None,
        on_failure: Literal["raise"] = "raise",
        out: None = None,
        threads: int | None = None,
    ) -> list[bytes]: ...
    @overload
    def open_many(
        self,
        nonces: _Nonces | None,
        messages: _Nullable,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        opened_lengths: Iterable[int] | None = None,
        to: None = None,
        on_failure: Literal["raise"] = "raise",
        out: None = None,
        threads: int | None = None,
    ) -> list[bytes | None]: ...
    @overload
    def open_many(
        self,
        nonces: _Nonces | None,
        messages: _Nullable,
        associated_data: _Data = None,
        *,
        tag_bytes: int | None = None,
        opened_lengths: Iterable[int] | None = None,
        to: None = None,
        on_failure: Literal["return"],
        out: None = None,
        threads: int | None = None,
    ) -> tuple[list[bytes | None], list[int]]: ...
    @overload
    def mac_many(
        self,
        messages: _Table,
        nonces: _Column | None = None,
        *,
        tag_bytes: int | None = None,
        threads: int | None = None,
    ) -> _Table: ...
    @overload
    def mac_many(
        self,
        messages: _Arrow,
        nonces: _Column | None = None,
        *,
        tag_bytes: int | None = None,
        threads: int | None = None,
    ) -> Column: ...
    @overload
    def mac_many(  # type: ignore[overload-overlap]
        self,
        messages: _Items,
        nonces: _Column | None = None,
        *,
        tag_bytes: int | None = None,
        threads: int | None = None,
    ) -> list[bytes]: ...
    @overload
    def mac_many(
        self,
        messages: _Nullable,
        nonces: _Column | None = None,
        *,
        tag_bytes: int | None = None,
        threads: int | None = None,
    ) -> list[bytes | None]: ...
    @overload
    def verify_many(
        self,
        messages: _Nullable | _Table | _Arrow,
        tags: _Column,
        nonces: _Column | None = None,
        *,
        on_failure: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> None: ...
    @overload
    def verify_many(
        self,
        messages: _Nullable | _Table | _Arrow,
        tags: _Column,
        nonces: _Column | None = None,
        *,
        on_failure: Literal["return"],
        threads: int | None = None,
    ) -> list[int]: ...
    def encrypt(self, nonce: Buffer | Literal["inline"] | None, message: Buffer) -> bytes: ...
    def decrypt(self, nonce: Buffer | Literal["inline"] | None, message: Buffer) -> bytes: ...
    def seal(
        self,
        nonce: Buffer | Literal["inline"] | None,
        message: Buffer,
        associated_data: _Component = None,
        *,
        tag_bytes: int | None = None,
    ) -> bytes: ...
    def open(
        self,
        nonce: Buffer | Literal["inline"] | None,
        message: Buffer,
        associated_data: _Component = None,
        *,
        tag_bytes: int | None = None,
        opened_length: int | None = None,
    ) -> bytes: ...
    def mac(
        self, message: Buffer, nonce: Buffer | None = None, *, tag_bytes: int | None = None
    ) -> bytes: ...
    def verify(self, message: Buffer, tag: Buffer, nonce: Buffer | None = None) -> None: ...

@final
class Keys:
    def __new__(cls, keys: dict[str, Key] | dict[int, Key] | dict[bytes, Key]) -> Keys: ...
    def __len__(self) -> int: ...
    def __contains__(self, id: _Id, /) -> bool: ...
    def __getitem__(self, id: _Id, /) -> Key: ...
    def of(self, ids: _Ids) -> Key: ...

@type_check_only
class _Service(Protocol):
    def wrap(self, plaintext: bytes, associated_data: bytes, /) -> bytes: ...
    def unwrap(self, wrapped: bytes, associated_data: bytes, /) -> bytes: ...

@final
class Keyset:
    def __new__(cls, type: str | None = None) -> Keyset: ...
    @staticmethod
    def from_json(
        json: str,
        wrapped_by: Keyset | _Service | None = None,
        associated_data: bytes | None = None,
    ) -> Keyset: ...
    def to_json(
        self,
        wrapped_by: Keyset | _Service | None = None,
        associated_data: bytes | None = None,
    ) -> str: ...
    def add(
        self,
        type: str,
        secret: bytes | None = None,
        prefix: Literal["tink", "crunchy", "raw"] | None = None,
    ) -> int: ...
    @property
    def ids(self) -> list[int]: ...
    @property
    def primary(self) -> int: ...
    @primary.setter
    def primary(self, value: int, /) -> None: ...
    def enable(self, id: int) -> None: ...
    def disable(self, id: int) -> None: ...
    def remove(self, id: int) -> None: ...

@final
class ColumnCipher:
    @staticmethod
    def encrypting(
        spec: str, keysets: list[Keyset], columns: list[tuple[str, _Type]], threads: int
    ) -> ColumnCipher: ...
    @staticmethod
    def with_header(
        header: str, spec: str | None, keysets: list[Keyset], threads: int
    ) -> ColumnCipher: ...
    @staticmethod
    def with_spec(spec: str, keysets: list[Keyset], threads: int) -> ColumnCipher: ...
    @property
    def header(self) -> str: ...
    @property
    def columns(self) -> list[tuple[str, str | None, str | None]]: ...
    def encrypt(
        self, name: str, column: _Arrow, keys: _Arrow | None = None
    ) -> tuple[Column, Column | None]: ...
    def decrypt(
        self,
        name: str,
        column: _Arrow,
        keys: _Arrow | None = None,
        nonces: _Arrow | None = None,
        stop: bool = True,
    ) -> tuple[Column, list[tuple[int, str]]]: ...

def columns_command(arguments: list[str]) -> int: ...
def mysql_key(bits: int, given: bytes) -> bytes: ...
