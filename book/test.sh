#!/usr/bin/env bash
# Makes the book, target/book/index.html, and follows the links in it and in all documents of
# the repository, as far as they lead to files and headings here. Its examples are tested with
# the languages they are in: see "Tests" in HACKING.md.
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/tools mdbook lychee
PATH=$PWD/target/tools/bin:$PATH
mdbook build book
mapfile -t documents < <(find . \( -name target -o -name '.?*' \) -prune -o -name '*.md' -print)
lychee --offline --include-fragments --no-progress "${documents[@]}" target/book
