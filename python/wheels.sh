#!/usr/bin/env bash
# Builds wheels that run on other Linux systems: manylinux and musllinux, x86-64 and 64-bit ARM.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
    cat <<'END'
usage: python/wheels.sh [TARGET...]

Builds a wheel of the package for each TARGET, by default

    x86_64-unknown-linux-gnu     manylinux_2_17 (glibc 2.17 or later)
    aarch64-unknown-linux-gnu    manylinux_2_17
    x86_64-unknown-linux-musl    musllinux_1_2 (musl 1.2 or later)
    aarch64-unknown-linux-musl   musllinux_1_2

into target/wheels, or the folder that OUT names. One wheel serves all versions of CPython from
3.11 on (the stable ABI). Each has in it what it is made of, in the form of CycloneDX
(aescomb-0.1.0.dist-info/sboms).

Needs Python 3.11 or later, which PYTHON may name, and rustup. maturin and zig, whose C
compiler and linker know all four systems, are installed into target/maturin-zig.
END
}
targets=("$@")
case ${1-} in
-h | --help) usage && exit ;;
-*) usage >&2 && exit 2 ;;
'')
    targets=({x86_64,aarch64}-unknown-linux-{gnu,musl})
    ;;
esac

out=${OUT:-../target/wheels}
tools=../target/maturin-zig
"${PYTHON:-python3}" -m venv "$tools"
# The releases that the wheels were tested with.
"$tools/bin/pip" install --quiet --disable-pip-version-check maturin==1.16.0 ziglang==0.17.1
for target in "${targets[@]}"; do
    case $target in
    *-linux-gnu) policy=manylinux_2_17 ;;
    *-linux-musl) policy=musllinux_1_2 ;;
    *)
        printf 'python/wheels.sh: %s: not one of the four targets\n' "$target" >&2
        exit 2
        ;;
    esac
    rustup --quiet target add "$target"
    # By the virtual environment's path it finds zig.
    PATH=$(cd "$tools/bin" && pwd):$PATH "$tools/bin/maturin" build --release --locked --zig \
        --target "$target" --compatibility "$policy" --out "$out"
done
