"""Self-contained HTML pages: a template becomes a file, with its style and script inside."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.report.checks import check_figures
from pytest_jsonmatch.report.escape import clip, printable

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.session import Check

_MAX_TEXT: Final = 1000
_WORDS: Final = {True: ("passed", "passed"), False: ("failed", "failed"), None: ("undecided", "not decided")}


def check_installed() -> None:
    """Raise `ConfigurationError` unless jinja2, which renders pages, is installed."""
    try:
        import jinja2  # noqa: F401 - is it there?
    except ImportError:
        message = "an HTML report needs jinja2; install it with: pip install 'pytest-jsonmatch[html]'"
        raise ConfigurationError(message) from None


def rendered(template: str, *, styles: tuple[str, ...], script: str | None = None, **values: object) -> str:
    """Render a page.

    Args:
        template: the name of a file in `report/page/`, as are those of styles and script.
        styles: the files that form the template's `style`, in this order.
        script: the file of its `script`; None for a page without one.
        **values: the other values that it uses; text is escaped and made printable.

    Raises:
        ConfigurationError: jinja2 is not installed.
    """
    check_installed()
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    style = "".join(map(_file, styles))
    code = "" if script is None else _file(script)
    environment = Environment(
        loader=FunctionLoader(_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Markup, a subclass of str, comes only from our own files.
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    return environment.get_template(template).render(
        # Our own files, not to be escaped.
        style=Markup(style),  # noqa: S704
        script=Markup(code),  # noqa: S704
        policy=_policy(style, code),
        **values,
    )


def _file(name: str) -> str:
    text = resources.files("pytest_jsonmatch.report").joinpath("page", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # browsers hash the text with these line breaks


def _policy(style: str, script: str) -> str:
    style_hash, script_hash = map(_source, (style, script))
    return (
        f"default-src 'none'; style-src {style_hash}; script-src {script_hash}; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" if text else "'none'"


def check_cells(check: Check) -> dict[str, str]:
    """Return the cells of a gate in a page's table of gates."""
    kind, word = _WORDS[check.passed]
    subject = check.subject if check.figure in check.subject else f"{check.subject}: {check.figure}"
    value, limit, slack = check_figures(check)
    return {
        "kind": kind,
        "word": word,
        "subject": clip(subject, _MAX_TEXT),
        "note": clip(check.note, _MAX_TEXT),
        "value": value or "–",
        "limit": limit,
        "slack": slack or "–",
    }
