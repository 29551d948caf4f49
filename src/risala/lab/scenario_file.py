"""Scenarios of simulated carriers: TOML files that a frozen model makes sense of."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Percent = Annotated[float, Field(ge=0, le=100)]
Seconds = Annotated[float, Field(ge=0, le=86400)]


class ScenarioError(Exception):
    """The file cannot be used; ``str()`` has a line for each fault."""


class ScenarioTable(BaseModel):
    """A table of such a file: an unknown name is a fault."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


S = TypeVar("S", bound=ScenarioTable)


def read_scenario(path: Path, kind: type[S]) -> S:
    """
    Raises:
        ScenarioError: it cannot be read, or is invalid.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ScenarioError(f"{path} cannot be read: {fault.strerror}.") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ScenarioError(f"{path} is not TOML: {fault}.") from fault
    try:
        return kind.model_validate(table)
    except ValidationError as fault:
        lines = (
            f"{'.'.join(str(step) for step in error['loc'])}: {error['msg']}"
            for error in fault.errors()
        )
        raise ScenarioError("\n".join((f"{path} is no scenario:", *lines))) from fault
