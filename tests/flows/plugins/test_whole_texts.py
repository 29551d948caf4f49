"""The tutorial's driver in a running service: its carrier takes whole texts over HTTP."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.processes import free_port
from tests.flows.conftest import Premises, Service

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[3] / "examples/driver-plugin"
SOURCE = str(EXAMPLE / "src")
ARABIC_200 = ("رسالة عربية طويلة جدا " * 10)[:200]
"""Three segments, and three parts by the carrier's count."""
EUROS_100 = "€" * 100
"""Two segments: each sign of the extension table is two. The stand-in counts one part."""


def to_acme(premises: Premises) -> Service:
    """A service whose carrier is the example's stand-in, up and ready."""
    port = free_port()
    folder = premises.path / "plugins"
    folder.mkdir()
    (folder / "acme.py").write_text(
        "from risala_acme.plugin import risala_contract, risala_register_drivers\n"
    )
    config = premises.path / "risala-acme.toml"
    config.write_text(
        f'[plugins]\nfolder = "{folder}"\n[[carriers]]\nname = "acme-1"\ndriver = "acme"\n'
        f'[carriers.acme]\nurl = "http://127.0.0.1:{port}"\napi_key_env = "ACME_KEY"\n'
        'callback_secret_env = "ACME_SECRET"\nlook_s = 0.2\n'
    )
    service = premises.service("--config", str(config))
    secrets = {"ACME_KEY": "key-of-the-account", "ACME_SECRET": "callback-secret"}
    service.environment = {**secrets, "PYTHONPATH": SOURCE}
    service.start()
    stand_in = (sys.executable, str(EXAMPLE / "tests/acme_stand_in.py"), str(port))
    premises.process(*stand_in, f"{service.url}/carriers/acme-1", PYTHONPATH=SOURCE)
    service.wait_ready()
    return service


def carriers_words(service: Service, message_id: str) -> list[Any]:
    """What the carrier said of a message, as the timeline has it."""
    shown = json.loads(service.command("message", "show", message_id, "--json").stdout)
    return [entry["raw"] for entry in shown["timeline"] if entry["raw"] is not None]


def test_a_long_text_is_one_message_to_the_carrier_and_costs_its_segments(premises):
    service = to_acme(premises)
    account = service.organization("10")
    sent = service.send(account, body=ARABIC_200).json()["messageId"]
    message = service.wait_status(account, sent, "delivered")
    assert (message["segments"], message["encoding"], message["attempts"]) == (3, "ucs2", 1)
    assert message["price"] == "1.50"
    assert message["providerMessageId"].endswith("-0")  # the carrier numbers what it takes
    assert carriers_words(service, sent) == ["202 parts=3", "delivered"]
    assert service.balance(account) == "8.50"

    other = service.send(account, body=EUROS_100).json()["messageId"]
    message = service.wait_status(account, other, "delivered")
    assert message["providerMessageId"].endswith("-1")  # one submit was all of the first
    assert (message["segments"], message["price"]) == (2, "1.00")
    assert carriers_words(service, other) == ["202 parts=1", "delivered"]
    assert service.balance(account) == "7.50"  # by the segments that we count
    service.assert_books_agree()
    service.assert_no_bug_logged()
