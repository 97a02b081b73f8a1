"""BERT's encoder written from its formulas in plain Python, one text at a time, without tensors. Shared by the
scripts that print golden values.

`weights(name)` gives a matrix (a list of rows, [out][in] for linear layers) or a vector under the names of
src/model/bert/bert_model.h.
"""
from math import erf, exp, pi, sqrt, tanh


def gelu(x):
    return x * 0.5 * (1 + erf(x / sqrt(2)))


def gelu_by_tanh(x):
    return 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))


def linear(row, matrix, bias):
    return [sum(x * w for x, w in zip(row, out)) + b for out, b in zip(matrix, bias)]


def layer_norm(row, weight, bias, eps):
    mean = sum(row) / len(row)
    deviation = sqrt(sum((x - mean) ** 2 for x in row) / len(row) + eps)
    return [(x - mean) / deviation * w + b for x, w, b in zip(row, weight, bias)]


def attention(projected, size, heads):
    head = size // heads
    result = []
    for query in projected:
        out = []
        for h in range(heads):
            place = lambda row, part: row[part * size + h * head:part * size + (h + 1) * head]
            scores = [sum(a * b for a, b in zip(place(query, 0), place(key, 1))) / sqrt(head) for key in projected]
            powers = [exp(s - max(scores)) for s in scores]
            out += [sum(p * place(row, 2)[j] for p, row in zip(powers, projected)) / sum(powers) for j in range(head)]
        result.append(out)
    return result


def plus(a, b):
    return [x + y for x, y in zip(a, b)]


def bert(pieces, weights, layers, heads, eps, activation=gelu):
    """The last hidden states of one text, a row per piece."""
    norm = lambda name, row: layer_norm(row, weights(name + ".weight"), weights(name + ".bias"), eps)
    dense = lambda name, row: linear(row, weights(name + ".weight"), weights(name + ".bias"))
    rows = [norm("embedding_norm", plus(plus(weights("words")[piece], weights("positions")[place]), weights("token_types")[0]))
            for place, piece in enumerate(pieces)]
    for layer in range(layers):
        name = f"layer{layer}."
        mixed = attention([dense(name + "qkv", row) for row in rows], len(rows[0]) if rows else 0, heads)
        rows = [norm(name + "attention_norm", plus(row, dense(name + "out", m))) for row, m in zip(rows, mixed)]
        rows = [norm(name + "output_norm", plus(row, dense(name + "down", [activation(x) for x in dense(name + "up", row)])))
                for row in rows]
    return rows
