"""A booking service: an ASGI-like application without a framework."""

from __future__ import annotations

import itertools
from datetime import datetime, timezone
from typing import Any

import anyio.lowlevel


class Service:
    """Keeps bookings in memory."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._bookings: dict[int, dict[str, Any]] = {}

    async def post(self, room: str, nights: int, guests: list[str]) -> dict[str, Any]:
        """Create a booking."""
        await anyio.lowlevel.checkpoint()
        number = next(self._numbers)
        self._bookings[number] = {
            "id": number,
            "created_at": datetime.now(timezone.utc).isoformat(),
            "room": room,
            "guests": [
                {"name": name, "created_at": datetime.now(timezone.utc).isoformat()} for name in guests
            ],
            "price": quote(room, nights),
        }
        return self._bookings[number]

    async def get(self) -> dict[str, Any]:
        """Return all bookings, newest first."""
        await anyio.lowlevel.checkpoint()
        return {"bookings": list(reversed(self._bookings.values())), "count": len(self._bookings)}


def quote(room: str, nights: int) -> dict[str, Any]:
    """Return the price of a stay; a week costs six nights."""
    rate = {"single": 70.1, "double": 99.95}[room]
    return {"rate": rate, "nights": nights, "total": rate * (nights - nights // 7)}


def quote_row(row: dict[str, str]) -> dict[str, Any]:
    """Return the price of a row of a table."""
    return quote(row["room"], int(row["nights"]))
