"""Random batches against the package cryptography, one message at a time."""

import random
from collections.abc import Callable

import pytest
from cryptography.hazmat.decrepit.ciphers.modes import CFB, OFB
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, AESGCMSIV, AESOCB3, AESSIV
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.padding import PKCS7

import aescomb

# More messages than the library is given at a time.
MANY = 5000


def lengths(rng: random.Random, count: int, multiple: int = 1, least: int = 0) -> list[int]:
    drawn = (rng.choice((rng.randrange(33), rng.randrange(2000))) for _ in range(count))
    return [max(length - length % multiple, least) for length in drawn]


def encryptor(mode: Callable) -> Callable:
    def encrypt(key: bytes, nonce: bytes, message: bytes) -> bytes:
        context = Cipher(algorithms.AES(key), mode(nonce)).encryptor()
        return context.update(message) + context.finalize()

    return encrypt


def padded(encrypt: Callable) -> Callable:
    def pad(key: bytes, nonce: bytes, message: bytes) -> bytes:
        padder = PKCS7(128).padder()
        return encrypt(key, nonce, padder.update(message) + padder.finalize())

    return pad


CBC = encryptor(modes.CBC)
ECB = encryptor(lambda nonce: modes.ECB())
# Mode, key lengths, nonce length, what lengths are multiples of, the least, the oracle.
CIPHERS = [
    ("ecb", (16, 24, 32), 0, 16, 0, ECB),
    ("ecb-pkcs7", (16, 24, 32), 0, 1, 0, padded(ECB)),
    ("cbc", (16, 24, 32), 16, 16, 0, CBC),
    ("cbc-pkcs7", (16, 24, 32), 16, 1, 0, padded(CBC)),
    ("cfb128", (16, 24, 32), 16, 1, 0, encryptor(CFB)),
    ("ofb", (16, 24, 32), 16, 1, 0, encryptor(OFB)),
    ("ctr", (16, 24, 32), 16, 1, 0, encryptor(modes.CTR)),
    ("xts", (32, 64), 16, 1, 16, encryptor(modes.XTS)),
]


@pytest.mark.parametrize("mode, keys, nonce_bytes, multiple, least, oracle", CIPHERS)
def test_ciphers(mode, keys, nonce_bytes, multiple, least, oracle):
    rng = random.Random(mode)
    for key_bytes in keys:
        raw = rng.randbytes(key_bytes)
        key = aescomb.Key(mode, raw)
        for count in (0, 1, 3, 100, MANY if key_bytes == keys[-1] else 17):
            messages = [rng.randbytes(n) for n in lengths(rng, count, multiple, least)]
            nonces = [rng.randbytes(nonce_bytes) for _ in messages]
            encrypted = key.encrypt_many(nonces, messages)
            assert encrypted == [oracle(raw, *pair) for pair in zip(nonces, messages)]
            assert key.decrypt_many(nonces, encrypted) == messages


# Mode, key lengths, nonce lengths, tag lengths, the oracle.
AEADS = [
    (
        "gcm", (16, 24, 32), (8, 12, 13, 64), (16,),
        lambda key, nonce, message, data, tag: AESGCM(key).encrypt(nonce, message, data),
    ),
    (
        "ccm", (16, 24, 32), (7, 12, 13), (4, 8, 16),
        lambda key, nonce, message, data, tag: AESCCM(key, tag).encrypt(nonce, message, data),
    ),
    (
        "ocb", (16, 24, 32), (12, 13, 15), (16,),
        lambda key, nonce, message, data, tag: AESOCB3(key).encrypt(nonce, message, data),
    ),
    (
        "gcm-siv", (16, 32), (12,), (16,),
        lambda key, nonce, message, data, tag: AESGCMSIV(key).encrypt(nonce, message, data),
    ),
    (
        "siv", (32, 48, 64), (12, 16), (16,),
        lambda key, nonce, message, data, tag: AESSIV(key).encrypt(message, [data, nonce]),
    ),
]  # fmt: skip


@pytest.mark.parametrize("mode, keys, nonce_lengths, tags, oracle", AEADS)
def test_aeads(mode, keys, nonce_lengths, tags, oracle):
    rng = random.Random(mode)
    for key_bytes in keys:
        raw = rng.randbytes(key_bytes)
        key = aescomb.Key(mode, raw)
        for tag in tags:
            for count in (0, 1, 3, 100, MANY if key_bytes == keys[-1] else 17):
                messages = [rng.randbytes(n) for n in lengths(rng, count, least=1)]
                nonces = [rng.randbytes(rng.choice(nonce_lengths)) for _ in messages]
                data = [rng.randbytes(rng.randrange(50)) for _ in messages]
                sealed = key.seal_many(nonces, messages, data, tag_bytes=tag)
                expected = zip(nonces, messages, data)
                assert sealed == [oracle(raw, *parts, tag) for parts in expected]
                assert key.open_many(nonces, sealed, data, tag_bytes=tag) == messages


def test_data_of_all_messages():
    key = aescomb.Key("gcm", bytes(16))
    nonces = [i.to_bytes(12, "big") for i in range(40)]
    messages = [bytes(i) for i in range(40)]
    for data in (None, b"", b"header"):
        sealed = key.seal_many(nonces, messages, data)
        oracle = AESGCM(bytes(16))
        assert sealed == [oracle.encrypt(*pair, data) for pair in zip(nonces, messages)]
        assert sealed == [key.seal(*pair, data) for pair in zip(nonces, messages)]


def test_components():
    raw = bytes(range(32))
    key, oracle = aescomb.Key("siv", raw), AESSIV(raw)
    messages = [b"one", b"two", b"three", b"four"]
    vectors = [(), (b"",), (b"from", b"to"), (b"from", b"", b"date")]
    expected = [oracle.encrypt(message, list(vector)) for message, vector in zip(messages, vectors)]
    assert key.seal_many(None, messages, vectors) == expected
    assert key.seal_many(None, messages, [None, b"", *vectors[2:]]) == expected
    assert key.open_many(None, expected, vectors) == messages
    for_all = key.seal_many(None, messages, vectors[2])
    assert for_all == [key.seal(None, message, vectors[2]) for message in messages]
    assert for_all[2] == expected[2]


@pytest.mark.parametrize("key_bytes", (16, 24, 32))
def test_cmac(key_bytes):
    rng = random.Random(key_bytes)
    raw = rng.randbytes(key_bytes)
    key = aescomb.Key("cmac", raw)
    for count in (0, 1, 100, MANY):
        messages = [rng.randbytes(n) for n in lengths(rng, count)]
        expected = []
        for message in messages:
            oracle = CMAC(algorithms.AES(raw))
            oracle.update(message)
            expected.append(oracle.finalize())
        assert key.mac_many(messages) == expected
        assert key.mac_many(messages, tag_bytes=4) == [tag[:4] for tag in expected]
        key.verify_many(messages, expected)


def test_gmac():
    raw, nonce = bytes(16), bytes(12)
    messages = [bytes(i) for i in range(1, 40)]
    tags = aescomb.Key("gmac", raw).mac_many(messages, nonce * len(messages))
    assert tags == [AESGCM(raw).encrypt(nonce, b"", message) for message in messages]


@pytest.mark.parametrize("mode, keys", [(mode, keys) for mode, keys, *_ in AEADS])
def test_forged(mode, keys):
    """Exactly those messages fail in which a bit was changed."""
    rng = random.Random(mode)
    key = aescomb.Key(mode, rng.randbytes(keys[0]))
    messages = [rng.randbytes(n) for n in lengths(rng, MANY)]
    nonces = rng.randbytes(12 * MANY)
    sealed = key.seal_many(nonces, messages)
    forged = sorted(rng.sample(range(MANY), 40))
    for i in forged:
        changed = bytearray(sealed[i])
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        sealed[i] = bytes(changed)
    with pytest.raises(aescomb.OpenError) as error:
        key.open_many(nonces, sealed)
    assert error.value.indices == forged
    assert str(error.value).startswith(f"40 of {MANY} messages failed: {forged[0]}, ")
    expected = [None if i in forged else message for i, message in enumerate(messages)]
    assert key.open_many(nonces, sealed, on_failure="return") == (expected, forged)


def test_forged_tags():
    key = aescomb.Key("cmac", bytes(16))
    messages = [bytes(i) for i in range(100)]
    tags = key.mac_many(messages)
    tags[7], tags[50] = tags[50], tags[7]
    with pytest.raises(aescomb.OpenError) as error:
        key.verify_many(messages, tags)
    assert error.value.indices == [7, 50]
    assert key.verify_many(messages, tags, on_failure="return") == [7, 50]
    with pytest.raises(aescomb.OpenError):
        key.verify(messages[7], tags[7])
