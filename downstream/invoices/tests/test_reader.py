"""Async tests, with fixtures that are async too."""

from __future__ import annotations

import asyncio

import pytest
from invoices import Reader

from pytest_jsonmatch import assert_json_match

MILL = {
    "number": "R-17",
    "date": "2026-03-01",
    "lines": [{"text": "Delivery", "amount": 4.9}, {"text": "Flour, 20 kg", "amount": 31.5}],
    "total": 36.4,
}


async def test_lines_in_any_order(reader, letter):
    assert_json_match(await reader.read(letter("mill")), MILL, arrays="unordered")


async def test_several_at_once(reader, letter):
    answers = await asyncio.gather(*(reader.read(letter(name)) for name in ("mill", "print")))
    for answer, number in zip(answers, ("R-17", "2026/88"), strict=True):
        assert_json_match(answer, {"number": number}, extra="ignore")


@pytest.mark.parametrize("cent", [0, 1])
async def test_a_cent_off(reader, letter, cent):
    assert_json_match(
        await reader.read(letter("print")),
        {"lines": [{"amount": 120.0 + cent / 100}], "total": 120.0 - cent / 100},
        extra="ignore",
        fields={"**.amount": {"tolerance": 0.011}, "total": {"tolerance": 0.011}},
    )


class TestAnOverloadedModel:
    """The model is overloaded at first, so the first run of the test fails."""

    reader = Reader(failures=1)

    @pytest.mark.flaky(reruns=2)
    async def test_is_asked_again(self, letter):
        assert_json_match(await self.reader.read(letter("mill")), MILL, arrays="unordered")


@pytest.mark.xfail(reason="the model copies dates as they are written", raises=AssertionError)
async def test_dates_are_iso(reader, letter):
    assert_json_match(await reader.read(letter("print")), {"date": "2026-03-02"}, extra="ignore")


def test_a_synchronous_one_beside_them(assert_json_match):
    assert_json_match({"total": 1.0}, {"total": 1}, metric="json_similarity")
