"""A tracker on this machine: a real HTTP server on a free port."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from tracker import Client

PAGE = 2


def make_issue(number, title, **more):
    return {
        "number": number,
        "title": title,
        "webUrl": f"https://tracker.example/{number}",
        "openedAt": "2026-01-31T12:00:00Z",
        "dueOn": None,
        "timeSpent": "PT0S",
        "labels": [],
        **more,
    }


class Handler(BaseHTTPRequestHandler):
    """Answers from the server's list of issues, and notes each request."""

    def do_GET(self):
        self.server.requests.append({"method": "GET", "path": self.path})
        url, issues = urlsplit(self.path), self.server.issues
        if url.path == "/health":
            self.answer(200, "ok\n", "text/plain")
        elif url.path == "/issues":
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            found = [issue for issue in issues if query.get("label", "") in {"", *issue["labels"]}]
            page = int(query["page"])
            has_more = page * PAGE < len(found)
            items = found[(page - 1) * PAGE : page * PAGE]
            self.answer(200, {"items": items, "next": page + 1 if has_more else None})
        else:
            number = int(url.path.rpartition("/")[2])
            found = [issue for issue in issues if issue["number"] == number]
            self.answer(*((200, found[0]) if found else (404, {"message": "not found"})))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"method": "POST", "path": self.path, "body": body})
        if not body["title"]:
            self.answer(422, {"message": "title is empty"})
            return
        issue = make_issue(len(self.server.issues) + 1, **body)
        self.server.issues.append(issue)
        self.answer(201, issue)

    def answer(self, status, content, kind="application/json"):
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.requests = []
        running.issues = [
            make_issue(1, "Login fails", labels=["bug", "login"], timeSpent="PT1H30M", dueOn="2026-02-14"),
            make_issue(2, "Slow search", labels=["bug"]),
            make_issue(3, "Dark mode", labels=["idea"]),
        ]
        thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def client(server):
    return Client(f"http://127.0.0.1:{server.server_port}/")
