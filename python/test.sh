#!/usr/bin/env bash
# Builds and installs the package in an environment of its own, and runs all its tests.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
    cat <<'END'
usage: python/test.sh [ARGUMENTS OF PYTEST]

Needs Python 3.11 or later, which PYTHON may name, and cargo. Everything else is installed
into target/python.
END
}
case ${1-} in
-h | --help) usage && exit ;;
esac

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    printf 'python/test.sh: needs Python 3.11 or later; PYTHON may name one\n' >&2
    exit 1
fi
bin=$PWD/../target/python/bin
"$python" -m venv ../target/python
"$bin/pip" install --quiet --disable-pip-version-check '.[test]'

"$bin/ruff" check .
"$bin/ruff" format --check .
"$bin/mypy" tests/typed.py
# From elsewhere, so that it looks at what is installed.
(cd tests && "$bin/stubtest" aescomb)
"$bin/pytest" "$@"
