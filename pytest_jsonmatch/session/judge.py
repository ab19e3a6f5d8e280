"""The judge of a pytest run, from the ini option."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from pytest_jsonmatch.session.options import Settings


def configured_judge(settings: Settings, root: Path) -> object:
    """Return the judge of `jsonmatch_judge` in the configuration file; None if the option names none.

    Args:
        settings: the settings of the run.
        root: the folder for the relative path of a cache.

    Raises ConfigurationError if a setting has an invalid value.
    """
    options: dict[str, Any] = dict(settings.judge)
    if not options.keys() - {"mode"}:
        return None
    from pytest_jsonmatch.semantic.openaijudge import make_judge

    options["mode"] = settings.judge_mode or "live"
    if options.get("cache"):
        options["cache"] = Path(os.path.relpath(root / options["cache"]))  # shown in messages
    try:
        return make_judge(options)
    except ConfigurationError as error:
        raise ConfigurationError(f"jsonmatch_judge: {error}") from None
