"""RapidPro's side of a channel of the type Kannel, by nyaruka/courier's ``handlers/kannel``: what
its address for received messages takes, and the request by which it sends; and the address for
received messages of one of the type External API (``handlers/external``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import phonenumbers

CHANNEL = "8eb23e93-5ecb-45ba-b726-3b064e0c56ab"
RECEIVE = f"/c/kn/{CHANNEL}/receive"
RECEIVE_EXTERNAL = f"/c/ex/{CHANNEL}/receive"


@dataclass(frozen=True)
class TakenMessage:
    external_id: str
    urn: str
    text: str
    received_on: datetime


@dataclass
class Channel:
    """Takes messages, each external id once; other requests get 400 or 404."""

    messages: dict[str, TakenMessage] = field(default_factory=dict)
    statuses: list[dict[str, str]] = field(default_factory=list)

    def answer(self, method: str, target: str, content_type: str, body: bytes) -> int:
        parts = urlsplit(target)
        given = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        if content_type.partition(";")[0].strip() == "application/x-www-form-urlencoded":
            # Go's Request.ParseForm puts the fields of the body before those of the query.
            form = parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=True)
            given = {**given, **form}
        fields = {name: values[0] for name, values in given.items()}
        if (method, parts.path.rstrip("/")) == ("GET", RECEIVE.replace("receive", "status")):
            self.statuses.append(fields)
            return 200 if fields.get("status") in ("1", "2", "4", "8", "16") else 400
        path = parts.path.rstrip("/")
        if path not in ((RECEIVE, RECEIVE_EXTERNAL) if method == "POST" else (RECEIVE_EXTERNAL,)):
            return 404
        try:
            taken = _kannels(fields) if path == RECEIVE else _externals(fields, len(self.messages))
        except (KeyError, ValueError, phonenumbers.NumberParseException):
            return 400
        self.messages.setdefault(taken.external_id, taken)
        return 200


def _kannels(fields: dict[str, str]) -> TakenMessage:
    if not fields["id"] or not int(fields["ts"]):
        raise ValueError("a field is required")
    at = datetime.fromtimestamp(int(fields["ts"]), UTC)
    return TakenMessage(fields["id"], _urn(fields["sender"]), fields.get("message", ""), at)


def _externals(fields: dict[str, str], count: int) -> TakenMessage:
    """It has no external id, so that each is another."""
    at = datetime.fromisoformat(fields.get("date") or fields["time"])  # without either: now
    sender = fields.get("from") or fields["sender"]
    return TakenMessage(f"external-{count}", _urn(sender), fields.get("text", ""), at)


def _urn(sender: str) -> str:
    number = phonenumbers.parse(sender, "MR")
    if not phonenumbers.is_possible_number(number):
        raise ValueError("not a possible number")
    return f"tel:{phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)}"


def sendsms_query(username: str, password: str, sender: str, to: str, text: str, home: str) -> str:
    """The query by which the channel sends a text of the GSM alphabet.

    Args:
        home: where RapidPro itself is reached.
    """
    report = f"{home}{RECEIVE.replace('receive', 'status')}?uuid={CHANNEL}&status=%d"
    fields = [("dlr-mask", "27"), ("dlr-url", report), ("from", sender), ("password", password)]
    return urlencode([*fields, ("text", text), ("to", to), ("username", username)])


def serving(channel: Channel) -> HTTPServer:
    """A server on this machine that answers for a channel."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.reply()

        def do_POST(self):
            self.reply()

        def reply(self):
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            kind = self.headers.get("content-type", "")
            self.send_response(channel.answer(self.command, self.path, kind, body))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    return HTTPServer(("127.0.0.1", 0), Handler)
