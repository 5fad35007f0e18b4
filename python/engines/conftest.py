"""What the tests of engines have in common."""

import os
from pathlib import Path

import pyarrow as pa
import pytest

from aescomb.columns import Keyset, WrappedKeys

TEXTS = [None if i % 10 == 3 else f"value {i} é" * (i % 4) for i in range(200)]


class Service:
    """What unwraps keys: a keyset in a file that workers can read."""

    def __init__(self, path):
        self.path = str(path)

    def __call__(self):
        return Keyset.from_json(Path(self.path).read_text())


@pytest.fixture(scope="session")
def wrapped(tmp_path_factory):
    """Keysets, wrapped for workers, with a secret of known bytes among them."""
    path = tmp_path_factory.mktemp("keys") / "wrapping.json"
    path.write_text(Keyset("aes-256-gcm").to_json())
    os.chmod(path, 0o600)
    gcm, siv = Keyset(), Keyset()
    gcm.add("aes-256-gcm", SECRET)
    siv.add("aes-256-siv", SECRET[::-1] + SECRET)
    return WrappedKeys([gcm, siv], Service(path))


SECRET = b"thirty-two bytes that are secret"

SPEC = {
    "dataset": "people",
    "columns": {
        "name": {"encryption": "deterministic", "format": "tink"},
        "born": {"encryption": "randomized", "format": "spark"},
    },
}


def people(rows):
    return pa.table(
        {
            "id": pa.array(range(rows), pa.int64()),
            "name": [None if i % 10 == 3 else f"name {i % 50}" for i in range(rows)],
            "born": [None if i % 7 == 3 else 1900 + i % 100 for i in range(rows)],
        }
    )
