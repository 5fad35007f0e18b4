"""The known answers of the repository, as batches: one of each key and tag length."""

from collections import defaultdict

import pytest

import aescomb
from vectors import Vector, read

MODES = list(aescomb.modes())


def batches(vectors: list[Vector]) -> list[list[Vector]]:
    together = defaultdict(list)
    for vector in vectors:
        together[vector.key, vector.tag_bytes, vector.forged].append(vector)
    return list(together.values())


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_mode(mode):
    vectors = read(mode.name)
    assert vectors
    for batch in batches(vectors):
        check(mode, batch)


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
