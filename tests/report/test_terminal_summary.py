"""The summary of a session, as the terminal shows it."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_jsonmatch.engine.result.figures import FieldAggregation
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import line_text, line_width
from pytest_jsonmatch.report.terminal import summary_lines
from pytest_jsonmatch.report.view import RunView
from pytest_jsonmatch.results.comparison import Case, Comparison
from pytest_jsonmatch.results.run import RunResult
from tests.conftest import compared as kept


def compared(name, actual, expected, *, limit=1.0, metric="json_similarity", threshold=None, **options):
    own = {} if threshold is None else {"threshold": threshold, "passed": False}
    return kept(name, actual, expected, id=name, limit=limit, metric=metric, options=options, **own)


def shown(comparisons, **look):
    return [line_text(line) for line in summary_lines(view_of(comparisons), Look(**look))]


def view_of(comparisons):
    return RunView(RunResult.of_cases(tuple(map(Case.single, comparisons))))


def lines(text):
    return [line.rstrip() for line in text.strip("\n").split("\n")]


RECEIPT = {
    "number": "R-1",
    "vendor": {"name": "Acme Inc.", "city": "Berlin"},
    "items": [{"sku": "A-113", "price": 10.0}, {"sku": "B-7", "price": 20.0}],
    "total": 30.0,
}
ITEMS = [{"sku": "A-113", "price": 9.0}, {"price": 20.0}]
SESSION = [
    compared("receipt-1", RECEIPT, RECEIPT),
    compared("receipt-2", {**RECEIPT, "vendor": {"name": "Acme Ltd."}, "items": ITEMS}, RECEIPT, limit=0.9),
    compared("receipt-3", {**RECEIPT, "items": "none"}, RECEIPT, limit=0.5),
    compared("receipt-4", {**RECEIPT, "total": None}, RECEIPT, limit=0.999),
]


TABLE = """
json_similarity, all leaves of 4 cases; extras not counted
field            n  match  mismatch  omitted  score  precision  recall    F1
items           13     10         2        1   0.84       0.91    0.68  0.78
  (as a whole)   1      0         1        0   0.00       0.00    0.00  0.00
  []            12     10         1        1   0.91       0.99    0.91  0.95
    sku          6      5         0        1   0.83       1.00    0.83  0.91
    price        6      5         1        0   0.98       0.98    0.98  0.98
vendor           8      6         1        1   0.83       0.95    0.83  0.89
  city           4      3         0        1   0.75       1.00    0.75  0.86
  name           4      3         1        0   0.92       0.92    0.92  0.92
total            4      3         1        0   0.75       0.75    0.75  0.75
number           4      4         0        0   1.00       1.00    1.00  1.00
────────────────────────────────────────────────────────────────────────────
all leaves      29     23         4        2   0.85       0.91    0.77  0.83
2 of 32 expected leaves omitted (6.25 %)

the worst field, expected → actual:
  items  [{"sku": "A-113", "price": 10.0}, {"sku": "B-7", "price": 20.… → "none"

2 of 4 cases below the threshold:
  0.70 < 0.90    receipt-2
  0.875 < 0.999  receipt-4
"""


def test_one_row_per_field_what_costs_most_first_under_its_parent():
    assert shown(SESSION) == lines(TABLE)
    perfect = next(line for line in lines(TABLE) if line.startswith("number"))
    assert shown(SESSION, mode="failed") == [line for line in lines(TABLE) if line != perfect]


def test_a_field_that_is_often_wrong_is_above_one_that_is_always_but_rarely_wrong():
    session = [compared(f"r{n}", {"a": min(n, 1)}, {"a": 1}, metric="leaf_f1") for n in (0, 0, 1, 1, 1, 1)]
    session.append(compared("rare", {"b": 0}, {"b": 1}, metric="leaf_f1"))
    assert [line.split()[:6] for line in shown(session)[2:4]] == [
        ["a", "6", "4", "2", "0", "0"],
        ["b", "1", "0", "1", "0", "0"],
    ]


def test_a_group_of_which_one_row_is_shown_shares_a_line_with_it():
    def document(n):
        return {
            "items": [{"price": n, "sku": "a"}],
            "a": {"b": {"c": n, "d": 1}, "e": 1},
            "odd": {"x y": n, "z": 1},
        }

    session = [compared("r", document(2), document(1), metric="leaf_f1")]
    table = shown(session, mode="failed")
    assert [line.split("  ")[0] for line in table[2:5]] == ["items[].price", 'odd["x y"]', "a.b.c"]
    assert shown(session, mode="all")[2].startswith("items[]  ")


def test_what_a_group_was_scored_as_shares_a_line_too():
    session = [
        compared("r", {"items": "none", "a": 1}, {"items": [1, 2], "a": 1}),
        compared("s", {"items": [1, 2], "a": 1}, {"items": [1, 2], "a": 1}),
    ]
    table = shown(session, mode="failed")
    assert table[2].startswith("items (as a whole)  1 ")


def test_a_narrow_ascii_terminal_leaves_columns_out():
    table = shown(SESSION, width=44, unicode=False)
    assert table[:5] == lines("""
json_similarity, all leaves of 4 cases;
extras not counted
field           n mismatch omitted score
items          13        2       1  0.84
  (as a whole)  1        1       0  0.00
""")
    assert "\n".join(table).isascii()


def test_one_line_if_all_is_well():
    perfect = [compared(f"case-{index}", RECEIPT, RECEIPT) for index in range(12)]
    assert shown(perfect) == ["jsonmatch: json_similarity, 12 cases, 96 fields, all 1.00; extras not counted"]
    assert shown(perfect, mode="failed") == []
    table = shown(perfect, mode="all")
    assert table[1:3] == lines("""
field        n  match  mismatch  omitted  score
number      12     12         0        0   1.00
""")


def test_nothing_if_nothing_is_asked_or_compared():
    assert (shown(SESSION, mode="none"), shown([]), shown([], mode="all")) == ([], [], [])


def test_the_figure_that_is_too_low_is_named():
    session = [
        compared("recall", {"a": 1}, {"a": 1, "b": 2}, threshold={"score": 0.1, "recall": 0.75}),
        compared("field", {"a": 1, "b": 0}, {"a": 1, "b": 2}, threshold={"score": 0.1, "fields": {"b": 0.5}}),
        compared("no field", {"a": 1}, {"a": 1}, threshold={"fields": {"c": 0.5}}),
        compared("close", {"t": "a" * 999}, {"t": "a" * 1000}, limit=1.0),
        compared("error", {"a": 1}, {"a": 1}, threshold={"score": 0.5}),
    ]
    table = shown(session)
    assert table[table.index("5 of 5 cases did not pass:") :] == lines("""
5 of 5 cases did not pass:
  c – < 0.50          no field
  b 0.00 < 0.50       field
  recall 0.50 < 0.75  recall
  0.999 < 1.00        close
  1.00                error
""")


def test_many_rows_and_cases_are_capped_and_the_worst_of_them_shown():
    good = {f"good{index}": index for index in range(1000)}
    bad = {f"bad{index}": index for index in range(1, 3)}
    session = [
        compared(f"case-{index}", {**good, "bad1": 0, "bad2": 0}, {**good, **bad}) for index in range(30)
    ]
    table = shown(session)
    assert [line.split()[0] for line in table[2:5]] == ["bad1", "bad2", "good0"]
    assert len(table) == 2 + 30 + 1 + 2 + 3 + 2 + 20 + 1
    assert table[32] == "  … 972 more rows (-v)"
    assert table[-1] == "  … 10 more cases (-v)"
    assert len(shown(session, mode="all")) == 2 + 1002 + 2 + 4 + 2 + 30
    assert len(shown(session, mode="failed")) == 2 + 2 + 2 + 3 + 2 + 20 + 1


def test_notes_stand_below():
    session = [
        compared("twice", '{"a": 1, "a": 1}', {"a": 1}),
        Comparison(
            *("broken", "broken", "json_similarity", "x", 1.0, 1.0, 1.0, 1.0, True),
            fields={"a": FieldAggregation(batch_errors=2)},
            counts={"batch_error": 2},
            errors=("a: comparator 'x' raised ValueError: \x1b[31m", "b: comparator 'y'"),
        ),
    ]
    assert shown(session, width=60)[-6:] == lines(r"""
2 results left out of the figures: the batch comparator
failed
2 comparator errors, the first: a: comparator 'x' raised
ValueError: \x1b[31m (broken)
1 warning: line 1: the key 'a' occurs twice in one object;
the last one counts (twice)
""")


def test_colours_follow_the_score():
    case = compared("x", {"a": 1, "b": "abcdefghik", "c": 2}, {"a": 1, "b": "abcdefghij", "c": 1, "d": 5})
    rows = {line[0][0].split()[0]: line[5] for line in summary_lines(view_of([case]), Look())[2:6]}
    colours = {"c": ("0.00", "red"), "d": ("0.00", "red"), "b": ("0.90", "yellow"), "a": ("1.00", "green")}
    assert rows == {name: (f"   {score}", {colour: True}) for name, (score, colour) in colours.items()}


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
PATHS = st.lists(ANY_TEXT | st.just(ELEMENT), max_size=5).map(format_path)
FIGURES = st.lists(st.integers(0, 99_999), min_size=6, max_size=6).map(
    lambda counts: FieldAggregation(
        *counts, *[0] * 2, 0.5 * sum(counts[:2]), 0.5 * sum(counts[:2]), sum(counts[:3]), sum(counts[:4])
    )
)
COMPARISONS = st.builds(
    Comparison,
    *(ANY_TEXT, ANY_TEXT, st.sampled_from(["field_match", "\x1b[31m\u202eown"]), ANY_TEXT),
    *[st.floats(0, 1)] * 4,
    passed=st.booleans(),
    threshold=st.fixed_dictionaries({}, optional={"score": st.floats(0, 1), "f1": st.floats(0, 1)}),
    fields=st.dictionaries(PATHS, FIGURES, max_size=5),
    counts=st.just({}),
    errors=st.lists(ANY_TEXT, max_size=2).map(tuple),
    warnings=st.lists(ANY_TEXT, max_size=2).map(tuple),
)


@settings(max_examples=150)
@given(
    st.lists(COMPARISONS, max_size=4),
    st.integers(20, 130),
    st.booleans(),
    st.sampled_from(["auto", "failed", "all"]),
)
def test_whatever_the_paths_no_line_is_wider_than_the_terminal(comparisons, width, unicode, mode):
    drawn = summary_lines(view_of(comparisons), Look(mode=mode, width=width, unicode=unicode))
    assert [line_text(line) for line in drawn if line_width(line) > width] == []
    text = "".join(map(line_text, drawn))
    assert unicode or text.isascii()
    assert not {character for character in text if unicodedata.category(character)[0] == "C"}


def test_an_answer_without_json_is_told_apart_from_one_that_is_not_valid():
    case = replace(compared("a", {}, {"n": 1}, limit=0.0), passed=False, validity="invalid")
    assert "  not valid by the schema  a" in shown([case])
    assert "  no JSON found  a" in shown([replace(case, parsed=False)])


def test_inventions_have_a_column_only_where_the_metric_counts_them():
    counted = compared("one", {"a": 1, "b": 2}, {"a": 1}, extra="count")
    assert shown([counted], width=120)[2].split()[5] == "1"
    ignored = compared("one", {"a": 1, "b": 2}, {"a": 2}, metric="leaf_f1", extra="ignore")
    assert "extras not counted" in shown([ignored])[0]


def test_the_first_line_names_the_metric_and_what_it_leaves_out():
    counted = compared("one", {"a": 1}, {"a": 1, "b": 2}, metric="leaf_f1")
    ignored = compared("two", {"a": 1, "c": 3}, {"a": 1, "b": 2}, metric="leaf_f1", extra="ignore")
    title = "leaf_f1, all leaves of 2 cases, 2 sets of options; extras not counted in 1 of them"
    assert " ".join(shown([counted, ignored])[:2]) == title


def test_a_run_in_which_all_pass_has_a_line_for_each_metric():
    session = [
        compared("one", {"a": 9}, {"a": 10}, limit=0.5),
        compared("two", {"a": 10}, {"a": 10}, limit=0.5),
        compared("three", {"a": 1}, {"a": 1}, metric="leaf_f1"),
    ]

    def brief(comparisons, **look):
        return [line_text(line) for line in summary_lines(view_of(comparisons), Look(**look), is_brief=True)]

    assert brief(session, width=100) == [
        "jsonmatch: json_similarity, 2 cases, 2 fields, score 0.95 (mean of cases), lowest 0.90; extras not",
        "counted",
        "jsonmatch: leaf_f1, 1 case, 1 field, all 1.00",
    ]
    assert brief(session, mode="all") == shown(session, mode="all")
    assert brief([*session, compared("wrong", {"a": 1}, {"a": 2})])[1].startswith("field  ")
