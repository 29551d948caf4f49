"""Members of a body that no endpoint reads: told to their sender, so that a typing error shows.

They are ignored (contract §2), and that is silent: who writes `text` where `body` is meant learns
only that `body` is missing. The answer to a request with a valid key names them in
:data:`HEADER`, the request log marks them, and the issue of a missing member names the
one that probably stands for it. Only names that cannot be a code, a number or a text are repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from itertools import chain, islice
from typing import Any, Final

HEADER: Final = "x-unknown-members"
NAMES_MAX: Final = 10
"""Names that are repeated; the rest is a count."""
NOTED_MAX: Final = 1000
"""Different names that are noted of one body, which may be a batch of 8 MiB."""

_NOTED: Final[ContextVar[tuple[str, ...]]] = ContextVar("risala_unknown_members", default=())
"""Names of the request that is being answered, in the order in which they came."""
_is_shown: Final = re.compile(r"[A-Za-z0-9_.-]{1,40}", re.ASCII).fullmatch
_is_secret: Final = re.compile(r"[sp]k_(live|test)_|whsec_").search

_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    "body": ("text", "message", "content", "msg", "sms"),
    "to": ("phone", "number", "recipient", "phonenumber", "destination", "msisdn", "mobile"),
    "from": ("sender", "senderid", "source"),
    "messageId": ("id", "smsid", "sid"),
    "verificationId": ("id", "sessionid", "requestid", "sid"),
    "code": ("otp", "pin", "token"),
    "messages": ("items", "batch", "sms"),
    "endpointId": ("id", "webhookid"),
    "url": ("uri", "endpoint", "address", "callback"),
}
"""What other services call our members, in small letters and without separators."""


def note_unknown(names: Iterable[str]) -> None:
    """Note names of the body that is being read."""
    _NOTED.set(tuple(islice(dict.fromkeys(chain(_NOTED.get(), names)), NOTED_MAX)))


def take_unknown() -> tuple[str, ...]:
    """The names that were noted since the last call, in their order; they are noted no more."""
    noted = _NOTED.get()
    if noted:
        _NOTED.set(())
    return noted


def shown(names: Sequence[str]) -> tuple[str, ...]:
    """The names that may be repeated, at most :data:`NAMES_MAX`, then ``+N`` for the others."""
    if not names:
        return ()
    listed = [each for each in names if _is_shown(each) and not _is_secret(each)][:NAMES_MAX]
    left = len(names) - len(listed)
    return (*listed, f"+{left}") if left else tuple(listed)


def likely(missing: str, members: Mapping[str, Any], known: frozenset[str]) -> str | None:
    """The given member that probably stands for a missing one; None: none looks like it."""
    candidates = {_folded(name): name for name in members if name not in known and _is_shown(name)}
    spellings = (_folded(missing), *_USUAL.get(missing, ()))
    return next((candidates[each] for each in spellings if each in candidates), None)


def _folded(name: str) -> str:
    return re.sub(r"[_.-]", "", name).lower()
