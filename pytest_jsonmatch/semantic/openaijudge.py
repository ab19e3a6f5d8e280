"""A language model as judge, behind any endpoint that speaks the chat-completions protocol."""

from __future__ import annotations

import random
import time
from collections import deque
from contextlib import nullcontext, suppress
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import TYPE_CHECKING, Final, TypeAlias, final

from pytest_jsonmatch.semantic.answers import read_answer
from pytest_jsonmatch.semantic.budget import Budget, Prices, Spent
from pytest_jsonmatch.semantic.endpoint import Dialect, Endpoint, Failure
from pytest_jsonmatch.semantic.judging import JudgeError, JudgeUsage
from pytest_jsonmatch.semantic.making import JudgeSettings
from pytest_jsonmatch.semantic.prompts import MAX_CHARACTERS, messages, named, prompt_version, question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import openai

    from pytest_jsonmatch.semantic.endpoint import Reply
    from pytest_jsonmatch.semantic.judging import Answers, JudgeItem, Verdict
    from pytest_jsonmatch.semantic.making import Structured
    from pytest_jsonmatch.semantic.prompts import Question

__all__ = ["OpenAIJudge"]

_LONGEST_WAIT: Final = 60.0
_FIRST_WAIT: Final = 0.5
_GIVE_UP_AFTER: Final = 5

_Found: TypeAlias = "dict[str, Verdict | JudgeError]"


@final
class OpenAIJudge:
    """Asks a language model, in batches, over the official `openai` client (the extra `judge`).

    Nothing is imported and no connection is made before the first question. Every item ends as a Verdict or a
    JudgeError, in bounded time, whatever the endpoint does.

    Args:
        model: the model's name at the endpoint (for Azure that of the deployment).
        base_url: the endpoint, such as `http://localhost:11434/v1`; None: OpenAI's.
        api_key: the key; None: the one in the environment variable `api_key_env`.
        api_key_env: None: `OPENAI_API_KEY` (Azure: `AZURE_OPENAI_API_KEY`), but none for a `base_url`.
        azure_endpoint, api_version: a resource of Azure instead.
        client: a ready client of the `openai` package, instead of all these.
        batch_size: pairs in a request, at most.
        concurrency: requests under way at once, at most, of all threads.
        timeout: seconds for one request and its whole answer.
        retries: how often a request is sent again after 408, 409, 429, 5xx, a cut connection or a timeout.
        max_calls: budget in requests, retries included.
        max_tokens: budget in tokens, of prompts and answers.
        max_cost: budget in the currency of the prices, which it needs.
        price_per_million_prompt_tokens, price_per_million_completion_tokens: prices.
        structured: how the form of an answer is asked for: "json_schema", "json_object", "none", or "auto",
            the first of these that the endpoint takes.
        instructions: what the model is told beside the usual.
        seed: sent along where it is given.
        sleep: how it waits between two attempts.

    Raises:
        ConfigurationError: a setting is not what it can be. When it is asked: there is no key, or the extra
            is not installed.

    >>> judge = OpenAIJudge("gpt-4.1-mini", max_calls=100)
    >>> judge
    OpenAIJudge('gpt-4.1-mini')
    >>> judge.usage.calls
    0
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str | None = None,
        azure_endpoint: str | None = None,
        api_version: str | None = None,
        client: openai.OpenAI | None = None,
        batch_size: int = 20,
        concurrency: int = 4,
        timeout: float = 60.0,
        retries: int = 3,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price_per_million_prompt_tokens: float | None = None,
        price_per_million_completion_tokens: float | None = None,
        structured: Structured = "auto",
        instructions: str | None = None,
        seed: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = JudgeSettings(
            model=model,
            base_url=base_url,
            api_key_env=api_key_env,
            azure_endpoint=azure_endpoint,
            api_version=api_version,
            batch_size=batch_size,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_cost=max_cost,
            price_per_million_prompt_tokens=price_per_million_prompt_tokens,
            price_per_million_completion_tokens=price_per_million_completion_tokens,
            structured=structured,
            instructions=instructions,
            seed=seed,
        )
        self.model = model
        self.prompt = prompt_version(instructions)
        self._endpoint = Endpoint(
            model, base_url, azure_endpoint, api_version, api_key, api_key_env, given=client
        )
        self._prices = Prices(
            price_per_million_prompt_tokens or 0.0, price_per_million_completion_tokens or 0.0
        )
        self._budget = Budget(self._prices, max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
        self._sleep = sleep
        self._slots = BoundedSemaphore(concurrency)
        self._lock = Lock()
        self._usage = JudgeUsage()
        self._dialect = Dialect(
            "json_schema" if structured == "auto" else structured, fixed=structured != "auto"
        )
        # The first request is sent alone: what it learns of the endpoint the others need not find out.
        self._first = Lock()
        self._met = False
        self._failed_in_a_row = 0
        self._end: JudgeError | None = None

    def __repr__(self) -> str:
        return f"OpenAIJudge({self.model!r})"

    @property
    def usage(self) -> JudgeUsage:
        """What has been done so far."""
        with self._lock:
            return self._usage

    def close(self) -> None:
        """Close connections; the judge can be asked again."""
        self._endpoint.close()

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return for each item's id a Verdict, or the JudgeError that tells why there is none.

        Raises:
            ConfigurationError: there is no key, or the extra is not installed.
        """
        found: _Found = {}
        questions: list[Question] = []
        for item in items:
            try:
                questions.append(question(item))
            except JudgeError as error:
                found[item.id] = error
        if questions:
            self._endpoint.client()
            found.update(self._ask(list(self._batches(questions))))
        answers = {item.id: found[item.id] for item in items}
        self._count(errors=sum(isinstance(answer, JudgeError) for answer in answers.values()))
        return answers

    def _batches(self, questions: Iterable[Question]) -> Iterable[list[Question]]:
        batch: list[Question] = []
        length = 0
        for each in questions:
            if batch and (
                len(batch) == self._settings.batch_size or length + len(each.text) > MAX_CHARACTERS
            ):
                yield batch
                batch, length = [], 0
            batch.append(each)
            length += len(each.text)
        yield batch

    def _ask(self, batches: list[list[Question]]) -> _Found:
        """Ask about batches, as many at once as may be; an interrupt is not kept waiting."""
        waiting = deque(batches)
        stop = Event()
        ended: SimpleQueue[_Found | BaseException] = SimpleQueue()

        def work() -> None:
            while not stop.is_set():
                try:
                    batch = waiting.popleft()
                except IndexError:
                    return
                try:
                    ended.put(self._about(batch, stop))
                except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread that waits
                    ended.put(error)

        # Daemons: the interpreter does not wait for them when it is interrupted.
        for _ in range(min(self._settings.concurrency, len(batches))):
            Thread(target=work, name="jsonmatch-judge", daemon=True).start()
        found: _Found = {}
        try:
            for _ in batches:
                one = _next(ended)
                if isinstance(one, BaseException):
                    raise one
                found.update(one)
        finally:
            stop.set()
        return found

    def _about(self, batch: list[Question], stop: Event, attempt: int = 0) -> _Found:
        """Ask about one batch, and once more about what has no verdict that can be used."""
        try:
            reply, asked = self._exchange(batch, stop, attempt)
            verdicts = _read(reply, asked)
        except JudgeError as error:
            found: _Found = {each.item.id: error for each in batch}
            middle = len(batch) // 2
            worth = error.kind == "invalid" or (middle and error.kind in {"refused", "truncated"})
            parts = [batch[:middle], batch[middle:]] if worth else []
        else:
            found = {each.item.id: verdicts[name] for name, each in asked.items()}
            parts = [[each for each in batch if isinstance(found[each.item.id], JudgeError)]]
        for part in parts:
            if part and not attempt:
                found.update(_better(found, self._about(part, stop, attempt + 1)))
        return found

    def _exchange(
        self, questions: list[Question], stop: Event, attempt: int
    ) -> tuple[Reply, dict[str, Question]]:
        """Send a batch until it is answered, or there is no sense in it; a JudgeError says why."""
        asked = named(questions, attempt)
        content = messages(asked, self._settings.instructions)
        # A token for two bytes is more than almost any text has.
        size = sum(len(each["content"].encode("utf-8", "replace")) for each in content)
        estimate = Spent(size // 2 + 50, 60 * len(questions) + 60)
        new = 0 if attempt else len(questions)
        retry = 0
        while True:
            with nullcontext() if self._met else self._first:
                try:
                    return self._sent(content, estimate, stop, new), asked
                except Failure as failure:
                    last = not failure.again or retry == self._settings.retries
                    self._note(failure, last=last)
                    if last:
                        tries = f" (after {retry + 1} attempts)" if retry else ""
                        raise JudgeError(failure.kind, failure.message + tries) from None
                    wait = _pause(failure.wait, retry)
                finally:
                    self._met = True
            new = 0
            retry += 1
            self._sleep(wait)

    def _sent(self, content: list[dict[str, str]], estimate: Spent, stop: Event, new: int) -> Reply:
        """Send a request in the endpoint's dialect; one that is refused for an option is sent without it."""
        dialect = self._dialect
        refused: Failure | None = None
        while True:
            try:
                reply = self._send_once(content, dialect, estimate, stop, new)
            except Failure as failure:
                option = failure.refused_option
                if option is None:
                    raise
                # Refused for the last time, it is not for its options: the first refusal says more.
                refused = refused or failure
                if not dialect.has(option):
                    raise refused from None
                dialect = dialect.without(option)
                new = 0
            else:
                if refused is not None:
                    self._dialect = dialect
                return reply

    def _send_once(
        self, content: list[dict[str, str]], dialect: Dialect, estimate: Spent, stop: Event, new: int
    ) -> Reply:
        with self._slots:
            if self._end is not None:
                raise JudgeError(self._end.kind, self._end.message)
            if stop.is_set():
                raise JudgeError("connection", "interrupted before it was sent")
            self._budget.reserve(estimate)
            self._count(calls=1, items=new)
            spent: Spent | None = None
            try:
                options = dialect.options(self._settings.seed)
                reply = self._endpoint.send(content, options, self._settings.timeout)
            except Failure as failure:
                spent = Spent(0, 0) if failure.free else None
                raise
            else:
                spent = reply.spent
                self._failed_in_a_row = 0
            finally:
                self._budget.settle(estimate, spent)
        if spent is not None:
            self._count(
                prompt_tokens=spent.prompt_tokens,
                completion_tokens=spent.completion_tokens,
                cost=self._prices.of(spent.prompt_tokens, spent.completion_tokens),
            )
        return reply

    def _note(self, failure: Failure, *, last: bool) -> None:
        """Remember what will be so for every request: an endpoint that refuses us, or has gone."""
        if failure.fatal:
            self._end = JudgeError(failure.kind, failure.message)
        if not (last and failure.again):
            return
        with self._lock:
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= _GIVE_UP_AFTER:
                self._end = JudgeError(
                    failure.kind,
                    f"not asked, for {self._failed_in_a_row} requests in a row have failed with all their "
                    f"retries; the last one: {failure.message}",
                )

    def _count(self, **figures: float) -> None:
        with self._lock:
            self._usage += JudgeUsage(**figures)  # type: ignore[arg-type]


def _next(ended: SimpleQueue[_Found | BaseException]) -> _Found | BaseException:
    while True:
        # On Windows a wait without an end does not see Ctrl-C.
        with suppress(Empty):
            return ended.get(timeout=1)


def _read(reply: Reply, asked: Mapping[str, Question]) -> Mapping[str, Verdict | JudgeError]:
    """Return verdicts by the ids of a request; a JudgeError is for all of them."""
    if reply.refusal is not None:
        raise JudgeError("refused", f"the model does not answer: {' '.join(reply.refusal.split())[:300]}")
    if reply.finish == "content_filter":
        raise JudgeError("refused", "the endpoint's content filter stopped the answer")
    if reply.finish == "length":
        raise JudgeError("truncated", "the answer ends at the limit of its length")
    if not reply.content.strip():
        raise JudgeError("invalid", "the judge's answer is empty")
    return read_answer(reply.content, asked)


def _better(before: _Found, after: _Found) -> _Found:
    """Return what the second answer says, but for items that it never came to."""
    passed = {"budget", "connection", "http", "timeout"}
    return {
        name: before[name] if isinstance(answer, JudgeError) and answer.kind in passed else answer
        for name, answer in after.items()
    }


def _pause(wanted: float | None, retry: int) -> float:
    """Return how long to wait: as the endpoint wants, or twice as long as the last time; a minute at most."""
    if wanted is not None:
        return min(wanted, _LONGEST_WAIT)
    spread = random.uniform(0.5, 1.0)  # noqa: S311 - so that many that failed at once do not come back at once
    return min(_FIRST_WAIT * 2.0**retry, _LONGEST_WAIT) * spread
