"""A run that compares nothing, or little, imports little."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import textwrap
from collections import Counter

HEAVY = ["numpy", "scipy", "rapidfuzz", "yaml", "regex", "json_repair"]
OURS = [
    "pytest_jsonmatch.engine",
    "pytest_jsonmatch.report",
    "pytest_jsonmatch.reading",
    "pytest_jsonmatch.comparing.assertions",
    "pytest_jsonmatch.golden.files",
    "pytest_jsonmatch.results",
    "pytest_jsonmatch.session.finished",
    "pytest_jsonmatch.session.payload",
    "pytest_jsonmatch.session.running_test",
]
WORDS = ["tea", "milk", "bread", "salt", "rice", "oil", "plum", "corn", "fig", "lime", "kale", "oats"]
PLAIN = "def test_plain(): pass"
FIELD_MATCH = """
    def test_field_match(assert_json_match):
        assert_json_match('Here: {"name": "Ann", "tags": [1, 2]}', {"name": "Ann", "tags": [1, 2]})
"""


def imported(pytester, *names):
    """Which of the modules a run of pytest has imported when it ends."""
    pytester.makeconftest(f"""
        import sys

        def pytest_unconfigure(config):
            with open("imported.txt", "w") as file:
                file.write(" ".join(name for name in {list(names)!r} if name in sys.modules))
        """)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    subprocess.run(command, check=True, cwd=pytester.path, stdout=subprocess.DEVNULL)
    return pytester.path.joinpath("imported.txt").read_text(encoding="utf-8").split()


def test_a_run_without_comparisons_imports_none_of_our_rooms(pytester):
    pytester.makepyfile(PLAIN)
    pytester.makefile(".toml", config="a = 1")
    assert imported(pytester, *HEAVY, *OURS) == []


def test_files_of_other_tools_import_only_what_tells_them_from_golden_files(pytester):
    pytester.makepyfile(PLAIN)
    pytester.makefile(".yaml", config="a: 1")
    assert imported(pytester, *HEAVY, *OURS) == ["pytest_jsonmatch.golden.files"]


SLOW_CLASSES = """
    import dataclasses
    import sys

    def list_slow_classes():
        \"\"\"Our dataclasses and named tuples in the modules that are imported now.\"\"\"
        for name, module in sorted(sys.modules.items()):
            for each in vars(module).values() if name.startswith("pytest_jsonmatch") else ():
                if isinstance(each, type) and each.__module__ == name:
                    if dataclasses.is_dataclass(each):
                        yield f"dataclass:{each.__name__}"
                    elif hasattr(each, "_fields"):
                        yield f"tuple:{each.__name__}"
"""


def test_a_run_without_comparisons_creates_no_slow_class(pytester):
    pytester.makepyfile(PLAIN)
    pytester.makeconftest(f"""{SLOW_CLASSES}
    def pytest_unconfigure():
        print("slow:", *list_slow_classes())
    """)
    pytester.run(sys.executable, "-m", "pytest").stdout.fnmatch_lines("slow:")


def test_a_first_comparison_creates_few_slow_classes():
    """No dataclass, and named tuples only where values are unpacked or hashed all the time."""
    code = f"""{SLOW_CLASSES}
    from pytest_jsonmatch import assert_json_match

    assert_json_match({{"name": "Ann", "tags": [1, 2]}}, {{"name": "Ann", "tags": [1, 2]}})
    print(*list_slow_classes())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    kinds = Counter(name.partition(":")[0] for name in found)
    assert kinds["dataclass"] == 0, found
    assert 0 < kinds["tuple"] <= 29, found


def test_a_run_with_a_first_comparison_creates_few_slow_classes(pytester):
    pytester.makepyfile(FIELD_MATCH)
    pytester.makeconftest(f"""{SLOW_CLASSES}
    def pytest_unconfigure():
        print("slow:", *list_slow_classes())
    """)
    outcome = pytester.run(sys.executable, "-m", "pytest")
    found = next(line for line in outcome.outlines if line.startswith("slow:")).split()[1:]
    kinds = Counter(name.partition(":")[0] for name in found)
    assert 0 < kinds["dataclass"] <= 3, found
    assert 0 < kinds["tuple"] <= 60, found


def test_field_match_needs_no_heavy_import(pytester):
    pytester.makepyfile(FIELD_MATCH)
    assert imported(pytester, *HEAVY, "pytest_jsonmatch.engine") == ["pytest_jsonmatch.engine"]


def record(rng, number):
    name, note = (" ".join(rng.choices(WORDS, k=k)) for k in (2, 4))
    return {"id": f"n{number}", "name": name, "note": note, "n": rng.randint(1, 99), "ok": number % 2 == 0}


def misread(rng, records):
    """Return the records with two mistakes each, in another order."""
    changed = [
        {**each, "name": f"{each['name']} x", rng.choice(["n", "note", "id"]): rng.choice([None, "y"])}
        for each in records
    ]
    return rng.sample(changed, len(changed))


def ordinary_arrays():
    """Arrays as ordinary suites have them, in which hardly any element is right: (expected, actual)."""
    rng = random.Random(14)
    flat = [record(rng, number) for number in range(30)]
    tagged = [{**record(rng, number), "tags": rng.sample(WORDS, 3)} for number in range(8)]
    answers = [{**each, "tags": [*each["tags"][:0:-1], "new"]} for each in misread(rng, tagged)]
    return [(flat, misread(rng, flat)), (tagged, answers)]


def test_ordinary_unordered_arrays_need_neither_numpy_nor_scipy(pytester):
    cases = [
        {"id": f"c{at}", "expected": {"v": expected}, "actual": {"v": actual}}
        for at, (expected, actual) in enumerate(ordinary_arrays())
    ]
    for metric in ("pairwise_f1", "json_similarity", "leaf_f1"):
        suite = {"metric": metric, "threshold": 0.1, "options": {"arrays": "unordered"}, "cases": cases}
        pytester.path.joinpath(f"{metric}.golden.json").write_text(json.dumps(suite), encoding="utf-8")
    heavy = ["numpy", "scipy", "scipy.optimize", "pytest_jsonmatch.engine.align.large"]
    assert imported(pytester, *heavy, "pytest_jsonmatch.engine.align.small") == [
        "pytest_jsonmatch.engine.align.small"
    ]


def test_importing_the_package_imports_nothing_heavy():
    code = (
        f"import sys, pytest_jsonmatch; print([n for n in {[*HEAVY, *OURS, 'pytest']!r} if n in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output == "[]\n"


def test_pytest_imports_us_without_a_warning_and_rewrites_no_module(pytester, every_plugin, processes):
    """It would read its own compiled files of them, more slowly than Python reads those that pip writes."""
    pytester.makepyfile(FIELD_MATCH)
    pytester.makeconftest("""
        import sys

        from pytest_jsonmatch import compare_json, register_comparator

        def pytest_unconfigure(config):
            ours = {name: module for name, module in sys.modules.items() if name.startswith("pytest_jsonmatch.")}
            rewritten = [name for name, module in ours.items() if "pytest" in type(module.__loader__).__module__]
            with open("rewritten.txt", "a") as file:
                print(len(ours) > 50, *rewritten, file=file)
        """)
    # (Hypothesis takes half a second to import in each process.)
    without = ("-p", "no:hypothesispytest")
    arguments = ("-W", "error::pytest.PytestAssertRewriteWarning", *without, *processes)
    outcome = pytester.run(sys.executable, "-m", "pytest", *arguments)
    outcome.assert_outcomes(passed=1)
    assert "cannot be rewritten" not in outcome.stdout.str() + outcome.stderr.str()
    lines = pytester.path.joinpath("rewritten.txt").read_text(encoding="utf-8").splitlines()
    assert lines == ["True"] * (3 if processes else 1)
