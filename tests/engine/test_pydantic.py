"""pydantic models as values and as schemas: a model equals its own JSON and fits its own schema."""

from __future__ import annotations

import collections.abc
import datetime as dt
import enum
import ipaddress
import json
import pathlib
import re
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal
from unittest.mock import ANY

import pytest

from pytest_jsonmatch import assert_json_match, compare_corpus, compare_json
from pytest_jsonmatch.schema import validate_gold

pydantic = pytest.importorskip("pydantic")
AnyUrl, ConfigDict = pydantic.AnyUrl, pydantic.ConfigDict
to_camel = pytest.importorskip("pydantic.alias_generators").to_camel


class Color(enum.Enum):
    RED = "red"


class Item(pydantic.BaseModel):
    unit_price: Decimal
    in_stock: bool = True


UTC = dt.timezone.utc
TYPES: dict[str, tuple[Any, Any]] = {
    "datetime": (dt.datetime, dt.datetime(2026, 1, 31, 12, tzinfo=UTC)),
    "date": (dt.date, dt.date(2026, 1, 31)),
    "timedelta": (dt.timedelta, dt.timedelta(hours=1, seconds=2)),
    "set": (set[int], {3, 1}),
    "bytes": (bytes, b"abc"),
    "url": (AnyUrl, "https://example.org/a"),
    "ip": (ipaddress.IPv4Address, "192.0.2.1"),
    "secret": (pydantic.SecretStr, "hush"),
    "dict_of_int": (dict[int, str], {1: "a", 2: "b"}),
    "decimal": (Decimal, Decimal("1.50")),
    "decimals": (list[Decimal | None], [Decimal("2.00"), None]),
    "uuid": (uuid.UUID, uuid.UUID(int=7)),
    "path": (pathlib.Path, pathlib.Path("a/b")),
    "enum": (Color, Color.RED),
    "nan": (float, float("nan")),
    "pattern": (re.Pattern[str], re.compile("a+")),
    "union": (int | list[str], ["x"]),
    "json": (pydantic.Json[list[int]], "[1, 2]"),
    "complex_union": (Annotated[int | str | None, pydantic.Field(default=None)], "x"),
    "literal": (Literal["a", "b"], "b"),
    "tuple": (tuple[int, str], (1, "a")),
}
CONFIGS: dict[str, Any] = {
    "names": {},
    "aliases": {"alias_generator": to_camel, "populate_by_name": True},
    "by_name": {"alias_generator": to_camel, "populate_by_name": True, "serialize_by_alias": False},
}


def make_model(config: str, annotation: Any) -> Any:
    """Return a model with a field of a type, a list of models, and a computed field."""
    base = type("Base", (pydantic.BaseModel,), {"model_config": ConfigDict(**CONFIGS[config])})

    def line_count(self: Any) -> int:
        return len(self.line_items)

    line = pydantic.create_model("Line", __base__=base, unit_price=(Decimal, ...))
    model = pydantic.create_model(
        "Order", __base__=base, the_value=(annotation, ...), line_items=(list[line], ...)
    )
    line_count.__annotations__ = {"return": int}
    computed = pydantic.computed_field(property(line_count), return_type=int)
    return type("Full", (model,), {"line_count": computed, "__module__": __name__})


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("name", TYPES)
def test_a_model_equals_its_own_json_and_fits_its_own_schema(name: str, config: str) -> None:
    annotation, value = TYPES[name]
    model = make_model(config, annotation)
    expected = model(the_value=value, line_items=[{"unit_price": "1.10"}, {"unit_price": 2}])
    for actual in (
        expected,
        expected.model_dump_json(),
        f"Here it is:\n```json\n{expected.model_dump_json()}\n```",
        json.loads(expected.model_dump_json()),
        *([expected.model_dump_json(by_alias=True)] if config != "by_name" else []),
    ):
        assert compare_json(actual, expected).score == 1.0
        result = compare_json(actual, expected, schema=model, validate="report")
        # (pydantic writes NaN as null, and its schema says that it is a number.)
        assert (result.score, bool(result.violations)) == (1.0, name == "nan")
    validate_gold([expected], model, strict_types=True)
    assert compare_corpus([expected], [expected], schema=model).mean_score == 1.0


def test_a_decimal_is_compared_as_a_number_unless_a_rule_says_otherwise():
    expected = Item(unit_price=Decimal("1.50"))
    for actual in ({"unit_price": "1.5", "in_stock": True}, {"unit_price": 1.5, "in_stock": True}):
        assert compare_json(actual, expected).score == 1.0
        assert compare_json(actual, expected, schema=Item).score == 1.0
        assert compare_json({"a": [actual]}, {"a": [expected]}).score == 1.0
        exact = compare_json(actual, expected, fields={"unit_price": "exact"})
        assert exact.field_results[0].score == 0.0
    assert (
        compare_json({"unit_price": "1.5", "in_stock": True, "n": 1}, expected).counts["hallucination"] == 1
    )
    assert compare_json({}, expected).signature == compare_json({}, {}).signature


class Seat(pydantic.BaseModel, frozen=True):
    row: int
    price: Decimal


WORDS = {"delta", "alpha", "echo", "bravo", "charlie", "foxtrot", "golf"}
SEATS = {Seat(row=row, price=Decimal(row) + Decimal("0.50")) for row in (8, 3, 5, 1)}
SETS: dict[str, tuple[Any, Any]] = {
    "set": (set[str], WORDS),
    "frozenset": (frozenset[str], WORDS),
    "abstract": (collections.abc.Set[str], WORDS),
    "optional": (set[str] | None, WORDS),
    "in_dict": (dict[int, set[str]], {1: WORDS, 2: {"x", "y", "z"}}),
    "in_list": (list[set[str]], [WORDS, {"x", "y", "z"}]),
    "of_models": (set[Seat], SEATS),
    "of_enums": (set[enum.Enum("Word", sorted(WORDS))], set(range(1, 8))),
    "of_decimals": (set[Decimal], {Decimal("1.50"), Decimal("2.50"), Decimal("7.10")}),
    "in_model": (list[pydantic.create_model("Tagged", tags=(set[str], ...))], [{"tags": WORDS}] * 2),
    "root": (pydantic.RootModel[set[str]], WORDS),
}


def reverse_sets(value: Any) -> Any:
    """Return a value in which the elements of each array of texts or seats are in another order."""
    if type(value) is dict:
        return {key: reverse_sets(item) for key, item in value.items()}
    if type(value) is not list:
        return value
    is_set = not any(type(item) is list or (type(item) is dict and "row" not in item) for item in value)
    return value[::-1] if is_set else list(map(reverse_sets, value))


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("name", SETS)
def test_the_elements_of_a_set_have_no_order(name: str, config: str) -> None:
    annotation, value = SETS[name]
    base = type("Base", (pydantic.BaseModel,), {"model_config": ConfigDict(**CONFIGS[config])})
    model = pydantic.create_model(
        "Trip", __base__=base, the_value=(annotation, ...), by_day=(list[int], [1, 2])
    )
    expected = model(the_value=value)
    for by_alias in sorted({False, config == "aliases"}):
        written = json.loads(expected.model_dump_json(by_alias=by_alias))
        key, days = written
        actual = {key: reverse_sets(written[key]), days: [1, 2]}
        for metric in ("leaf_f1", "field_match", "json_similarity", "pairwise_f1"):
            assert compare_json(actual, expected, metric=metric).score == 1.0
            assert compare_json(actual, expected, metric=metric, schema=model).score == 1.0
        assert compare_json({"trips": [actual]}, {"trips": [expected]}).score == 1.0
        assert_json_match(json.dumps(actual), expected)
        # Lists keep their order, and no element may be missing.
        assert compare_json({**actual, days: [2, 1]}, expected).counts["mismatch"] == 2
        assert compare_json({**actual, key: None}, expected).score < 1.0
    assert compare_corpus([actual], [expected], schema=model).mean_score == 1.0


def test_a_serializer_decides_what_a_set_is_in_json():
    class Tags(pydantic.BaseModel):
        as_text: set[str]
        as_list: set[str]
        as_object: set[str]

        @pydantic.field_serializer("as_text", "as_list", "as_object")
        def write(self, tags: set[str], info: Any) -> Any:
            ordered = sorted(tags)
            return {"as_text": ",".join(ordered), "as_list": ordered}.get(info.field_name, {"n": ordered})

    expected = Tags(as_text=WORDS, as_list=WORDS, as_object=WORDS)
    actual = json.loads(expected.model_dump_json())
    assert_json_match(actual, expected)
    assert_json_match({**actual, "as_list": actual["as_list"][::-1]}, expected)
    assert compare_json({**actual, "as_object": {"n": sorted(WORDS)[::-1]}}, expected).counts["mismatch"] == 6


def test_a_set_is_unordered_unless_a_rule_pairs_its_elements():
    model = pydantic.create_model(
        "Hall", seats=(set[Seat], ...), tags=(set[str], ...), days=(list[int], [1, 2])
    )
    expected = model(seats=SEATS, tags=WORDS)
    written = json.loads(expected.model_dump_json())
    actual = {**written, "seats": written["seats"][::-1], "tags": written["tags"][::-1]}
    assert compare_json(actual, expected, fields={"tags": {"align": "ordered"}}).counts["mismatch"] == 6
    assert compare_json(actual, expected, fields={"tags": {"weight": 2}}).score == 1.0
    assert compare_json(actual, expected, arrays="sequence").score == 1.0
    assert compare_json(actual, expected, arrays={"key": "row"}).score == 1.0
    # By its key a seat is missing and another one is extra; in the best pairing only its row differs.
    seats = [{**seat, "row": 2} if seat["row"] == 1 else seat for seat in actual["seats"]]
    assert compare_json({**actual, "seats": seats}, expected).counts["mismatch"] == 1
    assert compare_json({**actual, "seats": seats}, expected, arrays={"key": "row"}).counts["omission"] == 2
    ordered = pydantic.Field(json_schema_extra={"x-eval-align": "ordered"})
    schema = pydantic.create_model("Hall", __base__=model, tags=(set[str], ordered))
    assert compare_json(actual, expected, schema=schema).counts["mismatch"] == 6
    assert compare_json([1, 2], [2, 1], schema={"type": "array", "uniqueItems": True}).score == 0.0
    assert compare_json({}, expected).signature == compare_json({}, {}).signature


def test_answers_are_valid_by_what_the_model_reads_or_writes():
    for price in ("1.5", 1.5):
        actual = {"unit_price": price}
        result = compare_json(actual, Item(unit_price="1.5"), schema=Item, validate="report")
        assert (result.valid, result.score) == (True, 2 / 3)
    result = compare_json({"unit_price": []}, Item(unit_price="1.5"), schema=Item, validate="report")
    assert result.valid is False


def test_each_object_is_written_with_the_names_that_actual_has():
    class Line(pydantic.BaseModel, alias_generator=to_camel, populate_by_name=True):
        unit_price: int

    class Order(pydantic.BaseModel, alias_generator=to_camel, populate_by_name=True):
        line_items: list[Line]
        order_id: int

    order = Order(line_items=[Line(unit_price=1), Line(unit_price=2)], order_id=7)
    mixed = {"lineItems": [{"unit_price": 1}, {"unit_price": 2}], "orderId": 7}
    assert compare_json(mixed, order).documents[0] == mixed
    assert compare_json(mixed, order, schema=Order).score == 1.0
    assert compare_json({"x": 1}, order).documents[0]["orderId"] == 7


class Login(pydantic.BaseModel, alias_generator=to_camel, populate_by_name=True):
    user_name: str
    last_login: int


class LoginByName(Login):
    model_config = ConfigDict(serialize_by_alias=False)


@pytest.mark.parametrize(
    ("model", "actual", "hint"),
    [
        (Login, {"userName": "x", "last_login": 1}, "by name, * pydantic model: write actual with by_alias=True"),
        (LoginByName, {"userName": "x", "lastLogin": 1}, "by alias, * by_alias=False, or *serialize_by_alias=True*"),
    ],
)  # fmt: skip
def test_if_only_the_aliases_differ_the_failure_names_the_option(model, actual, hint):
    expected = model(user_name="x", last_login=1)
    with pytest.raises(AssertionError) as caught:
        assert_json_match(actual, expected)
    pytest.LineMatcher(str(caught.value).splitlines()).fnmatch_lines([f"actual has members {hint}"])
    with pytest.raises(AssertionError) as caught:
        assert_json_match({**actual, "last_login": 2, "lastLogin": 2}, expected)
    assert "pydantic" not in str(caught.value)


def test_matchers_stay_in_a_model():
    dirty_equals = pytest.importorskip("dirty_equals")

    class Order(pydantic.BaseModel):
        order_id: Any
        at: dt.datetime
        total: Decimal

    expected = Order.model_construct(order_id=dirty_equals.IsInt, at=ANY, total=Decimal("1.50"))
    assert_json_match({"order_id": 7, "at": "2026", "total": "1.5"}, expected)
    assert compare_json({"order_id": "7", "at": "2026", "total": "1.5"}, expected).counts["mismatch"] == 1


def test_roots_and_dataclasses_are_models_too():
    class Tags(pydantic.RootModel[list[dt.timedelta]]):
        pass

    @pydantic.dataclasses.dataclass
    class Stay:
        first: dt.date
        nights: dt.timedelta

    assert_json_match(["PT1S"], Tags([1]))
    assert_json_match('{"first": "2026-01-31", "nights": "PT1M"}', Stay(dt.date(2026, 1, 31), 60))


@pytest.mark.parametrize(
    ("expected", "actual", "rule"),
    [
        (dt.date(2026, 1, 31), "2026-01-31T08:30:00Z", '{"compare": {"date": {"precision": "day"}}}'),
        (dt.datetime(2026, 1, 31), "2026-01-31", '"date"'),
        (dt.datetime(2026, 1, 31, tzinfo=UTC), "2026-01-31T00:00:00Z", '"date"'),
    ],
)
def test_dates_of_another_precision_suggest_a_rule_for_their_field(expected, actual, rule):
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"due": actual, "name": "b"}, {"due": expected, "name": "a"})
    assert f'fields={{"due": {rule}}}' in str(caught.value)
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"due": "2027-01-31"}, {"due": expected})
    assert "precision" not in str(caught.value)


@pytest.mark.parametrize(
    "rule",
    [
        {"x-eval-tolerance": 0.01},
        {"x-eval-compare": {"numeric": {"tolerance": 0.01}}},
        {"x-override-evaluator": {"evaluation_type": "numeric", "evaluation_params": {"tolerance": 0.01}}},
    ],
)
def test_a_decimal_with_a_comparator_of_its_own(rule: dict[str, Any]) -> None:
    model = pydantic.create_model("Paid", total=(Decimal, pydantic.Field(json_schema_extra=rule)))
    expected = model(total=Decimal("12.50"))
    assert compare_json({"total": "12.505"}, expected, schema=model).score > 0.9
    assert compare_json({"total": "14"}, expected, schema=model).score == 0
