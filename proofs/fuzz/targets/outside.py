"""Files of operators and calls between machines: settings, webhooks' signatures and addresses."""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import ipaddress
import json
import socket
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpcore2
from standardwebhooks import Webhook as TheirWebhook
from standardwebhooks import WebhookVerificationError

from proofs.fuzz.target import FuzzTarget, Script, is_unicode, refusal_of, text_of, work_within
from risala.cli.commands.messaging.mail_reader import (
    SENT_CHARACTERS_MAX,
    ReadMail,
    UnreadableMail,
    read_mail,
)
from risala.client.errors import SignatureError
from risala.client.webhooks import Webhook
from risala.config.faults import ConfigError
from risala.config.load import load_settings
from risala.config.model import Settings
from risala.engine.features.hooks.rules.answers import (
    HookAnswerShape,
    HookOutcome,
    HookResult,
    answer_of,
)
from risala.engine.features.hooks.rules.presets import presets
from risala.engine.features.hooks.rules.reading import read
from risala.engine.features.hooks.rules.requests import (
    HookFault,
    HookMessage,
    HookRequest,
    HookSecrets,
    proof_fault,
)
from risala.engine.kernel.arguments import is_text
from risala.engine.rules.webhooks.signatures import is_secret, signed, stamped, with_sms_id
from risala.engine.rules.webhooks.url import AddressRules, UrlRefused, address_fault, parse_target
from risala.sms.limits import TEXT_CHARACTERS_MAX

_NOW_S: Final = 1_767_225_600
_KEY: Final = "whsec_" + base64.b64encode(b"k" * 32).decode()
_EVENT: Final = json.dumps(
    {
        "id": "evt_1",
        "type": "sms.delivered",
        "createdAt": "2026-01-01T00:00:00Z",
        "organizationId": "org_1",
        "test": False,
        "messageId": "sms_1",
        "to": "+22236123456",
        "from": "RISALA",
        "status": "delivered",
    }
)


@functools.cache
def _read_settings_once() -> None:
    """What the first faulty setting of a process builds and keeps is no work of the input."""
    refusal_of(lambda: load_settings(None, environ={}, overrides={"mail.host": 1}), ConfigError)


def _settings(octets: bytes) -> None:
    """Settings, or all faults at once; a value is never repeated in a sentence about it."""
    path = Path(tempfile.gettempdir()) / "risala-fuzz-settings.toml"
    _read_settings_once()
    path.write_bytes(octets)
    with work_within(20_000 + 400 * len(octets)):
        found = refusal_of(lambda: load_settings(path, environ={}), ConfigError)
    if isinstance(found, ConfigError):
        assert found.faults
        for fault in found.faults:
            assert fault.text
            assert len(fault.text) < 2000
            assert "s3cr3t-in-a-file" not in f"{fault.text}{fault.source}"
        str(found)
    else:
        assert isinstance(found, Settings)


def _setting_seeds() -> Iterator[bytes]:
    yield b'[http]\nport = 8080\nhost = "127.0.0.1"\n'
    yield (
        b'[[carriers]]\nname = "a"\ndriver = "smpp"\nprefixes = ["+2222"]\n[carriers.smpp]\n'
        b'host = "localhost"\nsystem_id = "x"\npassword = "s3cr3t-in-a-file"\n'
    )
    yield b'[mail]\nhost = 1\nsender = ""\n[webhooks]\nports = [443, "x"]\n'
    yield b'\xef\xbb\xbf[storage]\ndata_dir = "x"\n'
    yield b"[http\n"
    yield b'carriers = 3\nhttp = "x"\nx.y.z = 1979-05-27T07:32:00Z\n'
    yield b'[payments.bank]\nprovider = "mobile_money"\n[compat.kannel]\nenabled = true\n'


def _signatures(octets: bytes) -> None:
    """The client takes what the library of the standard takes, and what we sign."""
    script = Script(octets)
    body, event_id = script.of((_EVENT, "{}", "[]", "")), script.of(("evt_1", "", "a.b", "é"))
    offset = script.of((0, 299, -299, 400, -400))
    mutate = script.number() % 4
    junk = script.rest().decode("latin-1")
    ours = Webhook(_KEY, now=_now)
    headers = signed(event_id, body, [_KEY], (_NOW_S + offset) * 1000)
    if mutate == 1:
        headers["webhook-signature"] = junk
    elif mutate == 2:
        headers["webhook-timestamp"] = junk
    elif mutate == 3:
        headers["webhook-signature"] = f"{junk} {headers['webhook-signature']} v1,{junk}"
    mine = refusal_of(lambda: ours.verify(body, headers), SignatureError)
    is_signed = _is_signed(body, headers)
    if isinstance(mine, Exception):
        # Refused: by its signature or its time, or since its body is no event.
        assert not is_signed or abs(offset) > 300 or body != _EVENT or mutate == 2
    else:
        assert is_signed
        assert body == _EVENT
        assert abs(offset) <= 300
    mark = stamped(body, [_KEY], _NOW_S * 1000)
    assert (
        mark
        == f"t={_NOW_S},v1="
        + hmac.new(_KEY.encode(), f"{_NOW_S}.{body}".encode(), hashlib.sha256).hexdigest()
    )
    also = refusal_of(
        lambda: ours.verify_signed(body, mark if mutate == 0 else junk), SignatureError
    )
    if not isinstance(also, Exception):
        assert body == _EVENT
    is_secret(junk)
    if body.startswith("{"):
        assert json.loads(with_sms_id(body)).get("smsId") == json.loads(body).get("messageId")


def _now() -> float:
    return float(_NOW_S)


def _is_signed(body: str, headers: dict[str, str]) -> bool:
    """Whether the standard's own library finds its signature; the time apart, which it measures by
    this machine's clock."""
    their = TheirWebhook(_KEY)
    at = headers["webhook-timestamp"]
    if not (at.isascii() and at.isdigit()) or len(at) > 10:
        return False
    try:
        wanted = their.sign(headers["webhook-id"], datetime.fromtimestamp(int(at), UTC), body)
    except (ValueError, OverflowError, WebhookVerificationError):
        return False
    return any(
        _bytes(each[3:]) == _bytes(wanted[3:])
        for each in headers["webhook-signature"].split()
        if each.startswith("v1,")
    )


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


_RULES: Final = (AddressRules(), AddressRules(allow_insecure=True))


def _urls(octets: bytes) -> None:
    """What is checked is what is connected to: other readers of addresses see the same host."""
    script = Script(octets)
    rules, url = script.of(_RULES), text_of(script.rest())
    with work_within(4000 + 60 * len(url)):
        target = refusal_of(lambda: parse_target(url, rules), UrlRefused)
    if isinstance(target, Exception):
        assert len(str(target)) < 400
        return
    assert target.host.isascii()
    assert is_unicode(target.path)
    assert all("!" <= each <= "~" for each in target.authority + target.path)
    parts = urlsplit(f"{target.scheme}://{target.authority}{target.path}")
    assert parts.hostname == target.host
    asked = httpcore2.URL(f"{target.scheme}://{target.authority}{target.path}")
    assert asked.host.decode() == target.authority.removesuffix(f":{target.port}").strip("[]")
    assert parse_target(parts.geturl(), rules) == target
    if not rules.allow_insecure:
        assert target.scheme == "https"
        assert target.port == 443
        _check_outside(target.host)


def _check_outside(host: str) -> None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        assert "." in host
        # Nor is it an address in one of the spellings that resolvers take beside the usual one.
        assert isinstance(refusal_of(lambda: socket.inet_aton(host), OSError), OSError)
        return
    assert address.is_global
    assert not address.is_multicast
    assert address_fault(address, AddressRules()) is None


def _url_seeds() -> Iterator[bytes]:
    for url in (
        "https://example.com/hook?x=1",
        "https://müller.example/",
        "http://127.0.0.1:8080/",
        "https://[2606:4700::1111]:443/a",
        "https://[::ffff:10.0.0.1]/",
        "https://0x7f.1/",
        "https://user@example.com/",
        "https://example.com#x",
        "https://straße.example",
        "https://2130706433/",
    ):
        yield b"\0" + url.encode()
        yield b"\1" + url.encode()


def _hooks(octets: bytes) -> None:
    """Whatever a program asks, there are messages of bounded text, or a sentence without its words.

    The first octet chooses the preset, the second the content type; the rest is query and body.
    """
    known = [each for each in presets() if each.mapping is not None]
    chosen = known[octets[0] % len(known)] if octets else known[0]
    kind = _KINDS[octets[1] % len(_KINDS)] if len(octets) > 1 else ""
    query, _, body = octets[2:].partition(b"\0")
    headers = {
        "authorization": query.decode("latin-1"),
        "webhook-signature": body.decode("latin-1"),
    }
    request = HookRequest("POST", query.decode("latin-1"), headers, body, kind, None, 0)
    assert chosen.mapping is not None
    for proof in chosen.proofs:
        assert proof_fault(proof, HookSecrets(b"k" * 32), request, header=chosen.header)
    with work_within(400_000 + 2_000 * len(octets)):
        found = read(chosen.mapping, request)
    if isinstance(found, HookFault):
        assert found.sentence.isprintable()
        return
    for each in found:
        assert each.text or each.code
        assert is_text(each.text or "")
        assert len(each.text or "") <= TEXT_CHARACTERS_MAX
        assert (each.to is None) == (chosen.to == "fixed")
    json.loads(answer_of(HookAnswerShape.ODOO, request, [_accepted(each) for each in found]).body)


_KINDS: Final = ("application/json", "application/x-www-form-urlencoded", "text/plain", "")


def _accepted(message: HookMessage) -> HookResult:
    return HookResult(HookOutcome.ACCEPTED, message=message)


def _hook_seeds() -> Iterator[bytes]:
    said = {
        "sms": {"phone": "22236123456", "otp": "561166"},
        "params": {"messages": [{"content": "a", "numbers": [{"uuid": "u", "number": "+222"}]}]},
        "alerts": [{"labels": {"alertname": "a"}, "annotations": {"summary": "b"}}],
        **dict.fromkeys(("to", "text", "msg", "title", "phoneNumber", "content"), "36123456"),
        "contextInfo": {"recipientPhoneNumber": "1"},
        "templateData": {"text": "c"},
    }
    for place, _ in enumerate(presets()):
        yield bytes([place, 0]) + b"to=1&text=a\0" + json.dumps(said).encode()
        yield bytes([place, 1]) + b"\0to=%2B22236123456&text=%E9&message=%D8%A7&output=x&type=y"


def _mails_to_sms(octets: bytes) -> None:
    """What is read of a stranger's mail is text that can be sent, and reading it costs little."""
    with work_within(400_000 + 400 * len(octets)):
        found = refusal_of(lambda: read_mail(octets), UnreadableMail)
    if not isinstance(found, ReadMail):
        return
    for text in (found.subject, found.text):
        assert is_text(text)
        assert len(text) <= SENT_CHARACTERS_MAX
        assert not any(each.isspace() and each not in " \n" for each in text)
        assert text == text.strip()
    assert "\n" not in found.subject
    assert len(found.digest) == 64


def _mail_seeds() -> Iterator[bytes]:
    head = b"From: a@b\nMessage-ID: <1@b>\nSubject: =?utf-8?q?Caf=C3=A9?=\n"
    yield head + b"Delivered-To: 36123456@sms.example\nReturn-Path: <a@b>\n\nhi\n-- \nAnn\n"
    yield head + b"\nok\nOn 1 Jan 2026 b@c wrote:\n> old\n-----Original Message-----\nFrom: x\n"
    yield head + b"Content-Type: text/plain; charset=utf-7; format=flowed\n\na \nb +2AA-\n"
    html = b"<p>a<br>b</p><style>c</style><blockquote>d</blockquote>&#0;&amp;<!-- -->"
    yield head + b"Content-Type: text/html; charset=iso-8859-1\n\n" + html
    yield (
        head + b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n"
        b"Content-Disposition: attachment\n\nx\n--b\nContent-Transfer-Encoding: base64\n\n"
        b"aGk=\n--b--"
    )


TARGETS: Final = (
    FuzzTarget(
        "settings",
        "settings, or every fault in a sentence of its own; no value of a secret in any",
        _settings,
        _setting_seeds,
        octets_max=600,
        words=(
            b"[[carriers]]\n",
            b"[http]\n",
            b"[mail]\n",
            b" = ",
            b"[carriers.smpp]\n",
            b'"',
            b"{",
        ),
    ),
    FuzzTarget(
        "webhook-signatures",
        "the client takes what the standard's library takes, and nothing else",
        _signatures,
        lambda: (b"\0\0\0\0", b"\0\0\0\1v1,", b"\0\0\0\2" + b"1767225600", b"\0\0\0\3v1a,x"),
        octets_max=120,
        words=(b"v1,", b" ", b"t=", b"v1=", b"1767225600"),
    ),
    FuzzTarget(
        "webhook-addresses",
        "urllib and httpcore see the host that was checked; none leads inside",
        _urls,
        _url_seeds,
        octets_max=200,
        words=(b"https://", b"@", b"[::1]", b"127.0.0.1", b"%", b":443", b"xn--", b"\\", b"0x"),
    ),
    FuzzTarget(
        "hooks",
        "what programs ask of hooks is messages of bounded text, or a fault; nothing proves itself",
        _hooks,
        _hook_seeds,
        octets_max=1200,
        words=(b'{"', b'":"', b"[", b"]}", b"\\ud800", b"\\u0000", b"&", b"=", b"%", b"\0", b"1e9"),
    ),
    FuzzTarget(
        "mails-to-sms",
        "a mail is refused in a sentence, or its text is one that can be sent; the work is bounded",
        _mails_to_sms,
        _mail_seeds,
        octets_max=800,
        words=(
            *(b"Content-Type: ", b"multipart/mixed; boundary=b", b"\n--b\n", b"text/html"),
            *(b"; charset=", b"=?utf-8?b?", b"?=", b"\n\n", b"\0", b"base64", b"\n> ", b"&#"),
        ),
    ),
)
