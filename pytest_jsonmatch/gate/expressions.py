"""Parse gates such as `f1 >= 0.9` and `fields["items[].price"].recall >= 0.95`, without running code.

gate      = statistic operator number [ "significant" ]
statistic = { "tags[" string "]." } [ "cases[" string "]." ] ( [ part ] name | kind )
part      = "fields[" string "]." | "rows[" string "]." | "micro."
kind      = "kinds[" string "]" [ ".cost" ]
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.comparators.kinds import KINDS
from pytest_jsonmatch.engine.result.rows import RATES_OF_ROWS
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean, find_closest
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.results.answer import STATISTICS as COST_AND_LATENCY
from pytest_jsonmatch.results.limits import SCORES

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
"""Statistics from 0 to 1, with their meaning."""
COUNTS: Final[Mapping[str, str]] = {
    "matches": "leaves that match",
    "mismatches": "leaves on both sides that score less than 1",
    "missing": "leaves that are only in expected",
    "extra": "leaves that are only in actual",
    "batch_errors": "leaves on which a batch comparator failed",
    "errors": "errors of comparators, and cases that failed before they compared",
    "empty": "cases that compare nothing: no leaf of expected or actual counts",
}
"""Statistics that are counts, with what they count."""
_OF_LEAVES: Final = (
    *("missing_rate", "extra_rate"),
    *("matches", "mismatches", "missing", "extra"),
)
"""Statistics over all leaves, or over the leaves of some fields."""
NEEDS_EXTRAS: Final = frozenset({"extra_rate", "extra"})
"""Statistics that need a metric that counts extra values."""
RESULT_NAMES: Final[Mapping[str, str]] = {
    "score": "mean_score",
    "missing": "omissions",
    "extra": "hallucinations",
    "missing_rate": "omission_rate",
    "extra_rate": "hallucination_rate",
}
"""The names in results of statistics with another name there; gates accept the last four of them, too."""
_STATISTICS_BY_RESULT_NAME: Final = {
    name: statistic for statistic, name in RESULT_NAMES.items() if statistic != "score"
}
_OF_RUN: Final = frozenset({"completeness"})
OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_MISTAKES: Final = {
    "=>": ">=",
    "=<": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "=": "==",
}
"""Operators by what people write instead."""
_ALL_VALUES: Final = "*"
"""The value of a tag in a gate that must pass for each value."""
_TOLERANCE: Final = 1e-12

_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUOTED: Final = r"""\s*\[\s*(?P<%s>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\]\s*\.\s*"""
_TAG: Final = re.compile(rf"tags{_QUOTED % 'tag'}")
_PARTS: Final = re.compile(
    rf"\s*(?P<tags>(?:tags{_QUOTED.replace('?P<%s>', '?:')})*)(?:cases{_QUOTED % 'cases'})?"
    rf"(?:fields{_QUOTED % 'field'}|rows{_QUOTED % 'rows'}|(?P<micro>micro)\s*\.\s*)?"
)
_KIND: Final = re.compile(r"""kinds\s*\[\s*(?P<kind>"[^"]*"|'[^']*')\s*\](?:\s*\.\s*(?P<name>\w+))?""")
KIND_COUNT: Final = "kind_count"
"""The statistic that counts the differences of one kind."""
KIND_COST: Final = "kind_cost"
"""The mean cost of the differences of one kind."""
_PART_EXAMPLES: Final = {
    "fields": 'fields["total"].recall',
    "rows": 'rows["items"].recall',
    "kinds": 'kinds["white space"].cost',
    "cases": 'cases["acme-*"].score',
    "tags": 'tags["source=phone"].score',
    "micro": "micro.f1",
}
"""An example of each part that a statistic can have."""


@final
class GateError(ConfigurationError):
    """A gate that can't be parsed; the message shows the reason and the position.

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
        text: the source text.
        statistic: one of `SHARES`, `COUNTS` or `COST_AND_LATENCY`, or a statistic of a study.
        operator: one of `OPERATORS`.
        limit: the number on the right.
        cases: a glob that selects cases; None for all.
        field: a path pattern that selects fields; None if the statistic is not about fields.
        is_micro: whether the statistic is over the leaves of all cases together, not the mean over cases.
        is_significant: whether the end of the statistic's interval must pass, and not just its value.
        rows: a path pattern that selects arrays, whose rows are counted; None if the statistic is not about
            rows.
        tags: the tags that select cases, such as `source=phone`; `source=*` as the only one checks each value
            separately.
        kind: the kind of differences that is counted, or whose cost is meant; None for other statistics.
    """

    text: str
    statistic: str
    operator: str
    limit: float
    cases: str | None = None
    field: str | None = None
    is_micro: bool = False
    is_significant: bool = False
    tags: tuple[str, ...] = ()
    rows: str | None = None
    kind: str | None = None

    @property
    def name(self) -> str:
        """The statistic in canonical spelling."""
        selectors = {"cases": self.cases, "fields": self.field, "rows": self.rows}
        parts = [f"tags[{quoted(tag)}]" for tag in self.tags]
        parts += [f"{name}[{quoted(value)}]" for name, value in selectors.items() if value is not None]
        if self.kind is not None:
            parts.append(f"kinds[{quoted(self.kind)}]")
            return ".".join([*parts, *(["cost"] if self.statistic == KIND_COST else [])])
        return ".".join([*parts, *(["micro"] if self.is_micro else []), self.statistic])

    @property
    def by_tag(self) -> str | None:
        """The name of the tag whose values are checked separately; None if there is none.

        >>> [parse_gate(f'tags["{tag}"].f1 > 0').by_tag for tag in ("source=*", "source=a=*", "source=a")]
        ['source', None, None]
        """
        name, _, value = (self.tags[0] if len(self.tags) == 1 else "").partition("=")
        return name if value == _ALL_VALUES else None

    @property
    def is_of_leaves(self) -> bool:
        """Whether the statistic is over leaves, of all fields or some, rather than over cases."""
        is_of_fields = self.field is not None and self.statistic != "pass_rate"
        return self.is_micro or is_of_fields or self.statistic in _OF_LEAVES

    @property
    def needs_cases(self) -> bool:
        """Whether totals do not decide: each case counts, for an interval, some cases or what is right in it.

        >>> parse_gate("f1 > 0").needs_cases, parse_gate('fields["a"].pass_rate > 0').needs_cases
        (False, True)
        """
        is_of_right = self.field is not None and self.statistic == "pass_rate"
        return self.cases is not None or self.is_significant or len(self.tags) > 1 or is_of_right

    def passes(self, value: float) -> bool:
        """Return whether a value of the statistic passes the gate.

        A value within 1e-12 of a limit below 1 counts as equal to it.

        >>> parse_gate("score >= 0.3").passes(0.1 + 0.1 + 0.1), parse_gate("score >= 1").passes(1 - 1e-13)
        (True, False)
        """
        is_same = abs(value - self.limit) <= _TOLERANCE and self.limit < 1
        return OPERATORS[self.operator](self.limit if is_same else value, self.limit)


def quoted(selector: str) -> str:
    r"""Return a selector as a string of a gate.

    >>> print(quoted("total"), quoted('["unit price"]'))
    "total" '["unit price"]'
    """
    mark = "'" if '"' in selector and "'" not in selector else '"'
    return mark + re.sub(rf"[{mark}\\]", r"\\\g<0>", selector) + mark


def parse_gate(text: str, statistics: Collection[str] = ()) -> Gate:
    """Parse a gate on a run or, given the names of its `statistics`, on a study.

    The statistics of a study are over all fields, or over a single field.

    Raises GateError, which shows the reason and the position.

    >>> parse_gate('cases["acme-*"].fields["items[].price"].recall >= 0.95').name
    'cases["acme-*"].fields["items[].price"].recall'
    >>> parse_gate('fields["total"].auroc >= 0.8', {"auroc", "ece"}).name
    'fields["total"].auroc'
    """
    parts = next(_PARTS.finditer(text))  # always matches: all parts are optional
    cases, field, rows = (
        None if quoted is None else _unquote(quoted) for quoted in parts.group("cases", "field", "rows")
    )
    tags = []
    is_micro = parts["micro"] is not None
    for written in _TAG.finditer(text, parts.start("tags"), parts.end("tags")):
        tags.append(_unquote(written["tag"]))
        if "=" not in tags[-1][1:]:
            example = f"{tags[-1] or 'source'}=phone"
            raise GateError.at(text, written.start("tag"), f"a tag must be NAME=VALUE, such as {example}")
    several = [tag for tag in tags if tag.endswith(f"={_ALL_VALUES}")]
    if several and tags[1:]:
        reason = f"{several[0]} must be the only tag: a gate on each value takes no further tags"
        raise GateError.at(text, parts.start("tags"), reason)
    for name, pattern in (("field", field), ("rows", rows)):
        try:
            parse_pattern("*" if pattern is None else pattern)
        except ConfigurationError as error:
            raise GateError.at(text, parts.start(name), str(error)) from None
    known, where = set(statistics or (*SHARES, *COUNTS, *COST_AND_LATENCY)), ""
    if statistics and (tags or not cases is rows is parts["micro"] is None):
        raise GateError.at(
            text, 0, "a gate on a study selects fields[…] only, not tags, cases, rows or micro"
        )
    if not statistics and (is_micro or field is not None):
        known, where = {*SCORES, *(() if is_micro else (*_OF_LEAVES, "pass_rate"))}, " of fields"
    elif not statistics and rows is not None:
        known, where = set(RATES_OF_ROWS), " of rows"
    elif not statistics and (tags or cases is not None):
        known, where = known - _OF_RUN, " of some cases"
    kind = None
    term = None if where not in {"", " of some cases"} or statistics else _KIND.match(text, parts.end())
    if term is not None:
        kind, statistic = _read_kind(text, term)
        known.add(statistic)
    else:
        term = _expect(
            text,
            parts.end(),
            r"[^\W\d]\w*(\s*\.\s*\w+)*",
            f"a statistic such as {'score' if 'score' in known else min(known)}",
        )
        statistic = re.sub(r"\s", "", term[0])
        statistic = _STATISTICS_BY_RESULT_NAME.get(statistic, statistic)
    if statistic not in known:
        may_be_field = not statistics and where != " of fields" and rows is None
        advice = _advice(statistic, known, may_be_field=may_be_field)
        raise GateError.at(text, term.start(), f"unknown statistic{where} {statistic!r}{advice}")
    comparison = _expect(text, term.end(), "|".join(OPERATORS), f"one of {', '.join(OPERATORS)}", _MISTAKES)
    number = _expect(text, comparison.end(), _NUMBER, "a number")
    limit = float(number[0])
    if not statistics and (statistic in SHARES or statistic == KIND_COST) and not 0 <= limit <= 1:
        hint = f" (for {number[0]} % write {limit / 100:g})" if 1 < limit <= 100 else ""
        raise GateError.at(
            text, number.start(), f"{statistic} must be between 0 and 1, got {number[0]}{hint}"
        )
    significant = _expect(text, number.end(), "" if statistics else r"(?:significant\b)?", "")
    _expect(text, significant.end(), "$", f"the end of the gate{'' if statistics else ', or `significant`'}")
    if significant[0] and (reason := _never_significant(statistic, comparison[0])):
        raise GateError.at(text, significant.start(), reason)
    return Gate(
        text.strip(),
        statistic,
        comparison[0],
        limit,
        cases,
        field,
        is_micro,
        bool(significant[0]),
        tuple(tags),
        rows,
        kind,
    )


def _unquote(quoted_text: str) -> str:
    """Return the text in quotes; a backslash makes the next character literal."""
    return re.sub(r"\\(.)", r"\1", quoted_text[1:-1])


def _read_kind(text: str, term: re.Match[str]) -> tuple[str, str]:
    """Return the kind of differences of a gate, and its statistic."""
    kind, name = term["kind"][1:-1], term["name"]
    if kind not in KINDS:
        raise GateError.at(
            text, term.start("kind"), f"unknown kind of difference {kind!r}{did_you_mean(kind, KINDS)}"
        )
    if name not in (None, "cost"):
        reason = f"kinds[{quoted(kind)}] counts differences, and .cost is their cost, got .{name}"
        raise GateError.at(text, term.start("name"), reason)
    return kind, KIND_COUNT if name is None else KIND_COST


def _expect(
    text: str, position: int, pattern: str, expected: str, mistakes: Mapping[str, str] | None = None
) -> re.Match[str]:
    """Return the match of a pattern at a position, after any white space; raise GateError without one.

    `mistakes` maps what people write instead to what they mean.
    """
    position += len(text[position:]) - len(text[position:].lstrip())
    match = re.compile(pattern).match(text, position)
    if match is None:
        wrong = next((wrong for wrong in mistakes or () if text.startswith(wrong, position)), None)
        found = re.compile(r"\w+|\S").match(text, position)
        got = "but the gate ends here" if found is None else f"not {found[0]!r}"
        if mistakes and wrong:
            got = f"not {wrong!r}; did you mean {mistakes[wrong]!r}?"
        raise GateError.at(text, min(position, len(text.rstrip())), f"expected {expected}, {got}")
    return match


def _advice(statistic: str, known: Collection[str], *, may_be_field: bool) -> str:
    """Return a hint that says what to write instead of an unknown statistic.

    `may_be_field` is whether a field can be meant, such as in `total >= 0.9`.
    """
    prefix, *others = statistic.split(".")
    part = find_closest(prefix, _PART_EXAMPLES)
    if part != "fields" and (part is None or others[:-1]) and others and others[-1] in SCORES:
        part, others = "fields", [prefix, *others]  # such as total.recall
    if part == "fields" and others:
        name = others.pop() if others[1:] and others[-1] in SCORES else "recall"
        return f'; for a field write fields["{".".join(others)}"].{name}'
    if part is not None:
        return f"; write for example {_PART_EXAMPLES[part]}"
    # Only a name with a dot is a misspelling of one such as `cost.total`, or the first half of it.
    alike = [name for name in known if ("." in name) == bool(others) or name.startswith(f"{statistic}.")]
    if may_be_field and find_closest(statistic, alike) is None:
        return f'; for a field write fields["{statistic}"].score; known: {", ".join(sorted(known))}'
    return did_you_mean(statistic, alike or known)


def _never_significant(statistic: str, comparison: str) -> str:
    """Return the reason why a gate can't be `significant`; empty if it can."""
    if statistic in COUNTS or statistic in _OF_RUN or statistic == KIND_COUNT:
        statistic = "a kind of difference" if statistic == KIND_COUNT else statistic
        return f"{statistic} is counted, not estimated: remove `significant`"
    if statistic in COST_AND_LATENCY:
        return f"{statistic} has no interval: remove `significant`"
    if comparison in {"==", "!="}:
        return f"`significant` needs >=, >, <= or <, got {comparison}"
    return ""
