"""One organization that sends by every face: all of it ends in one timeline, ledger and audit."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable

import httpx2
import pytest
import trio

from patience import HANG_S
from risala.drivers.faces.twilio.compat import service_of
from smpp_peers.house import Customer, submit
from smpp_peers.service import SECTION, credential, port_of

pytestmark = pytest.mark.slow
NAMES = ("kannel", "twilio", "playsms", "smsgate")
FACES = "".join(f"[compat.{each}]\nenabled = true\n" for each in NAMES)
TO = "+22236123456"
SERVED = """\
[numbers]
countries = ["MR", "SN"]
[[prices]]
prefix = "+221"
price = "12.00"
"""
DAKAR = "+221771234567"
NOT_OPEN = "Senegal is not open to your organization. Ask the operator of this service to open it"
ESME_RINVDSTADR = 0x0B


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


def by_playsms(service, account) -> str:
    key, name, token = made(service, account, "playsms")
    asked = {"app": "ws", "u": name, "h": token, "op": "pv", "to": TO, "msg": "by playSMS"}
    answer = httpx2.get(f"{service.url}/index.php", params=asked, timeout=HANG_S)
    assert answer.json()["data"][0]["status"] == "OK"
    return key


def by_smsgate(service, account) -> str:
    key, name, password = made(service, account, "smsgate")
    answer = httpx2.post(
        f"{service.url}/api/3rdparty/v1/messages",
        json={"phoneNumbers": [TO], "textMessage": {"text": "by SMSGate"}},
        auth=(name, password),
        timeout=HANG_S,
    )
    assert answer.status_code == 202
    return key


async def submitted(service, made: tuple[str, str, str], request) -> tuple[str, int]:
    """A submit by a credential of SMPP: the credential, and the status of the answer."""
    key, system_id, password = made
    customer = Customer(await trio.open_tcp_stream("127.0.0.1", port_of(service)))
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(customer.link.run)
            assert (await customer.bind(system_id, password)).command_status == 0
            status = (await customer.ask(request)).command_status
            await customer.link.unbind()
            customer.link.end("the test is over")
    return key, status


async def by_smpp(service, account) -> str:
    made = credential(service, account.organization_id)
    key, status = await submitted(service, made, submit("by SMPP"))
    assert status == 0
    return key


def entries(service, account):
    return service.perform("ledger.list", organization_id=account.organization_id)["entries"]


async def test_every_face_ends_in_one_timeline_ledger_and_audit(premises):
    simulator = premises.simulator()
    service = premises.running(simulator, more=SECTION + "\n" + FACES)
    account = service.organization("3.00")
    by_the_api(service, account)
    keys = {
        "by Kannel": by_kannel(service, account),
        "by Twilio": by_twilio(service, account),
        "by playSMS": by_playsms(service, account),
        "by SMSGate": by_smsgate(service, account),
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
    assert Counter(e["kind"] for e in entries(service, account)) == {"charge": 6, "topup": 1}
    service.assert_books_agree()
    service.assert_no_bug_logged()


class Ways:
    """Every way by which an organization could send to Dakar: what each answers, as a text."""

    def __init__(self, service, account) -> None:
        self._service, self._account = service, account
        publishable = service.key(account.organization_id, "publishable")["value"]
        _, name, password = made(service, account, "kannel")
        self._kannel = {"user": name, "pass": password, "to": DAKAR, "text": "by Kannel"}
        _, self._sid, self._token = made(service, account, "twilio")
        _, name, token = made(service, account, "playsms")
        self._playsms = {"app": "ws", "op": "pv", "u": name, "h": token, "to": DAKAR, "msg": "six"}
        self._smsgate = made(service, account, "smsgate")[1:]
        self._smpp = credential(service, account.organization_id)
        whose = ("--org", account.organization_id)
        self.messages: dict[str, Callable[[], str]] = {
            "api": lambda: self._post("/api/sms", to=DAKAR, body="one"),
            "batch": lambda: self._post("/api/sms/batch", messages=[{"to": DAKAR, "body": "two"}]),
            "kannel": self._by_kannel,
            "twilio": lambda: self._by_twilio(
                f"/2010-04-01/Accounts/{self._sid}/Messages.json", Body="three"
            ),
            "playsms": self._by_playsms,
            "smsgate": self._by_smsgate,
            "smpp": self._by_smpp,
            "command": lambda: self._command("send", DAKAR, "four", *whose),
        }
        self.codes: dict[str, Callable[[], str]] = {
            "api": lambda: self._post("/api/verify/send", to=DAKAR),
            "twilio": lambda: self._by_twilio(
                f"/v2/Services/{service_of(self._sid)}/Verifications", Channel="sms"
            ),
            "command": lambda: self._command("verify", "send", DAKAR, *whose),
        }
        self.public_codes: dict[str, Callable[[], str]] = {
            "api": lambda: self._post("/api/verify/send", publishable, to=DAKAR)
        }

    def _post(self, path: str, key: str | None = None, **body: object) -> str:
        headers = {"x-api-key": key or self._account.secret_key}
        answer = self._service.client.post(path, headers=headers, json=body)
        return f"{answer.status_code} {answer.text}"

    def _by_kannel(self) -> str:
        answer = self._service.client.get("/cgi-bin/sendsms", params=self._kannel)
        return f"{answer.status_code} {answer.text}"

    def _by_twilio(self, path: str, **fields: str) -> str:
        given = {"To": DAKAR, **fields}
        answer = self._service.client.post(path, data=given, auth=(self._sid, self._token))
        return f"{answer.status_code} {answer.text}"

    def _by_playsms(self) -> str:
        answer = self._service.client.get("/index.php", params=self._playsms)
        return f"{answer.status_code} {answer.text}"

    def _by_smsgate(self) -> str:
        given = {"phoneNumbers": [DAKAR], "textMessage": {"text": "by SMSGate"}}
        path = "/api/3rdparty/v1/messages"
        answer = self._service.client.post(path, json=given, auth=self._smsgate)
        return f"{answer.status_code} {answer.text}"

    def _by_smpp(self) -> str:
        request = submit("by SMPP", destination_addr=DAKAR[1:])
        _, status = trio.run(submitted, self._service, self._smpp, request)
        return f"SMPP {status}"

    def _command(self, *arguments: str) -> str:
        settings = self._service.data.parent / "risala-test.toml"
        done = self._service.command(*arguments, "--config", str(settings))
        return f"exit {done.returncode} {done.stdout}{done.stderr}"


REFUSALS = {
    "api": '"code":"COUNTRY_NOT_OPEN"',
    "batch": '"code":"COUNTRY_NOT_OPEN"',
    "kannel": f"403 {NOT_OPEN}",
    "twilio": '"code":21408',
    "playsms": "403 ",
    "smsgate": "403 ",
    "smpp": f"SMPP {ESME_RINVDSTADR}",
    "command": "exit 1",
}
ANSWERS = {
    "api": "200 ",
    "batch": '"messageId"',
    "kannel": "202 ",
    "twilio": "201 ",
    "playsms": '"status":"OK"',
    "smsgate": "202 ",
    "smpp": "SMPP 0",
    "command": "exit 0",
}


def test_no_face_reaches_a_country_before_an_operator_opens_it(premises):
    """Calls to far prefixes cost nobody a balance: messages, codes, and codes by keys that anybody
    can read in a page, are opened one by one."""
    simulator = premises.simulator()
    service = premises.running(simulator, more="\n".join((SECTION, FACES, SERVED)))
    account = service.organization("1000.00")
    ways = Ways(service, account)
    uses = {"send": ways.messages, "verify": ways.codes, "publishable": ways.public_codes}
    opened: list[str] = []
    left = 1000
    for use in (None, *uses):
        if use is not None:
            given = {"organization_id": account.organization_id, "country": "SN", "uses": [use]}
            service.perform("country.open", **given)
            opened.append(use)
        for each, asked in uses.items():
            for way, ask in asked.items() if each not in opened[:-1] else ():
                told = ask()
                if each in opened:
                    assert ANSWERS[way] in told, (use, each, way, told)
                    left -= 12
                else:
                    assert REFUSALS[way] in told, (use, each, way, told)
                    assert way == "smpp" or NOT_OPEN in told, (use, each, way, told)
        assert service.balance(account) == f"{left}.00"
    service.wait_settled()
    assert len(simulator.received()) == (1000 - left) // 12
    assert {each.recipient for each in simulator.received()} == {DAKAR}
    service.assert_books_agree()
    service.assert_no_bug_logged()
