"""The service's responses, under anyio's own plugin."""

from __future__ import annotations

import anyio
import pytest
from bookings import Service

from pytest_jsonmatch import assert_json_match

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def service(anyio_backend):
    return Service()


@pytest.mark.parametrize(("room", "total"), [("single", 140.2), ("double", 199.9)])
async def test_post(service, room, total):
    assert_json_match(
        await service.post(room, 2, ["Ada"]),
        {
            "id": 1,
            "room": room,
            "guests": [{"name": "Ada"}],
            "price": {"rate": total / 2, "nights": 2, "total": pytest.approx(total)},
        },
    )


async def test_get_after_posts_at_the_same_time(service):
    async with anyio.create_task_group() as group:
        for name in ("Ada", "Grace", "Mary"):
            group.start_soon(service.post, "single", 1, [name])
    assert_json_match(
        await service.get(),
        {"count": 3, "bookings": [{"guests": [{"name": name}]} for name in ("Grace", "Ada", "Mary")]},
        arrays="unordered",
        extra="ignore",
    )
