"""Ranking metrics, one definition each, ties averaged; means over many on all threads."""

from ._core.metrics import impression_metrics, mean_held_out_metrics, mean_impression_metrics

__all__ = ["impression_metrics", "mean_held_out_metrics", "mean_impression_metrics"]
