"""Fields by the parameters of a fixture."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_jsonmatch.api import compare_json
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.pivot import pivot_blocks, pivots
from pytest_jsonmatch.report.styled import line_text, line_width
from pytest_jsonmatch.results.comparison import Case, Comparison

EXPECTED = {"shop": "Corner Bakery", "total": 12.5}
MODELS = ("small", "large", "huge")


def compared(actual, *, case="a", model="small", metric="field_match", **params):
    result = compare_json(actual, EXPECTED, metric=metric)
    nodeid = f"x.golden.yaml::{case}[{model}]"
    kept = Comparison.of(
        result,
        id=f"{nodeid}#1",
        nodeid=nodeid,
        threshold={},
        passed=True,
        params={"model": (model, MODELS.index(model)), **params},
    )
    return replace(Case.single(kept), id=nodeid)


def shown(cases, by=(), **look):
    blocks = pivot_blocks(cases, Look(**look), by, option="--by")
    return [line for block in blocks for line in map(line_text, block)]


RIGHT, WRONG = EXPECTED, {"shop": "Corner Bakery", "total": 13}


def test_each_row_marks_the_best():
    assert shown(
        [
            compared(WRONG),
            compared(RIGHT, case="b"),
            compared(RIGHT, model="large"),
            compared(RIGHT, case="b", model="large"),
        ]
    ) == [
        "score by model, * is the best",
        "           small  large",
        "total       0.50   1.00*",
        "shop        1.00   1.00",
        "────────────────────────",
        "all fields  0.75   1.00*",
    ]


def test_no_line_ends_in_a_space():
    (block,) = pivot_blocks([compared(WRONG), compared(RIGHT, model="large")], Look(), option="--by")
    assert [line for line in block if "".join(text for text, _ in line).endswith(" ")] == []


def test_columns_are_in_the_order_of_the_fixture_whatever_came_first():
    comparisons = [compared(RIGHT, model=model) for model in ("huge", "small", "large")]
    (pivot,), names = pivots(comparisons)
    assert (pivot.labels, names) == (MODELS, ["model"])
    assert pivot == pivots(comparisons[::-1])[0][0]


def test_all_that_are_best_are_marked_but_not_where_all_are():
    (pivot,), _ = pivots([compared(WRONG), compared(RIGHT, model="large"), compared(RIGHT, model="huge")])
    assert {row.path: sorted(row.best) for row in pivot.rows} == {"total": [1, 2], "shop": []}


def test_a_field_that_only_one_has():
    (pivot,), _ = pivots(
        [
            compared({**RIGHT, "tip": 1}, metric="pairwise_f1"),
            compared(RIGHT, model="large", metric="pairwise_f1"),
        ]
    )
    assert (pivot.rows[0].path, pivot.rows[0].scores) == ("tip", (0.0, None))
    lines = shown(
        [
            compared({**RIGHT, "tip": 1}, metric="pairwise_f1"),
            compared(RIGHT, model="large", metric="pairwise_f1"),
        ]
    )
    assert "tip         0.00      –" in lines


def test_a_single_parameter_makes_no_table():
    assert shown([compared(RIGHT), compared(WRONG, case="b")]) == []
    kept = replace(compared(RIGHT).runs[0].comparisons[0], params={})
    assert shown([Case.single(kept)]) == []


def test_figures_that_differ_look_different():
    nearly = [compared(RIGHT, case=str(number)) for number in range(499)] + [compared(WRONG, case="499")]
    right = [compared(RIGHT, case=str(number), model="large") for number in range(500)]
    assert shown(nearly + right)[2:4] == ["total      0.998   1.00*", "shop        1.00   1.00"]
    half = [compared(WRONG, case=str(number), model="large") for number in range(251)]
    half += [compared(RIGHT, case=str(number), model="large") for number in range(251, 500)]
    other = [compared(WRONG if number % 2 else RIGHT, case=str(number)) for number in range(500)]
    assert shown(half + other)[2] == "total      0.500* 0.498"


def test_other_cases_are_told():
    lines = shown([compared(WRONG), compared(RIGHT, case="b", model="large")])
    assert lines[-1] == "the columns are not over the same cases"


def test_of_several_fixtures_the_first_is_shown_unless_one_is_requested():
    both = [
        compared(RIGHT if prompt == "long" else WRONG, model=model, prompt=(prompt, place))
        for model in ("small", "large")
        for place, prompt in enumerate(("long", "short"))
    ]
    assert shown(both)[:2] == [
        "score by model, * is the best; --by=prompt for another",
        "           small  large",
    ]
    assert shown(both, ["prompt"]) == []


def test_each_metric_has_a_table():
    comparisons = [
        compared(actual, model=model, metric=metric)
        for metric in ("field_match", "pairwise_f1")
        for model, actual in (("small", WRONG), ("large", RIGHT))
    ]
    assert [line for line in shown(comparisons) if line.startswith("score by")] == [
        "score by model, * is the best (field_match)",
        "score by model, * is the best (pairwise_f1)",
    ]


def test_runs_of_a_case_count_as_one():
    one = compared(WRONG)
    several = replace(one, runs=tuple(replace(one.runs[0], number=number) for number in range(1, 4)), of=3)
    (pivot,), _ = pivots([several, compared(RIGHT, case="b"), compared(RIGHT, model="large")])
    assert pivot.rows[0].scores == (0.5, 1.0)


def test_many_fields_and_how_to_see_them_all():
    wide = {f"f{number:02}": number for number in range(40)}

    def of(model, **changes):
        result = compare_json({**wide, **changes}, wide, metric="json_similarity")
        params = {"model": (model, MODELS.index(model))}
        name = f"a[{model}]"
        return Case.single(
            Comparison.of(result, id=name, nodeid=name, threshold={}, passed=True, params=params)
        )

    comparisons = [of("small", f07=0), of("large")]
    lines = shown(comparisons)
    assert lines[2] == "f07         0.00   1.00*"
    assert "… 10 more rows (-v)" in lines
    assert len(shown(comparisons, mode="all")) == 44
    assert len(shown(comparisons, mode="failed")) == 5


@pytest.mark.parametrize("width", [20, 24, 30, 40, 80])
def test_no_line_is_wider_than_the_terminal(width):
    models = [compared(WRONG, model=model) for model in MODELS]
    for block in pivot_blocks(models, Look(width=width, unicode=False), option="--by"):
        assert all(line_width(line) <= width for line in block)
        assert all(line_text(line).isascii() for line in block)
    text = " ".join(shown(models, width=width))
    assert all(model in text for model in MODELS)
