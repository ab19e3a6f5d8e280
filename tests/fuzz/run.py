"""Check all laws of the tests with one seed after another, for as long as you like.

From the repository's root:

    python tests/fuzz/run.py --minutes 60 --seed 1000 --json-test-suite ../JSONTestSuite

A law that breaks is shown with the smallest input that was found, and left out from then on; `--law NAME --seed SEED
--minutes 0` shows it again. The exit status is then 1. `--json-test-suite` names a clone of JSONTestSuite, whose files are read
first. pytest checks the same laws with seed 0.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # so that this checkout is what is tried
    os.environ.setdefault("FULL", "1")  # all inputs of each law

from tests.fuzz.suite import check_suite  # noqa: E402
from tests.laws import LAWS, Law  # noqa: E402


def load() -> None:
    """Import every test file that has laws, which enters them."""
    for path in sorted(ROOT.glob("tests/*/test_*.py")):
        if "\n@law(" in path.read_text(encoding="utf-8"):
            with suppress(pytest.skip.Exception):  # what it is about is not installed
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def named(names: Iterable[str]) -> list[Law]:
    """Return the laws of these names, all of `NAME[...]` for a `NAME`; every law for no name."""
    wanted = {*names}
    return [law for name, law in LAWS.items() if not wanted or wanted & {name, name.partition("[")[0]}]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="check laws with one seed after another")
    parser.add_argument(
        "--minutes", type=float, default=10, help="how long; each law is checked once at least"
    )
    parser.add_argument("--seed", type=int, default=1, help="the first seed; the others follow it")
    parser.add_argument("--law", action="append", default=[], help="check only this law; may be repeated")
    parser.add_argument("--json-test-suite", type=Path, metavar="DIR", help="a clone of JSONTestSuite")
    chosen = parser.parse_args(arguments)
    wrong = []
    if chosen.json_test_suite is not None:
        counts, wrong = check_suite(chosen.json_test_suite)
        show(f"JSONTestSuite: {counts.total()} files, {len(wrong)} read wrongly", *wrong)
        wrong += [] if counts else ["no file"]
    laws = named(chosen.law)
    if not laws:
        known = dict.fromkeys(name.partition("[")[0] for name in LAWS)
        parser.error(f"no law has this name; there are {', '.join(known)}")
    broken = check_laws(laws, chosen.seed, 60 * chosen.minutes)
    width = max(len(law.name) for law in laws)
    show(*(f"{law.name:{width}}  {law.tried:>9,}{'  BROKEN' if law.name in broken else ''}" for law in laws))
    return 1 if wrong or broken else 0


def check_laws(laws: list[Law], first: int, seconds: float) -> set[str]:
    """Check laws for some time, one seed after another; show which broke, and return their names."""
    broken: set[str] = set()
    end = time.monotonic() + seconds
    with suppress(KeyboardInterrupt):  # which ends it early
        for number in count(first):
            for law in laws:
                if law.name not in broken:
                    try:
                        law.check_with(number)
                    except Exception:  # noqa: BLE001 - an error of ours, or the law's own
                        broken.add(law.name)
                        show(f"{law.name}, seed {number}:", traceback.format_exc())
            if time.monotonic() > end:
                break
    inputs = sum(law.tried for law in laws)
    show(f"seeds {first} to {number}: {len(laws)} laws, {inputs:,} inputs, {len(broken)} broken")
    return broken


def show(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    load()
    sys.exit(main())
