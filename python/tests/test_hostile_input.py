"""Whatever is handed in, Python gets an exception or an answer: nothing ends the interpreter."""

import tempfile
from pathlib import Path

import numpy
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
            UnicodeError, MemoryError)
FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def attempt(function, /, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except EXPECTED:
        return None


PLAN_KEYS = [row[0] for row in privacy.plan_settings()]


@FUZZ
@given(st.dictionaries(st.one_of(st.sampled_from(PLAN_KEYS), st.text(max_size=8)), ANYTHING, max_size=6))
def test_plans(plan):
    plan = {**plan, "rounds": 3} if isinstance(plan.get("rounds"), int) else plan  # a billion rounds take their time
    attempt(privacy.account, **plan)
    attempt(privacy.calibrate, **{"epsilon": 1.0, **plan})


@FUZZ
@given(ARRAY, ARRAY, ARRAY, ARRAY)
def test_metrics(a, b, c, d):
    attempt(metrics.impression_metrics, a, b)
    attempt(metrics.mean_impression_metrics, a, b, c)
    attempt(metrics.mean_held_out_metrics, a, b, c, d)


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


@settings(FUZZ, max_examples=60)
@given(st.binary(max_size=300))
def test_damaged_data_sets(content):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "dataset.sotto").write_bytes(content)
        assert attempt(data.open, folder) is None


@settings(FUZZ, max_examples=60)
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
