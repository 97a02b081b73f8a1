"""A client of a serving server: public lists and packs for everybody, articles for the operator.

What a reader asks privately goes through `sotto.device`, which charges it first.
"""

from __future__ import annotations

import json
import os
from typing import Any, Iterable
from urllib.parse import quote, urlencode

from ._core import FailedError, InputError
from ._core.device import HttpClient

__all__ = ["Client"]


class Client:
    """One server. `token` is the operator's, for changes; nothing else in a request tells clients apart."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        authorities: str | os.PathLike[str] | None = None,
        timeout: float = 30.0,
    ) -> None:
        self._http = HttpClient(url, authorities=authorities, timeout=timeout)
        self._token = token

    def popular(self, count: int = 10, **filters: str) -> dict[str, Any]:
        """The public list; filters: category, language, model."""
        return self._json("GET", "/v1/popular?" + urlencode({"count": count, **filters}))

    def pack(self) -> bytes:
        """The public pack that devices rank with."""
        return self._send("GET", "/v1/pack")

    def put_items(self, items: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Articles with an id and a title, an abstract or a vector; searchable and durable when this returns."""
        return self._json("PUT", "/v1/items", json.dumps({"items": list(items)}).encode())

    def remove_item(self, item: str) -> None:
        self._send("DELETE", "/v1/items/" + quote(item, safe=""))

    def healthy(self) -> bool:
        status, _ = self._http.send("GET", "/healthz")
        return status == 200

    def metrics(self) -> str:
        """Prometheus' text form."""
        return self._send("GET", "/metrics").decode()

    def _send(self, method: str, path: str, body: bytes = b"") -> bytes:
        headers = []
        if self._token and method in ("PUT", "DELETE"):
            headers.append(("Authorization", f"Bearer {self._token}"))
        status, answer = self._http.send(method, path, body, "application/json" if body else "", headers)
        if status < 300:
            return answer
        text = answer.decode("utf-8", "replace").strip()
        raise (InputError if 400 <= status < 500 else FailedError)(f"{method} {path}: the server answered {status}: {text}")

    def _json(self, method: str, path: str, body: bytes = b"") -> dict[str, Any]:
        made = json.loads(self._send(method, path, body))
        if not isinstance(made, dict):
            raise FailedError(f"{method} {path}: the answer is no JSON object")
        return made
