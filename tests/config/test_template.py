"""What is generated from the model agrees with it: the file of `risala init` and the reference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from risala.config import schema
from risala.config.channels import ChannelsSection
from risala.config.document import render_reference
from risala.config.load import load_settings
from risala.config.model import PoliciesSection, Settings, SinksSection
from risala.config.template import render_template, toml

REPOSITORY = Path(__file__).parents[2]
REFERENCE = REPOSITORY / "docs" / "reference" / "configuration.md"


@pytest.fixture
def load(tmp_path):
    def load(text):
        path = tmp_path / "risala.toml"
        path.write_text(text, encoding="utf-8")
        return load_settings(path, environ={})

    return load


def uncommented(text):
    return re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE)


def _all_tables():
    yield from schema.tables()
    yield from schema.tables_by_name()
    yield from schema.listed_tables()
    yield schema.carrier_table()


def all_settings():
    return [setting for table in _all_tables() for setting in table.settings]


def test_the_template_is_the_defaults(load):
    assert load(render_template()) == Settings()


def test_the_template_uncommented_is_the_defaults_and_what_there_may_be_several_of(load):
    settings = load(uncommented(render_template()))
    several = {"carriers": (), "prices": (), "mail_to_sms": ()}
    several |= {"sinks": SinksSection(), "policies": PoliciesSection()}
    several |= {"channels": ChannelsSection()}
    assert settings.model_copy(update=several) == Settings()
    assert settings.policies.by_name["prizes"].policy == "words"
    assert settings.sinks.by_name["archive"].settings == {"folder": "/var/lib/risala/events"}
    assert [(each.prefix, each.price) for each in settings.prices] == [("+221", "12.00")]
    assert [each.sender for each in settings.mail_to_sms] == ["EXAMPLE"]
    assert [carrier.driver for carrier in settings.carriers] == ["smpp", "loopback", "email"]
    assert settings.carriers[0].settings["password_env"] == "SMSC_1_PASSWORD"


def test_the_template_has_every_setting():
    text = render_template()
    for setting in all_settings():
        assert re.search(rf"^#\s*{setting.name}\b", text, flags=re.MULTILINE), setting.path
    for line in text.splitlines():
        assert len(line) <= 100


def test_every_setting_has_a_meaning():
    for setting in all_settings():
        assert setting.meaning.endswith("."), setting.path
    for table in schema.tables():
        assert table.meaning.endswith("."), table.path


def test_every_pattern_has_its_words():
    def patterns(node):
        if isinstance(node, dict):
            if "pattern" in node:
                yield node
            for child in node.values():
                yield from patterns(child)
        elif isinstance(node, list):
            for child in node:
                yield from patterns(child)

    found = list(patterns(schema.root()))
    assert found
    assert all("words" in node for node in found)


def test_the_committed_reference_is_current():
    page = REFERENCE.read_text(encoding="utf-8")
    assert page == render_reference(), "`make generated` writes it"


def test_values_as_toml_writes_them():
    assert toml(value={"a": [1, 2.5, True], "b": 'x"y', "c": None}) == (
        '{ a = [1, 2.5, true], b = "x\\"y" }'
    )
    assert toml(None) is None
    with pytest.raises(TypeError):
        toml(object())
