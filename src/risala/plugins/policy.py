"""The contract for message policies: plugins that refuse or rewrite what is to be sent.

A policy is registered by the hook ``risala_register_message_policies`` (see
:mod:`risala.plugins.hookspecs`). It is asked after the lookup of the idempotency key, so that a
repeat never asks it again, and before anything is charged or stored. What it rewrites is checked,
cut and priced like what the customer wrote. A policy that fails refuses: the customer is told that
the service cannot take the message now (503), and nothing of why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class PolicyMessage:
    """A message that somebody wants to send."""

    kind: Literal["message", "code"]
    """A one-time code is shown to policies whose table says ``codes = true``."""
    organization_id: str
    is_test: bool
    """It is of a test key: nothing leaves."""
    recipient: str
    """``+222XXXXXXXX``."""
    sender: str | None
    """As it was asked for; None: the general one. Always None of a code."""
    text: str = field(repr=False)
    """As it was asked for, or as the policies before this one left it. Empty of a code."""
    metadata: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class PolicyPass:
    """Nothing stands against the message."""


@dataclass(frozen=True, slots=True)
class PolicyRewrite:
    """The message goes on, changed; the timeline says by which policy. Never of a code."""

    text: str | None = field(default=None, repr=False)
    """1 to 1600 characters; None: it stays."""
    sender: str | None = None
    """One that the organization may use; None: it stays."""


@dataclass(frozen=True, slots=True)
class PolicyRefusal:
    """The message is refused (400)."""

    reason: str
    """Stable, for programs: ``forbidden_words``."""
    text: str
    """One sentence for whoever sent it: why, and what to do. Without the message's own words."""


PolicyVerdict = PolicyPass | PolicyRewrite | PolicyRefusal


@runtime_checkable
class MessagePolicy(Protocol):
    """Says what may be sent."""

    async def judge(self, messages: Sequence[PolicyMessage]) -> Sequence[PolicyVerdict]:
        """A verdict on each message of one request, in their order.

        Cancelled at its deadline. Whatever it raises refuses the whole request for now; it should
        raise nothing. Several requests are judged at the same time.
        """


@dataclass(frozen=True, slots=True)
class MessagePolicyFactory:
    """How a policy is built from its table in the configuration."""

    name: str
    """The word for ``policy = "…"`` in ``[policies.NAME]``, and of the table within it."""
    settings: type[BaseModel]
    """Validates that table, ``[policies.NAME.WORD]``; unknown keys forbidden, ``_env`` keys as with
    drivers."""
    build: Callable[[str, Any], MessagePolicy]
    """Takes the configured name and the validated settings. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""
