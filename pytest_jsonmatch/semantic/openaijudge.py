"""A language model as judge, behind any endpoint that speaks the chat-completions protocol."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, fields
from importlib.util import find_spec
from threading import BoundedSemaphore, Lock, Thread
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import shorten
from pytest_jsonmatch.semantic.cache import CachedJudge
from pytest_jsonmatch.semantic.judging import Answers, Judge, JudgeError, JudgeItem, JudgeUsage, Verdict
from pytest_jsonmatch.semantic.prompts import (
    ANSWER_SCHEMA,
    MAX_CHARACTERS,
    PROMPT_VERSION,
    WrittenQuestion,
    messages,
    named,
    question,
    read_answer,
)
from pytest_jsonmatch.semantic.settings import check_setting, read_settings

if TYPE_CHECKING:
    import openai


_LONGEST_MESSAGE: Final = 300
_CONNECT_SECONDS: Final = 5.0
"""The time to connect is shorter than the time to answer."""
_NO_KEY: Final = "no-key"
"""The client insists on a key."""
_ASKED_AGAIN: Final = frozenset({"invalid", "missing", "refused", "truncated"})
"""The kinds of errors of a batch that may be due to one of its pairs."""
_UNANSWERED: Final = frozenset({"budget", "connection", "http", "timeout"})
"""The kinds of errors after which there is no answer of the model."""
_TOO_LARGE: Final = 413
_HINTS: Final = {
    400: "; if the model does not support this option, see the settings 'structured' and 'temperature'",
    401: "; check the key",
    404: "; check the name of the model and the address of the endpoint",
}

_Answered: TypeAlias = "dict[str, Verdict | JudgeError]"


@final
@dataclass(eq=False, repr=False, kw_only=True)
class OpenAIJudge:
    """Asks a language model, in batches, over the official `openai` client (the extra `judge`).

    Nothing is imported and no connection is made before the first question. Every item gets a Verdict or a
    JudgeError.

    Args:
        model: the model's name at the endpoint (on Azure, the deployment's name).
        base_url: the endpoint, such as `http://localhost:11434/v1`; None: OpenAI's.
        api_key_env: the environment variable with the key; None: `OPENAI_API_KEY`, or no key if there is a
            `base_url`.
        client: a ready client of the `openai` package instead of the above; its timeout and retries count.
        batch_size: at most this many pairs are in a request.
        concurrency: at most this many requests are under way at once, over all threads.
        timeout: seconds without a byte from the endpoint after which a request fails.
        retries: how often the client sends a request again after 408, 409, 429, 5xx, a cut connection or a
            timeout.
        max_calls: budget in requests; those that the client sends again count once.
        structured: whether the endpoint is asked to hold answers to a JSON Schema.
        temperature: None for models that accept none.

    Raises:
        ConfigurationError: a setting has a value that it cannot have. When it is asked: there is no key, or
            the extra is not installed.

    >>> judge = OpenAIJudge("gpt-4.1-mini", max_calls=100)
    >>> judge
    OpenAIJudge('gpt-4.1-mini')
    >>> judge.usage.calls
    0
    """

    model: str = field(kw_only=False)
    base_url: str | None = None
    api_key_env: str | None = None
    client: InitVar[openai.OpenAI | None] = None
    batch_size: int = 20
    concurrency: int = 4
    timeout: float = 60.0
    retries: int = 2
    max_calls: int | None = None
    structured: bool = True
    temperature: float | None = 0.0

    def __post_init__(self, client: openai.OpenAI | None) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if value is not None or setting.default is not None:
                check_setting(setting.name, value)
        self.prompt = PROMPT_VERSION
        self._made = client
        self._slots = BoundedSemaphore(self.concurrency)
        self._lock = Lock()
        self._usage = JudgeUsage()

    def __repr__(self) -> str:
        return f"OpenAIJudge({self.model!r})"

    @property
    def usage(self) -> JudgeUsage:
        """What has been done so far."""
        with self._lock:
            return self._usage

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return a Verdict for each item's id, or the JudgeError that explains why there is none.

        Raises:
            ConfigurationError: there is no key, or the extra is not installed.
        """
        answered: _Answered = {}
        questions: list[WrittenQuestion] = []
        for item in items:
            try:
                questions.append(question(item))
            except JudgeError as error:
                answered[item.id] = error
        if questions:
            self._client()  # raises what is wrong with it before anything is sent
            answered.update(self._ask(list(self._batches(questions))))
        answers = {item.id: answered[item.id] for item in items}
        self._count(errors=sum(isinstance(answer, JudgeError) for answer in answers.values()))
        return answers

    def _batches(self, questions: Iterable[WrittenQuestion]) -> Iterable[list[WrittenQuestion]]:
        batch: list[WrittenQuestion] = []
        length = 0
        for asked in questions:
            if len(batch) == self.batch_size or (batch and length + len(asked.text) > MAX_CHARACTERS):
                yield batch
                batch, length = [], 0
            batch.append(asked)
            length += len(asked.text)
        yield batch

    def _ask(self, batches: list[list[WrittenQuestion]]) -> _Answered:
        """Ask about batches, in as many threads as there may be requests at once."""
        answers: _Answered = {}
        failed: list[BaseException] = []
        waiting = iter(batches)  # which all threads share

        def work() -> None:
            try:
                for batch in waiting:
                    if not failed:
                        answers.update(self._about(batch))
            except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread that waits
                failed.append(error)

        # Daemons: the interpreter does not wait for them when it is interrupted.
        threads = [
            Thread(target=work, name="jsonmatch-judge", daemon=True)
            for _ in range(min(self.concurrency, len(batches)))
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(1)  # on Windows a wait without a timeout ignores Ctrl-C
        except BaseException as error:
            failed.append(error)  # so that nothing more is sent
            raise
        if failed:
            raise failed[0]
        return answers

    def _about(self, batch: list[WrittenQuestion]) -> _Answered:
        """Ask about a batch, and once more about each item without a verdict, one by one."""
        answered = self._once(batch, attempt=0)
        # A single pair that is refused or too long would fail again.
        again = _ASKED_AGAIN if len(batch) > 1 else {"invalid", "missing"}
        for asked in [each for each in batch if _kind(answered[each.item.id]) in again]:
            second = self._once([asked], attempt=1)[asked.item.id]
            if _kind(second) not in _UNANSWERED:
                answered[asked.item.id] = second
        return answered

    def _once(self, batch: list[WrittenQuestion], attempt: int) -> _Answered:
        """Ask about a batch in one request; an error of the whole request applies to each item."""
        asked = named(batch, attempt)
        try:
            said = read_answer(self._answer(asked, new=0 if attempt else len(batch)), asked)
        except JudgeError as error:
            return {each.item.id: error for each in batch}
        return {each.item.id: said[name] for name, each in asked.items()}

    def _answer(self, asked: Mapping[str, WrittenQuestion], new: int) -> str:
        """Send one request and return what the model writes; raise a JudgeError if there is nothing."""
        with self._slots:
            with self._lock:
                if self.max_calls is not None and self._usage.calls >= self.max_calls:
                    raise JudgeError("budget", f"max_calls={self.max_calls} is used up")
                self._usage += JudgeUsage(calls=1, items=new)
            try:
                body = self._sent(asked)
            except Exception as error:  # noqa: BLE001 - of the client, or of the HTTP library below it
                raise self._failure(error) from None
        return self._content(body)

    def _sent(self, asked: Mapping[str, WrittenQuestion]) -> bytes:
        """Send one request and return the endpoint's answer."""
        options: dict[str, Any] = {} if self.temperature is None else {"temperature": self.temperature}
        if self.structured:
            schema = {"name": "verdicts", "strict": True, "schema": ANSWER_SCHEMA}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        create = self._client().chat.completions.with_raw_response.create
        asked_for: Any = messages(asked)
        return create(model=self.model, messages=asked_for, **options).content

    def _content(self, body: bytes) -> str:
        """Return the model's text in a chat completion; raise a JudgeError if there is none."""
        try:
            completion = json.loads(body)
            choice = completion["choices"][0]
            content, refusal = choice["message"].get("content"), choice["message"].get("refusal")
            finish, usage = choice.get("finish_reason"), dict(completion.get("usage") or {})
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
            shown = self._clean(body.decode("utf-8", "replace"))
            raise JudgeError("invalid", f"the endpoint's answer is not a chat completion: {shown}") from None
        tokens: dict[str, Any] = {name: usage.get(name) for name in ("prompt_tokens", "completion_tokens")}
        if all(type(number) is int and number >= 0 for number in tokens.values()):
            self._count(**tokens)
        if refusal:
            raise JudgeError("refused", f"the model refuses to answer: {self._clean(str(refusal))}")
        if finish == "content_filter":
            raise JudgeError("refused", "the endpoint's content filter stopped the answer")
        if finish == "length":
            raise JudgeError("truncated", "the answer is cut off at its length limit")
        if not isinstance(content, str) or not content.strip():
            raise JudgeError("invalid", "the judge's answer is empty")
        return content

    def _failure(self, error: Exception) -> JudgeError:
        """Return the JudgeError for an exception of the client, or of the HTTP library that it uses."""
        if isinstance(error, JudgeError):
            return error
        if "Timeout" in type(error).__name__:
            hint = "see the settings 'timeout' and 'retries'"
            return JudgeError("timeout", f"no answer from {self._where()} in time; {hint}")
        status, code = getattr(error, "status_code", None), getattr(error, "code", None)
        if status is None:
            because = str(error.__cause__ or error) or type(error).__name__
            return JudgeError("connection", f"{self._where()}: {self._clean(because)}")
        body = getattr(error, "body", None)
        said = body.get("message") if isinstance(body, dict) else None
        told = self._clean(str(said or error).strip())
        if code == "content_filter":
            return JudgeError("refused", f"the endpoint's content filter stopped the request: {told}")
        kind = "truncated" if code == "context_length_exceeded" or status == _TOO_LARGE else "http"
        hint = _HINTS.get(status, "")
        headers = error.response.headers if hasattr(error, "response") else {}
        if target := headers.get("location"):
            hint = (
                f"; it redirects to {self._clean(target)}, which is not followed: see the setting 'base_url'"
            )
        elif seconds := headers.get("retry-after"):
            hint = f"; its Retry-After is {self._clean(seconds)}"
        return JudgeError(kind, f"{self._where()} answers {status}: {told}{hint}")

    def _where(self) -> str:
        return self._client().base_url.netloc.decode()

    def _clean(self, text: str) -> str:
        """Return a message on one line, shortened, and without the key."""
        line = " ".join(text.replace(str(self._client().api_key) or _NO_KEY, "***").split())
        return shorten(line, _LONGEST_MESSAGE)

    def _client(self) -> openai.OpenAI:
        """Return the client.

        Raises:
            ConfigurationError: the extra is not installed, or there is no key.
        """
        with self._lock:
            if self._made is None:
                self._made = self._new_client()
            return self._made

    def _new_client(self) -> openai.OpenAI:
        if find_spec("openai") is None:
            raise ConfigurationError(
                "a language model as judge needs the extra 'judge': pip install 'pytest-jsonmatch[judge]'"
            )
        import openai as library

        timeout = library.Timeout(self.timeout, connect=min(_CONNECT_SECONDS, self.timeout))
        # Values and the key are sent to the configured endpoint only.
        http_client = library.DefaultHttpxClient(follow_redirects=False)
        weakref.finalize(self, http_client.close)  # the library closes only clients that it makes
        try:
            # No variable here has the key: pytest --showlocals would show it if the client can't be made.
            return library.OpenAI(
                base_url=self.base_url,
                api_key=self._key(),
                timeout=timeout,
                max_retries=self.retries,
                http_client=http_client,
            )
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - of the client, or of the HTTP library below it
            raise ConfigurationError(f"the judge {self.model!r} can't make its client: {error}") from None

    def _key(self) -> str:
        if self.api_key_env is None and self.base_url is not None:
            return _NO_KEY
        name = self.api_key_env or "OPENAI_API_KEY"
        if key := os.environ.get(name, "").strip():
            return key
        raise ConfigurationError(
            f"the judge {self.model!r} has no key: set the environment variable {name}, or take verdicts "
            "from a cache (mode 'cached')"
        )

    def _count(self, **figures: int) -> None:
        with self._lock:
            self._usage += JudgeUsage(**figures)


def _kind(answer: Verdict | JudgeError) -> str | None:
    return answer.kind if isinstance(answer, JudgeError) else None


def make_judge(given: Mapping[str, object]) -> Judge:
    """Return the judge that settings describe; its client is made when it is first asked.

    The mode `cached` needs no network, no key and not the extra `judge`. Without a model it replays the
    verdicts of any model.

    Args:
        given: as for `read_settings`.

    Raises:
        ConfigurationError: a setting has a value that it cannot have, or the model or the cache is missing.

    >>> make_judge({"model": "gpt-4.1-mini", "cache": "verdicts.jsonl", "mode": "cached"})
    CachedJudge(OpenAIJudge('gpt-4.1-mini'), mode='cached')
    """
    settings = read_settings(given)
    model, mode = settings.pop("model", None), settings.pop("mode", "live")
    cache = settings.pop("cache", None)
    if mode == "cached" and cache is None:
        raise ConfigurationError("the mode 'cached' needs a cache: name the file of verdicts")
    if model is None:
        if mode == "cached":
            return CachedJudge(None, cache)
        raise ConfigurationError("the judge needs a model: name one, such as 'gpt-4.1-mini'")
    judge = OpenAIJudge(model, **settings)
    return judge if cache is None else CachedJudge(judge, cache, mode=mode)
