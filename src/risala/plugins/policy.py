"""The contract for message policies: plugins that refuse or rewrite messages.

A policy is registered by the hook ``risala_register_message_policies`` (see
:mod:`risala.plugins.hookspecs`). It is asked after the lookup of the idempotency key, so that a
repeat never asks it again, and before anything is charged or stored. A rewritten message is
checked, cut and priced like the customer's own. If a policy fails, the message is refused: the
answer is that the service cannot take it now (503), without the reason.
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
    """Who wants to send it."""
    is_test: bool
    """The message was accepted with a test key: it is not sent."""
    recipient: str
    """``+`` and digits (E.164)."""
    sender: str | None
    """The requested sender; None: the general one. Always None for a code."""
    text: str = field(repr=False)
    """The requested text, or that of the policies before this one. Empty for a code."""
    metadata: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The program's own data, as it was sent."""


@dataclass(frozen=True, slots=True)
class PolicyPass:
    """The message may be sent."""


@dataclass(frozen=True, slots=True)
class PolicyRewrite:
    """The message goes on, changed; the timeline says by which policy. Never for a code."""

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
    """One sentence for the sender: why, and what to do. Without the message's own words."""


PolicyVerdict = PolicyPass | PolicyRewrite | PolicyRefusal


@runtime_checkable
class MessagePolicy(Protocol):
    """Says what may be sent."""

    async def judge(self, messages: Sequence[PolicyMessage]) -> Sequence[PolicyVerdict]:
        """A verdict on each message of one request, in their order.

        Cancelled at its deadline. It should raise nothing: any exception refuses the whole request
        for now. Several requests are judged at the same time.
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
