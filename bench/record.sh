#!/usr/bin/env bash
# Measures on this machine what goes into the project's record, and puts the record's
# tables into README.md and book/src/measured.md: the race against other libraries, then the
# full report. About twenty minutes, in which nothing else should run.
#
#   bench/record.sh [--quick]
set -euo pipefail
cd "$(dirname "$0")/.."

case "$*" in
"" | --quick) ;;
*) echo "usage: bench/record.sh [--quick]" >&2 && exit 2 ;;
esac

mkdir -p target bench/record
bench/peers/run.sh --json "$@" >target/peers.json
cargo run --release -- report "$@" --peers target/peers.json \
    --out target/report.html --record bench/record
cargo xtask record
