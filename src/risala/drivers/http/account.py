"""One account at an API while its driver runs: sending, asking and looking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import trio

from risala.drivers.http.authorizing import AuthFailed, Authorizer
from risala.drivers.http.calling import (
    LIST_BYTES_MAX,
    CallFailed,
    HttpAnswer,
    HttpCall,
    HttpCaller,
)
from risala.drivers.http.hearing import receipt_of_query
from risala.drivers.http.judging import hider, outcome_of, outcome_of_failure, shown_word
from risala.drivers.http.requests import (
    account_values,
    message_values,
    question,
    refusal_of,
    send_call,
)
from risala.drivers.http.settings import HttpSettings
from risala.drivers.http.shape import PollShape
from risala.drivers.http.sources import CarrierContent, looked_up
from risala.plugins.contract import (
    Health,
    HealthState,
    Outcome,
    Receipt,
    Segment,
    Unsent,
)

REFUSED: Final = (401, 403)
"""Statuses by which an API refuses our credentials."""


class HttpAccount:
    """Talks to the API."""

    def __init__(
        self, carrier: str, settings: HttpSettings, now_s: Callable[[], float] = time.time
    ) -> None:
        """Blocks while certificates are read: call it in a thread.

        Raises:
            OSError: ``tls_ca_file`` cannot be read.
        """
        self._settings, self._shape, self._now_s = settings, settings.shape, now_s
        self._values = account_values(carrier, settings)
        self._caller = HttpCaller(
            self._shape.url,
            connections=settings.window_max,
            connect_s=settings.connect_s,
            answer_s=settings.answer_s,
            ca_file=settings.tls_ca_file,
        )
        self._authorizer = Authorizer(self._shape.auth, self._caller, self._values)
        self._hide = hider(self._secrets)
        self.is_refused = False
        """Whether the API refused our credentials at the last submit."""

    def _secrets(self) -> Iterator[str]:
        yield from self._settings.secrets
        yield from self._authorizer.tokens

    async def aclose(self) -> None:
        await self._caller.aclose()

    async def send(
        self, segment: Segment, hops: Sequence[str] = (), more: Mapping[str, str] | None = None
    ) -> Outcome:
        """Submit a text, short or long: the carrier cuts it.

        Args:
            hops: the services that it came through, and this one.
            more: fills further holes, of a call.
        """
        shape, now_s = self._shape, self._now_s()
        if (refusal := refusal_of(shape.send, segment)) is not None:
            await trio.lowlevel.checkpoint()
            return refusal
        values = {
            **self._values,
            **message_values(shape.send, segment, now_s, hops),
            **(more or {}),
        }
        call = send_call(shape.send, self._caller.base, values)
        try:
            answer = await self._asked(call, values)
        except AuthFailed as failed:
            self.is_refused = failed.refused
            return Unsent(failed.kind, failed.text)
        except CallFailed as failed:
            return outcome_of_failure(failed)
        self.is_refused = answer.status in REFUSED
        return outcome_of(shape.answer, answer, values["id"], self._hide, now_s)

    async def _asked(
        self, call: HttpCall, values: dict[str, str], bytes_max: int | None = None
    ) -> HttpAnswer:
        """The answer to a request with our proof. A token that is no longer taken is replaced once:
        who refuses it has taken nothing.

        Raises:
            AuthFailed: no token could be had.
            CallFailed: there is no answer.
        """
        values = {**values, "time": str(int(self._now_s()))}
        limits = {} if bytes_max is None else {"bytes_max": bytes_max}
        answer = await self._caller.call(await self._authorizer.authorized(call, values), **limits)
        if answer.status == 401 and self._authorizer.forget():
            again = await self._authorizer.authorized(call, values)
            answer = await self._caller.call(again, **limits)
        return answer

    async def query(self, carrier_id: str) -> Receipt | None:
        """What the API says of a message; None: nothing that we know."""
        query, receipt = self._shape.query, self._shape.receipt
        assert receipt is not None
        values = {**self._values, "carrier_id": carrier_id}
        call = question(query.method, query.path, self._caller.base, values, query.fields)
        try:
            answer = await self._asked(call, values)
        except (AuthFailed, CallFailed):
            return None
        if answer.status != 200:
            return None
        return receipt_of_query(receipt, query, carrier_id, answer.content, self._hide)

    async def listed(self, poll: PollShape, cursor: str) -> CarrierContent:
        """What the API has for us.

        Raises:
            AuthFailed: no token could be had.
            CallFailed: there is no answer, or none that is a list.
        """
        values = {**self._values, "cursor": cursor}
        call = question(poll.method, poll.path, self._caller.base, values)
        answer = await self._asked(call, values, LIST_BYTES_MAX)
        if answer.status != 200 or not answer.content.is_json:
            text = f"The carrier answers {answer.status}."
            raise CallFailed(f"STATUS {answer.status}", text, left=True)
        return answer.content

    async def health(self) -> Health:
        """How the API is now."""
        look = self._shape.look
        if not look.path:
            fault = await self._caller.connects()
            if fault is not None:
                return Health(HealthState.DOWN, fault)
            return Health(HealthState.UP, "The carrier takes connections.")
        call = question(look.method, look.path, self._caller.base, self._values, look.fields)
        try:
            answer = await self._asked(call, self._values)
        except AuthFailed as failed:
            state = HealthState.SICK if failed.refused else HealthState.DOWN
            return Health(state, failed.text)
        except CallFailed as failed:
            return Health(HealthState.DOWN, failed.text)
        if answer.status == 401:
            text = "The carrier refuses our credentials: check `user`, `password` or `token`."
            return Health(HealthState.SICK, text)
        if 200 <= answer.status < 300 or answer.status == 429:
            balance = shown_word(looked_up(look.balance, answer.content), self._hide)
            details = {"balance": balance} if balance else {}
            return Health(HealthState.UP, "The carrier answers.", details)
        if 300 <= answer.status < 400:
            text = "The carrier answers with a redirect, which is not followed: check `url`."
            return Health(HealthState.DOWN, text)
        if 400 <= answer.status < 500:
            # Keys that may only send are usual.
            text = f"The carrier answers; it does not show the account ({answer.status})."
            return Health(HealthState.UP, text)
        return Health(HealthState.DOWN, f"The carrier answers {answer.status}.")
