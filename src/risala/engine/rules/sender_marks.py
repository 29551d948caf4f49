"""What an operator should check before clearing a sender."""

from __future__ import annotations

from collections.abc import Iterable

from risala.config.kinds import SendersSection
from risala.dataclass import dataclass
from risala.engine.model.records.senders import Mark, Sender
from risala.engine.rules.likeness import is_generic, resembles


@dataclass(frozen=True, slots=True)
class Owned:
    """A name that an organization uses: its own, or a sender's that was not denied."""

    organization_id: str
    organization: str
    name: str


class Marker:
    """Finds the reasons to check a sender, by the words in the settings."""

    def __init__(self, settings: SendersSection, default_sender: str) -> None:
        self._settings = settings
        self._default = default_sender

    def marks(self, sender: Sender, owned: Iterable[Owned]) -> list[Mark]:
        """The reasons to check a sender.

        Args:
            owned: the names of all organizations; those of the sender's own one are skipped.
        """
        found = []
        name = sender.name
        if is_generic(name, self._settings.generic):
            found.append(Mark("generic", "It is a generic name that anybody could use."))
        if resembles(name, self._default):
            text = f"It resembles {self._default!r}, the service's own sender."
            found.append(Mark("default", text, self._default))
        found += [
            Mark("protected", f"It resembles {other!r} (senders.protected in the settings).", other)
            for other in self._settings.protected
            if resembles(name, other)
        ]
        told = set()
        for other in owned:
            key = (other.organization_id, other.name)
            is_own = other.organization_id == sender.organization_id
            if is_own or key in told or not resembles(name, other.name):
                continue
            told.add(key)
            whose = f"{other.organization} ({other.organization_id})"
            text = f"It resembles {other.name!r} of {whose}."
            found.append(
                Mark("organization", text, other.name, other.organization_id, other.organization)
            )
        return found
