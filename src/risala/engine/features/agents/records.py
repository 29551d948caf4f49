"""What agents can do by ``risala mcp``: its tools, each of which is one request of the HTTP API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from risala.dataclass import dataclass
from risala.engine.model.commands import Principal
from risala.engine.model.records.asks import FeatureAccess

ACT_PATH: Final = "/agents/act"
"""Where an agent says what it is about to do: the audit trail has it then."""
SKILL_PATH: Final = "/skill.md"
LLMS_PATH: Final = "/llms.txt"
RUN_DIGITS: Final = 16
"""Hexadecimal digits that name a run: no phone number has as many."""
CALLS_MAX: Final = 1_000_000
"""The highest number of a call in a run: nobody reads a trail with more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """One thing that agents may ask for. Members have the names of the API."""

    name: str
    path: str
    """The request of the API that does it."""
    does: str
    takes: Mapping[str, str]
    """What may be given, each with what it means. All of it is text."""
    required: tuple[str, ...]
    shows: tuple[str, ...]
    """Members of the API's answer that agents get. No other leaves ``risala mcp``: not the text of
    a message, which somebody else may have written."""
    sends: bool = False
    """Whether it makes a message: it counts against the cap of a live run."""
    keyed: bool = False
    """Whether the API takes an idempotency key with it."""


TOOLS: Final = (
    AgentTool(
        name="send",
        path="/api/sms",
        does="Send one text message to one phone number.",
        takes={
            "to": "The number, with + and the country code.",
            "body": "The text.",
            "from": "An approved sender name of the organization; its usual one if left out.",
            "idempotencyKey": "The key that a failed call named: the message is sent once.",
        },
        required=("to", "body"),
        shows=("accepted", "messageId", "idempotencyKey", "from", "notice"),
        sends=True,
        keyed=True,
    ),
    AgentTool(
        name="status",
        path="/api/sms/get",
        does="Tell what became of a message, without its text.",
        takes={"messageId": "The id that `send` answered."},
        required=("messageId",),
        shows=(
            *("messageId", "status", "segments", "price", "currency", "attempts"),
            *("errorCode", "sentAt", "deliveredAt", "createdAt", "updatedAt"),
        ),
    ),
    AgentTool(
        name="verify_start",
        path="/api/verify/send",
        does="Send a one-time code to a number, to prove that somebody holds it.",
        takes={
            "to": "The number, with + and the country code.",
            "locale": "The language of the text: en, fr or ar.",
        },
        required=("to",),
        shows=("verificationId",),
        sends=True,
    ),
    AgentTool(
        name="verify_check",
        path="/api/verify/check",
        does="Check a code that a person read from their phone. A test key's codes are zeros.",
        takes={
            "verificationId": "The id that `verify_start` answered.",
            "code": "The digits that the person gave.",
        },
        required=("verificationId", "code"),
        shows=("status",),
    ),
    AgentTool(
        name="verify_status",
        path="/api/verify/get",
        does="Tell the state of a verification.",
        takes={"verificationId": "The id that `verify_start` answered."},
        required=("verificationId",),
        shows=("id", "status", "attempts", "expiresAt", "createdAt", "updatedAt"),
    ),
    AgentTool(
        name="figures",
        path="/api/verify/figures",
        does="Count the codes of some days: asked for, sent, delivered, entered, and their cost.",
        takes={
            "since": "The first day is the one of this time: 2026-11-01T00:00:00Z.",
            "until": "The last day is the one of the moment before; today if left out.",
            "by": "day, network, country, carrier, channel or key; day if left out.",
        },
        required=("since",),
        shows=("by", "currency", "whole", "items", "countedUntil"),
    ),
)
NO_SUCH_TOOL: Final = (
    "There is no tool {name}. This server sends, tells a status, verifies and counts codes. It"
    " reads no texts that come in, and changes no keys, settings or money: ask a person for that."
)


@dataclass(frozen=True, slots=True)
class AgentAct:
    """What an agent is about to do."""

    tool: str
    run: str
    """The run of the agent's program."""
    call: int
    """The number of the call within the run, from 1 on."""


class NotesActs(Protocol):
    """Writes agents' acts into the audit trail."""

    async def note(self, principal: Principal, act: AgentAct, /) -> int: ...


ACCESS: Final[FeatureAccess[NotesActs]] = FeatureAccess("agents")
