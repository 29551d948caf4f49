"""Hooks: the answers of their operations, and the asks for faces."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    N_,
    NAME_MAX,
    UNAUDITED,
    Hint,
    JsonName,
    Label,
    Maximum,
    Moment,
    Typed,
)
from risala.engine.model.states import Mode
from risala.sms.numbering.plan import EXAMPLE

NUMBERS_MAX: Final = 20
"""Numbers that one alert goes to (contract §10)."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook as it is listed, without its secret."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    preset: Annotated[str, AUDITED]
    """The program that it is for, or ``custom``."""
    name: Annotated[
        str | None,
        AUDITED,
        Label(N_("Name")),
        Hint(N_("Which program it is for: “Shop server”.")),
        Maximum(NAME_MAX),
    ]
    mode: Annotated[Mode, AUDITED]
    proof: Annotated[str, AUDITED]
    """How its program proves itself."""
    numbers: Annotated[
        tuple[str, ...] | None,
        AUDITED,
        Label(N_("Numbers")),
        Hint(N_("Who gets its messages, one a line.")),
        Typed(EXAMPLE, left_to_right=True),
    ]
    """Whom its alerts go to; None: each request names its recipient."""
    alarm: Annotated[
        str | None,
        AUDITED,
        Label(N_("Alarm")),
        Hint(N_("Each alert writes to its people, one after the other, until one answers.")),
    ]
    """The chain of the alarm that its alerts raise, in place of a message to all numbers; None:
    they raise none."""
    sender: Annotated[str | None, AUDITED, JsonName("from"), Label(N_("Sender"))]
    """None: the service's own sender, and for codes that of the organization's codes."""
    locale: Annotated[str | None, AUDITED, Label(N_("Language"))]
    """The language of codes whose request names none; None: the organization's own template."""
    mapping: Annotated[str | None, AUDITED]
    """JSON: how requests are read and answered, of the preset ``custom``."""
    last4: Annotated[str, AUDITED]
    """The end of the secret."""
    old_until: Annotated[Moment | None, AUDITED]
    """Until when the secret before it works too."""
    allowed_addresses: Annotated[
        tuple[str, ...] | None,
        AUDITED,
        Label(N_("Allowed addresses")),
        Hint(N_("Addresses and networks of your servers, one a line. Empty: from anywhere.")),
        Typed("203.0.113.7", left_to_right=True),
    ]
    created_at: Annotated[Moment, UNAUDITED]
    created_by: Annotated[str, UNAUDITED]
    last_used_at: Annotated[Moment | None, UNAUDITED]
    disabled_at: Annotated[Moment | None, AUDITED]
    """Since when it answers every request with 403."""


SETTINGS: Final = ("name", "numbers", "alarm", "sender", "locale", "allowed_addresses")
"""The settings of a hook, in the order of its form."""


@dataclass(frozen=True, slots=True)
class StoredSecrets:
    """What proves the callers of a hook."""

    secret: bytes = field(repr=False)
    old_secret: bytes | None = field(repr=False)
    old_until: int | None


@dataclass(frozen=True, slots=True)
class Storm:
    """Alerts of a hook within one window."""

    hook: str
    ends_at: int
    passed: int
    """Alerts that left one by one."""
    held: int
    """Alerts that wait to be one message."""
    text: str | None
    """The beginning of the first that is held."""


@dataclass(frozen=True, slots=True)
class AddressedHook(Hook):
    """A hook with its address."""

    url: Annotated[str, UNAUDITED] = ""
    """What is pasted into the program. Where the secret is a part of it, ``{secret}`` stands for
    it, except in the answer that has the secret."""


@dataclass(frozen=True, slots=True)
class MadeHook:
    """A new hook, or one with a new secret, which its owner sees here and never again."""

    hook: AddressedHook = field(repr=False)
    secret: str | None = field(repr=False)
    """None: the program made it."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of an organization."""

    hooks: tuple[Hook, ...]


@dataclass(frozen=True, slots=True)
class HookPreset:
    """A program that there is a preset for."""

    name: str
    title: str
    kind: str
    """``sign-in``, ``monitoring``, ``business`` or ``home``."""
    proofs: tuple[str, ...]
    sends: str
    """``code`` or ``text``."""
    needs_numbers: bool
    """Whether its messages go to the hook's own numbers."""
    secret_from: str
    """The maker of the secret: ``risala`` or ``program``."""


@dataclass(frozen=True, slots=True)
class HookPresets:
    presets: tuple[HookPreset, ...]


CREATE: Final = Ask("hook.create", MadeHook)
LIST: Final = Ask("hook.list", Hooks)
SHOW: Final = Ask("hook.show", AddressedHook)
SET: Final = Ask("hook.set", Hook)
ROTATE: Final = Ask("hook.rotate", MadeHook)
ENABLE: Final = Ask("hook.enable", Hook)
DISABLE: Final = Ask("hook.disable", Hook)
DELETE: Final = Ask("hook.delete", Hook)
PRESETS: Final = Ask("hook.presets", HookPresets)
