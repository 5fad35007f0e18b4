#!/usr/bin/env bash
# Builds and installs the package in an environment of its own, and runs all its tests.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
    cat <<'END'
usage: python/test.sh [--set-up | --workspace] [ARGUMENTS OF PYTEST]

Needs Python 3.11 or later, which PYTHON may name, and cargo. Everything else is installed
into target/python.

  --set-up      only installs what the tests need besides the package
  --workspace   links the package with the library as `cargo test --release --workspace
                --all-features` has compiled it, by .ci/workspace/cargo, instead of compiling
                it for the package alone
END
}
only_set_up=no
workspace=no
case ${1-} in
-h | --help) usage && exit ;;
--set-up) only_set_up=yes && shift ;;
--workspace) workspace=yes && shift ;;
esac

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    printf 'python/test.sh: needs Python 3.11 or later; PYTHON may name one\n' >&2
    exit 1
fi
bin=$PWD/../target/python/bin
pip=("$bin/pip" install --quiet --disable-pip-version-check)
"$python" -m venv ../target/python
if [ $only_set_up = yes ]; then
    "$bin/python" - <<'END' | "${pip[@]}" -r /dev/stdin
import tomllib
with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["optional-dependencies"]["test"], sep="\n")
END
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
