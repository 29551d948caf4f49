"""Names of before 1.0: they work, and it is said what to write now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import structlog

from risala.app.logs import warn_of_old_names
from risala.config.faults import ConfigError
from risala.config.load import load_settings
from risala.config.model import Settings

FACES = "[faces.kannel]\nenabled = true\n"
KANNEL = {"kannel": {}}


def load(tmp_path: Path, text: str = "", **environ: str) -> Settings:
    path = tmp_path / "risala.toml"
    path.write_text(text)
    return load_settings(path, environ=environ)


def test_the_section_of_before_is_read(tmp_path):
    settings = load(tmp_path, FACES)
    assert settings.compat.enabled == KANNEL
    assert settings.old_names == (
        "risala.toml: write [compat], and no longer [faces]. The old name works in every 1.x.",
    )


def test_names_of_today_are_no_news(tmp_path):
    text = '[compat.kannel]\nenabled = true\n[alerts]\noff = ["carrier_down"]\n'
    assert load(tmp_path, text, RISALA_ALERTS__CARRIER_DOWN_S="60").old_names == ()


def test_both_sections_are_a_fault(tmp_path):
    with pytest.raises(ConfigError, match="faces"):
        load(tmp_path, FACES + "[compat.kannel]\nenabled = false\n")


def test_variables_of_before_are_read(tmp_path):
    section = json.dumps({"kannel": {"enabled": True}})
    settings = load(tmp_path, RISALA_FACES=section, RISALA_ALERTS__LANE_DOWN_S="60")
    assert (settings.compat.enabled, settings.alerts.carrier_down_s) == (KANNEL, 60)
    assert [text.partition(". The")[0] for text in settings.old_names] == [
        "environment variable RISALA_ALERTS__LANE_DOWN_S: "
        "write RISALA_ALERTS__CARRIER_DOWN_S, and no longer RISALA_ALERTS__LANE_DOWN_S",
        "environment variable RISALA_FACES: write RISALA_COMPAT, and no longer RISALA_FACES",
    ]


def test_a_variable_of_today_adds_to_a_section_of_before(tmp_path):
    settings = load(tmp_path, FACES, RISALA_COMPAT=json.dumps({"twilio": {"enabled": True}}))
    assert settings.compat.enabled == {"kannel": {}, "twilio": {}}


def test_alerts_of_before_are_read(tmp_path):
    text = '[alerts]\noff = ["lane_down", "errors"]\nlane_down_s = 60\n'
    settings = load(tmp_path, text, RISALA_ALERTS__PAGE_ONLY="lane_down")
    assert settings.alerts.off == ("carrier_down", "errors")
    assert settings.alerts.page_only == ("carrier_down",)
    assert settings.alerts.carrier_down_s == 60
    assert [text.partition(". The")[0] for text in settings.old_names] == [
        "risala.toml: write alerts.carrier_down_s, and no longer alerts.lane_down_s",
        'risala.toml: write "carrier_down" in alerts.off, and no longer "lane_down"',
        "environment variable RISALA_ALERTS__PAGE_ONLY: "
        'write "carrier_down" in alerts.page_only, and no longer "lane_down"',
    ]


def test_the_log_says_so_once_for_each(tmp_path):
    settings = load(tmp_path, FACES)
    with structlog.testing.capture_logs() as lines:
        warn_of_old_names(settings)
    assert lines == [
        {"event": "settings.old_name", "log_level": "warning", "text": settings.old_names[0]}
    ]
