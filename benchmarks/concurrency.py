"""Time the tests of golden cases whose producers wait, with `--jsonmatch-concurrency`.

python benchmarks/concurrency.py [--cases N] [--milliseconds N] [--concurrency N] [--runs N]

Prints the seconds that pytest's loop of tests takes (the least of some runs), for a plain and an async
producer, and their ratio to cases / concurrency × milliseconds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

_APP = """
import asyncio
import time

def plain(number):
    time.sleep({seconds})
    return number

async def later(number):
    await asyncio.sleep({seconds})
    return number
"""
_CONFTEST = """
import time

import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtestloop():
    begun = time.perf_counter()
    result = yield
    with open("seconds.txt", "w") as file:
        file.write(str(time.perf_counter() - begun))
    return result
"""


def _seconds(folder: Path, concurrency: int) -> float:
    command = (sys.executable, "-m", "pytest", "-q", f"--jsonmatch-concurrency={concurrency}")
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return float((folder / "seconds.txt").read_text("utf-8"))


def main() -> None:
    """Measure, and print a line for each producer."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, default in (("cases", 200), ("milliseconds", 50), ("concurrency", 16), ("runs", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    ideal = asked.cases / asked.concurrency * asked.milliseconds / 1000
    for producer in ("plain", "later"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            lines = [f"- {{id: c{n}, input: {n}, expected: {n}}}" for n in range(asked.cases)]
            files = {
                "app.py": _APP.format(seconds=asked.milliseconds / 1000),
                "conftest.py": _CONFTEST,
                "pytest.ini": "[pytest]\npythonpath = .\n",
                "a.golden.yaml": "\n".join([f"producer: app:{producer}", "cases:", *lines]),
            }
            for file, text in files.items():
                folder.joinpath(file).write_text(text, "utf-8")
            taken = min(_seconds(folder, asked.concurrency) for _ in range(asked.runs))
        print(f"{producer:6} {taken:6.3f} s  {taken / ideal:.2f} × of {ideal:.3f} s")


if __name__ == "__main__":
    main()
