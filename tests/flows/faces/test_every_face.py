"""One organization that sends by every face: all of it ends in one timeline, ledger and audit."""

from __future__ import annotations

import base64
from collections import Counter

import httpx2
import pytest
import trio

from patience import HANG_S
from smpp_peers.house import Customer, submit
from smpp_peers.service import SECTION, credential, port_of

pytestmark = pytest.mark.slow
FACES = "[faces.kannel]\nenabled = true\n\n[faces.twilio]\nenabled = true\n"
TO = "+22236123456"


def by_the_api(service, account) -> None:
    answer = service.send(account, to=TO, body="by the API")
    assert answer.status_code == 200


def made(service, account, face: str) -> tuple[str, str, str]:
    """A credential for a face: its id, name and password."""
    given = {"organization_id": account.organization_id, "face": face}
    told = service.perform("credential.create", **given)
    return told["credential"]["id"], told["credential"]["username"], told["password"]


def by_kannel(service, account) -> str:
    key, name, password = made(service, account, "kannel")
    asked = {"user": name, "pass": password, "to": TO, "text": "by Kannel"}
    answer = httpx2.get(f"{service.url}/cgi-bin/sendsms", params=asked, timeout=HANG_S)
    assert answer.text == "0: Accepted for delivery"
    return key


def by_twilio(service, account) -> str:
    key, name, token = made(service, account, "twilio")
    basic = base64.b64encode(f"{name}:{token}".encode()).decode()
    answer = httpx2.post(
        f"{service.url}/2010-04-01/Accounts/{name}/Messages.json",
        data={"To": TO, "Body": "by Twilio"},
        headers={"authorization": f"Basic {basic}"},
        timeout=HANG_S,
    )
    assert answer.status_code == 201
    return key


async def by_smpp(service, account) -> str:
    key, system_id, password = credential(service, account.organization_id)
    customer = Customer(await trio.open_tcp_stream("127.0.0.1", port_of(service)))
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(customer.link.run)
            assert (await customer.bind(system_id, password)).command_status == 0
            assert (await customer.ask(submit("by SMPP"))).command_status == 0
            await customer.link.unbind()
            customer.link.end("the test is over")
    return key


def entries(service, account):
    return service.perform("ledger.list", organization_id=account.organization_id)["entries"]


async def test_every_face_ends_in_one_timeline_ledger_and_audit(premises):
    simulator = premises.simulator()
    service = premises.running(simulator, more=SECTION + "\n" + FACES)
    account = service.organization("2.00")
    by_the_api(service, account)
    keys = {
        "by Kannel": by_kannel(service, account),
        "by Twilio": by_twilio(service, account),
        "by SMPP": await by_smpp(service, account),
    }
    service.wait_settled()
    texts = {"by the API", *keys}
    assert {each.text for each in simulator.received()} == texts
    assert service.balance(account) == "0.00"
    listed = service.perform("message.list", organization_id=account.organization_id)["messages"]
    assert {each["body"] for each in listed} == texts
    for each in listed:
        begun, *_, end = service.perform("message.show", message_id=each["messageId"])["timeline"]
        assert end["code"] == "DELIVERED"
        if each["body"] in keys:
            assert each["keyId"] == begun["values"]["credential"] == keys[each["body"]]
    assert Counter(e["kind"] for e in entries(service, account)) == {"charge": 4, "topup": 1}
    service.assert_books_agree()
    service.assert_no_bug_logged()
