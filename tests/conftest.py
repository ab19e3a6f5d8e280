"""What the tests of all rooms share."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable
from importlib import import_module

import pytest

import pytest_jsonmatch

# A run of pytester in this process forgets every module that was imported in it: the next run would get some of our
# modules twice, and C extensions, which cannot be imported twice, would know only the first. So all that a run may
# import is imported here, before the first.
for name in ("numpy", "scipy.optimize", "rapidfuzz.process", "regex", "yaml", "jinja2"):
    import_module(name)
for module in pkgutil.walk_packages(pytest_jsonmatch.__path__, "pytest_jsonmatch."):
    import_module(module.name)


@pytest.fixture(params=[(), ("-n", "2")], ids=["plain", "xdist"])
def workers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Arguments for a run of pytest inside a test: every option has to work in one process and in several."""
    arguments: tuple[str, ...] = request.param
    return arguments


@pytest.fixture(autouse=True)
def without_others(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep plugins out of runs inside a test, unless they ask for one by `-p rerunfailures` or the like.

    (With xdist workers beside pytest-rerunfailures, let such a run have a process of its own.)

    Hypothesis's plugin is a quarter of what it costs to start two xdist workers. pytest-rerunfailures never ends
    the threads of its server, and those that have served an xdist worker poll for ever: after some dozens of runs
    in this process there is little time left for anything else. pytest-randomly would shuffle what tests expect
    in order; pytest-cov stays out as it does out here. anyio, which the client of a judge brings, has a plugin that
    is a third of what a run costs.
    """
    if "pytester" in request.fixturenames:
        request.getfixturevalue("pytester")  # which clears the variable
        without = ("rerunfailures", "randomly", "pytest_cov", "hypothesispytest", "anyio")
        monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in without))
        # What a run inside a test prints and writes must not depend on where the tests run.
        for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
            monkeypatch.delenv(name, raising=False)


@pytest.fixture
def recorded(pytester: pytest.Pytester) -> Callable[[], list[tuple[str, float]]]:
    """Let runs of `pytester` write down what they record; the function returns it as (id, score) pairs."""
    pytester.makeconftest(
        """
        import json

        def pytest_jsonmatch_summary(results, terminalreporter):
            with open("recorded.json", "w") as file:
                json.dump([[each.id, each.score] for each in results], file)
        """
    )

    def read() -> list[tuple[str, float]]:
        path = pytester.path / "recorded.json"
        if not path.exists():
            return []
        return [(identity, score) for identity, score in json.loads(path.read_text(encoding="utf-8"))]

    return read
