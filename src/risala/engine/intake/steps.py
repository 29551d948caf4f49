"""The steps by which a message is accepted, alone, with others or in a batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Final, cast

import structlog

from risala.config.model import Settings
from risala.engine.accounts.accounts import Accounts
from risala.engine.accounts.senders import Senders
from risala.engine.actors.actor import Ref
from risala.engine.billing.claims import BillingMessage
from risala.engine.billing.prices import PayerPolicy, Prices
from risala.engine.intake.draft import Ailing, Drafts, RequestDrafts
from risala.engine.intake.holding import Holding
from risala.engine.intake.opt_outs import OptOuts
from risala.engine.intake.policies import Policies, Ruled, Ruling
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.repositories import Repositories
from risala.engine.limits.claims import LimitsMessage
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import OutcomeUnknown, Refusal, SenderNotApproved
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.ids import MessageIds
from risala.engine.model.lines import Line
from risala.engine.model.records.messages import Change, NewMessage, Stamp
from risala.engine.model.records.people.countries import CountryUse
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.states import Mode, Status
from risala.engine.rules.router import Router

log = structlog.get_logger("risala.engine.intake.intake")

SAY_AGAIN: Final = (
    "The disk failed while this was being stored, so it may or may not be stored. Send it again "
    "with the key in `data`: the answer shows the result."
)
_CONFIRM_AGAIN: Final = (
    "The second machine has not confirmed this in time, so it may or may not be stored. Send it "
    "again with the key in `data`: the answer shows the result."
)


class IntakeSteps:
    def __init__(
        self,
        settings: Settings,
        recorder: Recorder,
        repositories: Repositories,
        ids: MessageIds,
        accounts: Accounts,
        senders: Senders,
        router: Router,
        limits: Ref[LimitsMessage],
        billing: Ref[BillingMessage],
        ailing: Ailing,
        policies: Policies,
    ) -> None:
        self.recorder = recorder
        self.messages = repositories.messages
        self.accounts = accounts
        self.senders = senders
        self.payer = PayerPolicy(settings, repositories.organizations.stored_payer())
        self.prices = Prices(settings, repositories.organizations.opened, self.payer)
        self.policies = policies
        self.limits = limits
        self._billing = billing
        usual = partial(_usual_carrier, repositories, settings)
        self.drafts = Drafts(
            settings, self.prices, recorder.clock, ids, senders, router, ailing, usual
        )
        self.opt_outs = OptOuts(repositories.inbound)
        self.accepted = 0
        """Messages that were accepted since the start."""
        self._log = log.bind()
        """Bound once, instead of for each line."""

    def known(self, principal: Principal, key: str) -> bytes | None:
        return self.messages.known_answer(principal.organization_id, principal.mode, key)

    def judged(
        self,
        organization: Organization,
        principal: Principal,
        commands: Sequence[SendMessage],
        rulings: Sequence[Ruling | None],
    ) -> list[Judged]:
        """Each command's row, or its answer: by its key, sender and recipient.

        Args:
            rulings: the policies' results; empty if there are no policies.
        """
        drafts = self.drafts.of_request(organization, principal, len(commands))
        items: list[Judged] = []
        keys = [each.idempotency_key for each in commands if each.idempotency_key is not None]
        used = self.messages.used_keys(principal.organization_id, principal.mode, keys)
        for command, ruling in zip_longest(commands, rulings):
            key = command.idempotency_key
            try:
                known = self.known(principal, key) if key in used and key is not None else None
                items.append(known or self.drafted(drafts, principal, command, ruling))
            except Refusal as refusal:
                items.append(refusal)
        return items

    async def ruled(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[Ruling | None]:
        """The policies' result for each command; None if its key was answered before, because it is
        no new message."""
        are_new = [
            each.idempotency_key is None or self.known(principal, each.idempotency_key) is None
            for each in commands
        ]
        new = [each for each, is_asked in zip(commands, are_new, strict=True) if is_asked]
        rulings = iter(await self.policies.rule(principal, new))
        return [next(rulings) if is_asked else None for is_asked in are_new]

    def holding(self, organization: Organization) -> Holding:
        return Holding(self.limits, self._billing, organization)

    def drafted(
        self,
        drafts: RequestDrafts,
        principal: Principal,
        command: SendMessage,
        ruling: Ruling | None,
    ) -> NewMessage:
        """The row to write, if its sender and recipient are allowed.

        Args:
            ruling: the policies' result for it; None: there are no policies.

        Raises:
            CountryNotOpen, SenderNotApproved, RecipientOptedOut, PolicyRefused: refused.
            PolicyFailed: a policy wrote a sender that cannot be used.
        """
        if ruling is None:
            new = drafts.of_send(command)
        elif isinstance(ruling, Ruled):
            new = self._rewritten(drafts, command, ruling)
        else:
            drafts.per_segment_to(command.to, CountryUse.SEND)
            raise ruling
        is_asked_for = command.way is not None and command.way.is_asked_for
        if principal.mode is Mode.LIVE and not is_asked_for:
            self.opt_outs.refuse(principal.organization_id, command.to)
        return new

    def _rewritten(self, drafts: RequestDrafts, command: SendMessage, ruled: Ruled) -> NewMessage:
        """The row of a message as the policies changed it."""
        try:
            new = drafts.of_send(ruled.command)
        except SenderNotApproved as error:
            if ruled.command.sender == command.sender:
                raise
            raise self.policies.failed(ruled.by, "Its sender is not allowed.") from error
        if not ruled.by:
            return new
        values = {**(new.line.values or {}), "policies": ", ".join(ruled.by)}
        return new._replace(line=Line(new.line.kind, values=values))

    def stamp(self, organization_id: str) -> Stamp | None:
        """The stamp for a unit by which the organization's volume may approve a sender; None if no
        sender waits for that."""
        waits = self.senders.waits_for_volume(organization_id)
        return self.recorder.stamp() if waits else None

    def settled(
        self,
        organization: Organization,
        prepared: Sequence[NewMessage],
        results: Sequence[Result],
        stamp: Stamp | None,
    ) -> None:
        """After a commit: notify the queue and the followers of the new messages."""
        hinted: set[tuple[str, int, int]] = set()
        accepted: list[str] = []
        for new, result in zip(prepared, results, strict=True):
            if result is new.response:
                accepted.append(new.id)
                # The queue needs a hint for only one of the messages with the same route, priority
                # and time; followers get each message.
                kind = (new.route, new.priority, new.due_at)
                if kind not in hinted or self.recorder.life.listeners:
                    hinted.add(kind)
                    self.tell(new)
        self.accepted += len(accepted)
        if accepted and prepared[0].mode == Mode.LIVE:
            self.recorder.minutes.accepted(len(accepted), prepared[0].created_at)
        # One line for a batch of any size. The log's context adds the request's id.
        self._log.debug("messages.accepted", message_ids=accepted, organization_id=organization.id)
        if stamp is not None:
            self.senders.look_again(organization.id)

    def tell(self, new: NewMessage) -> None:
        """A new message is on disk: notify the queue."""
        self.recorder.listeners.deadline(new.valid_until)
        self.recorder.tell(
            (
                Change(
                    message_id=new.id,
                    organization_id=new.organization_id,
                    recipient=new.recipient,
                    status=Status.PENDING,
                    line=new.line,
                    at=new.created_at,
                    due_at=new.due_at,
                    priority=new.priority,
                    route=new.route,
                ),
            )
        )


def _usual_carrier(repositories: Repositories, settings: Settings, *of: object) -> str | None:
    usual_of = duty(Duty.USUAL_CARRIER)
    return usual_of and cast("str | None", usual_of(repositories, settings.retention, *of))


def doubted(new: NewMessage) -> OutcomeUnknown:
    return OutcomeUnknown(SAY_AGAIN, (new.idempotency_key,))


def unconfirmed(keys: Sequence[str | None], *, of_batch: bool = False) -> OutcomeUnknown:
    """The error for messages with these keys, which the log has not confirmed in time."""
    return OutcomeUnknown(_CONFIRM_AGAIN, tuple(keys), of_batch=of_batch)


# A batch gets the answers that its items would get alone, one after another. Pure.
#
# All messages that a batch accepts are one unit of work. So an item whose idempotency key came
# before in the same batch is judged before the result of the first one is known. That result later
# decides the later item's answer.

Result = bytes | Refusal
Judged = NewMessage | Result
"""An item's row to write; or its answer, if known already: the refusal, or the earlier answer to
its key."""
Keys = Sequence[str | None]
"""The idempotency keys of a batch's items."""


def firsts(keys: Keys, items: Iterable[Judged]) -> list[NewMessage]:
    """The rows to write, without those whose key an earlier item has: they take no token and no
    price."""
    seen: set[str] = set()
    news: list[NewMessage] = []
    for key, item in zip(keys, items, strict=True):
        if isinstance(item, NewMessage) and key not in seen:
            news.append(item)
            if key is not None:
                seen.add(key)
    return news


def in_order(keys: Keys, items: Sequence[Judged], committed: Sequence[Result]) -> Sequence[Result]:
    """The answers to all items, in their order.

    An accepted item is the answer to every later item with its key, whatever that item contains. A
    refused one leaves no trace, so a later item is judged alone.

    Args:
        committed: the journal's answers to the items with a row, in their order.
    """
    if len(committed) == len(items) and not any(keys):
        return committed
    rest = iter(committed)
    by_key: dict[str, bytes] = {}
    answers: list[Result] = []
    for key, item in zip(keys, items, strict=True):
        answer = next(rest) if isinstance(item, NewMessage) else item
        if key is not None:
            answer = by_key.get(key, answer)
            if isinstance(answer, bytes):
                by_key[key] = answer
        answers.append(answer)
    return answers
