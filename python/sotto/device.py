"""A reader's device in a script: clicks stay in its folder, and what is told is charged before it is sent."""

from __future__ import annotations

import os
from typing import Sequence

from ._core.device import Device, Page, RankedItem, device_settings
from ._settings import Value, documented

__all__ = ["Device", "Page", "RankedItem", "device_settings", "open_device"]


@documented(device_settings())
def open_device(
    folder: str | os.PathLike[str],
    *,
    server: str | None = None,
    authorities: str | os.PathLike[str] | None = None,
    timeout: float = 30.0,
    first_use: bool = False,
    not_sensitive: Sequence[str] = (),
    **settings: Value,
) -> Device:
    """Opens a device, or begins one.

    `first_use` states that this reader has never told anything before: without it a folder without a ledger begins with its
    budgets spent, because the ledger may have been deleted. `server` is the address it asks, `authorities` a PEM file of
    certificates to trust; `not_sensitive` names the categories whose clicks need no protection.
    """
    return Device(folder, server, authorities, timeout, first_use, list(not_sensitive), **settings)
