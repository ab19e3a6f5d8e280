"""`jsonmatch study judge`: how reliable a judge's verdicts are."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.cli.agreement import agreement_blocks
from pytest_jsonmatch.cli.arguments import NOT_FINE, CommandError
from pytest_jsonmatch.cli.inputs import name_of, open_input, values_of_lines
from pytest_jsonmatch.cli.rules import judge_settings, judging
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.text import count, render, shortened
from pytest_jsonmatch.report.sheets import Rows, Sentence, Sheet, SheetCell
from pytest_jsonmatch.semantic.judging import JudgeItem, Verdict

if TYPE_CHECKING:
    from pytest_jsonmatch.report.sheets import AnySheetCell
    from pytest_jsonmatch.semantic.bench import Bench, JudgeAnswer
    from pytest_jsonmatch.study.agreement import AgreementStudy

_AT_ONCE: Final = 100
"""Ask about this many pairs in one call; its verdicts are in the cache, if any, before the next call."""
_WIDTH: Final = 300
_NEEDED: Final = frozenset({"expected", "actual", "label"})
_TEXTS: Final = ("path", "description", "criterion")
_SHOWN: Final = 60
_Label: TypeAlias = "tuple[JudgeItem, bool]"
"""A pair of values, whose id is its place as FILE:LINE, and whether people say that they mean the same."""


@final
@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair on which the judge and people disagree."""

    place: str
    path: str
    expected: str
    """As JSON text, as `actual` is."""
    actual: str
    label: bool
    """What people say; the judge says the opposite."""
    reason: str | None
    """The judge's reason."""


@final
@dataclass(frozen=True, slots=True)
class JudgeStudy:
    """How far a judge agrees with people."""

    judge: str | None
    """Its name; None for the registered one."""
    labels: int
    agreement: AgreementStudy
    """Between people and the judge; each label is a document."""
    disagreements: Sequence[Disagreement]
    """Pairs that only the judge calls the same come first: they are wrong answers that would pass."""
    without_verdict: Mapping[str, str]
    """Why a pair has none, by the place of its label."""
    settled: int
    """Pairs that scoring decides without a judge."""

    @property
    def figures(self) -> Mapping[str, float | None]:
        """The figures of all pairs, for gates."""
        return self.agreement.figures

    @property
    def by_field(self) -> Mapping[str, Mapping[str, float | None]]:
        """The figures of each field, for gates."""
        return self.agreement.by_field


def run(options: Namespace) -> int:
    """Run `jsonmatch study judge`."""
    from pytest_jsonmatch.study.agreement import FIGURES

    gates = study_gates(options, [name for name in FIGURES if not name.startswith("alpha")])
    labels = read_labels(options.labels)
    with judging(options) as judge:
        answers = _answers(judge, [item for item, _ in labels if _is_asked(item)])
    name = next(filter(None, map(judge_settings(options).get, ("model", "from", "cache"))), None)
    study = _compared(labels, answers, name)
    verdicts = count(study.agreement.documents, "verdict")
    judged = "the registered judge" if name is None else f"judge {name}"
    about = f"{judged} on {name_of(options.labels)}: {verdicts}"
    code = finish(options, study, _sheet(study, about), gates, on=verdicts)
    return NOT_FINE if study.without_verdict else code


def _is_asked(item: JudgeItem) -> bool:
    """Tell whether scoring asks a judge: it does not about equal values, nor about a null."""
    is_null = item.expected is None or item.actual is None
    return not is_null and not json_equal(item.expected, item.actual)


def _answers(judge: Bench, items: Sequence[JudgeItem]) -> dict[str, JudgeAnswer]:
    """Ask about all pairs that scoring would ask about; equal questions are asked once."""
    found: dict[str, JudgeAnswer] = {}
    for start in range(0, len(items), _AT_ONCE):
        found |= judge.ask(None, items[start : start + _AT_ONCE])
    return found


def _compared(labels: Sequence[_Label], answers: Mapping[str, JudgeAnswer], name: str | None) -> JudgeStudy:
    from pytest_jsonmatch.study.agreement import AgreementStudy, Ratings, figures_of

    fields: dict[str, Ratings] = {}
    disagreements: list[Disagreement] = []
    without: dict[str, str] = {}
    verdicts = 0
    for item, same in labels:
        answer = answers.get(item.id)
        if isinstance(answer, Verdict):
            said = [(label, label) for label in (same, answer.equivalent)]
            agrees = same == answer.equivalent
            fields.setdefault(item.path, Ratings()).add(verdicts, said, float(agrees), weight=1.0)
            verdicts += 1
            if not agrees:
                texts = render(item.expected), render(item.actual)
                disagreements.append(Disagreement(item.id, item.path, *texts, same, answer.reason))
        elif answer is not None:
            without[item.id] = str(answer)
    total, by_field = figures_of(fields, verdicts, is_of_two=True)
    return JudgeStudy(
        judge=name,
        labels=len(labels),
        agreement=AgreementStudy(("people", "judge"), verdicts, 0, total, by_field),
        disagreements=sorted(disagreements, key=lambda each: each.label),
        without_verdict=without,
        settled=len(labels) - len(answers),
    )


# -- labels ------------------------------------------------------------------------------------------------


def read_labels(written: str) -> list[_Label]:
    """Return the labels of a file of JSON Lines, or of standard input for "-".

    Raises:
        OSError: it can't be read.
        CommandError: a line is not a label, or the file has none; the message says where.
    """
    name = name_of(written)
    with open_input(written) as stream:
        labels = [_label(found, f"{name}:{line}") for line, found in values_of_lines(written, stream)]
    if not labels:
        raise CommandError(
            f"{name} has no labels: a line is an object with expected, actual and label (true or false)"
        )
    return labels


def _label(label: Any, place: str) -> _Label:
    is_label = type(label) is dict and label.keys() >= _NEEDED and label["label"] in (0, 1)
    if not is_label or not all(type(label.get(name)) in {str, type(None)} for name in _TEXTS):
        told = "expected, actual and label (true if they mean the same, else false)"
        more = "path, description and criterion, which it may have, are texts"
        raise CommandError(f"{place}: a label is an object with {told}; {more}; not {render(label, _SHOWN)}")
    path, *words = map(label.get, _TEXTS)
    # Tables and notebooks write labels as 1 and 1.0.
    return JudgeItem(place, path or "", label["expected"], label["actual"], *words), bool(label["label"])


# -- for people --------------------------------------------------------------------------------------------


def _sheet(study: JudgeStudy, about: str) -> Sheet:
    blocks = list(agreement_blocks(study.agreement)) if study.agreement.documents else []
    rows: list[list[AnySheetCell]] = [
        [
            pair.place,
            pair.path,
            SheetCell("different", "open") if pair.label else SheetCell("same", "bad"),
            shortened(pair.expected, _WIDTH),
            shortened(pair.actual, _WIDTH),
            pair.reason or "",
        ]
        for pair in study.disagreements
    ]
    texts = "field", "judge says", "expected", "actual", "reason"
    pairs = [[place, why] for place, why in study.without_verdict.items()]
    settled = f"{count(study.settled, 'pair')} left out: of equal values or with a null no judge is asked."
    return Sheet(
        "jsonmatch study judge",
        about,
        [
            *blocks,
            Rows(("label", *texts), rows, "Where they disagree", "disagreement", text=texts),
            Rows(("label", "why"), pairs, "Without a verdict, and in no figure", "pair", text={"why"}),
            Sentence(settled if study.settled else "", "faint"),
        ],
    )
