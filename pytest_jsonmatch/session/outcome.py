"""The outcome of a test: the one that pytest shows, and the one that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.comparing.running import FAILED_BEFORE

if TYPE_CHECKING:
    from collections.abc import Sequence

PASSED: Final = "passed"
FAILED: Final = "failed"
EXPECTED: Final = "expected"
"""An expected failure: only gates fail the run, so that a low score raised nothing, and pytest saw a pass."""
TOLERATED: Final = "tolerated"
"""The failed run of a case with `min_pass_rate`, which is judged as a whole."""


def decide_outcome(
    phase: str | None,
    outcome: str,
    raised: str,
    *,
    is_below: bool = False,
    is_xpass: bool = False,
    is_unanswered: bool = False,
    is_tolerant: bool = False,
    has_only_gates: bool = False,
) -> str:
    """Return the outcome of a phase of a test: that of pytest, or one of `PASSED`, `EXPECTED`, `TOLERATED`.

    Args:
        phase: "setup", "call" or "teardown".
        outcome: pytest's own: "passed", "failed" or "skipped".
        raised: "score" for an error that a low score may have raised, "other" for any other, "" for none.
        is_below: whether a score was below its threshold.
        is_xpass: whether pytest expected a failure and saw none.
        is_unanswered: whether the case has no answer, and the phase raised the reason.
        is_tolerant: whether the test is a run of a case with `min_pass_rate`.
        has_only_gates: whether only gates fail the run.
    """
    if has_only_gates and is_unanswered:
        return PASSED
    if phase != "call" or not is_below:
        return outcome
    if has_only_gates and is_xpass and not raised:
        return EXPECTED
    return TOLERATED if is_tolerant and outcome == FAILED and raised == "score" else outcome


def decide_run(
    compared: Sequence[bool],
    *,
    failed: bool = False,
    is_tolerated: bool = False,
    is_broken: bool = False,
    error: str = "",
    is_unanswered: bool = False,
    is_run: bool = False,
    has_only_gates: bool = False,
) -> tuple[bool, str] | None:
    """Return whether a run of a case passed, and its error; None for a test that does not count.

    Args:
        compared: for each comparison, whether it passed.
        failed: whether the test failed.
        is_tolerated: whether its outcome is `TOLERATED`.
        is_broken: whether a comparison has no scores.
        error: the reason why there is no answer.
        is_unanswered: whether there is no answer.
        is_run: whether it is a run of a repeated case.
        has_only_gates: whether only gates fail the run; then tests with low scores pass.
    """
    if not (compared or failed or is_unanswered or is_run):
        return None
    error = error or ("" if compared and not is_broken else FAILED_BEFORE)
    passed = not (failed or is_tolerated)
    if has_only_gates:
        passed = passed and not error and all(compared)
    return passed, error
