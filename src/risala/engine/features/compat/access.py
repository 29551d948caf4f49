"""The engine for faces other than the API: sign-in, sending and reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from risala.engine.features.compat.credentials import Credentials
from risala.engine.features.compat.records import Callback
from risala.engine.features.compat.stored import CallbackRepository
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.ids import keys_of
from risala.engine.model.numbers import FORGOTTEN
from risala.engine.model.records.message_lists import MessageFilter
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.verify.sessions import VerificationView
from risala.engine.rules.webhooks.url import UrlRefused, parse_target, rules_of
from risala.engine.services import Services
from risala.engine.verify.sessions import view_of

_NO_MESSAGE = "There is no message with this id."


class CompatAccess:
    """See the module's text."""

    def __init__(self, services: Services) -> None:
        self._services = services
        credentials = services.part(Credentials)
        self.admit = credentials.authenticate
        self.admitted = credentials.admitted

    def organization(self, principal: Principal) -> Organization:
        """The caller's organization, with its present balance."""
        own = self._services.accounts.fresh_organization(principal.organization_id)
        return replace(own, balance=0) if self._services.intake.payer.is_self else own

    async def send(
        self,
        principal: Principal,
        command: SendMessage,
        callback_url: str | None,
        details: Mapping[str, Any],
    ) -> str:
        """Accept a message, and the address to call back, in one unit; return the message's id.

        Raises:
            Invalid: the address may not be called.
            Refusal, Unavailable: as for
                :meth:`risala.engine.gateway.gateway.Gateway.send_message`.
        """
        around = None
        if callback_url is not None:
            try:
                parse_target(callback_url, rules_of(self._services.settings.webhooks))
            except UrlRefused as refused:
                raise Invalid("callback", "invalid_url", str(refused)) from None
            callback = Callback(principal.key_id, callback_url, details)
            around = partial(CallbackRepository.registering, callback)
        response = await self._services.intake.send(principal, command, around=around)
        message_id: str = json.loads(response)["messageId"]
        return message_id

    def message(self, principal: Principal, start: str) -> MessageView:
        """A message of the caller's own organization and mode, by its id, the id's beginning, or
        its key in digits.

        Raises:
            NotFound: unknown, deleted, or not the caller's: the same words for each.
        """
        stored = self._services.repositories.messages
        own = principal.organization_id, principal.mode
        if start.isdecimal():
            views = (stored.own_of_key(key, *own) for key in keys_of(start))
            view = next((each for each in views if each is not None), None)
        else:
            view = stored.own_starting(start, *own)
        if view is None or view.to == FORGOTTEN:
            raise NotFound(_NO_MESSAGE)
        return view

    def sent_with(self, principal: Principal, keys: Sequence[str]) -> list[MessageView]:
        """The caller's messages that were accepted with these idempotency keys, in their order."""
        stored = self._services.repositories.messages
        own = principal.organization_id, principal.mode
        used = stored.used_keys(*own, keys)
        views: list[MessageView] = []
        for key in keys:
            known = stored.known_answer(*own, key) if key in used else None
            view = None if known is None else stored.find(json.loads(known)["messageId"])
            if view is not None and view.to != FORGOTTEN:
                views.append(view)
        return views

    def messages(
        self,
        principal: Principal,
        *,
        limit: int,
        before: int | None,
        to: str | None,
        sender: str | None,
        since: int | None,
        until: int | None,
    ) -> tuple[list[MessageView], int | None]:
        """The caller's messages, the newest first, and where older ones begin."""
        message_filter = MessageFilter(
            principal.organization_id,
            principal.mode.value,
            recipient=to,
            sender=sender,
            kind="sms",
            since=since,
            until=until,
        )
        stored = self._services.repositories
        page = stored.message_lists.page(message_filter, before=before, limit=limit)
        views = [stored.messages.find(each.id) for each in page.messages]
        there = [each for each in views if each is not None and each.to != FORGOTTEN]
        return there, page.older

    def verification(self, principal: Principal, start: str) -> VerificationView:
        """A session of the caller's own organization and mode, by its id or the id's beginning.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
        """
        row = self._services.repositories.verifications.starting(
            principal.organization_id, principal.mode, start
        )
        return view_of(row, self._services.recorder.clock.now_ms())

    def verification_to(self, principal: Principal, to: str) -> VerificationView:
        """The caller's latest session of a number.

        Raises:
            NotFound: the number has no session.
        """
        row = self._services.repositories.verifications.latest_to(
            principal.organization_id, principal.mode, to
        )
        return view_of(row, self._services.recorder.clock.now_ms())
