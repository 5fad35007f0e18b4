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
(aescomb-VERSION.dist-info/sboms). The one for this system is installed into an empty environment
and tried.

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

# try TARGET: installs its wheel into an empty environment, and takes a file there and back.
try() {
    local place
    place=$(mktemp -d)
    "${PYTHON:-python3}" -m venv "$place/python"
    "$place/python/bin/pip" install --quiet --disable-pip-version-check --no-index \
        "$out"/aescomb-*manylinux*"${1%%-*}".whl
    local columns=("$place/python/bin/python" -m aescomb.columns)
    "${columns[@]}" encrypt examples/people.csv "$place/people.parquet" \
        --spec examples/people.toml --keys "$place/keys" --create-keys
    "${columns[@]}" decrypt "$place/people.parquet" "$place/people.csv" --keys "$place/keys"
    cmp examples/people.csv "$place/people.csv"
    rm -r "$place"
}

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
    if [ "$target" = "$(uname -m)-unknown-linux-gnu" ] && getconf GNU_LIBC_VERSION >/dev/null 2>&1
    then
        try "$target"
    fi
done
