"""How a failure reads in pytest, in every style of traceback."""

from __future__ import annotations

import pytest

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
