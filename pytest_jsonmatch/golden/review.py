"""Review: each difference of a failed case is shown, and a person accepts or rejects it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.datafiles import parse
from pytest_jsonmatch.golden.edit import identical, merge, trail_text
from pytest_jsonmatch.golden.update import expected_in
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.report.escape import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.errors import Trail
    from pytest_jsonmatch.golden.update import Request

QUESTION: Final = "  accept, accept as well, reject, skip this case, quit? [a/w/r/s/q] "
_ANSWERS: Final = {
    **dict.fromkeys(("a", "accept", "y", "yes"), "accept"),
    **dict.fromkeys(("w", "as well", "well", "too", "also"), "as well"),
    **dict.fromkeys(("r", "reject", "n", "no"), "reject"),
    **dict.fromkeys(("s", "skip"), "skip"),
    **dict.fromkeys(("q", "quit"), "quit"),
}
_NO_ACCEPT: Final = "the expected value is in a file of its own: write `accept` beside `expected_file`"
_WIDTH: Final = 300


def review(
    requests: Sequence[Request],
    *,
    show: Callable[[str], None],
    ask: Callable[[str], str],
    rules: Request | None = None,
    no_accept: str = _NO_ACCEPT,
) -> list[Request]:
    """Ask about each difference between expected and actual; return the requests that were accepted.

    What is accepted replaces the expected value; what is accepted as well goes into the case's `accept`.

    Args:
        requests: those of failed cases.
        show: shows some lines.
        ask: asks a question and returns the answer; empty text, without a line break, is the end of input,
            and ends the review.
        rules: the request for a file of options, whose `accept` takes what is accepted as well; None: that of
            the case does.
        no_accept: why nothing can be accepted as well where neither has one.

    Nothing is written for a case that is skipped, not even what was accepted before. After a quit, what was
    accepted until then is written.
    """
    # Runs of a case that want the same are asked about once.
    writes = list(dict.fromkeys(request for request in requests if request.action == "write"))
    asker = _Asker(show, ask, no_accept, has_rules=rules is not None)
    answered: list[Request] = []
    shared: dict[str, Accept] = {}
    for number, request in enumerate(writes, start=1):
        if asker.has_quit:
            break
        old = _expected_now(request)
        if old is MISSING:
            answered.append(request)  # the file has changed: planning the edit will say so
            continue
        show(f"\n{request.case} ({number} of {len(writes)})")
        asker.begin_case(request)
        new = merge(old, parse_json(request.value), asker.accept)
        if not asker.has_skipped and not identical(old, new):
            answered.append(replace(request, value=ascii_json(new)))
        if asker.has_skipped:
            continue
        if rules is not None:
            for pattern, accepted in asker.accepted.items():
                shared.setdefault(pattern, Accept()).add(accepted)
        elif asker.accepted:
            answered.append(_accepting(request, asker.accepted))
    if rules is not None and shared:
        answered.append(_accepting(rules, shared))
    return [*answered, *(request for request in requests if request.action != "write")]


def review_on_terminal(
    requests: Sequence[Request], rules: Request | None = None, no_accept: str = _NO_ACCEPT
) -> list[Request]:
    """Do what `review` does on standard input and output."""

    def show(text: str) -> None:
        sys.stdout.write("".join(f"{printable(line)}\n" for line in text.splitlines()))

    def ask(question: str) -> str:
        sys.stdout.write(question)
        sys.stdout.flush()
        return sys.stdin.readline()

    return review(requests, show=show, ask=ask, rules=rules, no_accept=no_accept)


def _expected_now(request: Request) -> JsonValue:
    """Return the expected value in its file now; MISSING if there is none."""
    path = Path(request.path)
    try:
        return expected_in(path.read_bytes(), path, request.trail)
    except OSError:
        return MISSING


def _accepting(request: Request, accepted: Mapping[str, Accept]) -> Request:
    """Return the request that adds to what a case accepts."""
    trail = (*request.trail[:-1], "accept")
    data = parse(Path(request.path).read_bytes(), request.name)
    # What the file accepts for a path does not hold where the case says something of that path itself.
    everywhere = data.get("accept") or {}
    for step in request.trail[:-1]:
        data = data[step]
    own = data.get("accept") or {}
    for pattern, more in accepted.items():
        said = own.get(pattern, everywhere.get(pattern, []))
        own = {**own, pattern: _with_more(said, more)}
    return replace(request, trail=trail, value=ascii_json(own))


def _with_more(said: JsonValue, more: Accept) -> JsonValue:
    """Return what is accepted at a path with more values, and whether it is optional.

    >>> _with_more(["a"], Accept(["b"])), _with_more({"regex": "x"}, Accept(["b"], optional=True))
    (['a', 'b'], {'regex': 'x', 'values': ['b'], 'optional': True})
    """
    words = {"values": said} if isinstance(said, list) else dict(said)
    values = list(words.get("values", []))
    values += [value for value in more.values if not any(identical(value, each) for each in values)]
    if values:
        words["values"] = values
    else:
        words.pop("values", None)
    if more.optional:
        words["optional"] = True
    return values if list(words) == ["values"] else words


@final
@dataclass
class Accept:
    """What is right at a path beside what is expected."""

    values: list[JsonValue] = field(default_factory=list)
    optional: bool = False

    def add(self, other: Accept) -> None:
        """Add what is right by another."""
        self.values += other.values
        self.optional = self.optional or other.optional


@final
class _Asker:
    """Asks about differences until the case is skipped or the review is ended."""

    def __init__(
        self, show: Callable[[str], None], ask: Callable[[str], str], no_accept: str, *, has_rules: bool
    ) -> None:
        self._show = show
        self._ask = ask
        self._no_accept = no_accept
        self._has_rules = has_rules
        self._has_accept = True
        self.has_quit = False
        self.has_skipped = False
        self.accepted: dict[str, Accept] = {}
        """What is accepted as well, by path pattern."""

    def begin_case(self, request: Request) -> None:
        self.has_skipped = False
        self.accepted = {}
        # An expected value in a file of its own has no `accept` beside it.
        self._has_accept = self._has_rules or request.trail[-1:] == ("expected",)

    def accept(self, trail: Trail, old: JsonValue, new: JsonValue) -> bool:
        if self.has_quit or self.has_skipped:
            return False
        self._show(f"  {trail_text(trail) or 'the whole value'}")
        self._show(f"    expected {'(nothing)' if old is MISSING else render(old, _WIDTH)}")
        self._show(f"    actual   {'(nothing)' if new is MISSING else render(new, _WIDTH)}")
        while True:
            answer = self._ask(QUESTION)
            meant = "quit" if not answer else _ANSWERS.get(answer.strip().lower())
            if meant == "as well" and (refusal := self._refusal(old)):
                self._show(f"  {refusal}")
            elif meant is not None:
                break
        self.has_quit = meant == "quit"
        self.has_skipped = meant == "skip"
        if meant == "as well":
            pattern = format_path(tuple(ELEMENT if isinstance(step, int) else step for step in trail))
            accepted = self.accepted.setdefault(pattern, Accept())
            if new is MISSING:
                accepted.optional = True
            else:
                accepted.values.append(new)
        return meant == "accept"

    def _refusal(self, old: JsonValue) -> str | None:
        """Return why a difference can't be accepted as well, if it can't."""
        if old is MISSING:
            return "nothing is expected there: accept it, or reject it"
        if not self._has_accept:
            return self._no_accept
        return None
