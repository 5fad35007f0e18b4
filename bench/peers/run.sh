#!/usr/bin/env bash
# Races aescomb against other libraries: installs what the peers need, compiles
# everything for this CPU, and prints the tables. `./run.sh --help` lists what can be varied.
set -euo pipefail
cd "$(dirname "$0")"

packages=(gcc g++ cmake libipsec-mb-dev libssl-dev libgcrypt20-dev libbotan-2-dev)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
    ../../.ci/packages "${packages[@]}" >&2
fi

# In the place of the flag with which the library's workspace tests software AES.
export RUSTFLAGS="-C target-cpu=native"
cargo run --release --quiet --locked -- "$@"
