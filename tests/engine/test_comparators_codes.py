"""phone and identifier: canonical forms of numbers that name something."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pytest_jsonmatch import ConfigurationError, compare_json


def score(name, expected, actual, **params):
    return compare_json({"v": actual}, {"v": expected}, fields={"v": {"compare": {name: params}}}).score


def cells(table):
    """The rows of a table in text, its cells between bars."""
    return [tuple(cell.strip() for cell in line.split("|")) for line in table.strip().splitlines()]


PHONES = """
    -  | +49 30 123456       | +4930123456        | 1
    -  | +49 (0)30 / 12 34 56 | +49-30-123456     | 1
    -  | tel:+49-30-123456   | +4930123456        | 1
    -  | +1 (202) 555-0123   | +1.202.555.0123    | 1
    -  | +1 555 123 4567     | +15551234567       | 1
    -  | +49 30 123456       | +49 30 123457      | 0
    DE | 030 123456          | +49 30 123456      | 1
    DE | 0049 30 123456      | (030) 12 34 56     | 1
    DE | +1 202 555 0123     | 001 202 5550123    | 1
    US | (202) 555-0123      | +1 202-555-0123    | 1
    GB | 020 7946 0958       | +44 20 7946 0958   | 1
    FR | 01 23 45 67 89      | +33 1 23 45 67 89  | 1
    IT | 06 1234567          | +39 06 1234567     | 1
    AT | 030 123456          | +49 30 123456      | 0
    US | 202-555-0123 ext. 5 | 2025550123 x5      | 1
    US | 202-555-0123 ext. 5 | 202-555-0123       | 0
    -  | 030 123456          | +49 30 123456      | 0
    -  | 030 123456          | 030123456          | 0
    -  | 030 123456          | 030 123456         | 1
    US | 555-0123            | 5550123            | 0
    DE | none                | none               | 1
    DE | none                | n/a                | 0
"""


@pytest.mark.parametrize(
    ("region", "expected", "actual", "required"),
    [
        *cells(PHONES),
        ("US", 2025550123, "202.555.0123", 1),
        ("DE", None, None, 1),
        ("DE", None, "030 123456", 0),
        ("DE", True, True, 1),
        ("DE", [1], [1.0], 1),
    ],
)
def test_phone(region, expected, actual, required):
    params = {} if region == "-" else {"region": region}
    both = [score("phone", expected, actual, **params), score("phone", actual, expected, **params)]
    assert both == [float(required)] * 2


IDENTIFIERS = """
    iban   | DE89 3704 0044 0532 0130 00 | de89370400440532013000     | 1
    iban   | GB29 NWBK 6016 1331 9268 19 | GB29-NWBK-6016-1331-9268-19 | 1
    iban   | DE89370400440532013000      | DE89370400440532013001     | 0
    iban   | DE88 3704 0044 0532 0130 00 | DE88370400440532013000     | 0
    iban   | DE88 3704      | DE88 3704       | 1
    iban   |                |                 | 1
    eu_vat | DE 136,695 976 | DE136695976     | 1
    eu_vat | DE136695976    | 136695976       | 0
    eu_vat | NL4495445B01   | NL 004495445B01 | 1
    de_vat | DE136695976    | 136 695 976     | 1
    isbn   | 0-306-40615-2  | 9780306406157   | 1
    isbn   | 978-0-306-40615-7 | 978 0306406157 | 1
    isbn   | 080442957X     | 0-8044-2957-x   | 1
    isbn   | 080442957X     | 9780804429573   | 1
    isbn   | 0-306-40615-2  | 0-306-40615-3   | 0
    issn   | 0024-9319      | 00249319        | 1
    isin   | US0378331005   | us 0378331005   | 1
    lei    | 213800KUD8LAJWSQ9D15 | 213800kud8lajwsq9d15 | 1
    us_ssn | 536-90-4399    | 536904399       | 1
    is_kennitala | 450401-3150 | 4504013150   | 1
"""


@pytest.mark.parametrize(
    ("kind", "expected", "actual", "required"),
    [
        *cells(IDENTIFIERS),
        ("isbn", "0-306-40615-2", 9780306406157, 1),
        ("iban", None, None, 1),
        ("iban", {}, {}, 1),
    ],
)
def test_identifier(kind, expected, actual, required):
    both = [
        score("identifier", expected, actual, kind=kind),
        score("identifier", actual, expected, kind=kind),
    ]
    assert both == [float(required)] * 2


WRONG = """
{"phone": {"country": "DE"}} comparator 'phone' has no parameter 'country'; known: region
{"phone": {"region": "de"}} comparator 'phone': unknown region 'de'; did you mean 'DE'?
{"phone": {"region": ["DE"]}} comparator 'phone': unknown region ['DE']; known: AC,
{"phone": {"region": "Germany"}} comparator 'phone': unknown region 'Germany'; known: AC, AD, AE,
{"identifier": {}} comparator 'identifier' needs the parameter 'kind', for example {"kind": "iban"}
{"identifier": {"kinds": "iban"}} comparator 'identifier' has no parameter 'kinds'; did you mean 'kind'?
{"identifier": {"kind": "ibam"}} comparator 'identifier': unknown kind 'ibam'; it is the name of a module of python-stdnum, such as
{"identifier": {"kind": "EU_VAT"}} comparator 'identifier': unknown kind 'EU_VAT';
{"identifier": {"kind": "exceptions"}} comparator 'identifier': unknown kind 'exceptions';
{"identifier": {"kind": ".."}} comparator 'identifier': unknown kind '..';
{"identifier": {"kind": 3}} comparator 'identifier': unknown kind 3;
"""


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_a_wrong_parameter_is_named(line):
    compare, end = json.JSONDecoder().raw_decode(line)
    with pytest.raises(ConfigurationError) as caught:
        compare_json({"v": "a"}, {"v": "b"}, fields={"v": {"compare": compare}})
    assert str(caught.value).startswith(f"fields['v'].compare: {line[end + 1 :]}")


MISSING = """
phonenumbers {"phone": {"region": "DE"}} comparator 'phone' needs the extra 'phone'
stdnum {"identifier": {"kind": "iban"}} comparator 'identifier' needs the extra 'identifiers'
dateparser {"date": {"languages": ["de"]}} comparator 'date' with 'languages' needs the extra 'dates'
"""


@pytest.mark.parametrize("line", MISSING.strip().splitlines())
def test_a_missing_extra_is_one_line(monkeypatch, line):
    library, rest = line.split(" ", 1)
    compare, end = json.JSONDecoder().raw_decode(rest)
    for module in [each for each in sys.modules if each.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigurationError) as caught:
        compare_json({"x": "a"}, {"x": "b"}, fields={"x": {"compare": compare}})
    extra = rest.split("'")[-2]
    assert (
        str(caught.value)
        == f"fields['x'].compare: {rest[end + 1 :]}: pip install 'pytest-jsonmatch[{extra}]'"
    )


HOSTILE = ["1" * 10**6, "+" * 10**6, "(" * 10**6, "-1" * 500_000, "x" * 10**6, "\ud800" * 1000, "９" * 10**6]


@pytest.mark.parametrize(
    "params", [{"kind": kind} for kind in ("iban", "eu_vat", "isbn", "bic")] + [{"region": "US"}]
)
def test_a_megabyte_has_no_form(params):
    name = "identifier" if "kind" in params else "phone"
    for text in HOSTILE:
        pairs = [(text, text), (text, "1"), ("1", text)]
        assert [score(name, *pair, **params) for pair in pairs] == [1.0, 0.0, 0.0]
        # Short enough to be looked at.
        score(name, text[:99], "1", **params)


def test_a_kind_of_identifier_imports_its_own_module_only():
    pytest.importorskip("stdnum")
    code = (
        "import sys\n"
        "from pytest_jsonmatch import compare_json\n"
        "compare_json('1', '2', fields={'$': {'compare': {'identifier': {'kind': 'isbn'}}}})\n"
        "print('stdnum.isbn' in sys.modules, [name for name in sys.modules if name.startswith('stdnum.eu')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True []\n"


def test_of_many_names_some_are_listed():
    with pytest.raises(ConfigurationError, match=r"'Germany'; known: AC, AD, .*, \d{3} more$") as caught:
        compare_json({"v": "a"}, {"v": "b"}, fields={"v": {"compare": {"phone": {"region": "Germany"}}}})
    assert len(str(caught.value)) < 300
