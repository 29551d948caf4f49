"""Tables of the configuration that belong to a plugin: checked by the plugin's own model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol, get_args

from pydantic import BaseModel, SecretBytes, SecretStr, ValidationError

from risala.config.faults import ConfigError, Fault
from risala.plugins.kinds import KINDS

_ENV: Final = "_env"
_SOURCES: Final = {kind.table: kind.settings_of for kind in KINDS if kind.table}


class PluginConfigError(ConfigError):
    """Something cannot be built from its table; ``faults`` has each fault with its key path."""


class SecretResolver(Protocol):
    """Fills in secrets: the shape of :func:`risala.config.secrets.resolve_secrets`."""

    def __call__(self, table: Mapping[str, Any], *, where: str) -> dict[str, Any]: ...


def validated(
    model: type[BaseModel], table: Mapping[str, Any], where: str, resolve: SecretResolver
) -> BaseModel:
    """The plugin's settings, validated, with their secrets.

    Args:
        where: the table's key path, for faults: ``carriers[0].smpp``.

    Raises:
        PluginConfigError: secrets are missing or fields are wrong: every fault at once with its key
            path, and never a value.
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
        for detail in error.errors(include_url=False, include_input=False):
            key = ".".join([where, *map(str, detail["loc"])])
            # That a secret's variable is not set was said already; that its field is therefore
            # empty would only be the same fault once more.
            if key not in named:
                text = detail["msg"].removeprefix("Value error, ")
                faults.append(table_fault(key, text[:1].lower() + text[1:]))
    else:
        if not faults:
            return settings
    # ``from None``: pydantic's error holds the values, of which one may be a secret.
    raise PluginConfigError(faults) from None


def _without_env(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table with an empty text for each secret whose variable is not set."""
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


def secret_fields(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """The fields of a table that its model declares to be secrets, those of tables in it too."""
    for name, known in model.model_fields.items():
        for part in _parts(known.annotation):
            if part in (SecretStr, SecretBytes):
                yield f"{prefix}{name}"
            elif isinstance(part, type) and issubclass(part, BaseModel):
                yield from secret_fields(part, f"{prefix}{name}.")


def _parts(annotation: object) -> Iterator[object]:
    """A type, or those that it is made of: ``SecretStr | None``."""
    inner = get_args(annotation)
    if not inner:
        yield annotation
    for each in inner:
        yield from _parts(each)
