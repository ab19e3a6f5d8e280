"""Compute the scores that a run would have if a kind of differences were acceptable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.ask.rounds import score_with_answers
from pytest_jsonmatch.engine.comparators.kinds import (
    AMOUNT,
    CASE,
    DATE,
    NOTHING,
    NUMBER_AS_TEXT,
    ORDER,
    PUNCTUATION,
    SHIFTED,
    TYPOGRAPHY,
    WHITE_SPACE,
)
from pytest_jsonmatch.engine.plan.node import add_transforms
from pytest_jsonmatch.engine.plan.options import extend_rule
from pytest_jsonmatch.engine.result.match import MatchResult
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.report.blocks import Column, Row, Table, TableCell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.results.run import RunResult

_NO_SPACE: Final = {"replace": {"pattern": r"\s+", "with": ""}}
_RULES: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    NUMBER_AS_TEXT: ({"transform": [{"type_convert": {"to": "string"}}]}, "type_convert to string"),
    WHITE_SPACE: ({"transform": [_NO_SPACE]}, "replace white space by nothing"),
    TYPOGRAPHY: (
        {"transform": [_NO_SPACE, "fold_punctuation", {"unicode": {"form": "NFKC"}}]},
        "fold_punctuation, unicode NFKC",
    ),
    CASE: ({"transform": ["strip_accents", "casefold"]}, "strip_accents, casefold"),
    PUNCTUATION: ({"transform": ["strip_punctuation", _NO_SPACE]}, "strip_punctuation"),
    AMOUNT: ({"compare": "amount"}, "compare: amount"),
    DATE: ({"compare": "date"}, "compare: date"),
    ORDER: ({"align": "unordered"}, "align: unordered"),
    SHIFTED: ({"align": "sequence"}, "align: sequence"),
}
"""The rules that accept a kind in the fields that have it, and their short forms."""
_ABSENT: Final[list[Any]] = [None, "", "N/A", "n/a", "-", "none", "null", [], {}]
_MIN_SHARE: Final = 0.02
"""Kinds with a smaller share of the loss are not tried."""
_MIN_GAIN: Final = 0.001
"""A rule that raises the mean score by less, or lowers it, is not shown."""
_MAX_RECORDS: Final = 1_000
"""Nothing is tried for runs with more imperfect records, since each is compared again for each kind."""


@final
class Accepted(NamedTuple):
    """The mean score of a run if a kind of differences were accepted by a rule."""

    kind: str
    score: float
    rule: str


def acceptable_blocks(results: RunResult) -> Iterator[Table]:
    """Yield a table of the scores that rules would give; nothing if the values of a run are not kept."""
    accepted, mean = list(accept_kinds(results)), results.mean("score")
    if accepted and mean is not None:
        rows = [
            Row([rule.kind, TableCell(f"{mean:.3f} → {rule.score:.3f}", value=rule.score), rule.rule])
            for rule in accepted
        ]
        title = "if acceptable, with a rule for the fields that have the kind"
        columns = Column("kind", "name"), Column("score"), Column("rule", "text")
        yield Table(columns, rows, title, "kind", level="more")


def accept_kinds(results: RunResult) -> Iterator[Accepted]:
    """Yield the mean score of a run with each rule that accepts a kind of differences.

    A rule is for the fields that have the kind only, since a rule for all fields would hide other mistakes.
    Nothing is offered for kinds that may be mistakes, such as extra elements. All records with a score below
    1 must be kept. Rules with which the score does not rise are left out, such as `absent` where
    many values that are equal no longer count.
    """
    kept = [record.match for record in results.records if record.match is not None and not record.error]
    imperfect = [match for match in kept if match.score is not None and match.score < 1.0]
    broken = sum(bool(record.error) for record in results.records)
    scored = results.totals.scored
    missing = scored - results.totals.counts["perfect_records"] - len(imperfect) - broken
    signature = results.signature
    post_processed = signature is not None and '"post_process"' in signature.options
    if missing or post_processed or not 0 < len(imperfect) <= _MAX_RECORDS:
        return
    mean, loss = results.mean("score") or 0.0, sum(kind.cost for kind in results.kinds.values())
    for name, kind in results.kinds.items():
        if kind.cost < _MIN_SHARE * loss or (name not in _RULES and name != NOTHING):
            continue
        having = [match for match in imperfect if name in match.kinds]
        gain = _compute_gain(having, name, list(kind.fields))
        if gain is not None and gain / scored >= _MIN_GAIN:
            rule = "absent: [null, '', …]" if name == NOTHING else _RULES[name][1]
            yield Accepted(name, min(mean + gain / scored, 1.0), rule)


def _compute_gain(matches: Sequence[MatchResult], kind: str, paths: Sequence[str]) -> float | None:
    """Return by how much the scores of comparisons rise with a rule in total; None if that is unknown."""
    gain = 0.0
    for match in matches:
        plan = _make_plan(match, kind, paths)
        documents = expected, actual = match.documents
        if plan is None or actual is MISSING:
            return None
        try:
            again = MatchResult(plan, documents, score_with_answers(plan, expected, actual, None))
            gain += again.score - match.score
        except JsonMatchError:
            return None
    return gain


def _make_plan(match: MatchResult, kind: str, paths: Sequence[str]) -> Plan | None:
    """Return a plan with a rule for some fields in addition; None if it can't be made or asks a judge."""
    if match.plan.recipe is None or match.plan.has_batch:
        return None
    metric, options = match.plan.recipe.args
    if kind == NOTHING:
        changed = {**options, "absent": [*options.get("absent", ()), *_ABSENT]}
    else:
        fields = dict(options.get("fields") or {})
        for path in paths:
            rule = add_transforms(_RULES[kind][0], match.plan.find_node(path))
            fields[path] = extend_rule(fields.get(path, {}), rule)
        changed = {**options, "fields": fields}
    try:
        plan: Plan = match.plan.recipe.func(metric, changed)
    except JsonMatchError:
        return None
    return plan
