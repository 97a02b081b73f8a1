"""A news encoder and a user encoder of your own, PyTorch modules, trained on the sound path.

PyTorch computes one user's gradient, and nothing else: clipping, encoding, noise, sums, steps and accounting are those of
`sotto.train_own`, in C++.
"""

from __future__ import annotations

import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from ._core import InputError
from ._core.data import Dataset
from ._settings import Value
from .metrics import mean_impression_metrics
from .training import Folder, OnRound, Run, _opened, _trainer, flatten, train_own, unflatten

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ["Towers", "recipes_for_towers", "train_towers", "user_gradient"]

# Sound recipes by what a user sends of two towers that are not the recipe's own; a refusal says why it takes none.
_RECIPES = {"fednewsrec": "the gradient of both towers",
            "efficient-fedrec": "the gradients of the user encoder and of the vectors of all items; the news encoder stays on the server"}
_REFUSALS = {
    "sotto": "its items are vectors of the catalogue's words, and its user model is part of devices' packs",
    "privaterec": "its readers are mixtures of public basis vectors, and its queries noisy weights of these: both are its user encoder",
    "fedrec": "it has no noise", "central": "it collects what readers clicked",
    "dp-fedrec": "its queries are noisy vectors of its own user encoder", "dp-privrec": "it learns from interactions, not from impressions",
    "dp-svd": "it learns by two sums over pairs of items: there is no gradient"}

_SPLITS = {"train": 0, "validation": 1, "test": 2}


class Towers:
    """Two modules that were trained together, with the run they were trained in.

    `news` turns rows of `inputs`, the public description of items, into vectors [n, D]; `user` turns the vectors of clicked
    items [clicks, D], oldest first, into the reader's [D]. A score is the product of the two. `run` has the datasheet.
    """

    def __init__(self, path: Folder, news: Any, user: Any, inputs: Any, data: Dataset) -> None:
        import torch

        self.path = Path(path)
        self.news, self.user = news, user
        self._inputs = torch.as_tensor(inputs)
        self._data = data
        if len(self._inputs) != data.items:
            raise InputError(f"inputs have {len(self._inputs)} rows, and the data has {data.items} items: one row of each")

    @property
    def run(self) -> Run:
        return Run(self.path, self._data)

    @property
    def epsilon(self) -> float | None:
        """As of any run: against the server, for the whole training. None: a simulation."""
        return self.run.epsilon

    @property
    def item_ids(self) -> list[str]:
        return list(self._data.item_ids.tolist())

    def item_vectors(self) -> NDArray[numpy.float32]:
        """[items, D], in the order of `item_ids`."""
        import numpy
        import torch

        with torch.no_grad():
            made: NDArray[numpy.float32] = self.news(self._inputs).numpy().astype(numpy.float32)
        return made

    def user_vectors(self, histories: Sequence[Sequence[int]]) -> NDArray[numpy.float32]:
        """[histories, D] of readers, by the numbers of the items they clicked, oldest first."""
        import numpy
        import torch

        vectors = torch.from_numpy(self.item_vectors())
        with torch.no_grad():
            made = [self.user(vectors[self._numbers(history)]).numpy() for history in histories]
        return numpy.stack(made).astype(numpy.float32) if made else numpy.zeros((0, vectors.shape[1]), numpy.float32)

    def _numbers(self, history: Sequence[int]) -> list[int]:
        numbers = [operator.index(item) for item in history]
        for item in numbers:
            if not 0 <= item < self._data.items:
                raise InputError(f"item {item} is not below {self._data.items}")
        return numbers

    def evaluate(self, split: str = "test") -> dict[str, Any]:
        """AUC, MRR and nDCG of what readers with a history were shown, with standard errors."""
        import numpy
        import torch

        vectors = torch.from_numpy(self.item_vectors())
        scores, clicked, offsets = [numpy.zeros(0, numpy.float32)], [numpy.zeros(0, numpy.uint8)], [0]
        with torch.no_grad():
            for user in range(self._data.users):
                for history, shown, marks in impressions_of(self._data, user, split):
                    scores.append((vectors[shown] @ self.user(vectors[history])).numpy().astype(numpy.float32))
                    clicked.append(marks)
                    offsets.append(offsets[-1] + len(marks))
        return dict(mean_impression_metrics(numpy.concatenate(scores), numpy.concatenate(clicked), numpy.array(offsets)))

    def export(self, format: str, out: Folder) -> list[str]:
        """Writes a folder of safetensors or npz: parameters as 'news.…' and 'user.…', item vectors, datasheet, model card."""
        import numpy

        parameters = [(f"{tower}.{name}", list(values.shape), numpy.ascontiguousarray(values.detach().numpy(), numpy.float32).ravel())
                      for tower, module in (("news", self.news), ("user", self.user))
                      for name, values in module.named_parameters()]
        return list(_trainer().export_own(self.path, parameters, self.item_vectors(), self.item_ids, format, out))

    def __repr__(self) -> str:
        return f"Towers('{self.path}')"


def impressions_of(data: Dataset, user: int, split: str) -> Iterator[tuple[Any, Any, Any]]:
    """History, items shown, and marks of clicks, of every impression of a user that has a history."""
    import torch

    if split not in _SPLITS:
        raise InputError(f"split is '{split}', must be train, validation or test")
    seen = data.impressions
    offsets, starts, lengths, shown = seen.user_offsets, seen.history_starts, seen.history_lengths, seen.shown_offsets
    for place in range(int(offsets[user]), int(offsets[user + 1])):
        if seen.splits[place] == _SPLITS[split] and lengths[place] > 0:
            begin = int(starts[place])
            rows = slice(int(shown[place]), int(shown[place + 1]))
            yield (torch.from_numpy(seen.histories[begin : begin + int(lengths[place])].astype("int64")),
                   torch.from_numpy(seen.shown[rows].astype("int64")), seen.clicked[rows])


def _mean_loss(vectors_of: Callable[[Any], Any], user: Any, data: Dataset, who: int) -> tuple[Any, int]:
    """The mean -log softmax of one user's clicks among what was shown, with its graph, and the number of clicks."""
    import torch

    total, clicks = torch.zeros(()), 0
    for history, shown, marks in impressions_of(data, who, "train"):
        scores = vectors_of(shown) @ user(vectors_of(history))
        total = total - (torch.log_softmax(scores, 0) * torch.from_numpy(marks.astype("float32"))).sum()
        clicks += int(marks.sum())
    return total / max(clicks, 1), clicks


def user_gradient(news: Any, user: Any, inputs: Any, data: Dataset, who: int) -> tuple[NDArray[numpy.float32], float, int]:
    """What one user would send: the gradient of the mean −log softmax of their clicks among what was shown, loss and clicks."""
    import torch

    towers = torch.nn.ModuleDict({"news": news, "user": user})
    towers.zero_grad()
    loss, clicks = _mean_loss(lambda rows: news(inputs[rows]), user, data, who)
    if clicks:
        loss.backward()
    return flatten(towers, gradients=True), float(loss), clicks


class WholeTowers:
    """FedNewsRec: users hold both towers."""

    def __init__(self, news: Any, user: Any, inputs: Any, data: Dataset) -> None:
        self._parts = (news, user, inputs, data)

    sends: int | None = None  # one number per parameter

    def begin(self) -> None:
        """Called when the parameters have changed."""

    def update(self, who: int) -> tuple[Any, float, int]:
        return user_gradient(*self._parts, who)

    def direction(self, mean: Any) -> Any:
        return mean


class SplitTowers:
    """Efficient-FedRec: users get the vectors of all items, and the server carries the noisy mean of their gradients back
    through the news encoder. What is sent does not depend on which items somebody read: zeros for all others."""

    def __init__(self, news: Any, user: Any, inputs: Any, data: Dataset) -> None:
        import torch

        self._news, self._user, self._inputs, self._data = news, user, inputs, data
        with torch.no_grad():
            self._vectors = news(inputs)
        self.sends = self._vectors.numel() + sum(parameter.numel() for parameter in user.parameters())

    def begin(self) -> None:
        import torch

        with torch.no_grad():
            self._vectors = self._news(self._inputs)

    def update(self, who: int) -> tuple[Any, float, int]:
        import numpy

        vectors = self._vectors.detach().clone().requires_grad_()
        self._user.zero_grad()
        loss, clicks = _mean_loss(lambda rows: vectors[rows], self._user, self._data, who)
        if not clicks:
            return numpy.zeros(self.sends, numpy.float32), 0.0, 0
        loss.backward()
        return numpy.concatenate([vectors.grad.numpy().ravel(), flatten(self._user, gradients=True)]), float(loss), clicks

    def direction(self, mean: Any) -> Any:
        import numpy
        import torch

        of_vectors = self._vectors.numel()
        self._news.zero_grad()
        self._news(self._inputs).backward(torch.from_numpy(mean[:of_vectors]).view_as(self._vectors))
        return numpy.concatenate([flatten(self._news, gradients=True), mean[of_vectors:]])


def recipes_for_towers() -> dict[str, str]:
    """The sound recipes that train towers of your own, and what a user sends in each."""
    return dict(_RECIPES)


def train_towers(
    news: Any,
    user: Any,
    inputs: Any,
    data: Dataset | Folder,
    out: Folder,
    *,
    epsilon: float,
    recipe: str = "fednewsrec",
    on_round: OnRound | None = None,
    simulation_seed: int | None = None,
    resume: bool = False,
    **settings: Value,
) -> Towers:
    """Trains a news encoder and a user encoder of your own on the impressions of `data`, in place.

    `news(inputs[n, …])` gives vectors [n, D], `user(vectors[clicks, D])` the reader's [D]; `inputs` describes every item by
    what is public. `recipe` says what of them users send, one of `recipes_for_towers()`; settings are those of `train_own`.
    A module that learns by anything but its parameters, as BatchNorm does by running means, is refused: that would pass by
    the noise.
    """
    import torch

    if recipe not in _RECIPES:
        why = f"'{recipe}' takes no towers of your own: {_REFUSALS[recipe]}" if recipe in _REFUSALS else f"there is no sound recipe '{recipe}'"
        raise InputError(f"{why}. Those that do: {', '.join(_RECIPES)}")
    dataset, _ = _opened(data)
    if dataset.impressions.users.size == 0:
        raise InputError(f"{dataset.name} has no impressions: make some with sotto.data.view(…, 'impressions', …)")
    made = Towers(out, news, user, inputs, dataset)
    towers = torch.nn.ModuleDict({"news": news, "user": user})
    before = {name: values.clone() for name, values in towers.named_buffers()}
    sent = (SplitTowers if recipe == "efficient-fedrec" else WholeTowers)(news, user, made._inputs, dataset)
    at_round = -1

    def begin(round: int, values: Any) -> None:
        nonlocal at_round
        if round != at_round:
            unflatten(towers, values)
            sent.begin()
            at_round = round

    def update(round: int, who: int, values: Any) -> tuple[Any, float, int]:
        begin(round, values)
        answer = sent.update(who)
        for name, kept in towers.named_buffers():
            if not torch.equal(kept, before[name]):
                raise InputError(f"the buffer '{name}' changed: it would carry what users read past clipping and noise; use modules "
                                 "that learn by their parameters alone (LayerNorm instead of BatchNorm)")
        return answer

    def direction(round: int, mean: Any, values: Any) -> Any:
        begin(round, values)  # of a round in which nobody took part
        return sent.direction(mean)

    train_own(update, towers, dataset.users, out, epsilon=epsilon, on_round=on_round,
              fold=None if sent.sends is None else (sent.sends, direction), simulation_seed=simulation_seed, resume=resume, **settings)
    return made
