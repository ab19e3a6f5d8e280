"""Suites as users have them give the same results in one process and with many plugins in two."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

SUITES = Path(__file__).resolve().parents[1] / "downstream"
PLUGINS = ("anyio", "pytest_asyncio", "pytest_cov", "pytest_randomly", "pytest_rerunfailures", "xdist")
NEEDED = {"orders": ("fastapi", "httpx"), "tracker": ("pydantic",)}
# (Hypothesis is not one of them, and takes a second to import in each process.)
ALWAYS = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--jsonmatch-json=results.jsonl")
TOGETHER = ("-n", "2", "--reruns", "1", "--randomly-seed", "7", "--cov", "--cov-report=json")


def run(pytester: pytest.Pytester, outcomes: dict[str, int], *arguments: str) -> list[dict[str, Any]]:
    """Run the suite; return the lines of its result file, without its time."""
    # (A forked process has imported the package, which the suite may not allow.)
    result = pytester.run(sys.executable, "-m", "pytest", *ALWAYS, *arguments)
    assert result.parseoutcomes() == outcomes
    assert result.ret == 0
    lines = [json.loads(line) for line in (pytester.path / "results.jsonl").read_text("utf-8").splitlines()]
    del lines[0]["created"]
    return lines


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("invoices", {"passed": 9, "xfailed": 2, "rerun": 1}),
        ("bookings", {"passed": 9}),
        ("orders", {"passed": 18}),
        ("tracker", {"passed": 14}),
    ],
    ids=["invoices", "bookings", "orders", "tracker"],
)
def test_plugins_change_no_result(
    name: str,
    outcomes: dict[str, int],
    every_plugin: None,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (*PLUGINS, *NEEDED.get(name, ())):
        pytest.importorskip(module)
    skip = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    shutil.copytree(SUITES / name, pytester.path, ignore=skip, dirs_exist_ok=True)
    plain = run(pytester, outcomes)
    monkeypatch.delenv("PYTEST_ADDOPTS")  # which leaves pytest-randomly out
    assert run(pytester, outcomes, *TOGETHER) == plain
    covered = json.loads((pytester.path / "coverage.json").read_text("utf-8"))
    assert covered["totals"]["percent_covered"] > 90
