"""One request to an endpoint that speaks the chat-completions protocol, and how it can fail."""

from __future__ import annotations

import email.utils
import json
import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar, final
from urllib.parse import urlsplit

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.budget import Spent
from pytest_jsonmatch.semantic.prompts import ANSWER_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import openai

    from pytest_jsonmatch.semantic.making import Structured

__all__ = ["Dialect", "Endpoint", "Failure", "Reply"]

T = TypeVar("T")

_LONGEST_ANSWER: Final = 8 * 1024 * 1024
_LONGEST_MESSAGE: Final = 300
# Without sense to try again: the account has no money left.
_USED_UP: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_NOT_KEY: Final = "no-key"
_LONGEST_NAME: Final = 24
_SHORTEST_SECRET: Final = 8


@final
@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint has answered."""

    content: str
    finish: str
    refusal: str | None
    spent: Spent | None
    """Tokens as the endpoint counts them; None where it does not say."""


@final
@dataclass(slots=True, eq=False)
class Failure(Exception):  # noqa: N818 - it is one of two outcomes; what users see is a JudgeError
    """A request without an answer that can be used."""

    kind: str
    message: str
    again: bool = False
    """Whether the same request may have another end."""
    wait: float | None = None
    """Seconds after which the endpoint wants to be asked again."""
    free: bool = False
    """Whether the endpoint has said that it did not do the work."""
    fatal: bool = False
    """Whether every other request will end like this one."""
    refused_option: str | None = None
    """What in the request the endpoint may not know: a field of `Dialect`."""


@final
@dataclass(frozen=True, slots=True)
class Dialect:
    """What of the protocol an endpoint takes: options that it refuses are left out from then on.

    >>> Dialect("json_schema").without("structured").without("structured").without("temperature")
    Dialect(structured='none', temperature=False, seed=True, fixed=False)
    """

    structured: Structured
    temperature: bool = True
    seed: bool = True
    fixed: bool = False
    """Whether `structured` was asked for by name; it then stays."""

    def without(self, option: str) -> Dialect:
        """Return the dialect without an option, or with a looser form of answers."""
        if option == "structured":
            return replace(self, structured="json_object" if self.structured == "json_schema" else "none")
        return replace(self, temperature=False) if option == "temperature" else replace(self, seed=False)

    def has(self, option: str) -> bool:
        """Tell whether the dialect can do without an option that it now has."""
        if option == "structured":
            return self.structured != "none" and not self.fixed
        return bool(getattr(self, option))

    def options(self, seed: int | None) -> dict[str, Any]:
        """Return what a request says beside model and messages."""
        options: dict[str, Any] = {}
        if self.temperature:
            options["temperature"] = 0
        if self.seed and seed is not None:
            options["seed"] = seed
        if self.structured == "json_object":
            options["response_format"] = {"type": "json_object"}
        if self.structured == "json_schema":
            schema = {"name": "verdicts", "strict": True, "schema": ANSWER_SCHEMA}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        return options


@final
@dataclass(slots=True)
class Endpoint:
    """Where requests go. The client is made when the first one is sent.

    Args:
        model: the model's name there.
        base_url: the address; None: OpenAI's.
        azure_endpoint: the address of a resource of Azure, with its `api_version`.
        api_key: the key, or None for that in the variable `api_key_env`.
        given: a ready client of the `openai` package.
    """

    model: str
    base_url: str | None = None
    azure_endpoint: str | None = None
    api_version: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    given: openai.OpenAI | None = None
    _client: openai.OpenAI | None = field(default=None, init=False)
    _answered: bool = field(default=False, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def client(self) -> openai.OpenAI:
        """Return the client.

        Raises:
            ConfigurationError: the extra is not installed, or there is no key.
        """
        with self._lock:
            if self._client is None:
                self._client = self._made() if self.given is None else self.given.with_options(max_retries=0)
            return self._client

    def close(self) -> None:
        """Close the client's connections, if it is ours."""
        with self._lock:
            if self._client is not None and self.given is None:
                self._client.close()
            self._client = None

    def _made(self) -> openai.OpenAI:
        try:
            import openai as library
        except ModuleNotFoundError as error:
            if error.name != "openai":
                raise
            raise ConfigurationError(
                "a language model as judge needs the extra 'judge': pip install 'pytest-jsonmatch[judge]'"
            ) from None
        try:
            # (The key is in no variable here: pytest --showlocals shows those where a client can't be made.)
            if self.azure_endpoint is not None:
                return library.AzureOpenAI(
                    azure_endpoint=self.azure_endpoint,
                    api_version=self.api_version,
                    api_key=self._key(),
                    max_retries=0,
                )
            return library.OpenAI(base_url=self.base_url, api_key=self._key(), max_retries=0)
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - of the client, or of the HTTP library below it
            raise ConfigurationError(f"no client for the judge {self.model!r}: {error}") from None

    def _key(self) -> str:
        if self.api_key is not None:
            return self.api_key
        if (name := self._key_name()) is None:
            return _NOT_KEY
        if key := os.environ.get(name, "").strip():
            return key
        raise ConfigurationError(
            f"the judge {self.model!r} has no key: set the environment variable {_cut(name)}, or take "
            "verdicts from a cache (mode 'cached')"
        )

    def _key_name(self) -> str | None:
        if self.api_key_env is not None:
            return self.api_key_env
        if self.azure_endpoint is not None:
            return "AZURE_OPENAI_API_KEY"
        return "OPENAI_API_KEY" if self.base_url is None else None

    def send(
        self, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any], timeout: float
    ) -> Reply:
        """Send one request and read its answer; both are over after `timeout` seconds.

        Raises:
            Failure: there is no answer.
        """
        client = self.client()
        deadline = time.monotonic() + timeout
        late = Failure("timeout", f"no whole answer from {self._where()} in {timeout:g} s", again=True)

        def exchange() -> bytes:
            with client.chat.completions.with_streaming_response.create(
                model=self.model,
                messages=messages,  # type: ignore[arg-type]
                timeout=timeout,
                **options,
            ) as response:
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > _LONGEST_ANSWER:
                        raise Failure("invalid", f"the answer is longer than {_LONGEST_ANSWER:,} bytes")
                    if time.monotonic() > deadline:
                        raise late
                return bytes(body)

        try:
            body = _within(timeout, exchange, late)
            self._answered = True
            # A verdict's reason is printed, and kept in a file. (A short key is no secret, but
            # a word for endpoints that want any, and may stand in every answer: "none", "true".)
            key = self._sent_key().encode()
            return _reply(body.replace(key, b"***") if len(key) >= _SHORTEST_SECRET else body)
        except Failure:
            raise
        except Exception as error:  # noqa: BLE001 - of the client, or of the HTTP library below it
            raise self._failure(error, timeout) from None

    def _failure(self, error: Exception, timeout: float) -> Failure:
        """Return what an exception of the client means."""
        import openai as library

        if isinstance(error, library.APIStatusError):
            return self._refused(error)
        text = self._clean(str(error) or type(error).__name__)
        cause = error.__cause__
        # What was never connected was never worked on.
        free = cause is not None and type(cause).__name__.startswith("Connect")
        if isinstance(error, library.APITimeoutError) or "Timeout" in type(error).__name__:
            return Failure(
                "timeout", f"no answer from {self._where()} in {timeout:g} s", again=True, free=free
            )
        if isinstance(error, (UnicodeError, TypeError, library.OpenAIError)) and not isinstance(
            error, library.APIConnectionError
        ):
            return Failure("invalid", f"the request can't be sent: {type(error).__name__}: {text}", free=True)
        because = text if cause is None or str(cause) in {"", text} else f"{text} ({self._clean(str(cause))})"
        return Failure("connection", f"{self._where()}: {because}", again=True, free=free)

    def _refused(self, error: openai.APIStatusError) -> Failure:
        """Return what a status other than 2xx means."""
        status, code = error.status_code, str(error.code or error.type or "")
        said = self._clean(_said(error))
        phrase = next((f" {each.phrase}" for each in HTTPStatus if each == status), "")
        message = f"{self._where()} answers {status}{phrase}: {said}"
        if status in {401, 403}:
            # Some endpoints answer 403 to what their moderation does not like: that is for this request only.
            fatal = status == 401 or not self._answered
            return Failure("http", f"{message}; check {self._key_shown()}", free=True, fatal=fatal)
        if status == 404:
            hint = f"check the model {self.model!r} and the address of the endpoint"
            return Failure("http", f"{message}; {hint}", free=True, fatal=True)
        if code in _USED_UP or status == 402:
            return Failure("http", f"{message}; check the account's quota", free=True, fatal=True)
        if status in {408, 409, 429} or status >= 500:
            wait = _retry_after(error.response.headers)
            return Failure("http", message, again=True, wait=wait, free=True)
        if code == "content_filter":
            return Failure("refused", f"the endpoint's content filter stopped the request: {said}", free=True)
        if code == "context_length_exceeded" or status == 413:
            return Failure("truncated", message, free=True)
        option = _option(error) if status in {400, 422} else None
        return Failure("http", message, free=True, refused_option=option)

    def _clean(self, text: str) -> str:
        """Return a message on one line, not long, and without the key."""
        line = " ".join(text.split())
        if key := self._sent_key():
            line = line.replace(key, "***")
        return line if len(line) <= _LONGEST_MESSAGE else f"{line[: _LONGEST_MESSAGE - 1]}…"

    def _sent_key(self) -> str:
        key = "" if self._client is None else str(self._client.api_key or "")
        return "" if key == _NOT_KEY else key

    def _where(self) -> str:
        parts = urlsplit(str(self.client().base_url))
        return str(parts.hostname) if parts.port is None else f"{parts.hostname}:{parts.port}"

    def _key_shown(self) -> str:
        if self.given is not None or self.api_key is not None:
            return "the key"
        name = self._key_name()
        return (
            f"the key in {_cut(name)}"
            if name is not None
            else "the key: none was sent, name its variable (api_key_env)"
        )


def _within(seconds: float, call: Callable[[], T], late: Exception) -> T:
    """Return what a function returns, or raise `late` after some seconds, whatever it waits for.

    It then goes on in a thread that nobody waits for, not even the interpreter at its end: an endpoint that
    sends its headers byte by byte keeps within every limit that the HTTP library knows.
    """
    ended: list[tuple[T | None, BaseException | None]] = []
    done = Event()

    def run() -> None:
        try:
            ended.append((call(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread that waits
            ended.append((None, error))
        finally:
            done.set()

    Thread(target=run, name="jsonmatch-judge-request", daemon=True).start()
    # Half a second more than the function takes itself, whose own errors say more.
    if not done.wait(seconds + min(0.5, seconds / 2)):
        raise late
    value, error = ended[0]
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


def _reply(body: bytes) -> Reply:
    """Return the first choice of a chat completion; a Failure if that is none."""
    try:
        found = json.loads(body)
        choice = found["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
        finish = choice.get("finish_reason")
        usage = found.get("usage")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        shown = " ".join(body[:100].decode("utf-8", "replace").split())
        raise Failure("invalid", f"the endpoint's answer is no chat completion: {shown!r}") from None
    spent = None
    if isinstance(usage, dict):
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        if all(type(count) is int and count >= 0 for count in counts):
            spent = Spent(*counts)  # type: ignore[arg-type]
    return Reply(
        content if isinstance(content, str) else "",
        finish if isinstance(finish, str) else "",
        refusal if isinstance(refusal, str) and refusal else None,
        spent,
    )


def _cut(name: str) -> str:
    """Return the name of a variable; one so long may be the key itself, put in the wrong place."""
    return name if len(name) <= _LONGEST_NAME or name.isupper() else f"{name[:6]}…"


def _said(error: openai.APIStatusError) -> str:
    """Return what an endpoint says of a status, without what its client puts around it."""
    body = error.body
    found = body.get("message") if isinstance(body, dict) else None
    text = found if isinstance(found, str) else error.message
    return text.removeprefix(f"Error code: {error.status_code} - ").strip() or "it does not say why"


def _option(error: openai.APIStatusError) -> str:
    """Return which option of a request a 400 is about, as far as it says."""
    said = f"{error.param} {_said(error)} {error.code}".lower()
    return next((name for name in ("temperature", "seed") if name in said), "structured")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds an endpoint wants to be left alone."""
    with suppress(ValueError):
        return _seconds(headers.get("retry-after-ms", "")) / 1000
    written = headers.get("retry-after", "")
    with suppress(ValueError):
        return _seconds(written)
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(written).timestamp() - time.time())
    return None


def _seconds(written: str) -> float:
    number = float(written)
    if math.isnan(number):
        raise ValueError(written)
    return max(0.0, number)
