"""Scenarios: the bad days of a modem, written as a TOML file.

The words are explained in docs/reference/modem-simulator.md, examples are in
examples/modem-scenarios.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from risala.lab.modem.quirks import LineRules, Quirk, QuirkKind, ReportRules, SendRefusal, Until
from risala.lab.modem.script.actions import ActionError, ScriptStep, check
from risala.lab.modem.world.config import ModemConfig, ReferenceForm, ReportStatus
from risala.lab.modem.world.profiles import PROFILES
from risala.lab.scenario_file import Percent, ScenarioTable, Seconds, read_scenario

Count = Annotated[int, Field(ge=1, le=1_000_000)]


class ModemTable(ScenarioTable):
    """Fields of :class:`ModemConfig` that differ from its defaults."""

    pin: Annotated[str, Field(pattern="^[0-9]{4,8}$")] | None = None
    number: Annotated[str, Field(pattern=r"^\+?[0-9]{3,20}$")] | None = None
    smsc_number: Annotated[str, Field(pattern=r"^(\+?[0-9]{3,20})?$")] | None = None
    operator: str | None = None
    has_sim: bool | None = None
    signal: Annotated[int, Field(ge=0, le=99)] | None = None
    registration: Annotated[int, Field(ge=0, le=7)] | None = None
    answer_after_s: Seconds | None = None
    acknowledge_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    reference_form: ReferenceForm | None = None
    first_reference: Annotated[int, Field(ge=0, le=255)] | None = None
    full_blocks_sending: bool | None = None
    is_booted: bool | None = None
    places: dict[str, Annotated[int, Field(ge=0, le=1000)]] | None = None
    reports_apart: bool | None = None
    ussd: dict[str, str] | None = None
    ussd_after_s: Seconds | None = None
    shows_callers: bool | None = None


class ReportsTable(ScenarioTable):
    status: ReportStatus = ReportStatus.DELIVERED
    after_s: Seconds = 0.5
    spread_s: Seconds = 0.0
    lost_percent: Percent = 0.0
    twice_percent: Percent = 0.0
    early_percent: Percent = 0.0


class RefusalTable(ScenarioTable):
    error: Annotated[int, Field(ge=0, le=1023)]
    percent: Percent = 100.0
    taken: bool = False


class QuirkTable(ScenarioTable):
    kind: QuirkKind
    on: Annotated[str, Field(pattern=r"^(any|body|AT[ -~]*)$")] = "any"
    percent: Percent | None = None
    every: Count | None = None
    skip: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    first: Count | None = None
    taken: bool = True
    wait_s: Seconds = 5.0
    for_s: Seconds | None = None
    until: Until = Until.NOTHING
    error: Annotated[str, Field(pattern=r"^[ -~]{1,100}$")] = "ERROR"

    @model_validator(mode="after")
    def _one_way_to_say_when(self) -> Self:
        if self.percent is not None and self.every is not None:
            raise ValueError("has percent and every; one of them says when")
        return self


class LineTable(ScenarioTable):
    lost_in_percent: Percent = 0.0
    lost_out_percent: Percent = 0.0


class StepTable(ScenarioTable):
    do: str
    at_s: Seconds | None = None
    """Seconds after the start."""
    after_sends: Count | None = None
    """In place of a time: once this many segments were taken."""

    @field_validator("do")
    @classmethod
    def _is_known(cls, do: str) -> str:
        try:
            check(do)
        except ActionError as fault:
            raise ValueError(str(fault)) from fault
        return do

    @model_validator(mode="after")
    def _has_a_time(self) -> Self:
        if (self.at_s is None) == (self.after_sends is None):
            raise ValueError("needs at_s or after_sends")
        return self


class Scenario(ScenarioTable):
    """One file."""

    title: str = ""
    seed: int = 1
    """Two runs with one seed and the same traffic are the same."""
    profile: str = "plain"
    modem: ModemTable = ModemTable()
    reports: ReportsTable = ReportsTable()
    refusals: tuple[RefusalTable, ...] = ()
    quirks: tuple[QuirkTable, ...] = ()
    line: LineTable = LineTable()
    steps: tuple[StepTable, ...] = ()

    @field_validator("profile")
    @classmethod
    def _is_a_profile(cls, profile: str) -> str:
        if profile not in PROFILES:
            raise ValueError(f"must be one of {', '.join(PROFILES)}")
        return profile

    def config(self, **changes: Any) -> ModemConfig:  # noqa: ANN401 - as ModemConfig takes
        """The modem's configuration; ``changes`` override the file."""
        settings = {
            key: value for key, value in self.modem.model_dump().items() if value is not None
        }
        known = {each.name for each in fields(ModemConfig)}
        assert set(settings) <= known
        return ModemConfig(
            **{
                "profile": PROFILES[self.profile],
                "report_status": self.reports.status,
                "report_after_s": self.reports.after_s,
                **settings,
                **changes,
            }
        )

    @property
    def rules(self) -> dict[str, Any]:
        """The further arguments of :class:`~risala.lab.modem.simulator.ModemSimulator`."""
        reports = self.reports.model_dump(exclude={"status", "after_s"})
        return {
            "seed": self.seed,
            "quirks": [Quirk(**each.model_dump()) for each in self.quirks] or None,
            "refusals": [SendRefusal(**each.model_dump()) for each in self.refusals],
            "reports": ReportRules(**reports),
            "line": LineRules(**self.line.model_dump()),
            "steps": [ScriptStep(**each.model_dump()) for each in self.steps],
        }


def load_scenario(path: Path) -> Scenario:
    """Read a scenario's file.

    Raises:
        ScenarioError: it cannot be read, or is invalid.
    """
    return read_scenario(path, Scenario)
