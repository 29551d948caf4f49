"""Accepts the messages of a batch, by one unit of work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from risala.engine.intake.batch import Judged, Keys, Result, firsts, in_order
from risala.engine.intake.holding import Holding
from risala.engine.intake.intake_places import IntakePlaces, KeysUnderWay
from risala.engine.intake.steps import SAY_AGAIN, IntakeSteps, unconfirmed
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import OutcomeUnknown, Refusal
from risala.engine.model.records.messages import NewMessage
from risala.engine.model.states import Mode


class Batches:
    def __init__(self, steps: IntakeSteps, places: IntakePlaces, keys: KeysUnderWay) -> None:
        self._steps = steps
        self._places = places
        self._keys = keys

    async def send(self, principal: Principal, commands: Sequence[SendMessage]) -> Sequence[Result]:
        """See :meth:`Gateway.send_batch`."""
        told = [command.idempotency_key for command in commands]
        work = partial(self._send, principal, commands, told)
        doubt = partial(unconfirmed, told, of_batch=True)
        return await self._steps.recorder.answers.within(work, doubt)

    async def _send(
        self, principal: Principal, commands: Sequence[SendMessage], told: list[str | None]
    ) -> Sequence[Result]:
        """As :meth:`send`; ``told`` gets each message's key, also if that is ours."""
        slots = {
            (principal.organization_id, principal.mode, command.idempotency_key)
            for command in commands
            if command.idempotency_key is not None
        }
        with self._places.inside(len(commands)):
            # All keys are claimed together, and none is held while waiting for one: so two batches
            # that share keys never wait for each other.
            await self._keys.wait_free(slots)
            with self._keys.held(slots):
                return await self._accept(principal, commands, told)

    async def _accept(
        self, principal: Principal, commands: Sequence[SendMessage], told: list[str | None]
    ) -> Sequence[Result]:
        organization = self._steps.accounts.organization(principal.organization_id)
        stamp = self._steps.stamp(organization.id)
        holding = self._steps.holding(organization)
        keys = [command.idempotency_key for command in commands]
        rulings = (
            await self._steps.ruled(principal, commands) if self._steps.policies.are_there else ()
        )
        items = self._steps.judged(organization, principal, commands, rulings)
        try:
            if principal.mode is Mode.LIVE:
                items = await self._held(holding, keys, items)
            prepared = [item for item in items if isinstance(item, NewMessage)]
            if not prepared:
                if any(isinstance(item, bytes) for item in items):
                    await self._steps.recorder.journal.settled()
                return in_order(keys, items, ())
            told[:] = _named(keys, items)
            accepted = await self._steps.messages.accept_batch(prepared, stamp)
        except BaseException as error:
            await holding.failed(error)
            if isinstance(error, OutcomeUnknown):
                named = tuple(_named(keys, items))
                raise OutcomeUnknown(SAY_AGAIN, named, of_batch=True) from error
            raise
        await holding.committed(prepared, accepted)
        self._steps.settled(organization, prepared, accepted.results, stamp)
        return in_order(keys, items, accepted.results)

    async def _held(self, holding: Holding, keys: Keys, items: list[Judged]) -> list[Judged]:
        """The items, with a token and a price held for those to write: for all together, or, if
        refused, for one after the other, as far as possible."""
        news = firsts(keys, items)
        try:
            if news:
                await holding.take(news)
        except Refusal:
            return await self._held_singly(holding, keys, items)
        return items

    async def _held_singly(
        self, holding: Holding, keys: Keys, items: Sequence[Judged]
    ) -> list[Judged]:
        held: list[Judged] = []
        with_keys: set[str | None] = set()
        for key, item in zip(keys, items, strict=True):
            held.append(item)
            # Only an accepted item saves a later one with its key a token and a price.
            if isinstance(item, NewMessage) and key not in with_keys:
                try:
                    await holding.take((item,))
                except Refusal as refusal:
                    held[-1] = refusal
                else:
                    with_keys |= {key} - {None}
        return held


def _named(keys: Keys, items: Sequence[Judged]) -> Iterator[str | None]:
    """The key of each message, also if it is ours."""
    for key, item in zip(keys, items, strict=True):
        yield item.idempotency_key if isinstance(item, NewMessage) else key
