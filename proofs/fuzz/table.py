"""All doors that hostile octets come in by."""

from __future__ import annotations

from typing import Final

from proofs.fuzz.target import FuzzTarget
from proofs.fuzz.targets import (
    bodies,
    expressions,
    faces,
    heads,
    labels,
    modem,
    outside,
    pages,
    smpp,
    tables,
    texts,
)

TARGETS: Final[tuple[FuzzTarget, ...]] = (
    *bodies.TARGETS,
    *heads.TARGETS,
    *modem.TARGETS,
    *smpp.TARGETS,
    *faces.TARGETS,
    *texts.TARGETS,
    *labels.TARGETS,
    *tables.TARGETS,
    *pages.TARGETS,
    *outside.TARGETS,
    *expressions.TARGETS,
)


def target_named(name: str) -> FuzzTarget:
    """Raises :class:`LookupError` where there is none."""
    for each in TARGETS:
        if each.name == name:
            return each
    raise LookupError(f"There is no target {name!r}; there are {', '.join(map(_name, TARGETS))}")


def _name(target: FuzzTarget) -> str:
    return target.name
