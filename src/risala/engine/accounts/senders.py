"""The senders on organizations' accounts: checked at every send that names one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from risala.config.model import Settings
from risala.engine.accounts.accounts import Accounts
from risala.engine.journal.accounts.senders import SenderRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Invalid
from risala.engine.model.ids import IdSource
from risala.engine.model.records.messages import Stamp
from risala.engine.model.records.senders import Mark, Sender, reasons_of
from risala.engine.rules.likeness import Marker, Owned
from risala.sms.address import fold_sender, sender_fault, spelled

DESCRIPTION_MAX: Final = 500


class Senders:
    def __init__(
        self,
        stored: SenderRepository,
        accounts: Accounts,
        clock: Clock,
        ids: IdSource,
        settings: Settings,
    ) -> None:
        self._stored = stored
        self._accounts = accounts
        self._clock = clock
        self._ids = ids
        self._default = fold_sender(settings.service.default_sender)
        self._marker = Marker(settings.senders, settings.service.default_sender)
        self._reasons = reasons_of(settings.plan)
        # The few organizations with a cleared sender that waits for the volume: each of their sends
        # may be the one that approves it.
        self._waiting = stored.waiting_for_volume()

    def by_name(self, organization_id: str, name: str) -> Sender | None:
        """The organization's sender of this name, compared folded."""
        return self._stored.by_name(organization_id, name)

    def waits_for_volume(self, organization_id: str) -> bool:
        """True if the organization's next message may approve a sender."""
        return organization_id in self._waiting

    def look_again(self, organization_id: str) -> None:
        """Read an organization's senders again: a unit may have approved one."""
        self._waiting = self._stored.waiting_for_volume()
        self._accounts.changed.publish(organization_id)

    def volume(self, organization_id: str, hours: int) -> int:
        """The number of messages that the organization sent in the last hours."""
        return self._stored.volume(organization_id, self._clock.now_ms(), hours)

    def foresee(self, organization_id: str, name: str) -> tuple[str | None, Sequence[str]]:
        """Why a request for this name would be refused (``rule``, ``default`` or ``taken``), and
        the codes of an operator's possible objections. Other customers' names are not revealed."""
        if sender_fault(name):
            return "rule", ()
        if fold_sender(name) == self._default:
            return "default", ()
        if self.by_name(organization_id, name) is not None:
            return "taken", ()
        draft = Sender("", organization_id, spelled(name), "pending", False, None, "", None, 0, 0)
        return None, tuple(dict.fromkeys(mark.code for mark in self._marker.marks(draft, ())))

    def marks(self, senders: Iterable[Sender]) -> Sequence[Sequence[Mark]]:
        """For each sender, what an operator should check."""
        return self.marks_among(senders, self._stored.owned_names())

    def marks_among(
        self, senders: Iterable[Sender], owned: Sequence[Owned]
    ) -> Sequence[Sequence[Mark]]:
        """For each sender, what an operator should check, by names that were read already; from any
        thread."""
        return [self._marker.marks(each, owned) for each in senders]

    async def request(
        self, organization_id: str, name: str, description: str, *, by: AuditEntry | None = None
    ) -> Sender:
        """Request a name.

        Raises:
            Invalid: it is no sender ID, or the description is missing or too long.
            NotFound: no such organization.
            Conflict: it is on the account already, or there are too many.
        """
        fault = sender_fault(name)
        if fault:
            raise Invalid("name", "invalid_sender", fault)
        if fold_sender(name) == self._default:
            text = (
                "This is the default sender of the service. Every organization may use it "
                "without a request."
            )
            raise Invalid("name", "invalid_sender", text)
        if not description.strip() or len(description) > DESCRIPTION_MAX:
            text = f"Describe the intended use in 1 to {DESCRIPTION_MAX} characters."
            raise Invalid("description", "invalid_length", text)
        self._accounts.organization(organization_id)
        now_ms = self._clock.now_ms()
        new = Sender(
            id=self._ids.new("snd"),
            organization_id=organization_id,
            name=spelled(name),
            status="pending",
            cleared=False,
            cleared_at=None,
            description=description.strip(),
            reason=None,
            created_at=now_ms,
            updated_at=now_ms,
        )
        return await self._stored.add(by, new)

    async def clear(self, sender_id: str, *, waive: bool, by: AuditEntry | None = None) -> Sender:
        """Clear a name: the operator has no objection. With ``waive`` it is approved at once,
        whatever the organization's volume.

        Raises:
            NotFound: no sender has this id.
            Conflict: it was denied, or another organization has the name.
        """
        stamp = Stamp(self._clock.now_ms())
        try:
            cleared = await self._stored.clear(by, sender_id, waive=waive, stamp=stamp)
        finally:
            self._waiting = self._stored.waiting_for_volume()
        self._accounts.changed.publish(cleared.organization_id)
        return cleared

    async def deny(self, sender_id: str, reason: str, *, by: AuditEntry | None = None) -> Sender:
        """Refuse a name, for one of :func:`reasons_of`.

        Raises:
            Invalid: no such reason.
            NotFound: no sender has this id.
        """
        text = self._reasons.get(reason)
        if text is None:
            known = ", ".join(self._reasons)
            raise Invalid("reason", "invalid_reason", f"The reason must be one of: {known}.")
        stamp = Stamp(self._clock.now_ms())
        try:
            return await self._stored.deny(by, sender_id, text, stamp)
        finally:
            self._waiting = self._stored.waiting_for_volume()
