"""Scenarios: the bad days of a carrier, written as a TOML file.

What the words mean is in docs/reference/smsc-simulator.md, examples are in examples/scenarios.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from risala.drivers.smpp.smsc_behaviour import Mishap
from risala.drivers.smpp.smsc_receipts import IdStyle, ReceiptForm
from risala.drivers.smpp.smsc_traffic import InboundForm, InboundPlan
from risala.drivers.smpp.submit import DefaultAlphabet
from risala.sms.receipt import ReceiptState

Percent = Annotated[float, Field(ge=0, le=100)]
Seconds = Annotated[float, Field(ge=0, le=86400)]
Rate = Annotated[float, Field(gt=0, le=1_000_000)]
Status = Annotated[str, Field(pattern=r"^0x[0-9A-Fa-f]{1,8}$")]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]


class ScenarioError(Exception):
    """The file cannot be used; ``str()`` has a line for each fault."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Span(_Table):
    """A random length of time: ``mean_s`` with ``spread_s`` around it."""

    distribution: Annotated[str, Field(pattern="^(uniform|normal|exponential)$")] = "uniform"
    mean_s: Seconds = 0.0
    spread_s: Seconds = 0.0
    """``uniform``: at most so far from the mean. ``normal``: the standard deviation.
    ``exponential``: not used."""
    max_s: Seconds = 3600.0


class Smsc(_Table):
    """The SMSC itself."""

    id_form: IdStyle = IdStyle.SAME
    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
    interface_version: Annotated[int, Field(ge=0, le=255)] = 0x34
    hold_s: Seconds = 0.0
    distribution_lists: dict[str, tuple[str, ...]] = {}
    store_max: Count = 100_000
    deliver_window_max: Annotated[int, Field(ge=1, le=10_000)] = 50
    receipt_retry_s: Seconds = 1.0
    response_timeout_s: Annotated[float, Field(gt=0, le=3600)] = 10.0
    piece_octets: Annotated[int, Field(ge=1, le=65536)] | None = None
    piece_after_s: Seconds = 0.0


class Binds(_Table):
    """What becomes of the first binds; those after them are taken."""

    refuse: tuple[Status, ...] = ()
    """Statuses of the first binds, one after another."""
    never: Annotated[int, Field(ge=0)] = 0
    """So many after those are not answered at all."""


class Throttling(_Table):
    rate_per_s: Rate
    status: Status = "0x58"


class Closed(_Table):
    """Every so often all submits are refused for a while."""

    every_s: Annotated[float, Field(gt=0, le=86400)] = 10.0
    for_s: Annotated[float, Field(gt=0, le=86400)] = 1.0
    status: Status = "0x14"


class Refusal(_Table):
    percent: Percent
    status: Status = "0x08"


class MishapRule(_Table):
    """A share of the submits has a mishap."""

    kind: Mishap
    percent: Percent | None = None
    every: Count | None = None
    """Each so-many-th submit, counted from the first; in place of ``percent``."""
    first: Count | None = None
    """No more after so many."""
    taken: bool = True
    """Whether the phone gets the message all the same."""
    wait: Span = Span()
    """From when the answer would have come."""


class Receipts(_Table):
    wait: Span = Span(mean_s=0.5)
    """From the answer to the receipt."""
    states: dict[ReceiptState, Annotated[float, Field(gt=0)]] = {ReceiptState.DELIVERED: 100.0}
    """Weights of the final states."""
    forms: tuple[ReceiptForm, ...] = (ReceiptForm.STANDARD,)
    """One of these for each receipt."""
    lost_percent: Percent = 0.0
    twice_percent: Percent = 0.0
    early_percent: Percent = 0.0
    """Before the answer, which then takes a moment."""
    enroute_percent: Percent = 0.0
    """With an intermediate notification before it."""


class Inbound(_Table):
    """Messages from phones."""

    rate_per_s: Rate = 1.0
    messages_max: Count | None = None
    senders: Annotated[tuple[str, ...], Field(min_length=1)] = ("+22236123456",)
    recipient: str = "1234"
    texts: Annotated[tuple[str, ...], Field(min_length=1)] = ("Hello",)
    forms: Annotated[tuple[InboundForm, ...], Field(min_length=1)] = (InboundForm.UDH8,)
    twice_percent: Percent = 0.0
    shuffle: bool = False


class Scenario(_Table):
    """One file."""

    title: str = ""
    seed: int = 1
    """Two runs with one seed and the same traffic are the same."""
    smsc: Smsc = Smsc()
    binds: Binds = Binds()
    answers: Span = Span()
    """From a submit to its answer."""
    throttle: Throttling | None = None
    closed: Closed | None = None
    refusals: tuple[Refusal, ...] = ()
    mishaps: tuple[MishapRule, ...] = ()
    receipts: Receipts = Receipts()
    inbound: Inbound | None = None

    @property
    def inbound_plan(self) -> InboundPlan | None:
        if self.inbound is None:
            return None
        return InboundPlan(**self.inbound.model_dump(), seed=self.seed)


def load_scenario(path: Path) -> Scenario:
    """
    Raises:
        ScenarioError: it cannot be read, or says what a scenario cannot.
    """
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ScenarioError(f"{path} cannot be read: {fault.strerror}.") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ScenarioError(f"{path} is not TOML: {fault}.") from fault
    try:
        return Scenario.model_validate(table)
    except ValidationError as fault:
        lines = (
            f"{'.'.join(str(step) for step in error['loc'])}: {error['msg']}"
            for error in fault.errors()
        )
        raise ScenarioError("\n".join((f"{path} is no scenario:", *lines))) from fault
