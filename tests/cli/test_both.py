"""Every command beside a running service and without one: the same words, the same answers."""

import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from string import Formatter
from typing import Any, ClassVar

import click
import pytest
import trio
from click.testing import CliRunner

from patience import HANG_S
from processes import Process, run
from risala.cli.main import cli
from risala.cli.reach import session
from risala.config.load import load_settings
from risala.engine.journal.store.lock import DataLock
from risala.engine.model.errors import DataDirectoryBusy

CONFIG = """
[webhooks]
allow_insecure = true
[[carriers]]
name = "loop"
driver = "loopback"
prefixes = ["+2223"]
"""
HOOK = "http://127.0.0.1:9/hook"
"""Where nobody listens."""
NUMBER = "+22226123456"
"""Of a network that the carrier does not serve: its messages wait."""
PEOPLE = f"name;telephone\nAïcha;{NUMBER}\nSidi;12\n"


@dataclass(frozen=True)
class Row:
    """A command, what is in its JSON, and how it ends when nothing runs."""

    command: str
    arguments: tuple[str, ...] = ()
    holds: tuple[tuple[str, Any], ...] = ()
    alone: int = 0
    beside: int = 0
    sentence: str = ""
    """Part of what it says where it ends with 1."""


ROWS = (
    *(
        Row(f"standby {each}", alone=1, beside=1, sentence="Answers wait for no second machine")
        for each in ("log", "async", "before-answer")
    ),
    Row("org create", ("Another",), (("name", "Another"), ("balance", "0.00"))),
    Row("org list", (), (("organizations", list),)),
    Row("org show", ("{org}",), (("id", "{org}"), ("balance", "99.50"))),
    Row(
        "org set",
        (
            *("{org}", "--name", "Renamed", "--price", "0.40", "--smart-encoding"),
            *("--sms-per-s", "5", "--low-balance", "20"),
        ),
        (
            ("lowBalance", "20.00"),
            ("name", "Renamed"),
            ("pricePerSegment", "0.40"),
            ("smartEncoding", True),
            ("smsPerSecond", 5.0),
        ),
    ),
    Row("org suspend", ("{org}",), (("status", "suspended"),)),
    Row("org resume", ("{org}",), (("status", "active"),)),
    Row("key create", ("--org", "{org}", "--name", "web"), (("value", str),)),
    Row("key list", ("--org", "{org}"), (("keys", list),)),
    Row("key origins", ("{public}", "https://a.example"), (("allowedOrigins.0", str),)),
    Row("key challenge", ("{public}", "always"), (("challenge", "always"),)),
    Row("key contact", ("{key}", "Aïcha"), (("contact", str),)),
    Row("key contact", ("{key}", "--none"), (("contact", None),)),
    Row("key expires", ("{key}", "90d"), (("expiresAt", str),)),
    Row("key places", ("{key}",), (("places", list),)),
    Row("key expires", ("{key}", "--never"), (("expiresAt", None),)),
    Row("key addresses", ("{key}", "203.0.113.0/24"), (("allowedAddresses.0", str),)),
    Row("key addresses", ("{key}", "--any"), (("allowedAddresses", None),)),
    Row("key rotate", ("{key}", "--overlap", "2h"), (("value", str), ("key.oldLast4", str))),
    Row("key end-old", ("{key}",), (("oldUntil", None),)),
    Row("key disable", ("{key}",), (("enabled", False),)),
    Row("key enable", ("{key}",), (("enabled", True),)),
    Row("key delete", ("{key}",), (("id", "{key}"),)),
    Row(
        "credential create",
        ("kannel", "--org", "{org}", "--username", "shop{n}", "--from", "RISALA"),
        (("password", str), ("credential.username", "shop{n}"), ("credential.from", "RISALA")),
    ),
    Row(
        "hook create",
        ("--org", "{org}", "--preset", "grafana", "--to", NUMBER, "--name", "Alerts"),
        (("secret", str), ("hook.url", str), ("hook.numbers.0", NUMBER)),
    ),
    Row("hook presets", (), (("presets", list),)),
    Row("hook list", ("--org", "{org}"), (("hooks", list),)),
    Row("hook show", ("{called}",), (("url", str), ("proof", "standard-webhooks"))),
    Row("hook set", ("{called}", "--locale", "fr"), (("locale", "fr"),)),
    Row("hook rotate", ("{called}", "--overlap", "2h"), (("secret", str), ("hook.oldUntil", str))),
    Row("hook disable", ("{called}",), (("disabledAt", str),)),
    Row("hook enable", ("{called}",), (("disabledAt", None),)),
    Row("hook delete", ("{called}",), (("id", "{called}"),)),
    Row("list create", ("Parents {n}", "--org", "{org}"), (("list.name", "Parents {n}"),)),
    Row(
        "list add",
        ("{listed}", "+22236000009", "--value", "class=4"),
        (("added", 1), ("list.columns.1", "class")),
    ),
    Row("list list", ("--org", "{org}"), (("lists", list),)),
    Row("list show", ("{listed}",), (("people.0.number", NUMBER), ("optedOut", 0))),
    Row("list show", ("{list_name}", "--org", "{org}"), (("list.id", "{listed}"),)),
    Row("list rename", ("{listed}", "Pupils {n}"), (("name", "Pupils {n}"),)),
    Row("list remove", ("{listed}", NUMBER), (("people", 0),)),
    Row("list delete", ("{listed}",), (("id", "{listed}"),)),
    Row(
        "text create",
        ("News {n}", "--org", "{org}", "--language", "fr", "--text", "Bonjour {{{{name}}}}"),
        (("text", "Bonjour {{{{name}}}}"), ("language", "fr")),
    ),
    Row("text list", ("--org", "{org}"), (("texts", list),)),
    Row("text show", ("{saved}",), (("text", str),)),
    Row("text set", ("{saved}", "--language", "ar"), (("language", "ar"),)),
    Row("text delete", ("{saved}",), (("id", "{saved}"),)),
    Row(
        "repeat create",
        (
            *("Rent {n}", "--org", "{org}", "--list", "{listed}", "--text", "Due"),
            *("--unit", "weeks", "--day", "mon", "--time", "10:00"),
        ),
        (("days", ["mon"]), ("nextAt", str), ("state", "active")),
    ),
    Row("repeat list", ("--org", "{org}"), (("repeats", list),)),
    Row("repeat show", ("{repeat}",), (("repeat.name", str), ("upcoming.9.at", str), ("past", []))),
    Row("repeat set", ("{repeat}", "--time", "09:00", "--every", "2"), (("every", 2),)),
    Row("repeat pause", ("{repeat}",), (("state", "paused"), ("nextAt", None))),
    Row("repeat go-on", ("{paused_repeat}",), (("state", "active"), ("nextAt", str))),
    Row("repeat end", ("{repeat}",), (("state", "ended"), ("reason", "hand"))),
    Row("repeat delete", ("{repeat}",), (("repeatId", "{repeat}"),)),
    Row(
        "alarm create",
        ("Room {n}", "--org", "{org}", "--person", f"{NUMBER} mon-fri 08:00-18:00"),
        (("word", "OK"), ("people.0", str), ("intervalSeconds", 300)),
    ),
    Row("alarm list", ("--org", "{org}"), (("chains", list), ("going", list))),
    Row("alarm show", ("{chain}",), (("chain.name", str), ("onDuty.0", str))),
    Row("alarm set", ("{chain}", "--interval", "120"), (("intervalSeconds", 120),)),
    Row("alarm raise", ("{chain}", "Warm", "--test"), (("state", "going"),)),
    Row("alarm steps", ("{alarm}",), (("alarm.text", str), ("past", list))),
    Row("alarm end", ("{alarm}",), (("state", "ended"), ("nextAt", None))),
    Row("alarm delete", ("{chain}",), (("chainId", "{chain}"),)),
    Row(
        "answer create",
        ("Hours {n}", "--org", "{org}", "--keyword", "hours", "--fr", "De 8 h à 19 h."),
        (("keywords", ["hours"]), ("place", int)),
    ),
    Row("answer list", ("--org", "{org}"), (("rules", list), ("paused", []))),
    Row("answer show", ("{rule}",), (("name", str),)),
    Row("answer set", ("{rule}", "--off", "--from", "08:00"), (("enabled", False),)),
    Row("answer delete", ("{rule}",), (("ruleId", "{rule}"),)),
    Row("answer try", ("goodbye", "--org", "{org}"), (("answer", None),)),
    Row(
        "answer resume",
        (NUMBER, "--org", "{org}"),
        alone=1,
        beside=1,
        sentence="not paused",
    ),
    Row("credential list", ("--org", "{org}"), (("credentials", list),)),
    Row("credential revoke", ("{credential}",), (("revokedAt", str),)),
    Row("topup", ("{org}", "10"), (("balanceAfter", "109.50"), ("currency", "MRU"))),
    Row("topup", ("{org}", "1", "--reference", "BK {n}"), (("reference", "BK {n}"),)),
    Row("adjust", ("{org}", "-1.00", "--reason", "slip"), (("amount", "-1.00"), ("note", "slip"))),
    Row("ledger", ("{org}", "--limit", "3"), (("entries.0.kind", str), ("balance", str))),
    Row("price", (), (("perSegment", "0.50"), ("organizations", list))),
    Row("price show", ("{org}",), (("perSegment", "0.50"), ("organizations", list))),
    Row("price set", ("{org}", "0.30"), (("pricePerSegment", "0.30"),)),
    Row("payer", (), (("payer", "customers"), ("settings_payer", "customers"))),
    Row("payer set", ("customers", "--parts-per-day", "150", "--yes"), (("payer", "customers"),)),
    Row("country list", ("--org", "{org}"), (("countries.0.code", "MR"), ("ownPrices", []))),
    *(
        Row(f"country {verb}", ("SN", "--org", "{org}"), alone=1, beside=1, sentence="not served")
        for verb in ("open", "close")
    ),
    Row("country price", ("+221", "9", "--org", "{org}"), (("ownPrices.0.price", "9.00"),)),
    Row("country drop-price", ("+221", "--org", "{org}"), (("ownPrices", []),)),
    Row(
        "sender request",
        ("Acme {n}", "--description", "receipts", "--org", "{org}"),
        (("status", "pending"), ("name", "Acme {n}")),
    ),
    Row("sender list", ("--org", "{org}"), (("senders", list),)),
    Row("sender clear", ("{sender}",), (("status", "pending"), ("cleared", True))),
    Row("sender waive", ("{asked}",), (("status", "approved"),)),
    Row(
        "sender deny",
        ("{sender}", "--reason", "ownership"),
        (("status", "denied"), ("reason", str)),
    ),
    Row(
        "send",
        ("36 12 34 56", "Salam", "--org", "{org}", "--at", "2h", "--validity", "10m"),
        (("accepted", True), ("organizationId", "{org}"), ("from", "RISALA")),
    ),
    Row(
        "message list",
        (
            *("--org", "{org}", "--status", "pending", "--to", NUMBER),
            *("--since", "1h", "--limit", "1"),
        ),
        (("messages.0.messageId", "{message}"), ("older", None)),
    ),
    Row("message show", ("{message}",), (("message.status", "pending"), ("timeline", list))),
    Row("message cancel", ("{message}",), (("message.status", "canceled"),)),
    Row(
        "mailing send",
        ("--org", "{org}", "--file", "{people}", "--text", "Salam {{{{name}}}}", "--pace", "9"),
        (
            ("mailing.state", "draft"),
            ("mailing.pace", 9),
            ("mailing.ready", 1),
            ("person.text", "Salam Aïcha"),
            ("badRows.0.fault", "number"),
        ),
        alone=1,
        sentence="not running",
    ),
    Row(
        "mailing start",
        ("{draft}", "--yes"),
        (("mailing.id", "{draft}"), ("mailing.startedAt", str)),
        alone=1,
        sentence="no mailing",
    ),
    Row("mailing list", ("--org", "{org}"), (("mailings", []), ("older", None))),
    *(
        Row(f"mailing {verb}", ("{draft}", *more), holds, alone=1, sentence="no mailing")
        for verb, more, holds in (
            ("show", (), (("mailing.id", "{draft}"), ("outcomes.pending", 0))),
            ("set", ("--hours", "9-17"), (("fromHour", 9), ("toHour", 17))),
            ("rows", ("--state", "all"), (("rows.0.number", NUMBER),)),
            ("mend", ("1", f"1={NUMBER}"), (("number", NUMBER), ("state", "ready"))),
            ("leave-out", ("1",), (("leftOut", 1), ("ready", 0))),
            ("delete", (), (("id", "{draft}"),)),
        )
    ),
    Row(
        "mailing report",
        ("{draft}", "{file}.csv"),
        (("path", "{file}.csv"), ("rows", 1)),
        alone=1,
        sentence="no mailing",
    ),
    *(
        Row(f"mailing {verb}", ("{sending}",), (("state", state),), alone=1, sentence="no mailing")
        for verb, state in (("pause", "paused"), ("stop", "stopped"))
    ),
    *(
        Row(f"mailing {verb}", ("{draft}",), alone=1, beside=1, sentence="mailing")
        for verb in ("go-on", "again")
    ),
    Row("verify send", ("26 12 34 56", "--org", "{org}"), (("verificationId", str),)),
    Row(
        "verify start",
        ("26 12 34 56", "--org", "{org}", "--method", "missed_call", "--locale", "fr", "--test"),
        (("verificationId", str), ("method", "missed_call"), ("sendTo", "1234"), ("text", None)),
    ),
    Row("verify check", ("{verification}", "wrong"), (("status", "denied"),)),
    Row("verify get", ("{verification}",), (("status", "pending"), ("to", NUMBER))),
    Row(
        "verify list",
        ("--org", "{org}", "--status", "pending", "--to", NUMBER, "--since", "1h", "--limit", "9"),
        (("sessions", list), ("older", None)),
    ),
    Row(
        "statement",
        ("{org}",),
        (("opening", str), ("days.0.balanceAfter", str), ("countedUntil", None)),
    ),
    Row("invoice list", ("--org", "{org}"), (("invoices", list), ("canIssue", False))),
    Row(
        "invoice customer",
        ("{org}", "--address", "Avenue 3", "--address", " Rosso ", "--tax-id", "77"),
        (("address", ["Avenue 3", "Rosso"]), ("taxId", "77")),
    ),
    Row("invoice issue", ("{org}", "2020-01"), alone=1, beside=1, sentence="legal.invoice_series"),
    Row("invoice show", ("F-0001",), alone=1, beside=1, sentence="no such invoice"),
    Row(
        "verify figures",
        ("--org", "{org}", "--by", "channel", "--since", "1h"),
        (("by", "channel"), ("whole.asked", int), ("items", list), ("countedUntil", None)),
    ),
    Row(
        "verify channels",
        ("{org}", "--channels", "sms", "--secret", "sms", "--fallback-s", "20", "--addresses"),
        (("use.fallbackS", 20), ("use.addresses", True), ("offered.0.name", "sms")),
    ),
    Row(
        "verify guard",
        ("{org}", "--secret-share", "20"),
        (("secretShare", 20), ("reserved", int), ("suspicious", []), ("keys", list)),
    ),
    Row(
        "verify templates",
        ("{org}", "--name", "login", "--language", "fr", "--text", "{{{{shop}}}} : {{{{code}}}}"),
        (("templates", list),),
    ),
    Row("verify fixed", ("--org", "{org}"), (("numbers", []),)),
    Row(
        "verify fix",
        ("36 55 00 01", "--org", "{org}", "--code-file", "{code_file}", "--days", "7"),
        (("number", "+22236550001"), ("endsAt", str)),
    ),
    Row("verify unfix", ("36 56 00 00", "--org", "{org}"), alone=1, beside=1, sentence="no fixed"),
    Row("verify cancel", ("{verification}",), (("status", "canceled"), ("reason", "canceled"))),
    Row(
        "verify config",
        ("{org}", "--length", "8", "--template-fr", "{{{{code}}}}", "--origin", "app.example"),
        (
            ("settings.code_length", 8),
            ("settings.templates.fr", str),
            ("settings.origins.0", "app.example"),
            (
                "warnings.0",
                "The template for ar with its origin makes 2 segments: each code costs 1.00 MRU.",
            ),
        ),
    ),
    Row("webhook create", (HOOK, "--org", "{org}"), (("secret", str), ("endpoint.url", HOOK))),
    Row("webhook list", ("--org", "{org}"), (("endpoints.0.id", "{hook}"),)),
    Row(
        "webhook show",
        ("{hook}",),
        (("endpoint.id", "{hook}"), ("pending", int), ("lastDays.days", 7)),
    ),
    Row("webhook update", ("{hook}", "--description", "x"), (("endpoint.description", "x"),)),
    Row("webhook disable", ("{hook}",), (("endpoint.enabled", False),)),
    Row("webhook enable", ("{hook}",), (("endpoint.enabled", True),)),
    Row("webhook rotate", ("{hook}",), (("secret", str),)),
    Row("webhook delete", ("{hook}",), (("endpoint.id", "{hook}"),)),
    Row(
        "webhook test",
        ("{hook}",),
        (("delivery.state", "pending"),),
        alone=1,
        beside=1,
        sentence="not",  # accepted, or running
    ),
    Row(
        "webhook deliveries",
        ("{hook}", "--before", str(2**62)),
        (("deliveries.0.eventId", "{event}"), ("before", None)),
    ),
    Row("webhook replay", ("{hook}", "--failed-since", "2h"), (("replayed", int),)),
    Row("inbound list", ("--org", "{org}"), (("messages", []),)),
    Row(
        "inbound route",
        ("--org", "{org}", "--keyword", "word{n}"),
        (("organizationId", "{org}"), ("keyword", "word{n}"), ("number", None)),
    ),
    Row("inbound routes", (), (("routes", list),)),
    Row("inbound unroute", ("{route}",), (("id", "{route}"),)),
    Row(
        "inbound opt-outs",
        ("--org", "{org}", "--heed", "--number", NUMBER),
        (("heeds", True), ("numbers", [])),
    ),
    Row("inbound opt-out", ("46 12 34 56", "--org", "{org}"), (("number", "+22246123456"),)),
    Row("inbound opt-in", (NUMBER, "--org", "{org}"), (), alone=1, beside=1, sentence="not opted"),
    Row(
        "inbound words",
        ("{org}", "--sets", "fr,ar", "--answered", "help"),
        (("settings.sets", ["fr", "ar"]), ("settings.answered", ["help"])),
    ),
    Row(
        "inbound add-word", ("terme{n}", "--org", "{org}"), (("settings.organizationId", "{org}"),)
    ),
    Row(
        "inbound remove-word",
        ("none", "--org", "{org}"),
        (),
        alone=1,
        beside=1,
        sentence="no word",
    ),
    Row(
        "inbound answer",
        ("Fini.", "--org", "{org}", "--preview"),
        (("settings.texts.0.text", "Fini."),),
    ),
    Row("inbound demands", (), (("demands", list),)),
    Row("inbound demand", ("+22{n}", "--confirmation", "required"), (("demands", list),)),
    Row("list opt-out", ("{listed}", NUMBER, "--org", "{org}"), (("listId", "{listed}"),)),
    Row(
        "list opt-in",
        ("{listed}", "46123456", "--org", "{org}", "--note", "asked"),
        (),
        alone=1,
        beside=1,
        sentence="not opted",
    ),
    Row("search", ("nobody has this", "--org", "{org}"), (("items", []), ("cut", False))),
    Row("conversation list", ("--org", "{org}", "--unread"), (("conversations", []),)),
    Row("conversation list", ("--org", "{org}", "--opted-out"), (("conversations", []),)),
    *(
        Row(
            f"conversation {verb}",
            (NUMBER, *more, "--org", "{org}"),
            alone=1,
            beside=1,
            sentence="no such conversation",
        )
        for verb, more in (("show", ()), ("reply", ("Hello",)), ("mark", ("--state", "done")))
    ),
    Row("payment list", ("{org}",), (("payments", []),)),
    *(
        Row(f"payment {verb}", ("pay_none", *more), alone=1, beside=1, sentence="payment")
        for verb, more in (
            *(("show", ()), ("confirm", ("--unchecked",)), ("refuse", ("none came",))),
            ("poll", ()),
        )
    ),
    Row("payment texts", ("--method", "bankily"), (("texts", []), ("next", None))),
    Row("payment lines", (), (("lines", []), ("unmatched", 0))),
    Row("payment dismiss", ("btx_none", "ours"), alone=1, beside=1, sentence="text"),
    Row("payment reconcile", ("gold", "5"), alone=1, beside=1, sentence="method"),
    Row("user create", ("n{n}@example.com", "--operator"), (("operator", True),)),
    Row(
        "user create",
        ("f{n}@example.com", "--operator-role", "finance"),
        (("operatorRole", "finance"), ("operator", True)),
    ),
    Row("user list", ("--search", "{user}"), (("users.0.email", "{user}"),)),
    Row("user show", ("{user}",), (("user.email", "{user}"), ("devices", []), ("factors", []))),
    Row(
        "user set",
        ("{user}", "--email", "m{n}@example.com", "--language", "ar"),
        (("email", "m{n}@example.com"), ("language", "ar")),
    ),
    Row("console lock", ("203.0.113.7",), (("address", "203.0.113.7/32"), ("by", str))),
    Row("console unlock", (), (("address", None),)),
    Row("approval list", (), (("approvals", []),)),
    *(
        Row(f"approval {verb}", ("apr_none", *more), alone=1, beside=1, sentence="no request")
        for verb, more in (("confirm", ("--alone", "on leave")), ("refuse", ("--why", "no")))
    ),
    Row("user sign-in", ("{user}",), (("kind", "customer"), ("url", str))),
    Row("user delete", ("{user}",), alone=1, beside=1, sentence="needs an owner"),
    Row("user sign-out", ("{user}",), (("ended", 0),)),
    Row("user reset-factors", ("{user}",), (("removed", 0),)),
    Row(
        "member add",
        ("{org}", "n{n}@example.com", "--role", "viewer"),
        (("email", "n{n}@example.com"), ("role", "viewer")),
    ),
    Row(
        "member invite",
        ("{org}", "n{n}@example.com", "--role", "developer"),
        (("email", "n{n}@example.com"), ("invitedBy", str)),
    ),
    Row(
        "provider set",
        (
            *("--org", "{org}", "--issuer", "https://id.example.com", "--client-id", "risala"),
            *("--domain", "d{n}.example.com", "--viewer", "staff", "--session-hours", "8"),
        ),
        (("issuer", "https://id.example.com"), ("confirmed", []), ("sessionHours", 8)),
    ),
    Row("provider show", ("--org", "{org}"), (("redirectAddress", str), ("provider", None))),
    Row("provider list", (), (("providers", list),)),
    Row("provider confirm", ("--org", "{org}", "x.example"), alone=1, beside=1, sentence="has no"),
    Row("provider refuse", ("--org", "{org}", "x.example"), alone=1, beside=1, sentence="has no"),
    Row("provider delete", ("--org", "{org}"), alone=1, beside=1, sentence="has no"),
    Row("member list", ("{org}",), (("members.0.email", "{user}"), ("invitations", []))),
    Row(
        "member role",
        ("{org}", "{user}", "owner"),
        (("email", "{user}"), ("role", "owner")),
    ),
    Row("member remove", ("{org}", "{user}"), (), alone=1, beside=1, sentence="needs an owner"),
    Row("carriers", (), (("carriers.0.name", "loop"), ("carriers.0.queue", int))),
    Row("carriers show", ("loop",), (("name", "loop"), ("commands", []))),
    Row(
        "carriers ask",
        ("loop", "balance"),
        (),
        alone=1,
        beside=1,
        sentence="",
    ),
    Row(
        "carriers pause",
        ("loop",),
        (("carriers.0.gate", "paused"),),
    ),
    Row(
        "carriers drain",
        ("loop",),
        (("carriers.0.gate", "draining"),),
    ),
    Row(
        "carriers resume",
        ("loop",),
        (("carriers.0.gate", "open"),),
    ),
    Row("smpp sessions", (), (("open", False), ("sessions", []))),
    Row("alerts", ("--all",), (("alerts", list), ("open", int), ("mutes", list))),
    Row(
        "alerts mute",
        ("carrier_down", "--for", "2h"),
        (("kind", "carrier_down"), ("subject", None)),
    ),
    Row("alerts unmute", ("999999",), (), alone=1, beside=1, sentence="no mute 999999"),
    Row("alerts acknowledge", ("999999",), (), alone=1, beside=1, sentence="no alert 999999"),
    Row(
        "carriers reconnect",
        ("loop",),
        (("carriers.0.name", "loop"),),
        alone=1,
        sentence="not running",
    ),
    Row("carriers rotate", ("loop",), (), alone=1, beside=1, sentence="no running carrier 'loop'"),
    Row("carriers presets", (), (("presets.0.name", str), ("presets.0.inbound", bool))),
    Row(
        "carriers try",
        ("loop", "36123456"),
        (("outcome", "accepted"), ("carrierId", str), ("cause", None)),
        alone=1,
        sentence="not running",
    ),
    Row(
        "carriers text",
        ("loop", "1234", "BALANCE"),
        (("outcome", "accepted"), ("carrier", "loop")),
        alone=1,
        sentence="not running",
    ),
    Row("carriers answers", ("loop",), (("answers", []),)),
    Row(
        "carriers set",
        ("loop", "--rate", "5", "--weight", "3"),
        (("carriers.0.rate_max_per_s", 5.0), ("carriers.0.override.weight", 3)),
    ),
    Row("carriers unset", ("loop",), (("carriers.0.override", None),)),
    Row(
        "carriers preview",
        (),
        (("carriers", []), ("faults", []), ("hash", str)),
        alone=1,
        sentence="not running",
    ),
    Row("carriers apply", (), (("carriers", []),), alone=1, sentence="not running"),
    Row("carriers traffic", ("loop",), (("lines", []),), alone=1, sentence="not running"),
    Row("carriers unmatched", ("loop", "--limit", "5"), (("receipts", []), ("next", None))),
    Row(
        "route",
        ("36 12 34 56", "--org", "{org}", "--segments", "2"),
        (("to", "+22236123456"), ("candidates.0.carrier", "loop"), ("sender.name", "RISALA")),
    ),
    Row("route", (), (("numbers.0.prefix", "+2222"), ("waiting", int))),
    Row("plugins", (), (("plugins", list), ("faults", []))),
    Row("audit", (), (("clean", True),)),
    Row("rotate-key", ("--at-once",), (("since", str), ("oldUntil", None))),
    Row("secrets show", (), (("keys.0", str), ("secrets", list), ("lost", []))),
    Row("secrets export-key", ("{file}",), (("key", str), ("path", "{file}"))),
    Row("secrets import-key", ("{sealing}",), (("key", str), ("former", list))),
    Row("secrets rotate", ("--forget-old",), (("key", str), ("former", []))),
    Row(
        "audit-log",
        ("--org", "{org}", "--operation", "topup"),
        (
            ("lines.0.operation", "topup"),
            ("lines.0.subject", "{org}"),
            ("lines.0.role", "operator"),
        ),
    ),
    Row("retention show", (), (("rules.0.name", "texts"), ("rules.0.days", 90))),
    Row("retention run", (), (("forgot.texts", 0), ("forgot.events", 0))),
    Row("kept show", ("{org}",), (("kept.0.name", "texts"), ("kept.0.days", 90))),
    Row(
        "kept set",
        ("{org}", "--texts", "7", "--events", "operator"),
        (("kept.0.days", 7), ("kept.1.days", 90)),
    ),
    Row(
        "kept forget",
        ("36123456", "--org", "{org}", "--yes"),
        (("number", "…3456"), ("state", "done")),
    ),
    Row("log", ("--org", "{org}"), (("requests", list), ("keepDays", 30), ("written", True))),
    Row(
        "kept export",
        ("{org}", "--to", "{file}"),
        (("state", "ready"), ("bytes", int)),
        alone=1,
        sentence="not running",
    ),
    Row("kept exports", ("{org}",), (("exports", list),)),
    Row("kept deletions", ("{org}",), (("erasures", list),)),
    Row("org delete", ("{org}",), (("name", str), ("pending", int))),
    Row("backup", ("{file}",), (("clean", True), ("path", "{file}"))),
    Row("restore", ("{backup}",), (("clean", True),), beside=1, sentence="Stop it"),
    Row("doctor", (), (("ok", True), ("checks", list))),
    Row("upgrade", ("--check",), (("ready", True), ("checks", list))),
    Row("init", ("{file}",), (("path", "{file}"),)),
)
NOT_HERE = {
    "serve",
    "simulate smsc",
    "simulate modem",
    "simulate phone",
    "simulate hilink",
    "phone pair",
    "modem probe",
    "modem doctor",
    "mcp",
    "modem report",
    "openapi",
    "completion",
    "trigger",
    "demo text",
    "webhook listen",
    "plugins new",
    "standby init",
    "standby watch",
    "standby status",
    "standby takeover",
    "standby rejoin",
    "standby try",
    "standby mend-lease",
    "tail",
}
"""They are no questions to a service; tests of their own run them."""


def leaves(command: click.Command, path: str = "") -> Iterator[str]:
    if isinstance(command, click.Group):
        if command.invoke_without_command and path:
            yield path
        for name, inner in command.commands.items():
            yield from leaves(inner, f"{path} {name}".strip())
    else:
        yield path


def test_the_table_has_every_command():
    tried = {row.command for row in ROWS}
    assert tried == set(leaves(cli)) - NOT_HERE, "each command needs a Row here"


@dataclass
class World:
    """A data directory with something in it, and whether a service runs on it."""

    data: Path
    config: Path
    running: bool
    service: Process | None = None
    _numbers = count(1)

    def faults(self) -> list[str]:
        """What the service has logged of its own faults: its answers do not tell them."""
        return [line for line in self.service.lines if "error" in line] if self.service else []

    def run(self, *arguments: str, as_json: bool = True):
        command = [*arguments, "--config", str(self.config), "--data", str(self.data)]
        if arguments[0] == "init":
            command = list(arguments)
        return CliRunner().invoke(
            cli, command + ["--json"] * as_json, prog_name="risala", catch_exceptions=False
        )

    def prepare(self, directory: Path, *arguments: str) -> dict[str, str]:
        """Things of its own for each row: an organization with a message, and what else these
        words name."""
        needed = {field for each in arguments for _, field, *_ in Formatter().parse(each)}
        names = {"n": str(next(self._numbers)), "file": str(directory / "file")}
        names["code_file"] = str(directory / "code")
        Path(names["code_file"]).write_text("804162\n", encoding="utf-8")
        names["people"] = str(directory / "people.csv")
        Path(names["people"]).write_text(PEOPLE, encoding="utf-8")

        async def work(reached: session.GatewaySession) -> None:
            organization = (await reached.perform("org.create", name=f"Org {names['n']}"))["id"]
            await reached.perform("topup", organization_id=organization, amount="100")
            message = await reached.perform(
                "send", organization_id=organization, to=NUMBER, body="waits"
            )
            names["org"], names["message"] = organization, message["messageId"]
            for makes, make in self.MAKERS:
                if needed & makes:
                    await make(reached, names)

        settings = load_settings(
            self.config, overrides={"storage.data_dir": str(self.data)}, environ={}
        )
        session.run(settings, work)
        names["backup"] = str(directory / "backup")
        if "backup" in needed:
            assert self.run("backup", names["backup"]).exit_code == 0
        if "sealing" in needed:
            names["sealing"] = str(directory / "sealing")
            assert self.run("secrets", "export-key", names["sealing"]).exit_code == 0
        return names

    async def _make_key(reached: session.GatewaySession, names: dict[str, str]) -> None:
        made = await reached.perform("key.create", organization_id=names["org"], type="secret")
        names["key"] = made["key"]["id"]

    async def _make_sender(reached: session.GatewaySession, names: dict[str, str]) -> None:
        made = await reached.perform(
            "sender.request",
            organization_id=names["org"],
            name=f"Shop {names['n']}",
            description="x",
        )
        names["sender"], names["asked"] = made["id"], made["name"]

    async def _make_hook(reached: session.GatewaySession, names: dict[str, str]) -> None:
        hook = await reached.perform(
            "webhook.create", organization_id=names["org"], mode="live", url=HOOK
        )
        names["hook"] = hook["endpoint"]["id"]
        owed = await reached.perform("webhook.test", endpoint_id=names["hook"])
        names["event"] = owed["delivery"]["eventId"]

    async def _make_route(reached: session.GatewaySession, names: dict[str, str]) -> None:
        made = await reached.perform(
            "inbound.route", organization_id=names["org"], keyword=f"own{names['n']}"
        )
        names["route"] = made["id"]

    async def _make_user(reached: session.GatewaySession, names: dict[str, str]) -> None:
        names["user"] = f"u{names['n']}@example.com"
        await reached.perform(
            "member.add", organization_id=names["org"], email=names["user"], role="owner"
        )

    async def _make_credential(reached: session.GatewaySession, names: dict[str, str]) -> None:
        made = await reached.perform(
            "credential.create", organization_id=names["org"], face="kannel"
        )
        names["credential"] = made["credential"]["id"]

    async def _make_called(reached: session.GatewaySession, names: dict[str, str]) -> None:
        made = await reached.perform(
            "hook.create", organization_id=names["org"], preset="supabase-auth"
        )
        names["called"] = made["hook"]["id"]

    async def _make_list(reached: session.GatewaySession, names: dict[str, str]) -> None:
        given = {"organization_id": names["org"], "name": f"All {names['n']}"}
        made = await reached.perform("list.create", **given)
        names["listed"], names["list_name"] = made["list"]["id"], made["list"]["name"]
        one = {"number": NUMBER, "cells": {"name": "Amina"}}
        await reached.perform("list.add", list_id=names["listed"], **one)

    async def _make_text(reached: session.GatewaySession, names: dict[str, str]) -> None:
        given = {"organization_id": names["org"], "name": f"Own {names['n']}", "text": "x"}
        names["saved"] = (await reached.perform("text.create", language="fr", **given))["id"]

    async def _make_rule(reached: session.GatewaySession, names: dict[str, str]) -> None:
        given = {"organization_id": names["org"], "name": "Own", "keywords": ["own"]}
        names["rule"] = (await reached.perform("answer.create", **given))["ruleId"]

    async def _make_repeat(reached: session.GatewaySession, names: dict[str, str]) -> None:
        given = {"organization_id": names["org"], "name": "Rent", "text": "Due", "unit": "weeks"}
        whose = {"organization_id": names["org"], "name": f"Tenants {names['n']}"}
        listed = (await reached.perform("list.create", **whose))["list"]
        given |= {"list_id": listed["id"], "time": "10:00"}
        for name in ("repeat", "paused_repeat"):
            names[name] = (await reached.perform("repeat.create", **given))["repeatId"]
        await reached.perform("repeat.pause", repeat_id=names["paused_repeat"])

    async def _make_alarm(reached: session.GatewaySession, names: dict[str, str]) -> None:
        given = {"organization_id": names["org"], "name": "Room", "people": [NUMBER]}
        names["chain"] = (await reached.perform("alarm.create", **given))["chainId"]
        given = {"chain_id": names["chain"], "text": "Warm", "mode": "test"}
        names["alarm"] = (await reached.perform("alarm.raise", **given))["alarmId"]

    async def _make_verification(reached: session.GatewaySession, names: dict[str, str]) -> None:
        made = await reached.perform("org.create", name=f"Codes {names['n']}")
        await reached.perform("topup", organization_id=made["id"], amount="1")
        key = await reached.perform("key.create", organization_id=made["id"], type="publishable")
        sent = await reached.perform("verify.send", organization_id=made["id"], to=NUMBER)
        names["public"], names["verification"] = key["key"]["id"], sent["verificationId"]

    async def _make_draft(reached: session.GatewaySession, names: dict[str, str]) -> None:
        names["draft"] = names["sending"] = "mlg_none"
        if not reached.running:
            return  # alone no mailing is made
        for name in ("draft", "sending"):
            made = await reached.perform(
                "mailing.create", organization_id=names["org"], numbers=NUMBER, text="Salam"
            )
            names[name] = made["id"]
            with trio.fail_after(HANG_S):
                while made["state"] != "draft":
                    found = await reached.perform("mailing.show", mailing_id=made["id"])
                    made = found["mailing"]
        later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
        await reached.perform("mailing.set", mailing_id=names["sending"], send_at=later)
        await reached.perform("mailing.start", mailing_id=names["sending"])

    MAKERS: ClassVar = (
        ({"key"}, _make_key),
        ({"called"}, _make_called),
        ({"listed", "list_name"}, _make_list),
        ({"saved"}, _make_text),
        ({"rule"}, _make_rule),
        ({"repeat", "paused_repeat"}, _make_repeat),
        ({"chain", "alarm"}, _make_alarm),
        ({"draft", "sending"}, _make_draft),
        ({"sender", "asked"}, _make_sender),
        ({"hook", "event"}, _make_hook),
        ({"route"}, _make_route),
        ({"user"}, _make_user),
        ({"credential"}, _make_credential),
        ({"public", "verification"}, _make_verification),
    )


@contextmanager
def service(data: Path, config: Path) -> Iterator[Process]:
    command = ("serve", "--config", str(config), "--data", str(data), "--port", "0")
    process = Process((sys.executable, "-m", "risala", *command), config.parent)
    try:
        process.wait_line(lambda line: line.startswith("Risala is running at "))
        yield process
    finally:
        process.signal(signal.SIGTERM)
        status = process.wait_exit()
    assert status == 0


def _place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A data directory that is not there yet, and settings."""
    directory = tmp_path_factory.mktemp("both")
    config = directory / "risala.toml"
    config.write_text(CONFIG)
    return directory / "data", config


@pytest.fixture(scope="module")
def beside(tmp_path_factory) -> Iterator[World]:
    data, config = _place(tmp_path_factory)
    with service(data, config) as process:
        yield World(data, config, running=True, service=process)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> World:
    data, config = _place(tmp_path_factory)
    data.mkdir(0o700)
    return World(data, config, running=False)


def member(payload: Any, path: str) -> Any:
    for step in path.split("."):
        payload = payload[int(step) if step.isdecimal() else step]
    return payload


def few(cases: Sequence[Any], chosen: Container[Any]) -> list[Any]:
    """Of those that run alone, ``make test`` does a few. All go the one way that there is without a
    service; what each command says is shown beside one."""
    return [
        case if case in chosen else pytest.param(case, marks=pytest.mark.long) for case in cases
    ]


FILES = ("audit", "backup", "doctor", "init", "restore", "rotate-key", "upgrade")
"""Commands that have to do with the data's files."""
FIRST = ("org create", "org list", "key create", "topup", "send", "message list", "carriers")
ALONE = [row for row in ROWS if row.command in (*FILES, *FIRST) or row.alone != row.beside]


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.command)
def test_a_command_beside_a_service(beside: World, row: Row, tmp_path: Path):
    hold_against(beside, row, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("row", few(ROWS, ALONE), ids=lambda row: row.command)
def test_a_command_alone(alone: World, row: Row, tmp_path: Path):
    hold_against(alone, row, tmp_path)


def hold_against(world: World, row: Row, tmp_path: Path) -> None:
    wanted = [each for _, each in row.holds if isinstance(each, str)]
    if row.command == "upgrade":
        wanted.append("{backup}")  # it is ready once there is one
    names = world.prepare(tmp_path, *row.arguments, *wanted)
    arguments = [*row.command.split(), *(each.format(**names) for each in row.arguments)]
    done = world.run(*arguments)
    expected = row.beside if world.running else row.alone
    assert done.exit_code == expected, (done.output, world.faults())
    if expected:
        assert done.stderr.count("\n") == 1
        if not done.stdout:  # else it has told what it found, and says what that means
            assert row.sentence in json.loads(done.stderr)["message"]
        if not done.stdout:
            return
    else:
        assert done.stderr == ""
    payload = json.loads(done.stdout)
    for path, wanted in row.holds:
        found = member(payload, path)
        if isinstance(wanted, type):
            assert isinstance(found, wanted)
        else:
            assert found == (wanted.format(**names) if isinstance(wanted, str) else wanted)


REFUSED = (
    (("org", "show", "org_none"), "NOT_FOUND", 404, {}),
    (("topup", "{org}", "much"), "BAD_REQUEST", 400, {"issues": ["amount"]}),
    (
        ("send", "36123456", "Salam", "--org", "{org}", "--from", "Nobody"),
        *("BAD_REQUEST", 400, {"code": "SENDER_NOT_APPROVED"}),
    ),
    (("send", "36123456", "Salam", "--org", "{poor}"), "PAYMENT_REQUIRED", 402, {}),
    (("member", "remove", "{org}", "{user}"), "CONFLICT", 409, {}),
    (("init", "{backup}"), "COMMAND_REFUSED", None, {}),
)
"""Commands that are refused, and the error of each: the same beside a service and alone."""


@pytest.mark.slow
@pytest.mark.parametrize("refusal", REFUSED, ids=lambda refusal: " ".join(refusal[0]))
def test_a_refusal_in_json_is_that_of_the_api(beside: World, refusal, tmp_path: Path):
    see_refused(beside, tmp_path, *refusal)


@pytest.mark.slow
@pytest.mark.parametrize(
    "refusal", few(REFUSED, REFUSED[:2]), ids=lambda refusal: " ".join(refusal[0])
)
def test_a_refusal_in_json_is_the_same_alone(alone: World, refusal, tmp_path: Path):
    see_refused(alone, tmp_path, *refusal)


def see_refused(world: World, tmp_path: Path, arguments, code, status, data) -> None:
    names = world.prepare(tmp_path, *arguments)
    names["poor"] = json.loads(world.run("org", "create", f"Poor {names['n']}").stdout)["id"]
    told = [each.format(**names) for each in arguments]
    plain, done = world.run(*told, as_json=False), world.run(*told)
    assert (plain.exit_code, done.exit_code, done.stdout) == (1, 1, "")
    error = json.loads(done.stderr)
    assert set(error) == {"code", "status", "message", "data"}
    assert (error["code"], error["status"]) == (code, status)
    assert error["message"] == plain.stderr.rstrip("\n")
    found = error["data"]
    if "issues" in found:
        found = {"issues": [".".join(issue["path"]) for issue in found["issues"]]}
    assert found == data


SHOWN = (
    "org list",
    "org show",
    "price show",
    "sender list",
    "carriers",
    "doctor",
    "retention show",
)


@pytest.mark.slow
@pytest.mark.parametrize("command", SHOWN)
def test_tables_for_people(beside: World, command, tmp_path: Path):
    see_table(beside, command, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("command", few(SHOWN, ("org list", "doctor")))
def test_tables_for_people_alone(alone: World, command, tmp_path: Path):
    see_table(alone, command, tmp_path)


def see_table(world: World, command: str, tmp_path: Path) -> None:
    names = world.prepare(tmp_path, "{sender}")
    more = [names["org"]] if command in ("org show", "price show") else []
    done = world.run(*command.split(), *more, as_json=False)
    assert done.exit_code == 0, done.output
    assert len(done.stdout.splitlines()) > 1
    assert "\x1b" not in done.stdout


LISTING = (
    *(
        "org list",
        "org show",
        "key list",
        "credential list",
        "ledger",
        "statement",
        "invoice list",
        "price",
        "price show",
    ),
    *("country list", "sender list"),
    *("message list", "message show", "verify list", "verify figures", "verify get"),
    "verify config",
    *("webhook list", "webhook show", "webhook deliveries", "inbound list", "inbound routes"),
    *("conversation list", "search"),
    *("answer list", "answer show", "repeat list", "repeat show"),
    *("alarm list", "alarm show", "alarm steps"),
    *("inbound opt-outs", "payment list", "payment texts", "payment lines", "user list"),
    *("user show", "member list", "carriers", "carriers show", "carriers unmatched", "alerts"),
    *("route", "plugins", "audit-log", "retention show", "kept show", "kept exports"),
    *("hook list", "hook presets", "list list", "list show", "text list", "text show"),
    *("kept deletions", "log", "doctor", "audit", "smpp sessions", "credential list"),
)
"""What shows tables, or names and values."""
EVERYTHING = ("key", "sender", "hook", "route", "user", "credential", "verification")
WHOLE = re.compile(
    r"\b[a-z]{3}_[0-9A-HJKMNP-TV-Z]{32}\b"  # ids
    r"|\+222\d{8}\b|\S+@example\.com"
    r"|\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?"
    r"|\b\d+\.\d\d MRU\b"
)
"""What must not be broken over two lines."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "places", [40, *(pytest.param(each, marks=pytest.mark.long) for each in (60, 80, 200))]
)
def test_nothing_is_broken_in_a_narrow_terminal(beside: World, tmp_path: Path, in_terminal, places):
    first = {}
    for row in ROWS:
        first.setdefault(row.command, row)
    named = (each for name in LISTING for each in first[name].arguments)
    names = beside.prepare(tmp_path, *named, *(f"{{{each}}}" for each in EVERYTHING))
    for command in LISTING:
        if "{hook}" in first[command].arguments:
            arguments = [names["hook"]]
        else:
            arguments = [each.format(**names) for each in first[command].arguments]
        told = [*command.split(), *arguments]
        piped = beside.run(*told, as_json=False)
        assert piped.exit_code == 0, (command, piped.output)
        shown = in_terminal(
            places,
            [*told, "--config", str(beside.config), "--data", str(beside.data)],
        )
        lines = shown.splitlines()
        wanted = Counter(WHOLE.findall(piped.stdout))
        found = Counter(token for line in lines for token in WHOLE.findall(line))
        if command not in ("audit-log", "log", "doctor", "carriers"):  # they tell of this very look
            assert found >= wanted, command
        else:
            assert sum(found.values()) >= sum(wanted.values()), command
        for line in lines:
            for token in WHOLE.finditer(line):  # a terminal breaks a longer line by itself
                whole = token.start() // places == (token.end() - 1) // places
                assert whole, (command, line)


@pytest.mark.slow
class TestOneWriterEver:
    @pytest.fixture
    def place(self, tmp_path) -> World:
        (tmp_path / "risala.toml").write_text(CONFIG)
        return World(tmp_path / "data", tmp_path / "risala.toml", running=True)

    @pytest.mark.long
    def test_a_second_service_is_refused(self, place):
        with service(place.data, place.config):
            command = [sys.executable, "-m", "risala", "serve", "--data", place.data, "--port", "0"]
            second = run(command, place.data.parent)
        assert (second.returncode, second.stdout) == (1, "")
        assert second.stderr.count("\n") == 1
        assert "is in use by process" in second.stderr

    def test_a_command_never_opens_the_database_that_a_service_holds(self, place, monkeypatch):
        def opened(*_: object) -> None:
            raise AssertionError("a second writer")

        with service(place.data, place.config):
            monkeypatch.setattr("risala.engine.journal.store.writer.open_writer", opened)
            assert place.run("org", "create", "Shop").exit_code == 0
            with pytest.raises(DataDirectoryBusy):
                DataLock(place.data).acquire()

    async def test_two_commands_at_once_take_turns(self, place):
        """Without a service each takes the lock: the second waits for the first."""
        settings = load_settings(
            place.config, overrides={"storage.data_dir": str(place.data)}, environ={}
        )
        order = []

        async def one(name: str) -> None:
            async with session.open_session(settings) as reached:
                assert not reached.running
                order.append(f"{name} in")
                await reached.perform("org.create", name=name)
                order.append(f"{name} out")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, "a")
            nursery.start_soon(one, "b")
        assert [each.split()[1] for each in order] == ["in", "out"] * 2
