"""Who judges in a session of pytest: the fixture `jsonmatch_judge`, what the ini says, what judges did."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.recording import current_session
from pytest_jsonmatch.semantic.bench import Bench, Memory
from pytest_jsonmatch.semantic.judging import JudgeUsage

if TYPE_CHECKING:
    import pytest

    from pytest_jsonmatch.recording import Session
    from pytest_jsonmatch.triage import Triage

__all__ = ["bench", "configured_judge", "note_triage", "total_usage", "usage_since"]


def bench(given: object = None) -> Bench:
    """Return who judges what is compared now.

    Args:
        given: what the comparison says itself; None: the running test's fixture `jsonmatch_judge` is asked
            for, once there is a question.
    """
    if isinstance(given, Bench):
        return given
    session = current_session()
    if session is None:
        return Bench(given)
    return Bench(
        given,
        default=lambda: _of_test(session),
        memory=_memory(session),
        mode=session.settings.judge_mode,
    )


def _memory(session: Session) -> Memory:
    if session.judged is None:
        session.judged = Memory()
        session.usage_since = lambda: usage_since(session)
    return cast("Memory", session.judged)


def _of_test(session: Session) -> object:
    """Return the value of the fixture in the running test; outside of tests what the ini says."""
    recorder = session.running
    # Private: pytest has no public way to get a fixture's value for a test that has not asked for it, but by
    # an autouse fixture, which every test would pay for.
    request: pytest.FixtureRequest | None = getattr(getattr(recorder, "item", None), "_request", None)
    if request is None:
        return configured_judge(session)
    return cast("object", request.getfixturevalue("jsonmatch_judge"))


def configured_judge(session: Session) -> object:
    """Return the judge of `jsonmatch_judge` in the configuration file; None if it names none.

    Raises:
        ConfigurationError: a setting is not what it can be.
    """
    settings = session.settings
    if not dict(settings.judge).keys() - {"mode"}:
        return None
    if session.judge is None:
        from pytest_jsonmatch.semantic.making import make_judge

        given: dict[str, Any] = {**dict(settings.judge), "mode": settings.judge_mode or "live"}
        if given.get("cache"):
            place, here = session.config.rootpath / given["cache"], Path.cwd()
            # As short as can be: messages name it.
            given["cache"] = place.relative_to(here) if place.is_relative_to(here) else place
        try:
            judge = make_judge(given)
        except ConfigurationError as error:
            raise ConfigurationError(f"jsonmatch_judge: {error}") from None
        session.judge = judge
        session.at_end(getattr(judge, "close", None))
    return session.judge


def note_triage(triage: Triage) -> None:
    """Count what triage has left out, or was kept from leaving out."""
    session = current_session()
    if session is not None:
        _memory(session).note(saved=triage.saved, set_aside=triage.set_aside)


def usage_since(session: Session) -> list[float] | None:
    """Return what judges did since the last call, as numbers that travel; None for nothing.

    Returns:
        The fields of a `JudgeUsage`, the number of questions that triage has left out, and the number of
        comparisons in which it was kept from that.
    """
    if session.judged is None:
        return None
    memory = _memory(session)
    now = [*astuple(memory.usage), memory.saved, memory.set_aside]
    before = session.told or [0] * len(now)
    session.told = now
    found = [one - other for one, other in zip(now, before)]
    return found if any(found) else None


def total_usage(parts: list[list[float]]) -> tuple[JudgeUsage, int, int]:
    """Return what all parts of `usage_since` come to.

    >>> usage, saved, set_aside = total_usage([[1, 2, 0, 0, 10, 5, 3, 0], [1, 1, 0, 0, 0, 0, 0, 1]])
    >>> usage.calls, usage.items, saved, set_aside
    (2, 3, 3, 1)
    """
    *used, saved, set_aside = (sum(column) for column in zip(*parts))
    return JudgeUsage(*map(int, used)), int(saved), int(set_aside)
