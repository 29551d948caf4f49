"""The ``risala.toml`` that ``risala init`` writes: every setting, commented out, with its default.

Lines that begin with ``#`` and no space are settings to uncomment; ``# `` begins an explanation.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Final

from risala.config import schema
from risala.sms.numbering.plan import DEFAULT

_WIDTH: Final = 96
"""Columns of a line of explanation: fits a terminal of 100 beside an editor's line numbers."""

_HEAD: Final = """\
# The settings of Risala. Lines that are commented out show the default.
#
# Each setting is an environment variable too: http.port is RISALA_HTTP__PORT. Variables override
# this file, and the command line's flags override both. Keep secrets out of this file: give
# password_env = "NAME", and the variable NAME is read.
#
# Where a default depends on the country, it is Mauritania's (MR): numbers.countries,
# service.currency, [pricing], and a carrier's prefixes. In another country set the first three;
# the prefixes follow.
"""

_CARRIERS: Final = f"""\
# A carrier, by SMPP:
#[[carriers]]
#name = "smsc-1"
#driver = "smpp"
#prefixes = ["{DEFAULT.prefixes[0]}3"]
#rate_per_s = 50
#window_max = 10
#[carriers.smpp]
#host = "smsc.example.net"
#port = 2775
#system_id = "risala"
#password_env = "SMSC_1_PASSWORD"

# A carrier without phones, for trials:
#[[carriers]]
#name = "loopback"
#driver = "loopback"
"""

_EXAMPLES: Final = {
    "channels": """\
# Codes by e-mail:
#[channels.email]
#channel = "email"
#price = "0.10"
""",
    "sinks": """\
# Every event as a line in a file:
#[sinks.archive]
#sink = "jsonl"
#[sinks.archive.jsonl]
#folder = "/var/lib/risala/events"
""",
    "policies": """\
# Refuse texts that promise a prize:
#[policies.prizes]
#policy = "words"
#[policies.prizes.words]
#refuse = ["you have won", "vous avez gagné"]
""",
    "prices": """\
# Messages to Senegal, which must be one of numbers.countries:
#[[prices]]
#prefix = "+221"
#price = "12.00"
""",
    "mail_to_sms": """\
# All mails of a company, and of its monitoring:
#[[mail_to_sms]]
#senders = ["@example.com", "alerts@monitoring.example"]
#sender = "EXAMPLE"
""",
}


def render_template() -> str:
    """The whole file. It loads as it is, and with all settings uncommented."""
    parts = [_HEAD]
    for table in schema.tables():
        header = [*_explain(table.meaning), f"[{'.'.join(table.path)}]"]
        parts += ["\n".join(header) + "\n", *map(_setting, table.settings)]
    parts += [_by_name(table, f"[{'.'.join(table.path)}]") for table in schema.tables_by_name()]
    parts += [_by_name(table, f"[[{table.path[0]}]]") for table in schema.listed_tables()]
    return "\n".join([*parts, _carriers()])


def _setting(setting: schema.Setting) -> str:
    lines = [*_explain(setting.meaning), *_explain(limits(setting))]
    default = toml(setting.node.get("default"))
    if default is None:
        lines += _explain(f"{setting.name} is not set.")
    else:
        line = f"#{setting.name} = {default}"
        lines += [line] if len(line) <= _WIDTH else _list(setting)
    return "\n".join(lines) + "\n"


def _list(setting: schema.Setting) -> Iterator[str]:
    """The lines of a setting whose default is a list too long for one line."""
    yield f"#{setting.name} = ["
    line = "#"
    for item in setting.node["default"]:
        text = f"{toml(item)}, "
        if len(line) + len(text) > _WIDTH:
            yield line.rstrip()
            line = "#"
        line += text
    yield line.rstrip()
    yield "#]"


def limits(setting: schema.Setting) -> str:
    """A setting's values and unit: ``A whole number from 1 to 60, in seconds.``"""
    words = setting.allowed
    if setting.unit:
        words += f", {setting.unit}" if setting.unit.startswith("per") else f", in {setting.unit}"
    return words[:1].upper() + words[1:] + "."


def toml(value: object) -> str | None:
    """A value as one line of TOML; None, which TOML lacks, gives None."""
    match value:
        case None:
            return None
        case bool() | int() | float() | str():
            return json.dumps(value, ensure_ascii=False)
        case Mapping():
            texts = {key: toml(item) for key, item in value.items() if item is not None}
            return "{ " + ", ".join(f"{key} = {text}" for key, text in texts.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(toml(item) or '""' for item in value) + "]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _by_name(table: schema.Table, title: str) -> str:
    """A kind of table that may appear any number of times."""
    return f"{_listed(f'{title}: {table.meaning}', table)}\n\n{_EXAMPLES[table.path[0]]}"


def _carriers() -> str:
    title = "The carriers: one [[carriers]] table each, with a table for its driver."
    return f"{_listed(title, schema.carrier_table())}\n\n{_CARRIERS}"


def _listed(title: str, table: schema.Table) -> str:
    """The settings of a table that is missing unless somebody writes it."""
    lines = [*_explain(title)]
    for setting in table.settings:
        default = toml(setting.node.get("default"))
        usual = f" Default: {default}." if default is not None else ""
        bounds = limits(setting) if setting.node.get("type") != "object" else ""
        lines += _explain(f"{setting.name}: {setting.meaning} {bounds}{usual}", hanging=True)
    return "\n".join(lines)


def _explain(text: str, *, hanging: bool = False) -> Iterator[str]:
    indent = "#     " if hanging else "# "
    yield from textwrap.wrap(
        " ".join(text.replace("``", "").split()),
        _WIDTH,
        initial_indent="#   " if hanging else "# ",
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
