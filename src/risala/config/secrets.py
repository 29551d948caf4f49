"""Secrets in settings: taken from the environment, printed as ``***``; and files that only their
owner may write, or read: plugins run with the service's rights, and keys prove who it is."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from risala.config.faults import ConfigError, Fault

HIDDEN: Final = "***"
_ENV: Final = "_env"

# Long words are secret anywhere in a key; short ones only as a separate word ("ping_s").
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


def redact(raw: object) -> Any:  # noqa: ANN401 -- the shape of the argument
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

    So for every key that ends in ``_env``, at any depth: the value is the environment variable's.
    ``where`` is the table's key path, for faults. Raises :class:`ConfigError`, which names each
    variable that is not set and each key given both ways.
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


_ROOT: Final = 0
"""The user id of root, who owns the machine's files."""


def write_fault(path: Path) -> str | None:
    """Why a file or folder is unsafe to run code from; None: only its owner may write to it.

    Code in it runs as this service, with its rights to read and send. A user who may write to a
    folder above it can replace it; if that folder is sticky, as ``/tmp`` is, only the owner can.
    """
    try:
        status = path.stat()
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if status.st_uid not in (_ROOT, os.geteuid()):
        return f"{path} belongs to another user: run `chown` and `chmod go-w {path}`"
    if status.st_mode & stat.S_IWOTH:
        return _open_to_all(path)
    # The folders above a link count, and those above its target.
    for above in dict.fromkeys((*path.absolute().parents, *path.resolve().parents)):
        if above.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
            return _open_to_all(above)
    return None


def _open_to_all(path: Path) -> str:
    return f"every user of this machine may write {path}: run `chmod o-w {path}`"


def key_fault(path: Path) -> str | None:
    """A sentence if others may read a TLS key; None: they may not, or it is unknown."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        return f"Every user of this machine may read the TLS key {path}: run `chmod o-rwx {path}`."
    return None
