"""``docs/reference/configuration.md`` from the model: ``python -m risala.config.document FILE``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from risala.config import schema
from risala.config.load import PROFILES, SMALL
from risala.config.template import limits, toml

_HEAD: Final = """\
# Configuration

<!-- Written by `python -m risala.config.document`; change `src/risala/config/` instead. -->

`risala init --template` writes a `risala.toml` with everything below commented out. A value is
taken from the first of these that has it:

1. a flag of the command line,
2. an environment variable: `http.port` is `RISALA_HTTP__PORT`; an empty one counts as not set,
3. the file (`--config FILE` or `RISALA_CONFIG`),
4. the default, which a [profile](#profiles) may change.

Lists and tables in an environment variable are JSON; a list of plain words may be separated by
commas. A carrier's settings cannot be set one by one: `RISALA_CARRIERS` takes the whole list.
`RISALA_DATA` is `storage.data_dir`.

With an unknown key, a value out of range or two carriers of one name, the service does not start.
It names every fault at once, with its key and its file or variable.

**Secrets** stay out of the file: in a driver's table, `password_env = "NAME"` takes `password` from
the environment variable `NAME`, and so does every key that ends in `_env`. A variable that is
not set may stand in the file `secrets` beside the settings, as a line `NAME=value`. Wherever
settings are shown, passwords, PINs, secrets and tokens are `***`.
"""

_COLUMNS: Final = (
    "| Setting | Default | Allowed | Meaning |\n|---|---|---|---|"  # one row for each setting
)


def render_reference() -> str:
    """The whole page."""
    parts = [_HEAD]
    parts += [_section(f"`[{'.'.join(table.path)}]`", table) for table in schema.tables()]
    parts += [_section(f"`[{'.'.join(each.path)}]`", each) for each in schema.tables_by_name()]
    parts += [_section(f"`[[{each.path[0]}]]`", each) for each in schema.listed_tables()]
    parts.append(_section("`[[carriers]]`", schema.carrier_table()))
    parts.append(_nested())
    parts.append(_profiles())
    return "\n".join(parts)


def _section(title: str, table: schema.Table) -> str:
    head = f"## {title}\n\n{_markdown(table.meaning)}\n"
    if not table.settings:
        return head
    rows = "\n".join(_rows(table.settings))
    return f"{head}\n{_COLUMNS}\n{rows}\n"


def _nested() -> str:
    """The tables that a carrier nests."""
    node = schema.node_at(("carriers", 0, "on_uncertain_code")) or {}
    settings = tuple(
        schema.Setting(("carriers", "on_uncertain_code", name), schema.resolve(child))
        for name, child in schema.names_in(node).items()
    )
    rows = "\n".join(_rows(settings))
    return (
        "### `on_uncertain_code`, `on_uncertain_message`\n\n"
        "What to do with a submit whose answer never came, if nothing else settles it.\n\n"
        f"{_COLUMNS}\n{rows}\n"
    )


def _profiles() -> str:
    """The defaults that a profile changes."""
    rows = []
    for key, value in PROFILES[SMALL].items():
        usual = (schema.node_at(key.split(".")) or {}).get("default")
        rows.append(f"| `{key}` | `{toml(usual)}` | `{toml(value)}` |")
    table = "\n".join(["| Setting | Default | With `small` |", "|---|---|---|", *rows])
    return f"""\
## Profiles

`service.profile = "small"` is for a machine of 1 GB with a slow card: see
[Run it on a small machine](../how-to/small-machine.md). It changes these defaults and nothing else.
What you set yourself stays as you set it.

{table}
"""


def _rows(settings: tuple[schema.Setting, ...]) -> Iterator[str]:
    for setting in settings:
        default = toml(setting.node.get("default"))
        required = "required" if "default" not in setting.node else "not set"
        shown = f"`{default}`" if default is not None else required
        cells = (f"`{setting.name}`", shown, limits(setting), _markdown(setting.meaning))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _markdown(text: str) -> str:
    return text.replace("``", "`")


def main() -> None:
    """Write the page to the file named on the command line, or to standard output."""
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(render_reference(), encoding="utf-8")
    else:
        sys.stdout.write(render_reference())


if __name__ == "__main__":
    main()
