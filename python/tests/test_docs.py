"""The examples of docstrings, of the README and of the book; the stubs."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import aescomb
import aescomb.columns

README = Path(__file__).parents[1] / "README.md"


def objects():
    yield aescomb
    for name in aescomb.__all__:
        value = getattr(aescomb, name)
        if not isinstance(value, str):
            yield value
    yield aescomb.columns
    yield from (getattr(aescomb.columns, name) for name in aescomb.columns.__all__)


@pytest.mark.parametrize("value", list(objects()), ids=lambda value: value.__name__)
def test_docstrings(value):
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    module = value if value in (aescomb, aescomb.columns) else False
    tests = finder.find(value, value.__name__, module=module)
    for test in tests:
        runner.run(test)
    assert runner.failures == 0
    shown = [aescomb.Error, aescomb.columns.Failure, aescomb.columns.mysql_key]
    assert runner.tries or value in shown


def test_everything_has_a_docstring():
    for value in objects():
        assert value.__doc__
        for name, member in getattr(value, "__dict__", {}).items():
            assert name.startswith("_") or member.__doc__, f"{value}.{name}"


def examples(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


PAGES = sorted((README.parents[1] / "book" / "src").glob("*.md"))
BOOK = [page for page in PAGES if examples(page)]


@pytest.mark.parametrize("page", [README, *BOOK], ids=lambda page: page.stem)
def test_pages(page):
    # One after the other: each goes on where the one before ended.
    names = {}
    for block in examples(page):
        exec(block, names)


def test_pages_have_examples():
    assert len(examples(README)) >= 4 and len(BOOK) >= 4


def test_commands_of_the_readme(tmp_path):
    """But the installation."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    commands = "".join(blocks).replace("\\\n", "").splitlines()
    commands = [shlex.split(line) for line in commands if line.startswith("python -m ")]
    assert len(commands) >= 4
    (tmp_path / "python").symlink_to(README.parent)
    for command in commands:
        subprocess.run([sys.executable, *command[1:]], cwd=tmp_path, check=True)
    again = (tmp_path / "people-again.csv").read_text()
    assert again == (README.parent / "examples" / "people.csv").read_text()
    assert b"Lovelace" not in (tmp_path / "people.parquet").read_bytes()
