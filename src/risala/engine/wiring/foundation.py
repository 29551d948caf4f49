"""The parts needed with and without carriers: journal, accounts, supervisor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import field
from pathlib import Path
from typing import Final

import trio

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Ref
from risala.engine.actors.answer_window import AnswerWindow
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.actors.supervisor import Supervisor
from risala.engine.billing.billing import Billing
from risala.engine.billing.claims import BillingMessage
from risala.engine.journal.repositories import Repositories
from risala.engine.journal.sealed.resealing import SealedRepository
from risala.engine.journal.store.currency import migrate_in
from risala.engine.journal.store.repository import Store
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.journal.store.server_key import ServerKeys
from risala.engine.journal.store.watched import SimulatedDisk
from risala.engine.journal.store.writer import CommitLog, Journal
from risala.engine.limits.claims import LimitsMessage
from risala.engine.limits.limits import Limits, LimitsMemory
from risala.engine.model.clock import Clock, SystemClock
from risala.engine.model.ids import IdSource
from risala.engine.people.tokens import Derived
from risala.engine.rules.keyring import Codes
from risala.engine.rules.sealing import Seal
from risala.engine.services import EngineStart, Parts, Waiting
from risala.engine.upkeep.upgrade import bring_over
from risala.engine.verify.session_features import SessionFeatures, SessionSources
from risala.sms.currencies import count_in

DATABASE: Final = "risala.db"
ACTORS_STOP_S: Final = 5.0


def unfenced() -> None:
    """Nothing else may send: no lease is needed."""


async def just_wait(work: Callable[[], Awaitable[None]]) -> None:
    """Do something that takes long before the service serves."""
    await work()


def lost_by_nobody(reason: str) -> None:
    """Do nothing: without a lease none is lost."""


def followed_by_nobody(log: CommitLog) -> None:
    """Do nothing: without a lease nobody says how much the log has."""


@dataclass(frozen=True, slots=True)
class Seams:
    """The clock, ids, threads and disk, which a test replaces."""

    clock: Clock
    ids: IdSource
    inline_journal: bool = False
    watch_loop: bool = False
    """Watch from a thread whether the loop is blocked; not under a mock clock."""
    loads_later: bool = False
    """Load in a thread, when first wanted, what a service that only sends does without; not under a
    mock clock, which would run on meanwhile."""
    disk: SimulatedDisk | None = None
    """The disk of a simulation; None: the machine's own disk, and a thread that waits for it."""
    parts: Parts = field(default_factory=dict)
    """What is there instead of what features would make (``Services.part``)."""
    fence: Callable[[], None] = unfenced
    """Called before each segment leaves; it does not return if another machine may send."""
    lease_lost: Callable[[str], object] = lost_by_nobody
    """Told that another machine has the lease, with the reason: the service has to stop."""
    while_waiting: Waiting = just_wait
    log_stands: Callable[[CommitLog], object] = followed_by_nobody
    """Told of the log that answers wait for, once it stands."""


def system_seams(
    fence: Callable[[], None] = unfenced,
    lease_lost: Callable[[str], object] = lost_by_nobody,
    while_waiting: Waiting = just_wait,
    log_stands: Callable[[CommitLog], object] = followed_by_nobody,
) -> Seams:
    clock = SystemClock()
    return Seams(
        clock,
        IdSource(clock),
        watch_loop=True,
        loads_later=True,
        fence=fence,
        lease_lost=lease_lost,
        while_waiting=while_waiting,
        log_stands=log_stands,
    )


@dataclass(frozen=True, slots=True)
class Foundation:
    """The parts needed with and without carriers."""

    settings: Settings
    seams: Seams
    journal: Journal
    repositories: Repositories
    accounts: Accounts
    server_keys: ServerKeys
    sealing: SealingKeys
    supervisor: Supervisor
    answers: AnswerWindow
    set_aside: SetAsideItems
    session_features: SessionFeatures
    parts: Parts
    """What features made before there are services."""

    @property
    def start(self) -> EngineStart:
        """For what has to stand before the services."""
        seams = self.seams
        return EngineStart(
            settings=self.settings,
            journal=self.journal,
            clock=seams.clock,
            answers=self.answers,
            while_waiting=seams.while_waiting,
            lease_lost=seams.lease_lost,
            log_stands=seams.log_stands,
            parts=self.parts,
        )

    @property
    def codes(self) -> Codes:
        """The codes of verification sessions."""
        return Codes(self.server_keys.ring)

    @property
    def seal(self) -> Seal:
        """The seal of codes that other software made."""
        return Seal(self.server_keys.ring, "hook code")

    @property
    def derived(self) -> Derived:
        """What people's tokens and codes are derived with."""
        return Derived(self.server_keys.ring, self.seams.clock.now_ms)


@asynccontextmanager
async def open_core(settings: Settings, seams: Seams) -> AsyncIterator[Foundation]:
    """Journal, accounts and supervisor; closes them in order. The caller holds the data lock.

    Raises:
        StorageUnusable: one sentence says why.
    """
    count_in(settings.service.currency)
    path = Path(settings.storage.data_dir) / DATABASE
    await bring_over(path, seams.clock, inline=seams.inline_journal)
    sealing = SealingKeys(path.parent)
    journal = Journal(
        path,
        migrate=SealedRepository.sealed_in(sealing, migrate_in(settings.service.currency, migrate)),
        commit_units_max=settings.storage.commit_units_max,
        queue_units_max=settings.storage.queue_units_max,
        page_cache_mb=settings.storage.page_cache_mb,
        inline=seams.inline_journal,
        disk=seams.disk,
    )
    async with trio.open_nursery() as outermost:
        await outermost.start(journal.run)
        try:
            async with trio.open_nursery() as inner:
                supervisor = Supervisor()
                await inner.start(supervisor.run)
                stored = Repositories.open(Store.open(journal, sealing))
                clock, ids, set_aside = seams.clock, seams.ids, SetAsideItems()
                home = settings.plan.home
                accounts = Accounts(
                    stored.organizations,
                    stored.keys,
                    clock,
                    ids,
                    home.time_zone,
                    settings.limits.key_age_days,
                    set_aside,
                )
                data_dir = Path(settings.storage.data_dir)
                server_keys = ServerKeys(data_dir)
                try:
                    yield Foundation(
                        settings,
                        seams,
                        journal,
                        stored,
                        accounts,
                        server_keys,
                        sealing,
                        supervisor,
                        AnswerWindow(),
                        set_aside,
                        SessionFeatures(SessionSources(settings, stored, server_keys.ring)),
                        {**seams.parts},
                    )
                finally:
                    journal.end_log_soon()  # else a task that has to know would never end
                    with trio.move_on_after(ACTORS_STOP_S, shield=True):
                        await accounts.uses.write()
                        await accounts.places.write()
                        await supervisor.stop()
                    inner.cancel_scope.cancel()
        finally:
            journal.stop()


@dataclass(frozen=True, slots=True)
class Owners:
    """The actors that own the limits and the balances."""

    limits: Ref[LimitsMessage]
    billing: Ref[BillingMessage]
    credits: Broadcast[str]
    """Organizations whose balance has grown."""


async def start_owners(core: Foundation) -> Owners:
    mailbox_max = core.settings.engine.mailbox_max
    memory = LimitsMemory(core.settings.limits, core.settings.people)
    limits = await core.supervisor.start(
        "limits",
        lambda: Limits(memory, core.repositories.verifications.accepted_since),
        mailbox_max=mailbox_max,
    )
    credited: Broadcast[str] = Broadcast()
    billing = await core.supervisor.start(
        "billing",
        lambda: Billing(core.repositories.ledger, core.seams.clock, credited.publish),
        mailbox_max=mailbox_max,
    )
    return Owners(limits, billing, credited)
