"""The known answers of the repository, as batches: one of each key and tag length."""

from collections import defaultdict

import pytest

import aescomb
from vectors import Vector, folders, read

MODES = {mode.name: mode for mode in aescomb.modes()}
# As many as there are, so that none is passed over unnoticed.
COUNTS = {"derived": 1125, "nist": 21750, "research": 1118, "supercop": 240}


def vectors_of(folder) -> tuple[aescomb.Mode, list[Vector]]:
    mode = MODES[folder.name.lower()]
    return mode, read(folder, mode)


def batches(vectors: list[Vector]) -> list[list[Vector]]:
    together = defaultdict(list)
    for vector in vectors:
        together[vector.key, vector.tag_bytes, vector.forged].append(vector)
    return list(together.values())


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: "/".join(folder.parts[-2:]))
def test_folder(folder):
    mode, vectors = vectors_of(folder)
    assert vectors
    for batch in batches(vectors):
        check(mode, batch)


def test_all_are_read():
    counts = {name: 0 for name in COUNTS}
    for folder in folders():
        counts[folder.parent.name] += len(vectors_of(folder)[1])
    assert counts == COUNTS


def check(mode: aescomb.Mode, batch: list[Vector]) -> None:
    key = aescomb.Key(mode.name, batch[0].key)
    nonces = [vector.nonce for vector in batch]
    messages = [vector.message for vector in batch]
    results = [vector.result for vector in batch]
    if mode.kind == "cipher":
        assert key.encrypt_many(nonces, messages) == results
        assert key.decrypt_many(nonces, results) == messages
        assert key.encrypt(nonces[0], messages[0]) == results[0]
        assert key.decrypt(nonces[0], results[0]) == messages[0]
        return
    tag_bytes = batch[0].tag_bytes
    if mode.kind == "mac":
        assert key.mac_many(messages, nonces, tag_bytes=tag_bytes) == results
        key.verify_many(messages, results, nonces)
        assert key.mac(messages[0], nonces[0], tag_bytes=tag_bytes) == results[0]
        key.verify(messages[0], results[0], nonces[0])
        return
    data = [tuple(vector.data) for vector in batch]
    if batch[0].forged:
        with pytest.raises(aescomb.OpenError) as error:
            key.open_many(nonces, results, data, tag_bytes=tag_bytes)
        assert error.value.indices == list(range(len(batch)))
        return
    lengths = [len(message) for message in messages]
    assert key.seal_many(nonces, messages, data, tag_bytes=tag_bytes) == results
    opened = key.open_many(nonces, results, data, tag_bytes=tag_bytes, opened_lengths=lengths)
    assert opened == messages
    assert key.seal(nonces[0], messages[0], data[0], tag_bytes=tag_bytes) == results[0]
    opened = key.open(nonces[0], results[0], data[0], tag_bytes=tag_bytes, opened_length=lengths[0])
    assert opened == messages[0]
