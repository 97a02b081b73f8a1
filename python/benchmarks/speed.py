"""How much faster the library is than what people use from Python, both measured in this run.

    python python/benchmarks/speed.py

Prints one JSON object per line: name, ratio, ours and baseline in seconds, and how far their answers differ. Seconds are the
processor's, of all threads together, so that other work on the machine does not count.
"""

import json
import time
import tracemalloc

import numpy

import sotto


def seconds(function, least=0.2):
    """The best of several calls, which take at least that long together; of one, where that takes longer."""
    best, spent = float("inf"), -1.0
    while spent < least:
        begin = time.process_time()
        function()
        taken = time.process_time() - begin
        best, spent = min(best, taken), max(spent, 0) + taken
    return best


def report(name, ours, baseline, difference, **further):
    print(json.dumps({"name": name, "ratio": round(baseline / ours, 1), "ours": ours, "baseline": baseline, "unit": "s",
                      "difference": difference, **further}), flush=True)


PLANS = [  # mechanism, noise, one user in so many, rounds
    ("gaussian", 1.0, 0.01, 1), ("gaussian", 1.0, 0.01, 30), ("gaussian", 1.0, 0.01, 1_000), ("gaussian", 0.8, 0.001, 10_000),
    ("gaussian", 2.0, 0.01, 100_000), ("gaussian", 10.0, 1.0, 100), ("laplace", 10.0, 1.0, 100), ("laplace", 100.0, 1.0, 10_000),
    ("laplace", 1.0, 0.01, 1_000),
]


def accounting():
    """The epsilon of plans, against dp-accounting's PLD accountant at equal accuracy.

    Both answers are bounds from above, so the lower one is the better: theirs is at the coarsest discretisation, of ten in every
    factor of ten, whose answer is no worse than ours. How far both are off is against theirs at a quarter of that.
    """
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    population, delta = 1_000_000, 1e-6
    for mechanism, noise, rate, rounds in PLANS:
        sampled = dict(sampling="poisson", population=population, cohort=round(rate * population)) if rate < 1 else {}
        # Unsampled Gaussian noise has a closed form, which `epsilon` finds by itself: here loss distributions are timed.
        plan = dict(mechanism=mechanism, noise=noise, rounds=rounds, delta=delta, **sampled)
        event = (dp_accounting.GaussianDpEvent if mechanism == "gaussian" else dp_accounting.LaplaceDpEvent)(noise)
        event = dp_accounting.PoissonSampledDpEvent(rate, event) if rate < 1 else event

        def theirs(interval):
            accountant = PLDAccountant(value_discretization_interval=interval)
            accountant.compose(event, rounds)
            return accountant.get_epsilon(delta)

        answer = sotto.privacy.epsilon(**plan)
        interval, baseline = next((interval, found) for interval in (10 ** (-place / 10) for place in range(10, 70))
                                  if (found := theirs(interval)) <= answer * (1 + 1e-9))
        truth = theirs(interval / 4)
        report(f"epsilon, {mechanism} {noise}, rate {rate}, {rounds} rounds", seconds(lambda: sotto.privacy.epsilon(**plan)),
               seconds(lambda: theirs(interval), 0), abs(baseline - answer) / answer, epsilon=answer, error=answer / truth - 1,
               error_baseline=baseline / truth - 1, interval=interval)


def ranking():
    """AUC, MRR and nDCG of many impressions, against the loop over impressions that papers' code has."""
    random = numpy.random.default_rng(1)
    lengths = random.integers(5, 60, 20_000)
    offsets = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype(numpy.uint64)
    scores = random.normal(size=offsets[-1]).astype(numpy.float32)
    clicked = (random.random(offsets[-1]) < 0.1).astype(numpy.uint8)
    starts = offsets[:-1]
    clicked[starts] = 1
    clicked[starts + 1] = 0

    def dcg(gains, k):
        return (gains[:k] / numpy.log2(numpy.arange(2, min(k, len(gains)) + 2))).sum()

    def loop():
        sums = numpy.zeros(4)
        for begin, end in zip(offsets[:-1], offsets[1:]):
            values, marks = scores[begin:end], clicked[begin:end]
            order = numpy.argsort(-values)
            ranked = marks[order].astype(float)
            places = numpy.flatnonzero(ranked) + 1
            positive, negative = len(places), len(ranked) - len(places)
            sums[0] += 1 - (places.sum() - positive * (positive + 1) / 2) / (positive * negative)
            sums[1] += (1 / places).mean()
            ideal = numpy.sort(ranked)[::-1]
            sums[2] += dcg(ranked, 5) / dcg(ideal, 5)
            sums[3] += dcg(ranked, 10) / dcg(ideal, 10)
        return sums / len(lengths)

    mean = sotto.metrics.mean_impression_metrics(scores, clicked, offsets)
    ours = numpy.array([mean["auc"], mean["mrr"], mean["ndcg5"], mean["ndcg10"]])
    report("metrics of 20,000 impressions", seconds(lambda: sotto.metrics.mean_impression_metrics(scores, clicked, offsets)),
           seconds(loop, 0), float(numpy.abs(ours - loop()).max()), threads=sotto.threads())


def views(folder):
    """Memory that a thousand views of a column take, against copies of it."""
    import pyarrow

    rows = 200_000
    table = pyarrow.table({"u": numpy.arange(rows) // 100, "i": numpy.arange(rows) % 1000})
    dataset = sotto.data.from_dataframe(table, folder, user="u", item="i")
    tracemalloc.start()
    kept = [dataset.interactions.items for _ in range(1000)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(json.dumps({"name": "a thousand views of a column", "bytes": peak, "bytes_of_copies": 1000 * kept[0].nbytes,
                      "unit": "bytes"}))


if __name__ == "__main__":
    import tempfile

    accounting()
    ranking()
    with tempfile.TemporaryDirectory() as work:
        views(work + "/data")
