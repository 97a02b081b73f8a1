"""No array is cast in silence: what its numbers cannot become is named with the rule, and what is exact is taken as it is."""

import numpy
import pytest

import sotto
from sotto import data, metrics, privacy, secagg

SCORES = numpy.array([0.1, 0.9], numpy.float32)
CLICKED = numpy.array([0, 1], numpy.uint8)


@pytest.mark.parametrize("users, text", [
    (numpy.array([0, 1, -1]), r"users\[2\] is -1: must be a whole number from 0 to 4294967295"),
    (numpy.array([0, 1.5]), r"users\[1\] is 1.5: must be a whole number"),
    (numpy.array([numpy.nan, 1]), r"users\[0\] is nan: must be a whole number"),
    (numpy.array([2.0**32, 1]), r"users\[0\] is 4294967296: must be a whole number"),
    (numpy.array([2**32, 1]), r"users\[0\] is 4294967296: must be a whole number"),
    (numpy.array([1, numpy.inf]), r"users\[1\] is inf: must be a whole number"),
    (numpy.array([[1, 2]]), "users has 2 dimensions: must have 1"),
    (numpy.array([1j]), "users holds complex128"),
    (numpy.array([1], numpy.float16), "users holds float16"),
])
def test_users(users, text):
    with pytest.raises(sotto.InputError, match=text):
        data.split_users(users, 0.5)


@pytest.mark.parametrize("kind", [numpy.int8, numpy.int16, numpy.int64, numpy.uint8, numpy.uint64, numpy.float32, numpy.float64])
def test_whole_numbers_of_any_type_are_the_same_users(kind):
    plain = numpy.arange(40, dtype=numpy.uint32)
    expected = data.split_users(plain, 0.5, seed=3)
    for given in (plain.astype(kind), numpy.repeat(plain, 2).astype(kind)[::2], plain[::-1].astype(kind)[::-1]):
        assert all((one == other).all() for one, other in zip(data.split_users(given, 0.5, seed=3), expected))


def test_truth_values_are_marks_and_grades_are_not():
    expected = metrics.impression_metrics(SCORES, CLICKED)
    assert metrics.impression_metrics(SCORES, CLICKED.astype(bool)) == expected
    assert metrics.impression_metrics(SCORES.astype(numpy.float64), CLICKED.astype(numpy.int64)) == expected
    with pytest.raises(sotto.InputError, match="value 1 of clicked is 2, must be 0 or 1"):
        metrics.impression_metrics(SCORES, CLICKED * 2)
    with pytest.raises(sotto.InputError, match=r"clicked\[0\] is -1"):
        metrics.impression_metrics(SCORES, CLICKED.astype(numpy.int64) - 1)


@pytest.mark.parametrize("scores, text", [
    (numpy.array([0.1, numpy.nan], numpy.float32), r"scores\[1\] is nan"),
    (numpy.array([0.1, numpy.nan]), r"scores\[1\] is nan"),
    (numpy.array([1e300, 0.1]), r"scores\[0\] is 1e\+300: must be a number of size 3.4e\+38 at most"),
])
def test_scores(scores, text):
    with pytest.raises(sotto.InputError, match=text):
        metrics.impression_metrics(scores, CLICKED)
    assert metrics.impression_metrics(numpy.array([-numpy.inf, 0.1]), CLICKED)["auc"] == 1, "never to be shown is a score"


def test_offsets_and_matrices():
    with pytest.raises(sotto.InputError, match=r"offsets\[1\] is -2"):
        metrics.mean_impression_metrics(SCORES, CLICKED, numpy.array([0, -2]))
    scores = numpy.zeros((2, 3), numpy.float32)
    with pytest.raises(sotto.InputError, match=r"excluded\[1, 2\] is 0.5"):
        metrics.mean_held_out_metrics(scores, numpy.array([[0, 0, 0], [0, 0, 0.5]]), numpy.array([0]), numpy.array([0, 1, 1]))
    answers = [metrics.mean_held_out_metrics(made, numpy.zeros((2, 3), numpy.uint8), numpy.array([0, 1]), numpy.array([0, 1, 2]))
               for made in (scores, numpy.asfortranarray(scores), numpy.zeros((4, 6))[::2, ::2])]
    assert answers[0] == answers[1] == answers[2]


def test_private_sums_and_mechanisms():
    with pytest.raises(sotto.InputError, match=r"entries of a device\[0\] is -1"):
        secagg.modular_sum([numpy.array([-1, 2])], 16)
    plan = secagg.Plan(dimension=2, clip=1.0, devices=4, noise_multiplier=1.0)
    with pytest.raises(sotto.InputError, match=r"update\[1\] is nan"):
        plan.encode(numpy.array([0.5, numpy.nan], numpy.float32))
    with pytest.raises(sotto.InputError, match=r"values\[0\] is nan"):
        privacy.clip_l2(numpy.array([numpy.nan]), 1.0)
    assert (privacy.clip_l2(numpy.array([3, 4]), 5.1) == [3, 4]).all()
    # A norm that is the bound may be above it by rounding: the copy is below it for certain.
    clipped = privacy.clip_l2(numpy.array([3, 4]), 5.0)
    assert 5 * (1 - 1e-12) <= numpy.hypot(*clipped) < 5


def test_own_models(tmp_path):
    def update(round, user, values):
        return values

    for users, parameters, text in (
        (numpy.array([0, -1, 2]), numpy.zeros(3), r"users\[1\] is -1"),
        ([0.5, 1.0], numpy.zeros(3), r"users\[0\] is 0.5"),
        (10, numpy.array([1e300]), r"parameters\[0\] is 1e\+300"),
        (10, numpy.array([numpy.nan]), r"parameters\[0\] is nan"),
        (-5, numpy.zeros(3), "at least two users"),
        (2**40, numpy.zeros(3), "at least two users"),
    ):
        with pytest.raises(sotto.InputError, match=text):
            sotto.train_own(update, parameters, users, tmp_path / "run", epsilon=5, delta=1e-3)
        assert not (tmp_path / "run").exists()
    with pytest.raises(sotto.InputError, match=r"the update of user \d\[0\] is 1e\+300"):
        sotto.train_own(lambda round, user, values: numpy.full(3, 1e300), numpy.zeros(3), 10, tmp_path / "run", epsilon=5, delta=1e-3)


def test_histories_are_whole_numbers(newsroom, tmp_path):
    run = sotto.train("sotto", newsroom, tmp_path / "run", epsilon=8, rounds=1, settings={"cohort": 40, "delta": 1e-3})
    with pytest.raises(TypeError, match="float"):
        run.user_vectors([[1.7]])
    with pytest.raises((sotto.InputError, TypeError)):
        run.user_vectors([[-1]])
