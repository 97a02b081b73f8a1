#!/usr/bin/python3
"""Prepares the documents for mkdocs: stage_pages.py OUT writes OUT/pages and OUT/mkdocs.yml.

The documents are written for readers of the repository. Here links that leave docs/ are led to copies, what
Python-Markdown would misread is spelled its way, and ```math blocks become MathML, so that a browser needs no script.
"""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

import notebook_pages

root = pathlib.Path(__file__).resolve().parents[2]
out = pathlib.Path(sys.argv[1]).resolve()
pages = out / "pages"

# Documents outside of docs/ that are pages of the site too.
PLACES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md",
          "src/README.md": "folders.md"}


def place_of(path: str) -> str | None:
    """Where a file of the repository stands among the pages; None: nowhere."""
    if path in PLACES:
        return PLACES[path]
    if path.startswith("docs/"):
        return path[len("docs/"):]
    if path.endswith(".ipynb"):
        return str(pathlib.Path(path).with_suffix(".md"))
    if (root / path).is_file():
        return f"source/{path}.txt"
    return None


def lead(document: str, target: str) -> str | None:
    """A link of `document` as the site has it; None: to a folder, which the site does not show."""
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return target
    path, hash_sign, anchor = target.partition("#")
    wanted = os.path.normpath(os.path.join(os.path.dirname(document), path))
    if (root / wanted / "README.md").is_file():
        wanted += "/README.md"
    place = place_of(wanted)
    if place is None:
        return None
    if place.startswith("source/"):
        copy = pages / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / wanted, copy)
    return os.path.relpath(place, os.path.dirname(place_of(document)) or ".") + hash_sign + anchor


def mathml(formula: str) -> str:
    done = subprocess.run(["katex", "--display-mode", "--format", "mathml"], input=formula, text=True,
                          capture_output=True, check=False, env=os.environ | {"NODE_PATH": "/usr/share/nodejs"})
    if done.returncode != 0:
        sys.exit(f"katex cannot read {formula!r}: {done.stderr}")
    # The annotation repeats the source for assistive tools that do not know MathML; it would be searched as text.
    return '<div class="formula">' + re.sub(r"<annotation.*?</annotation>", "", done.stdout.strip(), flags=re.S) + "</div>"


def stage(document: str) -> None:
    lines, fence, formula = [], "", []
    for line in (root / document).read_text(encoding="utf-8").split("\n"):
        if line.startswith("```"):
            if fence == "math":
                lines += ["", mathml("\n".join(formula)), ""]
                fence, formula = "", []
                continue
            fence = "" if fence else line[3:].strip() or "text"
            if fence == "math":
                continue
            lines.append("```" + fence.split(" ")[0] if fence else "```")
            continue
        if fence == "math":
            formula.append(line)
            continue
        if not fence:
            starts_block = re.match(r"(\||[-*] |\d+\. )", line)
            follows_text = lines and lines[-1] and not re.match(r"(\||[-*] |\d+\. | )", lines[-1])
            if starts_block and follows_text:
                lines.append("")
            if line.startswith("|"):  # "-37 %", "72.4 ± 0.1" and "ε = 8" stay in one piece in a narrow cell
                line = re.sub(r"(?<=\d) (?=[%±])|(?<=±) (?=[\d.])|(?<=ε) (?==)|(?<=ε =) ", "\u00a0", line)
            line = with_links(document, line)
            # A link whose text began on the line before.
            line = re.sub(r"^([^\[\]`]*\])\(([^) ]+)\)", lambda m: f"{m[1]}({lead(document, m[2]) or m[2]})", line)
        lines.append(line)
    place = pages / place_of(document)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join(lines), encoding="utf-8")


def link(document: str, match: re.Match) -> str:
    target = lead(document, match[3])
    return match[2] if target is None else f"{match[1]}[{match[2]}]({target})"


def with_links(document: str, text: str) -> str:
    return re.sub(r"(!?)\[((?:[^\]`]|`[^`]*`)*)\]\(([^) ]+)\)", lambda m: link(document, m), text)


def navigation() -> list[str]:
    staged = sorted(str(p.relative_to(pages)) for p in pages.rglob("*.md"))
    sections = []
    for line in (root / "docs/contents.txt").read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            title, _, patterns = line.partition(":")
            sections.append((title, patterns.split()))
    named = {p for _, patterns in sections for p in patterns}
    if missing := [p for p in named if "*" not in p and p not in staged]:
        sys.exit(f"docs/contents.txt names pages that are not there: {', '.join(missing)}")
    taken, lines = {"index.md"}, ["nav:", "  - Start: index.md"]
    for title, patterns in sections:
        lines.append(f"  - {title}:")
        for pattern in patterns:
            for page in staged:
                in_folder = os.path.dirname(page) == os.path.dirname(pattern)
                fits = page == pattern or ("*" in pattern and in_folder and page not in named and fnmatch.fnmatch(page, pattern))
                if fits and page not in taken:
                    taken.add(page)
                    lines.append(f"      - {page}")
    if lost := [p for p in staged if p not in taken]:
        sys.exit(f"docs/contents.txt gives no place to {', '.join(lost)}")
    return lines


shutil.rmtree(out, ignore_errors=True)
for name in PLACES:
    stage(name)
for path in sorted((root / "docs").rglob("*")):
    name = str(path.relative_to(root))
    if path.suffix == ".md":
        stage(name)
    elif path.suffix in {".svg", ".png", ".json"}:
        (pages / place_of(name)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, pages / place_of(name))
for path in sorted((root / "python/notebooks").glob("*.ipynb")):
    name = str(path.relative_to(root))
    notebook_pages.write_page(path, pages / place_of(name), lambda text: with_links(name, text))
shutil.copyfile(root / "tools/docs/site.css", pages / "site.css")
settings = (root / "tools/docs/mkdocs.yml").read_text(encoding="utf-8").replace("THEME", str(root / "tools/docs/theme"))
(out / "mkdocs.yml").write_text(settings + "\n".join(navigation()) + "\n", encoding="utf-8")
