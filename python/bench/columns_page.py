"""Puts results of columns.py into the book, and draws the plot there.

    python columns.py --json > A.json
    python columns.py --growth 1e5,1e6,1e7,1e8 --json > B.json
    python columns_page.py A.json B.json

Several files are taken together; of what is in two of them, the last counts. Without a file it
makes page and plot of python/bench/columns.json, where the results of the last time are kept.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "python" / "bench" / "columns.json"
BOOK = ROOT / "book" / "src"
PAGE, PLOT = BOOK / "columns.md", BOOK / "columns.svg"

Results = list[dict[str, Any]]


def merged(paths: list[Path]) -> dict[str, Results]:
    """The results of all files, each in the order in which it was first."""
    found: dict[str, dict[tuple[str, int], dict[str, Any]]] = {"columns": {}, "growth": {}}
    for path in paths:
        for kind, results in json.loads(path.read_text()).items():
            for result in results if kind in found else []:
                place = result["bytes"] if kind == "columns" else result["rows"]
                found[kind][(result["name"], place)] = result
    return {kind: list(results.values()) for kind, results in found.items()}


def compared(results: Results) -> str:
    """Names by bytes of values: nanoseconds, and rows a second of 24 bytes."""
    widths = sorted({result["bytes"] for result in results})
    names = " | ".join(f"{width} bytes" for width in widths)
    lines = [f"| ns a row | {names} | rows/s, 24 bytes |", "|---|" + "---|" * (len(widths) + 1)]
    for name in dict.fromkeys(result["name"] for result in results):
        cost = {result["bytes"]: result["ns"] for result in results if result["name"] == name}
        cells = [f"{cost[width]:,.0f}" if width in cost else "–" for width in widths]
        rate = f"{1e9 / cost[24]:,.0f}" if 24 in cost else "–"
        lines.append(f"| {name} | {' | '.join(cells)} | {rate} |")
    return "\n".join(lines)


def grown(results: Results) -> str:
    rows = sorted({result["rows"] for result in results})
    lines = [
        "| ns a row | " + " | ".join(f"{count:,} rows" for count in rows) + " |",
        "|---|" + "---|" * len(rows),
    ]
    for name in dict.fromkeys(result["name"] for result in results):
        own = {result["rows"]: result for result in results if result["name"] == name}
        cells = [f"{own[count]['ns']:.0f}" if count in own else "–" for count in rows]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        if any("mib" in result for result in own.values()):
            cells = [f"{own[count]['mib']:.0f} MiB" if count in own else "–" for count in rows]
            lines.append(f"| its memory | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(results: Results) -> None:
    matplotlib.use("svg")
    # The same results make the same file.
    matplotlib.rcParams["svg.hashsalt"] = "aescomb"
    from matplotlib import pyplot

    of24 = {result["name"]: result["ns"] for result in results if result["bytes"] == 24}
    names = sorted(of24, key=lambda name: -of24[name])
    figure, axes = pyplot.subplots(figsize=(8, 0.3 * len(names) + 1), layout="constrained")
    colours = ["#1f77b4" if name.startswith("aescomb") else "#999999" for name in names]
    bars = axes.barh(names, [of24[name] for name in names], color=colours)
    axes.bar_label(bars, [f"{of24[name]:,.0f}" for name in names], padding=3, fontsize=8)
    axes.set(xscale="log", xlabel="ns a row of 24 bytes, one core")
    axes.margins(x=0.15)
    figure.savefig(PLOT, metadata={"Date": None})


def main() -> None:
    paths = [Path(path) for path in sys.argv[1:]]
    results = merged(paths or [KEPT])
    KEPT.write_text(json.dumps(results, indent=1) + "\n")
    text = PAGE.read_text()
    for name, table in [
        ("columns", compared(results["columns"])),
        ("growth", grown(results["growth"])),
    ]:
        begin, end = f"<!-- table: {name} -->\n", "\n<!-- end of table -->"
        place = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if not place.search(text):
            sys.exit(f"{PAGE}: no place for the table {name}")
        text = place.sub(lambda _, whole=begin + table + end: whole, text)
    PAGE.write_text(text)
    draw(results["columns"])


if __name__ == "__main__":
    main()
