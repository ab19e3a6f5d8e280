"""A line on the terminal that shows how far a command is: records, rate, time left."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic
from typing import Final, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.records.sources import DELIMITERS, LINES

_EVERY: Final = 0.5
"""Seconds between two updates."""
_BLOCK: Final = 2**20


def duration_text(seconds: float) -> str:
    """Return a duration for people.

    >>> duration_text(7.2), duration_text(95), duration_text(7_500)
    ('7 s', '1 min 35 s', '2 h 5 min')
    """
    total = max(0, round(seconds))
    if total < 60:
        return f"{total} s"
    if total < 3_600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3_600} h {total % 3_600 // 60} min"


def progress_text(done: int, total: int | None, seconds: float) -> str:
    """Return the text of the line.

    Args:
        done: the number of records scored.
        total: the number of records; None if unknown.
        seconds: the time since the start.

    >>> progress_text(25_000, 100_000, 2.0)
    '25,000 of 100,000 records, 12,500/s, 6 s left'
    """
    rate = done / seconds if seconds > 0 else 0.0
    known = total is not None and total >= done
    text = f"{done:,} of {count(total, 'record')}" if known and total is not None else count(done, "record")
    text += f", {rate:,.0f}/s"
    return f"{text}, {duration_text((total - done) / rate)} left" if known and total and rate else text


@final
class Progress:
    """Shows the progress of a command on standard error if that is a terminal. It is a context manager.

    Args:
        source: the file of records.
    """

    def __init__(self, source: str) -> None:
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._total = _count_lines(Path(source)) if self._is_shown else None
        self._begun = self._last = monotonic()
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def show(self, done: int) -> None:
        """Show the number of records scored so far, twice a second at most."""
        now = monotonic()
        if self._is_shown and now - self._last >= _EVERY:
            self._last = now
            text = progress_text(done, self._total, now - self._begun)
            sys.stderr.write(f"\r{text.ljust(self._width)}")
            sys.stderr.flush()
            self._width = len(text)

    def __exit__(self, *_: object) -> None:
        if self._width:
            sys.stderr.write(f"\r{' ' * self._width}\r")
            sys.stderr.flush()


def _count_lines(path: Path) -> int | None:
    """Return the number of lines of a JSON Lines or CSV file; None for anything else."""
    if path.suffix.lower() not in {*LINES, *DELIMITERS} or not path.is_file():
        return None
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))
