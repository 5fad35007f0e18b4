#!/usr/bin/env bash
# Compares servers and cipher suites: installs nginx and h2load, compiles the server, and
# prints the tables. `./compare.sh --help` lists what can be varied.
set -euo pipefail
cd "$(dirname "$0")"

for command in nginx h2load openssl curl python3 taskset; do
    if ! command -v "$command" >/dev/null; then
        ../../.ci/packages nginx-light nghttp2-client openssl curl python3 util-linux >&2
        break
    fi
done
cargo build --release --quiet --locked
# User and system time are told apart well with perf, and badly without.
command -v perf >/dev/null || ../../.ci/packages --known linux-perf >&2 || true
exec python3 compare.py "$@"
