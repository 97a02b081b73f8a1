#!/usr/bin/env python3
"""User vectors of small histories, in plain Python: what user_model_test.cpp compares the device's layers with. The
layers and weights are those of tests/model/golden_scores.py, which the server's models are held to as well.

    python3 tests/device/golden_users.py        prints the table of golden_users.h
"""
import os
import sys
from math import cos, exp, sqrt

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "model"))
from golden_scores import attention, dot, gru, pooling, vector  # noqa: E402

SIZE = 6
CLICKS = [0, 1, 3, 5]  # history lengths


def click(i):
    return [cos(0.7 * i + 1.1 * j) for j in range(SIZE)]


def nrms(rows):
    return pooling("user.pooling", attention("user.attention", rows), SIZE)


def naml(rows):
    return pooling("clicks", rows, SIZE)


def fednewsrec(rows):
    long_term = pooling("click_pooling", attention("click_attention", rows), SIZE)
    return pooling("merge_pooling", [long_term, gru("recent_clicks", rows, SIZE, [0.0] * SIZE)], SIZE)


def catalogue(rows):
    attended = [exp(dot(vector("query", SIZE), row)) for row in rows]
    pooled = [sum(a * row[j] for a, row in zip(attended, rows)) / sum(attended) for j in range(SIZE)]
    trust = len(rows) / (len(rows) + exp(vector("doubt", 1)[0]))
    return [average + trust * exp(scale) * click
            for average, scale, click in zip(vector("average", SIZE), vector("scale", SIZE), pooled)]


def sum_(rows):
    mix = [vector("mix", SIZE * SIZE)[i * SIZE:(i + 1) * SIZE] for i in range(SIZE)]
    said = [[sum(row[i] * mix[i][j] for i in range(SIZE)) for j in range(SIZE)] for row in rows]
    said = [row for row in said if any(row)]
    return [constant + (sum(row[j] for row in said) / sqrt(len(said)) if said else 0)
            for j, constant in enumerate(vector("constant", SIZE))]


def mean(rows):
    return [sum(row[j] for row in rows) / len(rows) for j in range(SIZE)]


if __name__ == "__main__":
    for model in (nrms, naml, fednewsrec, catalogue, sum_, mean):
        for count in CLICKS:
            rows = [click(i) for i in range(count)] or [[0.0] * SIZE]
            numbers = ", ".join(f"{value:.12g}" for value in model(rows))
            print(f'    {{"{model.__name__.rstrip("_")}", {count}, {{{numbers}}}}},')
