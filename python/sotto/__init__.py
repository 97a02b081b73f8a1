"""Recommendation that never collects what people read.

The libraries of Sotto from Python, without a second implementation of anything:

- `sotto.privacy`: what a plan costs, what noise a budget needs, mechanisms, ledger, audit
- `sotto.data`: data sets as NumPy views; import, generate, split; from pandas and Parquet
- `sotto.metrics`: ranking metrics of many impressions at once
- `sotto.secagg`: private sums and the protocol that adds them up unseen
- `sotto.device`: a reader's device in a script
- `sotto.serving`: a client of a serving server
- `sotto.train`, `sotto.open_run`: training in this process, where libtorch is
- `sotto.train_towers`, `sotto.train_own`: PyTorch modules of your own, or anything with a gradient, on the sound path

Wrong input is an `InputError` (a ValueError) with the text that the command line prints; what the machine could not do is
a `FailedError`.
"""

from . import data, device, metrics, privacy, secagg, serving
from ._core import ConflictError, FailedError, InputError, set_log_level, set_threads, threads, version as __version__
from .towers import Towers, recipes_for_towers, train_towers
from .training import Run, export, open_run, recipes, train, train_own

__all__ = [
    "ConflictError",
    "FailedError",
    "InputError",
    "Run",
    "Towers",
    "__version__",
    "data",
    "device",
    "export",
    "metrics",
    "open_run",
    "privacy",
    "recipes",
    "recipes_for_towers",
    "secagg",
    "serving",
    "set_log_level",
    "set_threads",
    "threads",
    "train",
    "train_own",
    "train_towers",
]
