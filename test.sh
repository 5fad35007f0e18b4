#!/usr/bin/env bash
# Runs all tests, after installing what is missing for them. See "Tests" in
# HACKING.md for what each step covers.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
    cat <<'END'
usage: ./test.sh [--overflow-checks] [--cargo-c] [--protocols] [--engines] [--no-install]
                 [--no-arm] [--no-emulation] [--quick]

Runs all tests. Needs rustup (or cargo with everything below), a C toolchain and Python 3.11
or later; what else is missing is installed: Rust components and targets with rustup; clang,
valgrind, QEMU, an ARM C toolchain, OpenSSL, ipsec-mb and Python with apt-get (as root or with
sudo); Python packages with pip and mdbook with cargo, into target/.

  --overflow-checks
                   also runs the tests in Rust as the profile `dev` compiles them, in which
                   integer overflow is an error: six minutes more. Otherwise they run as
                   users get the library
  --cargo-c        also compiles cargo-c, if there is none, into target/: ten minutes more.
                   With it the C library is installed, and tested as installed; without it
                   as `cargo build` makes it
  --protocols      also compiles and tests what speaks protocols, which are workspaces of their
                   own: aescomb-rustls and the TLS server, against openssl, curl and rustls:
                   five minutes more, once compiled one
  --no-install     leaves out installing the Python package with pip, into target/, and its
                   tests; cargo-c; mdbook and lychee, with which the book is made and its links
                   are followed
  --no-arm         leaves out the library's tests on 64-bit ARM, emulated, with an ARM C
                   toolchain from apt-get; it is still checked for ARM
  --no-emulation   leaves out all CPUs that this machine is not: ARM, and x86-64 without
                   AES instructions, without AVX, without VPCLMULQDQ
  --engines        also installs Spark, Ray, ClickHouse (chDB), DuckDB, DataFusion and Daft with
                   pip, into target/, and tests columns beside them: about five minutes more, and
                   a gigabyte. Needs Java 17
  --quick          leaves out emulation, installing and other targets
END
}

overflow_checks=no
arm=yes
emulation=yes
quick=no
install=yes
cargo_c=no
engines=no
protocols=no
for argument in "$@"; do
    case $argument in
    --overflow-checks) overflow_checks=yes ;;
    --no-arm) arm=no ;;
    --cargo-c) cargo_c=yes ;;
    --engines) engines=yes ;;
    --protocols) protocols=yes ;;
    --no-install) install=no ;;
    --no-emulation) emulation=no arm=no ;;
    --quick) quick=yes emulation=no arm=no install=no ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
    esac
done

target=${CARGO_TARGET_DIR:-target}
[[ $target = /* ]] || target=$PWD/$target
host=
xtask=
libraries=
aarch64="aarch64-unknown-linux-gnu"
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
    early_failures
    current=$1
    shift
    printf '\n=== %s\n' "$current"
    "$@"
    times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$current")")
    current=
}

# Steps that run beside the others: name, process group and log of each.
declare -A beside_process beside_log

# beside NAME COMMAND...: a step that prints what it has to say when it is waited for.
beside() {
    local name=$1 log
    shift
    log=$(mktemp)
    printf '\n=== %s: beside the others\n' "$name"
    # In a process group of its own, which can be ended as a whole.
    set -m
    (
        start=$SECONDS
        trap 'echo $((SECONDS - start)) >"$log.time"' EXIT
        "$@"
    ) >"$log" 2>&1 </dev/null &
    set +m
    beside_process[$name]=$!
    beside_log[$name]=$log
}

# wait_for NAME: until that step has ended.
wait_for() {
    local name=$1 failed=no
    local log=${beside_log[$name]}
    current=$name
    wait "${beside_process[$name]}" || failed=yes
    unset "beside_process[$name]"
    printf '\n=== %s\n' "$name"
    cat "$log"
    times+=("$(printf '%5d s  %s (beside others)' "$(cat "$log.time")" "$name")")
    rm -f "$log" "$log.time"
    [ $failed = no ]
    current=
}

# Waits for the steps that have ended already, so that a failure is known soon.
early_failures() {
    local name running
    running=" $(jobs -rp | xargs) "
    for name in "${!beside_process[@]}"; do
        if [[ $running != *" ${beside_process[$name]} "* ]]; then
            wait_for "$name"
        fi
    done
}

# wait_if NAME: the same for a step that may have been waited for, or never begun.
wait_if() {
    if [ -n "${beside_process[$1]-}" ]; then
        wait_for "$1"
    fi
}

# Native test log, and what the step is that runs.
native=$(mktemp)
current=
at_exit() {
    local name
    for name in "${!beside_process[@]}"; do
        kill -- "-${beside_process[$name]}" 2>/dev/null || true
        rm -f "${beside_log[$name]}" "${beside_log[$name]}.time"
    done
    rm -f "$native" "$native.start" "$native.tools"
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
    host=$(rustc -vV | sed -n 's/^host: //p')
    cargo --version
    if ! cargo fmt --version || ! cargo clippy --version; then
        have rustup || fail "no rustfmt or clippy, and no rustup to install them"
        rustup component add rustfmt clippy
    fi
    if [ $quick = no ]; then
        rust_target "$bare"
        rust_target "$aarch64"
    fi
    # Says so if Cargo.lock does not fit, instead of changing it.
    cargo fetch --locked --target "$host"
    # `cargo xtask` would wait for steps beside, which compile to the same folder.
    cargo build --quiet -p xtask
    xtask=$target/debug/xtask
    libraries=$target/library/$host/release/deps
}

rust_target() {
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; then
        return
    fi
    have rustup || fail "no Rust target $1, and no rustup to install it"
    rustup target add "$1" || fail "cannot install Rust target $1"
}

# Installs compilers, emulators and a Python with the packages that tests want: mostly
# waiting for the network.
tools_setup() {
    local tools=(gcc g++ clang valgrind openssl)
    if [ "$(uname -m)" = x86_64 ]; then
        tools+=(ipsec-mb)
    fi
    if [ $emulation = yes ]; then
        [ "$(uname -sm)" = "Linux x86_64" ] ||
            fail "emulated tests need Linux on x86-64; leave them out with --no-emulation"
        tools+=(qemu)
    fi
    if [ $arm = yes ]; then
        tools+=(arm)
    fi
    if [ $install = yes ]; then
        tools+=(python mdbook lychee)
    fi
    if [ $protocols = yes ]; then
        tools+=(curl openssl-command)
    fi
    .ci/tools "${tools[@]}"
    if [ $install = yes ]; then
        python3 --version
        python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
            fail "python3 is older than 3.11; leave what needs it out with --no-install"
        python/test.sh --set-up
    fi
    touch "$native.tools"
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

# The core crate's tests but the longest, which test no other code than the others or none that
# differs from CPU to CPU, as arguments for cargo.
core_tests=(--test alloc --test all --)
for longest in differential:: errors:: guard::batches ff1::large_batches ff1::wycheproof; do
    core_tests+=(--skip "$longest")
done

# emulated LACKS COMMAND...: tests on the CPU that cargo's runner emulates, which
# must find the backends LACKS missing.
emulated() {
    local log lacks=$1
    shift
    log=$(mktemp)
    logged "$log" "$@"
    if [ "$(lacking "$log")" != "$lacks" ]; then
        echo "this CPU lacks: $(lacking "$log"); expected: $lacks"
        return 1
    fi
    rm "$log"
}

# In the profile `dev`: with overflow checks, also of the portable kernels. Begins when there are
# tools.
emulated_arm() {
    until [ -e "$native.tools" ]; do
        sleep 1
    done
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
        emulated "$1" cargo test -p aescomb --target "$aarch64" "${core_tests[@]}"
}

# What is tested with Rust. Features of dependencies are put together for all packages that
# are asked for at once: asked for others, cargo compiles the library again, for minutes.
# Hence the whole workspace wherever something is linked with the library.
workspace=(--workspace --all-features)

# with_library COMMAND...: a command whose cargo finds the library compiled: for release, in a
# folder of its own.
with_library() {
    "$xtask" with-library "$@"
}

# Since this script began: 1, or 0 if it was compiled before.
compiled_once() {
    local found
    mapfile -t found < <(find "$libraries" -name 'libaescomb-*.rlib' -newer "$native.start")
    if [ ${#found[@]} -gt 1 ]; then
        echo "the library was compiled ${#found[@]} times, with other features or flags: ${found[*]}"
        return 1
    fi
}

# The packages by themselves, without the features that others ask for.
alone() {
    with_library cargo check --release -p aescomb-c -p aescomb-cli -p aescomb-python
    with_library cargo check --release -p aescomb-columns
}

tests() {
    logged "$native" with_library cargo test --release "${workspace[@]}" --no-fail-fast
}

# emulated_x86 CPU LACKS TESTS...: of the whole workspace, for which cargo finds everything
# compiled.
emulated_x86() {
    local lacks=$2
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="qemu-x86_64 -cpu $1" \
        emulated "$lacks" with_library cargo test --release "${workspace[@]}" "${@:3}"
}

# Not the command: its pages would have the library's name.
docs() {
    RUSTDOCFLAGS="-D warnings" with_library cargo doc --release --workspace \
        --exclude aescomb-cli --no-deps --all-features
}

# What needs no compiled code but macros and build scripts, which cargo finds compiled: they are
# half of the work.
checks() {
    # Python's extension module, too; without a Python, for its stable ABI.
    have python3 || export PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1
    with_library cargo clippy --release --workspace --all-targets --all-features -- -D warnings
    docs
    alone
    if [ $quick = no ]; then
        cargo check -p aescomb --no-default-features --target "$bare" --target "$aarch64"
    fi
}

# A workspace of its own, with dependencies that the library's has not.
tls() {
    (
        cd examples/tls-server
        cargo fmt --check -p tls-server -p aescomb-rustls
        # For release, too: AWS-LC is compiled once.
        cargo clippy --release --locked --workspace --all-targets -- -D warnings
        RUSTDOCFLAGS="-D warnings" cargo doc --release --locked --no-deps -p aescomb-rustls
        cargo test --locked --release --workspace --no-fail-fast
    )
}

if [ $engines$install = yesno ]; then
    fail "--engines tests the Python package, which is left out"
fi
touch "$native.start"
step "CPU" cpu_features
step "set-up: Rust" rust_setup
beside "set-up: other tools" tools_setup
if have cargo-cinstall; then
    cargo_c=yes
fi
step "formatting" cargo fmt --all --check
# One core's work, while the compiler has only one core's for the other.
if [ $arm = yes ]; then
    beside "emulated: 64-bit ARM (portable)" emulated_arm "aesni vaes256 vaes256vl vaes512"
fi
step "compilation" with_library cargo test --release "${workspace[@]}" --no-run
wait_if "set-up: other tools"
beside "lints, documentation, other targets" checks
if [ $install$cargo_c = yesyes ]; then
    # Compiles the library once more, as its own package.
    beside "C library, installed" nice crates/aescomb-c/test.sh
else
    # What the tests in Rust are linked with.
    beside "C library" crates/aescomb-c/test.sh \
        --library "$libraries/libaescomb_c.a"
fi
step "tests" tests
step "recorded figures" "$xtask" record --check
if [ $install = yes ]; then
    step "Python package, installed" with_library python/test.sh --workspace -q
    step "book" book/test.sh
fi
if [ $engines = yes ]; then
    step "columns beside Spark, Ray, ClickHouse and others" python/test.sh --engines -q
fi
step "machine code" "$xtask" asm-check --built
step "instructions a message" "$xtask" instructions
if [ $emulation = yes ]; then
    # What these backends compute is tested natively; here, that they are found, and
    # that nothing uses instructions that the CPU lacks.
    for of in "--test alloc" "--test all wycheproof::"; do
        read -ra instructions <<<"$of"
        step "emulated: x86-64 without AES (portable), $of" \
            emulated_x86 Nehalem "aesni vaes256 vaes256vl vaes512" "${instructions[@]}"
        step "emulated: x86-64 without AVX (aesni), $of" \
            emulated_x86 Westmere "vaes256 vaes256vl vaes512" "${instructions[@]}"
    done
    # Not computed with: QEMU 7.2 gets VAES wrong in the upper half of registers.
    step "emulated: x86-64 with VAES, without VPCLMULQDQ (aesni)" \
        emulated_x86 max,-vpclmulqdq "vaes256 vaes256vl vaes512" --test alloc
fi
step "compiled once" compiled_once
for name in "${!beside_process[@]}"; do
    wait_for "$name"
done
if [ $protocols = yes ]; then
    step "protocols: TLS" tls
fi
if [ $overflow_checks = yes ]; then
    step "tests with overflow checks" cargo test --workspace --exclude aescomb-python \
        --all-features --no-fail-fast
fi

printf '\n=== passed\n'
printf '%s\n' "${times[@]}"
printf '%5d s  in all\n' $SECONDS
if [ -n "$(lacking "$native")" ]; then
    echo "Not tested natively, as this CPU lacks them: $(lacking "$native")"
fi
if [ $install = no ]; then
    echo "Not tested: the Python package, links of the book and other documents"
fi
if [ $install$cargo_c != yesyes ]; then
    echo "Not tested: the C library as cargo-c installs it (--cargo-c does)"
fi
if [ $engines = no ]; then
    echo "Not tested: columns beside Spark, Ray, ClickHouse and others (--engines does)"
fi
if [ $protocols = no ]; then
    echo "Not tested: protocols, which are TLS (--protocols does)"
fi
if [ $emulation = no ]; then
    echo "Not tested: x86-64 CPUs that lack instructions (emulation was left out)"
fi
if [ $overflow_checks = no ]; then
    echo "Not tested: code for this CPU with overflow checks (--overflow-checks does)"
fi
if [ $arm = no ]; then
    echo "Not tested: 64-bit ARM (it was left out)"
fi
