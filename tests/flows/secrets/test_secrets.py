"""Secrets are planted, the product is used by every face, errors are forced: and where are they?"""

from __future__ import annotations

import json
import re
import socket
import sys
from email import message_from_string
from email.policy import default
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit
from zipfile import ZipFile

import httpx2
import pytest

from patience import HANG_S, until
from processes import Process
from risala.engine.gateway.table import OPERATIONS

pytestmark = pytest.mark.slow
TO = "+22236123456"
SMSGATE = "/api/3rdparty/v1/messages"
BODIES = ("risala.db", "risala.db-wal", "risala.db-shm")
"""Files that may hold texts of messages and webhooks' addresses. Never a key, a code, a session, or
what signs a webhook or is sent along to it: that is sealed."""
ARCHIVE = ("a message's text", "a token in a webhook's address")
"""What an owner takes along: texts, and where webhooks go; not what is sent along to them."""
MESSAGES = ("a message's text",)
"""What a table of messages has."""
OPEN = ("server.key",)
"""The secret itself, its owner's alone."""


@pytest.fixture
def told():
    """All answers that anybody got: the place with its octets."""
    return []


class House:
    """A service with everything planted, in one format of its log."""

    def __init__(self, premises, settings, secrets, mail, planted, log_format):
        self.secrets, self.told, self.mail = secrets, [], mail[0]
        self.files = []
        self.simulator = premises.simulator(
            "--system-id", "risala", "--password", planted["RISALA_PLANTED_SMPP"]
        )
        config = settings(premises.path / "risala.toml", self.simulator.port, mail[1])
        self.service = premises.service("--config", str(config))
        self.environment = {
            **planted,
            "RISALA_LOG__LEVEL": "debug",
            "RISALA_LOG__FORMAT": log_format,
        }
        service = self.service
        command = ("serve", "--data", str(service.data), "--port", "0", *service.options)
        service.process = Process(
            (sys.executable, "-m", "risala", *command), premises.path, **self.environment
        )
        service.processes.append(service.process)
        line = service.process.wait_line(lambda each: each.startswith("Risala is running at "))
        service.url = line.removeprefix("Risala is running at ")
        service.wait_ready()
        self.browser = httpx2.Client(base_url=service.url, trust_env=False, timeout=HANG_S)

    # -- asking

    def ask(self, method, path, **given):
        """By HTTP; the answer is searched later, unless it is what shows a secret once."""
        shows = given.pop("shows", False)
        client = given.pop("client", None) or self.service.client
        answer = client.request(method, path, **given)
        if not shows:
            head = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
            if "set-cookie" in answer.headers:
                head = ""  # that is where a session is
            self.told.append((f"{method} {path.partition('?')[0]}", head.encode() + answer.content))
        return answer

    def perform(self, operation, **arguments):
        """By the control socket."""
        result = self.service.perform(operation, **arguments)
        self.told.append((operation, json.dumps(result, ensure_ascii=False).encode()))
        return result

    def make(self, operation, **arguments):
        """The same, of what shows a secret once."""
        return self.service.perform(operation, **arguments)

    def keep(self, what, value, *, in_database=False):
        place = self.secrets.database_alone if in_database else self.secrets.nowhere
        place[what] = value
        return value

    # -- the faces

    def accounts(self):
        made = self.make("org.create", name="Shop")
        self.whose = {"organization_id": made["id"]}
        self.make("topup", amount="1000", **self.whose)
        self.make("verify.config", code_length=8, own_codes=True, **self.whose)
        named = {"name": "order", "text": "{{order}}: {{code}}"}
        self.make("verify.templates", **named, **self.whose)
        self.make("member.add", email="owner@shop.example", role="owner", **self.whose)
        for kind in ("secret", "publishable"):
            value = self.make("key.create", type=kind, **self.whose)["value"]
            self.keep(f"a {kind} key", value)
        self.key = {"x-api-key": self.secrets.nowhere["a secret key"]}
        for face in ("kannel", "twilio", "playsms", "smsgate", "smpp"):
            found = self.make("credential.create", face=face, **self.whose)
            self.keep(f"a password of {face}", found["password"])
            setattr(self, face, (found["credential"]["username"], found["password"]))
        token = self.secrets.database_alone["a token in a webhook's address"]
        hook = self.make(
            "webhook.create",
            url=f"http://127.0.0.1:9/{token}",
            headers={"Authorization": self.secrets.database_alone["a webhook's header"]},
            types=["sms.sent", "sms.failed", "sms.delivered"],
            **self.whose,
        )
        self.keep("a webhook's secret", hook["secret"], in_database=True)
        self.hook = hook["endpoint"]["id"]

    def messages(self):
        body = self.secrets.database_alone["a message's text"]
        sent = self.ask("POST", "/api/sms", json={"to": TO, "body": body}, headers=self.key)
        assert sent.status_code == 200, sent.text
        self.message = sent.json()["messageId"]
        name, password = self.kannel
        given = {"username": name, "password": password, "to": TO, "text": body}
        assert self.ask("GET", "/cgi-bin/sendsms", params=given).status_code == 202
        name, password = self.twilio
        place = f"/2010-04-01/Accounts/{name}/Messages.json"
        sent = self.ask("POST", place, data={"To": TO, "Body": body}, auth=self.twilio, shows=True)
        assert sent.status_code == 201, sent.text
        name, token = self.playsms
        given = {"app": "ws", "op": "pv", "u": name, "h": token, "to": TO, "msg": body}
        assert self.ask("GET", "/index.php", params=given).status_code == 200
        given = {"phoneNumbers": [TO], "textMessage": {"text": body}}
        sent = self.ask("POST", SMSGATE, json=given, auth=self.smsgate)
        assert sent.status_code == 202, sent.text
        self.service.wait_settled()
        assert self.simulator.texts()[body] == 5
        self.perform("webhook.test", endpoint_id=self.hook)

    def codes(self):
        sent = self.ask("POST", "/api/verify/send", json={"to": TO}, headers=self.key)
        assert sent.status_code == 200, sent.text
        found = until(
            lambda: [m[0] for t in self.simulator.texts() if (m := re.search(r"\b\d{8}\b", t))],
            "the code is on the phone",
        )
        code = self.keep("a one-time code", found[0])
        asked = {"verificationId": sent.json()["verificationId"]}
        for said in ("00000001", code):
            given = {**asked, "code": said}
            self.ask("POST", "/api/verify/check", json=given, headers=self.key)
        self.ask("POST", "/api/verify/get", json=asked, headers=self.key)

    def codes_of_callers(self):
        """Codes, variables and payees that programs give, and a code that another program made."""
        own = {
            "code": self.keep("a caller's own code", "80417263"),
            "template": "order",
            "variables": {"order": self.keep("a variable's value", "planted-Variable-Hk2Vw")},
            "amount": "15.00",
            "currency": "MRU",
            "payee": self.keep("a payee", "planted-Payee-Zt6Rn"),
            "clientIp": self.keep("a user's address", "203.0.113.77"),
        }
        sent = self.ask("POST", "/api/verify/send", json={"to": TO, **own}, headers=self.key)
        assert sent.status_code == 200, sent.text
        until(lambda: any(own["code"] in each for each in self.simulator.texts()), "it came")
        payment = {name: own[name] for name in ("amount", "currency", "payee")}
        named = {"verificationId": sent.json()["verificationId"], **payment}
        self.files += self.copies("while the session is pending")
        for code in ("80417264", own["code"]):
            given = {**named, "code": code}
            self.ask("POST", "/api/verify/check", json=given, headers=self.key)
        shown = self.ask(
            "POST",
            "/api/verify/get",
            json={"verificationId": named["verificationId"]},
            headers=self.key,
        )
        assert shown.json()["status"] == "approved"
        mapping = {"sends": "code", "to": "request", "mapping": {"to": "/to", "code": "/code"}}
        made = self.make("hook.create", preset="custom", mapping=json.dumps(mapping), **self.whose)
        self.keep("a hook's secret", made["secret"])
        headers = {"Authorization": f"Bearer {made['secret']}"}
        code = self.keep("a hook's code", "73625184")
        path = urlsplit(made["hook"]["url"]).path
        for body in ({"to": TO, "code": code}, {"to": "36", "code": code}, {"code": code}):
            self.ask("POST", path, json=body, headers=headers)
        until(lambda: any(code in each for each in self.simulator.texts()), "the hook's code came")
        self.program = made["hook"]["id"]
        self.perform("hook.show", hook_id=self.program)
        self.service.wait_settled()

    def copies(self, when):
        """A backup, as it can be taken away."""
        path = self.service.data.parent / "copy.db"
        done = self.service.command("backup", str(path))
        assert done.returncode == 0, done.stderr
        octets = path.read_bytes()
        path.unlink()
        return [(f"the backup {when}", octets, ARCHIVE)]

    def pages(self):
        """In by a code from a mail, around, and to a key that is shown once."""
        browser = self.browser
        page = self.ask("GET", "/sign-in", client=browser, shows=True)
        given = {"form_token": self.mark(page), "email": "owner@shop.example"}
        self.ask("POST", "/sign-in", data=given, client=browser)
        with self.mail.came:
            self.mail.came.wait_for(lambda: self.mail.mails, HANG_S)
        mail = message_from_string(self.mail.mails[-1], policy=default)
        text = mail.get_body(("plain",)).get_content()
        code = re.search(r"(?<!\d)\d{6}(?!\d)", text)[0]
        self.keep("a sign-in code", code)
        page = self.ask("GET", "/sign-in", client=browser, shows=True)
        for said in ("000001", code):
            given = {"form_token": self.mark(page), "code": said}
            answer = self.ask("POST", "/sign-in", data=given, client=browser)
        assert answer.status_code == 303, answer.text
        self.keep("a session", browser.cookies["risala"])
        at = f"/app/{self.whose['organization_id']}"
        for each in (
            "overview",
            "keys",
            "webhooks",
            f"webhooks/{self.hook}",
            "members",
            "verify",
            "verify/templates",
            "verify/figures",
            "verify/settings",
            "messages",
            "connect",
            f"connect/{self.program}",
            "billing",
            "settings",
            "start",
            "senders",
        ):
            assert self.ask("GET", f"{at}/{each}", client=browser).status_code == 200, each
        self.ask("GET", f"{at}/nope", client=browser)
        link = self.make("user.sign_in", email="owner@shop.example")
        self.keep("a link to sign in", link["token"])
        self.ask("GET", f"/sign-in/link/{link['token']}", shows=True)
        self.make("member.invite", email="x@refused.example", role="viewer", **self.whose)

    def owners_files(self):
        """All that an owner takes along: the archive, the messages, the statement."""
        at = f"/app/{self.whose['organization_id']}"
        form = {"client": self.browser}
        page = self.ask("GET", f"{at}/settings/kept", **form)
        once = re.search(r'exports".*?name="once" value="([^"]+)"', page.text, re.DOTALL)[1]
        given = {"form_token": self.mark(page), "once": once}
        asked = self.ask("POST", f"{at}/settings/exports", data=given, **form)
        assert asked.status_code == 303, asked.text
        self.archive = asked.headers["location"]
        until(self.fetch_archive, "the archive is written")
        for path in ("messages/export/file", "billing/statement"):
            self.fetch(f"{at}/{path}", MESSAGES, **form)

    def fetch_archive(self):
        answer = self.browser.get(f"{self.archive}/file")
        if answer.status_code != 200:
            return False
        with ZipFile(BytesIO(answer.content)) as archive:
            names = archive.namelist()
            assert {"settings.json", "messages.jsonl", "audit.jsonl"} <= set(names)
            self.files += [(f"the archive's {name}", archive.read(name), ARCHIVE) for name in names]
        return True

    def fetch(self, path, may_hold, *, client):
        answer = client.get(path)
        assert "attachment" in answer.headers["content-disposition"], answer.text
        self.files.append((path, answer.content, may_hold))
        return answer.text

    def operators_files(self):
        """In by a link, to the trail of all that was done, in both of its shapes."""
        email = "operator@risala.example"
        self.make("user.create", email=email, operator=True)
        token = self.make("user.sign_in", email=email, operator=True)["token"]
        path = f"/operator/sign-in/link/{self.keep('a link to the console', token)}"
        with httpx2.Client(base_url=self.service.url, trust_env=False, timeout=HANG_S) as console:
            page = self.ask("GET", path, client=console, shows=True)
            given = {"form_token": self.mark(page)}
            assert self.ask("POST", path, client=console, data=given).status_code == 303
            self.keep("an operator's session", console.cookies["risala-operator"])
            for form in ("comma", "jsonl"):
                trail = self.fetch(f"/operator/audit/export/file?form={form}", (), client=console)
                assert "key.create" in trail
                assert "webhook.create" in trail

    @staticmethod
    def mark(page):
        return re.search(r'name="form_token" value="([^"]+)"', page.text)[1]

    def errors(self):
        """Everything that is wrong, each with a secret in it."""
        secret = self.secrets.nowhere
        wrong, password = secret["a wrong key"], secret["a wrong password"]
        for key in (wrong, wrong + "\xe9"):
            self.ask("POST", "/api/sms", headers={"x-api-key": key.encode("latin-1")}, json={})
        body = {"to": secret["a secret key"], "body": 7, "from": password, "idempotencyKey": "x"}
        self.ask("POST", "/api/sms", json=body, headers=self.key)
        self.ask("POST", "/api/sms", content=b'{"to": ' + password.encode(), headers=self.key)
        self.ask("POST", "/api/verify/check", json={"code": password}, headers=self.key)
        for path in (f"/{wrong}", f"/app/{wrong}", f"/api/{wrong}", f"/operator/{wrong}"):
            self.ask("GET", f"{path}?key={password}", shows=True)  # its own address may be shown
        for given in ({"username": self.kannel[0], "password": password}, {"password": password}):
            self.ask("GET", "/cgi-bin/sendsms", params={**given, "to": TO, "text": "x"})
        given = {"app": "ws", "op": "pv", "u": self.playsms[0], "h": password, "to": TO, "msg": "x"}
        self.ask("GET", "/index.php", params=given)
        self.ask("POST", SMSGATE, json={}, auth=(self.smsgate[0], password))
        place = f"/2010-04-01/Accounts/{self.twilio[0]}/Messages.json"
        self.ask("POST", place, data={"To": TO}, auth=(self.twilio[0], password))
        host = urlsplit(self.service.url)
        for octets in (
            f"GET /{password} HTTP/9.9\r\n\r\n",
            f"POST /api/sms HTTP/1.1\r\nx-api-key: {wrong}\r\ncontent-length: x\r\n\r\n",
            f"{password}\r\n\r\n",
        ):
            with socket.create_connection((host.hostname, host.port), timeout=HANG_S) as raw:
                raw.sendall(octets.encode())
                self.told.append(("what is no HTTP", raw.recv(65_536)))
        self.ask("POST", "/sign-in", data={"form_token": wrong, "email": password})
        for operation in (password, "key.create"):
            with pytest.raises(Exception) as refused:  # noqa: PT011 -- whichever it is
                self.service.perform(operation, organization_id=wrong, type=password)
            self.told.append((f"a refused {operation[:3]}", b""))
            assert password not in str(refused.value) or operation == password

    def looks(self):
        """All that shows something: operations, commands, metrics."""
        whose = self.whose
        for name in (
            "key.list",
            "credential.list",
            "webhook.list",
            "member.list",
            "request.list",
            "sender.list",
            "verify.list",
            "ledger.list",
            "payment.list",
            "org.show",
            "audit.list",
            "verify.config",
            "export.list",
            "inbound.list",
            "statistics",
        ):
            fields = OPERATIONS[name].arguments.model_fields
            more = {"key_id": self.key_id()} if "key_id" in fields else whose
            self.perform(name, **(more if "organization_id" in fields or more != whose else {}))
        for name in (
            "audit.list",
            "user.list",
            "carriers",
            "console.overview",
            "console.latest",
            "system.show",
            "plugins.list",
            "alert.list",
            "smpp.sessions",
            "price",
            "audit",
        ):
            self.perform(name)
        self.perform("message.events", message_id=self.message)
        self.perform("webhook.show", endpoint_id=self.hook)
        self.perform("webhook.deliveries", endpoint_id=self.hook)
        for path in ("/metrics", "/healthz", "/readyz", "/openapi.json", "/docs"):
            self.ask("GET", path)
        for path in ("/api/webhooks/list", "/api/balance/get", "/api/verify/list"):
            self.ask("POST", path, json={}, headers=self.key)

    def key_id(self):
        listed = self.service.perform("key.list", **self.whose)["keys"]
        return next(each["id"] for each in listed if each["type"] == "secret")

    def commands(self):
        for words in (("doctor",), ("plugins",), ("audit-log",), ("carriers",), ("org", "list")):
            done = self.service.command(*words)
            self.told.append((" ".join(words), (done.stdout + done.stderr).encode()))

    # -- searching

    def search(self):
        found = []
        process = self.service.process
        for place, content in self.told:
            # Whoever may change a webhook sees its address, and what is sent along.
            may = self.secrets.database_alone if "webhook" in place else ()
            may = MESSAGES if place.endswith("/messages") else may
            found += self.secrets.found_in(place, content, may_hold=may)
        for place, content, may in self.files:
            found += self.secrets.found_in(place, content, may_hold=may)
        log = "\n".join([*process.lines, *process.errors]).encode()
        assert len(process.errors) > 20, "there is a log"
        found += self.secrets.found_in("the log", log)
        assert b"36123456" not in log
        command = Path(f"/proc/{process.popen.pid}/cmdline").read_bytes()
        found += self.secrets.found_in("the command line", command)
        limits = Path(f"/proc/{process.popen.pid}/limits").read_text()
        assert re.search(r"Max core file size +0 +0 ", limits)
        return [*found, *self.search_files()]

    def search_files(self):
        found = []
        for path in sorted(self.service.data.rglob("*")):
            if path.is_file() and path.name not in OPEN:
                may = ARCHIVE if path.name in BODIES else ()
                found += self.secrets.found_in(path.name, path.read_bytes(), may_hold=may)
            if path.is_file():
                assert path.stat().st_mode & 0o077 == 0, path
        return found


@pytest.mark.parametrize("log_format", ["json", pytest.param("console", marks=pytest.mark.long)])
def test_no_secret_is_where_it_does_not_belong(
    premises, settings, secrets, mail_server, planted, log_format
):
    house = House(premises, settings, secrets, mail_server, planted, log_format)
    try:
        house.accounts()
        house.messages()
        house.codes()
        house.codes_of_callers()
        house.pages()
        house.files += house.copies("at the end")
        house.owners_files()
        house.operators_files()
        house.errors()
        house.looks()
        house.commands()
        assert mail_server[0].passwords == {planted["RISALA_PLANTED_MAIL"].encode()}
        found = house.search()
        assert not found, "\n".join(found)
        # A crash: what it says, what it leaves, and what is found by the next start.
        house.service.process.signal(6)
        house.service.process.wait_exit()
        last = "\n".join(house.service.process.errors).encode()
        assert b"Fatal Python error: Aborted" in last
        assert secrets.found_in("the last words", last) == []
        assert house.search_files() == []
        assert not [each for each in premises.path.rglob("core*") if each.is_file()]
    finally:
        house.browser.close()


def test_the_search_finds_what_is_there(secrets):
    """In each spelling that it looks for, wherever it begins."""
    import base64

    value = secrets.nowhere["a wrong key"]
    for before in range(4):
        octets = base64.b64encode(b"x" * before + value.encode() + b"tail")
        assert secrets.found_in("here", octets) == ["a wrong key in here"], before
    assert secrets.found_in("here", value.encode().hex().encode()) == ["a wrong key in here"]
    assert secrets.found_in("here", b"pin=73916428;") == ["the SIM's PIN in here"]
    assert secrets.found_in("here", b"9173916428") == []
    text = secrets.database_alone["a message's text"]
    assert secrets.found_in("here", text.encode()) == ["a message's text in here"]
    assert secrets.found_in("here", text.encode(), may_hold=("a message's text",)) == []
