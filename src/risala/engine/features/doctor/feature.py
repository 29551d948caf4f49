"""The doctor: what is wrong with an installation, and how to mend it."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere

FEATURE: Final = Feature(
    name="doctor",
    commands={"doctor": elsewhere("cli.commands.upkeep.doctor:doctor")},
)
