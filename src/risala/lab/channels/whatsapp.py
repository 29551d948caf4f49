"""WhatsApp's Cloud API on this machine: templates, error codes and signed reports as Meta documents
them (developers.facebook.com, WhatsApp Cloud API)."""

from __future__ import annotations

import hmac
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpcore2

from risala.lab.channels.vendor import Json, Vendor

VERSION: Final = "/v23.0"
NUMBER_ID: Final = "106540352242922"
BUSINESS_ID: Final = "102290129340398"
TEMPLATE: Final = "code"
_PATH: Final = re.compile(r"/v\d+\.\d+/(\d+)(/[a-z_]+)?/?")
_TITLES: Final[Mapping[int, tuple[int, str]]] = {
    100: (400, "Invalid parameter"),
    130429: (429, "Rate limit hit"),
    131000: (500, "Something went wrong"),
    131008: (400, "Required parameter is missing"),
    131016: (500, "Service unavailable"),
    131026: (400, "Message undeliverable"),
    131031: (403, "Account has been locked"),
    131042: (400, "Business eligibility payment issue"),
    131056: (400, "(Business Account, Consumer Account) pair rate limit hit"),
    132000: (400, "Number of parameters does not match the expected number of params"),
    132001: (404, "Template name does not exist in the translation"),
    132005: (400, "Translated text too long"),
    190: (401, "Invalid OAuth access token"),
}
"""The status and the title of each error."""
CODE_CHARACTERS_MAX: Final = 15
_numbers = count(1)


@dataclass
class WhatsAppCloud(Vendor):
    """Takes template messages; who has no account learns of it by a report alone, as there."""

    app_secret: str = "secret-of-the-app"  # noqa: S105 -- made up
    verify_token: str = "word-of-the-operator"  # noqa: S105 -- made up
    templates: dict[tuple[str, str], str] = field(
        default_factory=lambda: {(TEMPLATE, "en"): "APPROVED", (TEMPLATE, "fr"): "APPROVED"}
    )
    """The state of each template, by its name and its language."""
    refuses: list[int] = field(default_factory=list)
    """Error codes with which it answers the next messages, used up in order."""
    to: dict[str, str] = field(default_factory=dict)
    """Whom each message is for, by its id."""
    now_s: Callable[[], float] = time.time

    @property
    def api(self) -> str:
        """Where the API is."""
        return self.url + VERSION

    def answered(self, path: str, body: Json, is_known: bool) -> tuple[int, Json]:
        if not is_known:
            return error(190, "OAuthException")
        parts = _PATH.fullmatch(path)
        match (parts[1], parts[2]) if parts else ("", None):
            case (str(one), "/messages") if one == NUMBER_ID:
                return self._send(body)
            case (str(one), None) if one == NUMBER_ID:
                return 200, {
                    "id": NUMBER_ID,
                    "display_phone_number": "+222 36 00 00 01",
                    "verified_name": "My shop",
                    "quality_rating": "GREEN",
                }
            case (str(one), "/message_templates") if one == BUSINESS_ID:
                return 200, {"data": [self._template(*each) for each in self.templates]}
        return error(100, "GraphMethodException")

    def _template(self, name: str, language: str) -> Json:
        state = self.templates[name, language]
        return {"name": name, "language": language, "status": state, "category": "AUTHENTICATION"}

    def _send(self, body: Json) -> tuple[int, Json]:
        if self.refuses:
            return error(self.refuses.pop(0))
        if body.get("messaging_product") != "whatsapp" or body.get("type") != "template":
            return error(131008)
        number = re.sub(r"\D", "", str(body.get("to", "")))
        template = body.get("template") or {}
        language = (template.get("language") or {}).get("code")
        named = (str(template.get("name")), str(language))
        if self.templates.get(named) != "APPROVED":
            return error(132001)
        texts = _texts(template.get("components") or [])
        if [kind for kind, _ in texts] != ["body", "button/url/0"]:
            return error(132000)
        if len(code := texts[0][1]) > CODE_CHARACTERS_MAX or texts[1][1] != code:
            return error(132005)
        message_id = f"wamid.{next(_numbers):032d}"
        self.to[message_id] = number
        if self.has(f"+{number}"):
            self.codes.append((f"+{number}", code))
        self._by_itself(message_id)
        return 200, {
            "messaging_product": "whatsapp",
            "contacts": [{"input": body["to"], "wa_id": number}],
            "messages": [{"id": message_id, "message_status": "accepted"}],
        }

    def _by_itself(self, message_id: str) -> None:
        has = self.has(f"+{self.to[message_id]}")
        for word in ("sent", "delivered") if has else ("failed",):
            report = self.reported(message_id, word)
            self.report(report, self.signed(report))

    @property
    def last(self) -> str:
        """The id of the last message."""
        return next(reversed(self.to))

    def reported(self, message_id: str, word: str, code: int = 131026) -> Json:
        """The report that a message is ``sent``, ``delivered``, ``read`` or has ``failed``.

        Args:
            code: why it failed.
        """
        status: Json = {
            "id": message_id,
            "status": word,
            "timestamp": str(int(self.now_s())),
            "recipient_id": self.to[message_id],
        }
        if word == "failed":
            title = _TITLES[code][1]
            status["errors"] = [{"code": code, "title": title, "message": title}]
        value = {
            "messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "22236000001", "phone_number_id": NUMBER_ID},
            "contacts": [{"wa_id": self.to[message_id]}],
            "statuses": [status],
        }
        change = {"field": "messages", "value": value}
        return {
            "object": "whatsapp_business_account",
            "entry": [{"id": BUSINESS_ID, "changes": [change]}],
        }

    def signed(self, report: Json) -> dict[str, str]:
        """The header field that proves a report."""
        octets = json.dumps(report).encode()
        digest = hmac.digest(self.app_secret.encode(), octets, sha256).hex()
        return {"X-Hub-Signature-256": f"sha256={digest}"}

    async def greet(self, url: str, challenge: str = "1158201444") -> bool:
        """Whether an address that an operator enters there is one for reports."""
        query = {
            "hub.mode": "subscribe",
            "hub.verify_token": self.verify_token,
            "hub.challenge": challenge,
        }
        headers = [("Host", urlsplit(url).netloc)]
        async with httpcore2.AsyncConnectionPool() as pool:
            answer = await pool.request("GET", f"{url}?{urlencode(query)}", headers=headers)
        return (answer.status, answer.content) == (200, challenge.encode())


def error(code: int, kind: str = "OAuthException") -> tuple[int, Json]:
    """The answer with an error."""
    status, title = _TITLES[code]
    detail = {"messaging_product": "whatsapp", "details": title}
    fault = {"message": f"(#{code}) {title}", "type": kind, "code": code, "error_data": detail}
    return status, {"error": {**fault, "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam"}}


def _texts(components: list[Any]) -> list[tuple[str, str]]:
    """What fills a template, by its parts."""
    texts: list[tuple[str, str]] = []
    for each in components:
        kind = str(each.get("type")).lower()  # clients write these words in either case
        if kind == "button":
            kind = f"button/{str(each.get('sub_type')).lower()}/{each.get('index')}"
        filling = (one for one in each.get("parameters") or () if one.get("type") == "text")
        texts.extend((kind, str(one.get("text"))) for one in filling)
    return texts
