"""Updates of files with expected values, for modules that do not import `golden`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue


class ComparedFile(Protocol):
    """A file with an expected value."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def name(self) -> str:
        """The display name of the file."""

    @property
    def data(self) -> bytes | None:
        """The content of the file; None if there is no file."""

    def read(self) -> JsonValue:
        """Return the expected value."""


class FileUpdater(Protocol):
    """Requests updates of files with expected values, for the running test."""

    @property
    def writes_new(self) -> bool:
        """Whether files that do not exist yet are written."""

    def request_first(self, file: ComparedFile, answer: JsonValue) -> str | None:
        """Request a file that does not exist; return the reason why the test still fails, or None."""

    def request_after_failure(
        self, file: ComparedFile, result: MatchResult, answer: Callable[[], JsonValue]
    ) -> str | None:
        """Request a new value after a failed comparison; return a text to add to the failure.

        None means that the test passes. `answer` returns the answer, read without an expected value.
        """

    def request_after_pass(
        self, file: ComparedFile, result: MatchResult, answer: Callable[[], JsonValue]
    ) -> None:
        """Request what is to become of the file after a comparison that passed."""
