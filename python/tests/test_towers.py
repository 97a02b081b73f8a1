"""News and user encoders of one's own: what is summed is PyTorch's gradients, noise is there, and what comes out is a run."""

import json
import shutil

import numpy
import pytest
import safetensors.numpy
import torch

import sotto
from sotto.towers import SplitTowers, impressions_of, user_gradient
from sotto.training import flatten


class News(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(12, 6)

    def forward(self, inputs):
        return torch.tanh(self.layer(inputs))


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weigh = torch.nn.Linear(6, 1)

    def forward(self, clicked):
        return (torch.softmax(self.weigh(clicked), dim=0) * clicked).sum(dim=0)


@pytest.fixture(scope="module")
def dataset(newsroom):
    return sotto.data.open(newsroom)


@pytest.fixture(scope="module")
def inputs(dataset):
    return numpy.random.default_rng(2).normal(size=(dataset.items, 12)).astype(numpy.float32)


def towers_of(seed=3):
    torch.manual_seed(seed)
    return News(), Attention()


def train(dataset, inputs, out, modules, **settings):
    return sotto.train_towers(*modules, inputs, dataset, out, **{"epsilon": 8, "delta": 1e-3, "rounds": 1, "learning_rate": 1, **settings})


def test_a_step_is_the_mean_of_pytorchs_clipped_gradients(dataset, inputs, tmp_path):
    modules = towers_of()
    before = flatten(torch.nn.ModuleDict({"news": modules[0], "user": modules[1]}))
    # In PyTorch alone: one sum of losses for all users at once, by autograd.
    reference = torch.nn.ModuleDict(dict(zip(("news", "user"), towers_of())))
    total = torch.zeros(())
    for who in range(dataset.users):
        losses, clicks = torch.zeros(()), 0
        for history, shown, marks in impressions_of(dataset, who, "train"):
            rows = torch.from_numpy(inputs)
            scores = reference["news"](rows[shown]) @ reference["user"](reference["news"](rows[history]))
            losses = losses + torch.nn.functional.cross_entropy(scores.repeat(int(marks.sum()), 1), torch.from_numpy(marks).nonzero()[:, 0], reduction="sum")
            clicks += int(marks.sum())
        total = total + losses / max(clicks, 1)
    (total / dataset.users).backward()
    expected = flatten(reference, gradients=True)
    sent = numpy.array([user_gradient(*towers_of(), torch.from_numpy(inputs), dataset, who)[0] for who in range(dataset.users)])
    assert numpy.abs(sent.mean(axis=0) - expected).max() <= 1e-5 * numpy.abs(expected).max()
    # As little noise as there is: a budget of a million, everybody in the one round, nobody lost.
    plan = dict(epsilon=1e6, delta=1e-3, rounds=1, cohort=dataset.users, clip=0.3, bits=32, dropping=0, corrupted=0)
    noise = sotto.secagg.calibrated_plan(dimension=len(before), population=dataset.users, **plan).plan.sigma_of_mean
    norms = numpy.linalg.norm(sent, axis=1, keepdims=True)
    clipped = (sent * numpy.minimum(1, 0.3 / numpy.maximum(norms, 1e-9))).mean(axis=0)
    train(dataset, inputs, tmp_path / "run", modules, **plan)
    step = before - flatten(torch.nn.ModuleDict({"news": modules[0], "user": modules[1]}))
    assert numpy.abs(step - clipped).max() <= 6 * noise < 0.6 * numpy.abs(clipped).max()
    assert numpy.corrcoef(step, clipped)[0, 1] > 0.9


def test_split_training_steps_by_the_gradient_of_the_whole(dataset, inputs):
    modules = towers_of()
    rows = torch.from_numpy(inputs)
    whole = numpy.mean([user_gradient(*modules, rows, dataset, who)[0] for who in range(dataset.users)], axis=0)
    split = SplitTowers(*modules, rows, dataset)
    split.begin()
    sent = [split.update(who)[0] for who in range(dataset.users)]
    assert all(update.shape == (split.sends,) for update in sent)
    assert numpy.abs(split.direction(numpy.mean(sent, axis=0)) - whole).max() <= 1e-5 * numpy.abs(whole).max()


@pytest.mark.parametrize("recipe", sorted(sotto.recipes_for_towers()))
def test_every_recipe_trains_both_modules_within_the_budget(recipe, dataset, inputs, tmp_path):
    modules = towers_of()
    before = [flatten(module) for module in modules]
    made = train(dataset, inputs, tmp_path / "run", modules, recipe=recipe, cohort=40, rounds=2)
    assert 0 < made.epsilon <= 8 and len(made.run.history) == 2
    assert all((flatten(module) != old).any() for module, old in zip(modules, before))


def test_what_a_user_sends_in_split_training_is_clipped_and_noised(dataset, inputs, tmp_path):
    sent, means = [], []
    size = dataset.items * 6 + 7

    def update(round, who, values):
        sent.append(who)
        return numpy.full(size, 1e6, numpy.float32)

    def fold(round, mean, values):
        means.append(mean)
        return numpy.zeros_like(values)

    plan = dict(epsilon=4, delta=1e-3, clip=1.0, rounds=2, cohort=60)
    sotto.train_own(update, numpy.zeros(5, numpy.float32), dataset.users, tmp_path / "run", fold=(size, fold), learning_rate=1, **plan)
    noise = sotto.secagg.calibrated_plan(dimension=size, population=dataset.users, dropping=0.1, corrupted=0.1, **plan).plan.sigma_of_mean
    assert sent and len(means) == 2
    for mean in means:
        assert mean.shape == (size,) and 0.8 * noise < mean.std() < 1.4 * noise
        assert abs(mean.mean()) * size ** 0.5 < 2, "the mean of clipped updates has a norm of one at most"


def test_recipes_that_take_no_towers_say_why(dataset, inputs, tmp_path):
    every = {name for name in sotto.training.recipes()}
    assert set(sotto.recipes_for_towers()) <= every
    for recipe in every - set(sotto.recipes_for_towers()):
        with pytest.raises(sotto.InputError, match="takes no towers of your own: .*fednewsrec, efficient-fedrec|no sound recipe"):
            train(dataset, inputs, tmp_path / "run", towers_of(), recipe=recipe)
    with pytest.raises(sotto.InputError, match="basis vectors"):
        train(dataset, inputs, tmp_path / "run", towers_of(), recipe="privaterec")
    assert not (tmp_path / "run").exists()


def test_what_fold_returns_is_checked(tmp_path):
    def attempt(fold, text, error=sotto.InputError):
        with pytest.raises(error, match=text):
            sotto.train_own(lambda round, who, values: numpy.zeros(3, numpy.float32), numpy.zeros(2, numpy.float32), 10, tmp_path / "run",
                            fold=fold, epsilon=5, delta=1e-3, rounds=1)
        shutil.rmtree(tmp_path / "run", ignore_errors=True)

    attempt((3, lambda round, mean, values: mean), "3 numbers, and the model has 2 parameters")
    attempt((3, lambda round, mean, values: "much"), "no flat array")
    attempt((3, lambda round, mean, values: 1 / 0), "division", ZeroDivisionError)
    attempt((4, lambda round, mean, values: values), "has 3 numbers, and 4 are sent")
    attempt((0, lambda round, mean, values: values), "must be 1")


def test_noise_is_there_and_as_large_as_promised(dataset, inputs, tmp_path):
    modules = towers_of()
    parameters = torch.nn.ModuleDict(dict(zip(("news", "user"), modules)))
    before = flatten(parameters)
    # Updates of nothing: what moves is the noise.
    sotto.train_own(lambda round, who, values: numpy.zeros_like(values), parameters, dataset.users, tmp_path / "run", epsilon=1,
                    delta=1e-3, rounds=8, cohort=60, clip=1.0, learning_rate=1)
    moved = flatten(parameters) - before
    sheet = json.loads((tmp_path / "run" / "privacy.json").read_text())
    plan = sotto.secagg.calibrated_plan(epsilon=1, delta=1e-3, dimension=len(before), population=dataset.users, cohort=60, rounds=8,
                                        clip=1.0, dropping=0.1, corrupted=0.1).plan
    expected = plan.sigma_of_mean * 8 ** 0.5
    assert sheet["epsilon"] <= 1
    assert 0.9 * expected / 1.5 < moved.std() < 1.5 * expected, "the noise that the plan promises is not in the parameters"


def test_each_update_is_clipped(dataset, inputs, tmp_path):
    def step(scale, name):
        values = sotto.train_own(lambda round, who, now: numpy.full_like(now, scale), numpy.zeros(5, numpy.float32), dataset.users,
                                 tmp_path / name, epsilon=1e6, delta=1e-3, rounds=1, cohort=dataset.users, clip=1.0, bits=32,
                                 learning_rate=1, dropping=0, corrupted=0)
        return numpy.linalg.norm(values)

    assert step(1.0, "a") == pytest.approx(1.0, rel=0.05)
    assert step(1e6, "b") == pytest.approx(1.0, rel=0.05)


@pytest.fixture(scope="module")
def trained(dataset, inputs, tmp_path_factory):
    return train(dataset, inputs, tmp_path_factory.mktemp("towers") / "run", towers_of(), rounds=3, cohort=40)


def test_it_is_measured_and_has_vectors(trained, dataset, inputs):
    metrics = trained.evaluate()
    assert 0 < metrics["auc"] < 1 and metrics["counted"] > 0
    items = trained.item_vectors()
    assert items.shape == (dataset.items, 6) and trained.item_ids[3] == dataset.item_ids[3]
    readers = trained.user_vectors([[1, 2], [5]])
    assert readers.shape == (2, 6)
    assert numpy.allclose(readers[1], items[5], atol=1e-6), "one click alone gets all the attention"
    assert trained.epsilon == trained.run.epsilon <= 8
    with pytest.raises(sotto.InputError, match="not below"):
        trained.user_vectors([[dataset.items]])
    with pytest.raises(sotto.InputError, match="split"):
        trained.evaluate("tomorrow")


def test_it_is_exported_as_any_run(trained, tmp_path):
    files = trained.export("safetensors", tmp_path / "s")
    assert set(files) == {"model.safetensors", "items.json", "privacy.json", "MODEL_CARD.md"}
    tensors = safetensors.numpy.load_file(tmp_path / "s" / "model.safetensors")
    assert (tensors["news.layer.weight"] == trained.news.layer.weight.detach().numpy()).all()
    assert (tensors["item_vectors"] == trained.item_vectors()).all()
    trained.export("npz", tmp_path / "n")
    with numpy.load(tmp_path / "n" / "model.npz") as arrays:
        assert set(arrays.files) == set(tensors) and all((arrays[name] == tensors[name]).all() for name in tensors)
    assert json.loads((tmp_path / "s" / "items.json").read_text()) == trained.item_ids
    card = (tmp_path / "s" / "MODEL_CARD.md").read_text()
    assert "## Privacy" in card and "epsilon" in card and "Vectors of readers are not among them" in card
    with pytest.raises(sotto.InputError, match="no format 'onnx'"):
        trained.export("onnx", tmp_path / "o")
    with pytest.raises(sotto.InputError, match="exists"):
        trained.export("npz", tmp_path / "n")


def test_refusals(dataset, inputs, bakery, tmp_path):
    with pytest.raises(sotto.InputError, match="one row of each"):
        train(dataset, inputs[:-1], tmp_path / "run", towers_of())
    with pytest.raises(sotto.InputError, match="no impressions"):
        train(sotto.data.open(bakery), inputs, tmp_path / "run", towers_of())
    with pytest.raises(sotto.InputError, match="epsilon"):
        train(dataset, inputs, tmp_path / "run", towers_of(), epsilon=0)
    assert not (tmp_path / "run").exists()


def test_a_module_that_learns_past_the_noise_is_refused(dataset, inputs, tmp_path):
    news = torch.nn.Sequential(News(), torch.nn.BatchNorm1d(6))
    with pytest.raises(sotto.InputError, match="running_mean.*LayerNorm"):
        train(dataset, inputs, tmp_path / "run", (news, Attention()))


def test_gradients_of_somebody_without_clicks_are_zeros(dataset, inputs):
    clicked = [any(True for _ in impressions_of(dataset, who, "train")) for who in range(dataset.users)]
    assert any(clicked) and not all(clicked), "the newsroom has readers of both kinds"
    gradient, loss, clicks = user_gradient(*towers_of(), torch.from_numpy(inputs), dataset, clicked.index(False))
    assert not gradient.any() and loss == 0 and clicks == 0
    gradient, loss, clicks = user_gradient(*towers_of(), torch.from_numpy(inputs), dataset, clicked.index(True))
    assert gradient.any() and loss > 0 and clicks > 0
