"""A quick yes to the bodies of the hot paths: a decoded object as its command, or None.

Nearly every body is valid, and to see only that takes a third of the time of a model's validation.
None does not mean that a body is wrong: the models of :mod:`risala.http.api.bodies` and
:mod:`risala.http.api.verify_bodies` decide then, and name every fault. Where a function here gives
a command, the model would give an equal one, which a property test checks. Rare members are left to
the models altogether.
"""

from __future__ import annotations

from typing import Any, Final, TypeGuard

from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.states import PRIORITY_MESSAGE
from risala.http.api.fields import (
    METADATA_ENTRIES_MAX,
    METADATA_NAME_MAX,
    METADATA_VALUE_MAX,
)
from risala.sms.address import sender_fault
from risala.sms.limits import IDEMPOTENCY_KEY_CHARACTERS, TEXT_CHARACTERS_MAX, VALIDITY_S
from risala.sms.numbering.plan import NumberingPlan

CODE_CHARACTERS: Final = (1, 64)
"""Fewest and most characters of a guess at a code: a user may type anything, and nobody types
more."""

Members = dict[str, Any]

_SEND: Final = frozenset(
    ("to", "body", "from", "idempotencyKey", "sendAt", "validitySeconds", "metadata")
)
_SEND_CODE: Final = frozenset(("to", "locale", "appHash", "origin"))
_CHECK: Final = frozenset(("verificationId", "code"))
"""The members of each body. With any other one the models decide: they note its name."""


def quick_send(members: Members, plan: NumberingPlan) -> SendMessage | None:
    """The message to send; None where the body may be wrong, or has a time of its own."""
    get = members.get
    to, body, sender, key = get("to"), get("body"), get("from"), get("idempotencyKey")
    validity_s, metadata = get("validitySeconds"), get("metadata")
    if (
        type(to) is str
        and plan.serves(to)
        and type(body) is str
        and 0 < len(body) <= TEXT_CHARACTERS_MAX
        and (sender is None or (type(sender) is str and sender_fault(sender) is None))
        and (key is None or _is_text(key, *IDEMPOTENCY_KEY_CHARACTERS))
        and get("sendAt") is None
        and (validity_s is None or _is_whole(validity_s, *VALIDITY_S))
        and (metadata is None or _is_metadata(metadata))
        and members.keys() <= _SEND
    ):
        # Made of a tuple: to call the class takes three times as long.
        values = (to, body, sender, key, PRIORITY_MESSAGE, metadata or {}, None, validity_s)
        return SendMessage._make((*values, None, None, None))
    return None


def quick_get(members: Members, name: str) -> str | None:
    """The id that a body names; None where the body may be wrong."""
    value = members.get(name)
    return value if type(value) is str and value and len(members) == 1 else None


def quick_send_code(members: Members, plan: NumberingPlan) -> SendCode | None:
    """A code to send."""
    get = members.get
    to, locale, app_hash, origin = get("to"), get("locale"), get("appHash"), get("origin")
    if (
        type(to) is str
        and plan.serves(to)
        and (locale is None or type(locale) is str)
        and (app_hash is None or type(app_hash) is str)
        and (origin is None or type(origin) is str)
        and members.keys() <= _SEND_CODE
    ):
        return SendCode(to, locale, app_hash, origin)
    return None


def quick_check(members: Members) -> tuple[str, str] | None:
    """The verification and the code that the user typed; None where the body may be wrong."""
    verification_id, code = members.get("verificationId"), members.get("code")
    if (
        type(verification_id) is str
        and verification_id
        and _is_text(code, *CODE_CHARACTERS)
        and members.keys() <= _CHECK
    ):
        return verification_id, code
    return None


def _is_text(value: object, least: int, most: int) -> TypeGuard[str]:
    return type(value) is str and least <= len(value) <= most


def _is_whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most  # not isinstance: True is an int there


def _is_metadata(value: object) -> bool:
    return (
        type(value) is dict
        and len(value) <= METADATA_ENTRIES_MAX
        and all(
            0 < len(name) <= METADATA_NAME_MAX and _is_text(text, 0, METADATA_VALUE_MAX)
            for name, text in value.items()
        )
    )
