"""What the engine is made of: for the gateway, the operations and the numbers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from risala.config.model import Settings
from risala.engine.accounts.accounts import Accounts
from risala.engine.accounts.senders import Senders
from risala.engine.actors.actor import Ref
from risala.engine.billing.claims import BillingMessage
from risala.engine.delivery.driver_commands import DriverCommands
from risala.engine.delivery.scheduler import SchedulerMessage
from risala.engine.follow.live import Live
from risala.engine.intake.intake import Intake
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.rows import DueRow
from risala.engine.limits.claims import LimitsMessage
from risala.engine.model.ids import IdSource
from risala.engine.model.lines import Line
from risala.engine.verify.sessions import SessionsMessage


@dataclass(slots=True)
class Services:
    """What the gateway is put together from."""

    settings: Settings
    recorder: Recorder
    reader: sqlite3.Connection
    ids: IdSource
    accounts: Accounts
    senders: Senders
    intake: Intake
    billing: Ref[BillingMessage]
    limits: Ref[LimitsMessage]
    sessions: Ref[SessionsMessage]
    scheduler: Ref[SchedulerMessage] | None = None
    """None where nothing is delivered: a command that opened the engine by itself."""
    unready: Callable[[], tuple[str, ...]] = tuple
    """Reasons why no message could be delivered at this moment."""
    statistics: Callable[[], dict[str, Any]] = dict
    carriers: Callable[[], list[dict[str, Any]]] = list
    waits: Callable[[DueRow, int | None, bool], Line | None] | None = None
    """What a pending message waits for: its row, ``sendAt``, whether its organization is active.
    None where nothing is delivered."""
    commands: DriverCommands | None = None
    """None where no carrier is connected: a command that opened the engine by itself."""
    live: Live | None = None
    """None where nothing happens: a command that opened the engine by itself."""
    hint_webhook: Callable[[str], None] = lambda _: None
    """Told of an endpoint whose deliveries are to be looked at now."""
