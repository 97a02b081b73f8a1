"""Settings of the C++ records in docstrings: one place says what there is, and it is not this one."""

from __future__ import annotations

from typing import Callable, TypeVar

Value = str | float | bool | None
Row = tuple[str, str, str, str, str]
Function = TypeVar("Function", bound=Callable[..., object])


def documented(rows: list[Row]) -> Callable[[Function], Function]:
    """Adds the settings that a function takes to its docstring."""

    def add(function: Function) -> Function:
        lines = [f"    {name}: {help} ({kind}{', ' + allowed if allowed else ''}; default {default or 'empty'})"
                 for name, kind, default, allowed, help in rows]
        function.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n    Settings:\n\n" + "\n".join(lines) + "\n"
        return function

    return add
