"""Who is bound to the SMPP server, as the operator is told: frozen values, and where they come
from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EsmeView:
    """One bound session. Times are UTC epoch milliseconds."""

    system_id: str
    credential_id: str
    organization_id: str
    mode: str
    kind: str
    """``transmitter``, ``receiver`` or ``transceiver``."""
    version: int
    """What the customer's software says that it speaks: 0x34 for SMPP 3.4."""
    peer: str | None
    is_tls: bool
    since: int
    accepted: int
    """Submits that became messages."""
    refused: int
    """Submits that did not."""
    delivered: int
    """Receipts and texts that it took."""


@dataclass(frozen=True, slots=True)
class EsmeTotals:
    """What all sessions have done since the start."""

    connections: int
    """Now, bound or not."""
    binds: Mapping[int, int]
    """By the ``command_status`` that answered them."""
    submits: Mapping[int, int]
    delivered: int
    refused: int
    """Receipts and texts that customers' software refused for good."""


class EsmeSource(Protocol):
    """Knows who is bound."""

    def views(self) -> Sequence[EsmeView]: ...

    def totals(self) -> EsmeTotals: ...


class Esmes:
    """Where a running SMPP server tells of itself; without one nobody is bound."""

    def __init__(self) -> None:
        self._sources: list[EsmeSource] = []

    @contextmanager
    def listed(self, source: EsmeSource) -> Iterator[None]:
        """A server runs as long as this lasts."""
        self._sources.append(source)
        try:
            yield
        finally:
            self._sources.remove(source)

    @property
    def is_open(self) -> bool:
        """Whether anybody could bind."""
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
