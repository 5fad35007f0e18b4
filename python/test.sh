#!/usr/bin/env bash
# Builds and installs the package in an environment of its own, and runs all its tests.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
    cat <<'END'
usage: python/test.sh [--set-up | --workspace | --engines] [ARGUMENTS OF PYTEST]

Needs Python 3.11 or later, which PYTHON may name, and cargo. Everything else is installed
into target/python.

  --set-up      only installs what the tests need besides the package
  --workspace   links the package with the library as `cargo test --release --workspace
                --all-features` has compiled it, by .ci/workspace/cargo, instead of compiling
                it for the package alone
  --engines     tests the package that is installed in target/python beside Spark, Ray, ClickHouse
                and others, which are installed into target/engines; needs Java 17
END
}
only_set_up=no
workspace=no
engines=no
case ${1-} in
-h | --help) usage && exit ;;
--set-up) only_set_up=yes && shift ;;
--workspace) workspace=yes && shift ;;
--engines) engines=yes && shift ;;
esac

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    printf 'python/test.sh: needs Python 3.11 or later; PYTHON may name one\n' >&2
    exit 1
fi
# dependencies NAME: those of an extra of the package, a line each.
dependencies() {
    "$python" - "$1" <<'END'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["optional-dependencies"][sys.argv[1]], sep="\n")
END
}

bin=$PWD/../target/python/bin
pip=("$bin/pip" install --quiet --disable-pip-version-check)
if [ $engines = yes ]; then
    if ! java -version 2>&1 | grep -q 'version "17'; then
        printf 'python/test.sh: Spark needs Java 17\n' >&2
        exit 1
    fi
    if ! package=$("$bin/python" -c 'import aescomb, os; print(os.path.dirname(aescomb.__file__))'); then
        printf 'python/test.sh: run it without --engines first, which installs the package\n' >&2
        exit 1
    fi
    "$python" -m venv ../target/engines
    dependencies engines | ../target/engines/bin/pip install --quiet \
        --disable-pip-version-check -r /dev/stdin
    # Not compiled again: what the other tests are of.
    site=$(../target/engines/bin/python -c 'import site; print(site.getsitepackages()[0])')
    ln -sfn "$package" "$site/aescomb"
    cd engines
    exec ../../target/engines/bin/python -m pytest "$@"
fi
"$python" -m venv ../target/python
if [ $only_set_up = yes ]; then
    dependencies test | "${pip[@]}" -r /dev/stdin
    exit
fi
if [ $workspace = yes ]; then
    shims=$(cd ../.ci/workspace && pwd)
    PATH=$shims:$PATH CARGO=$shims/cargo "${pip[@]}" '.[test]'
else
    "${pip[@]}" '.[test]'
fi

"$bin/ruff" check .
"$bin/ruff" format --check .
"$bin/mypy" tests/typed.py
# From elsewhere, so that it looks at what is installed.
(cd tests && "$bin/stubtest" aescomb)
"$bin/pytest" "$@"
