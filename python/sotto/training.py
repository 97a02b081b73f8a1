"""Training in this process, and what a trained run holds.

Needs libtorch, and exactly the one that this package was built against: another one in the same process is refused, because
two of them crash each other. Everything else of `sotto` works without.
"""

from __future__ import annotations

import json
import operator
import os
import shutil
import sys
import tempfile
import tomllib
import weakref
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ._core import FailedError, InputError
from ._core.data import Dataset
from ._settings import Value

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Run",
    "export",
    "flatten",
    "open_run",
    "own_model_settings",
    "recipe_settings",
    "recipes",
    "train",
    "train_own",
    "unflatten",
]

Folder = str | os.PathLike[str]
OnRound = Callable[[dict[str, Any]], object]


def _libtorches() -> set[str]:
    """Where the libtorch libraries of this process lie."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = (line.split(maxsplit=5)[5].strip() for line in maps if "libtorch_cpu.so" in line or "libtorch.so" in line)
        return {os.path.realpath(os.path.dirname(path)) for path in paths}


def _trainer() -> Any:
    """The extension that needs libtorch. Loading it beside another libtorch is refused before anything can crash."""
    known: ModuleType | None = sys.modules.get("sotto._train")
    if known is None:
        before = _libtorches()
        own = _own_libtorch()
        if before and own not in before:
            raise FailedError(
                f"this process has loaded another torch, from {', '.join(sorted(before))}; sotto was built against the one in "
                f"{own}. Use that one (Debian: python3-torch), or train in a process that does not import torch"
            )
        try:
            from . import _train
        except ImportError as problem:
            raise FailedError(
                f"training needs libtorch, and it cannot be loaded: {problem}. Install it (Debian: libtorch1.13) and build "
                "sotto again; accounting, data, metrics, sums and devices work without"
            ) from None
        return _train
    if len(_libtorches()) > 1:
        raise FailedError(f"two versions of torch are in this process ({', '.join(sorted(_libtorches()))}): restart it")
    return known


def _own_libtorch() -> str:
    file = Path(__file__).with_name("libtorch-folder.txt")
    return os.path.realpath(file.read_text(encoding="utf-8").strip()) if file.exists() else ""


def _opened(data: Dataset | Folder) -> tuple[Dataset, str]:
    return (data, "") if isinstance(data, Dataset) else (Dataset.open(data), os.fspath(data))


def _assignments(settings: Mapping[str, Value]) -> list[str]:
    def text(value: Value) -> str:
        return ("true" if value else "false") if isinstance(value, bool) else str(value)

    return [f"{name}={text(value)}" for name, value in settings.items() if value is not None]


def recipes() -> dict[str, str]:
    """Name and summary of every recipe."""
    return {name: summary for name, summary, _, _ in _trainer().recipes()}


def recipe_settings(recipe: str, **choices: Value) -> list[tuple[str, str, str, str, str]]:
    """Settings of a recipe: name, type, default, what is allowed, help. `choices`: model, mode, variant."""
    return list(_trainer().recipe_settings(recipe, _assignments(choices)))


class Run:
    """A run's folder: what was trained, how it went, what holds.

    `path` is the folder, `result` what 'sotto train --json' ends with.
    """

    def __init__(self, path: Folder, data: Dataset | Folder | None = None) -> None:
        self.path = Path(path)
        if not (self.path / "settings.toml").exists():
            raise InputError(f"{self.path} holds no run")
        self._data = data
        self._vectors: Any = None

    @property
    def result(self) -> dict[str, Any]:
        return self._read("result.json")

    @property
    def metrics(self) -> dict[str, float]:
        """Test metrics in 0..1."""
        names = ("auc", "mrr", "ndcg", "hits", "recall")
        return {key: value for key, value in self.result.items() if key.startswith(names) and not key.endswith("_error")}

    @property
    def datasheet(self) -> dict[str, Any] | None:
        """What holds against whom; None: no differential privacy."""
        return self._read("privacy.json") if (self.path / "privacy.json").exists() else None

    @property
    def epsilon(self) -> float | None:
        """Against the server, for the whole training. None: nothing holds, as of a run whose noise follows from its seed."""
        sheet = self.datasheet
        return None if sheet is None or sheet["simulation"] is not None else sheet["epsilon"]

    @property
    def epsilon_if_secret(self) -> float | None:
        """What `epsilon` is with secret noise: of a simulation, what would hold; None: nothing, however the noise is drawn."""
        sheet = self.datasheet
        return None if sheet is None else sheet["epsilon"]

    @property
    def history(self) -> list[dict[str, Any]]:
        """One record per round: loss, clients, bytes, validation. The simulation's own view, not for publication."""
        if not (self.path / "log.jsonl").exists():
            return []  # before its first round, or with parameters from elsewhere
        text = (self.path / "log.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line]

    @property
    def settings(self) -> dict[str, Any]:
        return tomllib.loads((self.path / "settings.toml").read_text(encoding="utf-8"))

    def evaluate(self, data: Dataset | Folder | None = None, *, other_data: bool = False, test_impressions: int = 0) -> dict[str, Any]:
        """Test metrics with standard errors; on data that it was not trained on only when that is meant."""
        return dict(_trainer().evaluate(self.path, self._dataset(data), other_data, test_impressions))

    def item_vectors(self) -> NDArray[numpy.float32]:
        """[items, D], in the order of `item_ids`."""
        made: NDArray[numpy.float32] = self._opened_vectors().items()
        return made

    @property
    def item_ids(self) -> list[str]:
        return list(self._opened_vectors().item_ids)

    def user_vectors(self, histories: Sequence[Sequence[int]]) -> NDArray[numpy.float32]:
        """[histories, D] of readers, by the numbers of the items they clicked, oldest first."""
        made: NDArray[numpy.float32] = self._opened_vectors().readers([list(map(operator.index, history)) for history in histories])
        return made

    def parameters(self) -> dict[str, NDArray[numpy.float32]]:
        """By name, with their shapes."""
        import numpy

        with tempfile.TemporaryDirectory(prefix="sotto-") as folder:
            self.export("npz", Path(folder) / "made")
            with numpy.load(Path(folder) / "made" / "model.npz") as arrays:
                return {name: arrays[name] for name in arrays.files if name != "item_vectors"}

    def export(self, format: str, out: Folder) -> list[str]:
        """Writes a folder of safetensors, onnx or npz with a model card; the names of its files."""
        return list(_trainer().export_run(self.path, self._dataset(None), format, out))

    def with_parameters(self, file: Folder, out: Folder) -> Run:
        """This run with the parameters of a safetensors file, as a run of its own.

        For what was pruned, averaged or trained further elsewhere; the file names them as `export` does. The datasheet goes with
        them only where every number is as it was: what others were made from is not known here, so nothing is said to hold.
        """
        _trainer().import_run(self.path, self._dataset(None), file, out)
        return Run(out, self._data)

    def write_metrics(self, format: str) -> None:
        """The rounds for other programs, into the run's folder: tensorboard or mlflow."""
        _trainer().write_metrics_files(self.path, format)

    def _read(self, name: str) -> dict[str, Any]:
        if not (self.path / name).exists():
            raise InputError(f"{self.path} has no {name}: the training was not finished, or not done here")
        made = json.loads((self.path / name).read_text(encoding="utf-8"))
        if not isinstance(made, dict):
            raise InputError(f"{self.path / name} is no JSON object")
        return made

    def _dataset(self, data: Dataset | Folder | None) -> Dataset:
        chosen = data if data is not None else self._data
        if chosen is None:
            chosen = self._read("run.json").get("data")
            if not isinstance(chosen, str) or not chosen:
                raise InputError(f"{self.path} does not say where its data lies: name it")
        return _opened(chosen)[0]

    def _opened_vectors(self) -> Any:
        if self._vectors is None:
            self._vectors = _trainer().Vectors(self.path, self._dataset(None))
        return self._vectors

    def __repr__(self) -> str:
        return f"Run('{self.path}')"


def open_run(path: Folder, data: Dataset | Folder | None = None) -> Run:
    """A run that was trained before, here or by the command."""
    return Run(path, data)


def export(run: Folder, format: str, out: Folder) -> list[str]:
    """`sotto export`: a run as safetensors, onnx or npz, with a model card."""
    return Run(run).export(format, out)


def train(
    recipe: str,
    data: Dataset | Folder,
    out: Folder | None = None,
    *,
    epsilon: float | None = None,
    rounds: int | None = None,
    settings: Mapping[str, Value] | None = None,
    on_round: OnRound | None = None,
    seed: int = 1,
    reproducible: bool = False,
    resume: bool = False,
    test_impressions: int = 0,
) -> Run:
    """Trains a recipe in this process and returns its run.

    `out` is the run's folder. Without one it is a temporary folder that goes with the returned `Run`; of a training that was
    stopped it stays.
    `settings` are those of the recipe (`recipe_settings`), `on_round` is called with a record of every finished round.
    Ctrl-C ends the training behind the round it is in: everything is saved, KeyboardInterrupt says where, and the same call
    with `resume=True` goes on. Noise comes from the secure generator; `reproducible` draws it from the seed, a simulation for
    which no epsilon holds.
    """
    dataset, folder = _opened(data)
    given = dict(settings or {})
    for name, value in (("epsilon", epsilon), ("rounds", rounds)):
        if value is not None:
            if given.get(name, value) != value:
                raise InputError(f"{name}={value} and settings[{name!r}]={given[name]} contradict each other: give one of them")
            given[name] = value
    temporary = ""
    if out is None:
        if resume:
            raise InputError("resume=True goes on with the run in a folder: name it with out=")
        temporary = tempfile.mkdtemp(prefix="sotto-")
        out = os.path.join(temporary, "run")
    try:
        _trainer().train(
            recipe, dataset, folder, out, seed, reproducible, resume, test_impressions, _assignments(given), on_round
        )
    finally:
        if temporary and not os.path.exists(out):
            os.rmdir(temporary)
    run = Run(out, data)
    if temporary:
        weakref.finalize(run, shutil.rmtree, temporary, ignore_errors=True)
    return run


def train_own(
    update: Callable[[int, int, Any], Any],
    parameters: Any,
    users: ArrayLike | int,
    out: Folder,
    *,
    epsilon: float,
    on_round: OnRound | None = None,
    fold: tuple[int, Callable[[int, Any, Any], Any]] | None = None,
    simulation_seed: int | None = None,
    resume: bool = False,
    **settings: Value,
) -> NDArray[numpy.float32]:
    """Trains a model of your own on the sound path and returns its parameters as one flat array.

    `update(round, user, values)` says what one user would send: the direction to descend along for the flat parameters
    `values`, as a flat float32 array (NumPy, or a torch tensor by DLPack), or (array, loss, samples). Clipping, encoding,
    noise, sums and accounting are done behind it, as in every recipe. `parameters` is where to begin: a flat array, or a
    torch module, which holds the trained parameters afterwards. `users` are their numbers, or how many there are.

    `fold`, where what users send is no gradient of the parameters: how many numbers they send, and
    `function(round, mean, values)`, which makes the direction for the parameters of the noisy mean. It is the server's and may read nothing else of users.

    `resume` goes on with the run in `out`, to the same settings, users and number of parameters, and with the noise it had:
    secret, or that of the same `simulation_seed`. Anything else is refused.

    Settings: see `own_model_settings()`; epsilon must be given.
    """
    import numpy

    if isinstance(users, int) and not 2 <= users <= 2**32:
        raise InputError(f"training needs at least two users and knows 2**32 at most, not {users}")
    # As they are: what they become is checked where they are read.
    numbers = numpy.arange(users, dtype=numpy.uint32) if isinstance(users, int) else numpy.asarray(users)
    module = parameters if hasattr(parameters, "parameters") else None
    initial = flatten(module) if module is not None else numpy.asarray(parameters)
    trained: NDArray[numpy.float32] = _trainer().train_own(
        update, initial, numbers, out, fold, simulation_seed, resume, on_round, epsilon=epsilon, **settings
    )
    if module is not None:
        unflatten(module, trained)
    return trained


def own_model_settings() -> list[tuple[str, str, str, str, str]]:
    """Settings of `train_own`: name, type, default, what is allowed, help."""
    return list(_trainer().own_model_settings())


def flatten(module: Any, *, gradients: bool = False) -> NDArray[numpy.float32]:
    """The parameters of a torch module, or their gradients, as one flat array; a parameter without a gradient has zeros."""
    import numpy

    parts = []
    for parameter in module.parameters():
        values = parameter.grad if gradients else parameter.detach()
        parts.append(numpy.zeros(parameter.numel(), numpy.float32) if values is None
                     else values.detach().cpu().numpy().astype(numpy.float32).ravel())
    return numpy.concatenate(parts)


def unflatten(module: Any, values: ArrayLike) -> None:
    """Puts a flat array into the parameters of a torch module."""
    import numpy
    import torch

    flat = torch.from_numpy(numpy.array(values, dtype=numpy.float32))
    wanted = sum(parameter.numel() for parameter in module.parameters())
    if flat.shape != (wanted,):
        raise InputError(f"values have the shape {tuple(flat.shape)}, and the module has {wanted} parameters: one number of each")
    begin = 0
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(flat[begin : begin + parameter.numel()].view_as(parameter))
            begin += parameter.numel()
