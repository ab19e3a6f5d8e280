"""The code under test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from invoices.model import OverloadedError, complete

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


class Reader:
    """Reads letters; the first `failures` calls find the model overloaded."""

    def __init__(self, failures: int = 0):
        self.failures = failures
        self.is_open = False

    async def __aenter__(self) -> Self:
        """Open the connection."""
        self.is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.is_open = False

    async def read(self, letter: str) -> str:
        """Return the model's answer."""
        if self.failures:
            self.failures -= 1
            raise OverloadedError
        return await complete(letter)


async def read(letter: str) -> str:
    """Return the model's answer by a reader of its own."""
    async with Reader() as reader:
        return await reader.read(letter)
