"""The clients bound to the SMPP server, for the operator: frozen values, and their source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from risala.dataclass import dataclass
from risala.engine.model.records.upkeep.service import EsmeView


@dataclass(frozen=True, slots=True)
class EsmeTotals:
    """Totals of all sessions since the start."""

    connections: int
    """Now, bound or not."""
    binds: Mapping[int, int]
    """By the ``command_status`` of their answers."""
    submits: Mapping[int, int]
    delivered: int
    refused: int
    """Receipts and texts that customers' software refused for good."""


class EsmeSource(Protocol):
    """Provides the bound sessions."""

    def views(self) -> Sequence[EsmeView]: ...

    def totals(self) -> EsmeTotals: ...


class Esmes:
    """The SMPP server's list of sessions: a running server registers here; without one the list is
    empty."""

    def __init__(self) -> None:
        self._sources: list[EsmeSource] = []

    @contextmanager
    def listed(self, source: EsmeSource) -> Iterator[None]:
        """A server runs as long as this context lasts."""
        self._sources.append(source)
        try:
            yield
        finally:
            self._sources.remove(source)

    @property
    def is_open(self) -> bool:
        """Whether clients can bind."""
        return bool(self._sources)

    def views(self) -> list[EsmeView]:
        return [view for source in self._sources for view in source.views()]

    def totals(self) -> EsmeTotals:
        every = [source.totals() for source in self._sources]
        binds: Counter[int] = Counter()
        submits: Counter[int] = Counter()
        for each in every:
            binds.update(each.binds)
            submits.update(each.submits)
        return EsmeTotals(
            sum(each.connections for each in every),
            binds,
            submits,
            sum(each.delivered for each in every),
            sum(each.refused for each in every),
        )
