#!/usr/bin/env python3
"""Last hidden states of the BERT of tiny_bert.h, in plain Python: what bert_model_test.cpp compares with.

    python3 tests/model/golden_bert.py        prints the table of golden_bert.h
"""
from math import sin
from struct import pack, unpack

from plain_bert import bert, gelu, gelu_by_tanh

SIZE, INNER, LAYERS, HEADS, EPS = 8, 12, 2, 2, 1e-12
TEXTS = [[2, 5, 9, 3], [2, 3], [10, 0, 1, 4, 6, 7, 8]]
ROWS = [0, 3, 5, 12]

# ---- the names and shapes of a checkpoint: [out, in]
SHAPES = {"embeddings.word_embeddings.weight": (11, SIZE), "embeddings.position_embeddings.weight": (7, SIZE),
          "embeddings.token_type_embeddings.weight": (2, SIZE), "embeddings.LayerNorm.weight": (SIZE,),
          "embeddings.LayerNorm.bias": (SIZE,)}
for layer in range(LAYERS):
    for name, shape in {"attention.self.query": (SIZE, SIZE), "attention.self.key": (SIZE, SIZE),
                        "attention.self.value": (SIZE, SIZE), "attention.output.dense": (SIZE, SIZE),
                        "attention.output.LayerNorm": (SIZE,), "intermediate.dense": (INNER, SIZE),
                        "output.dense": (SIZE, INNER), "output.LayerNorm": (SIZE,)}.items():
        SHAPES[f"encoder.layer.{layer}.{name}.weight"] = shape
        SHAPES[f"encoder.layer.{layer}.{name}.bias"] = shape[:1]

OURS = {"words": "embeddings.word_embeddings.weight", "positions": "embeddings.position_embeddings.weight",
        "token_types": "embeddings.token_type_embeddings.weight"}
PARTS = {"out": "attention.output.dense", "attention_norm": "attention.output.LayerNorm", "up": "intermediate.dense",
         "down": "output.dense", "output_norm": "output.LayerNorm"}


def stored(name):
    """Tensor t in the order of the names, element i: 0.4 sin(0.7 i + t), plus 1 for weights of layer norms; as floats."""
    shape, t = SHAPES[name], sorted(SHAPES).index(name)
    count = shape[0] * (shape[1] if len(shape) == 2 else 1)
    one = 1 if name.endswith("LayerNorm.weight") else 0
    values = [unpack("f", pack("f", 0.4 * sin(0.7 * i + t) + one))[0] for i in range(count)]
    return [values[r * shape[1]:(r + 1) * shape[1]] for r in range(shape[0])] if len(shape) == 2 else values


def weights(name):
    if name in OURS:
        return stored(OURS[name])
    part, kind = name.rsplit(".", 1)
    if part == "embedding_norm":
        return stored("embeddings.LayerNorm." + kind)
    layer, part = part.split(".")
    layer = f"encoder.layer.{layer[5:]}."
    if part == "qkv":
        return sum((stored(f"{layer}attention.self.{which}.{kind}") for which in ("query", "key", "value")), [])
    return stored(f"{layer}{PARTS[part]}.{kind}")


if __name__ == "__main__":
    for name, activation in (("exact", gelu), ("tanh", gelu_by_tanh)):
        states = sum((bert(text, weights, LAYERS, HEADS, EPS, activation) for text in TEXTS), [])
        rows = ", ".join("{" + ", ".join(f"{x:.12g}" for x in states[row]) + "}" for row in ROWS)
        print(f"    {{Gelu::{name}, {{{{{rows}}}}}}},")
