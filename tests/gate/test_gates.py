"""Gates held against results."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import RunResult
from pytest_jsonmatch.gate.expressions import GateError, parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.support.frozen import replace
from tests.conftest import case_of, corpus_of

GOLD = {"a": 1, "b": {"c": "x", "d": "y"}}
WRONG = {"a": 2, "b": {"c": "x", "d": "y"}}


def case(name, *answers, expected=GOLD, metric="pairwise_f1"):
    return case_of(f"f.yaml::{name}", *answers, expected=expected, metric=metric)


RESULTS = RunResult.of_cases(
    (
        case("acme-1", GOLD),
        case("acme-2", {"a": 2, "b": {"c": "x"}}, {"a": 1, "b": {"c": "x"}}),
        case("other[small]", {"b": {"c": "x", "d": "y"}, "e": 1}),
        Case("f.yaml::broken", (CaseRun(1, passed=False, error="failed before comparing"),)),
    ),
    collected=8,
)


def checked(text, results=RESULTS):
    return check_gate(parse_gate(text), results)


@pytest.mark.parametrize(
    ("one_statistic", "value"),
    [
        # acme-2: F1 of 1 of 3 and 2, and of 2 of 3 and 2; a case that failed before it compared counts as 0.
        ("f1", (1 + (2 / 5 + 4 / 5) / 2 + 4 / 6 + 0) / 4),
        ("recall", (1 + (1 / 3 + 2 / 3) / 2 + 2 / 3 + 0) / 4),
        ("precision", (1 + (1 / 2 + 2 / 2) / 2 + 2 / 3 + 0) / 4),
        ("pass_rate", 1 / 4),
        ("flip_rate", 0.0),
        ("completeness", 3 / 8),
        ("errors", 1),
        ("batch_errors", 0),
        ('cases["acme-*"].f1', (1 + 3 / 5) / 2),
        ('cases["other"].f1', 4 / 6),
        ('cases["other[[]small]"].f1', None),
        ('cases["other[small]"].f1', 4 / 6),
        ('cases["f.yaml::acme-1"].f1', 1.0),
        # Each run of acme-2 counts half.
        ('fields["a"].recall', (1 + (0 + 1) / 2 + 0) / 3),
        ('fields["b.*"].recall', (2 + 1 + 2) / 6),
        ('fields["e"].precision', 0.0),
        ('fields["e"].recall', None),
        ('cases["acme-*"].fields["a"].score', (1 + 0.5) / 2),
        ("micro.recall", (3 + 1.5 + 2) / 9),
        ("micro.precision", (3 + 1.5 + 2) / (3 + 2 + 3)),
        ('cases["acme-1"].micro.f1', 1.0),
        # Of all runs together: 12 leaves are expected, and "e" is the only one that is made up.
        ("matches", 8),
        ("mismatches", 1),
        ("missing", 3),
        ("extra", 1),
        ("missing_rate", 3 / 12),
        ("extra_rate", 1 / 10),
        ('fields["b.d"].missing', 2),
        ('fields["e"].hallucination_rate', 1.0),
        ('fields["e"].omission_rate', None),
        ('cases["acme-*"].extra', 0),
    ],
)
def test_the_value_of_a_statistic(one_statistic, value):
    found = checked(f"{one_statistic} >= 0").value
    assert found == (None if value is None else pytest.approx(value, abs=1e-12))


def test_fields_are_what_the_table_shows():
    statistics = RESULTS.per_field["a"]
    assert (statistics.total, statistics.matches, statistics.mismatches, statistics.omissions) == (4, 2, 1, 1)
    assert statistics.mean_score == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "passed", "note"),
    [
        ("pass_rate >= 0.25", True, "1 of 4 cases"),
        ("pass_rate > 0.25", False, "1 of 4 cases"),
        ('fields["zzz"].f1 >= 0', False, "no compared field matches; known: a, b.c, b.d, e"),
        ('fields["b.cc"].f1 >= 0', False, "no compared field matches; did you mean 'b.c'?"),
        ('fields["e"].recall >= 0', False, "undefined: division by zero"),
        ('cases["amce-*"].f1 >= 0', False, "no case matches; did you mean 'acme-2'?"),
        ("batch_errors == 0", True, ""),
        ('tags["source=phone"].f1 >= 0', False, "no case has any tag"),
    ],
)
def test_what_a_gate_says_of_it(text, passed, note):
    found = checked(text)
    assert (found.passed, found.note) == (passed, note)


@pytest.mark.parametrize(
    ("text", "cases", "note"),
    [('fields["a"].mismatches == 0', 3, "no field was compared"), ("flip_rate <= 1", 2, "no case ran twice")],
)
def test_what_there_is_none_of(text, cases, note):
    assert checked(text, RunResult.of_cases(RESULTS.cases[cases:])).note == note


def test_a_tag_that_no_case_has():
    with_tags = RunResult.of_cases((replace(RESULTS.cases[0], tags={"source": "mail", "n": 1}),))
    note = checked('tags["source=phone"].f1 >= 0', with_tags).note
    assert note == "no case has this tag; did you mean 'source=mail'?"


def test_each_value_of_a_tag_by_itself():
    sources = ("mail", "fax", "mail", "scan")
    cases = [
        replace(case, tags={"source": source}) for case, source in zip(RESULTS.cases, sources, strict=True)
    ]
    run = RunResult.of_cases(cases)
    failed = checked('tags["source=*"].f1 >= 0.7', run)
    assert (failed.passed, failed.value, failed.margin) == (False, 0.0, -0.7)
    assert failed.note == "2 of 3 values failed: source=scan 0.00, 1 case; source=fax 0.60, 1 case"
    passed = checked('tags["source=*"].f1 >= 0', run)
    assert (passed.passed, passed.value) == (True, 0.0)
    assert passed.note == "3 values, the closest to the limit is source=scan 0.00, 1 case"
    at_most = checked('tags["source=*"].cases["*-*"].mismatches <= 0', run)
    assert (at_most.passed, at_most.value, at_most.note) == (
        False,
        None,
        "2 of 3 values failed: source=scan –, 1 case; source=fax 1, 1 case",
    )
    assert checked('tags["sorce=*"].f1 >= 0', run).note == "no case has a tag 'sorce'; did you mean 'source'?"
    assert check_gate(parse_gate('tags["a=*"].f1 >= 0'), RunResult.of_cases(), required=False).passed is None


def test_the_values_of_a_tag_may_contain_anything():
    sources = ("*", "a=*", 'a"\\', "*")
    cases = [
        replace(case, tags={"source": source}) for case, source in zip(RESULTS.cases, sources, strict=True)
    ]
    run = RunResult.of_cases(cases)
    each = checked('tags["source=*"].f1 >= 0.65', run)
    assert each.note == "2 of 3 values failed: source=* 0.50, 2 cases; source=a=* 0.60, 1 case"
    of_one = checked('tags["source=a=*"].f1 >= 0.6', run)
    assert (of_one.passed, of_one.value) == (True, pytest.approx(0.6))
    escaped = checked(r'tags["source=a\"\\"].f1 >= 0.6', run)
    assert (escaped.passed, escaped.statistic) == (True, r"""tags['source=a"\\'].f1""")
    assert parse_gate(f"{escaped.statistic} >= 0.6").tags == ('source=a"\\',)


def test_nothing_is_never_good_enough_if_it_was_asked_for():
    gate = parse_gate("f1 >= 0")
    assert check_gate(gate, RunResult.of_cases()).passed is False
    assert check_gate(gate, RunResult.of_cases(), required=False).passed is None
    assert check_gate(gate, RunResult.of_cases()).note == "nothing was compared"


@pytest.mark.parametrize(
    ("text", "margin"),
    [("pass_rate >= 0.2", 0.05), ("pass_rate <= 0.2", -0.05), ("errors == 0", -1), ("errors < 3", 2)],
)
def test_what_is_to_spare(text, margin):
    assert checked(text).margin == pytest.approx(margin)


def test_a_case_that_runs_often_counts_once():
    often = case("often", *[{"a": 2}] * 9, expected={"a": 1})
    once = case("once", {"a": 1}, expected={"a": 1})
    both = RunResult.of_cases((often, once))
    for one_statistic in ("f1", "score", "micro.f1", 'fields["a"].recall', "pass_rate"):
        assert checked(f"{one_statistic} >= 0", both).value == pytest.approx(0.5)


def many(passing, of):
    """So many cases that are right, of so many; the others have one of three leaves wrong."""
    wrong = {"a": 2, "b": {"c": "x", "d": "y"}}
    cases = (case(f"c{at:02}", GOLD if at < passing else wrong) for at in range(of))
    return RunResult.of_cases(tuple(cases), collected=of)


@pytest.mark.parametrize(
    "one_statistic",
    ["score", "precision", "recall", "f1", "pass_rate", "micro.f1", 'fields["a"].recall', 'cases["*"].f1'],
)
def test_a_significant_gate_goes_by_the_end_of_the_interval(one_statistic):
    results = many(37, 40)
    value = checked(f"{one_statistic} >= 0.1", results).value
    found = checked(f"{one_statistic} >= {value:.6f} significant", results)
    assert (found.passed, found.value) == (False, value)
    assert found.statistic == parse_gate(f"{one_statistic} > 0").name
    low = found.end
    assert low < value
    assert found.margin == low - float(f"{value:.6f}")
    assert found.note.startswith(f"lower end {low:.2f} of 40 cases")
    assert checked(f"{one_statistic} >= {low - 1e-6:.6f} significant", results).passed
    assert not checked(f"{one_statistic} >= {low + 1e-6:.6f} significant", results).passed
    high = checked(f"{one_statistic} <= {value - 0.001:.6f} significant", results)
    assert (high.passed, high.value) == (False, value)
    assert high.end >= value


def test_a_significant_gate_says_how_many_perfect_cases_it_takes():
    perfect = many(10, 10)
    note = "lower end 0.69 of 10 cases; even perfect scores need 17 cases"
    assert checked("score >= 0.8 significant", perfect).note == note
    assert checked("score >= 0.8 significant", many(17, 17)).passed
    assert not checked("score >= 0.8 significant", many(16, 16)).passed
    most = checked("missing_rate <= 0.05 significant", perfect)
    assert most.note == "upper end 0.31 of 10 cases; even a value of 0 needs 72 cases"
    assert checked("score >= 0.5 significant", perfect).note == "lower end 0.69 of 10 cases"
    assert checked("score >= 1 significant", perfect).note == "lower end 0.69 of 10 cases"


def test_the_interval_of_each_value_of_a_tag_names_its_cases():
    cases = [
        replace(case, tags={"source": "phone" if at < 5 else "scan"})
        for at, case in enumerate(many(40, 40).cases)
    ]
    check = checked('tags["source=*"].score >= 0.6 significant', RunResult.of_cases(cases))
    assert check.note == "1 of 2 values failed: source=phone 1.00, lower end 0.48, 5 cases"


def test_a_significant_gate_on_a_missing_statistic_fails():
    assert checked("flip_rate <= 0.5 significant", many(3, 3)).passed is False
    assert checked('fields["x"].recall >= 0.5 significant').passed is False
    assert checked("score >= 0.5 significant", RunResult.of_cases()).passed is False


def test_what_is_significant_goes_by_clusters():
    alone = many(37, 40)
    documents = tuple(replace(each, cluster=f"d{at // 5}") for at, each in enumerate(alone.cases))
    within = alone.with_cases(documents)
    assert checked("pass_rate >= 0.75 significant", alone).passed
    assert not checked("pass_rate >= 0.75 significant", within).passed


def test_a_mean_leaves_out_records_without_statistics():
    gold = [{"a": "bad"}, *[{"a": "good"}] * 3]
    corpus = corpus_of(zip(gold, gold), fields={"a": {"compare": "unreachable"}})
    assert checked("score >= 0.9", corpus).note == "mean of 3 records"


def test_a_corpus_of_which_not_all_records_are_kept_proves_nothing():
    corpus = corpus_of([(WRONG if at < 3 else GOLD, GOLD) for at in range(40)], keep="worst")
    found = checked("score >= 0.5 significant", corpus)
    assert (found.passed, found.note) == (False, "an interval needs all records: use keep='all'")
    assert checked("score >= 0.5", corpus).passed


@pytest.mark.parametrize("one_statistic", ["extra", "extra_rate"])
def test_what_is_not_counted_is_never_good_enough(one_statistic):
    shapes = {"a": ({"b": 1}, {}, "pairwise_f1"), "b": ({"a": 1, "b": 1}, {"a": 1}, "json_similarity")}
    cases = (case(name, answer, expected=gold, metric=how) for name, (answer, gold, how) in shapes.items())
    results = RunResult.of_cases(tuple(cases))
    for text in (f"{one_statistic} <= 1", f'fields["a"].{one_statistic} <= 1'):
        check = checked(text, results)
        assert (check.value, check.passed) == (None, False)
        assert check.note == "not counted: json_similarity ignores extra values"
    assert checked(f'fields["b"].{one_statistic} <= 1', results).value == 1


def test_rates_are_significant_by_their_interval():
    check = checked("omission_rate <= 0.9 significant")
    assert (check.statistic, check.side, check.passed) == ("missing_rate", "upper", True)


@pytest.mark.parametrize(
    ("text", "value", "passed", "note"),
    [
        ('kinds["value differs"] <= 1', 1, True, "in 1 of 4 cases"),
        ('kinds["value differs"] == 0', 1, False, "in 1 of 4 cases"),
        ('kinds["white space"] == 0', 0, True, "in 0 of 4 cases"),
        ('kinds["white space"].cost <= 0', 0.0, True, "in 0 of 4 cases"),
        ('kinds["no answer"].cost < 0.2', 0.25, False, "in 1 of 4 cases"),
        ('cases["acme-*"].kinds["value differs"] == 1', 1, True, "in 1 of 2 cases"),
    ],
)
def test_kinds_of_differences(text, value, passed, note):
    check = checked(text)
    assert (check.value, check.passed, check.note) == (pytest.approx(value), passed, note)
    assert check.statistic == text.rsplit(" ", 2)[0]


def test_the_interval_of_the_cost_of_a_kind():
    check = checked('kinds["value differs"].cost <= 0.01 significant')
    assert check.note.startswith("upper end ")
    assert not check.passed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kinds["whitespace"] < 1', "unknown kind of difference 'whitespace'; did you mean 'white space'?"),
        ('kinds["white space"].n < 1', 'kinds["white space"] counts differences, and .cost is their cost'),
        ('kinds["white space"] < 1 significant', "a kind of difference is counted, not estimated"),
        ('kinds["white space"].cost < 5', "must be between 0 and 1"),
        ("kinds < 1", 'write for example kinds["white space"].cost'),
        ('micro.kinds["white space"] < 1', "unknown statistic of fields"),
    ],
)
def test_gates_on_kinds_that_are_not_valid(text, message):
    with pytest.raises(GateError) as caught:
        parse_gate(text)
    assert message in str(caught.value)
