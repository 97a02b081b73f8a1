"""Notebooks as pages of the site: text as it is, code, what it printed and the pictures it drew."""
import base64
import json
import pathlib
from collections.abc import Callable


def write_page(notebook: pathlib.Path, page: pathlib.Path, with_links: Callable[[str], str]) -> None:
    """A notebook's page, with its pictures as files beside it; `with_links` leads the links of a text to the site's pages."""
    page.parent.mkdir(parents=True, exist_ok=True)
    parts = []
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(with_links(source))
            continue
        parts.append(f"```python\n{source}\n```")
        for place, output in enumerate(cell["outputs"]):
            data = output.get("data", {})
            if "image/png" in data:
                picture = page.with_name(f"{page.stem}-{number}-{place}.png")
                picture.write_bytes(base64.b64decode("".join(data["image/png"])))
                parts.append(f"![What the cell above drew]({picture.name})")
            elif text := "".join(output.get("text", data.get("text/plain", []))):
                parts.append(f"```text\n{text.rstrip()}\n```")
    parts.append(f"The notebook itself: [{notebook.name}]({notebook.name})")
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    page.with_name(notebook.name).write_bytes(notebook.read_bytes())
