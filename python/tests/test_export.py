import json
import re

import numpy
import onnx
import onnxruntime
import pytest
import safetensors.numpy
from mlflow import MlflowClient
from tensorboard.backend.event_processing import event_file_loader

import sotto

MODELS = {
    "catalogue": ("sotto", {"cohort": 40, "delta": 1e-3, "epsilon": 8}),
    "nrms": ("central", {"model": "nrms"}),
    "naml": ("central", {"model": "naml"}),
    "fednewsrec": ("central", {"model": "fednewsrec"}),
}


@pytest.fixture(scope="module", params=MODELS)
def run(request, newsroom, tmp_path_factory):
    recipe, settings = MODELS[request.param]
    return sotto.train(recipe, newsroom, tmp_path_factory.mktemp("runs") / request.param, rounds=2, settings=settings,
                       test_impressions=50)


def test_onnx_user_encoder_is_the_model(run, tmp_path):
    files = run.export("onnx", tmp_path / "onnx")
    assert "user_encoder.onnx" in files and "MODEL_CARD.md" in files
    session = onnxruntime.InferenceSession(str(tmp_path / "onnx" / "user_encoder.onnx"))
    items = numpy.load(tmp_path / "onnx" / "item_vectors.npy")
    assert (items == run.item_vectors()).all()
    random = numpy.random.default_rng(5)
    for length in (1, 2, 7, 30):
        history = random.integers(0, len(items), length)
        ours = run.user_vectors([history])[0]
        theirs = session.run(None, {"clicks": items[history]})[0]
        scale = max(1.0, float(numpy.abs(ours).max()))
        assert numpy.abs(ours - theirs).max() <= 1e-5 * scale
    theirs = session.run(None, {"clicks": numpy.zeros((1, items.shape[1]), numpy.float32)})[0]
    assert numpy.abs(run.user_vectors([[]])[0] - theirs).max() <= 1e-5


def test_onnx_is_well_formed(run, tmp_path):
    files = run.export("onnx", tmp_path / "onnx")
    for graph in (file for file in files if file.endswith(".onnx")):
        model = onnx.load(str(tmp_path / "onnx" / graph))
        onnx.checker.check_model(model, full_check=True)
        assert {entry.key for entry in model.metadata_props} >= {"recipe", "guarantee", "fingerprint"}


WORD = re.compile(r"[^\W_]+(?:[.&'_-][^\W_]+)*|\.+|-+|[^\w\s]")


def words_of(text, numbers):
    """As the library splits plain English, without clitics: 1 is a word that the model does not know."""
    return numpy.array([numbers.get(word, 1) for word in WORD.findall(text.lower())], numpy.int64)


@pytest.mark.parametrize("run", ["nrms", "naml", "fednewsrec"], indirect=True)
def test_onnx_news_encoder_is_the_model(run, newsroom, tmp_path):
    files = run.export("onnx", tmp_path / "onnx")
    assert "news_encoder.onnx" in files and "news_inputs.json" in files
    numbered = json.loads((tmp_path / "onnx" / "news_inputs.json").read_text())
    assert numbered["words"][:2] == ["", ""], "padding, and any word that is not known"
    numbers = {word: number for number, word in enumerate(numbered["words"])}
    session = onnxruntime.InferenceSession(str(tmp_path / "onnx" / "news_encoder.onnx"))
    inputs = {given.name for given in session.get_inputs()}
    assert inputs == ({"title", "abstract", "category", "subcategory"} if "naml" in str(run.path) else {"title"})
    data = sotto.data.open(newsroom)
    assert numbered["categories"] == data.category_names.tolist()
    assert numbered["subcategories"] == data.subcategory_names.tolist()
    vectors = run.item_vectors()
    scale = max(1.0, float(numpy.abs(vectors).max()))

    def encoded(item, **others):
        article = {"title": words_of(data.titles[item], numbers), "abstract": words_of(data.abstracts[item], numbers),
                   "category": numpy.array([data.categories[item]], numpy.int64),
                   "subcategory": numpy.array([data.subcategories[item]], numpy.int64)}
        return session.run(None, {name: value for name, value in {**article, **others}.items() if name in inputs})[0]

    for item in range(60):
        assert numpy.abs(encoded(item) - vectors[item]).max() <= 1e-5 * scale, data.titles[item]
    # What is longer than what was read in training is cut where the model cuts it.
    long = numpy.tile(words_of(data.titles[0], numbers), 40)
    assert (encoded(0, title=long) == encoded(0, title=long[:30])).all()
    # An article that says nothing is the zero vector, as in the library.
    nothing = {"title": numpy.zeros(0, numpy.int64), "abstract": numpy.zeros(0, numpy.int64),
               "category": numpy.zeros(1, numpy.int64), "subcategory": numpy.zeros(1, numpy.int64)}
    assert (encoded(0, **nothing) == 0).all()


@pytest.mark.parametrize("run", ["catalogue"], indirect=True)
def test_a_news_side_that_is_not_trained_is_no_graph(run, tmp_path):
    assert "news_encoder.onnx" not in run.export("onnx", tmp_path / "onnx")


def test_safetensors_and_npz_hold_the_same(run, tmp_path):
    run.export("safetensors", tmp_path / "s")
    run.export("npz", tmp_path / "n")
    tensors = safetensors.numpy.load_file(tmp_path / "s" / "model.safetensors")
    with numpy.load(tmp_path / "n" / "model.npz") as arrays:
        assert set(arrays.files) == set(tensors)
        assert all((arrays[name] == tensors[name]).all() and arrays[name].shape == tensors[name].shape for name in tensors)
    assert tensors["item_vectors"].shape[0] == len(json.loads((tmp_path / "s" / "items.json").read_text()))


def test_parameters_come_back_from_safetensors(run, tmp_path):
    run.export("safetensors", tmp_path / "s")
    again = run.with_parameters(tmp_path / "s" / "model.safetensors", tmp_path / "again")
    assert (again.item_vectors() == run.item_vectors()).all()
    assert again.epsilon == run.epsilon and again.history == []
    assert again.evaluate(test_impressions=50) == run.evaluate(test_impressions=50)


@pytest.mark.parametrize("run", ["catalogue", "nrms"], indirect=True)
def test_other_parameters_have_no_datasheet(run, newsroom, tmp_path):
    run.export("safetensors", tmp_path / "s")
    tensors = safetensors.numpy.load_file(tmp_path / "s" / "model.safetensors")
    name = min(name for name in tensors if name != "item_vectors")
    safetensors.numpy.save_file({**tensors, name: tensors[name] * 0.5}, tmp_path / "halved.safetensors")
    halved = run.with_parameters(tmp_path / "halved.safetensors", tmp_path / "halved")
    assert (halved.parameters()[name] == tensors[name] * 0.5).all()
    assert halved.datasheet is None and halved.epsilon is None
    with pytest.raises(sotto.InputError, match="result.json"):
        halved.metrics
    halved.export("npz", tmp_path / "n")
    assert "no differential privacy holds" in (tmp_path / "n" / "MODEL_CARD.md").read_text()
    with pytest.raises(sotto.InputError, match="last.sotto"):
        sotto.train(json.loads((run.path / "run.json").read_text())["recipe"], newsroom, halved.path, resume=True)


@pytest.mark.parametrize("run", ["catalogue"], indirect=True)
def test_wrong_parameters_are_refused(run, tmp_path):
    run.export("safetensors", tmp_path / "s")
    tensors = safetensors.numpy.load_file(tmp_path / "s" / "model.safetensors")
    name = min(name for name in tensors if name != "item_vectors")
    others = {key: value for key, value in tensors.items() if key != name}
    for wrong, text in (
        (others, f"lacks '{name}'"),
        ({**tensors, "more": tensors[name]}, "'more'"),
        ({**others, name: tensors[name].reshape(1, *tensors[name].shape)}, "model has"),
        ({**others, name: tensors[name].astype(numpy.float64)}, "F64"),
        ({**others, name: tensors[name] * numpy.nan}, "no number"),
    ):
        safetensors.numpy.save_file(wrong, tmp_path / "wrong.safetensors")
        with pytest.raises(sotto.InputError, match=text):
            run.with_parameters(tmp_path / "wrong.safetensors", tmp_path / "out")
        assert not (tmp_path / "out").exists()
    (tmp_path / "wrong.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(sotto.InputError, match="wrong.safetensors"):
        run.with_parameters(tmp_path / "wrong.safetensors", tmp_path / "out")


@pytest.mark.parametrize("format", ["safetensors", "onnx", "npz"])
def test_model_card_says_what_holds(run, format, tmp_path):
    files = run.export(format, tmp_path / "made")
    card = (tmp_path / "made" / "MODEL_CARD.md").read_text()
    assert "## Privacy" in card and "Vectors of readers are not among them" in card
    assert set(files) == {path.name for path in (tmp_path / "made").iterdir()}
    for file in set(files) - {"MODEL_CARD.md", "privacy.json"}:
        assert f"`{file}`" in card
    if run.datasheet:
        assert "epsilon" in card and json.loads((tmp_path / "made" / "privacy.json").read_text())
    else:
        assert "no differential privacy holds" in card and "privacy.json" not in files


def test_refusals(run, tmp_path):
    with pytest.raises(sotto.InputError, match="no format"):
        run.export("pickle", tmp_path / "p")
    (tmp_path / "there").mkdir()
    with pytest.raises(sotto.InputError, match="exists"):
        run.export("npz", tmp_path / "there")


def test_onnx_of_item_factors(bakery, tmp_path):
    made = sotto.train("dp-svd", bakery, tmp_path / "run", epsilon=20, settings={"delta": 1e-3})
    made.export("onnx", tmp_path / "onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "onnx" / "user_encoder.onnx"))
    items = numpy.load(tmp_path / "onnx" / "item_vectors.npy")
    for history in ([0], [1, 2, 3], [0] * 5):
        theirs = session.run(None, {"clicks": items[history]})[0]
        assert numpy.abs(made.user_vectors([history])[0] - theirs).max() <= 1e-5


def test_tensorboard_reads_the_rounds(run):
    run.write_metrics("tensorboard")
    events = list(event_file_loader.EventFileLoader(str(run.path / "tensorboard" / "events.out.tfevents.0.sotto")).Load())
    losses = [value.tensor.float_val[0] if value.HasField("tensor") else value.simple_value
              for event in events for value in event.summary.value if value.tag == "loss"]
    assert losses == pytest.approx([record["loss"] for record in run.history], rel=1e-6)
    with pytest.raises(sotto.InputError, match="no format"):
        run.write_metrics("carrier pigeon")


def test_mlflow_store_has_metrics_and_parameters(run):
    run.write_metrics("mlflow")
    store, = [path for path in (run.path / "mlruns" / "0").iterdir() if path.is_dir()]
    rows = [line.split() for line in (store / "metrics" / "loss").read_text().splitlines()]
    assert [float(row[1]) for row in rows] == [record["loss"] for record in run.history]
    assert [int(row[2]) for row in rows] == [record["round"] for record in run.history]
    assert (store / "params" / "rounds").read_text() == str(run.settings["rounds"])


def test_mlflow_reads_its_store(run, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    run.write_metrics("mlflow")
    client = MlflowClient(tracking_uri=(run.path / "mlruns").as_uri())
    stored, = client.search_runs(["0"])
    assert stored.info.status == "FINISHED"
    assert stored.data.params["rounds"] == str(run.settings["rounds"])
    losses = client.get_metric_history(stored.info.run_id, "loss")
    assert [(point.step, point.value) for point in losses] == [(record["round"], record["loss"]) for record in run.history]
