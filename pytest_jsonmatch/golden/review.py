"""Review on the terminal: a person decides about each difference; then the updates are shown."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.golden.merge import merge
from pytest_jsonmatch.golden.update import read_value_at
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.errors import InvalidValueError
from pytest_jsonmatch.reading.matchers import to_file_form, with_matchers
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.report.styled import BOLD, GREEN, PLAIN, RED
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.report.valuetext import short_texts
from pytest_jsonmatch.support.atomic import read_file
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.update import FileUpdate, Request, ValueChange
    from pytest_jsonmatch.reading.errors import Steps
    from pytest_jsonmatch.report.styled import StyledLine

QUESTION: Final = "  replace, add as alternative, keep, skip this case, quit? [r/a/k/s/q] "
_ANSWERS: Final = {"r": "replace", "a": "add", "k": "keep", "s": "skip", "q": "quit"}
_NO_ALTERNATIVES: Final = "the expected value is in a file of its own: write `accept` next to `expected_file`"
_ONE_OF: Final = "$one_of"
_WIDTH: Final = 300
_MOST_CHANGES: Final = 20


def review(
    requests: Sequence[Request],
    *,
    show: Callable[[str], None],
    ask: Callable[[str], str],
    no_alternatives: str = _NO_ALTERNATIVES,
) -> list[Request]:
    """Ask about each difference between expected and actual; return the requests to carry out.

    The actual value replaces the expected one, or is added as an alternative: to the `accept` of the case or,
    in an array, to the element itself, as `$one_of`, since `accept` would allow it in every element.

    Args:
        requests: the requests of failed cases.
        show: shows some lines.
        ask: asks a question and returns the answer; empty text, without a line break, is the end of input,
            and ends the review.
        no_alternatives: the reason why alternatives can't be added where there is no `accept`.

    Nothing is written for a case that is skipped, even after other choices. After a quit, the choices made so
    far are written.
    """
    # Ask only once about runs of a case with the same new value.
    writes = list(dict.fromkeys(request for request in requests if request.action == "write"))
    answered: list[Request] = []
    for number, request in enumerate(writes, start=1):
        old, new = _current_value(request, request.steps), parse_json(request.value)
        if request.has_matchers:
            try:
                old, new = with_matchers(old), with_matchers(new)
            except InvalidValueError:
                old = MISSING
        if old is MISSING:
            answered.append(request)  # the file has changed: planning the edit will report that
            continue
        show(f"\n{request.case} ({number} of {len(writes)} to review)")
        reviewer = _CaseReviewer(show, ask, request, no_alternatives)
        new = merge(old, new, reviewer.choose)
        if not reviewer.has_skipped:
            if not json_equal(old, new, strict=True):
                text = ascii_json(to_file_form(new) if request.has_matchers else new)
                answered.append(replace(request, value=text))
            elif request.reason:
                answered.append(replace(request, action="refused"))
            if reviewer.accepted:
                answered.append(_make_accept_request(request, reviewer.accepted))
        if reviewer.has_quit:
            break
    return [*answered, *(request for request in requests if request.action != "write")]


def review_on_terminal(requests: Sequence[Request], no_alternatives: str = _NO_ALTERNATIVES) -> list[Request]:
    """Run `review` on standard input and output."""

    def show(text: str) -> None:
        sys.stdout.write("".join(f"{printable(line)}\n" for line in text.splitlines()))

    def ask(question: str) -> str:
        sys.stdout.write(question)
        sys.stdout.flush()
        return sys.stdin.readline()

    return review(requests, show=show, ask=ask, no_alternatives=no_alternatives)


def _current_value(request: Request, steps: Steps) -> JsonValue:
    """Return the current value in the file of a request; MISSING if there is none."""
    path = Path(request.path)
    try:
        return read_value_at(read_file(path), path, steps)
    except OSError:
        return MISSING


def _accept_steps(request: Request) -> Steps:
    return (*request.steps[:-1], "accept")


def _make_accept_request(request: Request, accepted: Mapping[str, JsonValue]) -> Request:
    """Return the request that adds accepted alternatives to a case."""
    steps = _accept_steps(request)
    own = _current_value(request, steps)
    return replace(request, steps=steps, value=ascii_json({**(own if type(own) is dict else {}), **accepted}))


def _with_more(accepted: JsonValue, more: JsonValue) -> JsonValue:
    """Return the accepted alternatives of a path with one more value; MISSING makes the path optional.

    >>> _with_more(["a"], "b"), _with_more({"regex": "x", "values": ["b"]}, MISSING), _with_more([], MISSING)
    (['a', 'b'], {'regex': 'x', 'values': ['b'], 'optional': True}, {'optional': True})
    """
    words = dict(accepted) if isinstance(accepted, dict) else {"values": accepted} if accepted else {}
    if more is MISSING:
        words["optional"] = True
    elif not any(json_equal(more, value, strict=True) for value in words.get("values", [])):
        words["values"] = [*words.get("values", []), more]
    return words["values"] if list(words) == ["values"] else words


@final
@dataclass(slots=True)
class _CaseReviewer:
    """Asks about the differences of one case until it is skipped or the review ends.

    Args:
        show: shows some lines.
        ask: asks a question.
        request: the request to update the expected value.
        no_alternatives: the reason why a file without matchers has no alternatives.
        accepted: the alternatives for the `accept` of the case so far, by path pattern.
    """

    show: Callable[[str], None]
    ask: Callable[[str], str]
    request: Request
    no_alternatives: str
    accepted: dict[str, JsonValue] = field(default_factory=dict)
    has_quit: bool = False
    has_skipped: bool = False

    def choose(self, steps: Steps, old: JsonValue, new: JsonValue) -> JsonValue:
        """Ask about a difference, and return the value to expect."""
        if self.has_quit or self.has_skipped:
            return old
        self.show(f"  {_path_text(steps)}")
        expected, actual = short_texts(old, new, _WIDTH, TerminalStyle())
        self.show(f"    expected {expected}")
        self.show(f"    actual   {actual}")
        while True:
            answer = self.ask(QUESTION)
            choice = "quit" if not answer else _ANSWERS.get(answer.strip().lower())
            if choice == "add":
                problem = self._why_no_alternative(steps, old, new)
                if not problem:
                    return self._with_alternative(steps, old, new)
                self.show(f"  {problem}")
            elif choice is not None:
                break
        self.has_quit = choice == "quit"
        self.has_skipped = choice == "skip"
        return new if choice == "replace" else old

    @property
    def _has_accept(self) -> bool:
        """Whether the value belongs to a golden case, which can have `accept`."""
        return self.request.steps[-1:] == ("expected",)

    def _needs_one_of(self, steps: Steps) -> bool:
        """Return whether an alternative is part of the value: `accept` would allow it in every element."""
        return not self._has_accept or any(isinstance(step, int) for step in steps)

    def _why_no_alternative(self, steps: Steps, old: JsonValue, new: JsonValue) -> str:
        """Return the reason why the actual value can't be an alternative; empty if it can."""
        if not self.request.has_matchers:
            return self.no_alternatives
        if old is MISSING:
            return "nothing is expected there: replace it, or keep it"
        if self._needs_one_of(steps) and new is MISSING:
            where = "in this element alone" if self._has_accept else ""
            return f"`$one_of` can't make it optional{where and f' {where}'}: replace it, or keep it"
        return ""

    def _with_alternative(self, steps: Steps, old: JsonValue, new: JsonValue) -> JsonValue:
        """Add the actual value as an alternative; return the value to expect."""
        if self._needs_one_of(steps):
            return with_matchers({_ONE_OF: [old, new]})
        pattern = format_path(steps)
        if pattern not in self.accepted:
            # The case's own entry for a path replaces that of its file.
            locations = (_accept_steps(self.request), ("accept",))
            found = (_current_value(self.request, (*location, pattern)) for location in locations)
            self.accepted[pattern] = next((entry for entry in found if entry is not MISSING), [])
        self.accepted[pattern] = _with_more(self.accepted[pattern], new)
        return old


# -- the updates -------------------------------------------------------------------------------------------


def update_lines(updates: Sequence[FileUpdate], style: TerminalStyle, *, dry_run: bool) -> list[StyledLine]:
    """Return the lines about updates: the number of cases of each file, and the changes of each case.

    >>> from pathlib import Path
    >>> from pytest_jsonmatch.golden.update import FileUpdate
    >>> from pytest_jsonmatch.report.terminal_style import TerminalStyle
    >>> from pytest_jsonmatch.report.styled import line_text
    >>> changed = FileUpdate(Path("a"), "a.yaml", b"1", b"2", {"x": [(("n", 0), 1, 2)]})
    >>> for line in update_lines([changed], TerminalStyle(), dry_run=False):
    ...     print(line_text(line))
    updated 1 case in a.yaml
      x
        n[0]  1 → 2
    """
    lines: list[StyledLine] = []
    for update in updates:
        cases = count(len(update.updated), "case")
        if update.updated and dry_run:
            lines.append([(f"would update {cases} in {update.name} (dry run: nothing was written)", PLAIN)])
        elif update.updated:
            lines.append([(f"updated {cases} in {style.printable(update.name)}", GREEN)])
        for case, changes in update.updated.items():
            lines += _case_lines(case, changes, style)
    for update in updates:
        for case, reason in update.refused.items():
            lines.append([(style.printable(f"not updated: {case}: {reason}"), RED)])
    return lines or [[("no case to update", PLAIN)]]


def _case_lines(case: str, changes: Sequence[ValueChange], style: TerminalStyle) -> list[StyledLine]:
    """Return a line for each changed value of a case."""
    if not changes:
        return []
    shown, more = style.cut(changes, _MOST_CHANGES, "change", indent="    ")
    lines: list[StyledLine] = [[(f"  {style.printable(case)}", PLAIN)]]
    for steps, old, new in shown:
        before, after = short_texts(old, new, style.width // 3, style)
        lead = style.middle(_path_text(steps), style.width // 3)
        lines.append([(f"    {lead}  ", BOLD), (f"{before} {style.arrow} {after}", PLAIN)])
    return lines + more


def _path_text(steps: Steps) -> str:
    return format_path(steps) if steps else "the whole value"
