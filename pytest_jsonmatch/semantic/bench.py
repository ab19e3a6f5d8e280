"""The judges of a run: find the judge of a field when it is needed, and ask equal questions once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

from pytest_jsonmatch.engine.comparators.base import BatchItem, ComparatorResult, batch_comparator
from pytest_jsonmatch.engine.comparators.parameters import check_names
from pytest_jsonmatch.engine.plan.registry import get_active_registry
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError, choose_words, format_error
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.semantic.judging import CallableJudge, Judge, JudgeError, JudgeItem, JudgeUsage, Verdict

if TYPE_CHECKING:
    from pytest_jsonmatch.semantic.settings import JudgeMode

JudgeAnswer: TypeAlias = "Verdict | JudgeError"
JudgeQuestion: TypeAlias = "tuple[Hashable, ...]"
"""An item without its id."""


def as_judge(given: object) -> Judge:
    """Return an object with `judge(items)` unchanged, or a judge made from a function of one item.

    Raises:
        ConfigurationError: `given` is neither.

    >>> as_judge(lambda item: True).usage.items
    0
    """
    if not isinstance(given, type):
        if callable(getattr(given, "judge", None)):
            return cast("Judge", given)
        if callable(given):
            return CallableJudge(given)
    raise ConfigurationError(
        "judge must be an object with judge(items), a function of one item, or the name of a registered "
        f"judge, got {given!r}"
    )


@final
class Memory:
    """The verdicts of one run; safe to use from several threads.

    Verdicts are kept for the whole run. A question without a verdict is asked again if it recurs. If threads
    ask the same question at the same time, each may ask the judge; the first verdict counts for all.

    >>> from pytest_jsonmatch.semantic.judging import JudgeItem
    >>> memory, judge = Memory(), CallableJudge(lambda item: True)
    >>> items = [JudgeItem(number, "city", "NYC", "New York") for number in "12"]
    >>> sorted(memory.ask(judge, items)), judge.usage.items, memory.usage.items
    (['1', '2'], 1, 1)
    """

    __slots__ = ("_judges", "_lock", "errors")

    def __init__(self) -> None:
        self._lock = Lock()
        self._judges: dict[int, _AskedJudge] = {}
        """Judges by the id of the object given; the object is kept, so that its id is not reused."""
        self.errors: int = 0
        """The number of items refused without asking a judge."""

    @property
    def usage(self) -> JudgeUsage:
        """The total usage of the judges in this run."""
        usages = (_get_usage(asked.judge) - asked.before for asked in list(self._judges.values()))
        return sum(usages, JudgeUsage(errors=self.errors))

    def ask(
        self, given: object, items: Sequence[JudgeItem], mode: JudgeMode | None = None
    ) -> dict[str, JudgeAnswer]:
        """Return the judge's answer for each item's id; equal questions are asked once.

        Args:
            given: a judge, or a function of one item.
            items: the items, with distinct ids.
            mode: the mode for a judge with a method `in_mode`; None for the judge's own mode.
        """
        asked = self._find_asked(given, mode)
        questions = {item.id: make_question(item) for item in items}
        new: dict[JudgeQuestion, JudgeItem] = {}
        for item in items:
            if (question := questions[item.id]) not in asked.verdicts:
                new.setdefault(question, item)
        answers = self._ask_new(asked, new) if new else {}
        return {name: asked.verdicts.get(key) or answers[key] for name, key in questions.items()}

    def _find_asked(self, given: object, mode: JudgeMode | None) -> _AskedJudge:
        with self._lock:
            if id(given) not in self._judges:
                judge = as_judge(given)
                if mode is not None and callable(in_mode := getattr(judge, "in_mode", None)):
                    judge = in_mode(mode)
                self._judges[id(given)] = _AskedJudge(given, judge, _get_usage(judge))
            return self._judges[id(given)]

    @staticmethod
    def _ask_new(
        asked: _AskedJudge, new: Mapping[JudgeQuestion, JudgeItem]
    ) -> dict[JudgeQuestion, JudgeAnswer]:
        """Ask new questions, keep the verdicts, and return all answers."""
        replies: object
        try:
            replies = asked.judge.judge(list(new.values()))
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - a user's judge: its failure becomes the items' error
            failure = JudgeError("invalid", f"the judge raised {format_error(error)}")
            replies = {item.id: failure for item in new.values()}
        answers = {question: _check_answer(replies, item.id) for question, item in new.items()}
        for question, answer in answers.items():
            if isinstance(answer, Verdict):
                asked.verdicts.setdefault(question, answer)
        return answers


@final
@dataclass(slots=True)
class _AskedJudge:
    """A judge, its usage before the run, and its verdicts in the run."""

    given: object
    judge: Judge
    before: JudgeUsage
    """The judge's usage before the run."""
    verdicts: dict[JudgeQuestion, Verdict] = field(default_factory=dict)


def _check_answer(answers: object, number: str) -> JudgeAnswer:
    try:
        answer = cast("Mapping[str, object]", answers)[number]
    except (KeyError, TypeError, IndexError):
        return JudgeError("missing", "the judge gave no answer for this item")
    if isinstance(answer, JudgeError) or (
        isinstance(answer, Verdict) and isinstance(cast("object", answer.equivalent), bool)
    ):
        return answer
    return JudgeError("invalid", f"the judge answered {answer!r}, which is not a Verdict")


def make_question(item: JudgeItem) -> JudgeQuestion:
    """Return a key for the question about an item; questions with equal keys are asked once."""
    values = (make_json_key(value, strict=True) for value in (item.expected, item.actual))
    return item.path, item.description, item.criterion, *values


def _get_usage(judge: object) -> JudgeUsage:
    usage = getattr(judge, "usage", None)
    return usage if isinstance(usage, JudgeUsage) else JudgeUsage()


@final
class Bench:
    """Selects the judge for each question and asks it.

    Args:
        given: a judge, a function of one item, or the name of a registered judge; None for the default.
        default: returns the judge for questions that name none, if `given` is None; it may return None.
        memory: the memory of the run.
        mode: "cached": verdicts come from cache files only. "live": a judge with a cache is asked about
            questions that are not in the cache, whatever its own mode. None: each judge's own mode.

    The order of precedence is: the judge that a field names, `given`, the result of `default`, and the
    registered judge.

    >>> from pytest_jsonmatch.semantic.judging import JudgeItem
    >>> Bench(lambda item: True).ask(None, [JudgeItem("1", "city", "NYC", "New York")])
    {'1': Verdict(equivalent=True, reason=None)}
    """

    __slots__ = ("_default", "_given", "_mode", "memory")

    def __init__(
        self,
        given: object = None,
        *,
        default: Callable[[], object] | None = None,
        memory: Memory | None = None,
        mode: JudgeMode | None = None,
    ) -> None:
        if given is not None and not isinstance(given, str):
            as_judge(given)
        self._given = given
        self._default = default
        self._mode = mode
        self.memory: Memory = Memory() if memory is None else memory

    def __reduce__(self) -> tuple[object, ...]:
        # Another process has its own memory and its own registry.
        given = self._given if self._given is not None or self._default is None else self._default()
        return partial(Bench, given, mode=self._mode), ()

    def ask(self, name: str | None, items: Sequence[JudgeItem]) -> dict[str, JudgeAnswer]:
        """Return the answer for each item's id.

        Args:
            name: the judge that the fields name; None for the default judge.
            items: the items, with distinct ids.

        Raises:
            ConfigurationError: there is no judge, or no judge of that name.
        """
        judge = self.judge(name)
        if self._mode == "cached" and not callable(getattr(judge, "in_mode", None)):
            reason = (
                "this judge keeps no verdicts; wrap it in CachedJudge(judge, FILE), or ask it in mode 'live'"
            )
            self.memory.errors += len(items)
            return {item.id: JudgeError("cache miss", reason) for item in items}
        return self.memory.ask(judge, items, self._mode)

    def judge(self, name: str | None = None) -> object:
        """Return the judge with a name, or the judge for questions that name none."""
        registry = get_active_registry()
        requested = self._given if name is None else name
        if isinstance(requested, str):
            return registry.find_judge(requested)
        if requested is None and self._default is not None:
            requested = self._default()
        judge = registry.find_judge() if requested is None else requested
        if judge is None:
            remedy = choose_words(
                "register one, or pass judge=...; in pytest set jsonmatch_judge",
                "give --judge or -p MODULE",
                "register one, or set jsonmatch_judge",
            )
            raise ConfigurationError(f"no judge is configured: {remedy} (docs/judge.md)")
        return judge


def format_usage(usage: JudgeUsage) -> str:
    """Return the usage of judges as one line.

    >>> format_usage(JudgeUsage(calls=2, items=30, cached=4, prompt_tokens=900, completion_tokens=80))
    'judge: 2 calls, 30 items, 4 from cache, 980 tokens'
    """
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = {
        count(usage.calls, "call"): True,
        count(usage.items, "item"): usage.items,
        f"{usage.cached:,} from cache": usage.cached,
        count(tokens, "token"): tokens,
        count(usage.errors, "error"): usage.errors,
    }
    return f"judge: {', '.join(part for part, number in parts.items() if number)}"


# -- the comparator `semantic`: whether two values have the same meaning, according to a judge --------------

_PARAMETERS: Final = ("criterion", "judge")


@final
class _Semantic:
    """The registered comparator, called once for all questions of a chunk; answers are keyed by id."""

    scope = "chunk"
    short_circuit = True
    judged = True

    @staticmethod
    def check_params(params: Mapping[str, object]) -> None:
        """Raise a ConfigurationError for unknown parameters and invalid values."""
        check_names("comparator 'semantic'", params, _PARAMETERS)
        for name in _PARAMETERS:
            if name in params and not (isinstance(params[name], str) and str(params[name]).strip()):
                raise ConfigurationError(
                    f"comparator 'semantic': {name!r} must be text, got {params[name]!r}"
                )

    def __call__(self, items: Sequence[BatchItem], judge: object = None) -> dict[str, Any]:
        bench = judge if isinstance(judge, Bench) else Bench(judge)
        by_judge: dict[str | None, list[JudgeItem]] = {}
        for item in items:
            values = item.expected_compared, item.actual_compared
            question = JudgeItem(item.id, item.path, *values, item.description, item.params.get("criterion"))
            by_judge.setdefault(item.params.get("judge"), []).append(question)
        return {
            identity: _to_result(answer)
            for name, questions in by_judge.items()
            for identity, answer in bench.ask(name, questions).items()
        }


def _to_result(answer: Verdict | JudgeError) -> ComparatorResult | JudgeError:
    if isinstance(answer, Verdict):
        return ComparatorResult(float(answer.equivalent), reason=answer.reason)
    return answer


SEMANTIC: Final = batch_comparator("semantic", _Semantic())
"""The comparator `semantic`; equal values match without a question, and null against another value is 0."""
