"""Objects that a configuration names as `module:attribute`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean, error_text


def object_named(written: str) -> Any:
    """Return the object that "module:attribute" names; the attribute may have dots. "module" is the module.

    Raises:
        ConfigurationError: the module can't be imported (the cause says why), or has no such attribute.

    >>> object_named("collections:OrderedDict.fromkeys").__name__
    'fromkeys'
    """
    module, _, attributes = written.partition(":")
    try:
        found: Any = import_module(module)
    except Exception as error:  # whatever a module does when it is imported
        raise ConfigurationError(f"{written!r} can't be imported: {error_text(error)}") from error
    for attribute in filter(None, attributes.split(".")):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            public = [name for name in dir(found) if not name.startswith("_")]
            hint = did_you_mean(attribute, public)
            raise ConfigurationError(f"{written!r}: {module!r} has no {attribute!r}{hint}") from None
    return found
