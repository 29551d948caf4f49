"""The aggregators that the laboratory plays: what each takes, answers and brings, in its own JSON.

They are written from the aggregators' documents, beside the driver's presets and not from them:
what both misread in the same way, their own client libraries show, which are pointed at these
stand-ins in the tests.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

USER: Final = "laboratory"
PASSWORD: Final = "laboratory-password"  # noqa: S105 -- of a stand-in
TOKEN: Final = "laboratory-token"  # noqa: S105 -- of a stand-in
ACCESS_TOKEN: Final = "laboratory-access"  # noqa: S105 -- of a stand-in

Headers = Mapping[str, str]
Sign = Callable[[str, bytes], dict[str, str]]
"""Headers that prove a callback: of its address and body."""


def no_signature(_url: str, _body: bytes) -> dict[str, str]:
    """Of those that prove nothing but by the address."""
    return {}


@dataclass(frozen=True, slots=True)
class AggregatorCallback:
    """A callback: its body, with holes."""

    fields: Any
    """``{id}``, ``{to}``, ``{from}``, ``{text}`` are filled."""
    form: bool = True
    """False: JSON."""
    method: str = "POST"
    path: str = ""


@dataclass(frozen=True, slots=True)
class Aggregator:
    """One aggregator's API."""

    name: str
    send: str
    """The path of a message: a pattern."""
    proved: Callable[[Headers, Mapping[str, str]], bool]
    """Whether headers and query prove the caller."""
    to: str
    """Where the number is in the request: a source, as presets have them; so for the next."""
    sender: str
    text: str
    answer: Any
    """The answer to a message, with holes."""
    receipt: AggregatorCallback
    inbound: AggregatorCallback
    status: int = 200
    callback: str = ""
    """Where the request says where receipts go; empty: the account is set up with an address."""
    validity: str = ""
    """Where its validity is, in seconds; empty: it has none."""
    expires: str = ""
    """Where the moment is until which it may try."""
    own_id: str = ""
    """Where our id of the message is that its receipts repeat; empty: the aggregator makes one."""
    looks: Mapping[str, Any] = field(default_factory=dict)
    """Answers to other questions, by their path."""
    lookup: str = ""
    """The path of a question for one message: a pattern with its id as a group."""
    tokens: str = ""
    """The path at which OAuth's tokens are had; empty: there are none."""
    sign: Sign = no_signature
    no_account: Any = None
    """The answer to who is not proved, with 401."""


def _basic(headers: Headers, _query: Mapping[str, str]) -> bool:
    pair = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    return headers.get("authorization") == f"Basic {pair}"


def _header(name: str, value: str) -> Callable[[Headers, Mapping[str, str]], bool]:
    def proved(headers: Headers, _query: Mapping[str, str]) -> bool:
        return headers.get(name) == value

    return proved


def _by_twilio(url: str, body: bytes) -> dict[str, str]:
    pairs = sorted(parse_qsl(body.decode(), keep_blank_values=True))
    content = url + "".join(name + value for name, value in pairs)
    digest = hmac.digest(PASSWORD.encode(), content.encode(), hashlib.sha1)
    return {"x-twilio-signature": base64.b64encode(digest).decode()}


AFRICASTALKING: Final = Aggregator(
    name="africastalking",
    send="/version1/messaging",
    proved=_header("apikey", PASSWORD),
    to="to",
    sender="from",
    text="message",
    status=201,
    answer={
        "SMSMessageData": {
            "Message": "Sent to 1/1 Total Cost: MRU 1.2000",
            "Recipients": [
                {
                    "statusCode": 101,
                    "number": "{to}",
                    "status": "Success",
                    "cost": "MRU 1.2000",
                    "messageId": "{id}",
                    "messageParts": "{parts#}",
                }
            ],
        }
    },
    receipt=AggregatorCallback(
        {
            "id": "{id}",
            "status": "Success",
            "phoneNumber": "{to}",
            "networkCode": "60901",
            "retryCount": "0",
        },
        path="/receipt",
    ),
    inbound=AggregatorCallback(
        {
            "id": "{id}",
            "from": "{from}",
            "to": "{to}",
            "text": "{text}",
            "date": "2026-11-30T08:00:00Z",
            "networkCode": "60901",
        },
        path="/inbound",
    ),
    looks={"/version1/user": {"UserData": {"balance": "MRU 1785.5000"}}},
    no_account="The supplied authentication is invalid",
)

TWILIO: Final = Aggregator(
    name="twilio",
    send=f"/2010-04-01/Accounts/{USER}/Messages.json",
    proved=_basic,
    to="To",
    sender="From",
    text="Body",
    validity="ValidityPeriod",
    callback="StatusCallback",
    status=201,
    answer={
        "sid": "{id}",
        "account_sid": USER,
        "to": "{to}",
        "from": "{from}",
        "body": "{text}",
        "status": "queued",
        "num_segments": "{parts}",
        "direction": "outbound-api",
        "error_code": None,
        "price": None,
        "uri": "/2010-04-01/Accounts/" + USER + "/Messages/{id}.json",
    },
    receipt=AggregatorCallback(
        {
            "MessageSid": "{id}",
            "SmsSid": "{id}",
            "AccountSid": USER,
            "MessageStatus": "delivered",
            "SmsStatus": "delivered",
            "To": "{to}",
            "From": "{from}",
            "ApiVersion": "2010-04-01",
        },
    ),
    inbound=AggregatorCallback(
        {
            "MessageSid": "{id}",
            "AccountSid": USER,
            "From": "{from}",
            "To": "{to}",
            "Body": "{text}",
            "NumMedia": "0",
            "NumSegments": "1",
        },
        path="/inbound",
    ),
    looks={
        f"/2010-04-01/Accounts/{USER}/Balance.json": {
            "account_sid": USER,
            "balance": "12.50",
            "currency": "USD",
        }
    },
    lookup=f"/2010-04-01/Accounts/{USER}/Messages/([^/]+)\\.json",
    sign=_by_twilio,
    no_account={"code": 20003, "message": "Authenticate", "status": 401},
)

AGGREGATORS: Final[Mapping[str, Aggregator]] = {
    each.name: each for each in (AFRICASTALKING, TWILIO)
}
"""Every aggregator, by its preset's name."""
SIGNING: Final = frozenset(
    each.name for each in AGGREGATORS.values() if each.sign is not no_signature
)
"""Those that sign their calls, so that their address needs no secret."""
