"""Data sets as columns that NumPy looks at without a copy; import, generate, split; from pandas and Parquet."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence

from ._core import InputError
from ._core.data import (
    CodeLists,
    Dataset,
    Impressions,
    Interactions,
    TextColumn,
    generate_newsroom as _generate_newsroom,
    halve_rows,
    import_dataset as _import_dataset,
    import_settings,
    newsroom_settings,
    split_users,
    view_settings,
    write_view as _write_view,
)
from ._settings import Value, documented

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "CodeLists",
    "Dataset",
    "Impressions",
    "Interactions",
    "TextColumn",
    "from_dataframe",
    "from_parquet",
    "generate",
    "halve_rows",
    "import_dataset",
    "open",
    "split_users",
    "view",
]

Folder = str | os.PathLike[str]


def open(folder: Folder) -> Dataset:
    """Opens a data set folder. Columns are memory-mapped; arrays keep the data set alive."""
    return Dataset.open(folder)


@documented(newsroom_settings())
def generate(out: Folder, *, replace: bool = False, **settings: Value) -> Dataset:
    """Simulated readers of a simulated newsroom, written to a folder and opened."""
    _generate_newsroom(out, replace, **settings)
    return open(out)


@documented(import_settings())
def import_dataset(kind: str, source: Folder, out: Folder, **settings: Value) -> Dataset:
    """Imports mind, adressa, movielens, frappe, globo or csv into a folder and opens it."""
    _import_dataset(kind, source, out, **settings)
    return open(out)


@documented(view_settings())
def view(source: Folder, form: str, out: Folder, *, replace: bool = False, **settings: Value) -> Dataset:
    """The same data with its behaviour as 'interactions', 'impressions' or 'text', written to a folder and opened."""
    _write_view(source, form, out, replace, **settings)
    return open(out)


@documented(import_settings())
def from_dataframe(
    interactions: Any,
    out: Folder,
    *,
    user: str,
    item: str,
    rating: str | None = None,
    time: str | None = None,
    context: Sequence[str] = (),
    items: Any = None,
    item_id: str | None = None,
    title: str | None = None,
    text: str | None = None,
    category: str | None = None,
    item_features: Sequence[str] = (),
    name: str = "frame",
    **settings: Value,
) -> Dataset:
    """A data set from a pandas or pyarrow table of who used what, written to a folder and opened.

    `items` is the public catalogue: all items that anybody could use, whoever the users are. Private recipes leave out items
    that only somebody's rows name. Times may be timestamps or seconds since 1970; lists of texts in `item_features` are
    several values. The rows go through the csv importer, so that one place decides what they mean.
    """
    rows = _table(interactions, [user, item, rating, time, *context])
    mapping: dict[str, Any] = {"name": name, "interactions": {"file": "rows.csv", "user": user, "item": item}}
    if rating:
        mapping["interactions"]["rating"] = rating
    if time:
        mapping["interactions"]["time"] = time
        rows = _in_seconds(rows, time)
    if context:
        mapping["interactions"].update(_features(rows, context))
    tables = {"rows.csv": rows}
    if items is not None:
        if item_id is None:
            raise InputError("items needs item_id: the column that holds their ids")
        catalogue = _table(items, [item_id, title, text, category, *item_features])
        mapping["items"] = {"file": "items.csv", "id": item_id, "list_separator": "|", **_features(catalogue, item_features)}
        for key, column in (("title", title), ("text", text), ("category", category)):
            if column:
                mapping["items"][key] = column
        tables["items.csv"] = catalogue
    elif any((item_id, title, text, category, item_features)):
        raise InputError("item_id, title, text, category and item_features are columns of items: give items too")

    from pyarrow import csv

    with tempfile.TemporaryDirectory(prefix="sotto-") as folder:
        for file, table in tables.items():
            csv.write_csv(_joined(table), Path(folder) / file)
        (Path(folder) / "mapping.toml").write_text(_toml(mapping), encoding="utf-8")
        _import_dataset("csv", folder, out, **settings)
    return open(out)


@documented(import_settings())
def from_parquet(interactions: Folder, out: Folder, *, items: Folder | None = None, **columns: Any) -> Dataset:
    """The same from Parquet files; columns and settings as `from_dataframe` takes them."""
    from pyarrow import parquet

    return from_dataframe(
        parquet.read_table(interactions), out, items=None if items is None else parquet.read_table(items), **columns
    )


def _table(frame: Any, columns: Sequence[str | None]) -> pyarrow.Table:
    import pyarrow

    wanted = list(dict.fromkeys(column for column in columns if column))
    named: Any = getattr(frame, "column_names", None)
    names = list(getattr(frame, "columns", ()) if named is None else named)
    for column in wanted:
        if column not in names:
            raise InputError(f"there is no column '{column}': the table has {', '.join(map(str, names)) or 'none'}")
    if isinstance(frame, pyarrow.Table):
        return frame.select(wanted)
    return pyarrow.Table.from_pandas(frame[wanted], preserve_index=False)


def _in_seconds(table: pyarrow.Table, column: str) -> pyarrow.Table:
    import pyarrow

    place = table.column_names.index(column)
    if pyarrow.types.is_timestamp(table.schema.field(place).type):
        seconds = table.column(place).cast(pyarrow.timestamp("s"), safe=False).cast(pyarrow.int64())
        return table.set_column(place, column, seconds)
    return table


def _features(table: pyarrow.Table, columns: Sequence[str]) -> dict[str, list[str]]:
    import pyarrow

    kinds: dict[str, list[str]] = {"categories": [], "numbers": []}
    for column in columns:
        kind = table.schema.field(column).type
        number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
        kinds["numbers" if number else "categories"].append(column)
    return {key: value for key, value in kinds.items() if value}


def _joined(table: pyarrow.Table) -> pyarrow.Table:
    """Lists of texts as one field, dictionaries as their texts: what a csv file can hold."""
    import pyarrow
    from pyarrow import compute

    for place, field in enumerate(table.schema):
        if pyarrow.types.is_list(field.type) or pyarrow.types.is_large_list(field.type):
            table = table.set_column(place, field.name, compute.binary_join(table.column(place), "|"))
        elif pyarrow.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pyarrow.string()))
    return table


def _toml(mapping: dict[str, Any]) -> str:
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in mapping.items() if not isinstance(value, dict)]
    for section, inner in mapping.items():
        if isinstance(inner, dict):
            lines.append(f"[{section}]")
            lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in inner.items()]
    return "\n".join(lines) + "\n"
