"""Progress of long work, on a terminal only: a line on standard error that disappears at the end."""

from __future__ import annotations

import shutil
import sys
from time import monotonic
from typing import Final, final

from pytest_jsonmatch.engine.value.text import count

_PAUSE: Final = 0.1
_BAR: Final = 24


def progress_line(done: int, total: int | None, seconds: float, noun: str = "record") -> str:
    """Return the line that shows the progress.

    >>> progress_line(500, 2000, 2.0)
    '[######..................]  25%  500 of 2,000 records, 250/s'
    >>> progress_line(500, None, 0.0)
    '500 records'
    """
    rate = f", {done / seconds:,.0f}/s" if seconds > 0 else ""
    if not total:
        return f"{count(done, noun)}{rate}"
    share = min(done / total, 1.0)
    bar = ("#" * int(share * _BAR)).ljust(_BAR, ".")
    return f"[{bar}] {int(100 * share):3}%  {count(done)} of {count(total, noun)}{rate}"


@final
class Progress:
    """Shows progress on a terminal, ten times a second at most.

    >>> with Progress(total=10) as progress:
    ...     progress(5, None)
    """

    def __init__(self, *, total: int | None = None, noun: str = "record") -> None:
        self._total = total
        self._noun = noun
        self._begun = self._shown = monotonic()
        self._width = 0
        self.is_shown: bool = is_watched()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            sys.stderr.write(f"\r{' ' * self._width}\r")
            sys.stderr.flush()

    def __call__(self, done: int, _: int | None) -> None:
        """Show the progress."""
        now = monotonic()
        if not self.is_shown or now - self._shown < _PAUSE:
            return
        self._shown = now
        room = shutil.get_terminal_size().columns - 1
        line = progress_line(done, self._total, now - self._begun, self._noun)[:room]
        sys.stderr.write(f"\r{line.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(line)


def is_watched() -> bool:
    """Tell whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()
