#!/usr/bin/env bash
# Runs all tests, after installing what is missing for them. See "Tests" in
# HACKING.md for what each step covers.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
    cat <<'END'
usage: ./test.sh [--arm] [--cargo-c] [--no-install] [--no-emulation] [--quick]

Runs all tests. Needs rustup (or cargo with everything below), a C toolchain and Python 3.11
or later; what else is missing is installed: Rust components and targets with rustup; clang,
valgrind and QEMU with apt-get (as root or with sudo); Python packages with pip, into
target/.

  --arm            also runs the library's tests on 64-bit ARM, emulated, with an ARM C
                   toolchain from apt-get: four minutes more; otherwise it is only compiled
                   for it
  --cargo-c        also compiles cargo-c, if there is none, into target/: ten minutes more.
                   With it the C library is installed, and tested as installed; without it
                   as `cargo build` makes it
  --no-install     leaves out installing the Python package with pip, into target/, and its
                   tests; and cargo-c
  --no-emulation   leaves out CPUs that this machine is not: x86-64 without AES
                   instructions, without AVX, without VPCLMULQDQ
  --quick          leaves out emulation, installing, the assembly check and other targets
END
}

arm=no
emulation=yes
quick=no
install=yes
cargo_c=no
for argument in "$@"; do
    case $argument in
    --arm) arm=yes ;;
    --cargo-c) cargo_c=yes ;;
    --no-install) install=no ;;
    --no-emulation) emulation=no ;;
    --quick) quick=yes emulation=no install=no ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
    esac
done

target=${CARGO_TARGET_DIR:-$PWD/target}
aarch64=aarch64-unknown-linux-gnu
bare=x86_64-unknown-none
times=()

fail() {
    printf '\ntest.sh: %s\n' "$*" >&2
    exit 1
}

# step NAME COMMAND...: runs it, remembers how long it took. Not with `||` after
# the command, which would make functions run on after errors.
step() {
    local start=$SECONDS
    current=$1
    shift
    printf '\n=== %s\n' "$current"
    "$@"
    times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$current")")
    current=
}

# Native test log, and what the step is that runs.
native=$(mktemp)
current=
# The C library's tests, which run beside the other steps: process group and log.
c_library=
c_log=$(mktemp)
at_exit() {
    if [ -n "$c_library" ]; then
        kill -- "-$c_library" 2>/dev/null || true
    fi
    rm -f "$native" "$c_log"
    if [ -n "$current" ]; then
        printf '\n=== FAILED: %s, after %d s in all\n' "$current" $SECONDS
    fi
}
trap at_exit EXIT

cpu_features() {
    local wanted='^(ssse3|sse4_1|aes|pclmulqdq|avx|avx2|vaes|vpclmulqdq|avx512f|avx512bw|avx512vl|bmi2|gfni|asimd|pmull)$'
    uname -srm
    if [ -r /proc/cpuinfo ]; then
        grep -m1 -E '^(model name|CPU part)' /proc/cpuinfo || true
        echo "cores           : $(nproc)"
        echo "features        : $(grep -m1 -E '^(flags|Features)' /proc/cpuinfo |
            tr ' \t' '\n\n' | grep -E "$wanted" | tr '\n' ' ')"
    fi
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# Installs with rustup what cargo lacks.
rust_setup() {
    have cc || fail "no C toolchain (cc), which Rust needs for linking"
    have cargo || fail "no cargo; install Rust from https://rustup.rs"
    cargo --version
    if ! cargo fmt --version || ! cargo clippy --version; then
        have rustup || fail "no rustfmt or clippy, and no rustup to install them"
        rustup component add rustfmt clippy
    fi
    if [ $quick = no ]; then
        rust_target "$bare"
    fi
    if [ $quick$arm != yesno ]; then
        rust_target "$aarch64"
    fi
    # Says so if Cargo.lock does not fit, instead of changing it.
    cargo fetch --locked --target "$(rustc -vV | sed -n 's/^host: //p')"
}

rust_target() {
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; then
        return
    fi
    have rustup || fail "no Rust target $1, and no rustup to install it"
    rustup target add "$1" || fail "cannot install Rust target $1"
}

# Installs emulators of other CPUs, and a compiler.
emulation_setup() {
    [ "$(uname -sm)" = "Linux x86_64" ] ||
        fail "emulated tests need Linux on x86-64; leave them out with --no-emulation"
    if ! have qemu-x86_64 || ! have qemu-aarch64; then
        .ci/packages qemu-user
    fi
    if [ $arm = yes ] && ! { have aarch64-linux-gnu-gcc &&
        [ -e /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 ]; }; then
        .ci/packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    fi
}

# Installs a Python with virtual environments.
python_setup() {
    if ! python3 -c 'import ensurepip, venv'; then
        .ci/packages python3 python3-venv
    fi
    python3 --version
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "python3 is older than 3.11; leave what needs it out with --no-install"
}

c_library_done() {
    local failed=no
    wait "$c_library" || failed=yes
    c_library=
    cat "$c_log"
    [ $failed = no ]
}

# logged FILE COMMAND...: keeps a copy of what the command prints.
logged() {
    local file=$1
    shift
    "$@" 2>&1 | tee "$file"
}

# The backends that a test run says its CPU lacks.
lacking() {
    sed -n 's/^SKIPPED: this CPU lacks backend \([a-z0-9]*\),.*/\1/p' "$1" | sort -u | xargs
}

# The core crate's test programs but the longest, which tests no other code than the
# others, as arguments for cargo.
core_tests=()
for file in crates/aescomb/tests/*.rs; do
    if [ "$file" != crates/aescomb/tests/differential.rs ]; then
        core_tests+=(--test "$(basename "$file" .rs)")
    fi
done

# emulated LACKS ARGUMENTS...: tests on the CPU that cargo's runner emulates, which
# must find the backends LACKS missing.
emulated() {
    local log lacks=$1
    shift
    log=$(mktemp)
    logged "$log" cargo test "$@"
    if [ "$(lacking "$log")" != "$lacks" ]; then
        echo "this CPU lacks: $(lacking "$log"); expected: $lacks"
        return 1
    fi
    rm "$log"
}

emulated_arm() {
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
        emulated "$1" -p aescomb --lib "${core_tests[@]}" --target "$aarch64"
}

# What is tested with Rust; the Python package has no such tests.
workspace=(--workspace --exclude aescomb-python --all-features)

# emulated_x86 CPU LACKS TESTS...: of the whole workspace, for which cargo finds everything
# compiled.
emulated_x86() {
    local lacks=$2
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="qemu-x86_64 -cpu $1" \
        emulated "$lacks" "${workspace[@]}" "${@:3}"
}

# Not the command: its pages would have the library's name.
docs() {
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude aescomb-cli --no-deps --all-features
}

step "CPU" cpu_features
step "set-up: Rust" rust_setup
if [ $emulation = yes ] || [ $arm = yes ]; then
    step "set-up: other CPUs" emulation_setup
fi
if [ $install = yes ]; then
    step "set-up: Python" python_setup
fi
# Python's extension module is compiled with everything else; without a Python, for its
# stable ABI.
have python3 || export PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1
if have cargo-cinstall; then
    cargo_c=yes
fi
if [ $install$cargo_c = yesyes ]; then
    # Compiles for minutes, when other steps leave a core idle; in folders of its own.
    setsid nice crates/aescomb-c/test.sh >"$c_log" 2>&1 &
    c_library=$!
fi
step "formatting" cargo fmt --all --check
step "lints" cargo clippy --workspace --all-targets --all-features -- -D warnings
step "tests" logged "$native" cargo test "${workspace[@]}" --no-fail-fast
step "documentation" docs
step "recorded figures" cargo xtask record --check
if [ $install = yes ]; then
    # Compiled once, with assembly, for all that follows.
    step "Python package, installed" cargo xtask with-asm python/test.sh -q
    step "assembly" cargo xtask asm-check --built
elif [ $quick = no ]; then
    step "assembly" cargo xtask asm-check
fi
if [ $quick = yes ]; then
    # What the tests were linked with.
    step "C library" crates/aescomb-c/test.sh --library "$target/debug/deps/libaescomb_c.a"
elif [ -z "$c_library" ]; then
    step "C library, compiled" cargo xtask with-asm cargo build --release -p aescomb-c
    host=$(rustc -vV | sed -n 's/^host: //p')
    step "C library" crates/aescomb-c/test.sh --library "$target/asm/$host/release/libaescomb_c.a"
fi
if [ $quick = no ]; then
    step "other targets: bare x86-64, 64-bit ARM" cargo check -p aescomb \
        --no-default-features --target "$bare" --target "$aarch64"
fi
if [ $arm = yes ]; then
    step "emulated: 64-bit ARM (portable)" emulated_arm "aesni vaes256 vaes512"
fi
if [ $emulation = yes ]; then
    # What these backends compute is tested natively; here, that they are found, and
    # that nothing uses instructions that the CPU lacks.
    instructions=(--test alloc --test wycheproof)
    step "emulated: x86-64 without AES (portable)" \
        emulated_x86 Nehalem "aesni vaes256 vaes512" "${instructions[@]}"
    step "emulated: x86-64 without AVX (aesni)" \
        emulated_x86 Westmere "vaes256 vaes512" "${instructions[@]}"
    # Not computed with: QEMU 7.2 gets VAES wrong in the upper half of registers.
    step "emulated: x86-64 with VAES, without VPCLMULQDQ (aesni)" \
        emulated_x86 max,-vpclmulqdq "vaes256 vaes512" --test alloc
fi

if [ -n "$c_library" ]; then
    step "C library, installed, beside the others" c_library_done
fi

printf '\n=== passed\n'
printf '%s\n' "${times[@]}"
printf '%5d s  in all\n' $SECONDS
if [ -n "$(lacking "$native")" ]; then
    echo "Not tested natively, as this CPU lacks them: $(lacking "$native")"
fi
if [ $install = no ]; then
    echo "Not tested: the Python package"
fi
if [ $install$cargo_c != yesyes ]; then
    echo "Not tested: the C library as cargo-c installs it (--cargo-c does)"
fi
if [ $emulation = no ]; then
    echo "Not tested: x86-64 CPUs that lack instructions (emulation was left out)"
fi
if [ $arm = no ]; then
    echo "Not tested: 64-bit ARM (--arm does)"
fi
