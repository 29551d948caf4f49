"""Secrets: found by their keys, printed as ***, taken from the environment."""

from __future__ import annotations

import pytest

from risala.config.faults import ConfigError
from risala.config.secrets import is_secret_key, redact, resolve_secrets


@pytest.mark.parametrize(
    "key",
    ["password", "PASSWORD", "smtp_password", "pin", "sim_pin", "pin2", "puk", "secret", "api_key",
     "webhook_secret", "access_token", "passphrase", "key", "apiKey", "private_key_pem"],
)  # fmt: skip
def test_keys_that_hold_secrets(key):
    assert is_secret_key(key)


@pytest.mark.parametrize(
    "key",
    ["password_env", "pin_env", "ping_s", "pins", "host", "system_id", "keep_alive_s", "spin",
     "shipping", "monkey", "bypass_s"],
)  # fmt: skip
def test_keys_that_do_not(key):
    assert not is_secret_key(key)


def test_redaction_goes_everywhere_and_changes_nothing():
    raw = {
        "carriers": [{"smpp": {"host": "h", "password": "x", "password_env": "NAME"}}],
        "smtp": {"url": "smtp://me:x@mail.example:25", "token": {"a": "x"}, "pin": None},
        "ports": (1, 2),
    }
    assert redact(raw) == {
        "carriers": [{"smpp": {"host": "h", "password": "***", "password_env": "NAME"}}],
        "smtp": {"url": "smtp://me:***@mail.example:25", "token": "***", "pin": None},
        "ports": [1, 2],
    }
    assert raw["smtp"]["token"] == {"a": "x"}


def test_secrets_come_from_the_environment():
    table = {"host": "h", "password_env": "PW", "tls": {"key_env": "KEY"}, "_env": "x"}
    resolved = resolve_secrets(table, {"PW": "x", "KEY": "y"})
    assert resolved == {"host": "h", "password": "x", "tls": {"key": "y"}, "_env": "x"}


def test_the_process_environment_is_read_where_none_is_given(monkeypatch):
    monkeypatch.setenv("SIM1_PIN", "0000")
    assert resolve_secrets({"pin_env": "SIM1_PIN"}) == {"pin": "0000"}


def test_every_missing_secret_is_named_at_once():
    table = {
        "password_env": "PW",
        "pin_env": "EMPTY",
        "puk_env": "hunter2",
        "token_env": 5,
        "secret": "x",
        "secret_env": "SET",
    }
    with pytest.raises(ConfigError) as caught:
        resolve_secrets(table, {"EMPTY": "", "SET": "y"}, where="carriers[0].smpp")
    lines = str(caught.value).splitlines()
    assert len(lines) == 6
    assert "carriers[0].smpp.password_env: set the environment variable PW" in lines[1]
    assert "carriers[0].smpp.pin_env: set the environment variable EMPTY" in lines[2]
    assert "carriers[0].smpp.puk_env: must be the name" in lines[3]
    assert "carriers[0].smpp.token_env: must be the name" in lines[4]
    assert "give secret or secret_env, not both" in lines[5]
    assert "hunter2" not in str(caught.value)
