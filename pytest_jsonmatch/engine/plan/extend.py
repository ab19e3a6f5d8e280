"""Extend the rule of a field, so that a suggested rule keeps what the rules already say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.engine.plan.options import SKIP, read_spec, read_transforms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.plan.node import PlanNode


def extend_rule(given: Any, added: Any) -> dict[str, Any]:
    """Return a rule of `fields` with the words of another in addition; of a word in both, that of `added`.

    >>> extend_rule({"weight": 2, "tolerance": 1}, "amount"), extend_rule("amount", {"tolerance": 1})
    ({'weight': 2, 'compare': 'amount'}, {'tolerance': 1})
    """
    words = _list_words(added)
    extended = {**_list_words(given), **words}
    for word, other in (("compare", "tolerance"), ("tolerance", "compare")):
        if word in words:
            extended.pop(other, None)
    return extended


def _list_words(rule: Any) -> dict[str, Any]:
    """Return a rule as a mapping."""
    if isinstance(rule, str):
        return {"skip": True} if rule == SKIP else {"compare": rule}
    return dict(rule)


def add_transforms(rule: Mapping[str, Any], node: PlanNode) -> dict[str, Any]:
    """Return a rule for a place, with the transforms that apply there before those of the rule.

    A rule's transforms would otherwise replace those of weaker rules, of the schema and of the metric.
    """
    if "transform" not in rule:
        return dict(rule)
    earlier = _list_transforms(node)
    added = read_transforms("transform", rule["transform"])
    return {**rule, "transform": [*earlier, *(spec for spec in added if spec not in earlier)]}


def _list_transforms(node: PlanNode) -> list[Any]:
    """Return the transforms at a place as they are written in a rule, a schema or an option."""
    place: PlanNode | None = node
    options = node.plan.options
    while place is not None:
        words = [
            options.fields[rule.pattern.text]
            for rule in place.open_rules
            if rule.words.transform is not None and rule.pattern.accepts(rule.positions)
        ]
        if place.spec.schema is not None:
            words.insert(0, place.spec.schema.rules)
        listed = [each["transform"] for each in words if "transform" in each]
        if listed:
            # Texts are parsed at the place of the rule only, not below it.
            specs = read_transforms("transform", listed[-1])
            return [
                spec
                for spec in specs
                if place is node or read_spec("transform", spec, "transform").name != "parse_json"
            ]
        place = place.parent
    return list(options.transform)
