"""Settings files of released versions: every later one understands all that is in them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from risala.config.load import load_settings
from risala.plugins.manager import PluginManager

FILES = Path(__file__).parents[1] / "engine/journal/fixtures"
NAMES = sorted(path.stem for path in FILES.glob("*.toml"))
SECRETS = {
    "MAIL_PASSWORD": "sesame",
    "MATTEL_PASSWORD": "sesame",
    "SIM_PIN": "1234",
    "STRIPE_KEY": "sk_test_4711",
    "STRIPE_SECRET": "whsec_4711",
}


def settings_of(node: object, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each value below a table, by its key."""
    if isinstance(node, dict):
        for name, child in node.items():
            yield from settings_of(child, f"{path}.{name}")
    elif isinstance(node, list | tuple) and node and isinstance(node[0], dict):
        for number, child in enumerate(node):
            yield from settings_of(child, f"{path}[{number}]")
    else:
        yield path, list(node) if isinstance(node, tuple) else node


@pytest.mark.parametrize("name", NAMES)
def test_each_setting_is_what_the_file_says(name):
    path = FILES / f"{name}.toml"
    found = dict(settings_of(load_settings(path, environ={}).model_dump(mode="json")))
    written = dict(settings_of(tomllib.loads(path.read_text("utf-8"))))
    assert len(written) > 200
    assert {key: found.get(key) for key in written} == written


@pytest.mark.parametrize("name", NAMES)
def test_plugins_take_their_tables(name, monkeypatch):
    for variable, text in SECRETS.items():
        monkeypatch.setenv(variable, text)
    settings = load_settings(FILES / f"{name}.toml", environ={})
    plugins = PluginManager(logs=False)
    plugins.load(installed=[])
    for carrier in settings.carriers:
        plugins.build_driver(carrier)
    for build, tables in (
        (plugins.build_face, settings.compat.enabled),
        (plugins.build_payment_method, settings.payments.methods),
        (plugins.build_sink, settings.sinks.by_name),
        (plugins.build_policy, settings.policies.by_name),
    ):
        assert tables
        for word, table in tables.items():
            build(word, table)
    plugins.build_mailer(settings.mail)
