"""What each caller gets at each kind of door. The code is held against it, not read for it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from risala.client.version import VERSION
from risala.http.web.face import PageAccess


class Door(StrEnum):
    """Who may come to an address of the API, by its key."""

    OPEN = "open"
    """Anybody."""
    LOCAL = "this machine"
    """Programs on this machine that bear no mark of a proxy; anybody, at an address of its own."""
    CODES = "codes"
    """A publishable or a secret key."""
    SECRET = "secret"
    """A secret key."""
    CREDENTIAL = "credential"
    """A credential of that face."""
    SIGNED = "signed"
    """Whoever signed what is said: a provider of payments."""


API: Final[Mapping[str, Door]] = {
    "/healthz": Door.OPEN,
    "/readyz": Door.OPEN,
    "/openapi.json": Door.OPEN,
    "/docs": Door.OPEN,
    "/docs/assets/<name>": Door.OPEN,
    "/docs/errors": Door.OPEN,
    "/clients/": Door.OPEN,
    "/clients/risala.js": Door.OPEN,
    f"/clients/risala_client-{VERSION}-py3-none-any.whl": Door.OPEN,
    "/metrics": Door.LOCAL,
    "/api/verify/send": Door.CODES,
    "/api/verify/check": Door.CODES,
    "/api/verify/get": Door.SECRET,
    "/api/verify/resend": Door.CODES,
    "/api/verify/start": Door.CODES,
    "/api/verify/cancel": Door.SECRET,
    "/api/verify/list": Door.SECRET,
    "/api/verify/figures": Door.SECRET,
    "/api/sms": Door.SECRET,
    "/api/sms/batch": Door.SECRET,
    "/api/sms/get": Door.SECRET,
    "/api/sms/list": Door.SECRET,
    "/api/sms/cancel": Door.SECRET,
    "/api/sms/estimate": Door.SECRET,
    "/api/inbound/list": Door.SECRET,
    "/api/conversations/list": Door.SECRET,
    "/api/conversations/get": Door.SECRET,
    "/api/conversations/reply": Door.SECRET,
    "/api/conversations/mark": Door.SECRET,
    "/api/answers/list": Door.SECRET,
    "/api/answers/create": Door.SECRET,
    "/api/answers/update": Door.SECRET,
    "/api/answers/delete": Door.SECRET,
    "/api/answers/try": Door.SECRET,
    "/api/answers/resume": Door.SECRET,
    "/api/repeats/list": Door.SECRET,
    "/api/repeats/get": Door.SECRET,
    "/api/repeats/create": Door.SECRET,
    "/api/repeats/update": Door.SECRET,
    "/api/repeats/pause": Door.SECRET,
    "/api/repeats/resume": Door.SECRET,
    "/api/repeats/end": Door.SECRET,
    "/api/repeats/delete": Door.SECRET,
    "/api/alarms/chains/list": Door.SECRET,
    "/api/alarms/chains/get": Door.SECRET,
    "/api/alarms/chains/create": Door.SECRET,
    "/api/alarms/chains/update": Door.SECRET,
    "/api/alarms/chains/delete": Door.SECRET,
    "/api/alarms/raise": Door.SECRET,
    "/api/alarms/get": Door.SECRET,
    "/api/alarms/end": Door.SECRET,
    "/api/opt-outs/get": Door.SECRET,
    "/api/opt-outs/update": Door.SECRET,
    "/api/opt-outs/answer": Door.SECRET,
    "/api/opt-outs/words/add": Door.SECRET,
    "/api/opt-outs/words/remove": Door.SECRET,
    "/api/opt-outs/lists/add": Door.SECRET,
    "/api/opt-outs/lists/remove": Door.SECRET,
    "/api/balance/get": Door.SECRET,
    "/api/billing/statement": Door.SECRET,
    "/api/billing/invoices": Door.SECRET,
    "/api/ledger/list": Door.SECRET,
    "/api/senders/list": Door.SECRET,
    "/api/search": Door.SECRET,
    "/api/webhooks/list": Door.SECRET,
    "/api/webhooks/create": Door.SECRET,
    "/api/webhooks/update": Door.SECRET,
    "/api/webhooks/delete": Door.SECRET,
    "/api/webhooks/rotate": Door.SECRET,
    "/api/webhooks/test": Door.SECRET,
    "/api/webhooks/deliveries": Door.SECRET,
    "/api/webhooks/replay": Door.SECRET,
}
FACES: Final[Mapping[str, Door]] = {
    "/cgi-bin/sendsms": Door.CREDENTIAL,
    "/index.php": Door.CREDENTIAL,
    "/playsms/index.php": Door.CREDENTIAL,
    "/api/3rdparty/v1/messages": Door.CREDENTIAL,
    "/api/3rdparty/v1/message": Door.CREDENTIAL,
    "/api/3rdparty/v1/messages/{id}": Door.CREDENTIAL,
    "/api/3rdparty/v1/message/{id}": Door.CREDENTIAL,
    "/2010-04-01/Accounts/{account}/Messages.json": Door.CREDENTIAL,
    "/2010-04-01/Accounts/{account}/Messages/{sid}.json": Door.CREDENTIAL,
    "/v2/Services/{service}/Verifications": Door.CREDENTIAL,
    "/v2/Services/{service}/VerificationCheck": Door.CREDENTIAL,
    "/v2/Services/{service}/Verifications/{+sid}": Door.CREDENTIAL,
}
OF_AGENTS: Final[Mapping[str, Door]] = {
    "/agents/act": Door.SECRET,
    "/llms.txt": Door.OPEN,
    "/skill.md": Door.OPEN,
}
BESIDE_PAGES: Final[Mapping[str, Door]] = {
    "/pay/<method>/callback": Door.SIGNED,
    "/static/<name>": Door.OPEN,
}
"""At the pages' address, but no pages."""
THINGS: Final[Mapping[str, str]] = {
    "messageId": "a message",
    "verificationId": "a verification",
    "endpointId": "a webhook endpoint",
    "conversationId": "a conversation",
    "ruleId": "a rule that answers texts",
    "repeatId": "a mailing that repeats",
    "chainId": "a chain of alarms",
    "alarmId": "an alarm",
    "listId": "a recipient list",
    "eventId": "an event",
}
"""Ids in bodies of the API: another organization's is answered like one that is not there."""


class Asker(StrEnum):
    """Who asks the API."""

    NOBODY = "nobody: no key"
    UNKNOWN = "a key that is not there"
    DISABLED = "a disabled key"
    DELETED = "a deleted key"
    OLD = "the old value of a rotated key, its days over"
    CREDENTIAL = "a credential of another face, as a key"
    SESSION = "a session of the pages, as a key or as its cookie"
    PUBLISHABLE = "a publishable key, live or test"
    SUSPENDED = "any key of a suspended organization"
    SECRET = "a secret key, live or test"


IN: Final = 200
"""Stands for whatever comes after the door: an answer, or what is wrong with the request."""
_REFUSED: Final = {Door.OPEN: IN, Door.CODES: 401, Door.SECRET: 401}
ASKED: Final[Mapping[Asker, Mapping[Door, int]]] = {
    Asker.NOBODY: _REFUSED,
    Asker.UNKNOWN: _REFUSED,
    Asker.DISABLED: _REFUSED,
    Asker.DELETED: _REFUSED,
    Asker.OLD: _REFUSED,
    Asker.CREDENTIAL: _REFUSED,
    Asker.SESSION: _REFUSED,
    Asker.PUBLISHABLE: {Door.OPEN: IN, Door.CODES: IN, Door.SECRET: 403},
    Asker.SUSPENDED: {Door.OPEN: IN, Door.CODES: 403, Door.SECRET: 403},
    Asker.SECRET: {Door.OPEN: IN, Door.CODES: IN, Door.SECRET: IN},
}


class Visitor(StrEnum):
    """Who comes to a page."""

    STRANGER = "nobody: no session"
    MADE_UP = "a session that nobody has"
    ENDED = "a session that was signed out"
    EXPIRED = "a session whose time is over"
    OTHER_KIND = "an operator's session as a customer's, or a customer's as an operator's"
    OTHER = "a member of another organization"
    REMOVED = "who was a member until now"
    VIEWER = "a viewer"
    DEVELOPER = "a developer"
    OWNER = "an owner"
    OPERATOR = "an operator, at the console"


SIGN_IN: Final = 303
"""Sent to sign in; nothing is shown, and nothing done."""
_ALL: Final = (PageAccess.VIEWER, PageAccess.DEVELOPER, PageAccess.OWNER)
_OUTSIDE: Final = {
    PageAccess.PUBLIC: IN,
    PageAccess.SIGNED_IN: SIGN_IN,
    PageAccess.OPERATOR: SIGN_IN,
    **dict.fromkeys(_ALL, SIGN_IN),
}
_INSIDE: Final = {**_OUTSIDE, PageAccess.SIGNED_IN: IN}
VISITED: Final[Mapping[Visitor, Mapping[PageAccess, int]]] = {
    Visitor.STRANGER: _OUTSIDE,
    Visitor.MADE_UP: _OUTSIDE,
    Visitor.ENDED: _OUTSIDE,
    Visitor.EXPIRED: _OUTSIDE,
    Visitor.OTHER_KIND: _OUTSIDE,
    Visitor.OTHER: {**_INSIDE, **dict.fromkeys(_ALL, 404)},
    Visitor.REMOVED: {**_INSIDE, **dict.fromkeys(_ALL, 404)},
    Visitor.VIEWER: {
        **_INSIDE,
        PageAccess.VIEWER: IN,
        PageAccess.DEVELOPER: 403,
        PageAccess.OWNER: 403,
    },
    Visitor.DEVELOPER: {
        **_INSIDE,
        PageAccess.VIEWER: IN,
        PageAccess.DEVELOPER: IN,
        PageAccess.OWNER: 403,
    },
    Visitor.OWNER: {**_INSIDE, **dict.fromkeys(_ALL, IN)},
    Visitor.OPERATOR: {PageAccess.PUBLIC: IN, PageAccess.OPERATOR: IN},
}
PLACES: Final[Mapping[str, str]] = {
    "org": "an organization",
    "key_id": "a key",
    "request_id": "a request of a key",
    "credential_id": "a credential",
    "hook_id": "a hook",
    "mailing_id": "a mailing",
    "list_id": "a recipient list",
    "saved_text_id": "a saved text",
    "rule_id": "a rule that answers texts",
    "repeat_id": "a mailing that repeats",
    "chain_id": "a chain of alarms",
    "alarm_id": "an alarm",
    "message_id": "a message",
    "verification_id": "a verification",
    "endpoint_id": "a webhook endpoint",
    "payment_id": "a payment",
    "seq": "an entry of the ledger",
    "invoice_id": "an invoice",
    "user_id": "a member",
    "invitation_id": "an invitation",
    "erasure_id": "a deletion",
    "export_id": "an export",
    "conversation_id": "a conversation",
}
"""Ids in addresses of customers' pages: another organization's is answered like what is not there.
"""
SOCKET: Final = (
    *("/perform", "/uploads", "/healthz"),
    *("/tail/life", "/tail/events", "/tail/all"),
)
"""Paths of the control socket: whoever may open it is the operator."""
WITHOUT_DATA: Final[Mapping[str, str]] = {
    "completion": "writes a script for the shell",
    "mcp": "asks a service over HTTP, with a key of the person that starts it",
    "openapi": "prints the API's document",
    "plugins new": "writes a plugin's first files where its user may write",
    "simulate hilink": "a simulated stick",
    "simulate modem": "a simulated modem",
    "simulate phone": "a simulated phone",
    "simulate smsc": "a simulated carrier",
}
"""Commands that open no data directory; all others do, and are the operator's by that."""
