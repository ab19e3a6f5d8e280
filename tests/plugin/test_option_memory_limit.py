"""The ini option `jsonmatch_memory_limit`."""

from __future__ import annotations

TEST = """
from pytest_jsonmatch import assert_json_match

WORDS = [f"{a} {b}" for a in "abcdefgh" for b in "ijklmnopq"]

def test_it():
    others = [f"{word} z" for word in WORDS[10:]]
    result = assert_json_match(WORDS[:36], others, metric="pairwise_f1", threshold=0)
    assert result.alignment == "ALIGNMENT"
"""


def test_without_it_arrays_are_paired_exactly(pytester):
    pytester.makepyfile(TEST.replace("ALIGNMENT", "exact"))
    pytester.runpytest().assert_outcomes(passed=1)


def test_it_holds_for_every_comparison(pytester):
    pytester.makeini("[pytest]\njsonmatch_memory_limit = 1 KiB\n")
    pytester.makepyfile(TEST.replace("ALIGNMENT", "approximate"))
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1)
    outcome.stdout.fnmatch_lines(["1 warning: the alignment is approximate: *"])


def test_what_is_no_size_is_a_usage_error(pytester):
    pytester.makeini("[pytest]\njsonmatch_memory_limit = a lot\n")
    outcome = pytester.runpytest()
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(
        ["ERROR: *jsonmatch_memory_limit must be a size such as 512 MiB or 2 GiB; the size is 'a lot'; *"]
    )
