"""Places where more than the expected value is right: the best of all that is right there counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.score.outcome import MATCH, MISMATCH, SKIPPED, Choice, Detail, Rating
from pytest_jsonmatch.engine.score.places import Places
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Place
    from pytest_jsonmatch.engine.value.convert import JsonValue

# Another value must score more than the expected one by more than this, which may be rounding.
_ROUNDING: Final = 1e-12


_EXPECTED: Final = Choice()


class Accepting(Places, ABC):
    """A walk's way with places where more than the expected value is right."""

    __slots__ = ()

    @abstractmethod
    def place(
        self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue, bare: bool = False
    ) -> None:
        """Score one place and everything below it; if it is `bare`, only the expected value is right."""

    @abstractmethod
    def figure(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> float:
        """Return the score of one place alone, whatever else is accepted there."""

    def accepting(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> None:
        """Score a place where more than the expected value is right."""
        accept = node.accept
        if node.skip or expected is MISSING or accept is None or (actual is MISSING and not accept.optional):
            self.place(node, where, expected, actual, bare=True)
            return
        if actual is MISSING:
            self.add(node, where, Rating(SKIPPED, 0.0, Detail(reason="optional")), expected, actual)
            return
        choice = self.own.choices.get(where)
        if choice is None:
            choice = self.own.choices[where] = self._choice(node, where, expected, actual)
        if choice.rating is not None:
            self.add(node, where, choice.rating, expected, actual)
            return
        if not choice.number:
            self.place(node, where, expected, actual, bare=True)
            return
        taken = accept.alternatives[choice.number - 1]
        start = len(self.findings)
        self.place(node, where._replace(choice=choice.number), taken.value, actual, bare=True)
        if type(taken.value) in CONTAINERS and node.explicit is None:
            return
        for at, found in enumerate(self.findings[start:], start):
            reason = f"{'accepted' if found.score == 1.0 else 'nearest accepted value'}: {taken.text}"
            detail = (found.detail or Detail())._replace(reason=reason)
            self.findings[at] = found._replace(expected=expected, detail=detail)

    def _choice(self, node: PlanNode, where: Place, expected: JsonValue, actual: JsonValue) -> Choice:
        """Return what counts at a place: the value with the best score, the first among equals."""
        accept = node.accept
        assert accept is not None  # noqa: S101 - for the type checker
        chosen, most = _EXPECTED, self.figure(node, where, expected, actual)
        for number, each in enumerate(accept.alternatives, 1):
            if most == 1.0:
                return chosen
            kinds = {type(each.value), type(actual)}
            if len(kinds) > 1 and kinds & CONTAINERS and node.explicit is None:
                continue  # it scores 0
            figure = self.figure(node, where._replace(choice=number), each.value, actual)
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
