"""Scenarios: the bad days of a carrier, written as a TOML file.

The words are explained in docs/reference/smsc-simulator.md, examples are in examples/scenarios.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from risala.drivers.smpp.protocol.inbound import InboundForm
from risala.drivers.smpp.protocol.submit import DefaultAlphabet
from risala.drivers.smpp.protocol.tlv_names import make_tlv
from risala.lab.scenario_file import Percent, ScenarioTable, Seconds, read_scenario
from risala.lab.smsc.behaviour import Mishap
from risala.lab.smsc.receipts import IdStyle, ReceiptForm
from risala.lab.smsc.traffic import InboundPlan
from risala.sms.numbering.plan import EXAMPLE
from risala.sms.receipt import ReceiptState

Rate = Annotated[float, Field(gt=0, le=1_000_000)]
Status = Annotated[str, Field(pattern=r"^0x[0-9A-Fa-f]{1,8}$")]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Span(ScenarioTable):
    """A random length of time: ``mean_s`` with ``spread_s`` around it."""

    distribution: Annotated[str, Field(pattern="^(uniform|normal|exponential)$")] = "uniform"
    mean_s: Seconds = 0.0
    spread_s: Seconds = 0.0
    """``uniform``: at most so far from the mean. ``normal``: the standard deviation.
    ``exponential``: not used."""
    max_s: Seconds = 3600.0


class Smsc(ScenarioTable):
    """The SMSC itself."""

    id_form: IdStyle = IdStyle.SAME
    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
    repeats_references: bool = True
    cuts_references: bool = False
    silent_states: tuple[ReceiptState, ...] = ()
    ignores_validity: bool = False
    bind_answered_as: Literal["transmitter", "receiver", "transceiver"] | None = None
    deaf_binds: Annotated[int, Field(ge=0)] = 0
    delivers_to_last: bool = False
    interface_version: Annotated[int, Field(ge=0, le=255)] = 0x34
    hold_s: Seconds = 0.0
    distribution_lists: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    store_max: Count = 100_000
    deliver_window_max: Annotated[int, Field(ge=1, le=10_000)] = 50
    receipt_retry_s: Seconds = 1.0
    response_timeout_s: Annotated[float, Field(gt=0, le=3600)] = 10.0
    piece_octets: Annotated[int, Field(ge=1, le=65536)] | None = None
    piece_after_s: Seconds = 0.0


class Binds(ScenarioTable):
    """The results of the first binds; later ones are accepted."""

    refuse: tuple[Status, ...] = ()
    """Statuses of the first binds, one after another."""
    never: Annotated[int, Field(ge=0)] = 0
    """How many binds after the refused ones get no answer."""


class Throttling(ScenarioTable):
    """Submits above a rate are answered with a status."""

    rate_per_s: Rate
    status: Status = "0x58"


class Congestion(ScenarioTable):
    """Answers contain the load of the SMSC (``congestion_state``, SMPP 5.0)."""

    rate_per_s: Rate
    """Submits a second at which ``congestion_state`` is 100."""


class Closed(ScenarioTable):
    """Every so often all submits are refused for a while."""

    every_s: Annotated[float, Field(gt=0, le=86400)] = 10.0
    for_s: Annotated[float, Field(gt=0, le=86400)] = 1.0
    status: Status = "0x14"


class SubmitRefusal(ScenarioTable):
    """A share of the submits is refused with a status."""

    percent: Percent
    status: Status = "0x08"


class MishapRule(ScenarioTable):
    """A share of the submits has a mishap."""

    kind: Mishap
    percent: Percent | None = None
    every: Count | None = None
    """The quirk happens to each so-many-th submit, counted from the first; in place of
    ``percent``."""
    first: Count | None = None
    """How often the quirk happens at most; not set: no limit."""
    taken: bool = True
    """Whether the phone gets the message all the same."""
    wait: Span = Span()
    """Time from the planned answer to the mishap."""


class Receipts(ScenarioTable):
    """The fate of accepted messages, and the form of their receipts."""

    wait: Span = Span(mean_s=0.5)
    """Time from the answer to the receipt."""
    states: dict[ReceiptState, Annotated[float, Field(gt=0)]] = Field(
        default_factory=lambda: {ReceiptState.DELIVERED: 100.0}
    )
    """Weights of the final states."""
    forms: tuple[ReceiptForm, ...] = (ReceiptForm.STANDARD,)
    """The layouts; each receipt has one of these, at random."""
    lost_percent: Percent = 0.0
    twice_percent: Percent = 0.0
    early_percent: Percent = 0.0
    """The share that comes before the answer, which is then delayed a little."""
    enroute_percent: Percent = 0.0
    """The share that has an intermediate notification before it."""
    extra_tlvs: dict[str, int | str] = Field(default_factory=dict)
    """The carrier's own parameters in receipts, written as ``extra_tlvs`` in ``[carriers.smpp]``.
    """

    @field_validator("extra_tlvs")
    @classmethod
    def _are_parameters(cls, value: dict[str, int | str]) -> dict[str, int | str]:
        for name, parameter in value.items():
            make_tlv(name, parameter)
        return value


class InboundTraffic(ScenarioTable):
    """Messages from phones."""

    rate_per_s: Rate = 1.0
    messages_max: Count | None = None
    senders: Annotated[tuple[str, ...], Field(min_length=1)] = (EXAMPLE,)
    recipient: str = "1234"
    texts: Annotated[tuple[str, ...], Field(min_length=1)] = ("Hello",)
    forms: Annotated[tuple[InboundForm, ...], Field(min_length=1)] = (InboundForm.UDH8,)
    twice_percent: Percent = 0.0
    shuffle: bool = False


class Scenario(ScenarioTable):
    """One file."""

    title: str = ""
    seed: int = 1
    """Two runs with one seed and the same traffic are the same."""
    smsc: Smsc = Smsc()
    binds: Binds = Binds()
    answers: Span = Span()
    """Time from a submit to its answer."""
    throttle: Throttling | None = None
    congestion: Congestion | None = None
    closed: Closed | None = None
    refusals: tuple[SubmitRefusal, ...] = ()
    mishaps: tuple[MishapRule, ...] = ()
    receipts: Receipts = Receipts()
    inbound: InboundTraffic | None = None

    @property
    def inbound_plan(self) -> InboundPlan | None:
        if self.inbound is None:
            return None
        return InboundPlan(**self.inbound.model_dump(), seed=self.seed)


def load_scenario(path: Path) -> Scenario:
    """Read a scenario's file.

    Raises:
        ScenarioError: it cannot be read, or is invalid.
    """
    return read_scenario(path, Scenario)
