import pandas
import pytest

import sotto


@pytest.fixture(scope="session")
def newsroom(tmp_path_factory):
    """A small newsroom, generated once."""
    folder = tmp_path_factory.mktemp("data") / "newsroom"
    sotto.data.generate(folder, users=120, news=300, days=3, seed=7)
    return folder


@pytest.fixture(scope="session")
def bakery(tmp_path_factory):
    """Interactions of a few users, imported from a frame."""
    rows = pandas.DataFrame(
        {
            "customer": [f"c{i % 40}" for i in range(400)],
            "product": [f"p{(i * 7) % 25}" for i in range(400)],
            "stars": [1 + i % 5 for i in range(400)],
            "when": pandas.to_datetime([1_600_000_000 + 3600 * i for i in range(400)], unit="s"),
            "shop": ["north" if i % 3 else "south" for i in range(400)],
        }
    )
    items = pandas.DataFrame(
        {
            "sku": [f"p{i}" for i in range(30)],
            "label": [f"Bread, the {i}th \"kind\"" for i in range(30)],
            "flavours": [["salt", "rye"] if i % 2 else ["sweet"] for i in range(30)],
            "weight": [100.0 + i for i in range(30)],
        }
    )
    folder = tmp_path_factory.mktemp("data") / "bakery"
    sotto.data.from_dataframe(
        rows, folder, user="customer", item="product", rating="stars", time="when", context=["shop"],
        items=items, item_id="sku", title="label", item_features=["flavours", "weight"], name="bakery",
    )
    return folder
