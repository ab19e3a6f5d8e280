"""Compound comparators, which score sibling fields as one, such as the parts of a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, final

from pytest_jsonmatch.engine.comparators.base import ComparatorResult
from pytest_jsonmatch.engine.comparators.parameters import get_required
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.comparators.base import BatchItem

Parts: TypeAlias = dict[str, Any]
CompoundFunction: TypeAlias = Callable[[Parts, Parts, Mapping[str, Any]], "float | ComparatorResult"]


@final
@dataclass(frozen=True, slots=True)
class CompoundComparator:
    """A batch comparator that scores sibling fields of an object as one; the primary field gets the score.

    Each field names its part: `"x-eval-compare": {"full_name": {"role": "surname"}}`. The fields of one
    object form a group. Its primary field gets the score, and the others become `skipped`, so that the group
    counts once.

    A group with a missing role (on either side, or because its field is not compared by this comparator)
    scores 0 on the primary. If the primary itself is missing on one side, it is an omission or hallucination
    as usual, and the others are skipped; if it is missing on both sides, nothing in the group is scored, so
    choose a primary field that is always present.

    A group with only nulls on one side scores 1 if the other side also has only nulls, else 0. Otherwise the
    function gets None for a null.

    Args:
        name: the name under which it will be registered, for messages.
        roles: the names of the parts, two or more.
        primary: the role that gets the score.
        fn: `fn(expected, actual, params)`, with a dict of role to value (after transforms) for each side and
            the parameters of the primary field except `role`; returns a number in [0, 1] or a
            ComparatorResult.

    Raises:
        ConfigurationError: there are fewer than two roles, duplicate roles, or a primary that is not a role.

    >>> from pytest_jsonmatch import compare_json
    >>> from pytest_jsonmatch.engine.plan.registry import session_registry
    >>> def same_words(expected, actual, params):
    ...     return sorted(" ".join(expected.values()).split()) == sorted(" ".join(actual.values()).split())
    >>> full_name = CompoundComparator("full_name", ["surname", "given"], "surname", same_words)
    >>> with session_registry() as registry:
    ...     registry.comparator("full_name", full_name)
    ...     result = compare_json(
    ...         {"last": "Luisa Alvarez", "first": "Maria", "age": 30},
    ...         {"last": "Alvarez", "first": "Maria Luisa", "age": 31},
    ...         metric="leaf_f1",
    ...         fields={
    ...             "last": {"compare": {"full_name": {"role": "surname"}}},
    ...             "first": {"compare": {"full_name": {"role": "given"}}},
    ...         },
    ...     )
    >>> result
    <MatchResult leaf_f1 score=0.5: 1 match, 1 mismatch, 1 skipped>
    """

    scope: ClassVar[str] = "record"
    null_aware: ClassVar[bool] = True

    name: str
    roles: Sequence[str]
    primary: str
    fn: CompoundFunction

    def __post_init__(self) -> None:
        roles: Any = self.roles
        if isinstance(roles, str) or len({*roles}) < max(2, len(roles)) or self.primary not in roles:
            raise ConfigurationError(
                f"compound comparator {self.name!r}: roles must be two or more different names, and the "
                f"primary one of them, got roles {roles!r} and the primary {self.primary!r}"
            )

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Raise ConfigurationError for a field without a valid role."""
        owner = f"comparator {self.name!r}"
        role = get_required(owner, params, "role", f'{{"role": "{self.primary}"}}')
        if role not in self.roles:
            raise ConfigurationError(f"{owner} has no role {role!r}{did_you_mean(str(role), self.roles)}")

    def __call__(self, items: Sequence[BatchItem]) -> list[object]:
        """Return an answer for each item: a score for a primary field, and `skip` for the others."""
        groups: dict[Any, list[BatchItem]] = {}
        for item in items:
            key = (item.record, item.expected_parent, item.actual_parent)
            groups.setdefault(key, []).append(item)
        answers: dict[str, object] = {}
        for group in groups.values():
            answers.update(self._answer_group(group))
        return [answers[item.id] for item in items]

    def _answer_group(self, group: Sequence[BatchItem]) -> dict[str, object]:
        by_role: dict[str, BatchItem] = {}
        for item in group:
            other = by_role.setdefault(item.params["role"], item)
            if other is not item:
                error = ValueError(
                    f"{other.path} and {item.path} both have the role {item.params['role']!r}; "
                    "only one field of an object can have it"
                )
                return {member.id: error for member in group}
        primary = by_role.get(self.primary)
        where = "which is missing" if primary is None else f"at {primary.path}"
        reason = f"scored with its {self.primary!r}, {where}"
        answers: dict[str, object] = {
            item.id: ComparatorResult(0.0, reason, skip=True, comparator=self.name) for item in group
        }
        if primary is not None:
            answers[primary.id] = self._score(primary, by_role)
        return answers

    def _score(self, primary: BatchItem, by_role: Mapping[str, BatchItem]) -> object:
        missing_roles = [role for role in self.roles if role not in by_role]
        if missing_roles:
            missing = ", ".join(map(repr, missing_roles))
            return ComparatorResult(0.0, f"incomplete: no {missing} to compare")
        expected = {role: by_role[role].expected_compared for role in self.roles}
        actual = {role: by_role[role].actual_compared for role in self.roles}
        for one, other in ((expected, actual), (actual, expected)):
            if all(value is None for value in one.values()):
                return float(all(value is None for value in other.values()))
        params = {name: value for name, value in primary.params.items() if name != "role"}
        try:
            return self.fn(expected, actual, params)
        except Exception as error:  # noqa: BLE001 - one group's failure must not affect others
            return error
