"""The behaviour that follows a scenario, by dice, counters and a clock that is handed in."""

from __future__ import annotations

import math
import random
import ssl
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from risala.drivers.smpp.protocol.pdu import Bind, DataSm, SubmitSm
from risala.drivers.smpp.protocol.tlv_names import make_tlv
from risala.lab.smsc.behaviour import Mishap, Pace, PlannedReceipt, Reaction, SmscAccounts
from risala.lab.smsc.scenario import MishapRule, Receipts, Scenario, Span
from risala.lab.smsc.simulator import (
    ReceivedMessage,
    SimulatorConfig,
    SimulatorEvent,
    SmscSimulator,
    unheard,
)
from risala.sms.receipt import ReceiptState

_EARLY_S: Final = 0.02
"""Seconds that an answer takes before which a receipt is to come."""
_ERROR_CODES: Final = {ReceiptState.DELIVERED: "000", ReceiptState.ENROUTE: "000"}


class ScenarioBehaviour:
    """Reacts according to the scenario; the same in every run with its seed."""

    def __init__(self, scenario: Scenario, accounts: Mapping[str, str] | None = None) -> None:
        self._scenario = scenario
        self._accounts = SmscAccounts(accounts)
        self._rng = random.Random(scenario.seed)  # noqa: S311 - a run should repeat itself
        throttle = scenario.throttle
        self._pace = Pace(throttle.rate_per_s if throttle else None)
        self._mishaps = [_Rule(rule) for rule in scenario.mishaps]
        congestion = scenario.congestion
        self._congestion = _Congestion(congestion.rate_per_s if congestion else None)
        self._refused_binds = 0
        self._began_at_s: float | None = None

    def on_bind(self, request: Bind) -> int | None:
        binds = self._scenario.binds
        number, self._refused_binds = self._refused_binds, self._refused_binds + 1
        if number < len(binds.refuse):
            return int(binds.refuse[number], 16)
        if number < len(binds.refuse) + binds.never:
            return None
        return self._accounts.status(request)

    def on_submit(self, system_id: str, request: SubmitSm | DataSm, now_s: float) -> Reaction:
        return replace(self._on_submit(now_s), congestion_state=self._congestion.state(now_s))

    def _on_submit(self, now_s: float) -> Reaction:
        answer_after_s = self._draw(self._scenario.answers)
        command_status = self._status(now_s)
        if command_status:
            return Reaction(command_status, answer_after_s)
        for rule in self._mishaps:
            if rule.happens(self._rng):
                wait_s = answer_after_s + self._draw(rule.table.wait)
                return self._react(wait_s, rule.table.kind, rule.table.taken)
        return self._react(answer_after_s, None, True)

    def _status(self, now_s: float) -> int:
        """The ``command_status`` from the SMSC's own state, for any message; 0: no error."""
        scenario = self._scenario
        if self._began_at_s is None:
            self._began_at_s = now_s
        closed = scenario.closed
        if closed and (now_s - self._began_at_s) % closed.every_s >= closed.every_s - closed.for_s:
            return int(closed.status, 16)
        if scenario.throttle and not self._pace.allows(now_s):
            return int(scenario.throttle.status, 16)
        for refusal in scenario.refusals:
            if self._percent(refusal.percent):
                return int(refusal.status, 16)
        return 0

    def _react(self, answer_after_s: float, mishap: Mishap | None, is_taken: bool) -> Reaction:
        table = self._scenario.receipts
        early = self._percent(table.early_percent)
        if early:
            answer_after_s = max(answer_after_s, _EARLY_S)
        wait_s = 0.0 if early else answer_after_s + self._draw(table.wait)
        receipts = self._receipts(table, wait_s)
        return Reaction(0, answer_after_s, mishap, is_taken, receipts)

    def _receipts(self, table: Receipts, wait_s: float) -> tuple[PlannedReceipt, ...]:
        is_sent = not self._percent(table.lost_percent)
        (state,) = self._rng.choices([*table.states], [*table.states.values()])
        states = [state]
        if self._percent(table.enroute_percent):
            states.insert(0, ReceiptState.ENROUTE)
        if self._percent(table.twice_percent):
            states.append(state)
        return tuple(
            PlannedReceipt(
                *(wait_s, one, _ERROR_CODES.get(one, "001"), self._rng.choice(table.forms)),
                is_sent=is_sent,
            )
            for one in states
        )

    def _percent(self, percent: float) -> bool:
        return percent > 0 and self._rng.uniform(0, 100) < percent

    def _draw(self, span: Span) -> float:
        rng = self._rng
        match span.distribution:
            case "normal":
                drawn = rng.gauss(span.mean_s, span.spread_s)
            case "exponential":
                drawn = rng.expovariate(1 / span.mean_s) if span.mean_s else 0.0
            case _:
                drawn = span.mean_s + rng.uniform(-span.spread_s, span.spread_s)
        return min(max(drawn, 0.0), span.max_s)


class _Congestion:
    """The load of the SMSC: the submits of the last second, as a share of its capacity."""

    def __init__(self, rate_per_s: float | None) -> None:
        self._rate_per_s = rate_per_s
        self._times: deque[float] = deque(maxlen=math.ceil(rate_per_s or 1))

    def state(self, now_s: float) -> int | None:
        if self._rate_per_s is None:
            return None
        self._times.append(now_s)
        while self._times[0] <= now_s - 1.0:
            self._times.popleft()
        return min(100, round(100 * len(self._times) / self._rate_per_s))


class _Rule:
    """A rule of the scenario, and the count of its occasions: decides when its mishap happens."""

    def __init__(self, table: MishapRule) -> None:
        self.table = table
        self._occasions = 0
        self._happened = 0

    def happens(self, rng: random.Random) -> bool:
        table = self.table
        number, self._occasions = self._occasions, self._occasions + 1
        if table.first is not None and self._happened >= table.first:
            return False
        if table.every is not None:
            happens = number % table.every == 0
        else:
            happens = table.percent is None or rng.uniform(0, 100) < table.percent
        self._happened += happens
        return happens


def scenario_simulator(
    scenario: Scenario,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
    accounts: Mapping[str, str] | None = None,
    on_event: Callable[[SimulatorEvent], None] = unheard,
    on_message: Callable[[ReceivedMessage], None] = unheard,
) -> SmscSimulator:
    """A simulator that behaves according to the scenario."""
    return SmscSimulator(
        SimulatorConfig(
            host=host,
            port=port,
            tls=tls,
            accounts=accounts,
            receipt_tlvs=tuple(
                make_tlv(name, value) for name, value in scenario.receipts.extra_tlvs.items()
            ),
            **scenario.smsc.model_dump(),
        ),
        behaviour=ScenarioBehaviour(scenario, accounts),
        inbound=scenario.inbound_plan,
        on_event=on_event,
        on_message=on_message,
    )
