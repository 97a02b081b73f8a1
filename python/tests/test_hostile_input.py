"""Whatever is handed in, Python gets an exception or an answer: nothing ends the interpreter.

The same inputs every time, so that a failure is of the change that was made. SOTTO_EXPLORE=n draws others, n times as many.
"""

import os
import shutil
import tempfile
import threading
from pathlib import Path

import numpy
import pandas
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as arrays

import sotto
from sotto import data, device, metrics, privacy, secagg, serving

ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=20), st.binary(max_size=20),
    st.text(st.characters(whitelist_categories=["Cs", "Cc"]), max_size=3),  # halves of characters, ends of strings
    st.lists(st.integers(-3, 3), max_size=4),
)
ARRAY = st.one_of(
    arrays.arrays(st.sampled_from([numpy.float32, numpy.float64, numpy.uint8, numpy.uint32, numpy.uint64, numpy.int64]),
                  arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
    ANYTHING,
)
EXPECTED = (sotto.InputError, sotto.FailedError, sotto.ConflictError, TypeError, ValueError, OverflowError, IndexError,
            UnicodeError, MemoryError, OSError)
EXPLORE = int(os.environ.get("SOTTO_EXPLORE", "0"))


def fuzz(examples=150):
    return settings(max_examples=examples * max(1, EXPLORE), deadline=None, suppress_health_check=list(HealthCheck),
                    derandomize=EXPLORE == 0)


FUZZ = fuzz()


def attempt(function, /, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except EXPECTED:
        return None


PLAN_KEYS = [row[0] for row in privacy.plan_settings()]
# A hundred thousand rounds and more are composed in seconds each, or left to Rényi curves: test_many_rounds has a few of them.
ROUNDS = st.one_of(st.integers(-3, 3000), st.integers(2**53, 2**70), ANYTHING.filter(lambda value: not isinstance(value, int)))
# Plans that are nearly right reach the accountants; others end at the first check.
NEARLY_A_PLAN = st.fixed_dictionaries({}, optional={
    "noise": st.one_of(st.floats(0.01, 1e4), ANYTHING), "delta": st.one_of(st.floats(1e-12, 0.5), ANYTHING),
    "population": st.one_of(st.integers(1, 10**7), ANYTHING), "cohort": st.one_of(st.integers(1, 10**4), ANYTHING),
    "sampling": st.sampled_from(["none", "poisson", "without-replacement", "sometimes"]), "rounds": ROUNDS,
    "mechanism": st.sampled_from(["gaussian", "laplace", "pure", "magic"]), "participations": st.integers(-1, 2**40)})


@FUZZ
@given(st.one_of(NEARLY_A_PLAN, st.dictionaries(st.one_of(st.sampled_from(PLAN_KEYS), st.text(max_size=8)), ANYTHING, max_size=6)),
       ROUNDS)
def test_plans(plan, rounds):
    plan = {**plan, "rounds": rounds} if "rounds" in plan else plan
    attempt(privacy.epsilon, **plan)
    attempt(privacy.account, **plan)
    attempt(privacy.calibrate, **{"epsilon": 1.0, **plan})


@pytest.mark.parametrize("rounds", [10**5, 10**6, 10**6 + 1, 10**12, 2**63 - 1, 2**63, 2**64])
def test_many_rounds(rounds):
    plan = dict(noise=1.0, sampling="poisson", population=10**6, cohort=100, delta=1e-6)
    few = privacy.epsilon(**plan, rounds=1000)
    many = attempt(privacy.epsilon, **plan, rounds=rounds)
    assert many is None or many > few


@FUZZ
@given(ARRAY, ARRAY, ARRAY, ARRAY)
def test_metrics(a, b, c, d):
    attempt(metrics.impression_metrics, a, b)
    attempt(metrics.mean_impression_metrics, a, b, c)
    attempt(metrics.mean_held_out_metrics, a, b, c, d)


def while_a_thread_writes(array, values, work, times=40):
    """Runs `work` again and again while another thread writes the values into the array in turn."""
    done = threading.Event()

    def write():
        while not done.is_set():
            for value in values:
                array[:] = value

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return [attempt(work) for _ in range(times)]
    finally:
        done.set()
        writer.join()


def test_metrics_of_memory_that_another_thread_changes():
    users, items = 2000, 200
    scores = numpy.random.default_rng(3).random((users, items), numpy.float32)
    excluded = numpy.zeros((users, items), numpy.uint8)
    offsets = numpy.arange(users + 1, dtype=numpy.uint64)
    held_out = numpy.zeros(users, numpy.uint32)
    flat = scores.reshape(-1)
    lists = offsets * items

    def held_out_metrics():
        return metrics.mean_held_out_metrics(scores, excluded, held_out, offsets)

    right = held_out_metrics()
    wrong_items = while_a_thread_writes(held_out, (2**32 - 1, 0), held_out_metrics)
    # What was checked is what is counted: all of it right, or refused.
    assert all(answer is None or answer == right for answer in wrong_items)
    held_out[:] = 0
    while_a_thread_writes(offsets[1:-1], (2**40, 1), held_out_metrics)
    offsets[:] = numpy.arange(users + 1)
    while_a_thread_writes(scores, (2.0, 1.0, numpy.nan), held_out_metrics)
    scores[:] = 1
    while_a_thread_writes(lists[1:-1], (2**40, 0),
                          lambda: metrics.mean_impression_metrics(flat, excluded.reshape(-1), lists))


@FUZZ
@given(ANYTHING, ANYTHING, ANYTHING, ARRAY, ANYTHING)
def test_mechanisms(a, b, c, values, seed):
    for made in (
        attempt(privacy.GaussianMechanism, noise_multiplier=a, l2_sensitivity=b, dimension=c),
        attempt(privacy.LaplaceMechanism, epsilon=a, l1_sensitivity=b, dimension=c),
    ):
        if made is not None:
            attempt(made.release, values, simulation_seed=seed)
            attempt(made.epsilon, b)
    choice = attempt(privacy.ExponentialMechanism, epsilon=a, sensitivity=b)
    if choice is not None:
        attempt(choice.choose, values, simulation_seed=seed)
    response = attempt(privacy.RandomisedResponse, epsilon=a, categories=c)
    if response is not None:
        attempt(response.respond, b, simulation_seed=seed)
    for clip in (privacy.clip_l1, privacy.clip_l2, privacy.clip_coordinates):
        attempt(clip, values, a)


SMALL = st.one_of(st.integers(-2, 40), ANYTHING)


@FUZZ
@given(SMALL, st.one_of(st.floats(0.01, 10), ANYTHING), SMALL, SMALL, ARRAY)
def test_private_sums(dimension, clip, devices, bits, update):
    if isinstance(dimension, int) and dimension > 2**20:
        dimension = 8  # room for it is asked for, and there is that much memory
    plan = attempt(secagg.Plan, dimension=dimension, clip=clip, devices=devices, bits=bits, noise_multiplier=1.0)
    if plan is not None:
        sent = attempt(plan.encode, update)
        decoder = secagg.Decoder(plan)
        attempt(decoder.add_group, update)
        if sent is not None:
            decoder.add_group(sent)
            decoder.decode()
    attempt(secagg.modular_sum, [update, update], bits)
    attempt(secagg.modular_sum, update, bits)


@FUZZ
@given(st.binary(max_size=200), st.integers(-1, 30), st.binary(max_size=40))
def test_protocol_messages(message, client, key):
    members = [secagg.Identity() for _ in range(6)]
    shape = dict(identities=[member.public_key for member in members], entries=4, bits=16, corrupted=0.0, dropping=0.0)
    server = secagg.Server(**shape)
    attempt(server.receive, client, message)
    attempt(server.message_for, client)
    attempt(secagg.Client, message, members[0], minimum_alive=2, **shape)
    attempt(secagg.Server, **{**shape, "identities": [key] * 6})
    # Another server: the first may have turned client 0 away for its message.
    server = secagg.Server(**shape)
    joined = secagg.Client(server.message_for(0), members[0], minimum_alive=server.minimum_alive, **shape)
    joined.advertise()
    attempt(joined.share_keys, message)


@FUZZ
@given(ARRAY, ANYTHING, ANYTHING)
def test_splits(users, share, seed):
    attempt(data.split_users, users, share, seed)


@fuzz(60)
@given(st.binary(max_size=300))
def test_damaged_data_sets(content):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "dataset.sotto").write_bytes(content)
        assert attempt(data.open, folder) is None


@fuzz(60)
@given(st.binary(max_size=200), st.text(max_size=10))
def test_damaged_packs_and_ledgers(content, item):
    with tempfile.TemporaryDirectory() as folder:
        opened = device.open_device(Path(folder) / "device", ranking="local", lifetime_epsilon=1)
        attempt(opened.install, content)
        attempt(opened.click, item)
        attempt(opened.recommend, 3)
        ledger = Path(folder) / "ledger.sotto"
        ledger.write_bytes(content)
        attempt(privacy.read_statement, ledger)
        attempt(privacy.Ledger, ledger, lifetime_epsilon=1.0)


@FUZZ
@given(st.text(max_size=30), ANYTHING)
def test_addresses(url, timeout):
    attempt(serving.Client, url, timeout=timeout)
    client = serving.Client("http://127.0.0.1:9", timeout=0.1)
    attempt(client._http.send, "GET", url)
    attempt(client._http.send, "GET", "/", b"", url, [(url, url)])


NOTHING_LARGE = st.one_of(st.integers(-3, 40), st.integers(2**40, 2**70), st.floats(max_value=40), st.none(), st.booleans(),
                          st.text(max_size=10), st.binary(max_size=5), st.lists(st.integers(-3, 3), max_size=3))


def settings_of(rows, large=()):
    """Settings of such a table, right or wrong; what decides how long the work takes stays as it is."""
    names = [row[0] for row in rows if row[0] not in large]
    return st.dictionaries(st.one_of(st.sampled_from(names), st.text(max_size=8)), NOTHING_LARGE, max_size=3)


@fuzz(60)
@given(settings_of(data.newsroom_settings(), large=("users", "news", "days")), ANYTHING)
def test_generated_newsrooms(given, out):
    with tempfile.TemporaryDirectory() as folder:
        attempt(data.generate, Path(folder) / "made", **{"users": 6, "news": 30, "days": 1, **given})
        attempt(data.generate, out, usres=1)  # a setting that there is not: refused before anything is written


@fuzz(60)
@given(st.one_of(st.sampled_from(["mind", "adressa", "movielens", "frappe", "globo", "csv"]), ANYTHING),
       st.dictionaries(st.sampled_from(["behaviors.tsv", "news.tsv", "ratings.dat", "users.dat", "movies.dat", "mapping.toml",
                                        "rows.csv", "train.csv", "clicks.csv"]), st.binary(max_size=120), max_size=4),
       settings_of(data.import_settings()))
def test_imports(kind, files, given):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        for name, content in files.items():
            (source / name).write_bytes(content)
        attempt(data.import_dataset, kind, source, Path(folder) / "made", **given)
        attempt(data.import_dataset, kind, kind, Path(folder) / "made", **given)


CELLS = st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=6), st.none(), st.booleans(),
                           st.datetimes(), st.binary(max_size=3)), min_size=3, max_size=3)


@fuzz(100)
@given(CELLS, CELLS, CELLS, CELLS, ANYTHING, settings_of(data.import_settings()))
def test_frames(users, items, times, further, name, given):
    frame = pandas.DataFrame({"u": users, "i": items, "t": times, "x": further})
    with tempfile.TemporaryDirectory() as folder:
        attempt(data.from_dataframe, frame, Path(folder) / "a", user="u", item="i")
        attempt(data.from_dataframe, frame, Path(folder) / "b", user="u", item="i", time="t", rating="x", **given)
        attempt(data.from_dataframe, frame, Path(folder) / "c", user="u", item="i", context=["x"], items=frame, item_id="i",
                title="x", item_features=["t"])
        attempt(data.from_dataframe, frame, Path(folder) / "d", user=name, item="i", name=name)
        attempt(data.from_dataframe, name, Path(folder) / "e", user="u", item="i")


@fuzz(60)
@given(st.one_of(st.sampled_from(["interactions", "impressions", "text"]), ANYTHING), settings_of(data.view_settings()))
def test_views(newsroom, bakery, form, given):
    with tempfile.TemporaryDirectory() as folder:
        for number, source in enumerate((newsroom, bakery, folder)):
            attempt(data.view, source, form, Path(folder) / str(number), **given)


@fuzz(100)
@given(ANYTHING, st.one_of(st.sampled_from(["training", "labels", "serving"]), ANYTHING),
       st.dictionaries(st.one_of(st.sampled_from(PLAN_KEYS), st.text(max_size=8)), NOTHING_LARGE, max_size=6))
def test_charges(about, purpose, plan):
    with tempfile.TemporaryDirectory() as folder:
        ledger = privacy.Ledger(Path(folder) / "ledger.sotto", lifetime_epsilon=3.0, first_use=True)
        before = ledger.records
        charged = attempt(ledger.charge, about, purpose, **plan)
        assert ledger.records == before + (charged is not None), "a refusal is no record"
        attempt(ledger.would_be_refused, purpose, **plan)
        ledger.statement()


@fuzz(60)
@given(ANYTHING, ANYTHING, ANYTHING, st.one_of(st.floats(), ANYTHING))
def test_audits(names, samples, seed, confidence):
    attempt(privacy.audit, names)
    known = privacy.audits()[0][0]
    samples = 50 if isinstance(samples, int) and samples > 50 else samples  # what is asked for is done
    attempt(privacy.audit, [known], samples=samples, seed=seed, confidence=confidence)


@pytest.fixture(scope="module")
def run(newsroom, tmp_path_factory):
    return sotto.train("sotto", newsroom, tmp_path_factory.mktemp("runs") / "run", epsilon=8, rounds=1,
                       settings={"cohort": 40, "delta": 1e-3})


MODULES = (sotto._core, sotto._core.data, sotto._core.device, sotto._core.metrics, sotto._core.privacy, sotto._core.secagg,
           sotto.training._trainer())
CLASSES = sorted({value for module in MODULES for value in vars(module).values()
                  if isinstance(value, type) and not issubclass(value, Exception)}, key=lambda kind: kind.__name__)


@pytest.fixture(scope="module")
def objects(newsroom, bakery, run, tmp_path_factory):
    """One of every class of the binding layer."""
    folder = tmp_path_factory.mktemp("objects")
    news, baked = data.open(newsroom), data.open(bakery)
    answer = privacy.account(noise=1.0, delta=1e-5)
    calibrated = secagg.calibrated_plan(epsilon=4, delta=1e-6, dimension=8, population=1000, cohort=100, rounds=5)
    members = [secagg.Identity() for _ in range(6)]
    shape = dict(identities=[member.public_key for member in members], entries=4, bits=16, corrupted=0.0, dropping=0.0)
    server = secagg.Server(**shape)
    client = secagg.Client(server.message_for(0), members[0], minimum_alive=server.minimum_alive, **shape)
    return [
        news, news.titles, news.impressions, baked.interactions, baked.item_features()["flavours"][1], answer, answer.published,
        privacy.claims()[0], privacy.Ledger(folder / "ledger.sotto", lifetime_epsilon=3.0, first_use=True),
        privacy.GaussianMechanism(noise_multiplier=1.0, l2_sensitivity=1.0, dimension=4),
        privacy.LaplaceMechanism(epsilon=1.0, l1_sensitivity=1.0, dimension=4), privacy.RandomisedResponse(epsilon=1.0, categories=3),
        privacy.ExponentialMechanism(epsilon=1.0, sensitivity=1.0), calibrated, calibrated.plan, secagg.Decoder(calibrated.plan),
        members[0], server, client, device.open_device(folder / "device", ranking="local", lifetime_epsilon=1),
        serving.Client("http://127.0.0.1:9", timeout=0.1)._http, run._opened_vectors()]


def test_every_class_is_tried(objects):
    made = {type(one) for one in objects}
    # What a page of recommendations holds is made from a server's answer alone: test_serving.py.
    assert {kind.__name__ for kind in CLASSES if kind not in made} == {"Page", "RankedItem"}


@fuzz(400)
@given(st.data())
def test_every_method_of_every_class(objects, draw):
    one = draw.draw(st.sampled_from(objects))
    names = [name for name in dir(one) if not name.startswith("_")] + ["__getitem__", "__len__", "__repr__"]
    found = attempt(getattr, one, draw.draw(st.sampled_from(names)), None)
    if callable(found):
        attempt(found, *draw.draw(st.lists(st.one_of(ARRAY, st.sampled_from(objects)), max_size=4)))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_what_was_never_made_is_refused(kind):
    empty = kind.__new__(kind)
    for name in (name for name in dir(kind) if not name.startswith("_")):
        with pytest.raises(TypeError):
            found = getattr(empty, name)
            found()
    with pytest.raises(TypeError):
        kind.__init__(empty, object())


@fuzz(100)
@given(ANYTHING, ANYTHING)
def test_threads_and_log_levels(threads, level):
    before = sotto.threads()
    try:
        attempt(sotto.set_threads, threads if not isinstance(threads, int) or abs(threads) > 2**20 else threads % 8)
        assert sotto.threads() >= 1
        assert attempt(sotto.set_log_level, level) is None
    finally:
        sotto.set_threads(before)


@fuzz(60)
@given(ANYTHING, ANYTHING, ANYTHING, ARRAY)
def test_data_and_plans(newsroom, a, b, c, values):
    attempt(privacy.gaussian_delta, a, b)
    attempt(data.halve_rows, data.open(newsroom), a, b, c)
    attempt(data.open(newsroom).training_samples, a, b)
    attempt(secagg.calibrated_plan, epsilon=a, delta=1e-6, dimension=8, population=b, cohort=c, rounds=3)
    attempt(sotto.training._trainer().export_own, newsroom, [("name", [2], values)], values, [a, b], c, newsroom)


RECIPE_KEYS = [row[0] for row in sotto.training.recipe_settings("sotto") if row[0] not in ("rounds", "dimension")]


@fuzz(40)
@given(st.one_of(st.just("sotto"), ANYTHING), st.one_of(st.floats(0.5, 20), ANYTHING),
       st.dictionaries(st.one_of(st.sampled_from(RECIPE_KEYS), st.text(max_size=8)), NOTHING_LARGE, max_size=3), ANYTHING, ANYTHING)
def test_training(newsroom, recipe, epsilon, given, data_of, seed):
    with tempfile.TemporaryDirectory() as folder:
        attempt(sotto.train, recipe, newsroom, Path(folder) / "a", epsilon=epsilon, rounds=1, settings=given, test_impressions=5)
        attempt(sotto.train, "sotto", data_of, Path(folder) / "b", epsilon=1, rounds=1)
        attempt(sotto.train, "sotto", newsroom, Path(folder) / "c", rounds=0, seed=seed)


@fuzz(80)
@given(ARRAY, ARRAY, ARRAY, ANYTHING, settings_of(sotto.training.own_model_settings(), large=("rounds",)))
def test_own_models(answer, start, users, epsilon, given):
    with tempfile.TemporaryDirectory() as folder:
        users = 3 if isinstance(users, int) and users > 3 else users
        attempt(sotto.train_own, lambda *_: answer, start, users, Path(folder) / "a", epsilon=epsilon, rounds=1, **given)
        attempt(sotto.train_own, lambda *_: (answer, epsilon, users), numpy.zeros(3, numpy.float32), 4, Path(folder) / "b",
                epsilon=5, delta=1e-3, rounds=1)
        attempt(sotto.train_own, answer, start, 4, Path(folder) / "c", epsilon=5, delta=1e-3, rounds=1)


@fuzz(60)
@given(ANYTHING, ANYTHING, st.one_of(st.lists(ARRAY, max_size=3), ANYTHING), st.integers(-3, 2**70))
def test_runs(run, anything, other, histories, count):
    attempt(run.user_vectors, histories)
    attempt(run.evaluate, anything, test_impressions=min(count, 20))
    attempt(run.evaluate, None, other_data=other, test_impressions=5)
    attempt(run.write_metrics, anything)
    attempt(sotto.open_run, anything)
    with tempfile.TemporaryDirectory() as folder:
        attempt(run.export, anything, Path(folder) / "a")
        attempt(run.export, "npz", anything if isinstance(anything, int) else None)
        attempt(run.with_parameters, anything, Path(folder) / "b")


@fuzz(25)
@given(st.data())
def test_damaged_parameters_and_runs(run, draw):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "run"
        shutil.copytree(run.path, copy)
        run.export("safetensors", Path(folder) / "made")
        tensors = Path(folder) / "made" / "model.safetensors"
        for file in (tensors, draw.draw(st.sampled_from(sorted(path for path in copy.iterdir() if path.is_file())))):
            content = bytearray(file.read_bytes())
            place = draw.draw(st.integers(0, max(0, len(content) - 1)))
            content[place : place + 2] = draw.draw(st.binary(max_size=3))
            file.write_bytes(bytes(content[: draw.draw(st.integers(len(content) // 2, len(content)))]))
        attempt(run.with_parameters, tensors, Path(folder) / "changed")
        damaged = attempt(sotto.open_run, copy)
        for use in ("history", "settings", "metrics", "datasheet", "epsilon", "item_ids"):
            attempt(getattr, damaged, use)
        attempt(lambda: damaged.evaluate(test_impressions=5))
        attempt(lambda: damaged.item_vectors())
