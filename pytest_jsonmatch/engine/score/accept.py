"""Places where more than the expected value is right: the best of all that is right there counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.score.outcome import MATCH, MISMATCH, SKIPPED, Detail
from pytest_jsonmatch.engine.score.places import Rating
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Place
    from pytest_jsonmatch.engine.score.walk import Walk
    from pytest_jsonmatch.engine.value.convert import JsonValue

# Another value must score more than the expected one by more than this, which may be rounding.
_ROUNDING: Final = 1e-12


@final
class Choice(NamedTuple):
    """What counts at a place."""

    number: int = 0
    """0: the expected value; n: the nth value that is accepted beside it."""
    rating: Rating | None = None
    """What the predicates say, if they decide."""


_EXPECTED: Final = Choice()


def accepting(walk: Walk, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
    """Score a place where more than the expected value is right."""
    accept = node.accept
    if node.skip or expected is MISSING or accept is None or (actual is MISSING and not accept.optional):
        walk.place(node, where, expected, actual, bare=True)
        return
    if actual is MISSING:
        walk.add(node, where, Rating(SKIPPED, 0.0, Detail(reason="optional")), expected, actual)
        return
    choice = walk.own.choices.get(where)
    if choice is None:
        choice = walk.own.choices[where] = _choice(walk, node, where, expected, actual)
    if choice.rating is not None:
        walk.add(node, where, choice.rating, expected, actual)
        return
    if not choice.number:
        walk.place(node, where, expected, actual, bare=True)
        return
    taken = accept.alternatives[choice.number - 1]
    start = len(walk.findings)
    walk.place(node, where._replace(choice=choice.number), taken.value, actual, bare=True)
    if type(taken.value) in CONTAINERS and node.explicit is None:
        return
    for at, found in enumerate(walk.findings[start:], start):
        reason = f"{'accepted' if found.score == 1.0 else 'nearest accepted value'}: {taken.text}"
        detail = (found.detail or Detail())._replace(reason=reason)
        walk.findings[at] = found._replace(expected=expected, detail=detail)


def _choice(walk: Walk, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> Choice:
    """Return what counts at a place: the value with the best score, the first among equals."""
    accept = node.accept
    assert accept is not None  # noqa: S101 - for the type checker
    chosen, most = _EXPECTED, walk.figure(node, where, expected, actual)
    for number, each in enumerate(accept.alternatives, 1):
        if most == 1.0:
            return chosen
        kinds = {type(each.value), type(actual)}
        if len(kinds) > 1 and kinds & CONTAINERS and node.explicit is None:
            continue  # it scores 0
        figure = walk.figure(node, where._replace(choice=number), each.value, actual)
        if figure > most + _ROUNDING:
            chosen, most = Choice(number), figure
    if most == 1.0:
        return chosen
    try:
        said = accept.predicate_of(node.prepare(actual))
    except TimeoutError as error:
        return Choice(rating=Rating(MISMATCH, 0.0, Detail(error=str(error))))
    if said is None:
        return chosen
    return Choice(rating=Rating(MATCH, 1.0, Detail(reason=f"accepted: {said}")))
