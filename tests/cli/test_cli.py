"""The console script as the shell runs it: help, version, exit codes, pipes."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import pytest_jsonmatch
from pytest_jsonmatch.cli.commands import COMMANDS
from pytest_jsonmatch.cli.main import main

# What the installed script does, in the interpreter of this test: `bin` may not be on the path.
SCRIPT = "import sys; from pytest_jsonmatch.cli.main import main; sys.exit(main())"


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


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"jsonmatch {pytest_jsonmatch.__version__}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        *(tuple(name.split()) for name in (*COMMANDS, "cases", "schema", "study")),
    ],
)
def test_help_says_what_with_examples_and_exit_codes(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main([*arguments, "--help"])
    shown = capsys.readouterr().out
    assert left.value.code == 0
    assert shown.startswith(f"usage: {' '.join(['jsonmatch', *arguments])} ")
    assert "\nexit codes:\n  0  fine\n" in shown
    assert "\nexamples:\n  jsonmatch " in shown or arguments in {("cases",), ("schema",), ("study",)}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "jsonmatch: the following arguments are required: COMMAND (see jsonmatch --help)"),
        (
            ("cases",),
            "jsonmatch cases: the following arguments are required: COMMAND (see jsonmatch cases --help)",
        ),
        (("--versoin",), "jsonmatch: the following arguments are required: COMMAND (see jsonmatch --help)"),
        (
            ("cases", "schema", "--out", "x"),
            "jsonmatch: unrecognized arguments: --out x (see jsonmatch --help)",
        ),
        (
            ("cases", "schema", "--for", "a", "--expected", "b"),
            (
                "jsonmatch cases schema: argument --expected: not allowed with argument --for "
                "(see jsonmatch cases schema --help)"
            ),
        ),
        (
            ("cases", "schema", "--for", "no.yaml"),
            "jsonmatch cases schema: no.yaml: no such file or directory",
        ),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(arguments, line, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{line}\n")


def test_what_an_argument_holds_never_reaches_the_terminal_raw(tmp_path):
    done = run("report", "a.json", "--\x1b[31m\u202e", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "jsonmatch: unrecognized arguments: --\\x1b[31m\\u202e (see jsonmatch --help)\n",
    )


def test_an_unknown_command(tmp_path):
    done = run("caes", cwd=tmp_path)
    # The list of choices is worded differently by different Pythons.
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "invalid choice: 'caes'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "foreign"),
    [
        (["--help"], ["numpy", "scipy", "rapidfuzz", "regex", "yaml", "pytest", "jsonschema_rs"]),
        (["cases", "--help"], ["numpy", "scipy", "rapidfuzz", "regex", "yaml", "pytest", "jsonschema_rs"]),
        # (Result files are held against their schema.)
        (
            ["report", "r.json", "--markdown"],
            ["numpy", "scipy", "rapidfuzz", "regex", "yaml", "pytest"],
        ),
        (["cases", "schema"], ["numpy", "scipy", "rapidfuzz", "regex", "pytest", "jsonschema_rs"]),
        *(
            (
                [*command.split()],
                ["numpy", "scipy", "rapidfuzz", "regex", "yaml", "pytest", "jsonschema_rs"],
            )
            for command in (
                "compare a.json a.json",
                "compare a.json a.json --report json",
                "compare a.json a.json --report markdown",
                "report --schema",
                "evaluate a.jsonl a.jsonl --gate f1>=0.5",
                "diff --help",
                "schema infer a.jsonl --annotate",
            )
        ),
    ],
    ids=" ".join,
)
def test_what_is_not_needed_is_not_imported(arguments, foreign, tmp_path):
    for name in ("a.json", "a.jsonl"):
        (tmp_path / name).write_text('{"a": 1, "b": "x", "c": [1, 2]}\n')
    assert (
        main(["compare", *[str(tmp_path / "a.json")] * 2, *f"--report json -o {tmp_path}/r.json".split()])
        == 0
    )
    code = f"""if True:
        import sys
        from pytest_jsonmatch.cli.main import main
        try:
            main({arguments})
        except SystemExit:
            pass
        sys.stderr.write(" ".join(name for name in {foreign} if name in sys.modules))
    """
    assert run(code=code, cwd=tmp_path).stderr == ""


@pytest.mark.parametrize("arguments", [(), ("evaluate",), ("schema", "infer")], ids=" ".join)
def test_help_imports_arguments_and_nothing_that_runs(arguments):
    code = f"""if True:
        import sys
        from pytest_jsonmatch.cli.main import main
        try:
            main([*{arguments}, "--help"])
        except SystemExit:
            pass
        sys.stderr.write(" ".join(name for name in sys.modules if name.startswith("pytest_jsonmatch.")))
    """
    assert set(run(code=code).stderr.split()) == {
        "pytest_jsonmatch._lazy",
        "pytest_jsonmatch._version",
        "pytest_jsonmatch.cli",
        "pytest_jsonmatch.cli.arguments",
        "pytest_jsonmatch.cli.commands",
        "pytest_jsonmatch.cli.main",
        "pytest_jsonmatch.defaults",
        "pytest_jsonmatch.engine",
        "pytest_jsonmatch.engine.value",
        "pytest_jsonmatch.engine.value.errors",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="a name of POSIX")
def test_the_device_of_standard_output_may_be_a_pipe():
    done = run("cases", "schema", "--output", "/dev/stdout")
    assert (done.returncode, done.stderr, done.stdout[:2]) == (0, "", "{\n")


def test_a_reader_that_has_had_enough_is_no_error():
    # Whether the pipe is full or closed first is a matter of time, so: closed before anything is written.
    code = f"""if True:
        import os
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, 1)
        {SCRIPT}
    """
    done = run("cases", "schema", code=code)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["compare a.json b.json", "evaluate b.jsonl a.jsonl"])
def test_a_reader_that_has_had_enough_changes_no_exit_code(command, tmp_path):
    for name, content in (("a", '{"a": 1}'), ("b", '{"a": 2}')):
        (tmp_path / f"{name}.json").write_text(content)
        (tmp_path / f"{name}.jsonl").write_text(content)
    code = f"""if True:
        import os
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, 1)
        {SCRIPT}
    """
    more = ["--threshold", "0.9"] if command.startswith("compare") else ["--gate", "f1 >= 0.9"]
    done = run(*command.split(), *more, code=code, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_full_disk_is_told(tmp_path):
    code = f"""if True:
        import sys
        class Full:
            buffer = property(lambda self: self)
            def flush(self): pass
            def write(self, data): raise OSError(28, "No space left on device")
        sys.stdout = Full()
        {SCRIPT}
    """
    done = run("cases", "schema", code=code)
    assert (done.returncode, done.stderr) == (2, "jsonmatch cases schema: no space left on device\n")


def test_an_interrupt_is_no_traceback(monkeypatch, capsys):
    from pytest_jsonmatch.cli import cases

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cases, "write_output", interrupted)
    assert main(["cases", "schema"]) == 130
    assert capsys.readouterr() == ("", "")
