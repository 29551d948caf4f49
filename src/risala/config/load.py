"""Loading settings: defaults < profile < file < environment < command line, all faults at once."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Final

from pydantic import ValidationError

from risala.config import schema
from risala.config.faults import NEAR, ConfigError, Fault, Origins, Path, from_pydantic, unknown
from risala.config.files import old_names as renamed
from risala.config.files.old_names import rename_names, rename_words
from risala.config.files.secrets_file import take_secrets
from risala.config.kinds import money_words
from risala.config.model import CarrierSection, Settings
from risala.sms.currencies import counting_in, decimals_of, has_too_many

COMMAND_LINE = "command line"
USUAL: Final = "usual"
SMALL: Final = "small"

PROFILES: Final[Mapping[str, Mapping[str, Any]]] = {
    USUAL: {},
    SMALL: {
        "storage.page_cache_mb": 2,
        "storage.queue_units_max": 1024,
        "http.connections_max": 500,
        "http.batches_read_max": 2,
        "request_log.keep_days": 7,
        "request_log.size_max_mb": 32,
        "request_log.a_second_max": 20,
        "engine.intake_max": 2000,
        "engine.buffer_rows_max": 128,
        "webhooks.attempts_max": 24,
        "webhooks.attempts_per_endpoint_max": 4,
        "smpp_server.sessions_max": 50,
    },
}
"""By profile the settings that have another default. Small: less memory where many come at once,
and less for a slow card to write. No setting here makes a promise weaker: what is accepted is
synced to disk all the same."""


def load_settings(
    path: FilePath | None,
    *,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of this run.

    ``path`` is the TOML file; None: no file. ``overrides`` are the command line's flags by key
    (``{"http.port": 9000}``); None counts as not given. ``environ`` is :data:`os.environ` unless
    given; passwords that the file names may then stand in the file ``secrets`` beside it. Raises
    :class:`ConfigError` with every fault.
    """
    tree = _read_file(path) if path else {}
    if path and environ is None:
        take_secrets(path, tree)
    variables = os.environ if environ is None else environ
    sentences = rename_names(tree, path.name) if path else []
    sentences += old_names(variables)
    named, faults = read_environment(variables)
    named += [
        (tuple(key.split(".")), value, COMMAND_LINE)
        for key, value in (overrides or {}).items()
        if value is not None
    ]
    by_path: dict[Path, str] = {}
    for at, value, source in named:
        if not _put(tree, at, value):
            faults.append(
                Fault(schema.key_of(at), "cannot be set: what holds it is no table", source)
            )
            continue
        _forget(by_path, at, value)
        by_path |= dict.fromkeys(_leaves(at, value), source)
    _fill_in(tree)
    origins = Origins(path.name if path else "built in", by_path)
    faults += _carrier_faults(tree.get("carriers"), origins)
    sentences += rename_words(tree, origins)
    settings = _validated(tree, origins, faults)
    settings._old_names = tuple(sentences)
    return settings


def _validated(tree: dict[str, Any], origins: Origins, faults: list[Fault]) -> Settings:
    settings = Settings()
    try:
        with counting_in(_currency(tree)):
            settings = Settings.model_validate(tree)
    except ValidationError as error:
        # Faults are taken without their input: a value may be a secret in the wrong place. For the
        # same reason ConfigError is raised outside this block, so that pydantic's exception, which
        # holds the values, does not become its context.
        details = error.errors(include_url=False, include_input=False)
        faults = from_pydantic(details, origins) + faults
    faults = faults or [*_network_faults(settings, origins), *_price_faults(settings, origins)]
    if faults:
        raise ConfigError(faults)
    return settings


def _currency(tree: Mapping[str, Any]) -> str:
    """``service.currency`` before it is checked: all amounts are read by its decimals."""
    service = tree.get("service")
    currency = service.get("currency") if isinstance(service, Mapping) else None
    return currency if isinstance(currency, str) else Settings().service.currency


def _price_faults(settings: Settings, origins: Origins) -> Iterator[Fault]:
    """The built-in price, where the currency cannot express it: nobody else knows a right one."""
    path, currency = ("pricing", "per_segment"), settings.service.currency
    price, places = settings.pricing.per_segment, decimals_of(currency)
    if has_too_many(price.partition(".")[2], places):
        text = f'is "{price}", and {currency} has no such decimals; it {money_words(places)}'
        yield Fault(schema.key_of(path), text, origins.of(path))


# -- the file ----------------------------------------------------------------------------------


def _read_file(path: FilePath) -> dict[str, Any]:
    try:
        # utf-8-sig: some editors begin a file with a byte order mark.
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        text = f"There is no file {path}; write one with `risala init`."
    except OSError as error:
        text = f"The file {path} cannot be read: {error.strerror}."
    except UnicodeDecodeError:
        text = f"The file {path} is not UTF-8 text."
    except tomllib.TOMLDecodeError as error:
        text = _syntax(path, str(error))
    raise ConfigError([Fault("", text, str(path))])


def _syntax(path: FilePath, message: str) -> str:
    """tomllib's message, the line first; it quotes at most one character of the file."""
    match = re.fullmatch(r"(?P<reason>.*) \(at line (?P<line>\d+), column \d+\)", message)
    if not match:
        reason = message.removesuffix(" (at end of document)")
        return f"The file {path} is not TOML, at its end: {reason}."
    return f"The file {path} is not TOML, line {match['line']}: {match['reason']}."


# -- overriding one source by another ----------------------------------------------------------


def _put(tree: dict[str, Any], path: Path, value: object) -> bool:
    """Set ``value`` at ``path``; tables merge, everything else is replaced.

    Returns:
        False, with nothing changed, if ``path`` leads through something other than a table.
    """
    *parents, name = path
    for step in parents:
        child = tree.setdefault(str(step), {})
        if not isinstance(child, dict):
            return False
        tree = child
    here = tree.get(str(name))
    if isinstance(here, dict) and isinstance(value, Mapping):
        for key, item in value.items():
            _put(here, (key,), item)
    else:
        tree[str(name)] = value
    return True


def _fill_in(tree: dict[str, Any]) -> None:
    """Set what the profile has other defaults for, where nothing else is set."""
    service = tree.get("service")
    profile = service.get("profile") if isinstance(service, dict) else None
    # A profile that does not exist is refused by the model.
    for key, value in PROFILES.get(str(profile), {}).items():
        *tables, name = key.split(".")
        table: Any = tree
        for step in tables:
            table = table.setdefault(step, {}) if isinstance(table, dict) else None
        if isinstance(table, dict):
            table.setdefault(name, value)


def _leaves(path: Path, value: object) -> Iterator[Path]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves((*path, key), item)
    else:
        yield path


def _forget(by_path: dict[Path, str], path: Path, value: object) -> None:
    """Drop the sources of what is below ``path`` where ``value`` replaces the whole table."""
    if not isinstance(value, Mapping):
        for known in [known for known in by_path if known[: len(path)] == path]:
            del by_path[known]


# -- carriers ----------------------------------------------------------------------------------


def _carrier_faults(raw: object, origins: Origins) -> list[Fault]:
    """Faults that the model cannot see: a name given twice, a table that no driver reads."""
    if not isinstance(raw, list):
        return []  # there are no carriers, or the model itself reports that they are no list
    carriers = [(n, table) for n, table in enumerate(raw) if isinstance(table, dict)]
    faults = [
        Fault(schema.key_of(path), text, origins.of(path))
        for number, table in carriers
        for path, text in _unread(number, table)
    ]
    faults += [
        Fault(schema.key_of(path), "names no number; give it some, or `networks`", origins.of(path))
        for number, table in carriers
        for path in [("carriers", number, "prefixes")]
        if table.get("prefixes") == [] and not table.get("networks")
    ]
    for field, owns in (("name", _name_of), ("path", _address_of)):
        first: dict[str, int] = {}
        for number, table in carriers:
            word = owns(table)
            if word is not None and first.setdefault(word, number) != number:
                if field == "path" and _name_of(table) == _name_of(raw[first[word]]):
                    continue  # the same name was said
                path = ("carriers", number, field)
                text = f"must be unique; carriers[{first[word]}] has the same {field}"
                faults.append(Fault(schema.key_of(path), text, origins.of(path)))
    return faults


def _name_of(table: Mapping[str, object]) -> str | None:
    name = table.get("name")
    return name if isinstance(name, str) else None


def _address_of(table: Mapping[str, object]) -> str | None:
    """The word of a carrier's address: its path, else its name."""
    path = table.get("path")
    return path if isinstance(path, str) else _name_of(table)


def _network_faults(settings: Settings, origins: Origins) -> Iterator[Fault]:
    """Networks that the numbering plan of the served countries does not know."""
    named: list[tuple[Path, Iterable[str]]] = [
        (("carriers", number, "networks"), carrier.networks)
        for number, carrier in enumerate(settings.carriers)
    ]
    for path, networks in [
        *named,
        (("limits", "verify_networks"), settings.limits.verify_networks),
    ]:
        for network in networks:
            if network not in settings.plan.networks():
                known = sorted(settings.plan.networks())
                near = difflib.get_close_matches(network, known, n=2, cutoff=NEAR)
                # Some countries have forty networks.
                like = f"did you mean {_quoted(near, ' or ')}?" if near else _quoted(known, ", ")
                text = f'has "{network}", which is no network of a served country: {like}'
                yield Fault(schema.key_of(path), text, origins.of(path))


def _quoted(names: Iterable[str], between: str) -> str:
    """Names as they stand in the settings."""
    return between.join(f'"{each}"' for each in names)


def _unread(number: int, table: Mapping[str, Any]) -> Iterable[tuple[Path, str]]:
    driver = table.get("driver")
    for key, value in table.items():
        path: Path = ("carriers", number, key)
        if key in CarrierSection.model_fields:
            continue
        if key == driver:
            if not isinstance(value, dict):
                yield path, f"must be a table, [carriers.{key}]"
        elif isinstance(value, dict) and isinstance(driver, str):
            yield path, f'is not read: the driver is "{driver}", its table [carriers.{driver}]'
        else:
            yield path, unknown(path, also=[driver] if isinstance(driver, str) else ())


# Settings from environment variables: ``RISALA_HTTP__PORT=9000`` is ``http.port``.

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
    settings: list[tuple[Path, object, str]] = []
    faults: list[Fault] = []
    for variable in sorted(environ, key=lambda name: (name.count(schema.NESTING), name)):
        named = _path_of(variable)
        if named is None or not environ[variable].strip():
            continue
        path = renamed.present(named)
        source = f"environment variable {variable}"
        try:
            settings.append((path, _value(path, environ[variable]), source))
        except ValueError as error:
            faults.append(Fault(schema.key_of(path), str(error), source))
    return settings, faults


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
        requirement = schema.allowed(schema.node_at(path) or {})
    else:
        return value
    raise ValueError(f"must be {requirement}, written as JSON")
