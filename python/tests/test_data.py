import gc
import resource

import numpy
import pandas
import pyarrow
import pytest
from pyarrow import parquet

import sotto


def test_columns_are_views_that_keep_the_data_alive(newsroom):
    dataset = sotto.data.open(newsroom)
    shown = dataset.impressions.shown
    assert not shown.flags.writeable and not shown.flags.owndata
    expected = int(shown.sum())
    offsets = dataset.impressions.shown_offsets
    del dataset
    gc.collect()
    assert int(shown.sum()) == expected
    assert offsets[-1] == len(shown)


def test_counts_agree_with_columns(newsroom):
    dataset = sotto.data.open(newsroom)
    counts = dataset.counts()
    assert counts["impressions"] == len(dataset.impressions) == len(dataset.impressions.users)
    assert counts["clicks"] == int(dataset.impressions.clicked.sum())
    assert counts["items"] == len(dataset.item_ids) == len(dataset.titles) == len(dataset.categories)
    assert dataset.users == len(dataset.user_ids)
    assert dataset.titles[0] in dataset.titles.tolist()
    assert dataset.category_names[int(dataset.categories[0])]


def test_views_cost_no_memory(tmp_path):
    users = numpy.repeat(numpy.arange(2000), 500)
    table = pyarrow.table({"u": users, "i": numpy.arange(len(users)) % 3000})
    dataset = sotto.data.from_dataframe(table, tmp_path / "d", user="u", item="i")
    items = [dataset.interactions.items for _ in range(1000)]  # 4 GB if they were copies
    assert len({array.ctypes.data for array in items}) == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000


def test_wrong_rows_are_index_errors(newsroom):
    dataset = sotto.data.open(newsroom)
    with pytest.raises(IndexError):
        dataset.titles[len(dataset.titles)]
    assert dataset.titles[-1] == dataset.titles[len(dataset.titles) - 1]
    with pytest.raises(IndexError):
        dataset.training_samples(dataset.users)
    with pytest.raises(sotto.InputError, match="split"):
        dataset.training_samples(0, "tomorrow")


def test_refusals(tmp_path, newsroom):
    with pytest.raises((sotto.InputError, sotto.FailedError), match="nowhere"):
        sotto.data.open(tmp_path / "nowhere")
    with pytest.raises(sotto.InputError, match="did you mean 'users'"):
        sotto.data.generate(tmp_path / "n", usres=3)
    with pytest.raises(sotto.InputError, match="kind|importer|format"):
        sotto.data.import_dataset("nothing", tmp_path, tmp_path / "o")
    assert not (tmp_path / "n").exists() and not (tmp_path / "o").exists()


def test_from_dataframe_keeps_rows_catalogue_and_features(bakery):
    dataset = sotto.data.open(bakery)
    assert dataset.name == "bakery"
    assert dataset.counts()["interactions"] == 400
    assert dataset.items == 30 and int(dataset.is_public.sum()) == 30
    names, codes = dataset.item_features()["flavours"]
    assert sorted(names.tolist())[-3:] == ["rye", "salt", "sweet"]
    assert len(codes) == 30
    assert sorted(dataset.item_features()["weight"])[0] == 100.0
    assert "shop" in dataset.context_features()
    assert dataset.titles[dataset.item_ids.tolist().index("p3")] == 'Bread, the 3th "kind"'
    assert dataset.interactions.times.min() == 1_600_000_000


def test_from_parquet_is_the_same(tmp_path):
    table = pyarrow.table({"u": ["a", "a", "b"], "i": ["x", "y", "x"]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    from_file = sotto.data.from_parquet(tmp_path / "rows.parquet", tmp_path / "one", user="u", item="i")
    from_frame = sotto.data.from_dataframe(table.to_pandas(), tmp_path / "two", user="u", item="i")
    assert from_file.fingerprint() == from_frame.fingerprint()


def test_missing_columns_are_named(tmp_path):
    with pytest.raises(sotto.InputError, match="no column 'user'"):
        sotto.data.from_dataframe(pandas.DataFrame({"u": [1]}), tmp_path / "d", user="user", item="u")
    with pytest.raises(sotto.InputError, match="item_id"):
        sotto.data.from_dataframe(pandas.DataFrame({"u": [1], "i": [1]}), tmp_path / "d", user="u", item="i", title="t")


def test_splits(bakery):
    dataset = sotto.data.open(bakery)
    train, test = sotto.data.split_users(numpy.arange(40, dtype=numpy.uint32), 0.75, seed=3)
    assert len(train) == 30 and len(test) == 10 and not set(train) & set(test)
    tune, held_out = sotto.data.halve_rows(dataset, 0)
    assert len(tune) + len(held_out) == 10
    with pytest.raises(IndexError):
        sotto.data.halve_rows(dataset, 40)
    with pytest.raises(sotto.InputError):
        sotto.data.split_users(numpy.arange(40, dtype=numpy.uint32), 1.5)


def test_view_as_impressions(bakery, tmp_path):
    dataset = sotto.data.view(bakery, "impressions", tmp_path / "view", negatives=5)
    assert dataset.counts()["impressions"] > 0
