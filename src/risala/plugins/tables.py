"""Tables of the configuration whose keys a plugin says: checked by its own model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from pydantic import BaseModel, ValidationError

from risala.config.faults import ConfigError, Fault

_ENV: Final = "_env"
_SOURCES: Final = {
    "carriers": "settings of the carrier",
    "mail": "settings of mail",
    "payments": "settings of the payment method",
}


class PluginConfigError(ConfigError):
    """Something cannot be built from its table; ``faults`` has each one with its key path."""


class SecretResolver(Protocol):
    """As :func:`risala.config.secrets.resolve_secrets`."""

    def __call__(self, table: Mapping[str, Any], *, where: str) -> dict[str, Any]: ...


def validated(
    model: type[BaseModel], table: Mapping[str, Any], where: str, resolve: SecretResolver
) -> BaseModel:
    """The plugin's own settings; secrets that are missing and fields that are wrong at once.

    Raises:
        PluginConfigError: every fault with its key path, and never a value.
    """
    faults: list[Fault] = []
    try:
        table = resolve(table, where=where)
    except ConfigError as error:
        faults += error.faults
        table = _without_env(table)
    named = {fault.key.removesuffix(_ENV) for fault in faults}
    try:
        settings = model.model_validate(table)
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False):
            key = ".".join([where, *map(str, found["loc"])])
            if key not in named:  # a secret's own fault says more than that its field is empty
                text = found["msg"].removeprefix("Value error, ")
                faults.append(table_fault(key, text[:1].lower() + text[1:]))
    else:
        if not faults:
            return settings
    # The cause is dropped: pydantic's error holds the values, and one may be a secret.
    raise PluginConfigError(faults) from None


def _without_env(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table with its unresolved secrets as empty texts."""
    return {
        key.removesuffix(_ENV): ""
        if key.endswith(_ENV)
        else _without_env(value)
        if isinstance(value, Mapping)
        else value
        for key, value in table.items()
    }


def table_fault(key: str, text: str) -> Fault:
    """A fault of a table that a plugin reads."""
    return Fault(key, text, _SOURCES[key.partition(".")[0]])
