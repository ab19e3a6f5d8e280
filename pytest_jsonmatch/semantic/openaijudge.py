"""A language model as judge, at any endpoint with the chat-completions protocol."""

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
    assign_ids,
    make_messages,
    read_answer,
    write_question,
)
from pytest_jsonmatch.semantic.settings import check_setting, read_settings

if TYPE_CHECKING:
    import openai


_LONGEST_MESSAGE: Final = 300
_CONNECT_SECONDS: Final = 5.0
"""The time limit for connecting, which is shorter than the one for answering."""
_NO_KEY: Final = "no-key"
"""The key for endpoints without one, since the client requires a key."""
_RETRIED: Final = frozenset({"invalid", "missing", "refused", "truncated"})
"""The kinds of errors that one pair may cause for its whole batch; each pair is asked about again alone."""
_UNANSWERED: Final = frozenset({"budget", "connection", "http", "timeout"})
"""The kinds of errors that mean that the model did not answer."""
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
    """A judge that asks a language model, in batches, with the official `openai` client (the extra `judge`).

    The client is imported and connected at the first question. Every item gets a Verdict or a JudgeError.

    Args:
        model: the model's name at the endpoint (on Azure, the deployment's name).
        base_url: the endpoint, such as `http://localhost:11434/v1`; None for OpenAI's.
        api_key_env: the environment variable with the key; None: `OPENAI_API_KEY`, or no key if there is a
            `base_url`.
        client: a client of the `openai` package to use instead of these; its own timeout and retries apply.
        batch_size: the maximum number of pairs in a request.
        concurrency: the maximum number of requests at a time, over all threads.
        timeout: the seconds without a byte from the endpoint after which a request fails.
        retries: how often the client sends a request again after 408, 409, 429, 5xx, a cut connection or a
            timeout.
        max_calls: the maximum number of requests; a request that the client repeats counts once.
        structured: whether the endpoint is asked to constrain answers by a JSON Schema.
        temperature: the temperature; None for models that do not accept one.

    Raises:
        ConfigurationError: a setting has an invalid value. When asked: there is no key, or the extra is not
            installed.

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
        self._existing_client = client
        self._slots = BoundedSemaphore(self.concurrency)
        self._lock = Lock()
        self._usage = JudgeUsage()

    def __repr__(self) -> str:
        return f"OpenAIJudge({self.model!r})"

    @property
    def usage(self) -> JudgeUsage:
        """The usage so far."""
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
                questions.append(write_question(item))
            except JudgeError as error:
                answered[item.id] = error
        if questions:
            self._get_client()  # raises its errors before anything is sent
            answered.update(self._ask(list(self._make_batches(questions))))
        answers = {item.id: answered[item.id] for item in items}
        self._add_usage(errors=sum(isinstance(answer, JudgeError) for answer in answers.values()))
        return answers

    def _make_batches(self, questions: Iterable[WrittenQuestion]) -> Iterable[list[WrittenQuestion]]:
        batch: list[WrittenQuestion] = []
        length = 0
        for question in questions:
            if len(batch) == self.batch_size or (batch and length + len(question.text) > MAX_CHARACTERS):
                yield batch
                batch, length = [], 0
            batch.append(question)
            length += len(question.text)
        yield batch

    def _ask(self, batches: list[list[WrittenQuestion]]) -> _Answered:
        """Ask about batches, in as many threads as requests are allowed at a time."""
        answers: _Answered = {}
        failed: list[BaseException] = []
        remaining = iter(batches)  # shared by all threads

        def work() -> None:
            try:
                for batch in remaining:
                    if not failed:
                        answers.update(self._ask_batch(batch))
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
                failed.append(error)

        # Daemon threads, since the interpreter does not wait for them when it is interrupted.
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

    def _ask_batch(self, batch: list[WrittenQuestion]) -> _Answered:
        """Ask about a batch, and then once more about each item that has no verdict, one by one."""
        answered = self._ask_once(batch, attempt=0)
        # A batch of one pair that was refused or too long would fail again.
        retried = _RETRIED if len(batch) > 1 else {"invalid", "missing"}
        for question in [question for question in batch if _get_kind(answered[question.item.id]) in retried]:
            answer = self._ask_once([question], attempt=1)[question.item.id]
            if _get_kind(answer) not in _UNANSWERED:
                answered[question.item.id] = answer
        return answered

    def _ask_once(self, batch: list[WrittenQuestion], attempt: int) -> _Answered:
        """Ask about a batch in one request; an error of the whole request applies to each item."""
        questions = assign_ids(batch, attempt)
        try:
            replies = read_answer(self._request(questions, new=0 if attempt else len(batch)), questions)
        except JudgeError as error:
            return {question.item.id: error for question in batch}
        return {question.item.id: replies[name] for name, question in questions.items()}

    def _request(self, questions: Mapping[str, WrittenQuestion], new: int) -> str:
        """Send one request and return the model's text; raise a JudgeError if there is none."""
        with self._slots:
            with self._lock:
                if self.max_calls is not None and self._usage.calls >= self.max_calls:
                    raise JudgeError("budget", f"max_calls={self.max_calls} is used up")
                self._usage += JudgeUsage(calls=1, items=new)
            try:
                body = self._send(questions)
            except Exception as error:  # noqa: BLE001 - of the client, or of the HTTP library below it
                raise self._make_error(error) from None
        return self._read_content(body)

    def _send(self, questions: Mapping[str, WrittenQuestion]) -> bytes:
        """Send one request and return the body of the response."""
        options: dict[str, Any] = {} if self.temperature is None else {"temperature": self.temperature}
        if self.structured:
            schema = {"name": "verdicts", "strict": True, "schema": ANSWER_SCHEMA}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        create = self._get_client().chat.completions.with_raw_response.create
        prompt: Any = make_messages(questions)
        return create(model=self.model, messages=prompt, **options).content

    def _read_content(self, body: bytes) -> str:
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
            self._add_usage(**tokens)
        if refusal:
            raise JudgeError("refused", f"the model refuses to answer: {self._clean(str(refusal))}")
        if finish == "content_filter":
            raise JudgeError("refused", "the endpoint's content filter stopped the answer")
        if finish == "length":
            raise JudgeError("truncated", "the answer is cut off at its length limit")
        if not isinstance(content, str) or not content.strip():
            raise JudgeError("invalid", "the judge's answer is empty")
        return content

    def _make_error(self, error: Exception) -> JudgeError:
        """Return the JudgeError for an exception of the client, or of the HTTP library that it uses."""
        if isinstance(error, JudgeError):
            return error
        if "Timeout" in type(error).__name__:
            hint = "see the settings 'timeout' and 'retries'"
            return JudgeError("timeout", f"no answer from {self._get_host()} in time; {hint}")
        status, code = getattr(error, "status_code", None), getattr(error, "code", None)
        if status is None:
            cause = str(error.__cause__ or error) or type(error).__name__
            return JudgeError("connection", f"{self._get_host()}: {self._clean(cause)}")
        body = getattr(error, "body", None)
        reported = body.get("message") if isinstance(body, dict) else None
        message = self._clean(str(reported or error).strip())
        if code == "content_filter":
            return JudgeError("refused", f"the endpoint's content filter stopped the request: {message}")
        kind = "truncated" if code == "context_length_exceeded" or status == _TOO_LARGE else "http"
        hint = _HINTS.get(status, "")
        headers = error.response.headers if hasattr(error, "response") else {}
        if target := headers.get("location"):
            hint = (
                f"; it redirects to {self._clean(target)}, which is not followed: see the setting 'base_url'"
            )
        elif seconds := headers.get("retry-after"):
            hint = f"; its Retry-After is {self._clean(seconds)}"
        return JudgeError(kind, f"{self._get_host()} answers {status}: {message}{hint}")

    def _get_host(self) -> str:
        return self._get_client().base_url.netloc.decode()

    def _clean(self, text: str) -> str:
        """Return a message on one line, shortened and without the key."""
        line = " ".join(text.replace(str(self._get_client().api_key) or _NO_KEY, "***").split())
        return shorten(line, _LONGEST_MESSAGE)

    def _get_client(self) -> openai.OpenAI:
        """Return the client.

        Raises:
            ConfigurationError: the extra is not installed, or there is no key.
        """
        with self._lock:
            if self._existing_client is None:
                self._existing_client = self._make_client()
            return self._existing_client

    def _make_client(self) -> openai.OpenAI:
        if find_spec("openai") is None:
            raise ConfigurationError(
                "a language model as judge needs the extra 'judge': pip install 'pytest-jsonmatch[judge]'"
            )
        import openai as library

        timeout = library.Timeout(self.timeout, connect=min(_CONNECT_SECONDS, self.timeout))
        # Redirects are not followed, so that values and the key are sent to the configured endpoint only.
        http_client = library.DefaultHttpxClient(follow_redirects=False)
        weakref.finalize(self, http_client.close)  # the library closes only clients that it has created
        try:
            # The key is in no variable here: pytest --showlocals would show it if creating the client fails.
            return library.OpenAI(
                base_url=self.base_url,
                api_key=self._get_key(),
                timeout=timeout,
                max_retries=self.retries,
                http_client=http_client,
            )
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - of the client, or of the HTTP library below it
            raise ConfigurationError(f"the judge {self.model!r} can't make its client: {error}") from None

    def _get_key(self) -> str:
        if self.api_key_env is None and self.base_url is not None:
            return _NO_KEY
        name = self.api_key_env or "OPENAI_API_KEY"
        if key := os.environ.get(name, "").strip():
            return key
        raise ConfigurationError(
            f"the judge {self.model!r} has no key: set the environment variable {name}, or use verdicts "
            "from a cache (mode 'cached')"
        )

    def _add_usage(self, **counts: int) -> None:
        with self._lock:
            self._usage += JudgeUsage(**counts)


def _get_kind(answer: Verdict | JudgeError) -> str | None:
    return answer.kind if isinstance(answer, JudgeError) else None


def make_judge(given: Mapping[str, object]) -> Judge:
    """Return the judge that settings describe; its client is created at the first question.

    The mode `cached` needs neither network, key nor the extra `judge`. Without a model it replays the
    verdicts of any model.

    Args:
        given: as for `read_settings`.

    Raises:
        ConfigurationError: a setting has an invalid value, or the model or the cache is missing.

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
