"""Aggregators that call, as the laboratory plays them, from their documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from risala.lab.aggregators.row import (
    TOKEN,
    USER,
    Aggregator,
    AggregatorCallback,
    by_basic,
    by_header,
    by_twilio,
)
from risala.lab.aggregators.stand_in import AggregatorMessage, StandIn

TWILIO: Final = Aggregator(
    name="twilio",
    send=f"/2010-04-01/Accounts/{USER}/Calls.json",
    proved=by_basic,
    to="To",
    sender="From",
    text="Twiml",
    callback="StatusCallback",
    status=201,
    answer={
        "sid": "{id}",
        "account_sid": USER,
        "to": "{to}",
        "from": "{from}",
        "status": "queued",
        "direction": "outbound-api",
        "price": None,
        "uri": "/2010-04-01/Accounts/" + USER + "/Calls/{id}.json",
    },
    receipt=AggregatorCallback(
        {
            "CallSid": "{id}",
            "AccountSid": USER,
            "CallStatus": "completed",
            "CallDuration": "14",
            "Direction": "outbound-api",
            "To": "{to}",
            "From": "{from}",
            "ApiVersion": "2010-04-01",
        },
    ),
    looks={
        f"/2010-04-01/Accounts/{USER}/Balance.json": {
            "account_sid": USER,
            "balance": "12.50",
            "currency": "USD",
        }
    },
    lookup=f"/2010-04-01/Accounts/{USER}/Calls/([^/]+)\\.json",
    lookup_answer={"sid": "{id}", "status": "completed", "to": "{to}", "from": "{from}"},
    sign=by_twilio,
    no_account={"code": 20003, "message": "Authenticate", "status": 401},
)
INFOBIP: Final = Aggregator(
    name="infobip",
    send="/tts/3/advanced",
    proved=by_header("authorization", f"App {TOKEN}"),
    to="/messages/0/destinations/0/to",
    sender="/messages/0/from",
    text="/messages/0/text",
    callback="/messages/0/notifyUrl",
    own_id="/messages/0/destinations/0/messageId",
    answer={
        "bulkId": "5028e2d42f19-42f1-4656-351e-a42c191e5fd2",
        "messages": [
            {
                "to": "{to_digits}",
                "status": {
                    "groupId": 1,
                    "groupName": "PENDING",
                    "id": 26,
                    "name": "PENDING_ACCEPTED",
                    "description": "Message sent to next instance",
                },
                "messageId": "{id}",
            }
        ],
    },
    receipt=AggregatorCallback(
        {
            "results": [
                {
                    "bulkId": "5028e2d42f19-42f1-4656-351e-a42c191e5fd2",
                    "messageId": "{id}",
                    "to": "{to_digits}",
                    "status": {"groupId": 3, "groupName": "DELIVERED", "id": 5},
                    "error": {"groupId": 0, "id": 10000, "name": "NORMAL_HANGUP"},
                }
            ]
        },
        form=False,
    ),
    looks={"/account/1/balance": {"balance": 47.79, "currency": "EUR"}},
    no_account={
        "requestError": {
            "serviceException": {"messageId": "UNAUTHORIZED", "text": "Invalid login details"}
        }
    },
)
AGGREGATORS: Final[Mapping[str, Aggregator]] = {each.name: each for each in (INFOBIP, TWILIO)}
_NOBODY: Final[Mapping[str, tuple[int, str]]] = {
    "busy": (10110, "BUSY"),
    "no-answer": (10111, "NO_ANSWER"),
    "failed": (10120, "DESTINATION_UNREACHABLE"),
}
"""How Infobip says that nobody took a call, by Twilio's words."""


def end_call(stand_in: StandIn, call: AggregatorMessage, word: str = "completed") -> None:
    """Let a call end, and tell so.

    Args:
        word: ``completed``, ``busy``, ``no-answer`` or ``failed``.
    """
    changes: dict[str, Any] = {}
    if word != "completed" and stand_in.aggregator is TWILIO:
        changes = {"CallStatus": word, "CallDuration": "0"}
    elif word != "completed":
        number, name = _NOBODY[word]
        status = {"groupId": 2, "groupName": "UNDELIVERABLE", "id": 9}
        error = {"groupId": 1, "groupName": "USER_ERRORS", "id": number, "name": name}
        to = call.to.removeprefix("+")
        end = {"messageId": call.id, "to": to, "status": status, "error": error}
        changes = {"results": [end]}
    stand_in.send_receipt(call, **changes)


def spoken_code(call: AggregatorMessage) -> str:
    """The code that a voice says.

    Raises:
        ValueError: it does not say it twice, digit by digit.
    """
    digits = re.findall(r"(?<![0-9])[0-9](?![0-9])", call.text)
    half = len(digits) // 2
    if digits[:half] != digits[half:] or not half:
        raise ValueError("the voice does not say one code twice")
    return "".join(digits[:half])
