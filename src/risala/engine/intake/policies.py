"""Message policies: plugins that are asked before a message is accepted.

Each policy of the settings gets each request, in their order, with one deadline for all its
messages. If a policy fails in any way, the whole request is refused for now, as our own fault: an
unchecked message is not sent. A cancelled call that does not return blocks nothing: the request is
answered, and after some such calls the policy is not asked again until one returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import structlog
import trio

from risala.config.hooks import PolicyTable
from risala.dataclass import dataclass
from risala.engine.model.clock import Clock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import PolicyFailed, PolicyRefused
from risala.engine.model.states import Mode
from risala.engine.model.times import iso
from risala.plugins.loading import raised_at
from risala.plugins.policy import (
    MessagePolicy,
    PolicyMessage,
    PolicyPass,
    PolicyRefusal,
    PolicyRewrite,
    PolicyVerdict,
)
from risala.sms.address import sender_fault
from risala.sms.limits import TEXT_CHARACTERS_MAX

log = structlog.get_logger(__name__)

STUCK_MAX: Final = 8
"""Calls of one policy that may hang before it is not asked again."""
REASON_CHARACTERS_MAX: Final = 64
SENTENCE_CHARACTERS_MAX: Final = 300


@dataclass(frozen=True, slots=True)
class Ruled:
    """A message that all policies let pass."""

    command: SendMessage
    by: tuple[str, ...] = ()
    """The policies that rewrote it."""


Ruling = Ruled | PolicyRefused


@dataclass(slots=True)
class _Counts:
    asked: int = 0
    """Messages that it got."""
    refused: int = 0
    rewritten: int = 0
    failed: int = 0
    """Requests for which it failed."""
    stuck: int = 0
    """Cancelled calls that have not returned."""
    last_error: str | None = None
    last_error_at: int | None = None


class Policies:
    """All policies, in the order of the settings."""

    def __init__(
        self,
        tables: Mapping[str, PolicyTable],
        policies: Mapping[str, MessagePolicy],
        clock: Clock,
    ) -> None:
        self._tables = tables
        self.by_name = policies
        """The plugins' parts. Empty in a command that opens the engine alone, which therefore sends
        nothing."""
        self._clock = clock
        self._counts = {name: _Counts() for name in tables}
        self._hands: trio.Nursery | None = None

    @property
    def are_there(self) -> bool:
        """Whether any is configured."""
        return bool(self._tables)

    @property
    def are_there_for_codes(self) -> bool:
        return any(table.codes for table in self._tables.values())

    async def run(self) -> None:
        """Run the calls, until cancelled."""
        try:
            async with trio.open_nursery() as self._hands:
                await trio.sleep_forever()
        finally:
            self._hands = None

    def standings(self) -> list[dict[str, Any]]:
        """The results of each since the start, as JSON."""
        return [
            {
                "name": name,
                "policy": self._tables[name].policy,
                "state": "stuck" if counts.stuck >= STUCK_MAX else "running",
                **asdict(counts),
                "last_error_at": counts.last_error_at and iso(counts.last_error_at),
            }
            for name, counts in self._counts.items()
        ]

    async def rule(self, principal: Principal, commands: Sequence[SendMessage]) -> list[Ruling]:
        """The decision on each message of a request.

        Raises:
            PolicyFailed: one of the policies failed.
        """
        rulings: list[Ruling] = [Ruled(command) for command in commands]
        for name in self._tables:
            shown = [(at, each) for at, each in enumerate(rulings) if isinstance(each, Ruled)]
            if not shown:
                break
            messages = [_shown(principal, ruled.command) for _, ruled in shown]
            verdicts = await self._ask(name, messages)
            for (at, ruled), verdict in zip(shown, verdicts, strict=True):
                rulings[at] = self._follow(name, ruled, verdict)
        return rulings

    async def rule_code(self, principal: Principal, recipient: str) -> None:
        """Ask the policies that are configured for codes.

        Raises:
            PolicyRefused: one refuses it.
            PolicyFailed: one failed.
        """
        is_test = principal.mode is Mode.TEST
        message = PolicyMessage(
            "code", principal.organization_id, is_test, recipient, sender=None, text=""
        )
        for name, table in self._tables.items():
            if table.codes:
                (verdict,) = await self._ask(name, [message])
                if isinstance(verdict, PolicyRewrite):
                    raise self._failed(
                        name, "It rewrote a verification code, which is not allowed."
                    )
                if isinstance(verdict, PolicyRefusal):
                    raise self._refused(name, verdict)

    def _follow(self, name: str, ruled: Ruled, verdict: PolicyVerdict) -> Ruling:
        if isinstance(verdict, PolicyRefusal):
            return self._refused(name, verdict)
        if isinstance(verdict, PolicyPass):
            return ruled
        command = ruled.command
        text = command.body if verdict.text is None else verdict.text
        sender = command.sender if verdict.sender is None else verdict.sender
        if wrong := _wrong(text, verdict.sender):
            raise self._failed(name, f"Its rewritten text cannot be sent: {wrong}")
        if command.part is not None and not command.part.takes(text):
            wrong = "it does not fit into its part of a longer message."
            raise self._failed(name, f"Its rewritten text cannot be sent: {wrong}")
        if (text, sender) == (command.body, command.sender):
            return ruled
        self._counts[name].rewritten += 1
        return Ruled(command._replace(body=text, sender=sender), (*ruled.by, name))

    def _refused(self, name: str, verdict: PolicyRefusal) -> PolicyRefused:
        self._counts[name].refused += 1
        reason = verdict.reason[:REASON_CHARACTERS_MAX]
        log.debug("policy.refused", policy=name, reason=reason)
        return PolicyRefused(reason, verdict.text[:SENTENCE_CHARACTERS_MAX])

    def failed(self, names: Sequence[str], reason: str) -> PolicyFailed:
        """What these policies wrote turned out to be unusable."""
        return [self._failed(name, reason) for name in names][-1]

    def _failed(self, name: str, reason: str) -> PolicyFailed:
        counts = self._counts[name]
        counts.failed += 1
        counts.last_error, counts.last_error_at = reason, self._clock.now_ms()
        log.error("policy.failed", policy=name, reason=reason)
        return PolicyFailed()

    async def _ask(self, name: str, messages: Sequence[PolicyMessage]) -> Sequence[PolicyVerdict]:
        counts, policy, table = self._counts[name], self.by_name.get(name), self._tables[name]
        counts.asked += len(messages)
        if policy is None or self._hands is None:
            raise self._failed(name, "Only the running service can ask it: start the service.")
        if counts.stuck >= STUCK_MAX:
            raise self._failed(name, "Its calls did not return, although they were cancelled.")
        call = _Call(policy, messages, counts)
        self._hands.start_soon(call.run)
        with trio.move_on_after(table.deadline_s):
            await call.over.wait()
        if not call.over.is_set():
            call.give_up()
            raise self._failed(name, f"It took longer than {table.deadline_s:g} s.")
        if call.verdicts is None:
            raise self._failed(name, call.fault)
        return call.verdicts


class _Call:
    """One call of a policy, which may outlive the request that it was for."""

    def __init__(
        self, policy: MessagePolicy, messages: Sequence[PolicyMessage], counts: _Counts
    ) -> None:
        self._policy = policy
        self._messages = messages
        self._counts = counts
        self._is_given_up = False
        self._scope = trio.CancelScope()
        self.over = trio.Event()
        self.verdicts: Sequence[PolicyVerdict] | None = None
        self.fault = "It did not finish."

    def give_up(self) -> None:
        """Stop waiting for the policy's result."""
        self._is_given_up = True
        self._counts.stuck += 1
        self._scope.cancel()

    async def run(self) -> None:
        try:
            with self._scope:
                self._look_at(await self._policy.judge(self._messages))
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- its bug, which ends nobody else
            # Not the exception's words: they may quote a message.
            self.fault = f"It raised {type(error).__name__}, at {raised_at(error)}."
        finally:
            self.over.set()
            if self._is_given_up:
                self._counts.stuck -= 1

    def _look_at(self, verdicts: object) -> None:
        kinds = PolicyPass | PolicyRewrite | PolicyRefusal
        if not isinstance(verdicts, Sequence) or len(verdicts) != len(self._messages):
            self.fault = "It did not give a verdict on each message."
        elif not all(isinstance(each, kinds) for each in verdicts):
            self.fault = "It returned something that is not a verdict."
        else:
            self.verdicts = verdicts


def _shown(principal: Principal, command: SendMessage) -> PolicyMessage:
    return PolicyMessage(
        "message",
        principal.organization_id,
        principal.mode is Mode.TEST,
        command.to,
        command.sender,
        command.body,
        command.metadata,
    )


def _wrong(text: object, sender: object) -> str:
    """What is wrong with what a policy wrote; empty: nothing."""
    if not isinstance(text, str) or not 0 < len(text) <= TEXT_CHARACTERS_MAX:
        return f"a text has 1 to {TEXT_CHARACTERS_MAX} characters."
    if "\0" in text or any("\ud800" <= each <= "\udfff" for each in text):
        return "its text has a character that cannot be stored."
    if sender is None:
        return ""
    return (sender_fault(sender) or "") if isinstance(sender, str) else "its sender is not text."
