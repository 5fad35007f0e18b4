"""Columns of tables and files, encrypted as a spec says, with keysets of Tink.

>>> import pyarrow
>>> from aescomb.columns import Keyset, decrypt_table, encrypt_table
>>> spec = {
...     "dataset": "people",
...     "columns": {
...         "name": {"encryption": "deterministic", "format": "tink"},
...         "born": {"encryption": "randomized", "format": "spark"},
...     },
... }
>>> keys = [Keyset("aes-256-siv"), Keyset("aes-256-gcm")]
>>> people = pyarrow.table({"id": [7, 8], "name": ["Ada", None], "born": [1815, 1906]})
>>> encrypted = encrypt_table(people, spec, keys)
>>> encrypted["name"].type, encrypted["name"].null_count
(DataType(binary), 1)
>>> decrypt_table(encrypted, keys) == people
True

``python -m aescomb.columns`` does it with Parquet and CSV files. ``aescomb.columns.spark`` and the
other modules here have the same functions for data frames of other systems.
"""

from aescomb._aescomb import Keyset, mysql_key
from aescomb.columns._tables import Cipher, Failure, decrypt_table, encrypt_table
from aescomb.columns._workers import Worker, WrappedKeys

__all__ = [
    "Cipher",
    "Failure",
    "Keyset",
    "Worker",
    "WrappedKeys",
    "decrypt_table",
    "encrypt_table",
    "mysql_key",
]
