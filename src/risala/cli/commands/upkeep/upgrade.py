"""``risala upgrade --check``: the effects of an upgrade to the new version."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala import __version__
from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.config.model import Settings
    from risala.engine.model.findings import Finding

DATABASE: Final = "risala.db"
_STAND_IN: Final = "0000"
"""Replaces a secret: short enough for a password of SMPP, and for a PIN."""


@click.command()
@click.option("--check", is_flag=True, required=True, help="Check only, and change nothing.")
@common
def upgrade(options: Options, check: bool) -> None:
    """Look beforehand at what an upgrade to this version would meet; exit code 1 if not ready.

    Run it with the new version while the old one still serves: it takes no lock, and writes
    nothing. The upgrade itself needs no command: the new version makes it when it first starts.

    \b
    Example: risala upgrade --check
    """
    from risala.engine.features.doctor.upgrade_check import check_data
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.findings import Finding, Grade

    log_to_stderr()
    try:
        settings = options.settings()
    except CommandRefused as error:
        findings = [Finding("settings", Grade.FAIL, str(error))]
        data_dir = _data_dir(options)
    else:
        findings = [_settings(settings), *_plugins(settings)]
        data_dir = settings.storage.data_dir
    findings += check_data(data_dir / DATABASE, SystemClock().now_ms())
    bad = [each for each in findings if each.state is Grade.FAIL]
    payload = {
        "version": __version__,
        "ready": not bad,
        "checks": [asdict(each) for each in findings],
    }
    if not output.show(options.json, payload):
        output.table(
            ("Check", "", "What it means"),
            ((each.name, each.state, each.text) for each in findings),
            empty="",
        )
    if bad:
        names = ", ".join(each.name for each in bad)
        raise CommandRefused(f"Not ready for Risala {__version__}: {names}.")


def _data_dir(options: Options) -> Path:
    """The place of the data, even if the settings have faults."""
    from risala.cli.reach import quick

    return options.data or quick.data_dir(None, options.file) or Path(quick.DATA_DIR)


def _settings(settings: Settings) -> Finding:
    from risala.engine.model.findings import Finding, Grade

    if settings.old_names:
        return Finding("settings", Grade.WARN, " ".join(settings.old_names))
    return Finding("settings", Grade.OK, "This version knows all the settings in use.")


def _plugins(settings: Settings) -> list[Finding]:
    """Whether all plugins load, and take the tables of the settings that are theirs."""
    from risala.config.secrets import resolve_secrets
    from risala.engine.model.findings import Finding, Grade
    from risala.plugins.manager import PluginManager
    from risala.plugins.tables import PluginConfigError

    manager = PluginManager()
    manager.load(folder=settings.plugins.folder, disabled=settings.plugins.disabled)
    faults = [f"{each.name}: {each.reason}" for each in manager.faults]
    variables = _Variables(os.environ)
    for carrier in settings.carriers:
        if carrier.enabled:
            try:
                manager.build_driver(carrier, partial(resolve_secrets, environ=variables))
            except PluginConfigError as error:
                faults.append(str(error))
    finding = Finding("plugins", Grade.OK, "All plugins load and accept their settings.")
    if faults:
        finding = Finding("plugins", Grade.FAIL, " ".join(faults))
    return [finding, *_secrets(variables.missing)]


def _secrets(missing: Sequence[str]) -> list[Finding]:
    """Secrets that this shell lacks: the service gets them from an environment of its own."""
    from risala.engine.model.findings import Finding, Grade

    if not missing:
        return []
    names = ", ".join(dict.fromkeys(missing))
    text = (
        f"Not set in this shell, so not checked: {names}. Make sure that the service has them, "
        f"for example with EnvironmentFile= of its unit."
    )
    return [Finding("secrets", Grade.WARN, text)]


class _Variables(dict[str, str]):
    """The environment, with placeholders for missing values: the rest of a table is checked
    anyway."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(environ)
        self.missing: list[str] = []

    def __missing__(self, name: str) -> str:
        self.missing.append(name)
        return _STAND_IN

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 -- as Mapping has it
        return self[name] or self.__missing__(name)
