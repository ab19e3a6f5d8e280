"""The console script as the shell runs it: help, version, exit codes, pipes."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import pytest_jsonmatch
from tests.conftest import main

# What the installed script does, in the interpreter of this test: `bin` may not be on the path.
SCRIPT = "import runpy; runpy.run_module('pytest_jsonmatch', run_name='__main__')"
HEAVY = ("numpy", "scipy", "rapidfuzz", "regex", "yaml", "pytest", "jsonschema_rs")
# Standard output of a reader that has had enough. Whether a pipe is full or closed first is a matter of time,
# so it is closed before anything is written.
CLOSED = f"""if True:
    import os
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 1)
    {SCRIPT}
"""


def run(*arguments, cwd=None, code=SCRIPT):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        check=False,
    )


def test_the_script_is_installed():
    (script,) = entry_points(group="console_scripts", name="jsonmatch")
    assert script.load() is main


def test_the_package_runs_as_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "pytest_jsonmatch", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"jsonmatch {pytest_jsonmatch.__version__}\n")


def test_help(command):
    checked = []

    def check(name):
        ran = command(f"{name} --help")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(f"usage: {' '.join(['jsonmatch', *name.split()])} ")
        inner = re.findall(r"^    (\w+) ", ran.out, re.MULTILINE) if "\n  COMMAND\n" in ran.out else []
        assert ("\nexamples:\n  jsonmatch " in ran.out) is (name == "" or not inner)
        assert ("\nexit codes:\n  0    success\n" in ran.out) is (name == "")
        checked.append(name)
        for each in inner:
            check(f"{name} {each}".strip())

    check("")
    assert {"compare", "study", "study shift", "schema infer", "cases schema"} <= set(checked)


def test_help_names_the_commands_in_the_order_of_a_newcomer(command):
    shown = command("--help").out
    names = ("init", "compare", "evaluate", "report", "diff", "plan", "study", "schema", "cases")
    places = [shown.index(f"\n    {name} ") for name in names]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "jsonmatch: the following arguments are required: COMMAND (see jsonmatch --help)"),
        ("study", "jsonmatch study: the following arguments are required: COMMAND (see jsonmatch study"),
        ("--versoin", "jsonmatch: the following arguments are required: COMMAND (see jsonmatch --help)"),
        (
            "cases schema --for x",
            "jsonmatch cases schema: unrecognized arguments: --for x (see jsonmatch cases schema --help)",
        ),
        (
            "cases schema --out x",
            "jsonmatch cases schema: unrecognized argument: --out; did you mean --output?",
        ),
        (
            "diff a b --gate=1 --for=1",
            "jsonmatch diff: unrecognized arguments: --gate=1 --for=1 (see jsonmatch diff --help)",
        ),
        (
            "evaluate a b --metrik=x",
            "jsonmatch evaluate: unrecognized argument: --metrik; did you mean --metric?",
        ),
        (
            "evaluate a/1.json a/2.json b/1.json b/2.json --id no",
            "jsonmatch evaluate: unrecognized argument: b/1.json; if the shell expanded a glob, quote it: 'answers/",
        ),
        ("evalute a b", "jsonmatch: argument COMMAND: invalid choice: 'evalute'; did you mean 'evaluate'?"),
        ("study shfit", "jsonmatch study: argument COMMAND: invalid choice: 'shfit'; did you mean 'shift'?"),
        ("cases schema -o -", "jsonmatch cases schema: argument -o/--output: -: standard output is for"),
        ("schema resolve no.json", "jsonmatch schema resolve: schema file 'no.json' does not exist"),
        # What an argument holds never reaches the terminal raw.
        (
            "report a.json --\x1b[31m\u202e",
            "jsonmatch report: unrecognized arguments: --\\x1b[31m\\u202e (see",
        ),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(refused, folder, line, message):
    assert refused(line).replace(f"{folder}/", "").startswith(message)


@pytest.mark.parametrize("name", ["caes", "agreement", "judge", "completion"])
def test_an_unknown_command(refused, name):
    # The list of choices is worded differently by different Pythons.
    assert f"invalid choice: '{name}'" in refused(name)


def imported_by(tmp_path, arguments):
    """Return the modules that a command imports."""
    code = f"""if True:
        import runpy, sys
        sys.argv[1:] = {arguments}
        try:
            runpy.run_module("pytest_jsonmatch", run_name="__main__")
        except SystemExit:
            pass
        sys.stderr.write(" ".join(sys.modules))
    """
    return set(run(code=code, cwd=tmp_path).stderr.split())


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("report r.json --markdown r.md", {"jsonschema_rs"}),  # result files are held against their schema
        ("cases schema", set()),
        ("compare a.json a.json --report json", set()),
        ("evaluate a.jsonl a.jsonl --gate f1>=0.5", set()),
        ("schema infer a.jsonl --annotate", set()),
    ],
)
def test_what_is_not_needed_is_not_imported(folder, command, write, line, allowed):
    write(a_json={"a": 1, "b": "x", "c": [1, 2]}, a_jsonl=[{"a": 1, "b": "x", "c": [1, 2]}])
    command("evaluate a.jsonl a.jsonl --json r.json")
    modules = imported_by(folder, line.split())
    assert "pytest_jsonmatch.cli.output" in modules
    assert modules.isdisjoint(set(HEAVY) - allowed)


@pytest.mark.parametrize(
    ("name", "sides"),
    [
        ("study audit", "a.jsonl b.jsonl d.jsonl"),
        ("study agreement", "a.jsonl b.jsonl"),
        ("study confidence", "c.jsonl a.jsonl"),
        ("study shift", "a.jsonl b.jsonl"),
        ("evaluate", "a.jsonl b.jsonl"),
    ],
)
def test_the_gate_that_a_help_text_suggests_is_accepted(command, write, name, sides):
    rows = [{"n": number} for number in range(20)]
    write(a_jsonl=rows, b_jsonl=rows, d_jsonl=rows, c_jsonl=[{"n": {"value": 1, "confidence": 0.5}}] * 20)
    message = " ".join(command(f"{name} --help").out.split())
    (gate,) = re.findall(r"unless this gate passes, such as '([^']+)'", message)
    ran = command(f"{name} {sides}", "--gate", gate)
    assert (ran.code in {0, 1}, f"\n{gate} " in ran.out, ran.err) == (True, True, "")


@pytest.mark.parametrize(
    "line",
    [
        "plan a.jsonl TWICE",
        "plan b.jsonl a.jsonl c.jsonl TWICE",
        "report a.jsonl b.jsonl TWICE",
        "diff b.jsonl a.jsonl TWICE",
        "study agreement a.jsonl TWICE",
        "study audit a.jsonl TWICE b.jsonl",
        "study audit a.jsonl b.jsonl TWICE",
        "study overlap a.jsonl TWICE --with b.jsonl",
        "study overlap a.jsonl --with b.jsonl TWICE",
        "study overlap b.jsonl --with a.jsonl TWICE",
    ],
)
@pytest.mark.parametrize(
    "twice", ["a.jsonl", "./a.jsonl", "sub/../a.jsonl", "FOLDER/a.jsonl", "link", "hard"]
)
def test_a_file_that_is_given_twice_is_refused(command, write, folder, line, twice):
    write(gold_jsonl=[{"n": 1}])
    for name in "abc":
        assert command(f"evaluate gold.jsonl gold.jsonl --keep all --json {name}.jsonl").code == 0
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("a.jsonl")
    (folder / "hard").hardlink_to(folder / "a.jsonl")
    path = twice.replace("FOLDER", str(folder))
    ran = command(line.replace("TWICE", path))
    is_same = twice in {"a.jsonl", "./a.jsonl"} and not ("study" in line and twice == "./a.jsonl")
    fault = "a.jsonl is given twice" if is_same else f"a.jsonl and {path} are the same file"
    name = line.partition(" a.jsonl")[0].partition(" b.jsonl")[0]
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"jsonmatch {name}: {fault}; name each file once\n"


def test_the_two_sides_of_a_comparison_may_be_one_file(command, write):
    rows = [{"gold": {"n": n}, "answer": {"n": n}} for n in range(3)]
    write(a_jsonl=rows, a_json=[1])
    assert command("compare a.json a.json").code == 0
    assert command("evaluate a.jsonl a.jsonl --expected gold --actual answer --json run.jsonl").code == 0
    assert command("diff run.jsonl run.jsonl").code == 0


@pytest.mark.parametrize("line", ["--help", "evaluate --help", "schema infer --help"])
def test_help_imports_arguments_and_nothing_that_runs(tmp_path, line):
    modules = imported_by(tmp_path, line.split())
    assert {name for name in modules if name.startswith("pytest_jsonmatch.")} == {
        "pytest_jsonmatch.support",
        "pytest_jsonmatch.support.lazy",
        "pytest_jsonmatch.support.version",
        "pytest_jsonmatch.support.atomic",
        "pytest_jsonmatch.cli",
        "pytest_jsonmatch.cli.arguments",
        "pytest_jsonmatch.cli.commands",
        "pytest_jsonmatch.cli.main",
        "pytest_jsonmatch.support.defaults",
        "pytest_jsonmatch.engine",
        "pytest_jsonmatch.engine.value",
        "pytest_jsonmatch.engine.value.errors",
    }
    assert modules.isdisjoint(HEAVY)


@pytest.mark.skipif(sys.platform == "win32", reason="a name of POSIX")
def test_the_device_of_standard_output_may_be_a_pipe():
    done = run("cases", "schema", "--output", "/dev/stdout")
    assert (done.returncode, done.stderr, done.stdout[:2]) == (0, "", "{\n")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("cases schema", 0),
        ("compare a.json b.json --threshold 0.9", 1),
        ("evaluate b.jsonl a.jsonl --gate f1>=0.9", 1),
    ],
)
def test_a_reader_that_has_had_enough_changes_no_exit_code(write, folder, line, code):
    write(a_json={"a": 1}, b_json={"a": 2}, a_jsonl=[{"a": 1}], b_jsonl=[{"a": 2}])
    done = run(*line.split(), code=CLOSED, cwd=folder)
    assert (done.returncode, done.stderr) == (code, "")


def test_a_full_disk_is_reported(refused, monkeypatch):
    class Full:
        encoding = "utf-8"
        buffer = property(lambda self: self)

        def flush(self):
            pass

        def write(self, data):
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Full())
        message = refused("cases schema")
    assert message == "jsonmatch cases schema: no space left on device"


def test_an_interrupt_is_no_traceback(command, monkeypatch):
    from pytest_jsonmatch.cli import case_schema

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(case_schema, "write_output", interrupted)
    assert command("cases schema") == (130, "", "")
