"""What workers of other systems are sent: no key that is not wrapped."""

from collections.abc import Callable, Iterable
from typing import Any

from aescomb._aescomb import Keyset
from aescomb.columns._tables import Cipher, Keys, Spec, _keysets, spec_json


class WrappedKeys:
    """Keysets for workers, which are sent wrapped.

    ``service`` is called in each worker, and its result unwraps: a ``Keyset`` for AES-GCM from a
    place that workers can read, or a key service's client, an object with methods ``wrap`` and
    ``unwrap``. It must not hold a key itself, as it is sent, too.

    >>> import pickle
    >>> from aescomb.columns import Keyset, WrappedKeys
    >>> def service():  # from a file that workers have, or a service that they may ask
    ...     return Keyset.from_json(WRAPPING)
    >>> WRAPPING = Keyset("aes-256-gcm").to_json()
    >>> keys = Keyset("aes-256-siv")
    >>> wrapped = WrappedKeys(keys, service)
    >>> wrapped.open()[0].primary == keys.primary
    True
    >>> wrapped
    <aescomb.columns.WrappedKeys of 1 keysets>
    """

    def __init__(self, keys: Keys, service: Callable[[], Any]) -> None:
        unwrapping = service()
        self._texts = [keyset.to_json(wrapped_by=unwrapping) for keyset in _keysets(keys)]
        self._service = service

    def open(self) -> list[Keyset]:
        """The keysets."""
        service = self._service()
        return [Keyset.from_json(text, wrapped_by=service) for text in self._texts]

    def __repr__(self) -> str:
        return f"<aescomb.columns.WrappedKeys of {len(self._texts)} keysets>"


class Worker:
    """Encrypts or decrypts batches: a function that can be sent to workers.

    It is sent with a header and wrapped keys, and opens these where it is first called.

    >>> import pyarrow
    >>> from aescomb.columns import Cipher, Keyset, Worker, WrappedKeys
    >>> wrapping, keys = Keyset("aes-256-gcm"), Keyset("aes-256-gcm")
    >>> spec = {"dataset": "d", "columns": {"n": {"encryption": "randomized", "format": "tink"}}}
    >>> batch = pyarrow.record_batch({"n": [1, 2]})
    >>> header = Cipher(spec, keys, batch.schema).header
    >>> wrapped = WrappedKeys(keys, lambda: wrapping)
    >>> encrypt, decrypt = (Worker(way, header, wrapped) for way in ("encrypt", "decrypt"))
    >>> decrypt(encrypt(batch)) == batch
    True
    """

    def __init__(
        self,
        way: str,
        header: str,
        keys: WrappedKeys,
        spec: Spec | None = None,
        *,
        schema: Any = None,
    ) -> None:
        if way not in ("encrypt", "decrypt"):
            raise ValueError(f"way: expected 'encrypt' or 'decrypt', not '{way}'")
        self.header = header
        self.way = way
        self._keys = keys
        self._spec = None if spec is None else spec_json(spec)
        self.schema = schema
        self._cipher: Cipher | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A cipher holds keys.
        return {**self.__dict__, "_cipher": None}

    def __call__(self, table: Any) -> Any:
        """The batch or table, encrypted or decrypted; as ``schema`` if that was given."""
        result = getattr(self._opened(), self.way)(table)
        return result if self.schema is None else result.cast(self.schema)

    def column(self, name: str, values: Any) -> Any:
        """A column of values, encrypted or decrypted as the column of this name is."""
        return getattr(self._opened(), f"{self.way}_column")(name, values)

    def _opened(self) -> Cipher:
        if self._cipher is None:
            self._cipher = Cipher.with_header(self.header, self._keys.open(), self._spec)
        return self._cipher

    def each(self, batches: Iterable[Any]) -> Iterable[Any]:
        """Those of batches, one after the other."""
        return map(self, batches)

    def __repr__(self) -> str:
        return f"<aescomb.columns.Worker to {self.way}>"
