"""date: one moment in several spellings."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import ConfigurationError, compare_json
from tests.laws import law


def score(expected, actual, **params):
    return compare_json({"v": actual}, {"v": expected}, fields={"v": {"compare": {"date": params}}}).score


def cells(table):
    """The rows of a table in text, its cells between bars."""
    return [tuple(cell.strip() for cell in line.split("|")) for line in table.strip().splitlines()]


SPELLINGS = """\
2026-01-31|20260131| 2026-01-31 |2026-01-31T00:00|2026-01-31 00:00:00|2026-01-31T00:00:00.000|2026/01/31|2026-1-31|\
31.01.2026|31/01/2026|31-01-2026|31. 1. 2026|01/31/2026|1.31.2026|31 Jan 2026|31 January 2026|31-Jan-2026|\
Jan 31, 2026|January 31, 2026|january 31 2026"""


@pytest.mark.parametrize("text", [*SPELLINGS.split("|"), 20260131])
def test_the_spellings_read_without_formats(text):
    assert score("2026-01-31", text) == 1.0


@pytest.mark.parametrize(
    ("expected", "actual", "required"),
    [
        *(
            ("2026-01-31", text, 0.0)
            for text in ("2026-02-01", "02/01/2026", "2026-01-32", "31/31/2026", "soon", None)
        ),
        ("soon", "2026-01-31", 0.0),
        ("soon", "soon", 1.0),
        ("soon", "later", 0.0),
        ("2026-01-31T10:00:00Z", "2026-01-31T11:00:00+01:00", 1.0),
        ("2026-01-31T10:00:00Z", "2026-01-31t08:30 -0130", 1.0),
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00", 0.0),
        ("2026-01-31T10:00:00+99:00", "2026-01-31T10:00:00", 0.0),
        ("2026-01-31Z", "2026-01-31", 0.0),
        ("2026-01-31T10:00:00.5", "2026-01-31T10:00:00,500", 1.0),
        ("2026-01-31T10:00", "2026-01-31", 0.0),
        (None, None, 1.0),
        (None, "2026-01-31", 0.0),
        (True, 1, 0.0),
        (2026, 2026.0, 1.0),
        ([1], [1.0], 1.0),
        ({}, "2026-01-31", 0.0),
        ("x" * 200, "x" * 200, 1.0),
        (10**400, 10**400, 1.0),
        ("x" * 200, 10**400, 0.0),
    ],
)
def test_date(expected, actual, required):
    assert score(expected, actual) == required


@pytest.mark.parametrize("text", ["03/04/2024", "03.04.2024", "3-4-2024", "3. 4. 2024", "03 04 2024 10:30"])
def test_two_readings_are_none_whatever_separates_the_parts(text):
    assert [score(date, text) for date in (text, "2024-04-03", "2024-03-04", "3/4/2024")] == [
        *(1.0, 0.0, 0.0),
        float(text == "3/4/2024"),
    ]
    field = compare_json({"v": text}, {"v": "2024-04-03"}, fields={"v": {"compare": "date"}}).field_results[0]
    assert field.reason == "set 'order': actual has two readings, compared as text"


@pytest.mark.parametrize("text", ["05/05/2024", "05.05.2024", "5-5-2024"])
def test_two_readings_of_one_day_are_read(text):
    assert [score("2024-05-05", text), score(text, "5 May 2024"), score(text, "2024-05-06")] == [1, 1, 0]


@pytest.mark.parametrize("hyphen", "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d")
def test_typographic_hyphens_are_hyphens(hyphen):
    for date in ("2024-01-31", "31-01-2024", "31-Jan-2024", "2024-01-31T05:00-05:00", "2024-01"):
        for params in ({}, {"precision": "month"}, {"order": "dmy"}, {"formats": ["%d-%m-%Y", "%Y-%m"]}):
            assert score(date, date.replace("-", hyphen), **params) == score(date, date + " ", **params)


def test_a_text_with_a_time_zone_and_one_without_name_the_rule_that_ignores_it():
    for actual, reason in (
        ("2024-04-03T00:00:00Z", "only one has a time zone; 'precision: day' ignores it"),
        ("2024-04-04T00:00:00Z", "only one has a time zone"),
    ):
        result = compare_json({"v": actual}, {"v": "2024-04-03"}, fields={"v": {"compare": "date"}})
        assert (result.score, result.field_results[0].reason) == (0, reason)
    assert score("2024-04-03", "2024-04-03T00:00:00Z", precision="day") == 1


def test_incomplete_iso_dates_next_to_formats():
    params = {"formats": ["%d.%m.%Y"], "precision": "month"}
    assert [score("2024-04", "03.04.2024", **params), score("2024", "03.04.2024", **params)] == [1, 0]
    assert score("2024", "03.04.2024", formats=["%d.%m.%Y"], precision="year") == 1


@pytest.mark.parametrize(
    ("formats", "expected", "actual", "required"),
    [
        (["%d/%m/%Y", "%Y-%m-%d"], "03/04/2026", "2026-04-03", 1.0),
        (["%d/%m/%Y", "%Y-%m-%d"], "03/04/2026", "Apr 03, 2026", 0.0),
        (["%d/%m/%Y", "%Y-%m-%d"], "2026-04-03", "2026-04-03T00:00:00", 1.0),
        ("%d.%m.%y", "2026-04-03", "03.04.26", 1.0),
        ("%d.%m.%y", "20260403", "03.04.26", 1.0),
        ("%d.%m.%y", "2026-04-03T10:00Z", "2026-04-03T12:00+02:00", 1.0),
        ("%d.%m.%y", "2026/04/03", "03.04.26", 0.0),
        ("%Y-%d-%m", "2026-04-03", "2026-03-04", 0.0),
        ("%Y-%d-%m", "2026-04-03", "20260304", 1.0),
        ("%d\u2013%m\u2013%Y", "2026-04-03", "03\u201304\u20132026", 1.0),
        ("%Y", "2026", 2026, 1.0),
        ("%Y", 2026, "2025", 0.0),
        (["%Y-%m-%d %H:%M %z"], "2026-01-31 10:00 +0000", "2026-01-31 12:00 +0200", 1.0),
    ],
)
def test_given_formats_and_iso_8601_are_the_only_ones(formats, expected, actual, required):
    assert score(expected, actual, formats=formats) == required


ORDERED = """
    dmy | 03/04/2026   | 2026-04-03
    dmy | 3/4/2026     | 2026-04-03
    dmy | 3.4.2026     | 2026-04-03
    dmy | 3. 4. 2026   | 2026-04-03
    dmy | 03-04-2026   | 2026-04-03
    dmy | 03 04 2026   | 2026-04-03
    dmy | 03/04/2026 14:30           | 2026-04-03T14:30
    dmy | 03/04/2026 14:30:05 +02:00 | 2026-04-03T12:30:05Z
    mdy | 03/04/2026   | 2026-03-04
    mdy | 03.04.2026   | 2026-03-04
    ymd | 2026/3/4     | 2026-03-04
    ymd | 2026.03.04   | 2026-03-04
    mdy | 2026-04-03   | 2026-04-03
    dmy | 2026/04/03   | 2026-04-03
    mdy | 20260403     | 2026-04-03
    ymd | 3 April 2026 | 2026-04-03
"""


@pytest.mark.parametrize(("order", "text", "date"), cells(ORDERED))
def test_the_order_of_numbers(order, text, date):
    assert score(date, text, order=order) == 1.0


NOT_GUESSED = """
    mdy | 31/01/2026 | 2026-01-31
    mdy | 31.01.2026 | 2026-01-31
    dmy | 03/04/26   | 2026-04-03
    dmy | 03/04-2026 | 2026-04-03
    dmy | 03/04      | 2026-04-03
    ymd | 03/04/2026 | 2026-04-03
    dmy | ٣/٤/٢٠٢٦   | 2026-04-03
"""


@pytest.mark.parametrize(("order", "text", "date"), cells(NOT_GUESSED))
def test_no_order_and_no_century_is_guessed(order, text, date):
    assert [score(date, text, order=order), score(text, text, order=order)] == [0.0, 1.0]


PRECISE = """
    year   | 2026         | 2026-04-03   | 1
    year   | 2026-01      | Dec 2026     | 1
    year   | 2026         | 2027-01-01   | 0
    year   | soon         | soon         | 1
    year   | soon         | later        | 0
    month  | 2026-04      | 2026-04-30   | 1
    month  | April 2026   | 04/2026      | 1
    month  | 2026/04      | 4.2026       | 1
    month  | 2026-04      | 2026-05-01   | 0
    month  | 2026-04      | 2025-04      | 0
    month  | 2026         | 2026-01-01   | 0
    day    | April 2026   | 2026-04-01   | 0
    none   | 2026-04      | 2026-04-01   | 0
    none   | 2026         | 2026-01-01   | 0
    day    | 2026-04-03T10:00       | 2026-04-03                | 1
    day    | 2026-04-03T10:00Z      | 2026-04-03T23:00-08:00    | 1
    day    | 2026-04-03             | 2026-04-04                | 0
    second | 2026-04-03T10:00:00.7  | 2026-04-03T10:00:00.2     | 1
    none   | 2026-04-03T10:00:00.7  | 2026-04-03T10:00:00.2     | 0
    second | 2026-04-03T10:00:00Z   | 2026-04-03T12:00:00+02:00 | 1
    second | 2026-04-03T10:00:00Z   | 2026-04-03T10:00:00       | 0
    second | 2026-04-03T10:00:01    | 2026-04-03T10:00:00       | 0
    second | 2026-04-03             | 2026-04-03T00:00:00       | 1
"""


@pytest.mark.parametrize(("precision", "one", "other", "required"), cells(PRECISE))
def test_precision(precision, one, other, required):
    params = {} if precision == "none" else {"precision": precision}
    assert [score(one, other, **params), score(other, one, **params)] == [float(required)] * 2


WRITTEN_OUT = """
    de    | 3. April 2024                | 2024-04-03
    de    | Mittwoch, 3. April 2024      | 2024-04-03
    de    | 12. März 2024                | 2024-03-12
    de    | 12. Mrz. 2024                | 2024-03-12
    de    | 3. Dezember 2024 um 14:30    | 2024-12-03T14:30
    de    | 2024-04-03                   | 2024-04-03
    fr    | 1er avril 2024               | 2024-04-01
    fr    | 14 février 2024              | 2024-02-14
    fr    | 2 août 2024                  | 2024-08-02
    es    | 3 de abril de 2024           | 2024-04-03
    it    | 3 aprile 2024                | 2024-04-03
    ru    | 3 апреля 2024 г.             | 2024-04-03
    de fr | 3 avril 2024                 | 2024-04-03
    hr cs | 3 listopad 2024              | 2024-10-03
    cs hr | 3 listopad 2024              | 2024-11-03
    en    | April 3rd, 2024              | 2024-04-03
    en    | 3 Apr 2024 10:00 +02:00      | 2024-04-03T08:00Z
    en    | 3 Apr 2024 10:00 UTC         | 2024-04-03T10:00Z
"""


@pytest.mark.parametrize(("languages", "text", "date"), cells(WRITTEN_OUT))
def test_dates_written_out(languages, text, date):
    languages = languages.split()
    assert [score(date, text, languages=languages), score(text, text, languages=languages)] == [1.0, 1.0]


VAGUE = """gestern|heute|vor 2 Tagen|April 2024|3. April|2024|Mittwoch|10:30|Mai|3. April 24|31. Februar 2024|\
03/04/2024|03/04/2024 Uhr|3 avril 2024|den 3. April 2024|3. April 2024 10:00 MEZ|3. April 2024 10:00 IST|\
1030 Uhr 3. April 24||1712102400"""


@pytest.mark.parametrize("text", VAGUE.split("|"))
def test_nothing_is_guessed_in_a_language(text):
    others = [f"{year}-{month:02}-{day:02}" for year in (2024, 2026) for month in (4, 5) for day in (1, 3, 4)]
    others.append("2024-04-03T10:00:00+01:00")
    assert score(text, text, languages=["de"]) == 1.0
    assert [score(other, text, languages=["de"]) for other in others] == [0.0] * len(others)


def test_other_parameters_next_to_a_language():
    text = "03/04/2024 14:30 Uhr"
    for order, date in (("dmy", "2024-04-03T14:30"), ("mdy", "2024-03-04T14:30")):
        assert score(date, text, order=order, languages=["de"]) == 1.0
    assert score("2024-04", "avril 2024", languages="fr", precision="month") == 1.0
    assert score("2024-04-01", "avril 2024", languages=["fr"]) == 0.0
    params = {"formats": ["%d/%m/%Y"], "languages": ["de"]}
    assert score("03/04/2024", "3. April 2024", **params) == 1.0
    assert score("03/04/2024", "2024-04-03", **params) == 1.0
    assert score("03/04/2024", "03.04.2024", **params) == 0.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"order": "dym"}, "'order' must be one of dmy, mdy, ymd, got 'dym'; did you mean 'ymd'?"),
        ({"order": "DMY"}, "'order' must be one of dmy, mdy, ymd, got 'DMY'; known: dmy, mdy, ymd"),
        ({"precision": "days"}, "must be one of year, month, day, second, got 'days'; did you mean 'day'?"),
        ({"precision": 3}, "'precision' must be one of year, month, day, second, got 3"),
        ({"languages": []}, '\'languages\' must be a list such as ["de", "fr"]'),
        ({"languages": ["de", "german"]}, "unknown language 'german'; known: af, "),
        ({"languages": [7]}, "unknown language 7; known: af, "),
        (
            {"formats": ["%d"], "order": "dmy"},
            "'formats' define the order of numbers; remove 'order'",
        ),
        ({"timezone": 1}, "has no parameter 'timezone'; known: formats, languages, order, precision"),
    ],
)
def test_a_wrong_parameter_is_named(params, message):
    with pytest.raises(ConfigurationError) as caught:
        score("a", "b", **params)
    assert message in str(caught.value)


moments = st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9000, 1, 1))


@law(moments, moments, st.booleans())
def test_what_matches_matches_at_every_coarser_precision(one, other, near):
    texts = [one.isoformat(), (one.replace(microsecond=0) if near else other).isoformat()]
    finer = [{}, *({"precision": name} for name in ("second", "day", "month", "year"))]
    scores = [score(*texts, **params) for params in finer]
    assert scores == sorted(scores)


@pytest.mark.parametrize("params", [{}, {"order": "dmy"}, {"precision": "year"}, {"languages": ["de", "en"]}])
@pytest.mark.parametrize("text", ["1/" * 500_000, "1" * 10**6, " " * 10**6, "April " * 10**5, "3. " * 10**5])
def test_a_megabyte_is_no_date(params, text):
    pairs = [(text, text), (text, "2024-04-03"), ("2024-04-03", text)]
    assert [score(*pair, **params) for pair in pairs] == [1.0, 0.0, 0.0]
    score(text[:99], "2024-04-03", **params)
