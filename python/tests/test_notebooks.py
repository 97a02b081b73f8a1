"""Every notebook runs from top to bottom, its own assertions check what it shows, and what is stored of it is what it shows."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
sys.path.insert(0, str(FOLDER))
sys.path.insert(0, str(FOLDER.parents[1] / "tools" / "docs"))
from notebook_pages import write_page  # noqa: E402
from run_notebooks import MACHINE_PATH, data_folder, execute, missing_data, shown  # noqa: E402

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    assert not MACHINE_PATH.search("".join(output.get("text", "") for cell in stored.cells for output in cell.get("outputs", [])))
    assert any("image/png" in output.get("data", {}) for cell in stored.cells for output in cell.get("outputs", []))
    if missing := missing_data(stored):
        pytest.skip(f"{path.name} needs {', '.join(missing)} in {data_folder()}: set SOTTO_DATA")
    code = [cell for cell in stored.cells if cell["cell_type"] == "code"]
    assert any("assert " in cell["source"] for cell in code)
    fresh = [cell for cell in execute(path, tmp_path).cells if cell["cell_type"] == "code"]
    for before, after in zip(code, fresh, strict=True):
        assert shown(before) == shown(after), f"{path.name} shows something else: store it with run_notebooks.py\n{before['source']}"


def test_a_notebook_says_which_data_it_lacks(monkeypatch, tmp_path):
    needing = [path.name for path in NOTEBOOKS if any("needs-" in str(cell["metadata"]) for cell in nbformat.read(path, as_version=4).cells)]
    assert needing == ["3-compare-systems.ipynb"]
    notebook = nbformat.read(FOLDER / needing[0], as_version=4)
    monkeypatch.setenv("SOTTO_DATA", str(tmp_path))
    assert missing_data(notebook) == ["ml-1m"]
    (tmp_path / "ml-1m").mkdir()
    assert missing_data(notebook) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_a_page_of_the_site(path, tmp_path):
    write_page(path, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page)
    assert all((tmp_path / picture).read_bytes().startswith(b"\x89PNG") for picture in pictures)
    drawn = 0
    for cell in nbformat.read(path, as_version=4).cells:
        assert cell["source"].rstrip() in page
        for output in cell.get("outputs", []):
            drawn += "image/png" in output.get("data", {})
            assert output.get("text", "").rstrip() in page
    assert len(pictures) == drawn and not MACHINE_PATH.search(page)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
