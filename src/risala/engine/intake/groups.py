"""Accepts the sends of several requests by one unit of work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import trio

from risala.engine.intake.intake_places import IntakePlaces, KeysUnderWay, Slot
from risala.engine.intake.steps import IntakeSteps, doubted, unconfirmed
from risala.engine.intake.together import Answers
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import LogSilent, OutcomeUnknown, Refusal
from risala.engine.model.records.messages import NewMessage, Stamp
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.states import Mode

_Told = str | Refusal | None


class Groups:
    def __init__(self, steps: IntakeSteps, places: IntakePlaces, keys: KeysUnderWay) -> None:
        self._steps = steps
        self._places = places
        self._keys = keys

    @property
    def are_possible(self) -> bool:
        """Whether accepting a message waits for the journal and its log alone, if no other has its
        key."""
        return not self._steps.policies.are_there and not self._steps.recorder.journal.is_inline

    async def send(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Answers[bytes] | None:
        """As :meth:`Intake.send` for each of these requests of one key.

        None for all or for one: it was not accepted, and has to be asked alone, so that it is told
        its own reason, or waits for another request with its idempotency key.

        A cancellation waits for it: the others that are taken with one that gave up do not.
        """
        if not self.are_possible:
            return None
        outcomes: list[_Told] = [command.idempotency_key for command in commands]
        work = partial(self._send, principal, commands, outcomes)
        answers: Answers[bytes] | None = None
        with trio.CancelScope(shield=True):
            try:
                within = self._steps.recorder.answers.within
                answers = await within(work, OutcomeUnknown)
            except LogSilent:
                pass
            except OutcomeUnknown:
                answers = [
                    each if isinstance(each, Refusal) else unconfirmed((each,)) for each in outcomes
                ]
        return answers

    async def _send(
        self, principal: Principal, commands: Sequence[SendMessage], outcomes: list[_Told]
    ) -> Answers[bytes] | None:
        """As :meth:`send`; ``outcomes`` gets each message's key, also if that is ours, or its
        refusal: the answer to each if the log is silent."""
        places, slots = self._free(principal, commands)
        with self._keys.held(slots):
            accepted = await self._send_free(principal, commands, places, outcomes)
        if accepted is None:
            return None
        answers = dict(zip(places, accepted, strict=True))
        return [answers.get(place) for place in range(len(commands))]

    def _free(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> tuple[list[int], set[Slot]]:
        """The places of the commands whose keys no other request has, with these keys."""
        places: list[int] = []
        slots: set[Slot] = set()
        for place, command in enumerate(commands):
            if command.idempotency_key is not None:
                slot = (principal.organization_id, principal.mode, command.idempotency_key)
                if slot in self._keys or slot in slots:
                    continue
                slots.add(slot)
            places.append(place)
        return places, slots

    async def _send_free(
        self,
        principal: Principal,
        all_commands: Sequence[SendMessage],
        places: Sequence[int],
        outcomes: list[_Told],
    ) -> Answers[bytes] | None:
        """Accept the messages at these places, whose keys no other request has. None: none of them
        was accepted."""
        commands = [all_commands[place] for place in places]
        if not commands:
            return ()
        try:
            organization = self._steps.accounts.organization(principal.organization_id)
            stamp = self._steps.stamp(organization.id)
            items = self._steps.judged(organization, principal, commands, ())
            for place, item in zip(places, items, strict=True):
                if isinstance(item, NewMessage):
                    outcomes[place] = item.idempotency_key
                elif isinstance(item, Refusal):
                    outcomes[place] = item
            prepared = [item for item in items if isinstance(item, NewMessage)]
            if not prepared and any(isinstance(item, bytes) for item in items):
                await self._steps.recorder.journal.settled()
            self._places.let_in(len(commands))
        except Exception:  # noqa: BLE001 -- of one of them perhaps: whose it is meets it alone
            return None
        try:
            results = await self._accept_prepared(organization, principal, prepared, stamp)
        finally:
            self._places.let_out(len(commands))
        if results is None:
            return None
        # Earlier answers are settled by the commit of the new messages: not if that is in doubt.
        is_settled = not any(isinstance(result, OutcomeUnknown) for result in results)
        each = iter(results)
        return [
            next(each)
            if isinstance(item, NewMessage)
            else (item if is_settled or isinstance(item, Refusal) else None)
            for item in items
        ]

    async def _accept_prepared(
        self,
        organization: Organization,
        principal: Principal,
        news: Sequence[NewMessage],
        stamp: Stamp | None,
    ) -> Sequence[bytes | Exception] | None:
        """Accept messages of a request each. None: none of them was."""
        if not news:
            return ()
        holding = self._steps.holding(organization)
        try:
            if principal.mode is Mode.LIVE:
                await holding.take(news)
            accepted = await self._steps.messages.accept_each(news, stamp)
        except OutcomeUnknown as error:
            await holding.failed(error)
            return [doubted(new) for new in news]
        except BaseException as error:
            await holding.failed(error)
            if isinstance(error, Exception):
                return None
            raise
        results: list[bytes | Exception] = [*accepted.results]
        doubts = [each for each in results if isinstance(each, OutcomeUnknown)]
        if doubts:
            await holding.failed(doubts[0])
        else:
            await holding.committed(news, accepted)
        self._steps.settled(organization, news, accepted.results, stamp)
        return [
            doubted(new) if isinstance(result, OutcomeUnknown) else result
            for new, result in zip(news, results, strict=True)
        ]
