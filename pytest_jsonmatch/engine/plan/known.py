"""The paths of fields that are known although no comparison may have a result there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.paths import ANY_DEPTH, ANY_KEY, ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.engine.plan.fieldrules import PlanBase
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.paths import Segment

_MAX_LEVELS: Final = 30
"""A schema that contains itself is read up to this depth."""


def find_known_paths(plan: PlanBase) -> tuple[str, ...]:
    """Return the paths of the fields that a schema lists, and of those that rules name without wildcards."""
    listed = [] if plan.schema is None else list(_iter_leaves(plan.schema, (), (plan.schema,)))
    named = [rule.pattern.segments for rule in plan.open_rules]
    paths = [path for path in (*listed, *named) if path and not {ANY_KEY, ANY_DEPTH} & {*path}]
    if plan.options.granularity == "fields":
        paths = [path for path in paths if len(path) == 1]
    return tuple(dict.fromkeys(map(format_path, paths)))


def _iter_leaves(
    node: SchemaNode, path: tuple[Segment, ...], above: tuple[SchemaNode, ...]
) -> Iterator[tuple[Segment, ...]]:
    """Yield the paths of the places of a schema without further places below them."""
    children: dict[Segment, SchemaNode] = {}
    children.update(node.properties or {})
    if node.items is not None:
        children[ELEMENT] = node.items
    if not children and not node.branches:
        yield path
    for step, child in children.items():
        if child not in above and len(above) < _MAX_LEVELS:
            yield from _iter_leaves(child, (*path, step), (*above, child))


def find_absent_paths(node: PlanNode, value: JsonValue) -> Iterator[str]:
    """Yield the schema paths of the members of expected that are absent by `nulls` or `absent`."""
    absent = node.plan.absent
    if absent is None:
        return
    for key, child, item in node.iter_children(value):
        if type(key) is str and absent.is_absent(child, item):
            yield child.path
        else:
            yield from find_absent_paths(child, item)
