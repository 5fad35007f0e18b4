"""Measures aescomb beside loops over cryptography and pycryptodome.

    python bench.py [--messages N] [--values N] [--rounds N] [--beside N] [--command PATH]

Two workloads: the mix of the paper's internet traffic (44 % of messages with 40 to 100 bytes,
37 % with 1400 to 1500, the rest between), and values of 24 bytes (32 for CBC, which takes whole
blocks). One key, nonces of 12 bytes (16 for CBC), no associated data. Competitors take turns,
round by round; figures are medians. Loops go over a part of the messages, as what they cost
does not depend on how many there are.

With the command `aescomb`, built by `cargo build --release`, the library's own figure for a
batch of the mix is measured in turns with the Arrow column, a second each: as many messages
as in its own table, which fit the second-level cache. The command seals and encrypts in
place, and opens from one place to another; results of a column always go to new memory,
which costs something of its own, so that opening is what can be compared.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from Crypto.Cipher import AES
from Crypto.Hash import CMAC as PyCMAC
from cryptography.hazmat.primitives import cmac
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM

import aescomb

KEY = bytes(range(16))
MODES = ("gcm", "ccm", "cmac", "cbc")
ROOT = Path(__file__).parents[2]
# Messages that loops go over.
PART = 2000

Loop = Callable[[list[bytes], list[bytes]], object]


def internet(count: int, rng: random.Random) -> list[int]:
    def length() -> int:
        part = rng.random()
        if part < 0.44:
            return rng.randint(40, 100)
        return rng.randint(1400, 1500) if part < 0.81 else rng.randint(101, 1399)

    return [length() for _ in range(count)]


def cryptography(mode: str) -> Loop:
    match mode:
        case "gcm" | "ccm":
            encrypt = {"gcm": AESGCM, "ccm": AESCCM}[mode](KEY).encrypt
            return lambda nonces, messages: [
                encrypt(nonce, message, None) for nonce, message in zip(nonces, messages)
            ]
        case "cbc":

            def cbc(nonce: bytes, message: bytes) -> bytes:
                context = Cipher(algorithms.AES(KEY), modes.CBC(nonce)).encryptor()
                return context.update(message) + context.finalize()

            return lambda nonces, messages: list(map(cbc, nonces, messages))

    keyed = cmac.CMAC(algorithms.AES(KEY))

    def tag(message: bytes) -> bytes:
        context = keyed.copy()
        context.update(message)
        return context.finalize()

    return lambda nonces, messages: list(map(tag, messages))


def pycryptodome(mode: str) -> Loop:
    match mode:
        case "gcm" | "ccm":
            number = {"gcm": AES.MODE_GCM, "ccm": AES.MODE_CCM}[mode]
            return lambda nonces, messages: [
                AES.new(KEY, number, nonce=nonce).encrypt_and_digest(message)
                for nonce, message in zip(nonces, messages)
            ]
        case "cbc":
            return lambda nonces, messages: [
                AES.new(KEY, AES.MODE_CBC, iv=nonce).encrypt(message)
                for nonce, message in zip(nonces, messages)
            ]
    return lambda nonces, messages: [
        PyCMAC.new(KEY, message, ciphermod=AES).digest() for message in messages
    ]


def batch(mode: str) -> Callable[[object, object], object]:
    key = aescomb.Key(mode, KEY)
    match key.mode.kind:
        case "aead":
            return key.seal_many
        case "mac":
            return lambda nonces, messages: key.mac_many(messages)
    return key.encrypt_many


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    result = call()
    taken = time.perf_counter() - start
    # Not part of the time: what becomes of results is the caller's business.
    del result
    return taken


def competitors(mode: str, messages: list[bytes]) -> dict[str, tuple[Callable[[], object], int]]:
    """Calls and how many messages each goes over."""
    count = len(messages)
    rng = random.Random(2)
    nonce_bytes = 16 if mode == "cbc" else 12
    flat = rng.randbytes(nonce_bytes * count)
    nonces = [flat[i : i + nonce_bytes] for i in range(0, len(flat), nonce_bytes)]
    ours = batch(mode)
    column = pa.array(messages, pa.binary())
    calls = {
        "list": (lambda: ours(nonces, messages), count),
        "Arrow": (lambda: ours(flat, column), count),
    }
    if len({len(message) for message in messages}) == 1:
        rows = np.frombuffer(b"".join(messages), np.uint8).reshape(count, -1)
        columns = np.frombuffer(flat, np.uint8).reshape(count, -1)
        calls["NumPy"] = (lambda: ours(columns, rows), count)
    part = messages[:PART]
    for name, loop in (("cryptography", cryptography), ("pycryptodome", pycryptodome)):
        run = loop(mode)
        calls[name] = (lambda run=run: run(nonces, part), len(part))
    return calls


def rounded(lengths: list[int], mode: str) -> list[int]:
    return [-(-length // 16) * 16 if mode == "cbc" else length for length in lengths]


def table(title: str, lengths: list[int], rounds: int) -> None:
    names = ("list", "NumPy", "Arrow", "cryptography", "pycryptodome")
    print(f"\n{title}: nanoseconds per message\n")
    print(f"| mode | {' | '.join(names)} | Arrow faster than | |")
    print("|---" * (len(names) + 3) + "|")
    rng = random.Random(1)
    for mode in MODES:
        calls = competitors(mode, [rng.randbytes(length) for length in rounded(lengths, mode)])
        samples: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(rounds):
            for name, (call, count) in calls.items():
                samples[name].append(1e9 * seconds(call) / count)
        costs = {name: statistics.median(taken) for name, taken in samples.items()}
        cells = [f"{costs[name]:,.0f}" if name in costs else "" for name in names]
        times = [f"{costs[name] / costs['Arrow']:.0f} x {name}" for name in names[-2:]]
        print(f"| {mode} | {' | '.join(cells + times)} |", flush=True)


def library(command: Path, mode: str, op: str, count: int) -> tuple[float, float]:
    """The library's own nanoseconds per byte: median and minimum."""
    arguments = ["bench", "--json", "--mode", mode, "--op", op, "--messages", count]
    arguments += ["--form", "packed", "--data-bytes", 0, "--seconds", 1]
    run = subprocess.run(
        [command, *map(str, arguments)], check=True, capture_output=True, text=True
    )
    report = json.loads(run.stdout)
    row = next(row for row in report["rows"] if row["schedule"] == "comb")
    cycles = report["machine"]["core_mhz"] / 1e3
    return row["cpb"] / cycles, row["cpb_min"] / cycles


def opening(mode: str, messages: list[bytes]) -> Callable[[], object]:
    key = aescomb.Key(mode, KEY)
    nonces = random.Random(2).randbytes(12 * len(messages))
    sealed = pa.array(key.seal_many(nonces, pa.array(messages, pa.binary())))
    return lambda: key.open_many(nonces, sealed)


def beside_library(command: Path, count: int, rounds: int) -> None:
    print(f"\nInternet mix, {count:,} messages, beside the library: nanoseconds per byte")
    print("(medians of rounds; minima)\n")
    print("| mode | | library | Arrow column | ratio | | | ratio of minima |")
    print("|---" * 8 + "|")
    lengths = internet(count, random.Random(1))
    rng = random.Random(3)
    for mode, op in (
        ("gcm", "open"),
        ("ccm", "open"),
        ("cmac", "mac"),
        ("gcm", "seal"),
        ("ccm", "seal"),
        ("cbc", "encrypt"),
    ):
        messages = [rng.randbytes(length) for length in rounded(lengths, mode)]
        call, _ = competitors(mode, messages)["Arrow"]
        if op == "open":
            call = opening(mode, messages)
        total = sum(map(len, messages))
        ours: list[tuple[float, float]] = []
        theirs: list[tuple[float, float]] = []
        for _ in range(rounds):
            theirs.append(library(command, mode, op, count))
            samples, end = [], time.perf_counter() + 1
            while time.perf_counter() < end:
                samples.append(1e9 * seconds(call) / total)
            ours.append((statistics.median(samples), min(samples)))
        medians = [statistics.median(m for m, _ in figures) for figures in (theirs, ours)]
        minima = [min(m for _, m in figures) for figures in (theirs, ours)]
        cells = []
        for a, b in (medians, minima):
            cells += [f"{a:.3f}", f"{b:.3f}", f"{b / a:.2f}"]
        print(f"| {mode} | {op} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=10_000, help="of the internet mix")
    parser.add_argument("--values", type=int, default=1_000_000, help="of 24 bytes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--beside", type=int, default=256, help="messages beside the library")
    parser.add_argument("--command", type=Path, default=ROOT / "target/release/aescomb")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        # The core that the command chooses.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    lengths = internet(arguments.messages, random.Random(1))
    if arguments.messages:
        table(f"Internet mix, {arguments.messages:,} messages", lengths, arguments.rounds)
    if arguments.values:
        values = [24] * arguments.values
        table(f"{arguments.values:,} values of 24 bytes", values, arguments.rounds)
    if arguments.command.exists():
        beside_library(arguments.command, arguments.beside, arguments.rounds)
    else:
        print(f"\nNo {arguments.command}; `cargo build --release` makes it.")


if __name__ == "__main__":
    main()
