"""Gold that is likely wrong: places where several systems agree with each other against it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import fsum, log2
from operator import eq
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch import defaults
from pytest_jsonmatch.engine.score.field import LEAFLESS, MATCH, OMISSION
from pytest_jsonmatch.engine.value.convert import MISSING, get_value, replace_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.engine.value.paths import format_path, parse_path
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.study.answers import RecordComparer, answered, chunks_of
from pytest_jsonmatch.study.places import disagreements, field_of, nodes_of, path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.answers import Answered, ComparedAnswer
    from pytest_jsonmatch.study.gold_records import Records
    from pytest_jsonmatch.study.places import Steps

    _Wrong = Mapping[str, Mapping[Steps, Sequence[JsonValue]]]
    """What systems say about a record where they are wrong, by system and place."""

_PRIOR: Final = log2(1 / 49)
"""The log-odds, in bits, that a gold value is wrong before anyone has answered: one in fifty is."""
_AGREE: Final = 2
"""At least this many systems must agree with each other."""


@final
@dataclass(frozen=True, slots=True)
class Suspect:
    """A place at which the gold is likely wrong."""

    record: str
    """The record's id or file, else its position."""
    position: int
    """The record's position among all, from 0."""
    path: str
    """The instance path in the gold; an element that the gold lacks is the next one of its array."""
    field: str
    """The schema path."""
    kind: str
    """What the systems want at the place: "change", "add" where the gold has nothing, or "remove"."""
    gold: JsonValue
    """What the gold says; None if it has nothing there."""
    said: JsonValue
    """What the systems say; None if they have nothing there."""
    systems: tuple[str, ...]
    """Those that agree with each other."""
    backing: tuple[str, ...]
    """Those that agree with the gold."""
    trail: Steps
    """The keys and indices that lead to the place in the gold."""
    evidence: float = 0.0
    """How strongly the systems speak against the gold, in bits: one more is twice as strong."""

    @property
    def probability(self) -> float:
        """How likely the gold is wrong, if one gold value in fifty is and systems err independently."""
        return 1 / (1 + 2 ** min(-self.evidence - _PRIOR, 1000.0))

    @property
    def wanted(self) -> JsonValue:
        """What the systems want at the place, MISSING for nothing."""
        return MISSING if self.kind == "remove" else self.said


@final
@dataclass(frozen=True, slots=True)
class GoldAudit:
    """Gold that is likely wrong, the most suspicious first."""

    systems: tuple[str, ...]
    records: int
    found: tuple[Suspect, ...]
    """Places at which the evidence is against the gold, the strongest first."""
    notes: tuple[str, ...] = ()
    """Remarks, such as how many answers are missing."""

    @property
    def figures(self) -> Mapping[str, float | None]:
        """`suspects`, the number of places where the gold is rather wrong than right, and `suspect_records`.

        The latter is the share of the records with any.
        """
        likely = [each.position for each in self.found if each.probability > 0.5]
        share = len(set(likely)) / self.records if self.records else None
        return {"suspects": len(likely), "suspect_records": share}

    @property
    def expected(self) -> float:
        """At how many of the places found the gold is likely wrong."""
        return fsum(suspect.probability for suspect in self.found)


def audit_gold(
    gold: Records,
    answers: Mapping[str, Records],
    *,
    metric: str = defaults.METRIC,
    id_field: str | None = None,
    **options: Any,
) -> GoldAudit:
    """Find the places of gold records at which several systems agree with each other against them.

    Two systems agree at a place if the answer of one would match a gold record that said what the other says,
    under the same metric, schema and rules by which answers are scored.

    Places are ranked by the log-odds, in bits, of a naive Bayes model of independent annotators (after Dawid
    and Skene 1979), in which each wrong value is as frequent as it is in the gold; docs/audit.md has the
    formula. With the prior that one gold value in fifty is wrong they give a probability, which is too high
    where systems share mistakes.

    Args:
        gold: the gold records, read once for each system: a list, the path of a JSON Lines file, or a mapping
            of ids to records, which are paired with answers by position.
        answers: the answers of each system by its name, as `compare_corpus` takes them.
        metric: a metric's name.
        id_field: the member that pairs records and answers; without one they are paired by position.
        options: options of the metric, `schema` among them, and `judge`, as for `compare_json`.

    Returns:
        The suspects, the strongest evidence first.

    Raises:
        ConfigurationError: fewer than two systems, or what `compare_corpus` raises.
        GoldValidationError: a gold record is not valid.

    >>> gold = [{"id": "r1", "total": 11}, {"id": "r2", "total": 7}, {"id": "r3", "total": 9}]
    >>> right = [*gold[:2], {"id": "r3", "total": 90}]
    >>> found = audit_gold(gold, {"a": right, "b": right, "c": right}, id_field="id").found
    >>> [(each.record, each.path, each.gold, each.said, each.systems) for each in found]
    [('r3', 'total', 9, 90, ('a', 'b', 'c'))]
    """
    auditor, compare, notes = Auditor(tuple(answers)), RecordComparer(metric, options), list[str]()
    for chunk in chunks_of(answered(gold, answers, id_field, compare, notes), len(answers)):
        auditor.add(chunk, compare)
    compare.warn()
    return auditor.result(notes)


@final
@dataclass(slots=True)
class _Seen:
    """What was seen of a field, with everything in it."""

    right: Counter[str] = field(default_factory=Counter)
    """By system: how often its answers were right there."""
    wrong: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    """How often a wrong answer had nothing there."""
    golds: Counter[int] = field(default_factory=Counter)
    """Gold values, hashed."""

    @property
    def nothing(self) -> float:
        """How likely a wrong answer has nothing there."""
        return (self.missing + 1) / (self.wrong.total() + 2)

    @property
    def alike(self) -> float:
        """How likely two gold values are alike; one half before there are any."""
        number = self.golds.total()
        alike = sum(times * (times - 1) for times in self.golds.values())
        return (alike + 1) / (number * (number - 1) + 2)


@lru_cache(maxsize=1 << 12)
def _around(path: str) -> tuple[str, ...]:
    """Return the path of a field, after those of everything around it.

    >>> _around("items[].price")
    ('$', 'items', 'items[]', 'items[].price')
    """
    segments = parse_path(path)
    return tuple(format_path(segments[:number]) for number in range(len(segments) + 1))


@final
@dataclass(slots=True)
class _Dispute:
    """A place at which several systems are wrong."""

    record: Answered
    wrong: _Wrong
    trail: Steps
    groups: list[dict[str, JsonValue]]
    """What systems say, by system; those that say the same are together."""


@final
class Auditor:
    """Takes records with their answers, one after another, and finds what is likely wrong in them."""

    def __init__(self, systems: tuple[str, ...]) -> None:
        if len(systems) < _AGREE:
            raise ConfigurationError(
                f"an audit needs at least {_AGREE} systems, got {len(systems)}: gold is suspicious where "
                "systems agree against it"
            )
        self._systems = systems
        self._records = 0
        self._missing: Counter[str] = Counter()
        self._seen: defaultdict[str, _Seen] = defaultdict(_Seen)
        self._suspects: list[Suspect] = []

    def add(self, records: Sequence[Answered], compare: RecordComparer) -> None:
        """Take gold records and the answers to them; a judge is asked about all of them together.

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
            each.position: {} for each in records
        }
        for (record, system, _), compared in zip(given, results, strict=True):
            if (result := record.checked(compared)) is not None:
                by_record[record.position][system] = self._count(system, result)
        disputes = []
        for record in records:
            wrong = by_record[record.position]
            self._missing.update(set(self._systems).difference(wrong))
            for segments, value in nodes_of(record.gold):
                self._seen[path_of(segments)].golds[hash(render(value))] += 1
            for trail, votes in Counter(trail for places in wrong.values() for trail in places).items():
                if votes >= _AGREE:
                    disputes.append(_Dispute(record, wrong, trail, _groups(wrong, trail)))
        self._settle(disputes, compare)

    def _count(self, system: str, result: MatchResult) -> dict[Steps, list[JsonValue]]:
        """Count what is right in an answer, and return what is wrong, by its place in the gold."""
        leaves = [leaf for leaf in result.field_results if leaf.status not in LEAFLESS]
        for leaf in leaves:
            for path in _around(leaf.path):
                seen = self._seen[path]
                (seen.right if leaf.status == MATCH else seen.wrong)[system] += 1
                seen.missing += leaf.status == OMISSION
        return {} if all(leaf.status == MATCH for leaf in leaves) else disagreements(result)

    def _settle(self, disputes: list[_Dispute], compare: RecordComparer) -> None:
        """Find the systems that agree with the largest group of each place, then those of the rest."""
        while disputes:
            asked = []
            leaders = []
            for dispute in disputes:
                leading, *rest = sorted(dispute.groups, key=len, reverse=True)
                said = next(iter(leading.values()))
                leaders.append((dispute, leading, said))
                alike = [group for group in rest if (MISSING in group.values()) == (said is MISSING)]
                dispute.groups = [group for group in rest if group not in alike]
                corrected = replace_value(dispute.record.gold, dispute.trail, said) if alike else None
                asked += [(dispute, leading, group, corrected) for group in alike]
            pairs = ((of.record.answers[next(iter(group))], corrected) for of, _, group, corrected in asked)
            for (dispute, leading, group, _), compared in zip(asked, compare(pairs), strict=True):
                # A system that has added two elements has not said one thing twice.
                if leading.keys().isdisjoint(group) and _is_right(dispute.trail, compared):
                    leading.update(group)
                else:
                    dispute.groups.append(group)
            self._suspects += [_suspect(*each) for each in leaders if len(each[1]) >= _AGREE]
            disputes = [dispute for dispute in disputes if sum(map(len, dispute.groups)) >= _AGREE]

    # -- ranking -------------------------------------------------------------------------------------------

    def _evidence(self, suspect: Suspect) -> float:
        """Return how strongly systems speak against the gold, in bits."""
        seen, overall = self._seen[suspect.field], self._seen["$"]
        chance = seen.alike

        def skill(name: str, *, was_right: bool) -> float:
            # Add two imaginary answers as good as its answers to all fields; leave out what it says here.
            general = (overall.right[name] + 1) / (overall.right[name] + overall.wrong[name] + 2)
            right = max(seen.right[name] - was_right, 0)
            wrong = max(seen.wrong[name] - (not was_right), 0)
            share = (right + 2 * general) / (right + wrong + 2)
            return log2(share / (1 - share))

        alike = seen.nothing if suspect.kind == "remove" else chance
        against = fsum(skill(name, was_right=False) for name in suspect.systems)
        against -= (len(suspect.systems) - 1) * log2(alike)
        return against - fsum(skill(name, was_right=True) - log2(chance) for name in suspect.backing)

    def result(self, notes: Iterable[str] = ()) -> GoldAudit:
        """Return what was found."""
        weighed = (replace(each, evidence=self._evidence(each)) for each in self._suspects)
        against = [each for each in weighed if each.evidence > 0]
        against.sort(key=lambda each: (-each.evidence, each.position))
        silent = [
            f"{name}: missing or not comparable: {count(missing)} of {count(self._records, 'answer')}; "
            "not counted there"
            for name in self._systems
            if (missing := self._missing[name])
        ]
        return GoldAudit(self._systems, self._records, tuple(against), (*silent, *notes))


def _groups(wrong: _Wrong, trail: Steps) -> list[dict[str, JsonValue]]:
    """Return what systems say at a place; those that say the same are together."""
    groups: dict[str, dict[str, JsonValue]] = {}
    for system, places in wrong.items():
        for value in places.get(trail, ()):
            groups.setdefault("" if value is MISSING else render(value), {}).setdefault(system, value)
    return list(groups.values())


def _suspect(dispute: _Dispute, leading: Iterable[str], said: JsonValue) -> Suspect:
    trail, gold = dispute.trail, get_value(dispute.record.gold, dispute.trail)
    backing = (
        name
        for name, wrong in dispute.wrong.items()
        if name not in leading and not _says_else(wrong, trail, said)
    )
    return Suspect(
        str(dispute.record.id),
        dispute.record.position,
        format_path(trail),
        field_of(trail),
        "add" if gold is MISSING else "remove" if said is MISSING else "change",
        None if gold is MISSING else gold,
        None if said is MISSING else said,
        tuple(name for name in dispute.wrong if name in leading),
        tuple(backing),
        trail,
    )


def _is_right(trail: Steps, compared: ComparedAnswer) -> bool:
    """Tell whether an answer is right at a place."""
    if isinstance(compared, JsonMatchError):
        return False
    # Two places overlap if one leads to the other.
    return not any(all(map(eq, place, trail)) for place in disagreements(compared))


def _says_else(wrong: Iterable[Steps], trail: Steps, said: JsonValue) -> bool:
    """Tell whether a system that is wrong at some places does not side with the gold at this one."""
    return any(
        trail[: len(place)] == place or (said is not MISSING and place[: len(trail)] == trail)
        for place in wrong
    )
