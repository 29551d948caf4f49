"""What the engine reaches the world by, beside carriers: events to webhooks, mail to owners."""

from __future__ import annotations

from dataclasses import dataclass

from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.engine.follow.feed import Feed
from risala.engine.follow.live import Live
from risala.engine.rules.webhooks.types import Outbound
from risala.engine.services import Services
from risala.engine.webhooks.notices import Notices
from risala.engine.webhooks.service import Webhooks, WebhookSources
from risala.plugins.mail import Mailer

POLICY = RestartPolicy(restarts_max=None)
"""Whatever is wrong with webhooks must not end the sending of messages."""


@dataclass(frozen=True, slots=True)
class Outside:
    outbound: Outbound | None = None
    """None: events wait until a start that has one."""
    mailer: Mailer | None = None


async def start_outside(parts: Services, supervisor: Supervisor, outside: Outside) -> None:
    """Follow the events, and deliver them where there is a way out."""
    journal, settings = parts.recorder.journal, parts.settings
    feed = Feed(journal.reader())
    journal.on_commit = feed.committed
    parts.live = Live(journal.reader(), parts.recorder.clock, feed.events, parts.recorder.life)
    if outside.outbound is not None:
        operator = settings.mail.operator
        notices = Notices(parts.recorder, journal.reader(), outside.mailer, operator)
        webhooks = Webhooks(
            WebhookSources(
                settings.webhooks,
                parts.recorder,
                journal.reader(),
                outside.outbound,
                disabled=notices.look,
            )
        )
        parts.hint_webhook = webhooks.hint
        feed.listeners.append(webhooks.look)
        await supervisor.start_service("webhooks' notices", notices.run, policy=POLICY)
        await supervisor.start_service("webhooks", webhooks.run, policy=POLICY)
    await supervisor.start_service("feed of events", feed.run, policy=POLICY)
