"""Users' changes to their own account: name, language, devices, e-mail address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from risala.engine.accounts.accounts import safe_name
from risala.engine.limits.claims import TakePeople
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import PeopleUse
from risala.engine.model.errors import Invalid
from risala.engine.model.people import AccessEnded, Device, EmailChange, Language, User
from risala.engine.model.people_records import UserFields
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in import address_of
from risala.engine.people.tokens import PeopleSources
from risala.engine.rules.people.lifetimes import CHANGE_MS, CODE_DIGITS


class OwnAccount:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._sources = sources
        self._sessions = sessions

    async def change(
        self, user_id: str, name: str | None, language: Language | None, by: AuditEntry
    ) -> User:
        """Set the given fields.

        Raises:
            Invalid: the name is too long.
            Conflict: another change came meanwhile.
        """
        values: UserFields = {}
        if name is not None:
            values["name"] = safe_name(name)
        if language is not None:
            values["language"] = language.value
        now_ms = self._sources.now_ms()
        try:
            return await self._sources.users.change(by, user_id, values, now_ms)
        finally:
            self._sessions.forget(user_id)

    # -- devices

    def devices(self, user_id: str) -> Sequence[Device]:
        """The user's sessions, the newest first."""
        return self._sources.web_sessions.of_user(user_id, self._sources.now_ms())

    async def sign_out(
        self, user_id: str, session_id: str | None, but: str | None, by: AuditEntry
    ) -> int:
        """End one session, or all except one; returns how many there were."""
        left = [each.id for each in self.devices(user_id)]
        try:
            end = self._sources.web_sessions.end
            ended = await end(by, user_id, session_id=session_id, but=but)
        finally:
            self._sessions.forget(user_id)
        stay = {each.id for each in self.devices(user_id)}
        for gone in left:
            if gone not in stay:
                self._sessions.tell_ended(AccessEnded(user_id, session_id=gone))
        return ended

    # -- the address

    def pending_change(self, user_id: str) -> EmailChange | None:
        """The change that waits for codes."""
        return self._sources.users.pending_email_change(user_id, self._sources.now_ms())

    async def change_email(self, user_id: str, email: str, by: AuditEntry) -> EmailChange:
        """Mail a code to the present address, and one to the new one.

        Raises:
            Invalid: it is no address, or the present one.
            RateLimited: too many codes for one of the two, or in all.
        """
        sources, address, now_ms = self._sources, address_of(email), self._sources.now_ms()
        user = self._sources.users.user(user_id)
        if address == user.email:
            raise Invalid("email", "same_email", "This is already your address.")
        uses = (
            # A separate pool: signed-in users are not blocked by visitors of the sign-in page.
            (PeopleUse.CODE_ADDRESS, ("change", address)),
            (PeopleUse.CODE_ADDRESS, ("change", user.email)),
            (PeopleUse.CODE_ALL, "change"),
            (PeopleUse.CODE_UNKNOWN, "change"),  # no user has the new address, or it is refused
        )
        await sources.limits.ask(TakePeople(uses))
        over_at = now_ms + CHANGE_MS
        new = EmailChange(sources.ids.new("chg"), user_id, address, False, False, 0, over_at)
        begun = await sources.users.begin_email_change(by, new, now_ms)
        sources.owed()
        return begun

    async def confirm_email(
        self, user_id: str, old_code: str | None, new_code: str | None, by: AuditEntry
    ) -> tuple[User, EmailChange | None]:
        """Judge one code or both; with the second of them the address is changed.

        Raises:
            Conflict: the codes have expired, or another user has the address.
        """
        sources, now_ms = self._sources, self._sources.now_ms()
        judge = partial(self._judged, old_code=old_code, new_code=new_code)
        try:
            answer = await sources.users.confirm_email_change(by, user_id, judge, now_ms)
        finally:
            self._sessions.forget(user_id)
        sources.owed()
        return answer

    def _judged(
        self, change: EmailChange, old_code: str | None, new_code: str | None
    ) -> EmailChange:
        """A wrong code counts, whichever of the two it is."""
        old = change.old_confirmed or self._matches(old_code, change, "old")
        new = change.new_confirmed or self._matches(new_code, change, "new")
        wrong = (old_code is not None and not old) or (new_code is not None and not new)
        attempts = change.attempts + (1 if wrong else 0)
        return replace(change, old_confirmed=old, new_confirmed=new, attempts=attempts)

    def _matches(self, code: str | None, change: EmailChange, which: str) -> bool:
        if code is None:
            return False
        codes, guess = self._sources.derived.address_codes, "".join(code.split())
        return codes.matches(guess, change_basis(change.id, which), CODE_DIGITS, test=False)


def change_basis(change_id: str, which: str) -> str:
    """What the code to the ``old`` or the ``new`` address is derived from."""
    return f"{change_id} {which}"
