"""A server of this build, a client and a device that asks it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import sotto

COMMAND = os.environ.get("SOTTO_COMMAND", "")


@pytest.fixture(scope="module")
def run(newsroom, tmp_path_factory):
    out = tmp_path_factory.mktemp("served") / "run"
    return sotto.train("sotto", newsroom, out, epsilon=8, rounds=3, settings={"cohort": 40, "delta": 1e-3})


@pytest.fixture(scope="module")
def server(run, newsroom, tmp_path_factory):
    assert COMMAND, "SOTTO_COMMAND must name the command of a release build"
    folder = tmp_path_factory.mktemp("server")
    token = folder / "token"
    token.write_text("t" * 40 + "\n")
    token.chmod(0o600)
    process = subprocess.Popen(
        [COMMAND, "serve", "--run", str(run.path), "--data", str(newsroom), "--catalogue", str(folder / "catalogue"),
         "--epsilon", "4", "--port", "0", "--operator-token-file", str(token), "--json"],
        stdout=subprocess.PIPE, text=True)
    url = None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "serving":
            url = event["url"]
            break
    assert url, f"the server ended with {process.wait()} before it served: its error stands above"
    yield url, "t" * 40
    process.terminate()
    assert process.wait(60) == 0


def test_client_and_device(server, newsroom, tmp_path):
    url, token = server
    client = sotto.serving.Client(url, token=token)
    assert client.healthy()
    dataset = sotto.data.open(newsroom)
    ids, titles = dataset.item_ids.tolist(), dataset.titles.tolist()
    stored = client.put_items({"id": ids[i], "title": titles[i], "category": "news", "published": 1_700_000_000} for i in range(40))
    assert stored["stored"] == 40
    assert len(client.popular(5)["items"]) == 5
    with pytest.raises(sotto.InputError, match="401|403"):
        sotto.serving.Client(url).put_items([{"id": "x", "title": "y"}])
    client.remove_item(ids[0])
    assert "sotto_http_requests_total" in client.metrics()

    reader = sotto.device.open_device(tmp_path / "device", server=url, first_use=True, ranking="private",
                                      mechanism="prototypes", epsilon=4, lifetime_epsilon=10)
    assert reader.refresh()
    assert reader.pack_version
    reader.click(ids[5])
    silent = reader.recommend(5)
    assert silent.source != "fresh query" and reader.statement()["total"]["charges"] == 0, "nobody agreed"
    assert not reader.agreed
    reader.agree("Recommendations")
    assert reader.agreed
    page = reader.recommend(5)
    assert len(page.items) == 5 and page.items[0].score >= page.items[-1].score
    assert ids[5] not in [ranked.item for ranked in page.items]
    assert page.source == "fresh query" and not page.note, page.note
    assert reader.statement()["total"]["charges"] == 1
    reader.forget_reading()
    assert reader.clicks == 0
    reader.withdraw()
    assert not reader.agreed


def test_a_device_without_a_server_says_so(tmp_path):
    reader = sotto.device.open_device(tmp_path / "device", ranking="local", lifetime_epsilon=1)
    with pytest.raises(sotto.InputError, match="server"):
        reader.recommend()
    with pytest.raises(sotto.InputError, match="server"):
        reader.agree("Recommendations")
    with pytest.raises(sotto.InputError, match="did you mean"):
        sotto.device.open_device(tmp_path / "other", rankin="local")


def test_a_category_with_a_comma_is_refused_by_name(tmp_path):
    with pytest.raises(sotto.InputError, match="'news, foreign' has a comma"):
        sotto.device.open_device(tmp_path / "device", ranking="local", lifetime_epsilon=1, not_sensitive=["sports", "news, foreign"])
    assert not (tmp_path / "device").exists()
