"""Settings from environment variables: ``RISALA_HTTP__PORT=9000`` is ``http.port``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from risala.config import schema
from risala.config.faults import Fault, Path
from risala.config.files import old_names as renamed

RESERVED: Final = frozenset(("RISALA_DATA", "RISALA_CONFIG"))
"""Variables that the command line itself reads: ``--data`` and ``--config`` have these too."""


def read_environment(
    environ: Mapping[str, str],
) -> tuple[list[tuple[Path, object, str]], list[Fault]]:
    """``(path, value, source)`` of each variable that is a setting, and their faults.

    A variable with ``__`` in its name is always a setting; one without only if it names a whole
    section, so that ``RISALA_SIM1_PIN`` stays free for secrets. An empty variable counts as not
    set. Lists and tables are JSON; a list of plain words may be comma-separated.
    """
    found: list[tuple[Path, object, str]] = []
    faults: list[Fault] = []
    for variable in sorted(environ, key=lambda name: (name.count(schema.NESTING), name)):
        given = _path_of(variable)
        if given is None or not environ[variable].strip():
            continue
        path = renamed.present(given)
        source = f"environment variable {variable}"
        try:
            found.append((path, _value(path, environ[variable]), source))
        except ValueError as error:
            faults.append(Fault(schema.key_of(path), str(error), source))
    return found, faults


def old_names(environ: Mapping[str, str]) -> list[str]:
    """What to write now in place of variables that have the name of before."""
    paths = {name: _path_of(name) for name in sorted(environ) if environ[name].strip()}
    return renamed.variables({name: path for name, path in paths.items() if path is not None})


def _path_of(variable: str) -> Path | None:
    if variable in RESERVED or not variable.startswith(schema.ENVIRONMENT_PREFIX):
        return None
    name = variable.removeprefix(schema.ENVIRONMENT_PREFIX).lower()
    path = tuple(name.split(schema.NESTING))
    return path if len(path) > 1 or schema.node_at(renamed.present(path)) else None


def _value(path: Path, text: str) -> object:
    for length in range(1, len(path)):
        above = schema.node_at(path[:length])
        if above and above.get("type") != "object":
            whole = schema.variable_of(path[:length])
            raise ValueError(f"cannot be set in parts; set {whole} as a whole")
    kind = (schema.node_at(path) or {}).get("type")
    if kind == "array" and not text.lstrip().startswith("["):
        return [item.strip() for item in text.split(",")]
    if kind in ("array", "object"):
        return _json(path, text)
    return text


def _json(path: Path, text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        # Without the decoder's own exception, which holds the whole text.
        wanted = schema.allowed(schema.node_at(path) or {})
    else:
        return value
    raise ValueError(f"must be {wanted}, written as JSON")
