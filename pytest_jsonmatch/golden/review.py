"""Review: each difference of a failed case is shown, and a person accepts or rejects it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.bounds import UNLIMITED
from pytest_jsonmatch.golden.datafiles import is_json_file, parse
from pytest_jsonmatch.golden.edit import identical, merge, trail_text
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.strict import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.errors import Trail
    from pytest_jsonmatch.golden.update import Request

QUESTION: Final = "  accept, reject, skip this case, quit? [a/r/s/q] "
_ANSWERS: Final = {
    **dict.fromkeys(("a", "accept", "y", "yes"), "accept"),
    **dict.fromkeys(("r", "reject", "n", "no"), "reject"),
    **dict.fromkeys(("s", "skip"), "skip"),
    **dict.fromkeys(("q", "quit"), "quit"),
}
_WIDTH: Final = 300


def review(
    requests: Sequence[Request], *, show: Callable[[str], None], ask: Callable[[str], str]
) -> list[Request]:
    """Ask about each difference between expected and actual; return the requests that were accepted.

    Args:
        requests: those of failed cases.
        show: shows some lines.
        ask: asks a question and returns the answer; empty text, without a line break, is the end of input,
            and ends the review.

    Nothing is written for a case that is skipped, not even what was accepted before. After a quit, what was
    accepted until then is written.
    """
    # Runs of a case that want the same are asked about once.
    writes = list(dict.fromkeys(request for request in requests if request.action == "write"))
    asker = _Asker(show, ask)
    answered: list[Request] = []
    for number, request in enumerate(writes, start=1):
        if asker.has_quit:
            break
        old = _expected_now(request)
        if old is MISSING:
            answered.append(request)  # the file has changed: planning the edit will say so
            continue
        show(f"\n{request.case} ({number} of {len(writes)})")
        asker.begin_case()
        new = merge(old, parse_json(request.value), asker.accept)
        if not asker.has_skipped and not identical(old, new):
            answered.append(replace(request, value=ascii_json(new)))
    return [*answered, *(request for request in requests if request.action != "write")]


def _expected_now(request: Request) -> JsonValue:
    """Return the expected value in its file now; MISSING if there is none."""
    try:
        data = Path(request.path).read_bytes()
        value = parse(data, request.name, is_json=is_json_file(request.path), limit=UNLIMITED)
        for step in request.trail:
            value = value[step]
    except (OSError, JsonMatchError, LookupError, TypeError):
        return MISSING
    return value


@final
class _Asker:
    """Asks about differences until the case is skipped or the review is ended."""

    def __init__(self, show: Callable[[str], None], ask: Callable[[str], str]) -> None:
        self._show = show
        self._ask = ask
        self.has_quit = False
        self.has_skipped = False

    def begin_case(self) -> None:
        self.has_skipped = False

    def accept(self, trail: Trail, old: JsonValue, new: JsonValue) -> bool:
        if self.has_quit or self.has_skipped:
            return False
        self._show(f"  {trail_text(trail) or 'the whole value'}")
        self._show(f"    expected {'(nothing)' if old is MISSING else render(old, _WIDTH)}")
        self._show(f"    actual   {'(nothing)' if new is MISSING else render(new, _WIDTH)}")
        while True:
            answer = self._ask(QUESTION)
            meant = "quit" if not answer else _ANSWERS.get(answer.strip().lower())
            if meant is not None:
                break
        self.has_quit = meant == "quit"
        self.has_skipped = meant == "skip"
        return meant == "accept"
