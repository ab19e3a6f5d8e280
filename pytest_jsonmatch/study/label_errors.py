"""Find gold values that are likely wrong: several systems agree on a different value."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from math import fsum, log2, log10
from operator import eq
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.corpus.mistakes import find_other_forms
from pytest_jsonmatch.engine.score.field import MATCH, OMISSION, UNCOUNTED
from pytest_jsonmatch.engine.value.convert import MISSING, get_value, replace_value
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, warn_caller
from pytest_jsonmatch.engine.value.paths import format_path, parse_path
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.records.pairing import Reading
from pytest_jsonmatch.study.answers import RecordComparer, pair_answers, split_chunks
from pytest_jsonmatch.study.places import find_disagreements, format_cached, format_schema_path, iter_nodes
from pytest_jsonmatch.study.words import describe_study
from pytest_jsonmatch.support import defaults
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.records.columns import ColumnSelection
    from pytest_jsonmatch.study.answers import Answered, ComparedAnswer
    from pytest_jsonmatch.study.gold_records import Records
    from pytest_jsonmatch.study.places import Steps

    _Wrong = Mapping[str, Mapping[Steps, Sequence[JsonValue]]]
    """The wrong values in the answers to a record, by system and path."""

_PRIOR: Final = log2(1 / 49)
"""The prior log-odds, in bits, that a gold value is wrong: one in fifty."""
_AGREE: Final = 2
"""At least this many systems must agree with each other."""
_MIN_SYSTEMS: Final = 3
"""Fewer systems do not show how often two of them make the same mistake."""
_NEAR: Final = 1e-9
_PSEUDO: Final = 2.0
"""The weight of independence, in mistakes, in the estimate of shared mistakes."""


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
    is_outside_schema: bool = False
    """Whether the schema's `enum` does not have the gold value: then it is wrong, whatever systems return."""

    @property
    def probability(self) -> float:
        """The probability of an error, if one gold value in fifty is wrong and systems err independently."""
        if self.is_outside_schema:
            return 1.0
        return 1 / (1 + 2 ** min(-self.evidence - _PRIOR, 1000.0))

    @property
    def change(self) -> str:
        """How the value of the systems differs from the gold value, such as "factor 0.01"; else empty."""
        return describe_change(self.gold, self.answer) if self.kind == "change" else ""

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

        The latter is the share of the records that have suspects. None for two systems, which may share
        mistakes without anyone knowing how often.
        """
        if len(self.systems) < _MIN_SYSTEMS:
            return {"suspects": None, "suspect_records": None}
        likely = [suspect.position for suspect in self.found if suspect.probability > 0.5]
        share = len(set(likely)) / self.records if self.records else None
        return {"suspects": len(likely), "suspect_records": share}

    @property
    def expected(self) -> float | None:
        """The expected number of errors among the values found: the sum of their probabilities.

        None for two systems.
        """
        if len(self.systems) < _MIN_SYSTEMS:
            return None
        return fsum(suspect.probability for suspect in self.found)

    @property
    def groups(self) -> list[list[Suspect]]:
        """The values found, with those of a field that differ in the same way together.

        Such a group may be one systematic mistake: of the systems, or of the gold.
        """
        groups: dict[object, list[Suspect]] = {}
        for number, suspect in enumerate(self.found):
            change = suspect.change
            key = (suspect.field, change) if change else number
            groups.setdefault(key, []).append(suspect)
        return list(groups.values())


def audit_gold(
    answers: Mapping[str, Records],
    gold: Records,
    /,
    *,
    metric: str = defaults.METRIC,
    id: str | None = None,
    actual: ColumnSelection | None = None,
    expected: ColumnSelection | None = None,
    delimiter: str | None = None,
    **options: Any,
) -> GoldAudit:
    """Find gold values that are likely wrong because several systems agree on a different value.

    Two systems agree on a value if the answer of one matches the gold record with the value of the other, by
    the metric, schema and rules that score answers.

    Gold values outside the `enum` of the schema come first. Others are ranked by the log-odds, in bits, of a
    naive Bayes model of annotators (after Dawid and Skene 1979), in which each wrong value is as frequent as
    in the gold records, or, with three or more systems, as often shared as where another system agrees with
    the gold; docs/analyse.md has the formula. The prior that one gold value in fifty is wrong gives a
    probability, which is too high if all systems share mistakes.

    Args:
        answers: the answers of each system by its name, as for `compare_corpus`.
        gold: the gold records, as for `compare_corpus`, read once for each system; records of a mapping are
            paired with answers by position.
        metric: the name of a metric.
        id: the column that pairs records and answers; None pairs by position.
        actual: the column of the answer, or a mapping of fields to columns; by default the whole record.
        expected: the column of gold records with what is expected, or a mapping.
        delimiter: the delimiter of CSV files.
        options: options of the metric, including `schema` and `judge`, as for `compare_json`.

    Returns:
        The suspects, the strongest evidence first.

    Raises:
        ConfigurationError: fewer than two systems; or as for `compare_corpus`.
        GoldValidationError: a gold record is not valid.

    >>> gold = [{"id": "r1", "total": 11}, {"id": "r2", "total": 7}, {"id": "r3", "total": 9}]
    >>> right = [*gold[:2], {"id": "r3", "total": 90}]
    >>> found = audit_gold({"a": right, "b": right, "c": right}, gold, id="id").found
    >>> [(each.record, each.path, each.gold, each.answer, each.systems) for each in found]
    [('r3', 'total', 9, 90, ('a', 'b', 'c'))]
    """
    compare, notes = RecordComparer(metric, options), list[str]()
    auditor = Auditor(tuple(answers), compare.how.plan.schema)
    reading = Reading(id, compare.how.repair, expected, actual, delimiter)
    for chunk in split_chunks(pair_answers(answers, gold, reading, compare, notes), len(answers)):
        auditor.add(chunk, compare)
    compare.warn()
    for records in answers.values():
        if (text := find_other_forms(records, gold, reading)) is not None:
            warn_caller(text)
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
    mistakes: int = 0
    """How often a system made a mistake that a second one could share, while a third agreed with the gold."""
    shared: int = 0
    """How often the second system shared it."""

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

    def __init__(self, systems: tuple[str, ...], schema: SchemaNode | None = None) -> None:
        if len(systems) < _AGREE:
            raise ConfigurationError(
                f"an audit needs at least {_AGREE} systems, got {len(systems)}: gold is suspicious where "
                "systems agree against it"
            )
        self._systems, self._schema = systems, schema
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
                groups = _groups(wrong, steps)
                self._count_shared(format_schema_path(steps), wrong, groups)
                if votes >= _AGREE:
                    disputes.append(_Dispute(record, wrong, steps, groups))
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

    def _count_shared(self, path: str, wrong: _Wrong, groups: Sequence[Mapping[str, JsonValue]]) -> None:
        """Count how often a second system shares a mistake at a path where a third agrees with the gold."""
        mistaken = {name for group in groups for name in group}
        right = len(wrong) - len(mistaken)
        for group in groups:
            for name in group:
                for other in wrong:
                    if other != name and right - (other not in mistaken) > 0:
                        for seen in (self._seen[path], self._seen["$"]):
                            seen.mistakes += 1
                            seen.shared += other in group

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

        def accuracy(name: str, *, was_right: bool) -> float:
            # Add two pseudo-answers with the accuracy of the system over all fields; leave out this value.
            general = (overall.right[name] + 1) / (overall.right[name] + overall.wrong[name] + 2)
            right = max(seen.right[name] - was_right, 0)
            wrong = max(seen.wrong[name] - (not was_right), 0)
            return (right + 2 * general) / (right + wrong + 2)

        # This place counts as a shared mistake itself if another system agrees with the gold: leave it out.
        together, right = len(suspect.systems), len(suspect.backing)
        own_shared = together * (together - 1) if right else 0
        own_mistakes = own_shared + (together * right if right > 1 else 0)

        def same_mistake(share: float) -> float:
            """Return the probability that a system makes the same mistake as another one."""
            probability = (1 - share) * (seen.missing_rate if suspect.kind == "remove" else chance)
            independent = probability
            for counts in (overall, seen):
                shared, mistakes = max(counts.shared - own_shared, 0), max(counts.mistakes - own_mistakes, 0)
                probability = (shared + _PSEUDO * probability) / (mistakes + _PSEUDO)
            return max(probability, independent)

        first, *others = (accuracy(name, was_right=False) for name in suspect.systems)
        against = log2(first / (1 - first)) + fsum(log2(share / same_mistake(share)) for share in others)
        backing = [accuracy(name, was_right=True) for name in suspect.backing]
        return against - fsum(log2(share / (1 - share)) - log2(chance) for share in backing)

    def _is_outside_schema(self, suspect: Suspect) -> bool:
        """Return whether the schema lists the values at a place, and the gold value is not among them."""
        node = self._schema
        for step in suspect.steps:
            if node is None:
                return False
            node = node.items if type(step) is int else (node.properties or {}).get(str(step))
        if node is None or node.enum is None or suspect.kind == "add":
            return False
        return not any(json_equal(value, suspect.gold) for value in node.enum)

    def result(self, notes: Iterable[str] = ()) -> GoldAudit:
        """Return the audit of all records."""
        weighed = (
            replace(
                suspect,
                evidence=self._evidence(suspect),
                is_outside_schema=self._is_outside_schema(suspect),
            )
            for suspect in self._suspects
        )
        against = [suspect for suspect in weighed if suspect.evidence > 0 or suspect.is_outside_schema]
        against.sort(key=lambda suspect: (not suspect.is_outside_schema, -suspect.evidence, suspect.position))
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


def describe_change(gold: JsonValue, answer: JsonValue) -> str:
    """Return in which way an answer differs from a gold value, the same for values changed alike; else "".

    >>> describe_change(1250, 12.5), describe_change("Acme Corp", "Acme"), describe_change("Acme", "ACME")
    ('factor 0.01', 'cut off', 'case')
    >>> describe_change(3, 4), describe_change("Ann", "Bob")
    ('', '')
    """
    if type(gold) in {int, float} and type(answer) in {int, float}:
        factor = answer / gold if gold else 0.0
        power = log10(abs(factor)) if factor else 0.5
        is_simple = abs(power - round(power)) < _NEAR or abs(factor - round(factor, 2)) < _NEAR
        return f"factor {factor:.6g}" if factor and is_simple and abs(answer - gold) > 1 else ""
    if type(gold) is not str or type(answer) is not str:
        return ""
    if gold.casefold() == answer.casefold():
        return "case"
    if [*filter(str.isalnum, gold.casefold())] == [*filter(str.isalnum, answer.casefold())]:
        return "punctuation"
    if answer and (gold.startswith(answer) or gold.endswith(answer)):
        return "cut off"
    if gold and (answer.startswith(gold) or answer.endswith(gold)):
        return "longer"
    return ""


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
