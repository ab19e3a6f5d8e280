"""`jsonmatch study judge`: how reliable a judge's verdicts are."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.cli.arguments import NOT_FINE, CommandError
from pytest_jsonmatch.cli.inputs import name_of, open_input, values_of_lines
from pytest_jsonmatch.cli.rules import judging
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.corpus.progress import Progress
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import nearest
from pytest_jsonmatch.engine.value.text import count, render, shortened
from pytest_jsonmatch.gate.agreement import Agreement
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.sheets import Block, Cell, Figure, Figures, Rows, Said, Sheet
from pytest_jsonmatch.semantic.judging import JudgeItem, Verdict

if TYPE_CHECKING:
    from pytest_jsonmatch.report.sheets import AnyCell
    from pytest_jsonmatch.semantic.bench import Answer, Bench

_AT_ONCE: Final = 100
"""Ask about this many pairs in one call; its verdicts are in the cache, if any, before the next call."""
_WIDTH: Final = 300
_COUNTED: Final = {
    "pairs": ("pairs", 0),
    "true_same": ("same", 4),
    "true_different": ("different", 3),
    "false_same": ("false same", 0),
    "false_different": ("false different", 1),
}
"""The column titles of counts of pairs, and how well each column can be spared."""
_NEEDED: Final = ("expected", "actual", "label")
_TEXTS: Final = ("path", "description", "criterion")
_SHOWN: Final = 60
_Values: TypeAlias = "Mapping[str, float | None]"
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
class Calibration:
    """How far a judge agrees with people."""

    judge: str | None
    """Its name; None for the registered one."""
    labels: int
    confidence: float
    figures: _Values
    by_field: Mapping[str, _Values]
    disagreements: Sequence[Disagreement]
    """Pairs that only the judge calls the same come first: they are wrong answers that would pass."""
    without_verdict: Mapping[str, str]
    """Why a pair has none, by the place of its label."""
    settled: int
    """Pairs that scoring decides without a judge."""


def run(options: Namespace) -> int:
    """Run `jsonmatch study judge`."""
    gates = study_gates(options, _figures(Agreement(), options.confidence))
    labels = read_labels(options.labels)
    with judging(options) as judge:
        answers = _answers(judge, [item for item, _ in labels if _is_asked(item)])
    found = _calibration(labels, answers, options)
    verdicts = len(answers) - len(found.without_verdict)
    judged = "the registered judge" if found.judge is None else f"judge {found.judge}"
    about = f"{judged} on {name_of(options.labels)}: {count(verdicts, 'verdict')}"
    code = finish(options, found, _sheet(found, about), gates, on=count(verdicts, "pair"))
    return NOT_FINE if found.without_verdict else code


def _is_asked(item: JudgeItem) -> bool:
    """Tell whether scoring asks a judge: it does not about equal values, nor about a null."""
    is_null = item.expected is None or item.actual is None
    return not is_null and not json_equal(item.expected, item.actual)


def _answers(judge: Bench, items: Sequence[JudgeItem]) -> dict[str, Answer]:
    """Ask about all pairs that scoring would ask about; equal questions are asked once."""
    found: dict[str, Answer] = {}
    with Progress(total=len(items), noun="pair") as progress:
        for start in range(0, len(items), _AT_ONCE):
            found |= judge.ask(None, items[start : start + _AT_ONCE])
            progress(len(found), len(items))
    return found


def _calibration(labels: Sequence[_Label], answers: Mapping[str, Answer], options: Namespace) -> Calibration:
    said: dict[str, list[tuple[bool, bool]]] = {}
    disagreements: list[Disagreement] = []
    without: dict[str, str] = {}
    for item, same in labels:
        answer = answers.get(item.id)
        if isinstance(answer, Verdict):
            said.setdefault(item.path, []).append((same, answer.equivalent))
            if same != answer.equivalent:
                texts = render(item.expected), render(item.actual)
                disagreements.append(Disagreement(item.id, item.path, *texts, same, answer.reason))
        elif answer is not None:
            without[item.id] = str(answer)
    tables = {path: Agreement.of(pairs) for path, pairs in said.items()}
    total = Agreement.of(pair for pairs in said.values() for pair in pairs)
    return Calibration(
        judge=options.judge_model or options.judge_from or options.judge_cache,
        labels=len(labels),
        confidence=options.confidence,
        figures=_figures(total, options.confidence),
        by_field={path: _figures(table, options.confidence) for path, table in tables.items()},
        disagreements=sorted(disagreements, key=lambda each: each.label),
        without_verdict=without,
        settled=len(labels) - len(answers),
    )


def _figures(table: Agreement, confidence: float) -> dict[str, float | None]:
    """Return all figures of a table, by the names that gates use."""
    found = {**asdict(table), "pairs": table.number, "precision": table.precision, "recall": table.recall}
    intervals = {"accuracy": table.accuracy_interval(confidence), "kappa": table.kappa_interval(confidence)}
    for name, each in intervals.items():
        ends = (None, None, None) if each is None else (each.estimate, each.low, each.high)
        found |= zip((name, f"{name}_low", f"{name}_high"), ends, strict=True)
    return found


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


def _label(found: Any, place: str) -> _Label:
    if type(found) is not dict:
        shown = render(found, _SHOWN)
        raise CommandError(f"{place}: a label is an object with expected, actual and label, not {shown}")
    for name in _NEEDED:
        if name not in found:
            twin = nearest(name, set(found).difference(_NEEDED, _TEXTS))
            hint = f"; is it misspelled as {twin!r}?" if twin is not None else ""
            raise CommandError(f"{place}: {name!r} is missing{hint}")
    # Tables and notebooks write labels as 1 and 1.0.
    fits = {"label": found["label"] in (0, 1)}
    fits |= {name: type(found.get(name)) in {str, type(None)} for name in _TEXTS}
    for name in fits:
        if not fits[name]:
            told = "true if the two values mean the same, else false" if name == "label" else "a text"
            raise CommandError(f"{place}: {name!r} must be {told}, not {render(found[name], _SHOWN)}")
    path, *words = map(found.get, _TEXTS)
    return JudgeItem(place, path or "", found["expected"], found["actual"], *words), bool(found["label"])


# -- for people --------------------------------------------------------------------------------------------


def _sheet(found: Calibration, about: str) -> Sheet:
    of = found.figures
    number = int(of["pairs"] or 0)
    blocks: list[Block] = []
    if number:
        sure = f"{found.confidence * 100:g} % interval"
        kappa = "all labels are alike; it needs pairs of both kinds"
        if of["kappa"] is not None:
            kappa = f"{_ends(of, 'kappa')} ({sure})"
        figures = [
            Figure("accuracy", score_text(of["accuracy"]), f"{_ends(of, 'accuracy')} ({sure})"),
            Figure("kappa", score_text(of["kappa"]), kappa),
            Figure("precision", score_text(of["precision"]), 'of the verdict "same"'),
            Figure("recall", score_text(of["recall"]), 'of the verdict "same"'),
        ]
        blocks += [Figures(figures), _by_field(found)]
    rows: list[list[AnyCell]] = [
        [
            each.place,
            each.path,
            Cell("same", "open") if each.label else Cell("different", "bad"),
            shortened(each.expected, _WIDTH),
            shortened(each.actual, _WIDTH),
            each.reason or "",
        ]
        for each in found.disagreements
    ]
    texts = "field", "people say", "expected", "actual", "reason"
    blocks.append(
        Rows(("label", *texts), rows, "Where judge and people disagree", "disagreement", text=texts)
    )
    pairs = [[place, why] for place, why in found.without_verdict.items()]
    title = "Pairs without a verdict, left out of all figures"
    blocks.append(Rows(("label", "why"), pairs, title, "pair", text={"why"}))
    if found.settled:
        many = f"{count(found.settled, 'pair')} of equal values or with a null"
        blocks.append(Said(f"{many}: left out, since scoring decides them without a judge.", "faint"))
    return Sheet("jsonmatch study judge", about, blocks)


def _by_field(found: Calibration) -> Rows:
    """Return a row for all fields, and one for each if there are several, the lowest accuracy first."""
    worst = sorted(found.by_field.items(), key=lambda item: (item[1]["accuracy"] or 0.0, item[0]))
    rows: list[list[AnyCell]] = []
    for path, of in [("all fields", found.figures), *(worst if len(worst) > 1 else ())]:
        counts = [count(int(of[name] or 0)) for name in _COUNTED]
        figures = score_text(of["accuracy"]), score_text(of["kappa"]), _ends(of, "kappa")
        rows.append([path or "(no path)", *counts, *figures])
    spare = {**dict(_COUNTED.values()), "its interval": 2}
    columns = "field", *dict(_COUNTED.values()), "accuracy", "kappa", "its interval"
    return Rows(columns, rows, "By field, the lowest accuracy first", "row", spare=spare)


def _ends(of: _Values, figure: str) -> str:
    low, high = of[f"{figure}_low"], of[f"{figure}_high"]
    return "–" if low is None else f"{score_text(low)} to {score_text(high)}"
