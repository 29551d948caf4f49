"""What a numbering plan knows of one country's mobile numbers."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Block(NamedTuple):
    """Numbers that begin alike and were allotted together."""

    prefix: str
    """``+`` and digits."""
    network: str | None
    """None: fixed lines, or nobody knows whose they are."""


class Country(Protocol):
    """The mobile numbers of one country, as ``+`` and digits (E.164)."""

    @property
    def code(self) -> str:
        """ISO 3166-1, two letters."""

    @property
    def name(self) -> str:
        """In English, for errors."""

    @property
    def calling_code(self) -> str:
        """The digits behind ``+`` (ITU-T E.164). Countries may share them, as +1 and +7."""

    @property
    def example(self) -> str:
        """A mobile number, for placeholders and documents."""

    @property
    def time_zone(self) -> str:
        """The time zone of most of its people, such as ``Africa/Nouakchott``."""

    @property
    def digit_places(self) -> tuple[tuple[str, ...], ...]:
        """For each length that its numbers have: the possible digits at each place behind the
        calling code, such as ``("234", "0123456789", …)``."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The prefixes by which networks differ, as far as the plan knows any."""

    def serves(self, number: str) -> bool:
        """Whether a text is one of the country's mobile numbers. Nothing is normalised."""

    def read(self, text: str) -> str | None:
        """The number that people write so: ``+`` and digits, or digits alone as at home; None if
        it is none of the country's mobile numbers."""

    def local(self, number: str) -> str:
        """One of the country's numbers as its people write it, with spaces."""

    def international(self, number: str) -> str:
        """One of the country's numbers with ``+`` and the calling code in front, with spaces."""

    def network_of(self, number: str) -> str | None:
        """The network to which a number was allotted; it may have been ported since."""
