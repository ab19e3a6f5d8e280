"""Gates as people write them."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch.gate.expressions import COUNTS, OPERATORS, SHARES, Gate, GateError, parse_gate
from tests.laws import law


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("f1 >= 0.9", ("f1", ">=", 0.9, None, None, False)),
        ("  score>=1  ", ("score", ">=", 1.0, None, None, False)),
        ("pass_rate > .5", ("pass_rate", ">", 0.5, None, None, False)),
        ("micro.precision >= 9e-1", ("precision", ">=", 0.9, None, None, True)),
        ('fields["items[].price"].recall >= 0.95', ("recall", ">=", 0.95, None, "items[].price", False)),
        ("fields [ '**.id' ] . score == 1", ("score", "==", 1.0, None, "**.id", False)),
        ('cases["acme-*"].score >= 1', ("score", ">=", 1.0, "acme-*", None, False)),
        ('cases["a"].fields["b"].f1 < 0.5', ("f1", "<", 0.5, "a", "b", False)),
        ('cases["a"].micro.f1 != 0', ("f1", "!=", 0.0, "a", None, True)),
        ('cases["say \\"x\\""].f1 > 0', ("f1", ">", 0.0, 'say "x"', None, False)),
        ('tags["a=b"].fields["b"].f1 < 0.5', ("f1", "<", 0.5, None, "b", False, False, ("a=b",))),
        ('tags["a=b"].cases["c"].f1 < 0.5', ("f1", "<", 0.5, "c", None, False, False, ("a=b",))),
        ("batch_errors == 0", ("batch_errors", "==", 0.0, None, None, False)),
        ("errors <= 12", ("errors", "<=", 12.0, None, None, False)),
    ],
)
def test_what_a_gate_says(text, gate):
    assert parse_gate(text) == Gate(text.strip(), *gate)


@pytest.mark.parametrize(
    "text",
    [
        "f1 >= 0.9 significant",
        "flip_rate<0.1 significant",
        'cases["a*"].fields["b"].recall > 0.5  significant ',
    ],
)
def test_a_gate_that_is_to_be_significant(text):
    found = parse_gate(text)
    assert found.is_significant
    assert found.name == parse_gate(text.replace("significant", "")).name


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", 0, "expected a statistic such as score, but the gate ends here"),
        ("f2 >= 1", 0, "unknown statistic 'f2'; for a field write fields[\"f2\"].score; known: answered, "),
        ("total >= 1", 0, "unknown statistic 'total'; for a field write fields[\"total\"].score; known: "),
        ("a.total > 0", 0, "unknown statistic 'a.total'; did you mean 'cost.total'?"),
        (
            "items.price > 0",
            0,
            "unknown statistic 'items.price'; for a field write fields[\"items.price\"].score",
        ),
        (
            'cases["a"].vat > 0',
            11,
            "unknown statistic of some cases 'vat'; for a field write fields[\"vat\"].score",
        ),
        ("micro.total > 0", 6, "unknown statistic of fields 'total'; known: f1, precision, recall, score"),
        ("latency < 8", 0, "unknown statistic 'latency'; did you mean 'latency.p"),
        ("recal >= 1", 0, "unknown statistic 'recal'; did you mean 'recall'?"),
        ("f1", 2, "expected one of >=, <=, ==, !=, >, <, but the gate ends here"),
        ("f1 >=", 5, "expected a number, but the gate ends here"),
        ("f1 => 0.5", 3, "expected one of >=, <=, ==, !=, >, <, not '=>'; did you mean '>='?"),
        ("f1=<0.5", 2, "expected one of >=, <=, ==, !=, >, <, not '=<'; did you mean '<='?"),
        ("f1 ≥ 0.5", 3, "expected one of >=, <=, ==, !=, >, <, not '≥'; did you mean '>='?"),
        ("f1 = 0.5", 3, "expected one of >=, <=, ==, !=, >, <, not '='; did you mean '=='?"),
        ("f1 >= high", 6, "expected a number, not 'high'"),
        ("f1 >= 90", 6, "f1 must be between 0 and 1, got 90 (for 90 % write 0.9)"),
        ("f1 >= 100", 6, "f1 must be between 0 and 1, got 100 (for 100 % write 1)"),
        ("f1 >= -0.1", 6, "f1 must be between 0 and 1, got -0.1\n"),
        ("f1 >= -1", 6, "f1 must be between 0 and 1, got -1\n"),  # and nothing of percentages
        ("f1 >= 101", 6, "f1 must be between 0 and 1, got 101\n"),
        ("f1 >= 0.9 and recall > 1", 10, "expected the end of the gate, or `significant`, not 'and'"),
        ("f1 >= 0.9 proved", 10, "expected the end of the gate, or `significant`, not 'proved'"),
        ("f1 >= 0.9 significant twice", 22, "expected the end of the gate, or `significant`, not 'twice'"),
        ("f1 == 0.9 significant", 10, "`significant` needs >=, >, <= or <, got =="),
        ("errors <= 3 significant", 12, "errors is counted, not estimated: remove `significant`"),
        (
            "completeness >= 0.5 significant",
            20,
            "completeness is counted, not estimated: remove `significant`",
        ),
        ("f1 >= 90%", 6, "f1 must be between 0 and 1, got 90 (for 90 % write 0.9)"),
        ("errors >= 90%", 12, "expected the end of the gate, or `significant`, not '%'"),
        ("field.totl >= 0.9", 0, "unknown statistic 'field.totl'; for a field write fields[\"totl\"].recall"),
        (
            "fields.total.f1 > 0",
            0,
            "unknown statistic 'fields.total.f1'; for a field write fields[\"total\"].f1",
        ),
        (
            "total.recall > 0",
            0,
            "unknown statistic 'total.recall'; for a field write fields[\"total\"].recall",
        ),
        ('fields["a"] > 0', 0, "unknown statistic 'fields'; write for example fields[\"total\"].recall"),
        ("cases >= 3", 0, "unknown statistic 'cases'; write for example cases[\"acme-*\"].score"),
        ("cases[a].f1 > 0", 0, "unknown statistic 'cases'; write for example cases["),
        ('cases["a.f1 > 0', 0, "unknown statistic 'cases'; write for example cases["),
        ("tags.a > 0", 0, "unknown statistic 'tags.a'; write for example tags[\"source=phone\"].score"),
        ("micro > 0", 0, "unknown statistic 'micro'; write for example micro.f1"),
        ('fields["a.[x"].f1 > 0', 7, "'a.[x' is not a path pattern"),
        ('fields["a[0]"].f1 > 0', 7, "'a[0]' names one element"),
        ('fields["a"].flip_rate > 0', 12, "unknown statistic of fields 'flip_rate'"),
        ('cases["a"].completeness > 0', 11, "unknown statistic of some cases 'completeness'"),
        ("cost.mean <= 1 significant", 15, "cost.mean has no interval: remove `significant`"),
        ("cost > 0", 0, "unknown statistic 'cost'; "),
        ("latency.p59 < 8", 0, "unknown statistic 'latency.p59'; did you mean 'latency.p95'?"),
        ('fields["a"].cost.mean > 0', 12, "unknown statistic of fields 'cost.mean'"),
        ('tags["a"].f1 > 0', 5, "a tag must be NAME=VALUE, such as a=phone"),
        ('tags["a=b"].completeness > 0', 12, "unknown statistic of some cases 'completeness'"),
        ('tags["a=*"].tags["c=d"].f1 > 0', 0, "a=* must be the only tag"),
        ("__import__('os') > 0", 0, "unknown statistic '__import__'"),
    ],
)
def test_what_is_wrong_and_where(text, position, reason):
    with pytest.raises(GateError) as caught:
        parse_gate(text)
    printed = str(pickle.loads(pickle.dumps(caught.value)))
    assert printed[: len(reason)] == reason
    assert printed.splitlines()[1:] == [f"  {text}", f"  {' ' * position}^"]


@law(st.text(alphabet="f1 recalscorepasmi.[]\"'<>=!0123456789-+e\\", max_size=25))
def test_any_text_is_a_gate_or_an_error_with_a_place(text):
    try:
        gate = parse_gate(text)
    except GateError as error:
        printed = str(error).rpartition("\n")[2]
        assert 3 <= len(printed) <= len(text) + 3
    else:
        assert parse_gate(f"{gate.name} {gate.operator} {gate.limit!r}").name == gate.name


@law(st.sampled_from(sorted({*SHARES, *COUNTS})), st.sampled_from(sorted(OPERATORS)), st.floats(0, 1))
def test_every_statistic_goes_with_every_operator(one_statistic, operator, limit):
    gate = parse_gate(f"{one_statistic}{operator}{limit!r}")
    assert (gate.statistic, gate.operator, gate.limit) == (one_statistic, operator, limit)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("value", [0.2, 0.3, 0.1 + 0.1 + 0.1, 0.4])
def test_rounding_decides_nothing(operator, value):
    shown = round(value, 9)
    assert parse_gate(f"score {operator} 0.3").passes(value) is eval(f"{shown} {operator} 0.3")


def test_only_perfection_reaches_1():
    assert parse_gate("score >= 1").passes(1.0)
    assert not parse_gate("score >= 1").passes(1 - 1e-13)
    assert parse_gate("score < 1").passes(1 - 1e-13)
