"""A run that compares nothing, or little, imports little."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["numpy", "scipy", "rapidfuzz", "yaml", "regex", "json_repair"]
OURS = ["pytest_jsonmatch.engine", "pytest_jsonmatch.report", "pytest_jsonmatch.assertions"]
PLAIN = "def test_plain(): pass"
FIELD_MATCH = """
    def test_field_match(assert_json_match):
        assert_json_match('Here: {"name": "Ann", "tags": [1, 2]}', {"name": "Ann", "tags": [1, 2]})
"""


def imported(pytester, *names):
    """Which of the modules a run of pytest has imported when it ends."""
    pytester.makeconftest(
        f"""
        import sys

        def pytest_unconfigure(config):
            with open("imported.txt", "w") as file:
                file.write(" ".join(name for name in {list(names)!r} if name in sys.modules))
        """
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "-p", "no:cacheprovider"]
    subprocess.run(command, check=True, cwd=pytester.path, stdout=subprocess.DEVNULL)
    return pytester.path.joinpath("imported.txt").read_text(encoding="utf-8").split()


def test_a_run_without_comparisons_imports_none_of_our_rooms(pytester):
    pytester.makepyfile(PLAIN)
    assert imported(pytester, *HEAVY, *OURS) == []


def test_a_folder_full_of_yaml_imports_nothing(pytester):
    pytester.makepyfile(PLAIN)
    pytester.makefile(".yaml", config="a: 1")
    assert imported(pytester, *HEAVY, *OURS) == []


def test_field_match_needs_no_heavy_import(pytester):
    pytester.makepyfile(FIELD_MATCH)
    assert imported(pytester, *HEAVY, "pytest_jsonmatch.engine") == ["pytest_jsonmatch.engine"]


def test_importing_the_package_imports_nothing_heavy():
    code = (
        f"import sys, pytest_jsonmatch; print([n for n in {[*HEAVY, *OURS, 'pytest']!r} if n in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output == "[]\n"


@pytest.mark.parametrize("assertions", [PLAIN, FIELD_MATCH], ids=["idle", "used"])
def test_pytest_rewrites_us_without_a_warning(pytester, assertions, workers):
    pytester.makepyfile(assertions)
    pytester.makeconftest("from pytest_jsonmatch import compare_json, register_comparator")
    outcome = pytester.runpytest_subprocess("-W", "error::pytest.PytestAssertRewriteWarning", *workers)
    outcome.assert_outcomes(passed=1)
    assert "cannot be rewritten" not in outcome.stdout.str() + outcome.stderr.str()
