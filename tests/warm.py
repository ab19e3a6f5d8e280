"""Imported in the process from which others are forked: one run of pytest imports all that runs need."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.lookups import keep_lookups

MODULE = """
import importlib
import sys

def test_it(assert_json_match):
    assert_json_match([{"a": "x", "b": 1}], [{"a": "x", "b": 2}], threshold=0, arrays="unordered")

def test_that_workers_can_start():
    if "xdist" in sys.modules:
        for name in ("dsession", "remote", "scheduler", "workermanage"):
            importlib.import_module(f"xdist.{name}")
"""
CASES = "cases: [{id: a, actual: {a: 1}, expected: {a: 1}}]\n"


def warm_up() -> None:
    """Run a small suite in a folder of its own, and leave nothing behind but modules."""
    before, folder, paths = dict(os.environ), Path.cwd(), list(sys.path)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        os.chdir(name)
        Path("test_warm.py").write_text(MODULE, encoding="utf-8")
        Path("warm.golden.yaml").write_text(CASES, encoding="utf-8")
        files = ("--jsonmatch-json=r.json", "--jsonmatch-record=a.jsonl")
        # (As a plugin, so that its assertions are rewritten, as they are in each run with workers.)
        workers = ("-p", "xdist") if find_spec("xdist") else ()
        pytest.main(["-p", "jsonmatch", *workers, "-p", "no:cacheprovider", "--rootdir=.", *files])
        Path("warm.json").write_text("[1]", encoding="utf-8")
        # (Imported after pytest has begun to rewrite assertions in the package.)
        import_module("pytest_jsonmatch.cli.main").main(["compare", "warm.json", "warm.json"])
        os.chdir(folder)
    for module in ("test_warm", "conftest"):
        sys.modules.pop(module, None)
    os.environ.clear()
    os.environ.update(before)
    sys.path[:] = paths
    gc.freeze()


warm_up()
keep_lookups()
