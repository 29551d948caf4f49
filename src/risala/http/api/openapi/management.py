"""The reference of what is for secret keys: lists, money, senders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from risala.engine.model.records.verify.figures import KEPT_DAYS
from risala.http.api import answers
from risala.http.api.management.cursors import ListName, written
from risala.http.api.management.list_bodies import (
    CodeFiguresBody,
    EmptyBody,
    ListEntriesBody,
    ListInboundBody,
    ListMessagesBody,
    ListVerificationsBody,
)
from risala.http.api.management.search import SearchBody
from risala.http.api.openapi import sms, verify
from risala.http.api.openapi.sms import LEAN, WITH_BODY, ApiOperation
from risala.sms.numbering.plan import EXAMPLE

ID: Final = "06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
PAGES: Final = (
    " Newest first, in pages: send the `next` of an answer as `before`, or `previous` as "
    "`after`. New items do not shift the pages. A page may have fewer items than `limit`, or "
    "none, although more follow: continue until `next` is null. Needs a secret key, and shows "
    "the data of its organization and mode."
)
_RECEIVED: Final = {
    "messageId": f"mo_{ID}",
    "id": f"mo_{ID}",
    "from": EXAMPLE,
    "to": "1234",
    "body": "Vote 7",
    "status": "received",
    "carrier": "mattel",
    "receivedAt": "2026-11-21T08:30:00.123Z",
    "sentAt": "2026-11-21T08:29:57.000Z",
    "createdAt": "2026-11-21T08:30:00.123Z",
}
_ENTRY: Final = {
    "id": f"led_{ID}",
    "kind": "charge",
    "amount": "-0.50",
    "balanceAfter": "99.50",
    "reference": f"sms_{ID}",
    "createdAt": "2026-11-21T08:30:00.123Z",
}
_BALANCE: Final = {
    "organizationId": f"org_{ID}",
    "balance": "99.50",
    "currency": "MRU",
    "lowBalance": "50.00",
    "spentToday": "0.50",
    "spendCap": None,
}
_CODES: Final = {
    "of": None,
    "asked": 400,
    "sent": 398,
    "delivered": 391,
    "entered": 317,
    "withinMinute": 284,
    "medianSeconds": 21,
    "p90Seconds": 75,
    "cost": "199.00",
}
_SENDER: Final = {
    "id": f"snd_{ID}",
    "name": "Acme",
    "status": "pending",
    "reason": None,
    "volume": 1204,
    "createdAt": "2026-11-21T08:30:00.123Z",
}
_FOUND: Final = {
    "kind": "message",
    "id": f"sms_{ID}",
    "title": EXAMPLE,
    "at": "2026-11-21T08:30:00.123Z",
    "url": f"https://sms.example/app/org_{ID}/messages/sms_{ID}",
}


def _list(
    path: str,
    name: str,
    summary: str,
    *,
    body: type[BaseModel],
    answer: answers.Component,
    item: Mapping[str, Any],
    of: ListName,
    tag: str,
    words: str,
    example: Mapping[str, Any],
) -> ApiOperation:
    place = f"1795231187670.ver_{ID}" if of is ListName.VERIFICATIONS else "1795231187670"
    page = {"items": [item], "next": written(of, place), "previous": None}
    some = {"limit": 1, "since": "2026-11-21T00:00:00Z", **example}
    return ApiOperation(
        path=path,
        name=name,
        tag=tag,
        summary=summary,
        description=f"{words}{PAGES}",
        body=body,
        answer=answer,
        errors=WITH_BODY,
        body_examples={
            "newest": {"summary": "The newest", "value": {}},
            "some": {"summary": "Some of them", "value": some},
        },
        answer_examples={"page": {"summary": "The first page", "value": page}},
    )


OPERATIONS: Final = (
    _list(
        "/api/sms/list",
        "listSms",
        "Messages",
        body=ListMessagesBody,
        answer=answers.MESSAGES,
        item=sms.STORED,
        of=ListName.MESSAGES,
        tag="SMS",
        words=f"Items look as in `POST /api/sms/get`. Messages with codes are not included.{LEAN}",
        example={"status": "delivered", "to": EXAMPLE},
    ),
    _list(
        "/api/verify/list",
        "listVerifications",
        "Verifications",
        body=ListVerificationsBody,
        answer=answers.VERIFICATIONS,
        item=verify.STORED,
        of=ListName.VERIFICATIONS,
        tag="Verify",
        words="Items look as in `POST /api/verify/get`.",
        example={"status": "pending"},
    ),
    ApiOperation(
        path="/api/verify/figures",
        name="getCodeFigures",
        tag="Verify",
        summary="Figures of codes",
        description=(
            "How many codes were asked for, sent, delivered and entered, how soon, and what they"
            " cost. Days are whole ones of the organization's time zone; those of more than"
            f" {KEPT_DAYS} days ago are no longer known. The sums are the same by whatever the"
            " items are. Needs a secret key, and shows the data of its organization and mode."
        ),
        body=CodeFiguresBody,
        answer=answers.CODE_FIGURES,
        errors=WITH_BODY,
        body_examples={
            "carriers": {
                "summary": "By carrier",
                "value": {
                    "since": "2026-11-01T00:00:00Z",
                    "until": "2026-11-22T00:00:00Z",
                    "by": "carrier",
                },
            }
        },
        answer_examples={
            "carriers": {
                "summary": "By carrier",
                "value": {
                    "by": "carrier",
                    "currency": "MRU",
                    "whole": _CODES,
                    "items": [{**_CODES, "of": "mattel"}],
                    "countedUntil": None,
                },
            }
        },
    ),
    _list(
        "/api/inbound/list",
        "listInbound",
        "List received messages",
        body=ListInboundBody,
        answer=answers.INBOUND_MESSAGES,
        item=_RECEIVED,
        of=ListName.INBOUND,
        tag="SMS",
        words="Test keys receive no messages.",
        example={"from": EXAMPLE},
    ),
    _list(
        "/api/ledger/list",
        "listLedger",
        "List the changes of the balance",
        body=ListEntriesBody,
        answer=answers.LEDGER,
        item=_ENTRY,
        of=ListName.LEDGER,
        tag="Account",
        words="Test keys do not move money, so their list is empty.",
        example={"kind": "charge"},
    ),
    ApiOperation(
        path="/api/balance/get",
        name="getBalance",
        tag="Account",
        summary="The balance",
        description="Needs a secret key. A test key gets zeros, because it costs nothing.",
        body=EmptyBody,
        answer=answers.BALANCE,
        errors=WITH_BODY,
        body_examples={"now": {"summary": "Now", "value": {}}},
        answer_examples={"balance": {"summary": "Now", "value": _BALANCE}},
    ),
    ApiOperation(
        path="/api/senders/list",
        name="listSenders",
        tag="Account",
        summary="Sender IDs",
        description=(
            "All requested sender IDs with their status. Request them in the dashboard. Needs a "
            "secret key."
        ),
        body=EmptyBody,
        answer=answers.SENDERS,
        errors=WITH_BODY,
        body_examples={"all": {"summary": "All", "value": {}}},
        answer_examples={"one": {"summary": "One", "value": {"items": [_SENDER]}}},
    ),
    ApiOperation(
        path="/api/search",
        name="search",
        tag="Account",
        summary="Search over everything",
        description=(
            "Finds messages, verifications, conversations, keys, endpoints, lists, people on them, "
            "mailings, payments and members: by words, digits of a number, an id or its end. "
            "At most 50 items. `url` is the page in the dashboard. Needs a secret key; a test key "
            "finds what is of tests. More than 120 searches of a key in a minute are 429. "
            "Experimental."
        ),
        body=SearchBody,
        answer=answers.FOUND,
        errors=(*WITH_BODY, 429),
        body_examples={"digits": {"summary": "Of a number", "value": {"query": "3456"}}},
        answer_examples={"one": {"summary": "A message", "value": {"items": [_FOUND]}}},
    ),
)
