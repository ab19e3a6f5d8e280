"""amount: one amount of money in several spellings."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import ConfigurationError, compare_json


def score(expected, actual, **params):
    return compare_json({"v": actual}, {"v": expected}, fields={"v": {"compare": {"amount": params}}}).score


def cells(table):
    """The rows of a table in text, its cells between bars."""
    return [tuple(cell.strip() for cell in line.split("|")) for line in table.strip().splitlines()]


SPELLINGS = """1234.56|1234,56|1,234.56|1.234,56|1'234.56|1’234,56|1 234,56|1\u00a0234,56|1\u202f234.56|\
1\u2009234,56|  1,234.56\n|+1,234.56|€1,234.56|€ 1,234.56|1.234,56 €|1.234,56€|EUR 1,234.56|1,234.56 EUR|\
eur 1,234.56|EUR1,234.56|1.234,56 Euro|€1,234.56 EUR|€\u00a01,234.56|1٬234٫56|１２３４.５６"""


@pytest.mark.parametrize("text", SPELLINGS.split("|"))
def test_the_spellings_of_an_amount(text):
    assert [score(1234.56, text), score("1.234,56 €", text), score(1234.57, text)] == [1.0, 1.0, 0.0]


NEGATIVE = """-45.00|−45.00|–45|‑45|- 45|-$45.00|$-45.00|$ -45|45.00-|45.00-  $|45.00 $-|(45.00)|( 45 )|\
$(45.00)|($45.00)|(45.00) $|(45.00 $)"""


@pytest.mark.parametrize("text", NEGATIVE.split("|"))
def test_the_spellings_of_a_negative_amount(text):
    assert [score(-45, text), score(45, text)] == [1.0, 0.0]


CLEAR = """
    0 | 0               |  -0 | 0             | .5 | 0.5                | 0,123 | 0.123       | 0.5 | 0.5
    007 | 7             | 1,23 | 1.23         | 1234.567 | 1234.567     | 1234,567 | 1234.567 | 12 USD | 12
    1,234,567 | 1234567 | 1.234.567 | 1234567 | 1 234 567 | 1234567     | 12'345'678.90 | 12345678.9
    12,34,567.89 | 1234567.89                 | ₹1,00,000 | 100000      | 12,34,56,789 | 123456789
    CHF 5.- | 5         | 5,- € | 5           | 5,-- | 5                | 1.234,– kr | 1234   | 99 kr. | 99
    R$ 1.234,50 | 1234.5                      | 1 299,90 zł | 1299.9    | Rs. 500 | 500       | ¥1200 | 1200
    SFr. 20.50 | 20.5   | ￥1200 | 1200       | 1200円 | 1200           | C$5 | 5             | RD$ 5.50 | 5.5
"""


@pytest.mark.parametrize(
    ("text", "number"), [row[at : at + 2] for row in cells(CLEAR) for at in range(0, len(row), 2)]
)
def test_texts_with_one_reading_need_no_decimal_mark(text, number):
    assert [score(float(number), text, **params) for params in ({}, {"decimal": "."}, {"decimal": ","})] == [
        1.0
    ] * 3


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


NONE = """|-|€|()|n/a|5 kg|5%|1.2 million|5k|1e3|NaN|5-EUR|5+|--5|(-5)|(5|5)|1 2|1  234|1\n234|12.34.56|1,2,3|\
1.234.-|1234,567.8|5.|0,123,456|12,3456,789|$5 €|€5 USD|$5 EUR|C$5 USD|5 XXX|5 EUR EUR|5²|½|0x10|1_000|\
5 EUR 6|5 - 6|€€5|1'2"""


@pytest.mark.parametrize("text", NONE.split("|"))
def test_what_is_no_amount_equals_itself_only(text):
    others = ["5", 5, 0, 1234, 1.5, 12, "-5", "5 EUR", "$5", "x"]
    assert [score(text, other) for other in (text, *others)] == [1.0, *[0.0] * len(others)]


CURRENCIES = """
    5 EUR | €5 | 1       | £5 | 5 GBP | 1    | 5 zł | 5 PLN | 1    | US$5 | 5 USD | 1   | A$5 | AU$ 5.00 | 1
    C$5 | 5 CAD | 1      | C$5 | CA$5 | 1    | C$5 | $5 | 0        | C$5 | A$5 | 0      | C$5 | 5 | 1
    R$5 | BRL 5 | 1      | J$5 | 5 JMD | 1   | 5 EUR | 5 | 1       | $5 | $ 5.00 | 1    | 5 EUR | 5 USD | 0
    €5 | $5 | 0          | $5 | 5 USD | 0    | $5 | US$5 | 0       | ¥5 | 5 JPY | 0     | 5 kr | 5 SEK | 0
    $5.00 CAD | CAD 5 | 1                    | $5.00 CAD | $5.00 USD | 0
"""


@pytest.mark.parametrize(
    ("one", "other", "required"),
    [row[at : at + 3] for row in cells(CURRENCIES) for at in range(0, len(row), 3)],
)
def test_currencies_agree_if_both_sides_have_one(one, other, required):
    assert [score(one, other), score(other, one)] == [float(required)] * 2
    # In a large array, where all pairs are scored at once.
    fields = {"[]": {"compare": "amount"}}
    result = compare_json([other, *["x"] * 1_001], [one], fields=fields, arrays="unordered")
    assert result.recall == float(required)


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "required"),
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
        (None, None, {}, 1.0),
        (None, "5", {}, 0.0),
        (True, 1, {}, 0.0),
        (True, True, {}, 1.0),
        ([5], [5.0], {}, 1.0),
        (["5"], [5], {}, 0.0),
        ("5", float("nan"), {}, 0.0),
        (10**400, 10**400, {}, 1.0),
    ],
)
def test_tolerance_in_decimal_arithmetic_and_other_values_as_they_are(expected, actual, tolerance, required):
    assert score(expected, actual, tolerance=tolerance) == required


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"decimal": "'"}, "comparator 'amount': 'decimal' must be '.' or ',', got \"'\""),
        ({"decimal": [","]}, "comparator 'amount': 'decimal' must be '.' or ',', got [',']"),
        ({"decimals": 2}, "comparator 'amount' has no parameter 'decimals'; did you mean 'decimal'?"),
        (
            {"tolerance": {"absolute": 1}},
            "the tolerance of comparator 'amount' has no parameter 'absolute'; known: abs, rel",
        ),
    ],
)
def test_a_wrong_parameter_is_named(params, message):
    with pytest.raises(ConfigurationError) as caught:
        score("5", "5", **params)
    assert str(caught.value) == f"fields['v'].compare: {message}"


HOSTILE = ["1" * 10**6, "1," * 500_000, "(" * 10**6, " " * 10**6 + "5", "$" * 10**6, "1 " * 500_000]


@pytest.mark.parametrize("text", [*HOSTILE, "5" + "-" * 10**6], ids=range(7))
def test_a_megabyte_is_no_amount(text):
    assert [score(*pair) for pair in ((text, text), (text, 5), ("5", text))] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("piece", ["1 ", "1,", " ", "(", "-", "€ ", "a ", "1'2", ".", "1.1 "])
def test_short_hostile_texts_are_answered(piece):
    texts = [(piece * 100)[:size] + "x" for size in range(1, 100)]
    assert {score(text, 5) for text in texts} <= {0.0, 1.0}


def test_amounts_in_unordered_arrays_find_each_other():
    expected = [{"item": f"n{n}", "price": n + 0.5} for n in range(60)]
    actual = [{"item": f"n{n}", "price": f"{n},50 €"} for n in reversed(range(60))]
    fields = {"[].price": {"compare": "amount"}}
    result = compare_json(actual, expected, arrays="unordered", fields=fields)
    assert (result.score, len(result.field_results)) == (1.0, 120)


@pytest.mark.parametrize(
    ("expected", "actual", "scores"),
    [
        ("12 %", "12%", (1.0, 1.0, 1.0)),
        ("12,5 %", "12.50 %", (1.0, 1.0, 1.0)),
        ("%12", "12％", (1.0, 1.0, 1.0)),
        ("12 %", 12, (0.0, 1.0, 0.0)),
        (0.12, "12 %", (0.0, 0.0, 1.0)),
        ("0.12", "12 %", (0.0, 0.0, 1.0)),
        ("12 %", "12 €", (0.0, 1.0, 0.0)),
        ("-0.7 %", -0.007, (0.0, 0.0, 1.0)),
        ("12 %", "13 %", (0.0, 0.0, 0.0)),
        ("12 % €", "12 %", (0.0, 0.0, 0.0)),
    ],
)
def test_a_percent_sign_is_a_unit(expected, actual, scores):
    found = []
    for params in ({}, {"percent": "points"}, {"percent": "fraction"}):
        compare = {"amount": params}
        one = compare_json({"x": actual}, {"x": expected}, fields={"x": {"compare": compare}})
        rule = {"[]": {"compare": compare}}
        many = compare_json([0, actual] * 40, [expected, 0] * 40, arrays="unordered", fields=rule)
        assert many.counts.get("match", 0) == 40 * (1 + one.score)
        found.append(one.score)
    assert tuple(found) == scores


def test_the_reason_names_the_parameter_of_percentages():
    (field,) = compare_json({"x": 12}, {"x": "12 %"}, fields={"x": "amount"}).field_results
    assert field.reason == "set 'percent': a percentage against a number without a percent sign"
    with pytest.raises(ConfigurationError, match="'percent' must be 'points' or 'fraction', got 'parts'"):
        compare_json({}, {}, compare={"string": {"amount": {"percent": "parts"}}})
