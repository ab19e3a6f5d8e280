from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

NAME = "jsonmatch_loopback"


@pytest.fixture(scope="session")
def acts():
    """The module `endpoint.py` beside this file: what an endpoint can be told to do."""
    if NAME not in sys.modules:
        place = Path(__file__).with_name("endpoint.py")
        spec = importlib.util.spec_from_file_location(NAME, place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = module
        spec.loader.exec_module(module)
    return sys.modules[NAME]


@pytest.fixture
def endpoint(acts, monkeypatch):
    """An endpoint on loopback; whatever proxy this machine has, it is not asked."""
    pytest.importorskip("openai")  # imported before any run of pytester, which would import it again
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with acts.Endpoint() as running:
        yield running
