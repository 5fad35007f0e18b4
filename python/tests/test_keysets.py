"""Keysets and values beside Tink and cryptography, which read them and write them."""

import io
import json

import pyarrow
import pytest
import tink
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher as Block
from cryptography.hazmat.primitives.ciphers import algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV, AESSIV
from cryptography.hazmat.primitives.kdf.kbkdf import KBKDFCMAC, CounterLocation, Mode
from tink import aead, cleartext_keyset_handle, daead, secret_key_access

import aescomb
from aescomb.columns import Cipher, Keyset, decrypt_table, encrypt_table, mysql_key

aead.register()
daead.register()

TEXTS = ["Ada", None, "", "Grace Hopper, 1906", "é" * 100]
AEADS = aead.aead_key_templates
WAYS = [
    (AEADS.AES128_GCM, aead.Aead, "aes-128-gcm", "randomized"),
    (AEADS.AES256_GCM, aead.Aead, "aes-256-gcm", "randomized"),
    (AEADS.AES256_GCM_SIV, aead.Aead, "aes-256-gcm-siv", "randomized"),
    (AEADS.AES256_GCM_RAW, aead.Aead, "aes-256-gcm", "randomized"),
    (
        daead.deterministic_aead_key_templates.AES256_SIV,
        daead.DeterministicAead,
        "aes-256-siv",
        "deterministic",
    ),
]
ALL = pytest.mark.parametrize("way", WAYS, ids=["128", "256", "gcm-siv", "raw", "siv"])


def spec(encryption, kind="tink", **more):
    column = {"encryption": encryption, "format": kind, **more}
    return {"dataset": "people", "columns": {"name": column}}


def table(texts):
    return pyarrow.table({"name": pyarrow.array(texts, "string")})


def tinks(keys):
    """Our keyset as Tink reads it."""
    return cleartext_keyset_handle.read(tink.JsonKeysetReader(keys.to_json()))


def ours(handle):
    """Tink's keyset as we read it."""
    text = io.StringIO()
    cleartext_keyset_handle.write(tink.JsonKeysetWriter(text), handle)
    return Keyset.from_json(text.getvalue())


def opened_by_tink(primitive, value, data):
    if isinstance(primitive, daead.DeterministicAead):
        return primitive.decrypt_deterministically(value, data)
    return primitive.decrypt(value, data)


def sealed_by_tink(primitive, value, data):
    if isinstance(primitive, daead.DeterministicAead):
        return primitive.encrypt_deterministically(value, data)
    return primitive.encrypt(value, data)


@ALL
def test_tink_opens_what_we_seal(way):
    _, primitive, name, encryption = way
    keys = Keyset(name)
    sealed = encrypt_table(table(TEXTS), spec(encryption), keys)["name"].to_pylist()
    primitive = tinks(keys).primitive(primitive)
    for text, value in zip(TEXTS, sealed):
        if text is None:
            assert value is None
        else:
            assert opened_by_tink(primitive, value, b"people\0name") == text.encode()


@ALL
@pytest.mark.parametrize("data", [None, "", "anything"])
def test_we_open_what_tink_seals(way, data):
    template, primitive, _, encryption = way
    handle = tink.new_keyset_handle(template)
    more = {"type": "string"} if data is None else {"type": "string", "associated_data": data}
    data = b"people\0name" if data is None else data.encode()
    primitive = handle.primitive(primitive)
    sealed = [t if t is None else sealed_by_tink(primitive, t.encode(), data) for t in TEXTS]
    sealed = pyarrow.table({"name": pyarrow.array(sealed, "binary")})
    assert decrypt_table(sealed, ours(handle), spec(encryption, **more)) == table(TEXTS)


@ALL
def test_deterministic_values_are_tinks(way):
    """With the same key, deterministic values are the same bytes."""
    template, primitive, _, encryption = way
    if encryption == "randomized":
        return
    handle = tink.new_keyset_handle(template)
    sealed = encrypt_table(table(TEXTS), spec(encryption), ours(handle))["name"].to_pylist()
    primitive = handle.primitive(primitive)
    data = b"people\0name"
    assert sealed == [
        t if t is None else sealed_by_tink(primitive, t.encode(), data) for t in TEXTS
    ]


def test_keysets_with_several_keys_there_and_back():
    keys = Keyset("aes-256-gcm")
    first = keys.primary
    second, third = keys.add("aes-128-gcm"), keys.add("aes-256-gcm", prefix="raw")
    keys.primary = second
    keys.disable(third)
    handle = tinks(keys)
    assert ours(handle).ids == [first, second, third]
    assert ours(handle).primary == second
    assert json.loads(ours(handle).to_json()) == json.loads(keys.to_json())
    info = handle.keyset_info()
    assert info.primary_key_id == second
    assert [key.key_id for key in info.key_info] == [first, second, third]


def test_wrapped_keysets_there_and_back():
    wrapping = Keyset("aes-256-gcm")
    service = tinks(wrapping).primitive(aead.Aead)
    keys = Keyset("aes-256-siv")
    for data in [None, b"whose"]:
        text = keys.to_json(wrapped_by=wrapping, associated_data=data)
        handle = tink.json_proto_keyset_format.parse_encrypted(text, service, data or b"")
        assert ours(handle).to_json() == keys.to_json()
        back = tink.json_proto_keyset_format.serialize_encrypted(handle, service, data or b"")
        again = Keyset.from_json(back, wrapped_by=wrapping, associated_data=data)
        assert again.to_json() == keys.to_json()
    with pytest.raises(aescomb.ColumnError, match="no key of the wrapping keyset"):
        Keyset.from_json(text, wrapped_by=wrapping, associated_data=b"other")
    with pytest.raises(aescomb.ColumnError, match="wrapped"):
        Keyset.from_json(text)


def test_key_services():
    class Service:
        """Tink's primitive under the names of a key service."""

        def __init__(self):
            handle = tink.new_keyset_handle(aead.aead_key_templates.AES128_GCM)
            self.aead = handle.primitive(aead.Aead)

        def wrap(self, plaintext, associated_data):
            return self.aead.encrypt(plaintext, associated_data)

        def unwrap(self, wrapped, associated_data):
            return self.aead.decrypt(wrapped, associated_data)

    service, keys = Service(), Keyset("aes-256-gcm")
    text = keys.to_json(wrapped_by=service, associated_data=b"whose")
    assert Keyset.from_json(text, service, b"whose").to_json() == keys.to_json()
    with pytest.raises(aescomb.ColumnError, match="unwrap: "):
        Keyset.from_json(text, service, b"other")
    with pytest.raises(aescomb.ColumnError, match="wrap: "):
        keys.to_json(wrapped_by=object())


def test_keys_that_tink_does_not_have():
    keys = Keyset("aes-192-gcm")
    keys.add("aes-128-cbc-pkcs7")
    # Tink keeps them.
    assert ours(tinks(keys)).to_json() == keys.to_json()


def test_serialized_by_tinks_newest_interface():
    handle = tink.new_keyset_handle(aead.aead_key_templates.AES128_GCM)
    text = tink.json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN)
    keys = Keyset.from_json(text)
    assert json.loads(keys.to_json()) == json.loads(text)


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_spark_values_beside_cryptography(bits):
    key = bytes(range(bits // 8))
    keys = Keyset()
    keys.add(f"aes-{bits}-gcm", key)
    keys.add(f"aes-{bits}-cbc-pkcs7", key)
    gcm, cbc = keys.ids
    sealed = encrypt_table(table(TEXTS), spec("randomized", "spark", key=gcm), keys)["name"]
    for text, value in zip(TEXTS, sealed.to_pylist()):
        if text is not None:
            assert AESGCM(key).decrypt(value[:12], value[12:], None) == text.encode()
    sealed = encrypt_table(table(TEXTS), spec("randomized", "spark", key=cbc), keys)["name"]
    for text, value in zip(TEXTS, sealed.to_pylist()):
        if text is not None:
            block = Block(algorithms.AES(key), modes.CBC(value[:16])).decryptor()
            unpadder = padding.PKCS7(128).unpadder()
            padded = block.update(value[16:]) + block.finalize()
            assert unpadder.update(padded) + unpadder.finalize() == text.encode()
    nonce = bytes(12)
    theirs = [
        None if t is None else nonce + AESGCM(key).encrypt(nonce, t.encode(), b"data")
        for t in TEXTS
    ]
    given = spec("randomized", "spark", key=gcm, type="string", associated_data="data")
    theirs = pyarrow.table({"name": pyarrow.array(theirs, "binary")})
    assert decrypt_table(theirs, keys, given) == table(TEXTS)


def test_gcm_siv_beside_cryptography():
    key = bytes(range(32))
    keys = Keyset()
    keys.add("aes-256-gcm-siv", key)
    sealed = encrypt_table(table(TEXTS), spec("randomized", "plain"), keys)["name"]
    for text, value in zip(TEXTS, sealed.to_pylist()):
        if text is not None:
            opened = AESGCMSIV(key).decrypt(value[:12], value[12:], b"people\0name")
            assert opened == text.encode()


def test_siv_beside_cryptography():
    key = bytes(range(64))
    keys = Keyset()
    keys.add("aes-256-siv", key)
    sealed = encrypt_table(table(TEXTS), spec("deterministic", "plain"), keys)["name"]
    theirs = [
        None if text is None else AESSIV(key).encrypt(text.encode(), [b"people\0name"])
        for text in TEXTS
        # cryptography seals no empty text.
        if text != ""
    ]
    assert [value for value, text in zip(sealed.to_pylist(), TEXTS) if text != ""] == theirs


def test_keys_of_files_beside_cryptography():
    """The derivation is SP 800-108's, and its documented input."""
    import base64

    key = bytes(range(32))
    keys = Keyset()
    keys.add("aes-256-cmac-prf", key)
    people = table(TEXTS)
    cipher = Cipher(spec("randomized", "plain"), keys, people.schema)
    salt = base64.b64decode(json.loads(cipher.header)["columns"]["name"]["salt"])
    assert len(salt) == 16
    derived = KBKDFCMAC(
        algorithm=algorithms.AES,
        mode=Mode.CounterMode,
        length=32,
        rlen=4,
        llen=4,
        location=CounterLocation.BeforeFixed,
        label=b"aescomb columns aes-256-gcm",
        context=salt + b"people\0name",
        fixed=None,
    ).derive(key)
    for text, value in zip(TEXTS, cipher.encrypt(people)["name"].to_pylist()):
        if text is not None:
            opened = AESGCM(derived).decrypt(value[:12], value[12:], b"people\0name")
            assert opened == text.encode()
            with pytest.raises(InvalidTag):
                AESGCM(key).decrypt(value[:12], value[12:], b"people\0name")


def test_keys_of_mysql():
    assert mysql_key(128, bytes(range(16))) == bytes(range(16))
    folded = mysql_key(128, bytes(range(20)))
    assert folded == bytes(i ^ (16 + i if i < 4 else 0) for i in range(16))
    with pytest.raises(ValueError, match="128, 192 or 256"):
        mysql_key(64, b"")


def test_no_key_is_shown():
    keys = Keyset()
    keys.add("aes-128-gcm", b"a key in letters")
    assert "letters" not in repr(keys) and str(keys.primary) in repr(keys)
