"""Find gold values that are likely wrong: several systems agree on a different value."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import fsum, log2
from operator import eq
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch import defaults
from pytest_jsonmatch.engine.score.field import MATCH, OMISSION, UNCOUNTED
from pytest_jsonmatch.engine.value.convert import MISSING, get_value, replace_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.engine.value.paths import format_path, parse_path
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.study.answers import RecordComparer, pair_answers, split_chunks
from pytest_jsonmatch.study.places import find_disagreements, format_cached, format_schema_path, iter_nodes
from pytest_jsonmatch.study.words import describe_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.answers import Answered, ComparedAnswer
    from pytest_jsonmatch.study.gold_records import Records
    from pytest_jsonmatch.study.places import Steps

    _Wrong = Mapping[str, Mapping[Steps, Sequence[JsonValue]]]
    """The wrong values in the answers to a record, by system and path."""

_PRIOR: Final = log2(1 / 49)
"""The prior log-odds, in bits, that a gold value is wrong: one in fifty."""
_AGREE: Final = 2
"""At least this many systems must agree with each other."""


@final
@dataclass(frozen=True, slots=True)
class Suspect:
    """A gold value that is likely wrong."""

    record: str
    """The id or file of the record, else its position."""
    position: int
    """The position of the record, from 0."""
    path: str
    """The instance path in the gold record; an element that it lacks is the next one of its array."""
    field: str
    """The schema path."""
    kind: str
    """The suggested correction: "change", "add" if the gold record has no value at the path, or "remove"."""
    gold: JsonValue
    """The gold value; None if there is none."""
    answer: JsonValue
    """The value of the systems; None if there is none."""
    systems: tuple[str, ...]
    """The systems that agree with each other."""
    backing: tuple[str, ...]
    """The systems that agree with the gold value."""
    steps: Steps
    """The keys and indices of the path in the gold record."""
    evidence: float = 0.0
    """The evidence against the gold value, in bits: one more bit is twice as strong."""

    @property
    def probability(self) -> float:
        """The probability of an error, if one gold value in fifty is wrong and systems err independently."""
        return 1 / (1 + 2 ** min(-self.evidence - _PRIOR, 1000.0))

    @property
    def replacement(self) -> JsonValue:
        """The value that corrects the gold record, MISSING to remove the gold value."""
        return MISSING if self.kind == "remove" else self.answer


@final
@dataclass(frozen=True, slots=True, repr=False)
class GoldAudit:
    """The gold values that are likely wrong."""

    systems: tuple[str, ...]
    records: int
    found: tuple[Suspect, ...]
    """The gold values with evidence against them, the strongest first."""
    notes: tuple[str, ...] = ()
    """Remarks, such as the number of missing answers."""

    def __repr__(self) -> str:
        return describe_study(self)

    @property
    def statistics(self) -> Mapping[str, float | None]:
        """`suspects`, the number of gold values with a probability above 0.5, and `suspect_records`.

        The latter is the share of the records that have suspects.
        """
        likely = [suspect.position for suspect in self.found if suspect.probability > 0.5]
        share = len(set(likely)) / self.records if self.records else None
        return {"suspects": len(likely), "suspect_records": share}

    @property
    def expected(self) -> float:
        """The expected number of errors among the values found: the sum of their probabilities."""
        return fsum(suspect.probability for suspect in self.found)


def audit_gold(
    gold: Records,
    answers: Mapping[str, Records],
    *,
    metric: str = defaults.METRIC,
    id: str | None = None,
    **options: Any,
) -> GoldAudit:
    """Find gold values that are likely wrong because several systems agree on a different value.

    Two systems agree on a value if the answer of one matches the gold record with the value of the other, by
    the metric, schema and rules that score answers.

    Suspects are ranked by the log-odds, in bits, of a naive Bayes model of independent annotators (after
    Dawid and Skene 1979), in which each wrong value is as frequent as in the gold records; docs/audit.md has
    the formula. The prior that one gold value in fifty is wrong gives a probability, which is too high if
    systems share mistakes.

    Args:
        gold: the gold records, read once for each system: a list, the path of a file, or a mapping
            of ids to records, which are paired with answers by position.
        answers: the answers of each system by its name, as for `compare_corpus`.
        metric: the name of a metric.
        id: the member that pairs records and answers; None pairs by position.
        options: options of the metric, including `schema` and `judge`, as for `compare_json`.

    Returns:
        The suspects, the strongest evidence first.

    Raises:
        ConfigurationError: fewer than two systems; or as for `compare_corpus`.
        GoldValidationError: a gold record is not valid.

    >>> gold = [{"id": "r1", "total": 11}, {"id": "r2", "total": 7}, {"id": "r3", "total": 9}]
    >>> right = [*gold[:2], {"id": "r3", "total": 90}]
    >>> found = audit_gold(gold, {"a": right, "b": right, "c": right}, id="id").found
    >>> [(each.record, each.path, each.gold, each.answer, each.systems) for each in found]
    [('r3', 'total', 9, 90, ('a', 'b', 'c'))]
    """
    auditor, compare, notes = Auditor(tuple(answers)), RecordComparer(metric, options), list[str]()
    for chunk in split_chunks(pair_answers(gold, answers, id, compare, notes), len(answers)):
        auditor.add(chunk, compare)
    compare.warn()
    return auditor.result(notes)


@final
@dataclass(slots=True)
class _FieldCounts:
    """Counts of the values of a field, including all values in it."""

    right: Counter[str] = field(default_factory=Counter)
    """The number of right values by system."""
    wrong: Counter[str] = field(default_factory=Counter)
    """The number of wrong values by system."""
    missing: int = 0
    """The number of wrong values that are missing."""
    gold_values: Counter[int] = field(default_factory=Counter)
    """The frequencies of gold values by their hashes."""

    @property
    def missing_rate(self) -> float:
        """The probability that a wrong value is missing."""
        return (self.missing + 1) / (self.wrong.total() + 2)

    @property
    def chance_agreement(self) -> float:
        """The probability that two gold values are equal; one half without gold values."""
        number = self.gold_values.total()
        equal_pairs = sum(times * (times - 1) for times in self.gold_values.values())
        return (equal_pairs + 1) / (number * (number - 1) + 2)


@lru_cache(maxsize=1 << 12)
def _list_ancestors(path: str) -> tuple[str, ...]:
    """Return the paths of all ancestors of a field, followed by its own path.

    >>> _list_ancestors("items[].price")
    ('$', 'items', 'items[]', 'items[].price')
    """
    segments = parse_path(path)
    return tuple(format_path(segments[:number]) for number in range(len(segments) + 1))


@final
@dataclass(slots=True)
class _Dispute:
    """A path at which several systems are wrong."""

    record: Answered
    wrong: _Wrong
    steps: Steps
    groups: list[dict[str, JsonValue]]
    """The values by system; systems with the same value are in one group."""


@final
class Auditor:
    """Collects gold records with their answers, and finds gold values that are likely wrong."""

    def __init__(self, systems: tuple[str, ...]) -> None:
        if len(systems) < _AGREE:
            raise ConfigurationError(
                f"an audit needs at least {_AGREE} systems, got {len(systems)}: gold is suspicious where "
                "systems agree against it"
            )
        self._systems = systems
        self._records = 0
        self._missing: Counter[str] = Counter()
        self._seen: defaultdict[str, _FieldCounts] = defaultdict(_FieldCounts)
        self._suspects: list[Suspect] = []

    def add(self, records: Sequence[Answered], compare: RecordComparer) -> None:
        """Add gold records with their answers; a judge is asked about all of them in one call.

        Raises:
            GoldValidationError: a gold record has a member that the schema does not list.
        """
        self._records += len(records)
        given = [
            (record, system, answer)
            for record in records
            for system, answer in record.answers.items()
            if answer is not MISSING
        ]
        results = compare((answer, record.gold) for record, _, answer in given)
        by_record: dict[int, dict[str, dict[Steps, list[JsonValue]]]] = {
            record.position: {} for record in records
        }
        for (record, system, _), compared in zip(given, results, strict=True):
            if (result := record.checked(compared)) is not None:
                by_record[record.position][system] = self._count(system, result)
        disputes = []
        for record in records:
            wrong = by_record[record.position]
            self._missing.update(set(self._systems).difference(wrong))
            for segments, value in iter_nodes(record.gold):
                self._seen[format_cached(segments)].gold_values[hash(render(value))] += 1
            for steps, votes in Counter(steps for places in wrong.values() for steps in places).items():
                if votes >= _AGREE:
                    disputes.append(_Dispute(record, wrong, steps, _groups(wrong, steps)))
        self._settle(disputes, compare)

    def _count(self, system: str, result: MatchResult) -> dict[Steps, list[JsonValue]]:
        """Count the right and wrong values of an answer; return the wrong ones by path in the gold record."""
        leaves = [leaf for leaf in result.field_results if leaf.status not in UNCOUNTED]
        for leaf in leaves:
            for path in _list_ancestors(leaf.path):
                seen = self._seen[path]
                (seen.right if leaf.status == MATCH else seen.wrong)[system] += 1
                seen.missing += leaf.status == OMISSION
        return {} if all(leaf.status == MATCH for leaf in leaves) else find_disagreements(result)

    def _settle(self, disputes: list[_Dispute], compare: RecordComparer) -> None:
        """Add the systems that agree with the largest group at each path; repeat with the other groups."""
        while disputes:
            asked = []
            leaders = []
            for dispute in disputes:
                leading, *rest = sorted(dispute.groups, key=len, reverse=True)
                answer = next(iter(leading.values()))
                leaders.append((dispute, leading, answer))
                same_presence = [
                    group for group in rest if (MISSING in group.values()) == (answer is MISSING)
                ]
                dispute.groups = [group for group in rest if group not in same_presence]
                corrected = (
                    replace_value(dispute.record.gold, dispute.steps, answer) if same_presence else None
                )
                asked += [(dispute, leading, group, corrected) for group in same_presence]
            pairs = (
                (item.record.answers[next(iter(group))], corrected) for item, _, group, corrected in asked
            )
            for (dispute, leading, group, _), compared in zip(asked, compare(pairs), strict=True):
                # A system that has added two elements does not count twice for one value.
                if leading.keys().isdisjoint(group) and _agrees(dispute.steps, compared):
                    leading.update(group)
                else:
                    dispute.groups.append(group)
            self._suspects += [_suspect(*leader) for leader in leaders if len(leader[1]) >= _AGREE]
            disputes = [dispute for dispute in disputes if sum(map(len, dispute.groups)) >= _AGREE]

    # -- ranking -------------------------------------------------------------------------------------------

    def _evidence(self, suspect: Suspect) -> float:
        """Return the evidence against the gold value, in bits."""
        seen, overall = self._seen[suspect.field], self._seen["$"]
        chance = seen.chance_agreement

        def skill(name: str, *, was_right: bool) -> float:
            # Add two pseudo-answers with the accuracy of the system over all fields; leave out this value.
            general = (overall.right[name] + 1) / (overall.right[name] + overall.wrong[name] + 2)
            right = max(seen.right[name] - was_right, 0)
            wrong = max(seen.wrong[name] - (not was_right), 0)
            share = (right + 2 * general) / (right + wrong + 2)
            return log2(share / (1 - share))

        chance_agreement = seen.missing_rate if suspect.kind == "remove" else chance
        against = fsum(skill(name, was_right=False) for name in suspect.systems)
        against -= (len(suspect.systems) - 1) * log2(chance_agreement)
        return against - fsum(skill(name, was_right=True) - log2(chance) for name in suspect.backing)

    def result(self, notes: Iterable[str] = ()) -> GoldAudit:
        """Return the audit of all records."""
        weighed = (replace(suspect, evidence=self._evidence(suspect)) for suspect in self._suspects)
        against = [suspect for suspect in weighed if suspect.evidence > 0]
        against.sort(key=lambda suspect: (-suspect.evidence, suspect.position))
        silent = [
            f"{name}: missing or not comparable: {count(missing)} of {count(self._records, 'answer')}; "
            "not counted there"
            for name in self._systems
            if (missing := self._missing[name])
        ]
        return GoldAudit(self._systems, self._records, tuple(against), (*silent, *notes))


def _groups(wrong: _Wrong, steps: Steps) -> list[dict[str, JsonValue]]:
    """Return the values of systems at a path, grouped by value."""
    groups: dict[str, dict[str, JsonValue]] = {}
    for system, places in wrong.items():
        for value in places.get(steps, ()):
            groups.setdefault("" if value is MISSING else render(value), {}).setdefault(system, value)
    return list(groups.values())


def _suspect(dispute: _Dispute, leading: Iterable[str], answer: JsonValue) -> Suspect:
    steps, gold = dispute.steps, get_value(dispute.record.gold, dispute.steps)
    backing = (
        name
        for name, wrong in dispute.wrong.items()
        if name not in leading and not _contradicts(wrong, steps, answer)
    )
    return Suspect(
        str(dispute.record.id),
        dispute.record.position,
        format_path(steps),
        format_schema_path(steps),
        "add" if gold is MISSING else "remove" if answer is MISSING else "change",
        None if gold is MISSING else gold,
        None if answer is MISSING else answer,
        tuple(name for name in dispute.wrong if name in leading),
        tuple(backing),
        steps,
    )


def _agrees(steps: Steps, compared: ComparedAnswer) -> bool:
    """Return whether an answer is right at a path."""
    if isinstance(compared, JsonMatchError):
        return False
    # Two paths overlap if one is a prefix of the other.
    return not any(all(map(eq, place, steps)) for place in find_disagreements(compared))


def _contradicts(wrong: Iterable[Steps], steps: Steps, answer: JsonValue) -> bool:
    """Return whether a system with these wrong paths disagrees with the gold value at a path."""
    return any(
        steps[: len(place)] == place or (answer is not MISSING and place[: len(steps)] == steps)
        for place in wrong
    )
