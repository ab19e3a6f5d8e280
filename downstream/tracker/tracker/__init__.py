"""A client of an issue tracker's REST API, over the standard library's HTTP client."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from pydantic import AnyUrl, BaseModel, ConfigDict, Field

_OPENER: OpenerDirector = build_opener(ProxyHandler({}))


class TrackerError(Exception):
    """The service refused a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class Issue(BaseModel):
    """An issue; JSON has the service's names."""

    model_config = ConfigDict(populate_by_name=True)

    number: int
    title: str
    web_url: AnyUrl = Field(alias="webUrl")
    opened_at: datetime = Field(alias="openedAt")
    due_on: date | None = Field(default=None, alias="dueOn")
    time_spent: timedelta = Field(default=timedelta(0), alias="timeSpent")
    labels: list[str] = []


class Client:
    """Calls the service at a URL."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def health(self) -> str:
        """Return the state of the service, a plain text."""
        return self._send("GET", "/health").strip()

    def issue(self, number: int) -> Issue:
        """Return an issue."""
        return Issue.model_validate_json(self._send("GET", f"/issues/{number}"))

    def raw_issue(self, number: int) -> dict[str, Any]:
        """Return an issue as the service sends it."""
        return json.loads(self._send("GET", f"/issues/{number}"))

    def issues(self, **query: str) -> Iterator[Issue]:
        """Yield all issues that match a query, page by page."""
        page: int | None = 1
        while page is not None:
            text = self._send("GET", f"/issues?{urlencode({**query, 'page': page})}")
            content = json.loads(text)
            yield from map(Issue.model_validate, content["items"])
            page = content["next"]

    def open_issue(self, title: str, labels: Iterable[str] = ()) -> Issue:
        """Open an issue, and return it."""
        body = json.dumps({"title": title, "labels": sorted(labels)})
        return Issue.model_validate_json(self._send("POST", "/issues", body))

    def _send(self, method: str, path: str, body: str | None = None) -> str:
        headers = {"Content-Type": "application/json"} if body else {}
        data = None if body is None else body.encode()
        request = Request(f"{self._url}{path}", data, headers, method=method)  # noqa: S310 - the caller's URL
        try:
            with _OPENER.open(request, timeout=30) as response:
                return response.read().decode()
        except HTTPError as error:
            with error:
                text = error.read().decode()
            raise TrackerError(error.code, json.loads(text)["message"]) from None
