"""An HTTP API with FastAPI: orders with prices, times and tags, in camel case."""

from __future__ import annotations

import itertools
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from fastapi import FastAPI, HTTPException
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import AnyUrl, BaseModel, ConfigDict, computed_field
from pydantic.alias_generators import to_camel


class ApiModel(BaseModel):
    """Python's names in Python, JavaScript's names in JSON."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Line(ApiModel):
    """A line of an order."""

    sku: str
    unit_price: Decimal
    count: int = 1


class NewOrder(ApiModel):
    """What a client sends."""

    customer: str
    lines: list[Line]
    deliver_on: date | None = None
    tags: set[str] = set()


class Order(NewOrder):
    """What the service returns."""

    order_id: int
    created_at: datetime
    reserved_for: timedelta = timedelta(minutes=30)
    receipt_url: AnyUrl
    stock_by_warehouse: dict[int, int] = {1: 5}

    @computed_field
    @property
    def line_total(self) -> Decimal:
        """The sum of all lines."""
        return sum((line.unit_price * line.count for line in self.lines), Decimal(0))


def make_app() -> FastAPI:
    """Return the application, with no orders."""
    app = FastAPI()
    numbers, orders = itertools.count(1), {}

    @app.post("/orders", status_code=201)
    def post(new: NewOrder) -> Order:
        number = next(numbers)
        orders[number] = Order(
            **new.model_dump(),
            order_id=number,
            created_at=datetime(2026, 1, 31, 12, tzinfo=timezone.utc),
            receipt_url=f"https://shop.example/receipts/{number}",
        )
        return orders[number]

    @app.get("/orders/{number}")
    def get(number: int) -> Order:
        if number not in orders:
            raise HTTPException(404, "not found")
        return orders[number]

    @app.get("/by-name/{number}", response_model_by_alias=False)
    def get_by_name(number: int) -> Order:
        return orders[number]

    @app.get("/encoded/{number}")
    def get_encoded(number: int) -> JSONResponse:
        return JSONResponse({"order": jsonable_encoder(orders[number]), "source": "cache"})

    @app.get("/status/{number}", response_class=PlainTextResponse)
    def get_status(number: int) -> str:
        return "open" if number in orders else "unknown"

    return app
