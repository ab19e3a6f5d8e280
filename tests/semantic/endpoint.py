"""An endpoint on loopback that speaks the chat-completions protocol, and misbehaves as it is told.

`judge` below it decides about pairs (`expected` and `actual` are the same but for case, by default); what it does
with the N-th request is scripted: `endpoint.script = [status(429), never(), ...]`, and plain answers after that.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Request:
    """What has come."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        return self.body["messages"][0]["content"]

    @property
    def user(self) -> str:
        return self.body["messages"][1]["content"]

    @property
    def pairs(self) -> list[dict[str, Any]]:
        return json.loads(self.user)["pairs"]

    @property
    def form(self) -> str | None:
        """How the form of the answer is asked for."""
        return self.body.get("response_format", {}).get("type")


def same_but_for_case(pair: dict[str, Any]) -> bool:
    return str(pair["expected"]).lower() == str(pair["actual"]).lower()


def completion(
    content: str | None, finish: str = "stop", refusal: str | None = None, usage: Any = None
) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "loopback",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        **({} if usage is None else {"usage": usage}),
    }


class Endpoint:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.judge = same_but_for_case
        self.script: list[Any] = []
        self.always: Any = None
        """What is done with every request that the script does not reach."""
        self.usage: Any = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        self.requests: list[Request] = []
        self.most_at_once = 0
        self.gate: threading.Barrier | None = None
        self.reached = threading.Event()
        """Set when the first request has come."""
        self.released = threading.Event()
        """Set at the end: what never answers then lets go."""
        self._at_once = 0
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with contextlib.suppress(ConnectionError, socket.timeout):
                    endpoint._serve(self, Request(self.path, headers, json.loads(body)))

            def log_message(self, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

            def handle_error(self, request: object, client_address: object) -> None:
                """Clients that go away are what tests are about."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        self.reached.set()
        try:
            if self.gate is not None:
                with contextlib.suppress(threading.BrokenBarrierError):
                    self.gate.wait(timeout=5)
            act = self.script[number] if number < len(self.script) else self.always
            (act or answer())(self, handler, request)
        finally:
            with self._lock:
                self._at_once -= 1

    def verdicts(self, request: Request) -> list[dict[str, Any]]:
        return [
            {"id": pair["id"], "reason": "as it is", "equivalent": self.judge(pair)} for pair in request.pairs
        ]


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **headers,
    }.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def answer(change=lambda verdicts: verdicts, **more):
    """Answer with all verdicts; `change` has its way with their list."""

    def act(endpoint, handler, request):
        text = json.dumps({"verdicts": change(endpoint.verdicts(request))})
        send(handler, 200, json.dumps(completion(text, usage=endpoint.usage, **more)).encode())

    return act


def content(text, **more):
    """Answer with a text of one's own."""

    def act(endpoint, handler, request):
        send(handler, 200, json.dumps(completion(text, usage=endpoint.usage, **more)).encode())

    return act


def raw(body: bytes, **headers):
    """Answer 200 with any bytes."""

    def act(endpoint, handler, request):
        send(handler, 200, body, **headers)

    return act


def status(number: int, message: str = "no", headers: dict[str, str] | None = None, **error):
    """Answer with an error."""

    def act(endpoint, handler, request):
        body = json.dumps({"error": {"message": message, "type": None, "param": None, "code": None, **error}})
        send(handler, number, body.encode(), **(headers or {}))

    return act


def never():
    """Take the request and say nothing."""

    def act(endpoint, handler, request):
        endpoint.released.wait(30)
        handler.close_connection = True

    return act


def cut(where: str = "start"):
    """Close the connection before anything was sent, or in the middle of the body."""

    def act(endpoint, handler, request):
        handler.close_connection = True
        if where == "body":
            handler.send_response(200)
            handler.send_header("content-length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"choices": [')
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    return act
