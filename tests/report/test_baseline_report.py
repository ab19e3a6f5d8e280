"""Two runs of the same cases side by side: the verdict, numbers, answers, what they took."""

from __future__ import annotations

import re

import pytest

from pytest_jsonmatch import Comparison, RunResult, Spent, compare_json
from pytest_jsonmatch.gate.headlines import contest
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.report.baseline_report import THIS, contest_blocks, verdict
from pytest_jsonmatch.report.blocks import Text
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.report.markdown import markdown
from pytest_jsonmatch.report.styled import line_text
from pytest_jsonmatch.report.terminal import blocks_lines, joined_blocks
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.results.comparison import Case, CaseRun
from tests.conftest import case_of

GOLD = {"shop": "Mill", "total": 3, "note": "x"}


def case(number, answer, expected=GOLD, *, prompt="", **more):
    nodeid = f"a.yaml::c{number:02}"
    tags = {"prompt": prompt} if prompt else {}
    name = f"{nodeid}[{prompt}]" if prompt else nodeid
    return case_of(
        name, answer, expected=expected, metric="leaf_f1", limit=0, cluster=nodeid, tags=tags, **more
    )


def run(*answers, expected=GOLD, **more):
    return RunResult.of_cases(
        tuple(case(number, each, expected, **more) for number, each in enumerate(answers))
    )


def mixed(number, wrong, field="total", **more):
    """A run of so many cases, of which the first ones have a wrong field."""
    return run(*({**GOLD, field: 9} if at < wrong else GOLD for at in range(number)), **more)


def shown(before, *after, gate=None, width=80):
    contests = [
        contest(("v1", before), (f"v{at}", each), gate or DropGate(), tests=len(after))
        for at, each in enumerate(after, 2)
    ]
    blocks = [
        block
        for block in contest_blocks(contests)
        if not str(getattr(block, "title", "")).startswith("kinds of differences")
    ]
    return [line_text(line) for line in joined_blocks(blocks, TerminalStyle(width=width))]


def answers(before, after, expected=GOLD):
    """The rows of the first case that changed."""
    lines = shown(run(before, expected=expected), run(after, expected=expected), width=120)
    at = next(place for place, line in enumerate(lines) if line.startswith("a.yaml::c00"))
    return [tuple(line.split()) for line in lines[at + 1 :]]


@pytest.mark.parametrize(
    ("before", "after", "message", "undetected"),
    [
        (mixed(40, 20), mixed(40, 0), " is significantly better in mean score (+0.167) and on `total` (+0.500), no other significant change", ""),
        (mixed(40, 0), mixed(40, 20), " is significantly worse in mean score (-0.167) and on `total` (-0.500), no other significant change", ""),
        (mixed(60, 30), mixed(60, 30, "note"), " is significantly better on `total` (+0.500) and worse on `note` (-0.500), no other significant change", "0.050"),
        (mixed(40, 3), mixed(40, 1), ": no significant change from `v1`", "0.093"),
    ],
)  # fmt: skip
def test_the_verdict_comes_first(before, after, message, undetected):
    number = f"{len(before.cases)} cases"
    if undetected:
        number = f"with {number}, changes of the mean score up to {undetected} could go undetected"
    assert shown(before, after, width=400)[0] == f"`v2`{message}; {number}"


def test_few_cases_and_none():
    (message, *_) = shown(mixed(3, 0), mixed(3, 3), width=400)
    assert message == "`v2`: the change from `v1` is not tested: 3 cases, at least 5 needed"
    assert shown(run(), mixed(2, 0)) == [
        "no case is in both `v1` and `v2`: cases are paired by their ids",
        "",
        "new cases:",
        "  a.yaml::c00",
        "  a.yaml::c01",
    ]


def test_a_limit_on_the_drop_that_is_kept():
    lines = shown(mixed(200, 0), mixed(200, 0), gate=DropGate(0.05), width=200)
    assert lines[0].startswith(
        "`v2`: a drop of 0.05 is ruled out in mean score, no other significant change; 200 cases"
    )
    assert shown(mixed(6, 0), mixed(6, 6))[5].endswith("significantly worse")


def test_many_significant_fields_are_counted():
    gold = {f"f{number}": number for number in range(9)}
    runs = run(*[dict.fromkeys(gold, -1)] * 20, expected=gold), run(*[gold] * 20, expected=gold)
    assert "on `f3` (+1.000) and 5 more; 20 cases" in " ".join(shown(*runs))


def test_both_answers_stand_side_by_side():
    before = {"shop": "Mill", "total": "3 EUR", "tip": 1}
    after = {"shop": "MILL", "total": 3, "note": "x"}
    assert answers(before, after) == [
        ("total", "3", '"3', 'EUR"', "3"),
        ("note", '"x"', "missing", '"x"'),
        ("tip", "–", "1", "–"),
        ("shop", '"Mill"', '"Mill"', '"MILL"'),
    ]  # fmt: skip


def test_equal_values_of_repeats_are_counted():
    def of(*totals):
        return RunResult.of_cases([case_of("a", *({"n": total} for total in totals), expected={"n": 1})])

    (line,) = (line for line in shown(of(1, 1), of(*[None] * 10, 2)) if line.startswith("  n "))
    assert line.split() == ["n", "1", "1", "null", "(10", "times),", "2"]


def test_rows_that_are_missing_from_all_repeats_are_named_once():
    gold = {"lines": [{"n": 1}, {"n": 2}]}
    sides = (
        RunResult.of_cases([case_of("a", *[answer] * 3, expected=gold, metric="pairwise_f1")])
        for answer in (gold, {"lines": [{"n": 1}]})
    )
    (line,) = (line for line in shown(*sides) if line.startswith("  lines[1]"))
    assert line.split() == ["lines[1]", "n", "2", "found", "missing"]


def test_equal_changes_are_sorted_by_the_numbers_in_names():
    names = ("r104498", "r4498", "r9")
    sides = [
        RunResult.of_cases([case_of(name, {"n": n}, expected={"n": 1}) for name in names]) for n in (1, 2)
    ]
    assert [line.split()[0] for line in shown(*sides) if re.match(r"r\d+ ", line)] == [
        "r9",
        "r4498",
        "r104498",
    ]


def test_what_is_wrong_in_both_answers_in_the_same_way_is_left_out():
    assert answers({**GOLD, "shop": "?"}, {**GOLD, "shop": "?", "total": 4, "note": "y"}) == [
        ("total", "3", "3", "4"),
        ("note", '"x"', '"x"', '"y"'),
    ]  # fmt: skip
    wrong = {**GOLD, "total": 4}
    assert answers({**GOLD, "total": 5, "note": "y"}, wrong)[0] == ("total", "3", "5", "4")


def test_long_values_that_are_wrong_in_both_are_never_called_right():
    """They are kept as parts, around the first difference, so their texts differ."""
    long = "one two three four " * 10
    gold = {"text": long, "n": 1}
    (row, other) = answers({"text": "x" + long, "n": 1}, {"text": long + "y", "n": 2}, gold)[:2]
    assert (row[0], other) == ("text", ("n", "1", "1", "2"))
    assert sum("…" in part for part in row) >= 2


def test_where_not_all_differences_are_kept_nothing_is_called_right():
    gold = {"n": list(range(20))}
    rows = answers({"n": [*range(19), 0]}, {"n": [-each for each in range(20)]}, gold)
    assert rows[:2] == [("n[1]", "1", "1", "-1"), ("n[2]", "2", "2", "-2")]


def lines_of_rows(before, after, expected, **options):
    """The lines of the first case that changed, without their widths."""
    cases = []
    for rows in (before, after):
        result = compare_json({"items": rows}, {"items": expected}, **options)
        kept = Comparison.of(result, id="a.yaml::c00", nodeid="a.yaml::c00", threshold={}, passed=True)
        cases.append(
            RunResult.of_cases((Case("a.yaml::c00", (CaseRun(1, passed=True, comparisons=(kept,)),)),))
        )
    lines = shown(*cases, width=200)
    at = next(place for place, line in enumerate(lines) if line.startswith("a.yaml::c00"))
    return [re.sub("  +", " | ", line.strip()) for line in lines[at + 1 :]]


def test_rows_that_an_answer_lacks_or_adds_are_one_line_each():
    expected = [{"sku": "A", "n": 1}, {"sku": "B", "n": 2}, {"sku": "C", "n": 3}]
    before = [{"sku": "C", "n": 3}, {"sku": "A", "n": 1}, {"sku": "Y", "n": 8}]
    after = [{"sku": "Z", "n": 9}, {"sku": "B", "n": 7}, {"sku": "A", "n": 1}]
    assert lines_of_rows(before, after, expected, arrays={"key": "sku"}) == [
        'items[1] | sku "B", n 2 | missing | n 7',
        'items[2] | sku "C", n 3 | found | missing',
        'extra items[2] | – | sku "Y", n 8 | –',
        'extra items[0] | – | – | sku "Z", n 9',
    ]


def test_an_array_in_another_order_is_one_line():
    right = {"tags": ["a", "b", "c"], "rows": [[1, 2], [3, 4]], "n": 1}
    swapped = {**right, "tags": ["b", "a", "c"], "rows": [[2, 1], [3, 4]]}
    words = "the same elements in another order"

    def lines(before, after):
        found = [" ".join(line) for line in answers(before, after, right)]
        return found[: [*found, ""].index("")]

    assert lines(right, swapped) == [f"rows[0] in order {words}", f"tags in order {words}"]
    assert lines(swapped, right) == [f"rows[0] {words} in order", f"tags {words} in order"]
    # What both answers have in the same wrong order has not changed.
    other = {**swapped, "tags": ["c", "a", "b"], "n": 2}
    assert lines(swapped, other) == [f"tags {words} {words}", "n 1 1 2"]
    # Where another value is wrong, too, elements are shown one by one.
    wrong = {**right, "tags": ["b", "a", "x"]}
    assert [line.split()[0] for line in lines(right, wrong)] == ["tags[0]", "tags[1]", "tags[2]"]


def test_rows_that_both_answers_lack_or_add_are_left_out():
    expected = [{"sku": "A", "n": 1}, {"sku": "B", "n": 2}]
    before = [{"sku": "A", "n": 1}, {"sku": "Z", "n": 9}]
    after = [{"sku": "Z", "n": 9}, {"sku": "A", "n": 5}]
    assert lines_of_rows(before, after, expected, arrays={"key": "sku"}) == ["items[0].n | 1 | 1 | 5"]


def test_an_answer_that_failed_is_not_called_right_about_extra_rows():
    made = compare_json(
        {"items": [{"sku": "A"}, {"sku": "Z"}]}, {"items": [{"sku": "A"}]}, arrays={"key": "sku"}
    )
    kept = Comparison.of(made, id="a.yaml::c00", nodeid="a.yaml::c00", threshold={}, passed=True)
    answered = Case("a.yaml::c00", (CaseRun(1, passed=True, comparisons=(kept,)),))
    failed = Case("a.yaml::c00", (CaseRun(1, passed=False, error="ValueError: no"),))
    lines = shown(RunResult.of_cases((answered,)), RunResult.of_cases((failed,)), width=120)
    line = next(line for line in lines if "extra items[1]" in line)
    assert line.split() == ["extra", "items[1]", "–", "sku", '"Z"']


def test_values_of_rows_come_in_the_order_of_expected():
    expected = [{"sku": str(at), "tags": ["x"], "n": 1} for at in range(11)]
    wrong = [{**row, "n": 2} if row["sku"] in {"2", "10"} else row for row in expected]
    wrong[3] = {**wrong[3], "tags": ["y"]}
    assert lines_of_rows(expected, wrong[::-1], expected, arrays={"key": "sku"}) == [
        "items[2].n | 1 | 1 | 2",
        'items[3].tags[0] | "x" | "x" | "y"',
        "items[10].n | 1 | 1 | 2",
    ]


def test_a_case_without_an_answer_and_many_differences():
    gold = {f"f{number}": number for number in range(8)}
    assert answers(dict.fromkeys(gold, -1), gold, gold)[-1] == ("3", "more")
    failed = Case("a.yaml::c00", (CaseRun(1, passed=False, error="ValueError: no"),), cluster="a.yaml::c00")
    lines = shown(run({**GOLD, "total": 4}), RunResult.of_cases((failed,)), width=120)
    assert [" ".join(line.split()) for line in lines[-2:]] == ["no answer ValueError: no", "total 3 4"]


def test_only_the_largest_changes_of_very_many_are_shown():
    lines = shown(mixed(130, 0), mixed(130, 120))
    assert "cases that changed from v1 to v2, the 100 largest of 120" in lines
    assert "  … 180 more rows (-v)" in lines
    several = shown(mixed(30, 0), *[mixed(30, 20)] * 4)
    assert several.count("  … 34 more rows (-v)") == 4


def test_cost_and_latency_are_next_to_the_comparison():
    cheap, dear = (run(GOLD, GOLD, spent=Spent("m", seconds=s, cost=c)) for s, c in ((1, 0.5), (2, 0.25)))
    assert shown(cheap, dear)[-3:] == [
        "run  answers  mean score  seconds  p95  cost  total cost",
        "v1         2        1.00        1    1   0.5           1",
        "v2         2        1.00        2    2  0.25         0.5",
    ]


def prompts(**wrong):
    return RunResult.of_cases(
        tuple(
            case(at, {**GOLD, "total": 9} if at < number else GOLD, prompt=prompt)
            for prompt, number in wrong.items()
            for at in range(20)
        )
    )


def test_values_of_a_fixture_are_compared_with_the_first():
    report = build(prompts(v1=12, v2=0, v3=12))
    message = [
        "v2` is significantly better in mean score (+0.200) and on `total` (+0.600)",
        "v3`: no significant change from `v1`; with 20 cases, changes of the mean score up to 0.",
    ]
    text = " ".join(line_text(line) for line in blocks_lines(report, TerminalStyle(width=300)))
    for each in message:
        assert each in text
        assert each in markdown(report, 10**6)
        assert each.replace("`v1`", "<code>v1</code>").replace("v3`", "v3</code>").partition(" (")[0].replace(
            "v2`", "v2</code>"
        ) in html_page(report)
    # Two comparisons, either of which may go either way, share an error rate of 5 %.
    assert "97.5 % interval" in text


@pytest.mark.parametrize("values", [("v1",), tuple(f"v{at}" for at in range(9))])
def test_one_value_or_very_many_are_not_compared(values):
    report = build(prompts(**dict.fromkeys(values, 3)))
    assert not any(isinstance(block, Text) and block.text for block in report.blocks)


def test_values_that_cases_do_not_share_are_no_candidates():
    kinds = RunResult.of_cases(tuple(case(at, GOLD, prompt=f"v{at % 2}") for at in range(20)))
    report = build(kinds)
    assert not any(isinstance(block, Text) and block.text for block in report.blocks)
    assert any("score of fields by {}" in getattr(block, "title", "") for block in report.blocks)


def test_a_run_against_its_baseline_is_called_this_run():
    made = contest(("main", mixed(20, 0)), (THIS, mixed(20, 12)))
    report = build(made.diff.after, ReportRequest(baselines={"main": made}))
    assert "this run is significantly worse in mean score (-0.200)" in markdown(report, 10**6)
    assert '<p class="sentence bad">this run is significantly worse' in html_page(report)


def test_how_many_cases_are_in_both_runs():
    """Ids that changed leave few cases to compare."""
    before, after = ([(f"{name}{at}", 1) for at in range(40)] for name in "ab")
    after[:8] = before[:8]
    runs = (
        RunResult.of_cases([case_of(name, {"n": n}, expected={"n": 1}) for name, n in each])
        for each in (before, after)
    )
    made = contest(*zip(("main", "b"), runs, strict=True))
    assert verdict(made).quoting().endswith("could go undetected; 8 of 40 cases are in both")


def test_the_level_of_a_field_is_the_mean_of_the_cases_that_have_it():
    """It does not depend on the other run; in the difference, a case without the field counts as 1."""
    gold = {"n": 1}
    with_tip = [{"n": 1, "tip": 2}] * 4
    before, after = run(*with_tip, *[gold] * 6, expected=gold), run(*[gold] * 9, with_tip[0], expected=gold)
    for width in (80, 200):
        lines = shown(before, after, width=width)
        (row,) = (line for line in lines if line.startswith("tip "))
        assert re.split(r" +", row)[:6] == ["tip", "0.00", "(4)", "0.00", "(1)", "+0.600"]
        assert "in brackets, how many cases have the field" in " ".join(lines)
    same = shown(before, before, width=200)
    assert not any("in brackets" in line for line in same)
