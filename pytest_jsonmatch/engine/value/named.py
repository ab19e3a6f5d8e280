"""Import objects that a configuration names as `module:attribute`."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean, format_error

if TYPE_CHECKING:
    from collections.abc import Callable


_OBJECT: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


PATH_HINT: Final = "add the folder that holds it to pytest's ini option `pythonpath`, or install it"
"""What to do if a module that a configuration names is not found."""


def names_object(text: str, folder: str = "") -> bool:
    """Return whether a text has the form `module:attribute`, and is not the path of a file in a folder.

    >>> names_object("invoices.models:Invoice"), names_object("C:/invoice.json"), names_object("invoice.json")
    (True, False, False)
    """
    return _OBJECT.fullmatch(text) is not None and not os.path.exists(os.path.join(folder, text))  # noqa: PTH110, PTH118


def _suggest_attribute(holder: object, meant: str) -> str:
    return did_you_mean(meant, [name for name in dir(holder) if not name.startswith("_")])


def import_object(written: str, hint: Callable[[object, str], str] = _suggest_attribute) -> Any:
    """Return the object named by "module:attribute", or the module for "module"; attributes may be dotted.

    Args:
        written: the name in one of these forms.
        hint: returns the end of the message about a missing attribute, given the object and the name.

    Raises:
        ConfigurationError: the module can't be imported (the cause says why), or has no such attribute.

    >>> import_object("collections:OrderedDict.fromkeys").__name__
    'fromkeys'
    """
    module, _, attributes = written.partition(":")
    try:
        value: Any = import_module(module)
    except Exception as error:  # importing a module can raise anything
        raise ConfigurationError(f"{written!r} can't be imported: {format_error(error)}") from error
    for attribute in filter(None, attributes.split(".")):
        try:
            value = getattr(value, attribute)
        except AttributeError:
            message = f"{written!r}: {module!r} has no {attribute!r}{hint(value, attribute)}"
            raise ConfigurationError(message) from None
    return value
