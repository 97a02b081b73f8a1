import numpy
import pytest
import torch

import sotto
from sotto import metrics


def slow_auc(scores, clicked):
    positive, negative = scores[clicked == 1], scores[clicked == 0]
    wins = (positive[:, None] > negative[None, :]).sum() + 0.5 * (positive[:, None] == negative[None, :]).sum()
    return wins / (len(positive) * len(negative))


def test_auc_is_the_share_of_pairs_in_order():
    random = numpy.random.default_rng(1)
    scores = random.integers(0, 5, 40).astype(numpy.float32)
    clicked = (random.random(40) < 0.3).astype(numpy.uint8)
    assert metrics.impression_metrics(scores, clicked)["auc"] == pytest.approx(slow_auc(scores, clicked))


def test_mean_leaves_out_what_cannot_be_judged():
    scores = numpy.array([1, 0, 1, 0, 1, 0], numpy.float32)
    clicked = numpy.array([1, 0, 0, 1, 1, 1], numpy.uint8)
    mean = metrics.mean_impression_metrics(scores, clicked, numpy.array([0, 2, 4, 6], numpy.uint64))
    assert mean["auc"] == 0.5 and mean["counted"] == 2 and mean["left_out"] == 1
    assert metrics.impression_metrics(scores[4:], clicked[4:]) is None


def test_held_out_item_on_top_hits_everywhere():
    scores = numpy.zeros((2, 50), numpy.float32)
    scores[0, 7] = 1
    excluded = numpy.zeros((2, 50), numpy.uint8)
    mean = metrics.mean_held_out_metrics(scores, excluded, numpy.array([7], numpy.uint32),
                                         numpy.array([0, 1, 1], numpy.uint64))
    assert mean["users"] == 1 and mean["hits5"] == 1 and mean["ndcg5"] == 1


@pytest.mark.parametrize(
    "scores, clicked, offsets",
    [
        ([1.0], [1, 0], [0, 1]),
        ([1.0, 0.0], [1, 0], [0, 3]),
        ([1.0, 0.0], [1, 0], [1, 2]),
        ([1.0, 0.0], [1, 0], []),
        ([1.0, 0.0], [1, 0], [0, 2, 1, 2]),
    ],
)
def test_wrong_lengths_are_refused(scores, clicked, offsets):
    with pytest.raises(sotto.InputError):
        metrics.mean_impression_metrics(numpy.array(scores, numpy.float32), numpy.array(clicked, numpy.uint8),
                                        numpy.array(offsets, numpy.uint64))


def test_held_out_items_must_be_items():
    with pytest.raises(sotto.InputError, match="not below"):
        metrics.mean_held_out_metrics(numpy.zeros((1, 3), numpy.float32), numpy.zeros((1, 3), numpy.uint8),
                                      numpy.array([3], numpy.uint32), numpy.array([0, 1], numpy.uint64))


def test_tensors_are_read_where_they_lie():
    scores, clicked = torch.tensor([0.3, 0.1, 0.2]), torch.tensor([0, 1, 0], dtype=torch.uint8)
    assert metrics.impression_metrics(scores, clicked) == metrics.impression_metrics(scores.numpy(), clicked.numpy())
    with pytest.raises(sotto.InputError, match="2 dimensions: must have 1"):
        metrics.impression_metrics(scores.reshape(1, 3), clicked)
