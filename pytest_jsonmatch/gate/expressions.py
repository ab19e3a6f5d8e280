"""Parse gates such as `f1 >= 0.9` and `fields["items[].price"].recall >= 0.95`; nothing is run as code.

gate   = figure operator number [ "proven" ]
figure = [ "tags[" string "]." ] [ "cases[" string "]." ] ( name | name "." name | "micro." name | of )
of     = "fields[" string "]." name
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn, final

from pytest_jsonmatch.answer import FIGURES as SPENT
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
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
    "flip_rate": "how often one of two runs of a repeated case passes and the other does not",
    "valid_rate": "the share of the validated answers that their schema allows",
    "parse_rate": "the share of the answers given as text that have JSON in them",
    "omitted_rate": "the share of the leaves of expected that are omitted, over all cases together",
    "invented_rate": "the share of the leaves of actual that are invented, over all cases together",
    "fabrication_rate": "the share of the places where expected has no value and actual has one",
    "completeness": "the share of the collected cases that ran to their end",
}
"""Figures from 0 to 1, with their meaning."""
COUNTS: Final[Mapping[str, str]] = {
    "matches": "results that match",
    "mismatches": "results on both sides that score less than 1",
    "omitted": "results that are missing from actual",
    "invented": "results that only actual has",
    "batch_errors": "results that a batch comparator failed on",
    "errors": "errors of comparators, and cases that failed before they compared",
}
"""Figures that are counts, with what they count."""
_OF_RESULTS: Final = (
    *("omitted_rate", "invented_rate", "fabrication_rate"),
    *("matches", "mismatches", "omitted", "invented"),
)
"""Figures over all results together, or over those of some fields."""
OF_EXTRAS: Final = frozenset({"invented_rate", "fabrication_rate", "invented"})
"""Figures that exist only where values that only actual has are counted."""
NAMES_OF_RESULTS: Final[Mapping[str, str]] = {
    "score": "mean_score",
    "omitted": "omissions",
    "invented": "hallucinations",
    "omitted_rate": "omission_rate",
    "invented_rate": "hallucination_rate",
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
_SLACK: Final = 1e-12

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<name>[^\W\d]\w*)
    |(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<operator>>=|<=|==|!=|>|<)
    |(?P<sign>[\[\].]))""",
    re.VERBOSE,
)


@final
class GateError(ConfigurationError):
    """A gate that can't be parsed; the message shows what is wrong, and where.

    >>> print(GateError("f2 > 1", 0, "unknown figure 'f2'"))
    unknown figure 'f2'
      f2 > 1
      ^
    """

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(f"{reason}\n  {text}\n  {' ' * position}^")
        self.text = text
        self.position = position
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return GateError, (self.text, self.position, self.reason)


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
        is_proven: whether the end of the figure's interval must pass, and not just the figure.
        tag: the tag that selects cases, such as `source=phone`; None for all.
    """

    text: str
    figure: str
    operator: str
    limit: float
    cases: str | None = None
    field: str | None = None
    is_micro: bool = False
    is_proven: bool = False
    tag: str | None = None

    @property
    def name(self) -> str:
        """The figure in canonical spelling."""
        of = {"tags": self.tag, "cases": self.cases, "fields": self.field}
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
    reader = _GateReader(text)
    return reader.read_of_study(figures) if figures else reader.read()


@final
class _GateReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.at = 0

    def _tokens(self) -> list[tuple[str, str, int]]:
        found: list[tuple[str, str, int]] = []
        position = 0
        end = len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None or match.lastgroup is None:
                start = position + len(self.text[position:]) - len(self.text[position:].lstrip())
                character = self.text[start]
                if character in "\"'":
                    self._fail(start, "this string is not closed")
                hint = "; write >= or ==" if character == "=" else ""
                self._fail(start, f"unexpected {character!r}{hint}")
            found.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            position = match.end()
        return [*found, ("end", "", end)]

    def _fail(self, position: int, reason: str) -> NoReturn:
        raise GateError(self.text, position, reason)

    def _next(self, kind: str, wanted: str, *words: str) -> tuple[str, int]:
        found, word, position = self.tokens[self.at]
        if found != kind or (words and word not in words):
            what = f"not {word!r}" if word else "but the gate ends here"
            self._fail(position, f"expected {wanted}, {what}")
        self.at += 1
        return word, position

    def read(self) -> Gate:
        tag = cases = field = None
        is_micro = False
        word, position = self._next("name", "a figure such as f1, score or pass_rate")
        if word == "tags":
            tag, place = self._subscript(word, "a tag such as source=phone")
            if "=" not in tag[1:]:
                self._fail(place, f"a tag is a name and a value: {tag or 'source'}=phone")
            word, position = self._next("name", "a figure such as f1 or score")
        if word == "cases":
            cases, _ = self._subscript(word, "a glob of cases")
            word, position = self._next("name", "a figure such as f1 or score")
        if word == "micro":
            is_micro = True
            self._next("sign", "a dot, as in micro.f1", ".")
            word, position = self._next("name", "a figure such as f1 or precision")
        elif word == "fields":
            field = self._pattern()
            word, position = self._next("name", "a figure such as f1 or recall")
        elif known := [name for name in SPENT if name.startswith(f"{word}.")]:
            self._next("sign", f"a dot, as in {' or '.join(known)}", ".")
            word = f"{word}.{self._next('name', ' or '.join(known))[0]}"
        of_fields = FIGURES if is_micro else (*FIGURES, *_OF_RESULTS) if field is not None else ()
        word = _SPELLINGS.get(word, word)
        is_part = cases is not None or tag is not None
        self._check_figure(word, position, is_part=is_part, of_fields=of_fields)
        comparison, number, place = self._limit()
        limit = float(number)
        if word in SHARES and not 0 <= limit <= 1:
            hint = f"; for {number} % write {limit / 100:g}" if 1 < limit <= 100 else ""
            self._fail(place, f"{word} is between 0 and 1{hint}")
        is_proven = self._is_proven(word, comparison)
        self._next("end", "the end of the gate")
        return Gate(self.text.strip(), word, comparison, limit, cases, field, is_micro, is_proven, tag)

    def read_of_study(self, figures: Collection[str]) -> Gate:
        field = None
        wanted = f"a figure such as {min(figures)}"
        word, position = self._next("name", wanted)
        if word == "fields":
            field = self._pattern()
            word, position = self._next("name", wanted)
        if word not in figures:
            self._fail(position, f"unknown figure {word!r}{did_you_mean(word, figures)}")
        comparison, number, _ = self._limit()
        self._next("end", "the end of the gate")
        return Gate(self.text.strip(), word, comparison, float(number), field=field)

    def _limit(self) -> tuple[str, str, int]:
        comparison, _ = self._next("operator", f"one of {', '.join(OPERATORS)}")
        return comparison, *self._next("number", "a number")

    def _is_proven(self, figure: str, comparison: str) -> bool:
        kind, word, position = self.tokens[self.at]
        if kind == "end":
            return False
        self._next("name", "the end of the gate, or `proven`", "proven")
        if figure in COUNTS or figure in _OF_RUN:
            self._fail(position, f"{figure} is counted, not estimated: there is nothing to prove")
        if figure in SPENT:
            self._fail(position, f"{figure} has no interval: leave `proven` out")
        if comparison in {"==", "!="}:
            self._fail(position, f"an interval can't prove {comparison}; use >=, >, <= or <")
        return word == "proven"

    def _subscript(self, word: str, what: str) -> tuple[str, int]:
        if self.tokens[self.at][1] != "[":
            self._fail(self.tokens[self.at][2], f'expected {what}: {word}["…"]')
        self.at += 1
        quoted, position = self._next("string", f"{what} in quotes")
        self._next("sign", "a closing bracket", "]")
        self._next("sign", "a dot and a figure", ".")
        return re.sub(r"\\(.)", r"\1", quoted[1:-1]), position

    def _pattern(self) -> str:
        pattern, position = self._subscript("fields", "a path pattern")
        try:
            parse_pattern(pattern)
        except ConfigurationError as error:
            self._fail(position, str(error))
        return pattern

    def _check_figure(self, name: str, position: int, *, is_part: bool, of_fields: tuple[str, ...]) -> None:
        known = set(of_fields) if of_fields else {*SHARES, *COUNTS, *SPENT}
        if not of_fields and is_part:
            known -= _OF_RUN
        if name in known:
            return
        where = " of fields" if of_fields else " of some cases" if is_part else ""
        self._fail(position, f"unknown figure{where} {name!r}{did_you_mean(name, known)}")
