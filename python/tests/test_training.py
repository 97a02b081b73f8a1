import gc
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading

import numpy
import pytest

import sotto


@pytest.fixture(scope="module")
def run(newsroom, tmp_path_factory):
    rounds = []
    made = sotto.train("sotto", newsroom, tmp_path_factory.mktemp("runs") / "run", epsilon=8, rounds=4,
                       settings={"cohort": 40, "delta": 1e-3}, on_round=rounds.append)
    made.seen_rounds = rounds
    return made


def test_run_says_how_it_went_and_what_holds(run):
    assert [record["round"] for record in run.seen_rounds] == [1, 2, 3, 4]
    assert [record["round"] for record in run.history] == [1, 2, 3, 4]
    assert 0.4 < run.metrics["auc"] < 1
    assert run.epsilon == run.epsilon_if_secret <= 8 and run.datasheet["unit"] == "user"
    assert run.settings["cohort"] == 40
    assert run.evaluate()["auc"] == pytest.approx(run.metrics["auc"])


def test_vectors_rank_as_the_run_does(run, newsroom):
    items = run.item_vectors()
    assert items.shape[0] == len(run.item_ids)
    readers = run.user_vectors([[0, 1, 2], []])
    assert readers.shape == (2, items.shape[1]) and numpy.isfinite(readers).all()
    with pytest.raises(sotto.InputError, match="not below"):
        run.user_vectors([[len(items)]])


def test_parameters_by_name(run):
    parameters = run.parameters()
    assert {"shared.average", "shared.query", "shared.scale"} <= set(parameters)
    assert sum(array.size for array in parameters.values()) == run.result["parameters"]


def test_same_seed_without_secret_noise_is_the_same_run(newsroom, tmp_path):
    results = []
    for name in ("a", "b"):
        made = sotto.train("sotto", newsroom, tmp_path / name, epsilon=8, rounds=2, seed=5, reproducible=True,
                           settings={"cohort": 40, "delta": 1e-3})
        assert made.epsilon is None and 0 < made.epsilon_if_secret <= 8
        assert "no ε holds" in made.datasheet["simulation"]
        results.append(made.parameters())
    assert all((results[0][name] == results[1][name]).all() for name in results[0])


def test_refusals_write_nothing(newsroom, tmp_path):
    for arguments, text in (
        (dict(recipe="sottto"), "did you mean 'sotto'"),
        (dict(recipe="sotto", settings={"cohrt": 3}, epsilon=1), "did you mean 'cohort'"),
        (dict(recipe="sotto"), "epsilon"),
        (dict(recipe="sotto", epsilon=1, settings={"epsilon": 2}), "contradict"),
    ):
        with pytest.raises(sotto.InputError, match=text):
            sotto.train(data=newsroom, out=tmp_path / "run", **arguments)
        assert not (tmp_path / "run").exists()


def test_without_a_folder_a_run_lives_as_long_as_its_object(newsroom, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings = {"cohort": 40, "delta": 1e-3}
    made = sotto.train("sotto", newsroom, epsilon=8, rounds=1, settings=settings)
    folder = made.path
    assert made.epsilon <= 8 and made.item_vectors().shape[0] == len(made.item_ids)
    assert tmp_path in folder.parents and folder.exists()
    del made
    gc.collect()
    assert not list(tmp_path.iterdir())
    for refused, text in ((dict(epsilon=8, settings={"cohrt": 3}), "did you mean"), (dict(resume=True), "name it with out=")):
        with pytest.raises(sotto.InputError, match=text):
            sotto.train("sotto", newsroom, **refused)
        assert not list(tmp_path.iterdir())

    def stop(record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sotto.train("sotto", newsroom, epsilon=8, rounds=3, settings=settings, on_round=stop)
    stopped, = tmp_path.iterdir()
    assert 1 <= len(sotto.open_run(stopped / "run").history) < 3, "what was trained before Ctrl-C is kept"


def test_an_exception_in_on_round_ends_the_training_behind_its_round(newsroom, tmp_path):
    def stop(record):
        if record["round"] == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sotto.train("sotto", newsroom, tmp_path / "run", epsilon=8, rounds=5, settings={"cohort": 40, "delta": 1e-3},
                    on_round=stop)
    finished = sotto.train("sotto", newsroom, tmp_path / "run", rounds=5, resume=True)
    assert [record["round"] for record in finished.history] == [1, 2, 3, 4, 5]


def test_keyboard_interrupt_saves_the_round(newsroom, tmp_path):
    script = textwrap.dedent(f"""
        import os, signal, sotto
        def interrupt(record):
            if record["round"] == 2:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            sotto.train("sotto", {os.fspath(newsroom)!r}, {os.fspath(tmp_path / "run")!r}, epsilon=8, rounds=50,
                        settings=dict(cohort=40, delta=1e-3), on_round=interrupt)
        except KeyboardInterrupt as stopped:
            print(stopped)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "resume=True" in done.stdout
    history = sotto.open_run(tmp_path / "run").history
    assert [record["round"] for record in history] == list(range(1, len(history) + 1)) and len(history) >= 2


def test_what_needs_no_torch_does_not_load_it():
    script = textwrap.dedent("""
        import sotto
        sotto.privacy.epsilon(noise=1, delta=1e-5)
        sotto.secagg.Plan(dimension=4, clip=1.0, devices=10, noise_multiplier=1.0)
        with open("/proc/self/maps") as maps:
            print(sum("torch" in line for line in maps))
        sotto.recipes()
        with open("/proc/self/maps") as maps:
            print(sum("torch" in line for line in maps) > 0)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["0", "True"], done.stderr


def test_other_threads_run_while_it_trains(newsroom, tmp_path):
    turns, over = [0], threading.Event()

    def take_turns():
        while not over.is_set():
            turns[0] += 1

    other = threading.Thread(target=take_turns)
    other.start()
    try:
        before = turns[0]
        sotto.train("sotto", newsroom, tmp_path / "run", epsilon=8, rounds=2, settings={"cohort": 40, "delta": 1e-3})
        taken = turns[0] - before
    finally:
        over.set()
        other.join()
    assert taken > 10_000, "the interpreter's lock was held"


def test_another_torch_is_refused_before_it_can_crash(tmp_path):
    # Any other libtorch: a library of that name in another folder is enough to be told apart.
    library = tmp_path / "libtorch_cpu.so"
    source = tmp_path / "empty.c"
    source.write_text("int empty_library;\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    script = textwrap.dedent(f"""
        import ctypes, sotto
        ctypes.CDLL({os.fspath(library)!r})
        try:
            sotto.recipes()
        except sotto.FailedError as refusal:
            print(refusal)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert "another torch" in done.stdout, done.stderr


def test_a_torch_that_comes_later_is_refused_too(tmp_path):
    library = tmp_path / "libtorch_cpu.so"
    source = tmp_path / "empty.c"
    source.write_text("int empty_library;\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    script = textwrap.dedent(f"""
        import ctypes, sotto
        sotto.recipes()
        ctypes.CDLL({os.fspath(library)!r})
        try:
            sotto.recipes()
        except sotto.FailedError as refusal:
            print(refusal)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert "two versions of torch" in done.stdout and os.fspath(tmp_path) in done.stdout, done.stderr


def test_vectors_become_tensors_without_a_copy(run):
    import torch

    items = run.item_vectors()
    tensor = torch.from_dlpack(items)
    assert tensor.data_ptr() == items.ctypes.data and tensor.shape == items.shape


def quadratic(targets):
    def update(round, user, values):
        return (values - targets[user]).astype(numpy.float32), float(((values - targets[user]) ** 2).sum()), 1
    return update


def test_own_model_descends_to_the_mean(tmp_path):
    targets = numpy.random.default_rng(4).normal(0.3, 0.05, (200, 5)).astype(numpy.float32)
    records = []
    values = sotto.train_own(quadratic(targets), numpy.zeros(5, numpy.float32), 200, tmp_path / "run", epsilon=50,
                             delta=1e-3, rounds=30, cohort=100, learning_rate=0.3, clip=1.0, on_round=records.append)
    assert numpy.abs(values - targets.mean(axis=0)).max() < 0.15
    assert len(records) == 30 and records[0]["loss"] > records[-1]["loss"]
    sheet = json.loads((tmp_path / "run" / "privacy.json").read_text())
    assert sheet["epsilon"] <= 50


def test_a_simulation_is_not_finished_as_a_private_run(tmp_path):
    update = quadratic(numpy.zeros((40, 3), numpy.float32))

    def stopped(round, user, values):
        return update(round, user, values) if round < 2 else 1 // 0

    def train(update, **given):
        return sotto.train_own(update, numpy.zeros(3, numpy.float32), 40, tmp_path / "run", epsilon=50, delta=1e-3, rounds=4,
                               checkpoint_every=1, **given)

    with pytest.raises(ZeroDivisionError):
        train(stopped, simulation_seed=3)
    with pytest.raises(sotto.InputError, match="simulation_seed=3"):
        train(update, resume=True)
    train(update, resume=True, simulation_seed=3)
    assert "no ε holds" in json.loads((tmp_path / "run" / "privacy.json").read_text())["simulation"]


def test_updates_may_be_tensors(tmp_path):
    import torch

    targets = torch.full((50, 3), 0.5)
    arrays, tensors = (
        sotto.train_own(update, start, 50, tmp_path / name, epsilon=50, delta=1e-3, rounds=2, simulation_seed=1)
        for name, start, update in (
            ("arrays", numpy.zeros(3, numpy.float32), lambda round, user, values: values - targets[user].numpy()),
            ("tensors", torch.zeros(3), lambda round, user, values: torch.from_numpy(values) - targets[user]),
        )
    )
    assert (arrays == tensors).all()


def test_own_model_refuses_wrong_updates(tmp_path):
    start = numpy.zeros(3, numpy.float32)
    for number, (update, error, text) in enumerate((
        (lambda round, user, values: numpy.zeros(2, numpy.float32), sotto.InputError, "has 2 numbers"),
        (lambda round, user, values: "text", sotto.InputError, "no flat array"),
        (lambda round, user, values: (values, 1.0), sotto.InputError, "tuple of 2"),
        (lambda round, user, values: numpy.full(3, numpy.nan, numpy.float32), sotto.InputError, "no number"),
        # Behind the first round it may be the training that left the numbers.
        (lambda round, user, values: numpy.full(3, numpy.inf if round else 0, numpy.float32), sotto.FailedError, "diverged in round 2"),
        (lambda round, user, values: 1 // 0, ZeroDivisionError, "division"),
    )):
        with pytest.raises(error, match=text):
            sotto.train_own(update, start, 50, tmp_path / str(number), epsilon=5, delta=1e-3, rounds=2)
    with pytest.raises(sotto.InputError, match="epsilon"):
        sotto.train_own(lambda *_: start, start, 50, tmp_path / "zero", epsilon=0, delta=1e-3)
    assert not (tmp_path / "zero").exists()


def test_a_torch_module_is_trained_in_place(tmp_path):
    import torch
    from sotto.training import flatten, unflatten

    model = torch.nn.Linear(2, 1)
    twin = torch.nn.Linear(2, 1)
    inputs = torch.randn(100, 8, 2)
    answers = inputs @ torch.tensor([[1.0], [-1.0]])

    def update(round, user, values):
        unflatten(twin, values)
        twin.zero_grad()
        torch.nn.functional.mse_loss(twin(inputs[user]), answers[user]).backward()
        return flatten(twin, gradients=True)

    before = torch.nn.functional.mse_loss(model(inputs), answers).item()
    sotto.train_own(update, model, 100, tmp_path / "run", epsilon=50, delta=1e-3, rounds=20, cohort=50, learning_rate=0.3)
    assert torch.nn.functional.mse_loss(model(inputs), answers).item() < before / 2
