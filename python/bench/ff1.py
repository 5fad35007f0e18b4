"""Measures format-preserving encryption (FF1) beside loops over other packages.

    python ff1.py [--values N] [--rounds N] [--beside N] [--json]

Values of 9, 16 and 24 digits, in an Arrow column of strings and in a list, one key, one tweak or
one for each value, a tenth of them null. Figures are nanoseconds a value, medians, on one core.
Loops go over a part of the values: one over `Ff1.encrypt`, and one over the package libffx.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable

import ffx
import pyarrow as pa

import aescomb

KEY = bytes(range(16))
DIGITS = "0123456789"


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    result = call()
    taken = time.perf_counter() - start
    # Not part of the time: what becomes of results is the caller's business.
    del result
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--values", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--beside", type=int, default=500, help="values that loops go over")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    args = parser.parse_args()
    rng, ff1, other = random.Random(1), aescomb.Ff1(KEY, DIGITS), ffx.FF1(KEY, radix=10)
    rows = []
    for length in (9, 16, 24):
        values = [
            None if rng.random() < 0.1 else "".join(rng.choices(DIGITS, k=length))
            for _ in range(args.values)
        ]
        full = ["".join(rng.choices(DIGITS, k=length)) for _ in range(args.values)]
        column, part = pa.array(values), full[: args.beside]
        tweaks = pa.array([b"%010d" % i for i in range(args.values)])
        whole = pa.array(full)
        assert ff1.encrypt_many(part, b"t") == [other.encrypt(value, tweak=b"t") for value in part]
        calls: dict[str, tuple[Callable[[], object], int]] = {
            "Arrow column": (lambda: ff1.encrypt_many(whole, b"t"), args.values),
            "Arrow column, a tenth null": (lambda: ff1.encrypt_many(column, b"t"), args.values),
            "Arrow column, tweaks": (lambda: ff1.encrypt_many(whole, tweaks), args.values),
            "list": (lambda: ff1.encrypt_many(full, b"t"), args.values),
            "loop over encrypt": (
                lambda: [ff1.encrypt(value, b"t") for value in part],
                len(part),
            ),
            "loop over libffx": (
                lambda: [other.encrypt(value, tweak=b"t") for value in part],
                len(part),
            ),
        }
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(args.rounds):
            for name, (call, count) in calls.items():
                taken[name].append(seconds(call) / count * 1e9)
        for name, times in taken.items():
            rows.append({"digits": length, "form": name, "ns": statistics.median(times)})
    if args.json:
        print(json.dumps({"values": args.values, "rows": rows}, indent=2))
        return
    print(f"FF1, AES-128, {args.values} values; ns a value, medians of {args.rounds}\n")
    for row in rows:
        print(f"{row['digits']:3} digits  {row['form']:28} {row['ns']:10.1f}")


if __name__ == "__main__":
    main()
