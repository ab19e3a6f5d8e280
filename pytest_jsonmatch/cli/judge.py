"""`jsonmatch judge`: how reliable a judge's verdicts are."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE
from pytest_jsonmatch.cli.inputs import name_of
from pytest_jsonmatch.cli.judging import bench_of, name_of_judge, questions_at_once
from pytest_jsonmatch.cli.labels import Label, read_labels
from pytest_jsonmatch.cli.output import as_text, look_of, note_lines, write_output
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.progress import Progress
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.gate.agreement import Agreement, agreement_checks
from pytest_jsonmatch.gate.intervals import Interval, checked_confidence
from pytest_jsonmatch.report.agreement import Disagreement, agreement_blocks, disagreement_lines
from pytest_jsonmatch.report.checks import gate_lines
from pytest_jsonmatch.report.look import Look, joined
from pytest_jsonmatch.report.styled import DIM, RED, YELLOW, StyledLine
from pytest_jsonmatch.semantic.bench import Bench, Question, question_of, usage_text
from pytest_jsonmatch.semantic.judging import JudgeError, JudgeItem, JudgeUsage, Verdict

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.session import Check

_SHOWN: Final = 3
"""How many pairs without a verdict, and doubtful labels, are named."""


def calibrate(options: Namespace) -> int:
    """Run `jsonmatch judge calibrate`."""
    checked_confidence(options.confidence)
    labels = read_labels(options.labels)
    with plugins(options):
        found = _asked(bench_of(options), labels, options)
    checks = agreement_checks(
        found.table(),
        min_kappa=options.min_kappa,
        min_accuracy=options.min_accuracy,
        confidence=options.confidence,
        proven=options.proven,
    )
    if options.report == "json":
        look = replace(look_of(options), color=False)
        failed = [each for each in checks if not each.passed]
        sys.stderr.write(as_text(_check_lines(failed, found, look), look))
        write_output(_json(found, checks, options), options.output)
    else:
        look = look_of(options)
        write_output(as_text(_lines(found, checks, options, look), look), options.output)
    return FINE if all(check.passed for check in checks) and not found.unanswered else NOT_FINE


# -- asking ------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class _Judged:
    """The labels, with what the judge said of them."""

    name: str
    """Of the file."""
    judge: str | None
    """Its name; None of the one that is registered."""
    labels: Sequence[Label]
    answered: Sequence[tuple[Label, Verdict]]
    unanswered: Sequence[tuple[Label, JudgeError]]
    usage: JudgeUsage

    def table(self) -> Agreement:
        return Agreement.of((label.same, verdict.equivalent) for label, verdict in self.answered)

    def fields(self) -> dict[str, Agreement]:
        by_path: dict[str, list[tuple[bool, bool]]] = {}
        for label, verdict in self.answered:
            by_path.setdefault(label.item.path, []).append((label.same, verdict.equivalent))
        return {path: Agreement.of(pairs) for path, pairs in by_path.items()}

    def disagreed(self) -> list[tuple[Label, Verdict]]:
        return [(label, verdict) for label, verdict in self.answered if label.same != verdict.equivalent]

    def settled(self) -> list[Label]:
        """Return those that scoring decides without a judge."""
        return [label for label in self.labels if label.settled is not None]

    def doubtful(self) -> list[Label]:
        """Return those of them that people label differently."""
        return [label for label in self.settled() if label.same != label.settled]

    def twins(self) -> list[tuple[Label, Label]]:
        """Return labels that contradict an earlier one on the same question, with the earlier one."""
        firsts: dict[Question, Label] = {}
        asked = [label for label in self.labels if label.settled is None]
        pairs = [(label, firsts.setdefault(question_of(label.item), label)) for label in asked]
        return [(label, first) for label, first in pairs if first.same != label.same]


def _asked(bench: Bench, labels: Sequence[Label], options: Namespace) -> _Judged:
    """Ask the judge about every pair that scoring would ask about; equal questions are asked once."""
    asked = [label for label in labels if label.settled is None]
    answers = _answers(bench, [label.item for label in asked], questions_at_once(options))
    pairs = [(label, answers[label.item.id]) for label in asked]
    return _Judged(
        name_of(options.labels),
        name_of_judge(options),
        labels,
        [(label, answer) for label, answer in pairs if isinstance(answer, Verdict)],
        [(label, answer) for label, answer in pairs if not isinstance(answer, Verdict)],
        bench.memory.usage,
    )


def _answers(bench: Bench, items: Sequence[JudgeItem], size: int) -> dict[str, Verdict | JudgeError]:
    """Return an answer for each item; `size` items are asked at a time."""
    found: dict[str, Verdict | JudgeError] = {}
    with Progress(total=len(items), noun="pair") as progress:
        for start in range(0, len(items), size):
            found |= bench.ask(None, items[start : start + size])
            progress(len(found), len(items))
    return found


# -- text --------------------------------------------------------------------------------------------------


def _lines(found: _Judged, checks: Sequence[Check], options: Namespace, look: Look) -> list[StyledLine]:
    table = found.table()
    verdicts = count(table.number, "verdict") if table.number else "no verdict"
    judge = "the registered judge" if found.judge is None else f"judge {found.judge}"
    title = f"{judge} on {found.name}: {verdicts}"
    disagreed = [
        Disagreement(label.where, label.item, label.same, verdict.reason)
        for label, verdict in found.disagreed()
    ]
    blocks = [
        *agreement_blocks(table, found.fields(), look, title=title, confidence=options.confidence),
        disagreement_lines(disagreed, look),
        list(_notes(found, look)),
        _check_lines(checks, found, look),
    ]
    return joined(blocks)


def _check_lines(checks: Sequence[Check], found: _Judged, look: Look) -> list[StyledLine]:
    return gate_lines(checks, look, on=count(len(found.answered), "pair"))


def _notes(found: _Judged, look: Look) -> Iterator[StyledLine]:
    """Yield the notes beside the figures: pairs without a verdict, doubtful labels, usage."""
    errors = [f"{label.where}: {error}" for label, error in found.unanswered]
    doubts = [
        f"{label.where}: labelled {_word(label.same)}, but "
        f"{'the values are equal' if label.settled else 'one of the values is null'}"
        for label in found.doubtful()
    ]
    doubts += [
        f"{label.where}: labelled {_word(label.same)}, and line {first.item.id} "
        f"{_word(first.same)}: it is the same question"
        for label, first in found.twins()
    ]
    kinds = ("no verdict", errors, len(errors), RED), ("label", doubts, len(doubts), YELLOW)
    yield from note_lines(kinds, look, _SHOWN)
    notes = []
    if found.unanswered:
        number_of = Counter(error.kind for _, error in found.unanswered)
        named = ", ".join(f"{number:,} {kind}" for kind, number in number_of.most_common())
        notes.append(f"{count(len(found.unanswered), 'pair')} without a verdict ({named}): in no figure")
    if settled := found.settled():
        notes.append(
            f"{count(len(settled), 'pair')} of equal values or with a null: in no figure, "
            "since scoring decides them without a judge"
        )
    for note in (*(f"note: {each}" for each in notes), usage_text(found.usage)):
        yield from look.folded(note, 2, DIM)


def _word(same: bool) -> str:
    return "same" if same else "different"


# -- JSON --------------------------------------------------------------------------------------------------


def _json(found: _Judged, checks: Sequence[Check], options: Namespace) -> str:
    document = {
        "format": "jsonmatch-judge-calibration",
        "version": 1,
        "judge": found.judge,
        "labels": len(found.labels),
        "confidence": options.confidence,
        **_figures(found.table(), options.confidence),
        "fields": {path: _figures(table, options.confidence) for path, table in found.fields().items()},
        "disagreements": [
            {
                **_place(label),
                "expected": _writable(label.item.expected),
                "actual": _writable(label.item.actual),
                "label": label.same,
                "verdict": verdict.equivalent,
                "reason": verdict.reason,
            }
            for label, verdict in found.disagreed()
        ],
        "without_verdict": [
            {**_place(label), "kind": error.kind, "message": error.message}
            for label, error in found.unanswered
        ],
        "not_asked": [_place(label) for label in found.settled()],
        "doubtful_labels": [_place(label) for label in found.doubtful()]
        + [{**_place(label), "contradicts_line": int(first.item.id)} for label, first in found.twins()],
        "usage": asdict(found.usage),
        "limits": [{"limit": each.subject, "value": each.value, "passed": each.passed} for each in checks],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _figures(table: Agreement, confidence: float) -> dict[str, Any]:
    return {
        "pairs": table.number,
        "accuracy": _interval(table.accuracy_interval(confidence)),
        "kappa": _interval(table.kappa_interval(confidence)),
        "precision": table.precision,
        "recall": table.recall,
        "confusion": asdict(table),
    }


def _interval(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"value": found.estimate, "low": found.low, "high": found.high, "method": found.method}


def _writable(value: Any) -> Any:
    """Return a value, or its text where Python's encoder refuses it: nested too deep, a number too large."""
    try:
        json.dumps(value)
    except (RecursionError, TypeError):
        return render(value)
    return value


def _place(label: Label) -> dict[str, Any]:
    return {"line": int(label.item.id), "id": label.id, "path": label.item.path}
