"""Codes that other software made: sent as codes are, though nobody checks them here.

The text with the code in it is in the database only until it has left, and only encrypted
(:mod:`risala.engine.rules.sealing`); what pages may show of it is the template.
"""

from __future__ import annotations

import secrets
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Invalid
from risala.engine.model.records.messages import NewSealedCode
from risala.engine.rules.sealing import NONCE_BYTES
from risala.engine.rules.template import render
from risala.engine.services import Services
from risala.sms.segment import count

CODE_CHARACTERS_MAX: Final = 64
"""The longest code: programs that send letters too, or a whole word, stay far below it."""


@dataclass(frozen=True, slots=True, repr=False)
class SendHookCode:
    """A code that other software made, or a text with such a code in it."""

    to: str
    code: str | None = None
    """The organization's Verify template makes the text of it."""
    text: str | None = None
    """The whole text; used if there is no ``code``."""
    locale: str | None = None
    """``fr``, ``ar`` or ``en``; None: the organization's own template."""
    sender: str | None = None
    """None: the sender of the organization's codes."""
    once: str | None = None
    """The idempotency key; it reveals nothing of the code. None: the request is always a new
    one."""


class HookCodes:
    """Sends them."""

    def __init__(self, services: Services) -> None:
        self._accounts = services.accounts
        self._intake = services.intake
        self._services = services
        self._seal = services.seal

    async def send(self, principal: Principal, command: SendHookCode) -> bytes:
        """Accept a code's SMS: durable when this returns.

        Returns the answer, as of ``POST /api/sms``; that of an earlier one with the same key.

        Raises:
            Invalid: the code or the text cannot be sent.
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden, PolicyRefused: refused.
            Unavailable: not possible now.
        """
        if self._intake.policies.are_there_for_codes:
            await self._intake.policies.rule_code(principal, command.to)
        organization = self._accounts.organization(principal.organization_id)
        settings = self._services.code_settings(organization.id)
        if faults := settings.faults_of(command.locale, None, None):
            raise Invalid.of(faults)
        body, text = "", command.text or ""
        if command.code is not None:
            if not 0 < len(command.code) <= CODE_CHARACTERS_MAX:
                sentence = f"A code has 1 to {CODE_CHARACTERS_MAX} characters."
                raise Invalid("code", "invalid_code", sentence)
            body = settings.text(command.locale, None, None)
            text = render(body, command.code)
        message = self._intake.drafts.of_sealed_code(
            organization,
            principal,
            recipient=command.to,
            sender=command.sender or settings.sender,
            body=body,
            size=count(text),
            once=command.once,
            validity_s=settings.expiry_minutes * 60,
        )
        new = NewSealedCode(
            message=message,
            per_phone_per_hour=settings.per_phone_per_hour,
            per_organization_per_hour=settings.per_organization_per_hour,
            sealed=self._seal.close(text, message.id, secrets.token_bytes(NONCE_BYTES)),
        )
        return await self._intake.send_sealed_code(organization, principal.mode, new)
