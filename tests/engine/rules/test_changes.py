"""Which settings a running service obeys at once, which wait, and what is told of them."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from pydantic import SecretBytes, SecretStr

from risala.config.model import Settings
from risala.engine.rules.changes import (
    AT_ONCE,
    SettingChange,
    SettingsChanges,
    fingerprint,
    flat,
    merged,
    settings_changes,
)

KEY = b"k" * 32

OBEYED = {
    "log.level": ("info", "debug"),
    "pricing.per_segment": ("0.50", "0.75"),
    "pricing.low_balance": ("50.00", "9.00"),
    "limits.sms_per_s": (None, 5.0),
    "limits.verify_networks": ((), ("mattel",)),
    "limits.verify_prefixes": ((), ("+2223",)),
    "limits.verify_cooldown_s": (None, 20),
    "limits.verify_cooldown_max_s": (1800, 600),
    "alerts.off": ((), ("errors",)),
    "alerts.page_only": (("balance_low",), ()),
    "alerts.mail": (True, False),
    "alerts.hold_s": (300, 60),
    "alerts.carrier_down_s": (300, 60),
    "alerts.queue_age_s": (600, 60),
    "alerts.receipts_missing_s": (1800, 60),
    "alerts.receipts_missing_count": (50, 5),
    "alerts.rate_hours": (2, 3),
    "alerts.rate_count_min": (50, 5),
    "alerts.rate_drop": (0.2, 0.1),
    "alerts.rate_usual_days": (14, 7),
    "alerts.prefix_minutes": (60, 30),
    "alerts.prefix_digits": (4, 3),
    "alerts.prefix_codes_min": (30, 3),
    "alerts.prefix_approval_min": (0.15, 0.1),
    "alerts.quota_share": (0.9, 0.8),
    "alerts.disk_free_bytes": (1_000_000_000, 2_000_000_000),
    "alerts.backup_age_h": (36, 12),
    "alerts.error_share": (0.02, 0.01),
    "alerts.errors_min": (20, 2),
    "alerts.sign_in_failures_min": (20, 2),
    "alerts.clock_jump_s": (60, 6),
    "alerts.sink_behind_s": (900, 90),
    "alerts.standby_behind_s": (300, 30),
    "alerts.history_days": (90, 9),
}


def settings(
    *changes: tuple[str, object], carriers: tuple[dict[str, object], ...] = ()
) -> Settings:
    """The usual settings, but for some keys such as ``log.level``."""
    tree: dict[str, object] = {"carriers": carriers}
    for key, value in changes:
        *folders, name = key.split(".")
        table = tree
        for folder in folders:
            table = table.setdefault(folder, {})  # type: ignore[assignment]
        table[name] = value
    return Settings.model_validate(tree)


def carrier(**table: object) -> dict[str, object]:
    return {"name": "mattel", "driver": "smpp", "smpp": table}


def test_what_is_obeyed_at_once_is_listed_whole():
    assert {*AT_ONCE} == OBEYED.keys()


@pytest.mark.parametrize("key", OBEYED)
def test_what_is_obeyed_at_once_is_told_with_its_values(key):
    before, after = OBEYED[key]
    found = settings_changes(settings(), settings((key, after)))
    assert found == SettingsChanges((SettingChange(key, before, after),), ())


@pytest.mark.parametrize("key", OBEYED)
def test_what_is_obeyed_at_once_is_in_force_from_then_on(key):
    after = settings((key, OBEYED[key][1]))
    assert merged(settings(), after) == after


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("log.format", "json"),
        ("limits.verify_ip_sends_per_hour", 7),
        ("service.default_sender", "OTHER"),
        ("storage.data_dir", "/elsewhere"),
        ("mail.user", "somebody"),
    ],
)
def test_all_others_wait_and_only_their_keys_are_told(key, value):
    after = settings((key, value))
    assert settings_changes(settings(), after) == SettingsChanges((), (key,))
    assert merged(settings(), after) == settings()


def test_changes_are_told_by_their_keys_in_order():
    changes = [("storage.queue_units_max", 99), ("http.port", 9), ("engine.drain_s", 1)]
    obeyed = [(key, OBEYED[key][1]) for key in sorted(OBEYED, reverse=True)]
    found = settings_changes(settings(), settings(*changes, *obeyed))
    assert found.waiting == ("engine.drain_s", "http.port", "storage.queue_units_max")
    assert [each.key for each in found.at_once] == sorted(OBEYED)


def test_a_table_that_is_only_in_one_of_them_is_a_change():
    # A sink of a plugin's: its keys are there only where it is.
    with_sink = settings(("sinks.archive.sink", "x"))
    alone = sorted(flat(with_sink).keys() - flat(settings()).keys())
    assert alone
    assert settings_changes(settings(), with_sink).waiting == tuple(alone)
    assert settings_changes(with_sink, settings()).waiting == tuple(alone)


def test_nothing_differs_between_the_same():
    assert settings_changes(settings(), settings()) == SettingsChanges((), ())


def test_carriers_are_told_elsewhere_and_obeyed_at_once():
    after = settings(carriers=(carrier(host="a"),))
    assert settings_changes(settings(), after) == SettingsChanges((), ())
    assert not [key for key in flat(after) if "carriers" in key]
    assert merged(settings(), after) == after
    assert merged(after, settings()) == settings()


def test_prices_abroad_are_told_by_their_prefixes_and_obeyed_at_once():
    def priced(*prices):
        return settings(("prices", [{"prefix": f"+{n}", "price": each} for n, each in prices]))

    before, after = priced(("221", "12.00"), ("33", "4.00")), priced(("221", "9.00"))
    assert settings_changes(before, after) == SettingsChanges(
        (SettingChange("prices.+221", "12.00", "9.00"), SettingChange("prices.+33", "4.00", None)),
        (),
    )
    assert merged(before, after) == after


def test_what_is_in_force_leaves_what_waits_for_a_restart():
    after = settings(("http.port", 9), *((key, new) for key, (_, new) in OBEYED.items()))
    found = settings_changes(settings(), after)
    now = merged(settings(), after)
    assert settings_changes(settings(), now) == SettingsChanges(found.at_once, ())
    assert settings_changes(now, after) == SettingsChanges((), ("http.port",))


def test_every_setting_has_a_key_with_its_tables():
    found = flat(settings(("delivery.retry.factor", 4)))
    assert (found["log.level"], found["delivery.retry.factor"]) == ("info", 4)
    assert not [value for value in found.values() if isinstance(value, dict)]


# -- the fingerprint


DIFFERENT = [
    settings(),
    settings(("log.level", "debug")),
    settings(("http.port", 9)),
    settings(("storage.data_dir", Path("/a"))),
    settings(("storage.data_dir", Path("/b"))),
    settings(("limits.verify_prefixes", ["+2223"])),
    settings(("limits.verify_prefixes", ["+2224"])),
    *(
        settings(carriers=(carrier(value=value),))
        for value in (
            *(1, "1", 1.5, True, None, "None", [1, 2], [2, 1], ("a",), Path("a/b")),
            *(SecretStr("one"), SecretStr("two"), SecretBytes(b"one"), SecretBytes(b"two")),
        )
    ),
    settings(carriers=(carrier(other=1),)),
]


def test_other_settings_have_another_fingerprint():
    assert len({fingerprint(each, KEY) for each in DIFFERENT}) == len(DIFFERENT)


def test_the_order_of_a_table_is_no_other_setting():
    one, other = carrier(host="a", port=1), carrier(port=1, host="a")
    assert fingerprint(settings(carriers=(one,)), KEY) == fingerprint(
        settings(carriers=(other,)), KEY
    )


def test_a_fingerprint_is_short_and_cannot_be_made_without_the_key():
    found = fingerprint(settings(), KEY)
    assert len(found) == 32
    assert {*found} <= {*string.hexdigits.lower()}
    assert fingerprint(settings(), KEY) == found != fingerprint(settings(), b"x" * 32)


def test_who_may_send_by_mail_is_obeyed_at_once():
    def allowed(*senders):
        return settings(("mail_to_sms", [{"senders": [each]} for each in senders]))

    before, after = allowed("@a.example", "@b.example"), allowed("@c.example", "@b.example")
    assert settings_changes(before, after) == SettingsChanges(
        (SettingChange("mail_to_sms.0.senders", ("@a.example",), ("@c.example",)),), ()
    )
    assert merged(before, after) == after


def test_the_price_of_a_channel_is_obeyed_and_the_rest_of_it_waits():
    was = {"chat": {"channel": "telegram", "price": "0.20"}}
    changed = {"channel": "telegram", "price": "0.30", "rate_per_s": 5.0}
    new = {"channel": "voice", "price": "2.00"}
    before, after = (
        settings(("channels", was)),
        settings(("channels", {"chat": changed, "call": new})),
    )
    found = settings_changes(before, after)
    assert found.at_once == (SettingChange("channels.chat.price", "0.20", "0.30"),)
    assert "channels.chat.rate_per_s" in found.waiting
    assert "channels.call.price" in found.waiting
    now = merged(before, after).channels.by_name
    assert {name: (each.price, each.rate_per_s) for name, each in now.items()} == {
        "chat": ("0.30", 10.0)
    }
