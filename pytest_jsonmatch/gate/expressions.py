"""Parse gates such as `f1 >= 0.9` and `fields["items[].price"].recall >= 0.95`; nothing is run as code.

gate   = figure operator number [ "significant" ]
figure = [ "tags[" string "]." ] [ "cases[" string "]." ] [ part ] name
part   = "fields[" string "]." | "rows[" string "]." | "micro."
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.answer import FIGURES as SPENT
from pytest_jsonmatch.engine.result.rows import RATES_OF_ROWS
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean, nearest
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.limits import FIGURES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

SHARES: Final[Mapping[str, str]] = {
    "score": "the mean score of the cases",
    "precision": "the mean precision of the cases",
    "recall": "the mean recall of the cases",
    "f1": "the mean F1 of the cases",
    "pass_rate": "the share of the cases that pass",
    "flip_rate": "how often two runs of a repeated case differ: one passes, the other fails",
    "valid_rate": "the share of the validated answers that their schema allows",
    "parse_rate": "the share of the answers given as text that contain JSON",
    "missing_rate": "the share of the expected leaves that are missing from actual",
    "extra_rate": "the share of the actual leaves that are extra: only in actual",
    "answered": "the share of the cases whose producer gave an answer, or of the gold records with one",
    "completeness": "the share of the collected cases that ran to their end",
}
"""Figures from 0 to 1, with their meaning."""
COUNTS: Final[Mapping[str, str]] = {
    "matches": "leaves that match",
    "mismatches": "leaves on both sides that score less than 1",
    "missing": "leaves that are only in expected",
    "extra": "leaves that are only in actual",
    "batch_errors": "leaves on which a batch comparator failed",
    "errors": "errors of comparators, and cases that failed before they compared",
}
"""Figures that are counts, with what they count."""
_OF_RESULTS: Final = (
    *("missing_rate", "extra_rate"),
    *("matches", "mismatches", "missing", "extra"),
)
"""Figures over all results together, or over those of some fields."""
OF_EXTRAS: Final = frozenset({"extra_rate", "extra"})
"""Figures that exist only where values that only actual has are counted."""
NAMES_OF_RESULTS: Final[Mapping[str, str]] = {
    "score": "mean_score",
    "missing": "omissions",
    "extra": "hallucinations",
    "missing_rate": "omission_rate",
    "extra_rate": "hallucination_rate",
}
"""The names of figures in results, where they differ; gates also read those of the last four."""
_SPELLINGS: Final = {name: word for word, name in NAMES_OF_RESULTS.items() if word != "score"}
_OF_RUN: Final = frozenset({"completeness"})
OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
EACH_VALUE: Final = "=*"
"""The end of a tag in a gate that each value of the tag must pass."""
_SLACK: Final = 1e-12

_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUOTED: Final = r"""\s*\[\s*(?P<%s>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\]\s*\.\s*"""
_OF: Final = re.compile(
    rf"\s*(?:tags{_QUOTED % 'tag'})?(?:cases{_QUOTED % 'cases'})?"
    rf"(?:fields{_QUOTED % 'field'}|rows{_QUOTED % 'rows'}|(?P<micro>micro)\s*\.\s*)?"
)
_FORMS: Final = {
    "fields": 'fields["total"].recall',
    "rows": 'rows["items"].recall',
    "cases": 'cases["acme-*"].score',
    "tags": 'tags["source=phone"].score',
    "micro": "micro.f1",
}
"""How the parts of a figure are written."""


@final
class GateError(ConfigurationError):
    """A gate that can't be parsed; the message shows what is wrong, and where.

    >>> print(GateError.at("f2 > 1", 0, "unknown statistic 'f2'"))
    unknown statistic 'f2'
      f2 > 1
      ^
    """

    @classmethod
    def at(cls, text: str, position: int, reason: str) -> GateError:
        """Return the error at a position of a gate's text."""
        return cls(f"{reason}\n  {text}\n  {' ' * position}^")


@final
@dataclass(frozen=True, slots=True)
class Gate:
    """A parsed gate.

    Args:
        text: as it was written.
        figure: one of `SHARES`, `COUNTS` or `SPENT`, or a figure of a study.
        operator: one of `OPERATORS`.
        limit: the number on the right.
        cases: a glob that selects cases; None for all.
        field: a path pattern that selects fields; None if the figure is not of fields.
        is_micro: whether the figure is over all results together, rather than the mean of the cases.
        is_significant: whether the end of the figure's interval must pass, and not just the figure.
        rows: a path pattern that selects arrays, whose rows are counted; None if the figure is not of rows.
        tag: the tag that selects cases, such as `source=phone`; `source=*` for each value by itself; None
            for all.
    """

    text: str
    figure: str
    operator: str
    limit: float
    cases: str | None = None
    field: str | None = None
    is_micro: bool = False
    is_significant: bool = False
    tag: str | None = None
    rows: str | None = None

    @property
    def name(self) -> str:
        """The figure in canonical spelling."""
        of = {"tags": self.tag, "cases": self.cases, "fields": self.field, "rows": self.rows}
        parts = [f'{name}["{value}"]' for name, value in of.items() if value is not None]
        return ".".join([*parts, *(["micro"] if self.is_micro else []), self.figure])

    @property
    def is_of_leaves(self) -> bool:
        """Whether the figure is over leaves, all or those of some fields, rather than over cases."""
        return self.is_micro or self.field is not None or self.figure in _OF_RESULTS

    def holds(self, value: float) -> bool:
        """Tell whether a value of the figure is good enough.

        A value within 1e-12 of a limit below 1 counts as equal to it.

        >>> parse_gate("score >= 0.3").holds(0.1 + 0.1 + 0.1), parse_gate("score >= 1").holds(0.9999999999999)
        (True, False)
        """
        is_same = abs(value - self.limit) <= _SLACK and self.limit < 1
        return OPERATORS[self.operator](self.limit if is_same else value, self.limit)


def parse_gate(text: str, figures: Collection[str] = ()) -> Gate:
    """Parse a gate on a run or, given its `figures`, on a study, which has them in total and by field.

    Raises GateError, which shows what is wrong, and where.

    >>> parse_gate('cases["acme-*"].fields["items[].price"].recall >= 0.95').name
    'cases["acme-*"].fields["items[].price"].recall'
    >>> parse_gate('fields["total"].auroc >= 0.8', {"auroc", "ece"}).name
    'fields["total"].auroc'
    """
    of = next(_OF.finditer(text))  # all parts are optional
    tag, cases, field, rows = (
        None if quoted is None else re.sub(r"\\(.)", r"\1", quoted[1:-1])
        for quoted in of.group("tag", "cases", "field", "rows")
    )
    is_micro = of["micro"] is not None
    if tag is not None and "=" not in tag[1:]:
        raise GateError.at(
            text, of.start("tag"), f"a tag must be NAME=VALUE, such as {tag or 'source'}=phone"
        )
    for name, pattern in (("field", field), ("rows", rows)):
        try:
            parse_pattern("*" if pattern is None else pattern)
        except ConfigurationError as error:
            raise GateError.at(text, of.start(name), str(error)) from None
    known, where = set(figures or (*SHARES, *COUNTS, *SPENT)), ""
    if figures and not of["tag"] is of["cases"] is of["rows"] is of["micro"] is None:
        raise GateError.at(
            text, 0, "a gate on a study selects fields[…] only, not tags, cases, rows or micro"
        )
    if not figures and (is_micro or field is not None):
        known, where = {*FIGURES, *(() if is_micro else _OF_RESULTS)}, " of fields"
    elif not figures and rows is not None:
        known, where = set(RATES_OF_ROWS), " of rows"
    elif not figures and (tag is not None or cases is not None):
        known, where = known - _OF_RUN, " of some cases"
    word = _taken(
        text,
        of.end(),
        r"[^\W\d]\w*(\s*\.\s*\w+)*",
        f"a statistic such as {'score' if 'score' in known else min(known)}",
    )
    figure = re.sub(r"\s", "", word[0])
    figure = _SPELLINGS.get(figure, figure)
    if figure not in known:
        raise GateError.at(text, word.start(), f"unknown statistic{where} {figure!r}{_advice(figure, known)}")
    sign = _taken(text, word.end(), "|".join(OPERATORS), f"one of {', '.join(OPERATORS)}")
    number = _taken(text, sign.end(), _NUMBER, "a number")
    limit = float(number[0])
    if not figures and figure in SHARES and not 0 <= limit <= 1:
        hint = f" (for {number[0]} % write {limit / 100:g})" if 1 < limit <= 100 else ""
        raise GateError.at(text, number.start(), f"{figure} must be between 0 and 1, got {number[0]}{hint}")
    significant = _taken(text, number.end(), "" if figures else r"(?:significant\b)?", "")
    _taken(text, significant.end(), "$", f"the end of the gate{'' if figures else ', or `significant`'}")
    if significant[0] and (reason := _never_significant(figure, sign[0])):
        raise GateError.at(text, significant.start(), reason)
    return Gate(text.strip(), figure, sign[0], limit, cases, field, is_micro, bool(significant[0]), tag, rows)


def _taken(text: str, position: int, pattern: str, wanted: str) -> re.Match[str]:
    """Return what matches a pattern here, after any white space."""
    position += len(text[position:]) - len(text[position:].lstrip())
    match = re.compile(pattern).match(text, position)
    if match is None:
        there = re.compile(r"\w+|\S").match(text, position)
        what = "but the gate ends here" if there is None else f"not {there[0]!r}"
        raise GateError.at(text, min(position, len(text.rstrip())), f"expected {wanted}, {what}")
    return match


def _advice(figure: str, known: Collection[str]) -> str:
    """Return what to write in place of an unknown statistic."""
    first, *others = figure.split(".")
    form = nearest(first, _FORMS)
    if form != "fields" and (form is None or others[:-1]) and others and others[-1] in FIGURES:
        form, others = "fields", [first, *others]  # such as total.recall
    if form == "fields" and others:
        name = others.pop() if others[1:] and others[-1] in FIGURES else "recall"
        return f'; for a field write fields["{".".join(others)}"].{name}'
    return did_you_mean(figure, known) if form is None else f"; write for example {_FORMS[form]}"


def _never_significant(figure: str, comparison: str) -> str:
    """Return why a gate can't be `significant`; empty if it can."""
    if figure in COUNTS or figure in _OF_RUN:
        return f"{figure} is counted, not estimated: remove `significant`"
    if figure in SPENT:
        return f"{figure} has no interval: remove `significant`"
    if comparison in {"==", "!="}:
        return f"`significant` needs >=, >, <= or <, got {comparison}"
    return ""
