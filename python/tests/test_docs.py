"""What the pages and docstrings say in Python runs, block after block, in a folder that has what they name."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import numpy
import pytest

PAGES = Path(__file__).parents[2] / "docs" / "python"
# Blocks of other packages, which are not here, say so behind the fence.
BLOCK = re.compile(r"^```python( elsewhere)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Signatures, and held to the package by tools/docs/python_reference.py --check.
SIGNATURES = {"reference.md"}


def movielens(folder):
    """A few people's stars in MovieLens' own format."""
    random = numpy.random.default_rng(5)
    folder.mkdir()
    (folder / "users.dat").write_text("".join(f"{user}::M::25::4::10000\n" for user in range(1, 201)))
    (folder / "movies.dat").write_text("".join(f"{film}::Film {film} (1990)::Drama|Comedy\n" for film in range(1, 81)))
    (folder / "ratings.dat").write_text("".join(
        f"{user}::{film}::{random.integers(1, 6)}::{978300000 + 60 * place}\n"
        for user in range(1, 201) for place, film in enumerate(random.permutation(80)[:20] + 1)))


def blocks(page):
    return [(elsewhere != "", source) for elsewhere, source in BLOCK.findall(page.read_text(encoding="utf-8"))]


PAGES_WITH_BLOCKS = [page for page in sorted(PAGES.glob("*.md")) if page.name not in SIGNATURES]


@pytest.mark.parametrize("page", PAGES_WITH_BLOCKS, ids=lambda page: page.name)
def test_blocks_run_one_after_another(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    movielens(tmp_path / "ml-1m")
    assert page.read_text(encoding="utf-8").count("```python") == len(blocks(page)) > 0
    names: dict = {}
    for elsewhere, source in blocks(page):
        if elsewhere:
            ast.parse(source)
        else:
            exec(compile(source, page.name, "exec"), names)


@pytest.mark.parametrize("name", ["data", "device", "metrics", "privacy", "secagg", "serving", "training", "towers"])
def test_examples_of_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"sotto.{name}")).failed == 0


def test_there_are_examples_to_run():
    assert doctest.testmod(importlib.import_module("sotto.privacy")).attempted >= 3
