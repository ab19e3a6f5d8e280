"""The summary of a session, as the terminal shows it."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from pytest_jsonmatch import Comparison, FieldAggregation, RunResult
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.report.blocks import Column, Row, RowDetail, ShownDifference, Table
from pytest_jsonmatch.report.build import build
from pytest_jsonmatch.report.styled import line_text, line_width
from pytest_jsonmatch.report.terminal import block_lines, blocks_lines
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.results.comparison import Case
from pytest_jsonmatch.support.frozen import replace
from tests.conftest import compared as kept
from tests.laws import law


def compared(name, actual, expected, *, limit=1.0, metric="json_similarity", threshold=None, **options):
    own = {} if threshold is None else {"threshold": threshold, "passed": False}
    return kept(name, actual, expected, id=name, limit=limit, metric=metric, options=options, **own)


def shown(comparisons, **look):
    return [line_text(line) for line in blocks_lines(report_of(comparisons), TerminalStyle(**look))]


def report_of(comparisons):
    return build(RunResult.of_cases(tuple(map(Case.single, comparisons))))


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
failed cases
case               score  lowest-scoring fields
receipt-2    0.70 < 0.90  vendor.city 0.00, items[].sku 0.50, vendor.name 0.67 …
receipt-4  0.875 < 0.999  total 0.00

fields of 4 cases by json_similarity; extras not counted
field           n  match  mismatch  missing  score  precision  recall    F1
items           1      0         1        0   0.00       0.00    0.00  0.00
total           4      3         1        0   0.75       0.75    0.75  0.75
vendor.city     4      3         0        1   0.75       1.00    0.75  0.86
items[].sku     6      5         0        1   0.83       1.00    0.83  0.91
vendor.name     4      3         1        0   0.92       0.92    0.92  0.92
items[].price   6      5         1        0   0.98       0.98    0.98  0.98
number          4      4         0        0   1.00       1.00    1.00  1.00
───────────────────────────────────────────────────────────────────────────
all fields     29     23         4        2   0.85       0.91    0.77  0.83
2 of 32 expected leaves missing (6.25 %)

differences, expected → actual:
  items  [{"sku": "A-113", "price": 10.0}, {"sku": "B-7", "price": 20.… → "none"
  … 5 more fields (-v)

mean over cases: score 0.77, precision 0.90, recall 0.77, F1 0.82, pass rate
0.50

all fields: score 0.85, precision 0.91, recall 0.77, F1 0.83
"""


def test_failed_cases_then_fields_those_that_cost_most_first_then_statistics():
    assert shown(SESSION) == lines(TABLE)
    perfect = next(line for line in lines(TABLE) if line.startswith("number"))
    assert shown(SESSION, mode="failed") == [line for line in lines(TABLE) if line != perfect]


def test_a_narrow_ascii_terminal_leaves_columns_out():
    table = shown(SESSION, width=44, unicode=False)
    assert table[5:9] == lines("""
fields of 4 cases by json_similarity; extras
not counted
field           n  mismatch  missing  score
items           1         1        0   0.00
""")
    assert [line for line in table if "more columns" in line] == ["  ... 4 more columns: match, precision,"]
    assert "\n".join(table).isascii()


def test_one_line_if_all_is_well():
    perfect = [compared(f"case-{index}", RECEIPT, RECEIPT) for index in range(12)]
    assert shown(perfect) == ["jsonmatch: json_similarity, 12 cases, 96 fields, all 1.00; extras not counted"]
    assert shown(perfect, mode="failed") == []
    table = shown(perfect, mode="all")
    assert table[1:3] == lines("""
field           n  match  mismatch  missing  score
items[].price  24     24         0        0   1.00
""")


def test_nothing_if_nothing_is_asked_or_compared():
    assert (shown(SESSION, mode="none"), shown([]), shown([], mode="all")) == ([], [], [])


def test_the_statistic_that_is_too_low_is_named():
    session = [
        compared("recall", {"a": 1}, {"a": 1, "b": 2}, threshold={"score": 0.1, "recall": 0.75}),
        compared("field", {"a": 1, "b": 0}, {"a": 1, "b": 2}, threshold={"score": 0.1, "fields": {"b": 0.5}}),
        compared("no field", {"a": 1}, {"a": 1}, threshold={"fields": {"c": 0.5}}),
        compared("close", {"t": "a" * 999}, {"t": "a" * 1000}, limit=1.0),
        compared("error", {"a": 1}, {"a": 1}, threshold={"score": 0.5}),
    ]
    table = shown(session)
    assert table[2:7] == lines("""
field          b 0.00 < 0.50  b 0.00
recall    recall 0.50 < 0.75  b 0.00
close           0.999 < 1.00  t 0.999
error                   1.00
no field          c – < 0.50
""")


def test_many_rows_and_cases_are_capped_and_the_lowest_scoring_of_them_shown():
    good = {f"good{index}": index for index in range(100)}
    bad = {f"bad{index}": index for index in range(1, 3)}
    session = [
        compared(f"case-{index}", {**good, "bad1": 0, "bad2": 0}, {**good, **bad}) for index in range(30)
    ]
    table = shown(session)
    at = table.index("  … 10 more cases (-v)")
    assert at == 2 + 20
    assert [line.split()[0] for line in table[at + 4 : at + 7]] == ["bad1", "bad2", "good0"]
    assert table[at + 4 + 30] == "  … 72 more fields (-v)"
    kinds = 1 + 6
    assert len(shown(session, mode="all")) == (2 + 30) + (1 + 2 + 102 + 2) + (2 + 2) + kinds + (1 + 2)
    assert len(shown(session, mode="failed")) == (2 + 20 + 1) + (1 + 2 + 2 + 2) + (2 + 2) + (1 + 2)


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
    assert shown(session, width=60)[-7:] == lines(r"""
2 results left out of the statistics: the batch comparator
failed
1 case compares nothing: broken
2 comparator errors, the first: a: comparator 'x' raised
ValueError: \x1b[31m (broken)
1 warning: line 1: the key 'a' occurs twice in one object;
the last one counts (twice)
""")


def test_colours_follow_the_score():
    case = compared("x", {"a": 1, "b": "abcdefghik", "c": 2}, {"a": 1, "b": "abcdefghij", "c": 1, "d": 5})
    drawn = blocks_lines(report_of([case]), TerminalStyle())
    rows = {line[0][0].strip(): line[5] for line in drawn if len(line) > 6 and len(line[0][0].strip()) == 1}
    colours = {"c": ("0.00", "red"), "d": ("0.00", "red"), "b": ("0.90", "yellow"), "a": ("1.00", "green")}
    assert rows == {name: (f"   {score}", {colour: True}) for name, (score, colour) in colours.items()}


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
PATHS = st.lists(ANY_TEXT | st.just(ELEMENT), max_size=5).map(format_path)
STATISTICS = st.lists(st.integers(0, 99_999), min_size=6, max_size=6).map(
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
    fields=st.dictionaries(PATHS, STATISTICS, max_size=5),
    counts=st.just({}),
    errors=st.lists(ANY_TEXT, max_size=2).map(tuple),
    warnings=st.lists(ANY_TEXT, max_size=2).map(tuple),
)


@law(
    st.lists(COMPARISONS, max_size=4),
    st.integers(20, 130),
    st.booleans(),
    st.sampled_from(["auto", "failed", "all"]),
    examples=150,
)
def test_whatever_the_paths_no_line_is_wider_than_the_terminal(comparisons, width, unicode, mode):
    drawn = blocks_lines(report_of(comparisons), TerminalStyle(mode=mode, width=width, unicode=unicode))
    assert [line_text(line) for line in drawn if line_width(line) > width] == []
    text = "".join(map(line_text, drawn))
    assert unicode or text.isascii()
    assert not {character for character in text if unicodedata.category(character)[0] == "C"}


def test_an_answer_without_json_is_distinguished_from_one_that_is_not_valid():
    case = replace(compared("a", {}, {"n": 1}, limit=0.0), passed=False, validity="invalid")
    assert "not valid by the schema" in shown([case])[2]
    assert "no JSON found" in shown([replace(case, parsed=False)])[2]


def test_extra_values_have_a_column_only_where_the_metric_counts_them():
    counted = compared("one", {"a": 1, "b": 2}, {"a": 1}, extra="count")
    (row,) = (line for line in shown([counted], width=120) if line.startswith("b  "))
    assert row.split()[5] == "1"
    ignored = compared("one", {"a": 1, "b": 2}, {"a": 2}, metric="leaf_f1", extra="ignore")
    assert any(line.endswith("extras not counted") for line in shown([ignored]))


def test_the_title_names_the_metric_and_what_it_leaves_out():
    counted = compared("one", {"a": 1}, {"a": 1, "b": 2}, metric="leaf_f1")
    ignored = compared("two", {"a": 1, "c": 3}, {"a": 1, "b": 2}, metric="leaf_f1", extra="ignore")
    title = "fields of 2 cases by leaf_f1, 2 sets of options; extras not counted in 1 of them"
    assert title in shown([counted, ignored], width=120)


def test_a_run_in_which_all_pass_has_a_line_for_each_metric():
    session = [
        compared("one", {"a": 9}, {"a": 10}, limit=0.5),
        compared("two", {"a": 10}, {"a": 10}, limit=0.5),
        compared("three", {"a": 1}, {"a": 1}, metric="leaf_f1"),
    ]

    def brief(comparisons, **look):
        return [
            line_text(line)
            for line in blocks_lines(report_of(comparisons), TerminalStyle(**look), is_brief=True)
        ]

    assert brief(session, width=100) == [
        "jsonmatch: json_similarity, 2 cases, 2 fields, score 0.95 (mean over cases), lowest 0.90; extras not",
        "counted",
        "jsonmatch: leaf_f1, 1 case, 1 field, all 1.00",
    ]
    assert brief(session, mode="all") == shown(session, mode="all")
    assert brief([*session, compared("wrong", {"a": 1}, {"a": 2})])[4].startswith("fields of")


def test_a_long_node_id_loses_its_file_before_its_case():
    rows = [
        ["tests/receipts/docs.golden.yaml::corner shop (run 2 of 4) and 1 more", "0.00"],
        ["a.py::b", "0.5"],
    ]
    block = Table([Column("case", "node id"), Column("score")], list(map(Row, rows)))
    assert [line_text(line) for line in block_lines(block, TerminalStyle(width=60))][1:] == [
        "…ocs.golden.yaml::corner shop (run 2 of 4) and 1 more   0.00",
        "a.py::b                                                  0.5",
    ]
    for width, name in ((9, "…::corner"), (8, "corner"), (5, "co…er")):
        assert TerminalStyle().name("docs.golden.yaml::corner", width) == name


def test_fields_whose_differences_are_not_shown_are_counted():
    difference = [RowDetail(differences=[ShownDifference("a", "mismatch", "1", "2")])]
    rows = [Row(["a"], difference), Row(["b"], difference), Row(["c"]), Row(["d"], difference)]
    block = Table([Column("field", "name")], rows)
    lines = [line_text(line) for line in block_lines(block, TerminalStyle())]
    assert lines[-3:] == ["differences, expected → actual:", "  a  1 → 2", "  … 2 more fields (-v)"]
    assert "more" not in str(block_lines(block, TerminalStyle(mode="all")))
