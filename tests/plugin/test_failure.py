"""How a failure reads in pytest, in every style of traceback."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import assert_json_match

BAD = """
    from pytest_jsonmatch import assert_json_match

    def test_bad():
        assert_json_match(
            {"items": [{"price": 10, "name": "ink"}, {"price": 30, "name": "pan"}]},
            {"items": [{"price": 10, "name": "ink"}, {"price": 20, "name": "pen"}]},
            metric="json_similarity",
        )
"""
FIRST = "items[[]1[]].price 20 → 30, 1 more (json_similarity 0.79 < 1.00)"


@pytest.fixture
def bad(pytester):
    return pytester.makepyfile(test_bad=BAD)


def test_the_message_stands_at_the_users_line(pytester, bad, workers):
    outcome = pytester.runpytest(*workers)
    outcome.stdout.fnmatch_lines(f"""\
        >       assert_json_match(
        E       AssertionError: {FIRST}
        test_bad.py:4: AssertionError""")
    assert "assertions.py" not in outcome.stdout.str()


@pytest.mark.parametrize("style", ["auto", "long", "short"])
def test_the_fields_are_named_in_every_long_style(pytester, bad, style):
    outcome = pytester.runpytest(f"--tb={style}")
    outcome.stdout.fnmatch_lines(f"""\
        E *AssertionError: {FIRST}
        E *items[[]1[]].price*
        E *items[[]1[]].name*""")
    assert "assertions.py" not in outcome.stdout.str()


@pytest.mark.parametrize(
    ("style", "lines"),
    [
        ("line", [f"*test_bad.py:4: AssertionError: {FIRST}"]),
        ("native", [f"*AssertionError: {FIRST}", "*items[[]1[]].price*"]),
        ("no", ["FAILED test_bad.py::test_bad - AssertionError: items[[]1[]].price 20 → 30, 1 more..."]),
    ],
)
def test_other_styles(pytester, bad, style, lines):
    pytester.runpytest(f"--tb={style}", "-p", "no:cacheprovider").stdout.fnmatch_lines(lines)


def test_colour_where_pytest_has_it(pytester, bad):
    assert "\x1b[" not in pytester.runpytest("--color=no").stdout.str()
    text = pytester.runpytest("--color=yes").stdout.str()
    (line,) = [line for line in text.splitlines() if "E  " in line and "(json_similarity 0.79" in line]
    assert line.count("\x1b[") > 2


def test_more_and_all_with_v_and_vv(pytester, python):
    python("""
        def test_bad():
            assert_json_match({f"k{n:03}": 1 for n in range(90)}, {f"k{n:03}": 2 for n in range(90)})
        """)
    shown = {}
    for verbosity in ("", "-v", "-vv", "-overbosity_assertions=2"):
        arguments = [verbosity] if verbosity else []
        text = pytester.runpytest("--jsonmatch-summary=none", *arguments).stdout.str()
        shown[verbosity] = sum(line.startswith("E         0.00  k") for line in text.splitlines())
    assert 0 < shown[""] < shown["-v"] < shown["-vv"] == shown["-overbosity_assertions=2"] == 90


def test_control_characters_never_reach_the_terminal(pytester, python):
    python(r"""
        def test_bad():
            assert_json_match({"a\x1b[2J": "\x07\x1b]0;x\x07"}, {"a\x1b[2J": "y\u202e"}, name="\x1b[31m")
        """)
    text = pytester.runpytest("--color=no", "--tb=short").stdout.str()
    report = text.split("E   ", 1)[1]
    assert [char for char in report if char in "\x1b\x07\u202e"] == []


def test_an_error_of_the_engine_does_not_show_the_engine(pytester):
    pytester.makepyfile(
        test_bad="""
        from pytest_jsonmatch import assert_json_match

        def test_bad():
            assert_json_match("sorry, no", {"a": 1})
        """
    )
    outcome = pytester.runpytest()
    outcome.stdout.fnmatch_lines("""\
        >       assert_json_match(*
        E *JsonExtractionError: no JSON found *
        test_bad.py:4: *""")
    assert "engine/" not in outcome.stdout.str()


# -- suggestions -------------------------------------------------------------------------------------------

HEAD = "if this difference is acceptable, the assertion would pass with"
TAGS = [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": ["c", "d"]}]


def suggested(actual, expected, **options):
    """The suggested arguments, each of which lets the assertion pass."""
    with pytest.raises(AssertionError) as caught:
        assert_json_match(actual, expected, **options)
    lines = str(caught.value).splitlines()
    if HEAD not in lines:
        return []
    texts = [line[5:] for line in lines[lines.index(HEAD) + 1 :] if line[:5] in {" " * 5, "  or "}]
    for text in texts:
        added = eval(f"dict({text})")
        assert_json_match(actual, expected, **{**options, **added})
    return texts


@pytest.mark.parametrize(
    ("actual", "expected", "texts"),
    [
        ({"total": 101}, {"total": 100}, ['fields={"total": {"tolerance": {"rel": 0.01}}}']),
        ({"v": "it's"}, {"v": "It's"}, ['fields={"v": {"transform": ["casefold"]}}']),
        ({'a"b': " x"}, {'a"b': "x"}, ["""fields={'["a\\\\"b"]': {"transform": ["strip"]}}"""]),
        ({"a": 1, "b": 2}, {"a": 1}, ['extra="ignore"']),
        ({"a": 1, **{f"k{at}": at for at in range(30)}}, {"a": 1}, ['extra="ignore"']),
        ([{"a": 1, "b": 2}] * 9, [{"a": 1}] * 9, ['extra="ignore"']),
        (
            [{"id": 1, "tags": ["b", "a"]}, {"id": 2, "tags": ["d", "c"]}],
            TAGS,
            ['fields={"[].tags": {"align": "unordered"}}', 'arrays="unordered"'],
        ),
        (
            {"a": [[1, 2], [4, 3]]},
            {"a": [[2, 1], [3, 4]]},
            ['fields={"a[]": {"align": "unordered"}}', 'arrays="unordered"'],
        ),
        (
            {"rows": TAGS[::-1]},
            {"rows": TAGS},
            ['fields={"rows": {"align": "unordered"}}', 'arrays="unordered"'],
        ),
        (
            {"rows": [{"tags": ["b", "a"]}, {"tags": ["c"]}], "on": "2026-04-03"},
            {"rows": [{"tags": ["c"]}, {"tags": ["a", "b"]}], "on": "3 April 2026"},
            ['fields={"on": "date"}, arrays="unordered"'],
        ),
        ({"n": 5}, {"n": 6}, []),
        ({"v": "abc"}, {}, ['extra="ignore"']),
    ],
)
def test_an_assertion_suggests_arguments_with_which_it_would_pass(actual, expected, texts):
    assert suggested(actual, expected) == texts


def test_rules_of_the_call_stay():
    rules = {"v": {"compare": "exact", "weight": 2}}
    text = 'fields={"v": {"compare": "exact", "weight": 2, "transform": ["casefold"]}}'
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"v": "A"}, {"v": "a"}, fields=rules)
    assert str(caught.value).endswith(f"{HEAD}\n     {text}")


def test_suggested_fields_have_the_rules_of_the_call():
    expected, actual = ({"id": at, "total": 99 + at, "note": "A"} for at in (1, 2))
    rule = {"tolerance": {"rel": 0.01}}
    for given, added in (
        ({"id": "skip", "note": {"weight": 2}}, {"total": rule}),
        ({"total": {"weight": 2}, "id": "skip"}, {"total": {"weight": 2, **rule}}),
    ):
        (text,) = suggested(actual, expected, fields=given)
        assert eval(f"dict({text})") == {"fields": {**given, **added}}


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (
            {"fields": {"v": {"transform": "strip", "weight": 9}}},
            {"transform": ["strip", "casefold"], "weight": 9},
        ),
        ({"fields": {"**.v": {"transform": ["strip"]}}}, {"transform": ["strip", "casefold"]}),
        ({"fields": {"$": {"transform": ["strip"]}}}, {"transform": ["strip", "casefold"]}),
        ({"transform": ["strip"]}, {"transform": ["strip", "casefold"]}),
        (
            {"schema": {"properties": {"v": {"x-eval-transform": ["strip"]}, "n": {}}}, "validate": "off"},
            {"transform": ["strip", "casefold"]},
        ),
        ({"fields": {"v": {"accept": ["Bolt"]}}}, {"accept": ["Bolt"], "transform": ["casefold"]}),
        ({"fields": {"v": {"match_threshold": 0.9}}}, {"match_threshold": 0.9, "transform": ["casefold"]}),
        ({"metric": "field_match_normalized"}, {"transform": ["strip_accents", "casefold", "strip"]}),
    ],
)
def test_a_suggested_rule_keeps_the_words_and_transforms_that_apply(options, rule):
    actual = {"v": "ACME " if "metric" in options else "ACME", "n": 1}
    (text,) = suggested(actual, {"v": "Acme", "n": 1}, **options)
    assert eval(f"dict({text})")["fields"] == {**options.get("fields", {}), "v": rule}


def test_a_suggested_rule_below_text_that_is_parsed_does_not_parse_again():
    rules = {"call": {"transform": ["parse_json", "strip"]}}
    (text,) = suggested({"call": '{"v": "ACME "}'}, {"call": {"v": "Acme"}}, fields=rules)
    assert eval(f"dict({text})")["fields"] == {**rules, "call.v": {"transform": ["strip", "casefold"]}}


def test_an_inner_order_in_large_arrays_is_suggested():
    rows = [{"id": at, "tags": [at, -at, "x"]} for at in range(1, 301)]
    mixed = [{**row, "tags": row["tags"][::-1]} for row in rows]
    assert suggested(mixed, rows)[0] == 'fields={"[].tags": {"align": "unordered"}}'


def test_more_keys_than_expected_may_be_ignored_or_the_sides_be_swapped():
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"a": 1, "b": 2}, {"a": 1})
    assert str(caught.value).splitlines()[-3:] == [
        HEAD,
        '     extra="ignore"',
        "expected is inside actual: if the two were swapped, write actual first",
    ]


def test_dates_next_to_other_differences_have_a_rule():
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"d": "2026-04-03T00:00:00", "n": 1}, {"d": "2026-04-03", "n": 2})
    rule = 'to compare dates whatever their precision or form: fields={"d": "date"}'
    assert str(caught.value).splitlines()[-1] == rule


ROWS = [{"sku": sku, "price": price} for sku, price in (("bolt", 12), ("nut", 25), ("rod", 31))]


@pytest.mark.parametrize(
    ("items", "score", "align"),
    [
        ([ROWS[2], ROWS[0]], "0.80", "unordered"),
        ([ROWS[2], ROWS[0], {"sku": "nut", "price": 99}], "0.83", "unordered"),
        ([{"sku": "gift", "price": 0}, *ROWS[:2], {"sku": "rod", "price": 99}], "0.71", "sequence"),
    ],
)
def test_elements_at_other_positions_next_to_other_differences_have_a_rule(items, score, align):
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"items": items}, {"items": ROWS})
    lines = str(caught.value).splitlines()
    assert lines[-2:] == [
        f"elements match at other positions; the score would be {score} with",
        f'     fields={{"items": {{"align": "{align}"}}}}',
    ]
    assert "only order" not in lines[0]
    assert "only shifted" not in lines[0]


def test_elements_that_match_nowhere_have_no_rule():
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"items": ROWS[:1]}, {"items": ROWS[1:]})
    assert "other positions" not in str(caught.value)
