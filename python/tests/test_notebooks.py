"""Every notebook runs from top to bottom; its own assertions check what it shows."""

from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


def kinds(cell):
    """What a cell shows: text, pictures, nothing."""
    return sorted({"picture" if "image/png" in output.get("data", {}) else output["output_type"] for output in cell["outputs"]})


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    assert any("assert " in cell["source"] for cell in stored.cells if cell["cell_type"] == "code")
    fresh = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(fresh, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    for before, after in zip(stored.cells, fresh.cells):
        if before["cell_type"] == "code":
            assert kinds(before) == kinds(after), f"the notebook was stored with other outputs: run it again\n{before['source']}"
