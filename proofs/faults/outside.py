"""Faults of what the service talks to."""

from __future__ import annotations

from typing import Final

from proofs.faults.row import ACCEPTED, Fault

_HOOK: Final = "the delivery's error"
_CARRIERS: Final = "`risala carriers`"
_DOWN: Final = "carrier mattel is down"
_NOT_SENT: Final = "people.mail.failed: The mail was not sent: "

OUTSIDE: Final = (
    Fault(
        "names_unknown",
        "Names cannot be looked up",
        "each look-up of a name fails",
        {
            "API": (ACCEPTED,),
            _HOOK: ("NAME_UNKNOWN: The name localhost was not found: …",),
        },
        "by itself: each event is tried again, after 5 seconds first",
        "See to the resolver (`/etc/resolv.conf`).",
    ),
    Fault(
        "names_hang",
        "Looking a name up never ends",
        "each look-up of a name hangs until the fault is over",
        {
            "API": (ACCEPTED,),
            _HOOK: ("NAME_UNKNOWN: The name localhost was not found: …",),
        },
        "by itself; look-ups have threads of their own, so that nothing else waits for them",
        "See to the resolver (`/etc/resolv.conf`).",
    ),
    Fault(
        "receiver_dead",
        "A receiver of webhooks is dead",
        "nothing listens at the address of an endpoint",
        {"API": (ACCEPTED,), _HOOK: ("NOT_CONNECTED: The connection failed.",)},
        "by itself: for three days each event is tried again; other endpoints wait for nobody",
        "Nothing; its owner is told. What was missed is sent again by `risala webhook replay`.",
    ),
    Fault(
        "mail_server_dead",
        "The mail server is dead",
        "it refuses connections, resets them, says nothing, and answers 451 and 554 in the middle",
        {
            "API": (ACCEPTED,),
            "log": (
                f"{_NOT_SENT}[Errno 111] Connection refused",
                f"{_NOT_SENT}Connection unexpectedly closed: [Errno 104] Connection reset by peer",
                f"{_NOT_SENT}Connection unexpectedly closed",
                f"{_NOT_SENT}451 later",
                f"{_NOT_SENT}554 5.1.1 <the recipient>: never",
            ),
            "doctor": ("5 mails wait because the mailer did not accept them. See the log.",),
        },
        "by itself: each mail is tried again, after 15 seconds first",
        "See to the mail server; meanwhile people are let in by `risala user sign-in EMAIL`.",
    ),
    Fault(
        "carrier_refuses",
        "A carrier refuses connections",
        "the SMSC is gone, and nothing listens in its place",
        {
            "API": (ACCEPTED,),
            "`/readyz`": (_DOWN,),
            _CARRIERS: (
                "down: No connection to 127.0.0.1:…: nothing listens there, or a firewall "
                "refuses us.",
            ),
        },
        "by itself: it is tried again and again, and what was accepted waits",
        "Ask the carrier. An alert (`carrier_down`) comes after `alerts.carrier_down_s`.",
    ),
    Fault(
        "carrier_mute",
        "A carrier takes the connection and says nothing",
        "what listens in the SMSC's place never answers",
        {"API": (ACCEPTED,), "`/readyz`": (_DOWN,), _CARRIERS: ("down: …",)},
        "by itself",
        "Ask the carrier; see whether the port is one of TLS.",
    ),
    Fault(
        "carrier_resets",
        "A carrier resets each connection",
        "what listens in the SMSC's place ends each connection at once",
        {
            "API": (ACCEPTED,),
            "`/readyz`": (_DOWN,),
            _CARRIERS: ("down: …",),
        },
        "by itself",
        "Ask the carrier whether it knows this machine's address.",
    ),
    Fault(
        "carrier_silent",
        "A carrier falls silent after its bind",
        "the SMSC is stopped (SIGSTOP) with messages in its window, and goes on later",
        {"API": (ACCEPTED,)},
        "by itself: late answers count, and without one `on_uncertain_message` decides",
        "Ask the carrier; where its late answers are many, raise `after_s`.",
    ),
)

CLIENTS: Final = (
    Fault(
        "hostile_clients",
        "Clients drip their requests, or read no answer",
        "100 connections begin a head and never end it, 100 ask for 50 documents and read nothing",
        {"API": (ACCEPTED,)},
        "by itself: a head has 15 seconds, 16 KiB of an answer have 10",
        "Nothing.",
    ),
    Fault(
        "idle_connections",
        "10,000 idle connections",
        "one process opens them and says nothing (500 of them in CI)",
        {"API": (ACCEPTED,)},
        "nothing has to; from `http.connections_max` on the longest idle one goes for a new one",
        "Nothing.",
    ),
)
