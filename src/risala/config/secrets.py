"""Secrets in settings: taken from the environment, printed as ``***``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from risala.config.faults import ConfigError, Fault

HIDDEN: Final = "***"
_ENV: Final = "_env"

# Long words are secret anywhere in a key; short ones only as a word of their own ("ping_s").
_secret_word: Final = re.compile(
    r"passw|passphrase|secret|token|credential|api_?key|private_?key"
    r"|(?:^|[_.-])(?:pin|puk|pwd|pass|key)\d*(?:$|[_.-])",
    re.IGNORECASE,
).search
_is_variable: Final = re.compile(r"[A-Z_][A-Z0-9_]*").fullmatch
_userinfo: Final = re.compile(r"(?<=://)([^/@\s:]*):[^/\s]*@")


def is_secret_key(key: str) -> bool:
    """True for names such as ``password``, ``sim_pin``, ``webhook_secret``; not ``pin_env``."""
    return not key.lower().endswith(_ENV) and _secret_word(key) is not None


def redact(raw: object) -> Any:  # noqa: ANN401 -- the shape of what came in
    """A copy of settings or of a driver's table that may be printed or logged.

    Values of secret keys and passwords within URLs become ``***``.
    """
    if isinstance(raw, Mapping):
        return {
            key: HIDDEN if is_secret_key(str(key)) and value is not None else redact(value)
            for key, value in raw.items()
        }
    if isinstance(raw, list | tuple):
        return [redact(item) for item in raw]
    if isinstance(raw, str):
        return _userinfo.sub(rf"\1:{HIDDEN}@", raw)
    return raw


def resolve_secrets(
    table: Mapping[str, Any], environ: Mapping[str, str] | None = None, *, where: str = ""
) -> dict[str, Any]:
    """A driver's table with ``password = "…"`` in place of ``password_env = "NAME"``.

    That goes for every key that ends in ``_env``, at any depth; the value is that of the
    environment variable. ``where`` is the table's key path, for faults. Raises
    :class:`ConfigError` that names each variable that is not set and each key given both ways.
    """
    faults: list[Fault] = []
    resolved = _resolve(table, os.environ if environ is None else environ, where, faults)
    if faults:
        raise ConfigError(faults)
    return resolved


def _resolve(
    table: Mapping[str, Any], environ: Mapping[str, str], where: str, faults: list[Fault]
) -> dict[str, Any]:
    resolved: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{where}.{key}" if where else key
        name = key.removesuffix(_ENV)
        if isinstance(value, Mapping):
            resolved[key] = _resolve(value, environ, path, faults)
        elif not key.endswith(_ENV) or not name:
            resolved[key] = value
        else:
            texts = _faults(table, name, value, environ)
            faults += [Fault(path, text, "settings of the carrier") for text in texts]
            resolved[name] = environ.get(str(value), "")
    return resolved


def _faults(
    table: Mapping[str, Any], name: str, value: object, environ: Mapping[str, str]
) -> Iterator[str]:
    if name in table:
        yield f"give {name} or {name}{_ENV}, not both"
    if isinstance(value, str) and _is_variable(value):
        if not environ.get(value):
            yield f"set the environment variable {value}, or name another one"
    else:  # not repeated: it may be the secret itself
        yield "must be the name of an environment variable: capitals, digits and _, in quotes"
