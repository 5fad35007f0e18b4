"""Datasets of Ray: ``encrypt`` and ``decrypt``. Needs ray[data]."""

from typing import Any

from aescomb.columns._tables import Cipher, Spec
from aescomb.columns._workers import Worker, WrappedKeys


def encrypt(dataset: Any, spec: Spec, keys: WrappedKeys) -> tuple[Any, str]:
    """The dataset with its columns encrypted, and the header that ``decrypt`` wants."""
    header = Cipher(spec, keys.open(), dataset.schema().base_schema).header
    return _mapped(dataset, Worker("encrypt", header, keys, spec)), header


def decrypt(dataset: Any, header: str, keys: WrappedKeys, spec: Spec | None = None) -> Any:
    """The dataset with its columns decrypted."""
    return _mapped(dataset, Worker("decrypt", header, keys, spec))


def _mapped(dataset: Any, worker: Worker) -> Any:
    def each(batch: Any) -> Any:
        # The header goes with its reader; workers would each write their own.
        return worker(batch.replace_schema_metadata()).replace_schema_metadata()

    return dataset.map_batches(each, batch_format="pyarrow", zero_copy_batch=True)
