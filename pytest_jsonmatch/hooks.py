"""Hooks that a conftest.py or another plugin may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.plan.registry import Registry
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.results.comparison import Comparison

# Historic: a conftest.py in a subdirectory is loaded during collection, and its hook is called then.


@pytest.hookspec(historic=True)
def pytest_jsonmatch_register(registry: Registry) -> None:
    """Register comparators, transforms, metrics, encoders and judges for this session.

    Called once for every conftest.py and plugin, before the first comparison that could use them.
    Registrations apply to the whole session and end with it. The metric named by `jsonmatch_metric` must
    be registered by a plugin or by a conftest.py that pytest loads at its start.

    Args:
        registry: has `comparator(name, fn)`, `transform(name, fn)`, `metric(name, base=..., **options)`,
            `encoder(name, encoder)` and `judge(judge, name)`.

    Errors: a `ConfigurationError` of the registry (a built-in name, a name used twice) ends the run.

    Example:
        def pytest_jsonmatch_register(registry):
            registry.comparator("same_length", lambda expected, actual, params: len(expected) == len(actual))
    """


@pytest.hookspec(firstresult=True)
def pytest_jsonmatch_actual(case: GoldenCase) -> object | None:
    """Return the answer for a golden case that has no recorded answer and no producer.

    The first answer that is not None is used. The fixture `jsonmatch_actual` calls this hook last.

    Args:
        case: the golden case, with `id`, `input` and `expected`.

    Returns:
        The actual value, or model output as text; or an `Answer`, which adds model, time, tokens and cost.
        None passes the case on to other implementations.

    Example:
        def pytest_jsonmatch_actual(case):
            return {"echo": case.input}
    """


@pytest.hookspec
def pytest_jsonmatch_compared(result: MatchResult, item: pytest.Item) -> None:
    """Observe a comparison made while a test runs, whether it passes or not.

    Called in the process and thread of the comparison (with pytest-xdist: in the worker), before its verdict.
    Not called for comparisons outside a test.

    Args:
        result: the comparison's result.
        item: the running test.

    Example:
        def pytest_jsonmatch_compared(result, item):
            item.user_properties.append(("recall", result.recall))
    """


@pytest.hookspec
def pytest_jsonmatch_summary(
    results: Sequence[Comparison], terminalreporter: pytest.TerminalReporter
) -> None:
    """Print more lines below the table of scores.

    Called once at the end (with pytest-xdist in the controller); not called if nothing was compared or the
    summary is off (`--jsonmatch-summary=none`, `--no-summary`, `-qq`).

    Args:
        results: the comparisons that count, sorted by node id; skipped and xfailed tests are left out.
        terminalreporter: pytest's terminal reporter; use its `write_line`.

    Example:
        def pytest_jsonmatch_summary(results, terminalreporter):
            terminalreporter.write_line(f"mean score: {sum(r.score for r in results) / len(results):.3f}")
    """
