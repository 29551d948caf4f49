"""Codes that other software made: sent as codes are, though nobody checks them here.

The text with the code in it is in the database only until it has left, and only encrypted
(:mod:`risala.engine.rules.hooks.sealing`); what pages may show of it is the template.
"""

from __future__ import annotations

import secrets
from typing import Final

from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.intake.intake import Intake
from risala.engine.journal.repositories.verifications import VerificationRepository
from risala.engine.model.commands import Principal, SendHookCode
from risala.engine.model.errors import Invalid
from risala.engine.model.records.messages import NewHookCode
from risala.engine.rules.hooks.sealing import NONCE_BYTES, Seal
from risala.engine.rules.template import render
from risala.sms.segment import count

CODE_CHARACTERS_MAX: Final = 64
"""The longest code: programs that send letters too, or a whole word, stay far below it."""


@dataclass(frozen=True, slots=True)
class HookCodes:
    """Sends them."""

    accounts: Accounts
    intake: Intake
    stored: VerificationRepository
    seal: Seal

    async def send(self, principal: Principal, command: SendHookCode) -> bytes:
        """Accept a code's SMS: durable when this returns.

        Returns the answer, as of ``POST /api/sms``; that of an earlier one with the same key.

        Raises:
            Invalid: the code or the text cannot be sent.
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden, PolicyRefused: refused.
            Unavailable: not possible now.
        """
        if self.intake.policies.are_there_for_codes:
            await self.intake.policies.rule_code(principal, command.to)
        organization = self.accounts.organization(principal.organization_id)
        settings = self.stored.settings(organization.id)
        if faults := settings.faults_of(command.locale, None, None):
            raise Invalid.of(faults)
        body, text = "", command.text or ""
        if command.code is not None:
            if not 0 < len(command.code) <= CODE_CHARACTERS_MAX:
                sentence = f"A code has 1 to {CODE_CHARACTERS_MAX} characters."
                raise Invalid("code", "invalid_code", sentence)
            body = settings.text(command.locale, None, None)
            text = render(body, command.code)
        message = self.intake.drafts.of_hook_code(
            organization,
            principal,
            recipient=command.to,
            sender=command.sender or settings.sender,
            body=body,
            size=count(text),
            once=command.once,
            validity_s=settings.expiry_minutes * 60,
        )
        new = NewHookCode(
            message=message,
            per_phone_per_hour=settings.per_phone_per_hour,
            per_organization_per_hour=settings.per_organization_per_hour,
            sealed=self.seal.close(text, message.id, secrets.token_bytes(NONCE_BYTES)),
        )
        return await self.intake.send_hook_code(organization, principal.mode, new)
