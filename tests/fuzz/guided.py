"""Try laws on inputs that Atheris derives from those that reached new code of the package.

From the repository's root, after `pip install atheris`:

    python tests/fuzz/guided.py --minutes 10

Every law has a process of its own, two at a time, and an equal share of the time; one for each comparator, say, has a
process together with the others. A law that breaks is shown with the bytes of its input; `--law NAME --input HEX` tries
them again. The exit status is then 1. `--corpus DIR` keeps the inputs that reached new code, for the next time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.laws import Law

PROCESSES = multiprocessing.get_context("spawn")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main() -> int:
    from tests.fuzz import run  # (Not above: processes that fuzz import it under instrumentation.)

    run.load()

    parser = argparse.ArgumentParser(description="try laws on inputs that reach new code")
    parser.add_argument("--minutes", type=float, default=10, help="how long, for all laws together")
    parser.add_argument("--law", action="append", default=[], help="only this law; may be repeated")
    parser.add_argument("--input", help="bytes in hexadecimal, to try one law on instead")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="a folder with a folder for each law")
    chosen = parser.parse_args()
    names = list(dict.fromkeys(law.name.partition("[")[0] for law in run.named(chosen.law)))
    if not names:
        parser.error("no law has this name")
    if chosen.input is not None:
        for name in names:
            data = bytes.fromhex(chosen.input)
            chosen_by(data, run.named([name])).try_bytes(data)
        return 0
    seconds = max(5, round(2 * 60 * chosen.minutes / len(names)))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda name: fuzz_law(name, seconds, chosen.corpus), names))
    width = max(map(len, names))
    for name, (count, reached, broken) in zip(names, found, strict=True):
        run.show(f"{name:{width}}  {count:>9,}  {reached}{'  BROKEN' if broken else ''}")
    broken = [name for name, (_, _, broken) in zip(names, found, strict=True) if broken]
    run.show(f"{len(names)} laws, {sum(count for count, _, _ in found):,} inputs, {len(broken)} broken")
    return 1 if broken else 0


def chosen_by(data: bytes, laws: list[Law]) -> Law:
    """The law that an input is for, of one name: a law for each comparator, say."""
    return laws[(data[-1] if data else 0) % len(laws)]


def fuzz_law(name: str, seconds: int, corpus: Path | None) -> tuple[int, str, bool]:
    """Fuzz one law in a process; return the number of inputs, the edges that they reached, and whether it broke."""
    with tempfile.TemporaryDirectory() as scratch:
        log, count = Path(scratch, "log"), PROCESSES.Value("q", 0)
        folders = [corpus / name] if corpus is not None else []
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        process = PROCESSES.Process(target=fuzz, args=(name, seconds, folders, log, count))
        process.start()
        process.join()
        text = log.read_text(encoding="utf-8", errors="replace")
        if process.exitcode:
            inputs = [f"--input {file.read_bytes().hex()}" for file in Path(scratch).glob("*-*")]
            sys.stdout.write(f"{text}\n{name}, exit status {process.exitcode} {' '.join(inputs)}\n")
        reached = [line.split("cov: ")[1].split()[0] for line in text.splitlines() if "cov: " in line]
        return count.value, f"{reached[-1]} edges" if reached else "", bool(process.exitcode)


def fuzz(name: str, seconds: int, folders: list[Path], log: Path, count: Synchronized[int]) -> None:
    """Let Atheris try a law; it ends the process."""
    import atheris

    with log.open("wb") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())
    with atheris.instrument_imports(include=["pytest_jsonmatch"]):
        from tests.fuzz import run

        run.load()
    laws = run.named([name])
    properties = {law.name: law.make_property().hypothesis.fuzz_one_input for law in laws}

    def try_once(data: bytes) -> None:
        law = chosen_by(data, laws)
        with law.within():
            properties[law.name](data)
        count.value = sum(law.tried for law in laws)

    options = [
        f"-max_total_time={seconds}",
        "-max_len=4096",
        "-timeout=60",
        f"-artifact_prefix={log.parent}/",
    ]
    atheris.Setup([sys.argv[0], *options, *map(str, folders)], try_once)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
