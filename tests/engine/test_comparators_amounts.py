"""amount: one amount of money in several spellings."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.engine.compare import BUILTIN
from pytest_jsonmatch.engine.value.errors import ConfigurationError


def score(expected, actual, **params):
    return BUILTIN["amount"].bind(params).score(expected, actual)


@pytest.mark.parametrize(
    "text",
    [
        "1234.56",
        "1234,56",
        "1,234.56",
        "1.234,56",
        "1'234.56",
        "1’234,56",
        "1 234,56",
        "1\u00a0234,56",
        "1\u202f234.56",
        "1\u2009234,56",
        "  1,234.56\n",
        "+1,234.56",
        "€1,234.56",
        "€ 1,234.56",
        "1.234,56 €",
        "1.234,56€",
        "EUR 1,234.56",
        "1,234.56 EUR",
        "eur 1,234.56",
        "EUR1,234.56",
        "1.234,56 Euro",
        "€1,234.56 EUR",
        "€\u00a01,234.56",
        "1٬234٫56",
        "１２３４.５６",
    ],
)
def test_the_spellings_of_an_amount(text):
    assert score(1234.56, text) == 1.0
    assert score("1.234,56 €", text) == 1.0
    assert score(1234.57, text) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "-45.00",
        "−45.00",
        "–45",
        "‑45",
        "- 45",
        "-$45.00",
        "$-45.00",
        "$ -45",
        "45.00-",
        "45.00-  $",
        "45.00 $-",
        "(45.00)",
        "( 45 )",
        "$(45.00)",
        "($45.00)",
        "(45.00) $",
        "(45.00 $)",
    ],
)
def test_the_spellings_of_a_negative_amount(text):
    assert [score(-45, text), score(45, text)] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        (".5", 0.5),
        ("0,123", 0.123),
        ("0.5", 0.5),
        ("007", 7),
        ("1,23", 1.23),
        ("1234.567", 1234.567),
        ("1234,567", 1234.567),
        ("1,234,567", 1234567),
        ("1.234.567", 1234567),
        ("1 234 567", 1234567),
        ("12'345'678.90", 12345678.9),
        ("12,34,567.89", 1234567.89),
        ("₹1,00,000", 100000),
        ("12,34,56,789", 123456789),
        ("CHF 5.-", 5),
        ("5,- €", 5),
        ("5,--", 5),
        ("1.234,– kr", 1234),
        ("R$ 1.234,50", 1234.5),
        ("1 299,90 zł", 1299.9),
        ("Rs. 500", 500),
        ("SFr. 20.50", 20.5),
        ("¥1200", 1200),
        ("￥1200", 1200),
        ("1200円", 1200),
        ("99 kr.", 99),
        ("12 USD", 12),
    ],
)
def test_texts_with_one_reading_need_no_decimal_mark(text, number):
    assert score(number, text) == 1.0
    assert [score(number, text, decimal=mark) for mark in ".,"] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "with_point", "with_comma"),
    [
        ("1,234", 1234, 1.234),
        ("1.234", 1.234, 1234),
        ("-12,345 €", -12345, -12.345),
        ("$(123.456)", -123.456, -123456),
    ],
)
def test_decimal_decides_between_two_readings(text, with_point, with_comma):
    assert [score(with_point, text, decimal="."), score(with_comma, text, decimal=".")] == [1.0, 0.0]
    assert [score(with_comma, text, decimal=","), score(with_point, text, decimal=",")] == [1.0, 0.0]
    # Nothing is guessed.
    assert [score(with_point, text), score(with_comma, text), score(text, text)] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "€", "()", "n/a", "5 kg", "5%", "1.2 million", "5k", "1e3", "NaN", "5-EUR", "5+", "--5"),
        *("(-5)", "(5", "5)", "1 2", "1  234", "1\n234", "12.34.56", "1,2,3", "1.234.-", "1234,567.8", "5."),
        *(
            "0,123,456",
            "12,3456,789",
            "$5 €",
            "€5 USD",
            "$5 EUR",
            "5 XXX",
            "5 EUR EUR",
            "5²",
            "½",
            "0x10",
            "1_000",
        ),
        *("5 EUR 6", "5 - 6", "€€5", "1'2"),
    ],
)
def test_what_is_no_amount_equals_itself_only(text):
    others = ["5", 5, 0, 1234, 1.5, 12, "-5", "5 EUR", "$5", "x"]
    assert score(text, text) == 1.0
    assert [score(text, other) for other in others] == [0.0] * len(others)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("5 EUR", "€5", 1.0),
        ("£5", "5 GBP", 1.0),
        ("5 zł", "5 PLN", 1.0),
        ("US$5", "5 USD", 1.0),
        ("A$5", "AU$ 5.00", 1.0),
        ("5 EUR", "5", 1.0),
        ("5 EUR", 5, 1.0),
        ("$5", "$ 5.00", 1.0),
        ("5 EUR", "5 USD", 0.0),
        ("€5", "$5", 0.0),
        # A sign of several currencies is none of them.
        ("$5", "5 USD", 0.0),
        ("$5", "US$5", 0.0),
        ("¥5", "5 JPY", 0.0),
        ("5 kr", "5 SEK", 0.0),
        # Beside a code it is that code's.
        ("$5.00 CAD", "CAD 5", 1.0),
        ("$5.00 CAD", "$5.00 USD", 0.0),
    ],
)
def test_currencies_agree_if_both_sides_have_one(one, other, expected):
    assert [score(one, other), score(other, one)] == [expected, expected]
    table = BUILTIN["amount"].bind({}).table([one, "x"], [other, "x"])
    assert table.tolist() == [[expected, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "wanted"),
    [
        ("0.80 €", "0.70", {"abs": 0.1}, 1.0),
        (0.8, "0.7", {"abs": 0.1}, 1.0),
        ("0.80", "0.69", {"abs": 0.1}, 0.0),
        ("100", "101", {"rel": 0.01}, 1.0),
        ("100", "101.01", {"rel": 0.01}, 0.0),
        ("-100", "(99)", {"rel": 0.01}, 1.0),
        ("99999999999999999.99", "99999999999999999.98", {}, 0.0),
        ("99999999999999999.99", "99999999999999999.98", {"abs": 0.01}, 1.0),
        ("99999999999999999.99", "99999999999999999.97", {"abs": 0.01}, 0.0),
        (2**60, str(2**60), {}, 1.0),
        (2**60 + 1, str(2**60), {}, 0.0),
        ("0.1", 0.1, {}, 1.0),
        ("5 EUR", "5 USD", {"abs": 100}, 0.0),
        ("5 kg", "6 kg", {"abs": 100}, 0.0),
    ],
)
def test_tolerance_in_decimal_arithmetic(expected, actual, tolerance, wanted):
    scoring = BUILTIN["amount"].bind({"tolerance": tolerance})
    assert scoring.score(expected, actual) == wanted
    assert scoring.table([expected], [actual]).tolist() == [[wanted]]


@pytest.mark.parametrize(
    ("expected", "actual", "wanted"),
    [
        (None, None, 1.0),
        (None, "5", 0.0),
        (True, 1, 0.0),
        (True, True, 1.0),
        ([5], [5.0], 1.0),
        (["5"], [5], 0.0),
        ("5", float("nan"), 0.0),
        (10**400, 10**400, 1.0),
    ],
)
def test_other_values_are_compared_as_they_are(expected, actual, wanted):
    assert score(expected, actual) == wanted


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"decimal": "'"}, "comparator 'amount': 'decimal' must be '.' or ',', not \"'\""),
        ({"decimal": [","]}, "comparator 'amount': 'decimal' must be '.' or ',', not [',']"),
        ({"decimals": 2}, "comparator 'amount' has no parameter 'decimals'; did you mean 'decimal'?"),
        (
            {"tolerance": {"absolute": 1}},
            "the tolerance of comparator 'amount' has no parameter 'absolute'; known: abs, rel",
        ),
    ],
)
def test_a_wrong_parameter_is_named(params, message):
    with pytest.raises(ConfigurationError) as caught:
        BUILTIN["amount"].bind(params)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "1" * 10**6,
        "1," * 500_000,
        "(" * 10**6,
        " " * 10**6 + "5",
        "$" * 10**6,
        "1 " * 500_000,
        "5" + "-" * 10**6,
    ],
    ids=["digits", "commas", "brackets", "spaces", "signs", "groups", "minus"],
)
def test_a_megabyte_is_no_amount(text):
    scoring = BUILTIN["amount"].bind({"tolerance": {"abs": 1}})
    assert [scoring.score(text, text), scoring.score(text, 5), scoring.score("5", text)] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("piece", ["1 ", "1,", " ", "(", "-", "€ ", "a ", "1'2", ".", "1.1 "])
def test_short_hostile_texts_are_answered(piece):
    compare = BUILTIN["amount"].bind({}).score
    texts = [(piece * 100)[:size] + "x" for size in range(1, 100)]
    assert {compare(text, 5) for text in texts} <= {0.0, 1.0}


def test_amounts_in_unordered_arrays_find_each_other():
    expected = [{"item": f"n{n}", "price": n + 0.5} for n in range(60)]
    actual = [{"item": f"n{n}", "price": f"{n},50 €"} for n in reversed(range(60))]
    fields = {"[].price": {"compare": "amount"}}
    result = compare_json(actual, expected, arrays="unordered", fields=fields)
    assert (result.score, len(result.field_results)) == (1.0, 120)
