"""Erasures as operations report them, and the asks for faces."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED, Moment


class ErasureState(StrEnum):
    UNDER_WAY = "under way"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class ErasureProgress:
    """How far an erasure is."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    number: Annotated[str | None, UNAUDITED]
    """Its last digits; None: all of the organization."""
    state: Annotated[ErasureState, UNAUDITED]
    step: Annotated[int, UNAUDITED]
    steps: Annotated[int, UNAUDITED]
    """That there are."""
    waits: Annotated[bool, UNAUDITED]
    """For messages that are with a carrier."""
    gone: Annotated[Mapping[str, int], UNAUDITED]
    """How much of what is gone."""
    asked_by: Annotated[str, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    ended_at: Annotated[Moment | None, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Erasures:
    """The latest erasures of an organization, the latest first."""

    erasures: tuple[ErasureProgress, ...]


@dataclass(frozen=True, slots=True)
class WentOn:
    """The result of one unit of work."""

    erasure: ErasureProgress
    waits: bool


@dataclass(frozen=True, slots=True)
class NumberFigures:
    """How much an organization has of a number."""

    number: str
    messages: int
    pending: int
    """The number of those that have not left."""
    inbound: int
    verifications: int
    mailing_rows: int
    lists: int
    """Recipient lists that it is on."""
    opted_out: bool


FIGURES: Final = Ask("number.show", NumberFigures)
FORGET: Final = Ask("number.forget", ErasureProgress)
DELETE_ORGANIZATION: Final = Ask("org.delete", ErasureProgress)
LIST: Final = Ask("erasure.list", Erasures)
SHOW: Final = Ask("erasure.show", ErasureProgress)
RUN: Final = Ask("erasure.run", WentOn)
