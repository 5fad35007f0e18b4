"""AES for many independent messages at once.

``Key`` is a key for a mode; its methods work on batches of messages, which they
interleave to keep the AES units of the CPU busy:

>>> import aescomb
>>> key = aescomb.Key("gcm", bytes(16))
>>> nonces = [i.to_bytes(12, "big") for i in range(3)]
>>> sealed = key.seal_many(nonces, [b"one", b"two", b"three"])
>>> key.open_many(nonces, sealed)
[b'one', b'two', b'three']

Messages are a list of bytes-like objects, the rows of a two-dimensional NumPy array
of bytes, or an Arrow column; results come in the form that messages had. ``seal_table`` and
``open_table`` go over the columns of a table. ``Ff1`` encrypts text to text of the same
characters and length. ``aescomb.columns`` encrypts the columns of tables and files by a spec, with
keysets and in formats of other systems.
"""

from aescomb._aescomb import Column, Ff1, Key, Keys, Mode, __version__, keep_memory, modes
from aescomb._errors import CellError, ColumnError, Error, InputError, OpenError
from aescomb._tables import open_table, seal_table

__all__ = [
    "CellError",
    "Column",
    "ColumnError",
    "Error",
    "Ff1",
    "InputError",
    "Key",
    "Keys",
    "Mode",
    "OpenError",
    "__version__",
    "keep_memory",
    "modes",
    "open_table",
    "seal_table",
]
