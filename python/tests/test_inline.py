"""Random nonces in front of messages."""

import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import aescomb

RNG = random.Random(17)
COUNT = 2500
# Modes and how many bytes their nonces have.
MODES = {
    mode.name: min(max(12, mode.nonce_bytes[0]), mode.nonce_bytes[1])
    for mode in aescomb.modes()
    if mode.kind != "mac" and mode.nonce_bytes[1] >= 12
}
GCM = aescomb.Key("gcm", bytes(range(16)))
CTR = aescomb.Key("ctr", bytes(range(16)))


def key_of(mode):
    lengths = next(m for m in aescomb.modes() if m.name == mode).key_bytes
    return aescomb.Key(mode, bytes(range(lengths[0])))


def forms(messages):
    half = len(messages) // 2
    yield messages
    yield pa.array(messages, pa.binary())
    yield pa.array(messages, pa.large_binary())
    yield pa.array(messages, pa.binary_view())
    yield pa.array([b"?", *messages], pa.binary())[1:]
    yield pa.chunked_array([messages[:half], [], messages[half:]], pa.binary())
    yield pa.array(messages, pa.binary()).dictionary_encode()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("nulls", [False, True])
def test_forms(mode, nulls):
    key, width = key_of(mode), MODES[mode]
    seal, unseal = key.seal_many, key.open_many
    if key.mode.kind == "cipher":
        seal, unseal = key.encrypt_many, key.decrypt_many
    lengths = [16, 32, 64] if mode in ("cbc", "xts") else range(40)
    messages = [RNG.randbytes(RNG.choice(lengths)) for _ in range(COUNT)]
    if nulls:
        messages = [None if i % 7 == 3 else message for i, message in enumerate(messages)]
    seen = set()
    for form in forms(messages):
        sealed = seal("inline", form)
        values = list(sealed)
        assert [value is None for value in values] == [message is None for message in messages]
        nonces = [None if value is None else value[:width] for value in values]
        rest = [None if value is None else value[width:] for value in values]
        assert rest == seal(nonces, messages)
        for nonce in nonces:
            assert nonce is None or nonce not in seen
            seen.add(nonce)
        if mode == "julius":
            lens = [0 if message is None else len(message) for message in messages]
            assert list(unseal("inline", sealed, opened_lengths=lens)) == messages
            continue
        assert list(unseal("inline", sealed)) == messages
        assert list(unseal("inline", values)) == messages
        if isinstance(form, pa.ChunkedArray):
            chunks = pa.chunked_array(sealed).chunks
            assert [len(c) for c in chunks] == [len(c) for c in form.chunks]


def test_oracle():
    messages = [RNG.randbytes(i) for i in range(100)]
    oracle = AESGCM(bytes(range(16)))
    data = [b"%d" % i for i in range(100)]
    for form in (messages, pa.array(messages)):
        sealed = GCM.seal_many("inline", form, data)
        for value, message, d in zip(list(sealed), messages, data):
            assert oracle.decrypt(value[:12], value[12:], d) == message
        for value, message in zip(list(CTR.encrypt_many("inline", form)), messages):
            cipher = Cipher(algorithms.AES(bytes(range(16))), modes.CTR(value[:16])).decryptor()
            assert cipher.update(value[16:]) == message


@pytest.mark.parametrize("count", [0, 1, 100, COUNT])
def test_arrays(count):
    rows = np.frombuffer(RNG.randbytes(24 * count), np.uint8).reshape(count, 24)
    sealed = GCM.seal_many("inline", rows, b"data")
    if count:
        assert sealed.shape == (count, 12 + 24 + 16)
        nonces, rest = sealed[:, :12], sealed[:, 12:]
        assert len({nonce.tobytes() for nonce in nonces}) == count
        assert (GCM.seal_many(np.ascontiguousarray(nonces), rows, b"data") == rest).all()
        wide = np.zeros((count, 100), np.uint8)
        wide[:, 10:62] = sealed
        assert (GCM.open_many("inline", wide[:, 10:62], b"data") == rows).all()
        assert (GCM.open_many("inline", sealed, b"data") == rows).all()
    fixed = pa.array([row.tobytes() for row in rows], pa.binary(24))
    sealed = pa.array(GCM.seal_many("inline", fixed))
    assert sealed.type == pa.binary(52)
    assert pa.array(GCM.open_many("inline", sealed)) == fixed
    numbers = pa.array([None, *range(count)], pa.int16())
    encrypted = pa.array(CTR.encrypt_many("inline", numbers))
    assert encrypted.type == pa.binary(18)
    assert pa.array(CTR.decrypt_many("inline", encrypted, to="int16")) == numbers


def test_failures():
    messages = [b"one", None, b"three", b"four"]
    sealed = list(GCM.seal_many("inline", pa.array(messages)))
    # A bit of the nonce, and one of the ciphertext.
    sealed[0] = bytes([sealed[0][0] ^ 1]) + sealed[0][1:]
    sealed[3] = sealed[3][:13] + bytes([sealed[3][13] ^ 1]) + sealed[3][14:]
    for form in forms(sealed):
        opened, failed = GCM.open_many("inline", form, on_failure="return")
        assert failed == [0, 3] and list(opened) == [None, None, b"three", None]
    for short, length in [(b"", 0), (bytes(11), 11), (bytes(27), 27)]:
        sealed[3] = short
        for form in forms(sealed):
            with pytest.raises(aescomb.InputError) as caught:
                GCM.open_many("inline", form)
            error = caught.value
            assert (error.message, error.field) == (3, "text_length")
            assert (error.given, error.allowed) == (length, "at least 28")
    for short in (np.zeros((3, 5), np.uint8), pa.array([b"12345"], pa.binary(5))):
        with pytest.raises(aescomb.InputError, match="text of 5 bytes; allowed: at least 28"):
            GCM.open_many("inline", short)


def test_one_message():
    sealed = GCM.seal("inline", b"message", b"data")
    assert len(sealed) == 12 + 7 + 16 and sealed != GCM.seal("inline", b"message", b"data")
    assert GCM.open("inline", sealed, b"data") == b"message"
    assert GCM.open(sealed[:12], sealed[12:], b"data") == b"message"
    assert CTR.decrypt("inline", CTR.encrypt("inline", b"message")) == b"message"
    with pytest.raises(aescomb.OpenError):
        GCM.open("inline", sealed)


def test_keys_by_rows():
    keys = aescomb.Keys({i: aescomb.Key("gcm", bytes([i]) * 16) for i in range(3)})
    ids = [i % 3 for i in range(COUNT)]
    messages = [RNG.randbytes(i % 30) for i in range(COUNT)]
    for form in forms(messages):
        sealed = keys.of(ids).seal_many("inline", form)
        assert list(keys.of(ids).open_many("inline", sealed)) == messages
        for i in (0, 1, 2, COUNT - 1):
            assert keys[i % 3].open("inline", sealed[i]) == messages[i]


def test_tables():
    table = pa.table({"id": [1, 2, 3], "name": ["Ada", None, "Grace"]})
    columns = {"name": {"key": GCM, "nonces": "inline", "associated_data": "id"}}
    sealed = aescomb.seal_table(table, columns)
    assert sealed["name"].type == pa.binary()
    assert aescomb.open_table(sealed, columns, schema=table.schema) == table


def test_mistakes():
    for mode, width, kind in [
        ("ecb", 0, "encrypt"),
        ("ecb-pkcs7", 0, "encrypt"),
        ("jambu", 8, "seal"),
    ]:
        key = key_of(mode)
        for call, message in [(getattr(key, f"{kind}_many"), [b""]), (getattr(key, kind), b"")]:
            with pytest.raises(aescomb.InputError, match="nonces: 'inline' in") as caught:
                call("inline", message)
            error = caught.value
            assert (error.field, error.given) == ("nonce_length", width)
            assert error.allowed == "modes with 12 bytes or more"
    gmac = aescomb.Key("gmac", bytes(16))
    with pytest.raises(ValueError, match="a tag has no place for 'inline' ones"):
        gmac.mac_many([b"text"], "inline")
    with pytest.raises(ValueError, match="a tag has no place for 'inline' ones"):
        gmac.verify_many([b"text"], [bytes(16)], "inline")
    with pytest.raises(TypeError, match="nonces: expected a list .*, not str"):
        GCM.seal_many("random", [b"text"])
    with pytest.raises(TypeError, match="nonce: expected a bytes-like object, not str"):
        GCM.seal("random", b"text")
    rows = np.zeros((2, 24), np.uint8)
    with pytest.raises(TypeError, match="out: results with 'inline' nonces go to a new array"):
        GCM.seal_many("inline", rows, out=np.zeros((2, 52), np.uint8))


def test_after_a_fork():
    """Processes that begin alike have other nonces."""
    program = """
import os, aescomb
key = aescomb.Key("gcm", bytes(16))
key.seal_many("inline", [b""] * 10)
for _ in range(3):
    if os.fork() == 0:
        break
else:
    for _ in range(3):
        assert os.wait()[1] == 0
sealed = key.seal_many("inline", [b""] * 10)
# In one piece, as all processes write to one pipe.
os.write(1, b"".join(value[:12].hex().encode() + b" " for value in sealed))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    nonces = done.stdout.split()
    assert len(nonces) == len(set(nonces)) == 40


def test_nonces_look_random():
    """Every bit is set half of the time, give or take six standard deviations."""
    nonces = b"".join(value[:12] for value in GCM.seal_many("inline", [b""] * 100_000))
    bits = np.unpackbits(np.frombuffer(nonces, np.uint8).reshape(-1, 12), axis=1)
    assert (abs(bits.sum(axis=0) - 50_000.0) < 6 * 158.1).all()
