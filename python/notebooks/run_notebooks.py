#!/usr/bin/env python3
"""Runs notebooks from top to bottom; as a program it stores what they print and draw, for the pages of the site.

    run_notebooks.py FILE...

A cell's tag says what of its output may differ the next time: `numbers-vary` where noise is secret, `words-vary` where also
the items do. Untagged cells must print the same to the last letter. `needs-NAME`: of the real data NAME, which is no part of
this project.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

# What a page may not hold: folders of the machine it was made on.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:tmp|home|root|work|usr|var|mnt)/\S*")


def data_folder():
    """Real data: $SOTTO_DATA, or beside the project."""
    return Path(os.environ.get("SOTTO_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def missing_data(notebook):
    """What a notebook needs and this machine has not."""
    tags = (tag for cell in notebook.cells for tag in cell["metadata"].get("tags", []))
    needed = {tag.removeprefix("needs-") for tag in tags if tag.startswith("needs-")}
    return sorted(name for name in needed if not (data_folder() / name).is_dir())


def execute(path, folder):
    """The notebook with the outputs of a run in `folder`."""
    notebook = nbformat.read(path, as_version=4)
    os.environ["SOTTO_DATA"] = str(data_folder())  # the kernel's too
    nbclient.NotebookClient(notebook, timeout=1800, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = _plain(cell["outputs"])
    return notebook


def shown(cell):
    """What a cell shows, as far as its tags say that it stays the same."""
    tags = cell["metadata"].get("tags", [])
    parts = []
    for output in cell["outputs"]:
        if "image/png" in output.get("data", {}):
            parts.append("picture")
            continue
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        if "words-vary" in tags:
            text = "text"
        elif "numbers-vary" in tags:
            text = re.sub(r"\s+", " ", re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text))
        parts.append(text)
    return parts


def _plain(outputs):
    """Without what belongs to one session: warnings about this machine, counters, widgets, how prints fell into messages."""
    kept = []
    for output in outputs:
        if "data" in output:
            if not any("widget" in kind for kind in output["data"]):
                data = {kind: value for kind, value in output["data"].items() if kind in ("image/png", "text/plain")}
                kept.append(nbformat.v4.new_output("display_data", data=data))
        elif output.get("name") != "stderr":
            if kept and kept[-1].get("name") == "stdout":
                kept[-1]["text"] += output["text"]
            else:
                kept.append(output)
    return kept


def store(path):
    if missing := missing_data(nbformat.read(path, as_version=4)):
        sys.exit(f"{path} needs {', '.join(missing)} in {data_folder()}: name another folder in SOTTO_DATA")
    with tempfile.TemporaryDirectory() as folder:
        notebook = execute(path, folder)
    for cell in notebook.cells:
        cell["metadata"].pop("execution", None)
        for output in cell.get("outputs", []):
            found = MACHINE_PATH.search(str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", "")))
            if found:
                sys.exit(f"{path}: a page would show a folder of this machine, {found.group()}: change the cell\n{cell['source']}")
    notebook["metadata"] = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                            "language_info": {"name": "python"}}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        store(Path(name))
