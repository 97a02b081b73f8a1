#!/usr/bin/env python3
"""docs/python/reference.md from the docstrings and signatures of the installed package.

    python_reference.py FILE           writes it
    python_reference.py --check FILE   fails when it is not what the package says
"""

import importlib
import inspect
import re
import sys
from pathlib import Path

MODULES = ["sotto.privacy", "sotto.data", "sotto.metrics", "sotto.secagg", "sotto.device", "sotto.serving", "sotto.training", "sotto.towers"]


def signature(thing, name):
    documented = getattr(thing, "__nb_signature__", None)
    if documented:
        return re.sub(r"^def ", "", documented[0][0]).rstrip(": .")
    try:
        return f"{name}{inspect.signature(thing)}"
    except (TypeError, ValueError):
        return name


def shortened(text):
    """Signatures as people read them."""
    for long, short in (("numpy.typing.", ""), ("collections.abc.", ""), ("typing.", ""), ("sotto._core.", ""),
                        ("str | os.PathLike[str]", "path"), ("'Folder'", "path"), ("NDArray[Any]", "array"),
                        ("NDArray[numpy.float32]", "array"), ("NDArray[numpy.uint32]", "array"), ("ArrayLike", "array")):
        text = text.replace(long, short)
    return re.sub(r"'([A-Za-z_][\w.\[\], |]*)'(?=[,)\]]| =| ->|$)", r"\1", text)


def text_of(thing):
    """The docstring without what nanobind puts in front of it, settings as a list."""
    doc = inspect.getdoc(thing) or ""
    doc = re.sub(r"^\w+\(.*\n\n?", "", doc) if hasattr(thing, "__nb_signature__") else doc
    doc = re.sub(r"(?m)^(\s*)>>> .*\n(?:\s*(?!>>>)\S.*\n?)?", "", doc)
    doc = re.sub(r"(?m)^ {4}(\w+): (.*)$", r"- `\1`: \2", doc)
    return doc.strip()


def members(thing):
    for name, member in vars(thing).items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, property) or type(member).__name__ == "property":
            yield f"`.{name}`", text_of(member)
        elif callable(member) or isinstance(member, staticmethod):
            plain = member.__func__ if isinstance(member, staticmethod) else member
            called = shortened(signature(plain, name)).replace("(self, /)", "()").replace("self, ", "").replace("(self)", "()")
            label = called.replace("__init__", thing.__name__, 1) if name == "__init__" else "." + called
            yield f"`{label}`", text_of(plain) if name != "__init__" else ""


def page():
    lines = ["# Reference", "", "Made from the docstrings of the package by `tools/docs/python_reference.py`; a test holds it to them.", ""]
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        lines += [f"## {module_name}", "", inspect.getdoc(module) or "", ""]
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            if inspect.isclass(thing):
                lines += [f"### {name}", "", text_of(thing), ""]
                lines += [f"- {label}{': ' if text else ''}{' '.join(text.split())}" for label, text in members(thing)] + [""]
            elif callable(thing):
                lines += [f"### {name}", "", "```python", shortened(signature(thing, name)), "```", "", text_of(thing), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


if __name__ == "__main__":
    target = Path(sys.argv[-1])
    made = page()
    if sys.argv[1] == "--check":
        if target.read_text(encoding="utf-8") != made:
            sys.exit(f"{target} is not what the package says: run tools/docs/python_reference.py {target}")
    else:
        target.write_text(made, encoding="utf-8")
