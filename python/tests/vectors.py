"""Reads the known answers of the repository in their plain form, which vectors/README.md
describes. That it has all of them is asserted where it is made."""

from dataclasses import dataclass
from pathlib import Path

PLAIN = Path(__file__).parents[2] / "vectors" / "plain"


@dataclass
class Vector:
    key: bytes
    nonce: bytes
    data: list[bytes]
    message: bytes
    # Ciphertext and tag, in SIV the tag first; for a MAC the tag.
    result: bytes
    tag_bytes: int
    # The tag is wrong: opening must fail.
    forged: bool


def read(mode: str) -> list[Vector]:
    """All vectors of a mode."""
    lines = (PLAIN / f"{mode}.txt").read_text().splitlines()
    return [_vector(mode, *line.split(" ")) for line in lines if not line.startswith("#")]


def _bytes(digits: str) -> bytes:
    return b"" if digits == "-" else bytes.fromhex(digits)


def _vector(
    mode: str,
    key: str,
    nonce: str,
    data: str,
    message: str,
    ciphertext: str,
    tag: str,
    verdict: str,
) -> Vector:
    # A comma ends every component.
    components = [] if data == "-" else data.removesuffix(",").split(",")
    return Vector(
        key=_bytes(key),
        nonce=_bytes(nonce),
        data=[bytes.fromhex(part) for part in components],
        message=_bytes(message),
        result=b"".join(map(_bytes, (tag, ciphertext) if mode == "siv" else (ciphertext, tag))),
        tag_bytes=len(_bytes(tag)),
        forged={"ok": False, "refused": True}[verdict],
    )
