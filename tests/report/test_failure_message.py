"""The message of a failed comparison, as a person reads it."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import compare_json, register_comparator
from pytest_jsonmatch.report.escape import display_width
from pytest_jsonmatch.report.failure import failure_message
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.results.limits import ScoreCheck
from tests.conftest import session_registry
from tests.laws import law

EXPECTED = {
    "number": "INV-2024-0017",
    "vendor": {"name": "Acme Inc.", "city": "Berlin"},
    "items": [{"sku": "A-113", "price": 12.5}, {"sku": "B-7", "price": 20.3}],
    "total": 32.8,
    "paid": True,
    "status": "completed successfully",
}
ACTUAL = {
    "number": "INV-2024-0017",
    "vendor": {"name": "Acme Ltd.", "city": "Berlin", "iban": "DE12"},
    "items": [{"sku": "A-113", "price": 12.5}, {"sku": "B-7", "price": 20.5}],
    "total": "32.8",
    "status": "completed sucessfully",
}


def message(actual, expected, *, limit=1.0, failures=None, metric="field_match", options=None, **look):
    result = compare_json(actual, expected, metric=metric, **(options or {}))
    found = [ScoreCheck("score", result.score, limit)] if failures is None else failures
    more = {key: look.pop(key) for key in ("verbosity", "name", "locate") if key in look}
    return failure_message(result, TerminalStyle(**look), threshold={"score": limit}, failures=found, **more)


def lines(text):
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def test_field_match_names_the_leaves_that_differ():
    shown = message(ACTUAL, EXPECTED, name="acme-17")
    assert lines(shown) == lines("""
vendor.name "Acme Inc." → "Acme Ltd." (acme-17: field_match 0.17 < 1.00)
6 fields: 1 match, 4 mismatch, 1 missing, in 6 places
expected → actual:
  vendor.name     "Acme [-Inc-]{+Ltd+}."        3 edits
  vendor.iban     (nothing) → "DE12"            extra
  items[1].price  20.3 → 20.5  few characters differ, 0.99 % off
  total           32.8 → "32.8"                 number as text
  paid            true → (missing)
  status          "completed suc[-c-]essfully"  few characters differ
  [-only in expected-] {+only in actual+}
""")


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_keys_that_differ_only_in_unicode_form_are_escaped():
    shown = message({COMPOSED: 1, "ü": 2}, {DECOMPOSED: 1, "ü": 1}, metric="leaf_f1")
    assert lines(shown)[3:] == [
        r'  0.00  ["cafe\u0301"]  1 → (missing)',
        r'  0.00  ["ü"]           1 → 2          100 % off',
        f'  0.00  ["{COMPOSED}"]        (nothing) → 1  extra',
    ]
    rules = {"skip": [r'["cafe\u0301"]']}  # such a path is a pattern, too
    assert compare_json({DECOMPOSED: 2, COMPOSED: 1}, {DECOMPOSED: 1, COMPOSED: 1}, **rules).score == 1


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ({COMPOSED: 1}, {DECOMPOSED: 1}, '{"café": 1} → {"cafe\\u0301": 1}'),
        ({"x": COMPOSED}, {"x": DECOMPOSED}, '{"x": "caf\\xe9"} -> {"x": "cafe\\u0301"}'),
        ([DECOMPOSED], [COMPOSED], '["cafe\\u0301"] -> ["caf\\xe9"]'),
        (
            [COMPOSED, {DECOMPOSED: 1}],
            [COMPOSED, {COMPOSED: 1}],
            '["café", {"cafe\\u0301": 1}] → ["café", {"café": 1}]',
        ),
        ([COMPOSED], [COMPOSED, 1], '["café"] → ["café", 1]'),
    ],
)
def test_values_in_containers_that_look_equal_are_escaped(one, other, shown):
    rules = {"fields": {"v": "exact"}}
    assert shown in message({"v": other}, {"v": one}, metric="leaf_f1", options=rules)


def test_rows_whose_keys_look_equal_are_escaped():
    shown = message({"r": [{DECOMPOSED: 1}]}, {"r": [{COMPOSED: 1}]}, options={"arrays": "unordered"})
    assert lines(shown)[3:] == [
        '  r[0]   {"café": 1} → (missing)  row missing from actual',
        '  r[→0]  (nothing) → {"cafe\\u0301": 1}  row only in actual',
    ]


def test_without_unicode_the_message_is_ascii():
    shown = message({"städte": ["München", 2]}, {"städte": ["Münster", 1, 3]}, unicode=False)
    assert lines(shown) == lines(r"""
["st\xe4dte"][0] "M\xfcnster" -> "M\xfcnchen" (field_match 0.00 < 1.00)
1 field: 1 mismatch, in 3 places
expected -> actual:
  ["st\xe4dte"][0]  "M\xfcnster" -> "M\xfcnchen"  3 edits
  ["st\xe4dte"][1]  1 -> 2                        100 % off
  ["st\xe4dte"][2]  3 -> (missing)
""")
    shown.encode("ascii")


def test_what_fits_on_no_line_goes_below():
    note = "the delivery is made to the {} entrance of the warehouse between 8 and 10 in the morning"
    expected = {"note": note.format("rear"), "summary": "a short text about something altogether different"}
    actual = {"note": note.format("front"), "summary": "Nobody knows what to put here, so here are words."}
    assert lines(message(actual, expected, metric="json_similarity")) == lines("""
summary "a short t… → "Nobody kn…, 1 more (json_similarity 0.57 < 1.00)
2 fields: 2 mismatch
expected → actual:
  0.18  summary  40 edits
      expected "a short text about something altogether different"
      actual   "Nobody knows what to put here, so here are words."
  0.96  note     few characters differ
      "…ivery is made to the [-rear-]{+front+} entrance of the ware…"
  [-only in expected-] {+only in actual+}
""")


def test_long_values_are_shortened_around_the_difference():
    expected, actual = {"text": "x" * 500 + "left" + "y" * 500}, {"text": "x" * 500 + "right" + "z" * 500}
    assert lines(message(actual, expected))[3:] == lines("""
  0.00  text  504 edits
      expected …xxxxxxxxxxxxxxxxxxleftyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
      actual   …xxxxxxxxxxxxxxxxxxrightzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…
""")


def test_the_place_of_each_field():
    shown = message(ACTUAL, EXPECTED, locate=lambda field: f":{len(field.path)}")
    assert lines(shown)[3] == '  vendor.name     "Acme [-Inc-]{+Ltd+}."        3 edits  :11'
    shown = message(ACTUAL, EXPECTED, locate=lambda field: f"golden/expected/acme-17.json:{len(field.path)}")
    below = '      "Acme [-Inc-]{+Ltd+}."  3 edits  golden/expected/acme-17.json:11'
    assert lines(shown)[3:5] == ["  vendor.name", below]


def test_a_place_that_all_fields_have_stands_once():
    shown = lines(message(ACTUAL, EXPECTED, locate=lambda _: "golden/expected/acme-17.json:7"))
    assert shown[2:4] == lines("""
expected → actual (golden/expected/acme-17.json:7):
  vendor.name     "Acme [-Inc-]{+Ltd+}."        3 edits
""")
    one = lines(message({"a": 1}, {"a": 2}, locate=lambda _: ":7"))
    assert one[2:] == ["expected → actual:", "  0.00  a  2 → 1  50 % off  :7"]


@pytest.mark.parametrize(
    ("actual", "expected", "shown"),
    [
        ("R2024252", "R-2024-252", 'n  "R-2024-252" → "R2024252"'),
        ("a - note", "a -- note", 'n  "a -- note" → "a - note"'),
        ("C++ and C", "C and C", 'n  "C and C" → "C++ and C"'),
        ("one-two-four", "one-two-for", 'n  "one-two-fo{+u+}r"'),
    ],
)
def test_a_change_that_ends_like_its_mark_is_not_marked(actual, expected, shown):
    assert f"  0.00  {shown} " in message({"n": actual}, {"n": expected})


def test_a_path_on_its_own_line_is_not_cut():
    path = {"customer": {"billing_addresses": [{"postal_code_of_the_city_and_more": "99" * 30}]}}
    other = {"customer": {"billing_addresses": [{"postal_code_of_the_city_and_more": "88" * 30}]}}
    assert "  customer.billing_addresses[0].postal_code_of_the_city_and_more" in lines(message(path, other))


def test_the_same_key_in_many_elements_is_one_line():
    actual = [{"n": at, "id": at, "from": "x"} for at in range(20)] + [{"n": 20}]
    expected = [{"n": at, "at": [at, 0]} for at in range(21)]
    expected[20]["n"] = 21
    shown = message(actual, expected, metric="leaf_f1")
    assert lines(shown)[2:] == lines("""
expected → actual:
  0.00  [].at[] ×42  0, … → (missing)
  0.00  [].id ×20    (nothing) → 0, …  extra
  0.00  [].from ×20  (nothing) → "x"   extra
  0.00  [20].n       21 → 20           4.8 % off
""")
    assert lines(message(actual, expected, metric="leaf_f1", verbosity=1)) == lines(shown)
    assert len(lines(message(actual, expected, metric="leaf_f1", verbosity=2))) == 3 + 83
    two = message(actual[:2], [{"n": 0}, {"n": 1}], metric="leaf_f1")
    assert '  0.00  [1].from  (nothing) → "x"  extra' in lines(two)


def test_all_rows_of_an_array_that_is_empty_in_actual_are_one_line():
    rows = [{"n": at} for at in range(20)]
    assert lines(message({"a": []}, {"a": rows}, metric="leaf_f1"))[2:] == lines("""
expected → actual:
  0.00  a  20 rows missing from actual
      expected [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}, {"n":…
      actual   []
""")


@pytest.mark.parametrize(
    ("actual", "expected"),
    [({}, {f"k{at}": at for at in range(76)}), ("[]", [{"k": at} for at in range(76)])],
)
@pytest.mark.parametrize("options", [{}, {"arrays": "unordered"}])
def test_an_empty_answer_has_no_list_of_what_it_lacks(actual, expected, options):
    shown = message(actual, expected, metric="leaf_f1", options=options)
    counts = "76 fields: 76 missing; precision 1.00, recall 0.00"
    assert lines(shown) == [f"actual is {actual} (leaf_f1 0.00 < 1.00)", counts]
    assert len(lines(message(actual, expected, metric="leaf_f1", verbosity=2))) == 3 + 76


def test_the_layout_is_the_same_in_any_terminal():
    expected = {"customer": {"postal_code": "1100-061"}, "note": "completed successfully", "total": 1}
    actual = {"note": "completed sucessfully", "total": "one"}

    def shown(width):
        place = {"customer.postal_code": ":15"}
        locate = lambda field: place.get(field.path, ":16")  # noqa: E731
        return lines(message(actual, expected, metric="leaf_f1", locate=locate, width=width))[3:-1]

    assert shown(80) == lines("""
  0.00  customer.postal_code  "1100-061" → (missing)        :15
  0.00  note
      "completed suc[-c-]essfully"  few characters differ  :16
  0.00  total                 1 → "one"  number against string  :16
""")
    assert " ".join(shown(120)).split() == " ".join(shown(80)).split()


def test_a_reason_that_is_cut_begins_with_what_to_do():
    fields = {"issued": {"compare": "date"}, "total": {"compare": "amount"}}
    expected = {"issued": "2026-04-03", "total": "1234"}
    actual = {"issued": "03/04/2026", "total": "1,234"}
    text = message(actual, expected, metric="leaf_f1", options={"fields": fields}, width=45)
    assert "  set 'order': actual has two" in text
    assert "  set 'decimal': actual has two" in text
    assert text.partition("\n")[2].count("…") == 2


def test_every_statistic_that_is_too_low_is_named():
    failures = [
        ScoreCheck("recall", 0.949_96, 0.95),
        ScoreCheck('fields["items[].price"]', 0.5, 1.0),
        ScoreCheck("f1", 0.2, 0.5),
        ScoreCheck('fields["nothing"]', None, 0.75),
        ScoreCheck("precision", 0.1, 0.3),
        ScoreCheck("score", 0.1, 0.3),
    ]
    assert lines(message({"a": 1}, {"a": 2}, failures=failures, name="x"))[:5] == lines("""
a 2 → 1 (x: field_match recall 0.94996 < 0.95, 5 more scores too low)
also fields["items[].price"] 0.50 < 1.00
also F1 0.20 < 0.50
also fields["nothing"] is undefined, needs 0.75
… and 2 more scores
""")


def test_limits_on_fields_alone_bring_their_fields_first():
    expected = {"a": 1, "b": 2, "items": [{"price": 1.0}, {"price": 2.0}]}
    actual = {"a": 5, "b": 5, "items": [{"price": 1.0}, {"price": 2.02}]}
    failures = [ScoreCheck('fields["items[].price"]', 0.995, 1.0, "items[].price")]
    shown = message(actual, expected, metric="json_similarity", failures=failures)
    assert [line.split()[1] for line in lines(shown)[3:]] == ["items[1].price", "a", "b"]


def test_comparator_errors_and_warnings_stand_below_the_fields():
    def broken(expected, actual, params):
        raise ValueError(f"no unit in {actual!r} \x1b[31m; write 5 kg, 12 lb or the like, one blank between")

    with session_registry():
        register_comparator("weight", broken)
        result = compare_json(
            '{"a": 1, "a": 2, "b": "x"}', {"a": 1, "b": "y"}, fields={"b": {"compare": "weight"}}
        )
    shown = failure_message(result, TerminalStyle(), threshold={"score": 0.25}, failures=[])
    assert lines(shown) == lines(r"""
comparator 'weight' failed at b; leaf_f1 score 0.00 (limit 0.25)
2 fields: 2 mismatch
expected → actual:
  0.00  a  1 → 2      100 % off
  0.00  b  "y" → "x"  comparator failed
error: comparator 'weight' at b: raised ValueError: no unit in 'x'
       \x1b[31m; write 5 kg, 12 lb or the like, one blank between
note: line 1: the key 'a' occurs twice in one object; the last one
      counts
""")


def test_every_field_gets_a_line_and_the_lowest_scoring_ones_the_rest():
    expected = {"items": [{"price": index} for index in range(1000)], "x": 1}
    actual = {"items": [{"price": index + 1} for index in range(1000)], "x": 2}
    assert lines(message(actual, expected))[3:] == lines("""
  items[0].price  0 → 1  1 off
  items[1].price  1 → 2  100 % off
  items[2].price  2 → 3  50 % off
  items[3].price  3 → 4  33 % off
  items[4].price  4 → 5  25 % off
  items[5].price  5 → 6  20 % off
  items[6].price  6 → 7  17 % off
  x               1 → 2  100 % off
  … and 993 more (-v: more, -vv: all)
""")
    assert len(lines(message(actual, expected, verbosity=1))) == 54
    assert len(lines(message(actual, expected, verbosity=2))) == 1004


def test_what_is_left_out_is_counted_by_places():
    expected = {f"f{index}": [1, 2, 3] for index in range(20)}
    shown = message({key: [] for key in expected}, expected)
    assert lines(shown)[-1] == "  … and 52 more (-v: more, -vv: all)"


def test_verbose_shows_values_whole():
    expected, actual = {"a": list(range(1000))}, {"a": {"b": 1}}
    assert f"      expected {list(range(1000))}" in lines(message(actual, expected, verbosity=2))


@pytest.mark.parametrize(
    ("actual", "expected", "shown"),
    [
        (
            "say [-no-] to it",
            "say [-yes-] to it",
            '"say [-yes-] to it" → "say [-no-] to it"',
        ),  # not our marks
        ("cafe\u0301", "caf\xe9", r'"caf[-\xe9-]{+e\u0301+}"'),  # they look the same
    ],
)
def test_how_two_texts_are_shown(actual, expected, shown):
    assert lines(message({"a": actual}, {"a": expected}))[3].split("  ")[3] == shown


def test_what_a_transform_takes_away_is_not_marked():
    shown = message(
        {"a": "JOSE Sanches", "b": "  Sanches"},
        {"a": "José Sanchez", "b": "SANCHEZ"},
        options={"transform": ["strip", "strip_accents", "lowercase"]},
    )
    assert lines(shown)[3:] == lines("""
  0.00  a  few characters differ
      "José Sanchez" → "JOSE Sanches"
      compared as "jose sanche[-z-]{+s+}"
  0.00  b  few characters differ
      "SANCHEZ" → "  Sanches"
      compared as "sanche[-z-]{+s+}"
  [-only in expected-] {+only in actual+}
""")


def test_what_does_not_count_comes_last_and_says_so():
    options = {"fields": {"a": {"weight": 0}, "c": {"skip": True}}}
    shown = message(
        {"a": 1, "b": 2.5, "c": 1}, {"a": 2, "b": 3.0, "c": 2}, metric="json_similarity", options=options
    )
    assert lines(shown) == lines("""
b 3.0 → 2.5, 1 more (json_similarity 0.83 < 1.00)
3 fields: 2 mismatch, 1 skipped
expected → actual:
  0.83  b  3.0 → 2.5  17 % off
  0.50  a  2 → 1      50 % off, weight 0
""")


def test_long_values_take_room_from_other_fields_not_more_of_the_screen():
    expected = {f"field{index}": "left " * 20 for index in range(20)}
    actual = dict.fromkeys(expected, "right " * 20)
    place = "a/rather/deeply/nested/folder/case.golden.yaml:99"
    shown = lines(message(actual, expected, locate=lambda field: place + field.path[5:]))
    assert len(shown) <= 25
    assert [line.split()[1] for line in shown if line.startswith("  0.")] == [f"field{n}" for n in range(5)]
    assert shown[-1] == "  … and 15 more (-v: more, -vv: all)"


def test_many_warnings_are_capped_like_the_rest():
    twice = "{" + ", ".join(f'"k{index}": 1, "k{index}": 2' for index in range(9)) + "}"
    shown = lines(message(twice, {"a": 1}))
    assert [line.split(":")[0] for line in shown[-3:]] == ["note", "      counts", "… and 7 more"]


def test_verbosity_widens_what_is_shown_of_a_long_text():
    expected = {"text": " ".join(map(str, range(1000)))}
    actual = {"text": expected["text"].replace(" 500 ", " five hundred ")}

    def width(verbosity):
        return len(lines(message(actual, expected, verbosity=verbosity))[4].strip())

    assert [width(0) <= 66, 300 < width(1) <= 360, width(2) > 3_800] == [True, True, True]
    whole = f"      {expected['text']!r}".replace("'", '"').replace("500", "[-500-]{+five hundred+}")
    assert whole in lines(message(actual, expected, verbosity=2))


def test_many_changes_are_two_texts():
    expected = {"text": "a1 b2 c3 d4 e5 f6 g7 h8 and some more text"}
    actual = {"text": "a2 b3 c4 d5 e6 f7 g8 h9 and some more text"}
    assert lines(message(actual, expected))[3:] == lines("""
  0.00  text  8 edits
      expected "a1 b2 c3 d4 e5 f6 g7 h8 and some more text"
      actual   "a2 b3 c4 d5 e6 f7 g8 h9 and some more text"
""")


def test_colours_only_if_asked_for():
    shown = message(ACTUAL, EXPECTED, color=True)
    assert "\x1b" not in message(ACTUAL, EXPECTED)
    assert shown.startswith(
        'vendor.name "Acme Inc." → "Acme Ltd.", 5 more (field_match 0.17 < 1.00)\n'
    )  # for the short summary, which cuts it
    assert re.sub(r"\x1b\[[0-9;]+m", "", shown) == message(ACTUAL, EXPECTED)
    assert "\x1b[31m[-\x1b[0m\x1b[31mInc\x1b[0m\x1b[31m-]\x1b[0m" in shown


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
VALUES = st.recursive(
    ANY_TEXT | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=10,
)
DOCUMENTS = st.dictionaries(ANY_TEXT, VALUES, max_size=12)


@law(
    st.sampled_from(["field_match", "field_match_normalized", "json_similarity"]),
    DOCUMENTS,
    DOCUMENTS,
    st.booleans(),
    examples=80,
)
def test_whatever_the_data_the_message_is_short_narrow_and_clean(metric, actual, expected, unicode):
    shown = message(actual, expected, metric=metric, unicode=unicode, name="\x1b[31m\u202e")
    verbose = message(actual, expected, metric=metric, unicode=unicode, verbosity=2)
    assert len(shown.split("\n")) <= 25
    assert max(map(display_width, shown.split("\n"))) <= 72
    for text in (shown, verbose):
        raw = {character for character in text if unicodedata.category(character)[0] == "C"}
        assert raw <= {"\n"}
        assert unicode or text.isascii()


def test_indices_of_expected_and_actual_are_distinguished():
    expected = {"items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}, {"sku": "c", "n": 3}], "tags": ["x"]}
    actual = {"items": [{"sku": "b", "n": 2, "m": 0}, {"sku": "c", "n": 4}, {"q": 5}], "tags": ["x", "y"]}
    shown = message(actual, expected, metric="leaf_f1", options={"arrays": "unordered"})
    assert [line.split("  ")[2] for line in lines(shown)[3:] if line[2] != " "] == [
        "items[0]",
        "items[1→0].m",
        "items[2→1].n",
        "items[→2]",
        "tags[1]",
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "more", "first"),
    [
        (
            {"a": "x", "b": "y", "c": 1},
            {"a": "x ", "b": " y", "c": 1},
            {},
            'a "x" → "x ", 1 more: only white space differs',
        ),
        ({"a": "x", "c": 1}, {"a": "X", "c": 1}, {}, 'a "x" → "X"'),
        ({"a": None, "c": 1}, {"c": 1}, {}, "a null → (missing)"),
        (
            {"rows": [1, 20, 30, 40]},
            {"rows": [20, 30, 40, 1]},
            {},
            "rows: the same elements in another order",
        ),
        ({"a": " x", "b": 1}, {"a": "x", "b": 2}, {}, 'a " x" → "x", 1 more'),
        ({"a": "abc"}, {"a": "xyz"}, {}, 'a "abc" → "xyz"'),
        (
            {"a": " x", "b": 1},
            {"a": "x", "b": 2},
            {"b": {"weight": 0}},
            'a " x" → "x", 1 more: only white space differs',
        ),
        ({"total": 11.0, "id": 7}, {"total": "11.00", "id": 7}, {}, 'total 11.0 → "11.00"'),
        (
            [{"n": 1, "m": 1}] * 4,
            [{"n": 1}] * 4,
            {},
            "[].m ×4 1 → (missing)",
        ),
        (
            {"a": [{"n": at} for at in range(9)]},
            {"a": []},
            {},
            'a [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}, {… → []',
        ),
        (5, 6, {}, "$ 5 → 6"),
        (
            {"customer": {"billing_addresses": [{"postal_code_of_the_city": 44139}]}},
            {"customer": {"billing_addresses": [{"postal_code_of_the_city": 44137}]}},
            {},
            "customer.billing_…l_code_of_the_city 44139 → 44137",
        ),
        ({"text": "x" * 99 + "left"}, {"text": "x" * 99 + "right"}, {}, 'text …xxxxxxleft" → …xxxxxxright"'),
    ],
)
def test_the_first_line_names_the_lowest_scoring_field(expected, actual, more, first):
    line = message(actual, expected, metric="leaf_f1", options={"fields": more}).split("\n")[0]
    assert re.sub(r" \(leaf_f1 0[.][0-9]+ < 1[.]00\)$", "", line) == first
    assert display_width(line) <= 72
    assert len(message(actual, expected, metric="leaf_f1", name="n" * 99).split("\n")[0]) <= 72


SKIPPED_TEXT = {"anyOf": [{"type": "string", "x-eval-skip": True}, {"type": "number"}]}
PARAGRAPHS = [f"Paragraph {number}" for number in range(21)]
ADDRESSES = [{"customer": {"name": "Ann", "city": "Rome"}, "n": at} for at in range(3)]


@pytest.mark.parametrize(
    ("expected", "actual", "options", "shown"),
    [
        (
            {"tags": ["a", "b", "c"]},
            {"tags": ["c", "a", "b"]},
            {},
            """
tags: the same elements in another order (leaf_f1 0.00 < 1.00)
3 fields: 3 mismatch
expected → actual:
  0.00  tags  the same elements in another order
      ["a", "b", "c"] → ["c", "a", "b"]
""",
        ),
        (
            {"orders": [{"tags": [at, "x"]} for at in range(3)], "n": 1},
            {"orders": [{"tags": ["x", at]} for at in range(3)], "n": 2},
            {},
            """
orders[].tags ×3: another order, 1 more (leaf_f1 0.00 < 1.00)
7 fields: 7 mismatch
expected → actual:
  0.00  orders[].tags ×3
      [0, "x"] → ["x", 0], …  the same elements in another order
  0.00  n                 1 → 2                   100 % off
""",
        ),
        (
            {"paragraphs": PARAGRAPHS},
            {"paragraphs": ["New", *PARAGRAPHS]},
            {},
            """
paragraphs: 1 inserted at [0], the others equal (leaf_f1 0.00 < 1.00)
22 fields: 21 mismatch, 1 extra
expected → actual:
  0.00  paragraphs[→0]
      (nothing) → "New"
      22 elements instead of 21, 1 inserted at [0], the others equal
""",
        ),
        (
            PARAGRAPHS,
            [*PARAGRAPHS[:3], *PARAGRAPHS[4:17], *PARAGRAPHS[18:]],
            {},
            """
$: 2 removed at [3], [17], the others equal (leaf_f1 0.15 < 1.00)
21 fields: 3 match, 16 mismatch, 2 missing; precision 0.16, recall 0.14
expected → actual:
  0.00  [3]
      "Paragraph 3" → (missing)
      19 elements instead of 21, 2 removed at [3], [17], the others equal
  0.00  [17]  "Paragraph 17" → (missing)  removed
""",
        ),
        (
            [{"id": at, "at": at, "name": f"n{at}"} for at in (1, 2, 3)],
            [{"id": at, "at": -at, "name": f"N{at}"} for at in (3, 2, 1)],
            {"skip": ["[].at"], "fields": {"[].name": {"transform": ["casefold"]}}},
            """
$: the same elements in another order (leaf_f1 0.33 < 1.00)
9 fields: 2 match, 4 mismatch, 3 skipped
expected → actual:
  0.00  $  the same elements in another order
      expected [{"id": 1, "at": 1, "name": "n1"}, {"id": 2, "at": 2, "n…
      actual   [{"id": 3, "at": -3, "name": "N3"}, {"id": 2, "at": -2, …
""",
        ),
        (
            [{"v": f"x{at}", "w": at} for at in range(3)],
            [{"v": f"y{at}", "w": at} for at in (2, 0, 1)],
            {"schema": {"items": {"type": "object", "properties": {"v": SKIPPED_TEXT, "w": {}}}}},
            """
$: the same elements in another order (leaf_f1 0.00 < 1.00)
6 fields: 3 mismatch, 3 skipped
expected → actual:
  0.00  $  the same elements in another order
      expected [{"v": "x0", "w": 0}, {"v": "x1", "w": 1}, {"v": "x2", "…
      actual   [{"v": "y2", "w": 2}, {"v": "y0", "w": 0}, {"v": "y1", "…
""",
        ),
        (
            {"vendor": "Acme", "n": 1},
            {"vendor_name": "Acme", "n": 1},
            {},
            """
vendor: renamed to vendor_name? (leaf_f1 0.50 < 1.00)
3 fields: 1 match, 1 missing, 1 extra
expected → actual:
  0.00  vendor  "Acme" → (missing)  renamed to vendor_name?
""",
        ),
        (
            {"orders": ADDRESSES},
            {"orders": [{"client of": each["customer"], "n": each["n"]} for each in ADDRESSES]},
            {},
            """
orders[].customer ×3: renamed to ["client of"]? (leaf_f1 0.33 < 1.00)
15 fields: 3 match, 6 missing, 6 extra
expected → actual:
  0.00  orders[].customer ×3  renamed to ["client of"]?
      {"name": "Ann", "city": "Rome"} → (missing)
""",
        ),
        (
            {"customer": {"name": "Ann"}, "n": 1},
            {"client": {"name": "Ann"}, "n": 1},
            {"extra": "ignore"},
            """
customer: renamed to client? (leaf_f1 0.67 < 1.00)
2 fields: 1 match, 1 missing; precision 1.00, recall 0.50
expected → actual:
  0.00  customer  {"name": "Ann"} → (missing)  renamed to client?
""",
        ),
    ],
)
def test_one_sentence_explains_many_differences(expected, actual, options, shown):
    assert lines(message(actual, expected, metric="leaf_f1", options=options)) == lines(shown)
    first = message(actual, expected, metric="leaf_f1", options=options).split("\n")[0]
    assert display_width(first) <= 72


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": True}, {"b": True}),  # equal by chance
        ({"a": 1}, {"b": 1}),
        ({"a": "Ann", "b": "Ann"}, {"c": "Ann"}),  # either
        ({"a": "Ann"}, {"b": "Ann", "c": "Ann"}),
        ({"a": []}, {"b": []}),
        ([1, 2, 3], [3, 2, 2]),
        ([1, 2, 3], [0, 1, 2, 4]),  # another element differs, too
        ([1, 2, 3], [1, 2, 3, 4]),  # nothing is shifted
        ([1, 2, 3], [4, 5, 6, 7, 1, 2, 3]),  # more than are named
        ([[1, 2], [3, 4]], [[4, 3], [2, 1]]),  # two orders
        ([{"n": 1}], []),
    ],
)
def test_what_may_have_another_reason_is_not_explained(expected, actual):
    text = message({"v": actual}, {"v": expected}, metric="leaf_f1")
    assert not re.search("renamed|another order|inserted|removed", text)


def test_arrays_that_are_not_compared_by_position_have_no_order():
    options = {"arrays": "unordered"}
    text = message([2, 1, 5], [1, 2], metric="leaf_f1", options=options)
    assert lines(text)[3:] == ["  0.00  [2]  (nothing) → 5  extra"]


def test_the_first_line_tells_values_apart_that_look_equal():
    line = message({"x": COMPOSED}, {"x": DECOMPOSED}, metric="leaf_f1").split("\n")[0]
    assert line == r'x "cafe\u0301" -> "caf\xe9" (leaf_f1 0.00 < 1.00)'


def test_a_note_about_a_key_is_whole_on_80_columns():
    expected, actual = ({"order_items": [{"sku": sku, "n": 1} for sku in skus]} for skus in ("aa", "ab"))
    options = {"fields": {"order_items": {"align": {"key": "sku"}}}}
    assert lines(message(actual, expected, options=options, metric="leaf_f1"))[-3:] == lines("""
note: order_items: elements are paired by their member 'sku'; 1 element
      of expected can't be paired, the first is order_items[1]: 'sku' is
      a duplicate
""")
