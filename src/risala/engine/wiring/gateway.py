"""What decides on acceptance, and the gateway over it; needed with and without carriers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import trio

from risala.config.model import Settings
from risala.engine.accounts.senders import Senders
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.broadcast import Broadcast
from risala.engine.billing.billing import tell_entered
from risala.engine.follow.cursors import EventCursors
from risala.engine.gateway.gateway import Gateway
from risala.engine.intake.draft import Ailing, nothing_ails
from risala.engine.intake.intake import Intake
from risala.engine.intake.policies import Policies
from risala.engine.intake.steps import IntakeSteps
from risala.engine.journal.recorder import Listeners, Recorder, unheard
from risala.engine.journal.repositories import Repositories
from risala.engine.model.clock import ClockJumps
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.ids import MessageIds
from risala.engine.people.people import People
from risala.engine.people.tokens import PeopleSources
from risala.engine.rules.receiptgroups import ReceiptGroups
from risala.engine.rules.router import Router
from risala.engine.services import Birth, Delivery, Services, Surroundings
from risala.engine.upkeep.overview import Alone
from risala.engine.verify.sessions import (
    AT_ONCE_MAX,
    Sources,
    VerificationSessions,
)
from risala.engine.wiring.connections import NO_OUTSIDE, Connections, console_url, public_url
from risala.engine.wiring.foundation import (
    Foundation,
    Owners,
    Seams,
    open_core,
    start_owners,
    system_seams,
)


def _fixed_code(
    repositories: Repositories, organization_id: str, number: str, now_ms: int
) -> str | None:
    code_of = duty(Duty.FIXED_CODE)
    code: str | None = code_of and code_of(repositories, organization_id, number, now_ms)
    return code


async def open_intake(
    core: Foundation,
    owners: Owners,
    recorder: Recorder,
    ends: Alarm,
    router: Router,
    ailing: Ailing,
    people: People,
    outside: Connections,
    delivery: Callable[[Intake], Delivery],
    cursors: EventCursors | None = None,
    jumps: ClockJumps | None = None,
) -> Gateway:
    """Build the parts that decide on acceptance, and the gateway over them; needed with and without
    carriers."""
    settings, ids = core.settings, core.seams.ids
    senders = Senders(core.repositories.senders, core.accounts, core.seams.clock, ids, settings)
    steps = IntakeSteps(
        settings,
        recorder,
        core.repositories,
        MessageIds(core.repositories.messages.last_key(), ids.random_bytes),
        core.accounts,
        senders,
        router,
        owners.limits,
        owners.billing,
        ailing,
        Policies(settings.policies.by_name, outside.policies, core.seams.clock),
    )
    intake = Intake(settings, steps, core.repositories.verifications)
    sources = Sources(
        settings,
        recorder,
        core.repositories.verifications,
        ids,
        core.accounts,
        intake,
        core.codes,
        core.session_features,
        ends,
        core.set_aside.loop("sessions"),
        partial(_fixed_code, core.repositories),
    )
    sessions = await core.supervisor.start(
        "sessions",
        lambda: VerificationSessions(sources),
        mailbox_max=settings.engine.mailbox_max,
        later_max=AT_ONCE_MAX,
    )
    there = delivery(intake)
    return Gateway(
        Services(
            settings=settings,
            recorder=recorder,
            repositories=core.repositories,
            ids=ids,
            accounts=core.accounts,
            senders=senders,
            intake=intake,
            billing=owners.billing,
            limits=owners.limits,
            sessions=sessions,
            session_features=core.session_features,
            people=people,
            delivery=there,
            preparing=outside.preparing,
            birth=Birth(
                core.seams.clock.now_ms(),
                trio.current_time(),
                outside.settings_file,
                outside.plugins,
                outside.plugin_faults,
            ),
            server_keys=core.server_keys,
            sealing=core.sealing,
            seal=core.seal,
            public_url=public_url(settings, outside),
            router=router,
            credits=owners.credits,
            pages=outside.pages,
            surroundings=Surroundings(
                outbound=outside.outbound,
                cursors=cursors,
                call_secret=outside.call_secret,
                wake_post=None if outside.mailer is None else people.sources.owed,
                answers=outside.answers,
                jumps=jumps,
                fetches=outside.fetches,
                secrets=outside.secrets,
                plugged=outside.plugged,
            ),
            set_aside=core.set_aside,
            parts=core.parts,
        ),
        later=core.seams.loads_later,
    )


@asynccontextmanager
async def open_gateway(settings: Settings, seams: Seams | None = None) -> AsyncIterator[Gateway]:
    """The gateway without carriers: for a command while no service runs."""
    async with open_core(settings, seams or system_seams()) as core:
        owners = await start_owners(core)
        listeners = Listeners(unheard, unheard, partial(tell_entered, owners.billing), unheard)
        clock = core.seams.clock
        recorder = Recorder(core.journal, clock, listeners, ReceiptGroups(), core.answers)
        ends, router = Alarm(clock), Router(settings.carriers)
        alone = Alone(settings, core.repositories, clock)
        people = people_of(core, owners, NO_OUTSIDE, nobody_hears)
        yield await open_intake(
            core,
            owners,
            recorder,
            ends,
            router,
            nothing_ails,
            people,
            NO_OUTSIDE,
            lambda _: alone,
        )


def people_of(
    core: Foundation,
    owners: Owners,
    outside: Connections,
    owed: Callable[[], None],
) -> People:
    return People(
        PeopleSources(
            settings=core.settings,
            clock=core.seams.clock,
            audit=core.repositories.audit,
            users=core.repositories.users,
            members=core.repositories.members,
            sign_in=core.repositories.sign_in,
            web_sessions=core.repositories.web_sessions,
            repositories=core.repositories,
            ids=core.seams.ids,
            accounts=core.accounts,
            limits=owners.limits,
            derived=core.derived,
            ended=Broadcast(),
            owed=owed,
            public_url=public_url(core.settings, outside),
            console_url=console_url(core.settings, outside),
            has_mailer=outside.mailer is not None,
            set_aside=core.set_aside,
        )
    )


def nobody_hears() -> None:
    """For a command without a service: the next service finds the mail that is owed."""
