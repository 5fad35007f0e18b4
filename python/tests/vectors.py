"""Reads the known answers of the repository, for which vectors/README.md says what they are.

A folder is a mode; its files are JSON, or lines of ``NAME = hexadecimal digits`` as NIST's
validation program writes them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aescomb import Mode

VECTORS = Path(__file__).parents[2] / "vectors"


@dataclass
class Vector:
    key: bytes
    nonce: bytes = b""
    data: list[bytes] = field(default_factory=list)
    message: bytes = b""
    # Ciphertext and tag; for a MAC the tag.
    result: bytes = b""
    tag_bytes: int = 0
    # The tag is wrong: opening must fail.
    forged: bool = False


def folders() -> list[Path]:
    """The folders of vectors/ but one, whose answers are of no mode of the library."""
    found = sorted(path for path in VECTORS.glob("*/*") if path.is_dir())
    return [path for path in found if path.name != "julius-as-coded"]


def read(folder: Path, mode: Mode) -> list[Vector]:
    """All vectors of a folder, which are for this mode."""
    vectors: list[Vector] = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".json":
            vectors += _json(json.loads(path.read_text()), mode)
        else:
            vectors += _nist(path.read_text(), mode.kind)
    return vectors


def _json(document: dict[str, Any], mode: Mode) -> Iterator[Vector]:
    for test in document["tests"]:
        parts = {name: bytes.fromhex(value) for name, value in test.items() if name != "id"}
        if "out" in parts:
            result = parts["out"]
            if mode.name == "julius":
                # The first block is the tag.
                result = result[16:] + result[:16]
            tag_bytes = mode.tag_bytes[-1]
        else:
            result = parts["ct"] + parts["tag"]
            tag_bytes = len(parts["tag"])
        # All files have the member, whether the mode takes any or not.
        data = [parts["ad"]][: mode.data_components]
        yield Vector(parts["key"], parts["nonce"], data, parts["msg"], result, tag_bytes)


# What stands for the same.
_NAMES = {
    "i": "nonce", "iv": "nonce",
    "pt": "plaintext", "payload": "plaintext", "message": "plaintext",
    "ct": "ciphertext", "output": "tag",
    "adata": "aad",
}  # fmt: skip
_LENGTHS = {
    "plen": ("plaintext", 1), "ptlen": ("plaintext", 8), "dataunitlen": ("plaintext", 8),
    "alen": ("aad", 1), "aadlen": ("aad", 8), "tlen": ("tag", 1), "taglen": ("tag", 8),
    "nlen": ("nonce", 1), "ivlen": ("nonce", 8), "keylen": ("key", 8),
}  # fmt: skip


def _nist(text: str, kind: str) -> Iterator[Vector]:
    lengths: dict[str, float] = {}
    shared: dict[str, str] = {}
    for block in text.replace("\r", "").replace("\nCOUNT", "\n\nCOUNT").split("\n\n"):
        test: dict[str, str] = {}
        for line in block.splitlines():
            line = line.strip()
            if line.startswith("#") or line in ("", "[ENCRYPT]", "[DECRYPT]"):
                continue
            if line == "FAIL":
                test["fail"] = ""
                continue
            for part in line.strip("[]").split(","):
                name, value = (side.strip().lower() for side in part.split("="))
                if name in _LENGTHS:
                    what, unit = _LENGTHS[name]
                    lengths[what] = int(value) / unit
                    shared = {}
                else:
                    test[_NAMES.get(name, name)] = value
        if "count" not in test:
            # A key, or a key and a nonce, for the tests that follow.
            shared = test or shared
            continue
        if lengths.get("plaintext", 0) % 1:
            continue
        yield _vector(shared | test, lengths, kind)


def _vector(test: dict[str, str], lengths: dict[str, float], kind: str) -> Vector:
    def part(name: str) -> bytes:
        # What has no bytes may be written 00.
        return b"" if lengths.get(name) == 0 else bytes.fromhex(test.get(name, ""))

    message, result, tag = part("plaintext"), bytes.fromhex(test.get("ciphertext", "")), part("tag")
    tag_bytes = 0
    if kind != "cipher":
        tag_bytes = len(tag) or int(lengths.get("tag", len(result) - len(message)))
    return Vector(
        key=part("key"),
        nonce=part("nonce"),
        data=[part(name) for name in ("aad", "aad2", "aad3") if name in test],
        message=message,
        result=result + tag,
        tag_bytes=tag_bytes,
        forged="fail" in test,
    )
