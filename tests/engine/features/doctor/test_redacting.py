"""A public report of a fault: nothing of an installation is in it but what Risala itself writes."""

from __future__ import annotations

import json
import tomllib

import pytest

from cases import sweep
from risala.config.model import Settings
from risala.engine.features.doctor import redacting
from risala.engine.model.findings import Finding, Grade

NUMBERS = (
    *("+22236123456", "22236123456", "36123456", "+222 36 12 34 56", "0033-6-12-34-56-78"),
    *("(222) 36.12.34.56", "٣٦١٢٣٤٥٦", "493817", "4938", "28777", "8901260123456789012"),
)
SECRETS = (
    *("sk_live_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    *("Token eyJhbGciOi", "hunter2", "correcthorse", "A1b2C3d4", "AGE-SECRET-KEY-1QQP"),
    *("postgresql://risala:pw7@10.0.0.7/db", "/carriers/xq/0f9a8b7c/receipt"),
)
PLACES = (
    *("10.20.30.40", "fe80::1%eth0", "smsc.evil-corp.mr:2775", "https://hooks.evil-corp.mr/in?t=1"),
    *("/srv/evilcorp/risala.db", "ahmed.salem@evil-corp.mr", "/dev/serial/by-id/usb-HUAWEI_E3372"),
)
TEXTS = (
    *("Salam Fatimetou", "Votre rendez-vous Tevragh-Zeina", "رسالة خاصة جدا", "Код: девять"),
    *("org_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT", "Nouadhibou", "Zeinebou"),
)
SENTENCES = (
    "No carrier is up ({}). `risala carriers` shows why.",
    "Only its owner can read {}.",
    "The service runs, but could not report its state: {}",
    "{}: {} does not answer {}",
    "'{}'",
)
COMMON = (
    *("letters", "shows", "messages", "service", "answer", "needs", "times", "number", "read"),
    *("report", "state", "carrier", "owner", "token"),
)
"""Words of ours: that one of them stands in a planted value says nothing of it."""


@sweep("planted", (*NUMBERS, *SECRETS, *PLACES, *TEXTS))
def test_nothing_that_is_planted_is_shown(planted):
    for sentence in SENTENCES:
        shown = redact(sentence.format(planted, planted, planted))
        words = [part for part in planted.replace("-", " ").split() if part.lower() not in COMMON]
        assert [part for part in words if part in shown] == [], shown


def redact(text: str, known: tuple[str, ...] = ()) -> str:
    (found,) = redacting.redacted([Finding(text, Grade.WARN, text)], known)
    assert known or found.name == found.text
    return found.text


@pytest.mark.parametrize(
    "text",
    [
        "The settings load.",
        "No due message is waiting.",
        "64.1 GB are free.",
        "There is no backup yet, and little data. Run `risala backup` every day.",
        "SQLite finds no fault in its 0.3 MB.",
        "All 12 are up.",
        "carriers[0].rate_per_s: must be a number; http.port too",
    ],
)
def test_what_risala_writes_is_shown(text):
    assert redact(text) == text


@pytest.mark.parametrize("name", ["All Messages", "the carrier", "Service", "send every message"])
def test_a_name_made_of_our_words_is_left_out(name):
    text = f"Not up: {name}. The other one is up."
    assert name.lower() in redact(text).lower(), "its words are ours: it must be known"
    shown = redact(text, (name,))
    assert shown == "Not up: … The other one is up." or shown == "Not up: …. The other one is up."


@pytest.mark.parametrize("place", ["smsc.evil", "mail.hunter", "org.example.app", "a[0].b"])
def test_a_place_that_is_no_setting_is_left_out(place):
    assert place not in redact(f"{place} does not answer")


def test_what_is_known_is_what_the_settings_say():
    written = tomllib.loads(
        """
        [service]
        default_sender = "ACME"
        [[carriers]]
        name = "first"
        driver = "smpp"
        [carriers.smpp]
        host = "smsc.example"
        password = "every word"
        hosts = ["a.example", "b.example"]
        """
    )
    assert set(redacting.values_of(written)) == {
        *("ACME", "first", "smsc.example", "every word", "a.example", "b.example"),
    }


def test_a_report_says_versions_and_drivers():
    carriers = [{"name": f"n{n}", "driver": driver} for n, driver in enumerate(("log", "log"))]
    about = redacting.about(Settings(carriers=carriers))
    assert about["carriers"] == "log 2"
    assert {"risala", "python", "sqlite", "system", "kernel", "machine"} < about.keys()
    assert "n0" not in json.dumps(about)
