"""What the engine has for hooks, built together."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Ref
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.set_aside import ItemLoop, SetAsideItems
from risala.engine.intake.hooks.codes import HookCodes
from risala.engine.intake.hooks.receiving import HookReceiver
from risala.engine.intake.hooks.registry import HookRegistry
from risala.engine.intake.hooks.storms import keep_ending
from risala.engine.intake.intake import Intake
from risala.engine.journal.repositories.all import Repositories
from risala.engine.limits.claims import LimitsMessage
from risala.engine.model.clock import Clock
from risala.engine.model.ids import IdSource
from risala.engine.rules.hooks.sealing import Seal
from risala.sms.numbering.plan import NumberingPlan

LOOK_S: Final = 300.0
"""Between two looks for windows of alerts that are over: each new one rings, and a clock that is
set makes a message of alerts late at worst."""


@dataclass(frozen=True, slots=True)
class HookServices:
    """See the module's text."""

    registry: HookRegistry
    codes: HookCodes
    receiver: HookReceiver
    repositories: Repositories
    clock: Clock
    alarm: Alarm
    storms: ItemLoop
    """Where windows of alerts are set aside."""

    @classmethod
    def of(
        cls,
        accounts: Accounts,
        repositories: Repositories,
        intake: Intake,
        seal: Seal,
        plan: NumberingPlan,
        limits: Ref[LimitsMessage],
        clock: Clock,
        ids: IdSource,
        public_url: str,
        set_aside: SetAsideItems,
    ) -> HookServices:
        """
        Args:
            public_url: the service's, before ``/hooks/…``.
        """
        alarm = Alarm(clock, LOOK_S)
        registry = HookRegistry(accounts, repositories.hooks, clock, ids, public_url, set_aside)
        codes = HookCodes(accounts, intake, repositories.verifications, seal)
        receiver = HookReceiver(
            registry,
            repositories.hooks,
            repositories.messages,
            intake,
            codes,
            seal,
            plan,
            limits,
            clock,
            alarm,
        )
        storms = set_aside.loop("hook_alerts")
        return cls(registry, codes, receiver, repositories, clock, alarm, storms)

    async def end_storms(self) -> None:
        """End storms of alerts that are over, until cancelled."""
        hooks = self.repositories.hooks
        await keep_ending(self.receiver, hooks, self.alarm, self.clock, self.storms)
