"""The API through FastAPI's test client: expected values are models, dicts and plain texts."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from unittest.mock import ANY

import pytest
from fastapi.testclient import TestClient
from shop import Line, NewOrder, Order, make_app

from pytest_jsonmatch import assert_json_match, compare_json

NEW = NewOrder(
    customer="Ada",
    lines=[Line(sku="A", unit_price=Decimal("1.50"), count=2), Line(sku="B", unit_price=Decimal(4))],
    deliver_on=date(2026, 2, 14),
    tags={"gift"},
)
EXPECTED = Order(
    **NEW.model_dump(),
    order_id=1,
    created_at=datetime(2026, 1, 31, 12, tzinfo=timezone.utc),
    receipt_url="https://shop.example/receipts/1",
)


@pytest.fixture
def client():
    with TestClient(make_app()) as made:
        yield made


@pytest.fixture
def created(client):
    return client.post("/orders", json=NEW.model_dump(mode="json", by_alias=True))


def test_an_order_is_the_model(created):
    assert_json_match(created.json(), EXPECTED)
    assert_json_match(created.text, EXPECTED, schema=Order, validate="require")


def test_an_order_may_be_sent_by_name(client):
    response = client.post("/orders", json=NEW.model_dump(mode="json"))
    assert_json_match(response.json(), EXPECTED)


def test_names_are_those_of_the_response(client, created):
    response = client.get("/by-name/1").json()
    assert "order_id" in response
    assert_json_match(response, EXPECTED)
    assert_json_match(response, EXPECTED, schema=Order, validate="require")


def test_a_model_may_be_part_of_the_expected_value(client, created):
    assert_json_match(client.get("/encoded/1").json(), {"order": EXPECTED, "source": "cache"})


def test_models_may_contain_matchers(created):
    expected = EXPECTED.model_copy(update={"order_id": ANY, "created_at": ANY})
    assert_json_match(created.json(), expected)


def test_prices_are_numbers_however_they_are_written(client, created):
    order = client.get("/orders/1").json()
    lines = [{**line, "unitPrice": float(line["unitPrice"])} for line in order["lines"]]
    assert_json_match({**order, "lineTotal": 7, "lines": lines}, EXPECTED)


@pytest.mark.parametrize("backwards", [False, True])
def test_tags_have_no_order(client, backwards):
    tags = ["express", "fragile", "gift", "new", "paid"]
    order = client.post("/orders", json=NEW.model_dump(mode="json", by_alias=True) | {"tags": tags}).json()
    order["tags"].sort(reverse=backwards)
    expected = EXPECTED.model_copy(update={"tags": set(tags)})
    assert_json_match(order, expected)
    assert_json_match(order, expected, schema=Order, validate="require")


@pytest.mark.parametrize(("number", "status"), [(1, "open"), (2, "unknown")])
def test_a_status_is_a_text(client, created, number, status):
    assert_json_match(client.get(f"/status/{number}").text, status)


def test_errors_have_texts(client):
    response = client.get("/orders/7")
    assert_json_match(response.json()["detail"], "not found")
    assert_json_match(response.json(), {"detail": "not found"})


def test_a_refused_order_names_the_field(client):
    response = client.post("/orders", json={"customer": "Ada"})
    assert_json_match(
        response.json(),
        {"detail": [{"type": "missing", "loc": ["body", "lines"], "msg": "Field required"}]},
        extra="elements",
    )


def test_a_wrong_customer_is_the_only_difference(created):
    wrong = EXPECTED.model_copy(update={"customer": "Grace"})
    result = compare_json(created.json(), wrong)
    assert [field.path for field in result.field_results if field.status != "match"] == ["customer"]


def test_an_order_is_what_the_file_says(created):
    assert_json_match(created.json(), Path("order.yaml"))


@pytest.mark.parametrize("customer", ["Ada", "Grace Hopper"])
def test_each_customer_has_a_file(client, customer, expected_json):
    order = NEW.model_copy(update={"customer": customer}).model_dump(mode="json", by_alias=True)
    assert_json_match(client.post("/orders", json=order).json(), expected_json)


# -- what failures suggest ---------------------------------------------------------------------------------


def test_a_member_that_the_model_lacks_may_be_ignored(created):
    answer = {**created.json(), "source": "web"}
    with pytest.raises(AssertionError) as caught:
        assert_json_match(answer, EXPECTED)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith('source (nothing) → "web" (leaf_f1 0.9')
    assert '     extra="ignore"' in lines
    assert_json_match(answer, EXPECTED, extra="ignore")


def test_a_sum_may_have_a_tolerance(created):
    answer = {**created.json(), "lineTotal": 7.05}
    with pytest.raises(AssertionError, match=r'would pass with\n     fields={"lineTotal": {"tolerance": '):
        assert_json_match(answer, EXPECTED)
    assert_json_match(answer, EXPECTED, fields={"lineTotal": {"tolerance": {"rel": 0.01}}})
