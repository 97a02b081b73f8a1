#!/usr/bin/env python3
"""Scores of every news model on the items and pairs of small_news.h, written from the papers' formulas in plain
Python, without tensors: what golden_scores_test.cpp compares with. Weights are a formula of name and position.

    python3 tests/model/golden_scores.py        prints the table of golden_scores.h
"""
from math import exp, sin, sqrt, tanh

from plain_bert import bert

# ---- small_news.h
TITLES = [[2, 3, 4], [5, 2], [], [6, 7, 8, 9], [3, 4], []]
ABSTRACTS = [[4, 4, 7], [], [], [8], [2, 9], []]
CATEGORIES, SUBCATEGORIES = [1, 2, 1, 2, 0, 0], [1, 0, 2, 3, 1, 0]
ENTITIES = [[0], [], [], [1, 0], [1], []]
# word and entity, row by row; None where there is none
LINKED = [[(2, None), (3, 0), (4, 0)], [(5, None), (2, None)], [],
          [(6, 1), (7, None), (8, None), (9, None), (None, 0)], [(3, None), (4, 1)], []]
ENTITY_VECTORS = [[0.5, -1.0, 0.25], [-0.75, 0.5, 1.0]]
HISTORIES = [([0, 3, 1], 0), ([], 1), ([4], 2), ([5, 2], 2)]  # clicks, row of the user's own vector
CANDIDATES = [5, 0, 2, 3]
WORD, HEADS, HEAD, FILTERS, POOL, RECENT, CATEGORY, USER = 4, 2, 3, 6, 5, 2, 3, 3
# small_bert()
BERT_SIZE, BERT_LAYERS, BERT_HEADS, BERT_EPS = 4, 2, 2, 1e-12
BERT_TABLES = {"words": 10, "positions": 4, "token_types": 2}
BERT_LINEAR = {"qkv.weight": (4, 12), "out.weight": (4, 4), "up.weight": (4, 6), "down.weight": (6, 4)}  # in, out


# ---- weights: matrix(name, rows, columns)[r][c]
def weight(name, index):
    phase = sum((place + 1) * ord(letter) for place, letter in enumerate(name)) % 97
    return 0.4 * sin(1.3 * (index + 1) + phase)


def matrix(name, rows, columns):
    return [[weight(name, r * columns + c) for c in range(columns)] for r in range(rows)]


def vector(name, size):
    return [weight(name, i) for i in range(size)]


WORDS = matrix("words", 10, WORD)


# ---- arithmetic
def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def add(*vectors):
    return [sum(values) for values in zip(*vectors)]


def times(row, weights):
    return [sum(row[i] * weights[i][j] for i in range(len(row))) for j in range(len(weights[0]))]


def relu(row):
    return [max(x, 0.0) for x in row]


def softmax(scores):
    top = max(scores)
    powers = [exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def sigmoid(x):
    return 1 / (1 + exp(-x))


def weighted(weights, rows, size):
    return [sum(w * row[j] for w, row in zip(weights, rows)) for j in range(size)]


def mean(rows, size):
    return [sum(row[j] for row in rows) / len(rows) if rows else 0.0 for j in range(size)]


# ---- layers
def dense(name, row, out):
    return add(times(row, matrix(name + ".weight", len(row), out)), vector(name + ".bias", out))


def pooling(name, rows, size):
    if not rows:
        return [0.0] * size
    query = vector(name + ".query", POOL)
    scores = [dot([tanh(x) for x in dense(name, row, POOL)], query) for row in rows]
    return weighted(softmax(scores), rows, size)


def convolution(name, rows, out):
    blank = [0.0] * len(rows[0]) if rows else []
    padded = [blank] + rows + [blank]
    return [relu(dense(name, padded[i] + padded[i + 1] + padded[i + 2], out)) for i in range(len(rows))]


def attention(name, rows):
    size = HEADS * HEAD
    projected = [times(row, matrix(name + ".weight", len(row), 3 * size)) for row in rows]
    result = []
    for q in projected:
        out = []
        for h in range(HEADS):
            cut = lambda row, part: row[part * size + h * HEAD:part * size + (h + 1) * HEAD]
            weights = softmax([dot(cut(q, 0), cut(k, 1)) / sqrt(HEAD) for k in projected])
            out += weighted(weights, [cut(v, 2) for v in projected], HEAD)
        result.append(out)
    return result


def gru(name, rows, size, start):
    state = start
    for x in rows[-RECENT:]:
        a = add(times(x, matrix(name + ".input", len(x), 3 * size)), vector(name + ".bias", 3 * size))
        g = times(state, matrix(name + ".gates", size, 2 * size))
        update = [sigmoid(a[i] + g[i]) for i in range(size)]
        reset = [sigmoid(a[size + i] + g[size + i]) for i in range(size)]
        c = times([r * s for r, s in zip(reset, state)], matrix(name + ".candidate", size, size))
        proposal = [tanh(a[2 * size + i] + c[i]) for i in range(size)]
        state = [u * s + (1 - u) * p for u, s, p in zip(update, state, proposal)]
    return state


def lstm(name, rows, size):
    state, cell, states = [0.0] * size, [0.0] * size, []
    for x in rows:
        a = add(times(x, matrix(name + ".input", len(x), 4 * size)),
                times(state, matrix(name + ".state", size, 4 * size)), vector(name + ".bias", 4 * size))
        cell = [sigmoid(a[size + i]) * cell[i] + sigmoid(a[i]) * tanh(a[3 * size + i]) for i in range(size)]
        state = [sigmoid(a[2 * size + i]) * tanh(cell[i]) for i in range(size)]
        states.append(state)
    return states


def windows(name, rows, out):
    blank = [0.0] * len(rows[0]) if rows else []
    padded = [blank] + rows + [blank]
    result = []
    for window in (1, 2, 3):
        filters = out // 3 + (1 if window <= out % 3 else 0)
        each = []
        for i in range(1, len(rows) + 1):
            first, last = {1: (i, i), 2: (i - 1, i), 3: (i - 1, i + 1)}[window]
            inside = sum((padded[k] for k in range(first, last + 1)), [])
            each.append(relu(dense(f"{name}.window{window}", inside, filters)))
        result += [max(row[j] for row in each) if each else 0.0 for j in range(filters)]
    return result


def candidate_attention(name, states, candidate):
    b = dense(name + ".candidate", candidate, POOL)
    query = vector(name + ".query", POOL)
    scores = [dot(relu(add(dense(name + ".click", s, POOL), b)), query) for s in states]
    return weighted(softmax(scores), states, len(states[0]))


def code(name, value, rows, size):
    return matrix(name, rows, size)[value - 1] if value else [0.0] * size


def clicks(items, history, size):
    return [items[i] for i in history] or [[0.0] * size]


def words(text):
    return [WORDS[w] for w in text]


# ---- models: (history, own row, candidate) -> score
def towers(item, user):
    items = [item(i) for i in range(6)]
    size = len(items[0])
    return lambda history, own, candidate: dot(user(clicks(items, history, size), own), items[candidate])


def fednewsrec():
    size = HEADS * HEAD

    def item(i):
        x = convolution("word_convolution", words(TITLES[i]), size)
        return pooling("word_pooling", [relu(row) for row in attention("word_attention", x)], size)

    def user(rows, own):
        long_term = pooling("click_pooling", attention("click_attention", rows), size)
        return pooling("merge_pooling", [long_term, gru("recent_clicks", rows, size, [0.0] * size)], size)

    return towers(item, user)


def nrms():
    size = HEADS * HEAD
    return towers(lambda i: pooling("news.pooling", attention("news.attention", words(TITLES[i])), size),
                  lambda rows, own: pooling("user.pooling", attention("user.attention", rows), size))


def bert_weights(name):
    full, part = "text.bert." + name, name.split(".", 1)[-1]
    if name in BERT_TABLES:
        return matrix(full, BERT_TABLES[name], BERT_SIZE)
    if part in BERT_LINEAR:
        return [list(column) for column in zip(*matrix(full, *BERT_LINEAR[part]))]
    return vector(full, {"qkv.bias": 12, "up.bias": 6}.get(part, BERT_SIZE))


def plm_nr():
    size = HEADS * HEAD

    def item(i):
        if not TITLES[i]:
            return [0.0] * size
        states = bert(TITLES[i], bert_weights, BERT_LAYERS, BERT_HEADS, BERT_EPS)
        return dense("projection", pooling("text.pooling", states, BERT_SIZE), size)

    return towers(item, lambda rows, own: pooling("user.pooling", attention("user.attention", rows), size))


def text_cnn(name, text):
    return pooling(name + ".pooling", convolution(name + ".convolution", words(text), FILTERS), FILTERS)


def naml():
    def item(i):
        views = []
        if TITLES[i]:
            views.append(text_cnn("title", TITLES[i]))
        if ABSTRACTS[i]:
            views.append(text_cnn("abstract", ABSTRACTS[i]))
        if CATEGORIES[i]:
            views.append(relu(dense("category", code("codes.categories", CATEGORIES[i], 2, CATEGORY), FILTERS)))
        if SUBCATEGORIES[i]:
            views.append(relu(dense("subcategory", code("codes.subcategories", SUBCATEGORIES[i], 3, CATEGORY), FILTERS)))
        return pooling("views", views, FILTERS)

    return towers(item, lambda rows, own: pooling("clicks", rows, FILTERS))


def lstur():
    size = FILTERS + 2 * CATEGORY
    own_table = matrix("own.table", 3, size)
    return towers(lambda i: text_cnn("title", TITLES[i]) + code("codes.categories", CATEGORIES[i], 2, CATEGORY) +
                  code("codes.subcategories", SUBCATEGORIES[i], 3, CATEGORY),
                  lambda rows, own: gru("recent_clicks", rows, size, own_table[own]))


def npa():
    own_table = matrix("own.table", 3, USER)

    def query(name, own):
        preference = relu(dense(name + ".preference", own_table[own], POOL))
        return [tanh(x) for x in dense(name + ".query", preference, FILTERS)]

    def item(i, own):
        rows = convolution("convolution", words(TITLES[i]), FILTERS)
        if not rows:
            return [0.0] * FILTERS
        return weighted(softmax([dot(row, query("word_query", own)) for row in rows]), rows, FILTERS)

    def score(history, own, candidate):
        rows = [item(i, own) for i in history] or [[0.0] * FILTERS]
        user = weighted(softmax([dot(row, query("click_query", own)) for row in rows]), rows, FILTERS)
        return dot(user, item(candidate, own))

    return score


def ebnr():
    bias = vector("bias", FILTERS)

    def item(i):
        x = times(mean(words(TITLES[i] + ABSTRACTS[i]), WORD), matrix("weight", WORD, FILTERS))
        return [tanh(a + b) - tanh(b) for a, b in zip(x, bias)]

    return towers(item, lambda rows, own: gru("recent_clicks", rows, FILTERS, [0.0] * FILTERS))


def dkn():
    def item(i):
        rows = []
        for word, entity in LINKED[i]:
            known = [tanh(x) for x in dense("entity_map", ENTITY_VECTORS[entity], WORD)] if entity is not None else [0.0] * WORD
            rows.append((WORDS[word] if word is not None else [0.0] * WORD) + known)
        return windows("title", rows, FILTERS)

    items = [item(i) for i in range(6)]

    def score(history, own, candidate):
        rows = clicks(items, history, FILTERS)
        user = candidate_attention("attention", rows, items[candidate])
        return dense("score", relu(dense("hidden", user + items[candidate], POOL)), 1)[0]

    return score


def dan():
    items = [windows("title", words(TITLES[i]), FILTERS - FILTERS // 2) +
             windows("profile", [ENTITY_VECTORS[e] for e in ENTITIES[i]], FILTERS // 2) for i in range(6)]

    def score(history, own, candidate):
        rows = clicks(items, history, FILTERS)
        interest = candidate_attention("interest", rows, items[candidate])
        sequence = candidate_attention("sequence", lstm("lstm", rows, FILTERS), items[candidate])
        return dot(dense("user", interest + sequence, FILTERS), items[candidate])

    return score


def dfm():
    items = [mean(words(TITLES[i]), WORD) + code("codes.categories", CATEGORIES[i], 2, CATEGORY) +
             code("codes.subcategories", SUBCATEGORIES[i], 3, CATEGORY) for i in range(6)]
    own_table = matrix("own.table", 3, USER)

    def inception(name, row):
        channels = []
        for channel in (1, 2, 3):
            x = row
            for layer in range(1, channel + 1):
                x = relu(dense(f"{name}.channel{channel}_layer{layer}", x, FILTERS))
            channels.append(x)
        return channels

    def score(history, own, candidate):
        rows = clicks(items, history, len(items[0]))
        past = candidate_attention("attention", rows, items[candidate])
        features = own_table[own] + past + items[candidate] + [a * b for a, b in zip(past, items[candidate])]
        channels = inception("second", sum(inception("first", features), []))
        return dense("score", pooling("fusion", channels, FILTERS), 1)[0]

    return score


def fm():
    def features(i, table, codes, size, scale):
        rows = [(scale / len(TITLES[i]), w, matrix(table, 10, WORD)[w]) for w in TITLES[i]]
        for name, value, count in (("categories", CATEGORIES[i], 2), ("subcategories", SUBCATEGORIES[i], 3)):
            if value:
                rows.append((scale, None, code(f"{codes}.{name}", value, count, size)))
        return rows

    def score(history, own, candidate):
        reader = [(1.0, matrix("own.table", 3, WORD)[own])]
        for i in history:
            reader += [(x, v) for x, _, v in features(i, "clicked_words", "clicked_codes", WORD, 1 / len(history))]
        shown = features(candidate, "words", "codes", WORD + 1, 1.0)
        total = sum(x * (weight("word_weights", w) if w is not None else v[WORD]) for x, w, v in shown)
        item = [(x, v[:WORD]) for x, _, v in shown]
        total += sum(a * b * dot(v, w) for n, (a, v) in enumerate(item) for b, w in item[n + 1:])
        return total + sum(a * b * dot(v, w) for a, v in item for b, w in reader)

    return score


if __name__ == "__main__":
    for model in (fednewsrec, nrms, naml, plm_nr, lstur, npa, ebnr, dkn, dan, dfm, fm):
        score = model()
        values = [score(history, own, candidate) for history, own in HISTORIES for candidate in CANDIDATES]
        print(f'    {{"{model.__name__.replace("_", "-")}", {{{", ".join(f"{value:.12g}" for value in values)}}}}},')
