"""The whole service at a real core network of Osmocom's: MSC, HLR, STP and MGW, without a radio."""

from __future__ import annotations

import pytest

import osmocom
from patience import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(bool(osmocom.missing()), reason=f"NOT TRIED: {osmocom.missing()}"),
]

KNOWN = "+22236000001"
CONFIG = """
[delivery.retry]
first_wait_s = 600
wait_max_s = 600

[[carriers]]
name = "community"
driver = "smpp"
rate_per_s = 100

[carriers.smpp]
host = "{host}"
port = {port}
system_id = "risala"
password_env = "OSMO_PASSWORD"
reconnect_first_s = 0.1
{more}
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with osmocom.core_network(tmp_path_factory.mktemp("osmocom")) as network:
        network.add_subscriber("001010000000001", KNOWN.removeprefix("+"))
        yield network


@pytest.fixture
def start(premises, network, monkeypatch):
    monkeypatch.setenv("OSMO_PASSWORD", "secret")

    def start_one(more: str):
        path = premises.path / "community.toml"
        path.write_text(CONFIG.format(host=network.host, port=network.port, more=more))
        service = premises.service("--config", str(path))
        service.start()
        service.wait_ready()
        return service

    return start_one


def test_the_hlr_has_the_number(network):
    until(lambda: KNOWN.removeprefix("+") in network.numbers(), "the HLR has stored it")


def test_messages_are_stored_by_the_msc_under_references_of_one_octet(start, network):
    service = start('user_message_reference = "octet"')
    account = service.organization()
    before = len(network.messages())
    ids = [
        service.send(account, to=KNOWN, body=f"number {number}").json()["messageId"]
        for number in range(4)
    ]
    for message_id in ids:
        shown = service.wait_status(account, message_id, "sent")
        assert shown["status"] == "sent"
    kept = network.messages()[before:]
    assert [one["to"] for one in kept] == [KNOWN.removeprefix("+")] * 4
    assert all(1 <= one["reference"] <= 255 for one in kept)
    assert all(one["sent"] is None for one in kept), "there is no radio"
    assert "same id" in str(service.perform("carriers.show", carrier="community"))
    service.assert_no_bug_logged()


def test_in_transaction_mode_an_unknown_number_fails_at_once(start, network):
    service = start("transaction_mode = true")
    account = service.organization()
    before = len(network.messages())
    message_id = service.send(account, to="+22237999999", body="Hello").json()["messageId"]
    shown = service.wait_status(account, message_id, "failed")
    assert shown["errorCode"] == "UNKNOWN_NUMBER"
    assert network.messages()[before:] == [], "the network keeps nothing in this mode"
    service.assert_books_agree()
    service.assert_no_bug_logged()
