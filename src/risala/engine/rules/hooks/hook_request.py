"""A program's request to a hook as it came, what is read of it, and what is wrong with it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from risala.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class HookRequest:
    """One request. Its words may be codes and texts, its headers a secret: so it prints nothing."""

    method: str
    query: str
    """The address's query as it came, with its escapes."""
    headers: Mapping[str, str]
    """Names in small letters."""
    body: bytes
    content_type: str
    """The header's value; empty if there is none."""
    path_secret: str | None
    """The part of the path behind the hook's id."""
    at_s: int
    """When it came, in seconds since 1970."""
    suffix: str = ""
    """What follows in the path: must be the preset's ``suffix``."""

    def __repr__(self) -> str:
        return f"HookRequest({self.method}, {len(self.body)} bytes)"


@dataclass(frozen=True, slots=True)
class HookMessage:
    """One message that a request asks for, in the program's words."""

    to: str | None
    """The number as the program writes it; None: the mapping has none, and the hook's are taken."""
    text: str | None
    code: str | None
    """None beside a text: that has the code in it, if there is any. Never both None."""
    sender: str | None = None
    reference: str | None = None
    """The program's own name for the message; an answer may repeat it."""
    locale: str | None = None
    """``en``, ``fr`` or ``ar``; None: the program says none of these."""
    once: str | None = None
    """Requests with the same are one message."""

    def __repr__(self) -> str:
        return "HookMessage(…)"


@dataclass(frozen=True, slots=True)
class HookFault:
    """Why a request sends nothing."""

    code: str
    """One word for programs, such as ``missing_field``."""
    sentence: str
    """What its administrator reads. It names fields, and never has their values."""
