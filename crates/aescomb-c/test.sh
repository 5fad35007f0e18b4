#!/usr/bin/env bash
# Tests the C library from a clean checkout: installs it with cargo-c to a folder of its
# own, compiles the tests and examples in C against what was installed, and runs them.
set -euo pipefail

usage() {
    cat <<'END_OF_USAGE'
usage: crates/aescomb-c/test.sh [--library FILE]

Tests the C library. Needs cargo; what else is missing is installed: gcc, g++, clang,
valgrind, pkg-config, OpenSSL and ipsec-mb with apt-get (as root or with sudo), cargo-c with
cargo, to target/tools.

  --library FILE   tests this static library, and the shared one beside it, instead of
                   installing them: without cargo-c and pkg-config
END_OF_USAGE
}

library=
case $#:${1-} in
0:) ;;
2:--library) library=$(realpath "$2") ;;
1:-h | 1:--help) usage && exit ;;
*) usage >&2 && exit 2 ;;
esac

cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
tools=$target/tools
prefix=$target/aescomb-c/prefix
out=$target/aescomb-c/tests
# The newest that Rust 1.95 builds; only taken if there is no cargo-c.
cargo_c='0.10.24+cargo-0.98.0'
mkdir -p "$out"

fail() {
    printf 'test.sh: %s\n' "$*" >&2
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

step() {
    local start=$SECONDS
    printf '\n--- %s\n' "$1"
    "${@:2}"
    printf '%5d s  %s\n' $((SECONDS - start)) "$1"
}

tools_setup() {
    local names=(gcc g++ clang valgrind openssl)
    # What the book's examples move from.
    if [ "$(uname -m)" = x86_64 ]; then
        names+=(ipsec-mb)
    fi
    if [ -z "$library" ]; then
        names+=(pkg-config)
    fi
    "$root/.ci/tools" "${names[@]}"
    if [ -z "$library" ] && ! have cargo-cinstall; then
        # Unoptimised: it compiles little itself.
        [ -x "$tools/bin/cargo-cinstall" ] ||
            CARGO_TARGET_DIR=$tools/build CARGO_PROFILE_DEV_DEBUG=false cargo install cargo-c \
                --bin cargo-cinstall --version "$cargo_c" --locked --debug --root "$tools"
        PATH=$tools/bin:$PATH
    fi
}

# Where a compiler finds header and library, and what it links with.
cflags=()
static=()
shared=()

install() {
    if [ -n "$library" ]; then
        cflags=("-I$PWD/include")
        static=("$library" -lpthread -ldl -lm)
        shared=("-L${library%/*}" -laescomb_c)
        export LD_LIBRARY_PATH=${library%/*}
        return
    fi
    rm -rf "$prefix"
    cargo cinstall --release -p aescomb-c --prefix "$prefix" --libdir "$prefix/lib"
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
    read -ra cflags <<<"$(pkg-config --cflags aescomb)"
    read -ra shared <<<"$(pkg-config --libs aescomb)"
    # Beside the shared library, a linker has to be told.
    read -ra static <<<"$(pkg-config --static --libs aescomb | sed 's/-laescomb/-l:libaescomb.a/')"
    cmp "$prefix/include/aescomb.h" include/aescomb.h
    cmp "$prefix/include/aescomb_caesar.h" include/aescomb_caesar.h
}

# Debug information as valgrind 3.19 reads it.
strict=(-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -O1 -gdwarf-4)

# compile COMPILER FILE NAME ARGUMENTS...
compile() {
    "$1" "${strict[@]}" "${cflags[@]}" "$2" -o "$out/$3" "${@:4}"
}

vectors=$root/vectors

# The tests with every compiler, plain and with sanitizers.
c_tests() {
    local compiler
    for compiler in gcc clang; do
        for name in vectors errors threads ff1; do
            echo "$compiler, $name"
            compile $compiler tests/c/$name.c $name "${static[@]}" -pthread
            "$out/$name" "$vectors"
            compile $compiler tests/c/$name.c $name-san "${static[@]}" -pthread \
                -fsanitize=address,undefined -fno-sanitize-recover=all
            "$out/$name-san" "$vectors"
        done
    done
}

backends() {
    local backend said
    for backend in vaes512 vaes256vl vaes256 aesni portable; do
        echo "$backend"
        if AESCOMB_TEST_BACKEND=$backend "$out/vectors" "$vectors" 1000 >/dev/null 2>&1; then
            AESCOMB_TEST_BACKEND=$backend "$out/vectors" "$vectors"
            AESCOMB_TEST_BACKEND=$backend "$out/ff1" "$vectors"
        else
            # It must be the CPU.
            said=$(AESCOMB_TEST_BACKEND=$backend "$out/vectors" "$vectors" 1000 2>&1 || true)
            grep 'this CPU lacks' <<<"$said" || fail "backend $backend"
        fi
    done
}

# Every mode is a program of its own: they all define the same functions.
caesar() {
    local name mode
    for name in $(sed -n 's/^AESCOMB_CAESAR_DECLARE(\(.*\))$/\1/p' include/aescomb_caesar.h); do
        mode=$(tr _ - <<<"${name%_*}")
        compile gcc tests/c/caesar.c caesar "${static[@]}" -fsanitize=address \
            -DMODE="\"$mode\"" -DAESCOMB_CAESAR_MODE="$name"
        "$out/caesar"
        echo "$name: as it should be"
    done
}

cpp() {
    local compiler
    printf '%s\n' '#include <aescomb.h>' '#include <aescomb_caesar.h>' \
        'int main() { return aescomb_version() == nullptr; }' >"$out/header.cpp"
    for compiler in g++ clang++; do
        $compiler -std=c++17 -Wall -Wextra -Werror -pedantic "${cflags[@]}" "$out/header.cpp" \
            -o "$out/header" "${static[@]}"
        "$out/header"
    done
}

# A sample of the vectors, with backends whose instructions valgrind knows.
memory() {
    local backend name
    for backend in aesni portable; do
        for name in vectors errors threads; do
            echo "$backend, $name"
            AESCOMB_TEST_BACKEND=$backend valgrind -q --error-exitcode=9 --leak-check=full \
                "$out/$name" "$vectors" 41
        done
        echo "$backend, ff1"
        AESCOMB_TEST_BACKEND=$backend valgrind -q --error-exitcode=9 --leak-check=full \
            "$out/ff1" "$vectors"
    done
}

# What FF1 computes of values executes the same instructions for all of them.
constant_time() {
    local backend seed count first
    for backend in aesni portable; do
        first=
        for seed in 0 1 2 3 4; do
            count=$(AESCOMB_TEST_BACKEND=$backend valgrind --tool=callgrind \
                --callgrind-out-file=/dev/null "$out/ff1" "$vectors" $seed 2>&1 |
                sed -n 's/.*Collected : //p')
            [ -n "$count" ] || fail "valgrind counts nothing"
            echo "$backend, values of seed $seed: $count instructions"
            [ "$count" = "${first:=$count}" ] || fail "other values, other instructions"
        done
    done
}

examples() {
    local compiler name
    for compiler in gcc clang; do
        for name in seal_burst tokens verify_cmacs; do
            echo "$compiler, $name, shared library"
            compile $compiler examples/$name.c $name "${shared[@]}"
            "$out/$name"
            echo "$compiler, $name, static library"
            compile $compiler examples/$name.c $name-static "${static[@]}"
            "$out/$name-static"
        done
    done
}

# Programs that the book shows parts of.
book() {
    local file name libraries
    for file in "$root"/book/c/*.c; do
        name=$(basename "$file" .c)
        libraries=()
        case $name in
        from_openssl) libraries=(-lcrypto) ;;
        from_ipsec_mb)
            if [ "$(uname -m)" != x86_64 ]; then
                echo "$name: left out, ipsec-mb is for x86-64"
                continue
            fi
            libraries=(-lIPSec_MB)
            ;;
        esac
        echo "$name"
        compile gcc "$file" "book-$name" "${static[@]}" "${libraries[@]}"
        "$out/book-$name"
    done
}

step "tools" tools_setup
step "installation" install
step "tests in C: gcc and clang, plain and with sanitizers" c_tests
step "every backend of this CPU" backends
step "CAESAR interface" caesar
step "C++ headers" cpp
step "valgrind" memory
step "instructions that do not depend on values" constant_time
step "examples" examples
step "the book's examples" book
printf '\nC library: passed in %d s\n' $SECONDS
