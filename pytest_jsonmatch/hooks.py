"""The hooks that a conftest.py or another plugin may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.plan.registry import Registry
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.results.comparison import Comparison

# Historic: a conftest.py of a subdirectory is loaded in the middle of collection and is called then.


@pytest.hookspec(historic=True)
def pytest_jsonmatch_register(registry: Registry) -> None:
    """Register comparators, transforms, metrics, encoders and judges for this session.

    Called once for every conftest.py and plugin, before the first comparison that could use them. What
    is registered is known to the whole session, and gone when it ends. A metric that `jsonmatch_metric`
    names has to come from a plugin or from a conftest.py that pytest loads at its start.

    Args:
        registry: has `comparator(name, fn)`, `transform(name, fn)`, `metric(name, base=..., **options)`,
            `encoder(name, encoder)` and `judge(judge, name)`.

    Errors: a `ConfigurationError` of the registry (a built-in name, a name taken twice) ends the run.

    Example:
        def pytest_jsonmatch_register(registry):
            registry.comparator("same_length", lambda expected, actual, params: len(expected) == len(actual))
    """


@pytest.hookspec(firstresult=True)
def pytest_jsonmatch_actual(case: GoldenCase) -> object | None:
    """Return the answer to compare for a golden case that records none and has no producer.

    The first answer that is not None stands. The fixture `jsonmatch_actual` asks this hook last.

    Args:
        case: the golden case, with `id`, `input` and `expected`.

    Returns:
        The actual value, or model output as text; or an `Answer` with one of these and what it took. None
        leaves the case to others.

    Example:
        def pytest_jsonmatch_actual(case):
            return {"echo": case.input}
    """


@pytest.hookspec
def pytest_jsonmatch_compared(result: MatchResult, item: pytest.Item) -> None:
    """Observe a comparison that was made while a test runs, passed or not.

    Called in the process and thread that compared (with pytest-xdist: the worker), before the verdict.
    Nothing is called for comparisons outside a test.

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
    """Write more lines below the table of scores.

    Called once at the end, with pytest-xdist in the controller; not at all if nothing was compared or the
    summary is off (`--jsonmatch-summary=none`, `--no-summary`, `-qq`).

    Args:
        results: the comparisons that count (not of tests skipped or expected to fail), by node id.
        terminalreporter: pytest's; `write_line` is what one needs.

    Example:
        def pytest_jsonmatch_summary(results, terminalreporter):
            terminalreporter.write_line(f"mean score: {sum(r.score for r in results) / len(results):.3f}")
    """
