"""Golden cases in a pytest run: the rules they run by, and the file with their recorded answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from pytest_jsonmatch.comparing.running import plain_nodeid
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.producers import produce_answer
from pytest_jsonmatch.results.answer import unwrap_answer
from pytest_jsonmatch.session.options import usage_errors
from pytest_jsonmatch.session.running_test import ProducerErrors

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.golden.collector import CaseRules
    from pytest_jsonmatch.golden.outputs import Outputs
    from pytest_jsonmatch.golden.update import CaseUpdater
    from pytest_jsonmatch.session.session import Session


_MAX_SOURCE: Final = 4000
"""The maximum number of characters of an input, and of an answer, in a report."""


def open_recorder(session: Session) -> None:
    """Open the file for new answers, if they are saved."""
    from pytest_jsonmatch.golden.outputs import AnswerRecorder, OutputWriter, WorkerWriter

    config, settings = session.config, session.settings
    path, adds = settings.replay or (settings.record, False)
    if path is None or (settings.replay and not adds):
        return
    writer: OutputWriter | WorkerWriter
    if hasattr(config, "workerinput"):
        writer = WorkerWriter(config)
    else:
        option = "--jsonmatch-replay" if adds else "--jsonmatch-record"
        with usage_errors(option):
            writer = session.writer = OutputWriter(config.invocation_params.dir / path, option, adds=adds)
    config.pluginmanager.register(writer, "jsonmatch-record")
    session.recorder = AnswerRecorder(writer.write, case_rules(session).outputs)


def case_rules(session: Session) -> CaseRules:
    """Return the rules of golden cases, made once; raise `pytest.UsageError` for an invalid answer file."""
    if session.case_rules is None:
        session.case_rules = _make_rules(session)
    return session.case_rules


def _make_rules(session: Session) -> CaseRules:
    from pytest_jsonmatch.golden.checking import check_case, make_comparer
    from pytest_jsonmatch.golden.collector import CaseRules

    settings = session.settings
    session.config.pluginmanager.register(ProducerErrors(lambda: session.test), "jsonmatch-producers")

    outputs: Outputs | None = None
    if settings.replay is not None:
        from pytest_jsonmatch.golden.outputs import Outputs, ReplayedIds

        path, adds = settings.replay
        with usage_errors("--jsonmatch-replay"):
            outputs = Outputs(session.config.invocation_params.dir / path, adds_missing=adds)
        session.config.pluginmanager.register(ReplayedIds(session.config, outputs), "jsonmatch-replay")
    keeps_answers = settings.record is not None or (outputs is not None and outputs.adds_missing)

    def keep(case: GoldenCase, actual: object, digest: Callable[[], str | None]) -> None:
        test = session.test
        if test is not None and settings.html is not None:
            with test.adding() as payload:
                payload.input, payload.answer = source_texts(case, unwrap_answer(actual))
        if test is not None and session.recorder is not None:
            session.recorder.keep(test.nodeid, case, actual, digest)

    return CaseRules(
        check_case,
        make_comparer,
        session.case_files.folders,
        settings.repeat,
        _updater(session) if settings.writes_cases else None,
        keep if keeps_answers or settings.html is not None else None,
        outputs,
        session.has_only_gates,
        lambda: outputs is None and session.has_own_fixtures,
    )


def producing(session: Session, item: pytest.Function) -> Callable[[GoldenCase], object]:
    """Return the function that returns the producer's answer for the case of a test.

    The answer is one that was called ahead or that the file of saved answers has, or a new one.
    """
    from pytest_jsonmatch.golden.collector import GoldenFile

    saved = item.parent.find_produced(item) if isinstance(item.parent, GoldenFile) else MISSING
    if saved is not MISSING:
        return lambda _: saved
    concurrent = session.concurrent_producers
    return produce_answer if concurrent is None else partial(concurrent.produce, item)


def broken_first(session: Session, items: list[pytest.Item]) -> list[pytest.Item]:
    """Return tests in order, invalid golden cases first: they fail before any answer is produced."""
    from pytest_jsonmatch.golden.collector import GoldenFile

    if (outputs := case_rules(session).outputs) is not None:
        outputs.match_ids({plain_nodeid(item): None for item in items if isinstance(item.parent, GoldenFile)})

    def is_valid(item: pytest.Item) -> bool:
        if not (isinstance(item, pytest.Function) and isinstance(item.parent, GoldenFile)):
            return True
        session.begin_test(item)  # so that its marks apply
        try:
            return item.parent.is_valid(item)
        finally:
            session.end_test()

    return sorted(items, key=is_valid)


def source_texts(case: GoldenCase, actual: object) -> tuple[str, str]:
    """Return the input of a case, and its answer if it is text, both of limited length."""
    try:
        input_text = case.input if case.has_input else ""
    except JsonMatchError:  # a missing file that was not needed so far
        input_text = ""
    if isinstance(input_text, bytes):
        input_text = f"({len(input_text):,} bytes)"
    elif not isinstance(input_text, str):
        input_text = render(input_text, _MAX_SOURCE)
    answer = actual.decode("utf-8", "replace") if isinstance(actual, bytes) else actual
    return input_text[:_MAX_SOURCE], answer[:_MAX_SOURCE] if isinstance(answer, str) else ""


def _updater(session: Session) -> CaseUpdater:
    """Return the object that decides which golden cases to update."""
    from pytest_jsonmatch.golden.checking import make_comparer
    from pytest_jsonmatch.golden.update import CaseUpdater
    from pytest_jsonmatch.session.updating import make_updater

    def answer(case: GoldenCase, actual: object) -> JsonValue:
        return make_comparer(case).read_without_expected(actual, refuse_broken=not case.has_expected)

    return CaseUpdater(make_updater(session), answer)
