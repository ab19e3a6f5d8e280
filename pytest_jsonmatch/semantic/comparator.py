"""The comparator `semantic`: whether two values mean the same, according to a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from pytest_jsonmatch.engine.compare.base import BatchItem, ComparatorResult, batch_comparator
from pytest_jsonmatch.engine.compare.parameters import check_names
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.bench import Bench
from pytest_jsonmatch.semantic.judging import JudgeError, JudgeItem, Verdict

_PARAMETERS: Final = ("criterion", "judge")


@final
class _Semantic:
    """The registered comparator: one call for all questions of a chunk, answered by id."""

    scope = "chunk"
    short_circuit = True
    judged = True

    @staticmethod
    def check_params(params: Mapping[str, object]) -> None:
        """Refuse unknown parameters, and values that they cannot have."""
        check_names("comparator 'semantic'", params, _PARAMETERS)
        for name in _PARAMETERS:
            if name in params and not (isinstance(params[name], str) and str(params[name]).strip()):
                raise ConfigurationError(
                    f"comparator 'semantic': {name!r} must be a text, not {params[name]!r}"
                )

    def __call__(self, items: Sequence[BatchItem], judge: object = None) -> dict[str, Any]:
        bench = judge if isinstance(judge, Bench) else Bench(judge)
        asked: dict[str | None, list[JudgeItem]] = {}
        for item in items:
            question = JudgeItem(
                item.id,
                item.path,
                item.expected_compared,
                item.actual_compared,
                item.description,
                item.params.get("criterion"),
            )
            asked.setdefault(item.params.get("judge"), []).append(question)
        answers: dict[str, Any] = {}
        for name, questions in asked.items():
            for identity, answer in bench.ask(name, questions).items():
                answers[identity] = _score(answer)
        return answers


def _score(answer: Verdict | JudgeError) -> ComparatorResult | JudgeError:
    if isinstance(answer, Verdict):
        return ComparatorResult(float(answer.equivalent), reason=answer.reason)
    return answer


SEMANTIC: Final = batch_comparator("semantic", _Semantic())
"""Equal values match without a question; null against anything else is 0."""
