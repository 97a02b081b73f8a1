#!/usr/bin/python3
"""Writes SITE/search/from_disk.js: the search index and the worker that searches it, for pages opened from the disk."""
import json
import pathlib
import sys

site = pathlib.Path(sys.argv[1])
index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
worker, = (site / "assets/javascripts/workers").glob("search.*.js")
(site / "search/from_disk.js").write_text(
    f"var __search = {{index: Promise.resolve({json.dumps(index)}),\n"
    f"worker: URL.createObjectURL(new Blob([{json.dumps(worker.read_text(encoding='utf-8'))}]))}};\n", encoding="utf-8")
