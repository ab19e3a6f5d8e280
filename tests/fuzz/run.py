"""Check the laws of this folder with one seed after another, for as long as you like.

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
from contextlib import suppress
from itertools import count
from pathlib import Path

# The repository's root, so that this checkout is what is tried; and what laws take from other folders of tests.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
if __name__ == "__main__":
    os.environ.setdefault("FULL", "1")  # all inputs of each law
sys.path += [str(Path(__file__).resolve().parents[1] / name) for name in ("golden", "reference", "schema")]

import edits  # noqa: F401 - importing it enters its laws
import evalschemas  # noqa: F401
import goldens  # noqa: F401
import pairs  # noqa: F401
import resultfiles  # noqa: F401
import runs  # noqa: F401
import texts  # noqa: F401
from laws import LAWS, check_law, tried
from suite import check_suite


def main() -> int:
    parser = argparse.ArgumentParser(description="check laws with one seed after another")
    parser.add_argument(
        "--minutes", type=float, default=10, help="how long; each law is checked once at least"
    )
    parser.add_argument("--seed", type=int, default=1, help="the first seed; the others follow it")
    parser.add_argument("--law", action="append", choices=LAWS, help="check only this law; may be repeated")
    parser.add_argument("--json-test-suite", type=Path, metavar="DIR", help="a clone of JSONTestSuite")
    chosen = parser.parse_args()
    wrong = []
    if chosen.json_test_suite is not None:
        counts, wrong = check_suite(chosen.json_test_suite)
        show(f"JSONTestSuite: {counts.total()} files, {len(wrong)} read wrongly", *wrong)
        wrong += [] if counts else ["no file"]
    broken = check_laws(chosen.law or list(LAWS), chosen.seed, 60 * chosen.minutes)
    width = max(map(len, LAWS))
    show(*(f"{name:{width}}  {tried[name]:>9,}{'  BROKEN' if name in broken else ''}" for name in tried))
    return 1 if wrong or broken else 0


def check_laws(names: list[str], first: int, seconds: float) -> set[str]:
    """Check laws for some time, one seed after another; show which broke, and return them."""
    broken: set[str] = set()
    end = time.monotonic() + seconds
    with suppress(KeyboardInterrupt):  # which ends it early
        for seed in count(first):
            for name in names:
                if name not in broken:
                    try:
                        check_law(name, seed)
                    except Exception:  # noqa: BLE001 - an error of ours, or the law's own
                        broken.add(name)
                        show(f"{name}, seed {seed}:", traceback.format_exc())
            if time.monotonic() > end:
                break
    show(f"seeds {first} to {seed}: {len(names)} laws, {tried.total():,} inputs, {len(broken)} broken")
    return broken


def show(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
