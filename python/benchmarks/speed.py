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


def accounting():
    """epsilon of a sampled Gaussian plan, against dp-accounting's PLD accountant at equal accuracy.

    Both answers are bounds from above, so the lower one is the better: theirs is at the coarsest discretisation whose answer is
    no worse than ours. Ours is proved from below too, in the same time.
    """
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    for rate, rounds, noise in ((0.01, 1000, 1.0), (0.001, 10000, 0.8)):
        population = 1_000_000
        plan = dict(noise=noise, sampling="poisson", population=population, cohort=int(rate * population), rounds=rounds,
                    delta=1e-6)

        def theirs(interval):
            accountant = PLDAccountant(value_discretization_interval=interval)
            event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
            accountant.compose(event, rounds)
            return accountant.get_epsilon(1e-6)

        answer = sotto.privacy.account(**plan).published
        interval, baseline = next((interval, found) for interval in (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
                                  if (found := theirs(interval)) <= answer.epsilon)
        report(f"epsilon, rate {rate}, {rounds} rounds", seconds(lambda: sotto.privacy.epsilon(**plan)), seconds(lambda: theirs(interval), 0),
               abs(baseline - answer.epsilon) / answer.epsilon, epsilon=answer.epsilon, epsilon_baseline=baseline,
               interval=interval, proved_gap=answer.epsilon - answer.epsilon_lower)


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
