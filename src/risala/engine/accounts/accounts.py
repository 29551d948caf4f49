"""Organizations, keys and senders: looked up at every request, so cached; dropped when written.

The journal is the truth. A cache entry is read from it on the loop thread, by an index, and
dropped, synchronously, by the same call that committed the change.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple

from risala.engine.accounts.key_values import digest_of, new_value
from risala.engine.accounts.last_uses import LastUses, UsedPlaces
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.journal.accounts.accounts import OrganizationRepository
from risala.engine.journal.accounts.keys import KeyRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.clock import Clock
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Forbidden, Invalid, KeyExpired, Unauthorized
from risala.engine.model.ids import IdSource
from risala.engine.model.origins import ranges_of
from risala.engine.model.records.fields import NAME_MAX
from risala.engine.model.records.keys import (
    ApiKey,
    CreatedKey,
    KeyChallenge,
    KeyPlace,
    KeyType,
    NewValue,
)
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.states import Mode
from risala.engine.rules.days import day_of, is_zone
from risala.engine.rules.people import key_age
from risala.engine.rules.people.names import NameTooLong, UnfitName, name_in_mails

KEYS_CACHED_MAX: Final = 10_000
"""About 5 MB; more keys than this in use at once cost one indexed read each."""
KEY_CHARACTERS_MAX: Final = 128
"""Characters of a key at most: a longer header is no key, and is refused without hashing it."""


KeyUse = tuple[int, str | None]
"""When a key was used, and from which address."""


class _KnownKey(NamedTuple):
    key: ApiKey
    principal: Principal
    """The key's holder: the same for each request."""
    until: int | None
    """When this value of the key expires, UTC epoch milliseconds; None: never."""


class Accounts:
    def __init__(
        self,
        stored: OrganizationRepository,
        keys: KeyRepository,
        clock: Clock,
        ids: IdSource,
        time_zone: str,
        key_age_days: int | None,
        set_aside: SetAsideItems,
    ) -> None:
        """
        Args:
            time_zone: of new organizations, until their owners choose another.
            key_age_days: the most days that a key's value works, by the service's own rule.
            set_aside: where a key's use that cannot be written is named.
        """
        self._stored = stored
        self._stored_keys = keys
        self._clock = clock
        self._ids = ids
        self._time_zone = time_zone
        self._key_age_days = key_age_days
        self._keys: OrderedDict[bytes, _KnownKey] = OrderedDict()
        self._organizations: dict[str, Organization] = {}
        self.uses: LastUses[KeyUse] = LastUses("keys", keys.touch, set_aside.loop("uses"))
        self.places = UsedPlaces(keys.note_places, set_aside.loop("uses"))
        self.changed: Broadcast[str] = Broadcast()
        """Organizations that were changed, or one of whose senders was."""

    # -- authentication

    def authenticate(self, value: str, address: str | None = None) -> Principal:
        """The holder of this key.

        Args:
            address: the client's, to be noted as the last one; None: unknown.

        Raises:
            KeyExpired: the key's time is over.
            Unauthorized: the key is unknown, deleted or disabled.
            Forbidden: its organization is not active.
        """
        if not value or len(value) > KEY_CHARACTERS_MAX:
            raise Unauthorized
        digest = digest_of(value)
        known = self._keys.get(digest)
        if known is None:
            known = self._find(digest)
        key, principal, until = known
        now_ms = self._clock.now_ms()
        if until is not None and now_ms >= until:
            raise _over(key, now_ms)
        if not key.enabled:
            raise Unauthorized("The API key is disabled.")
        if self.organization(key.organization_id).status != "active":
            raise Forbidden("The organization of this API key is not active.")
        place = address if principal.type is KeyType.SECRET else None
        self.uses.note(key.id, (now_ms, place))
        if place is not None:
            self.places.note(key.id, place, now_ms)
        return principal

    def _find(self, digest: bytes) -> _KnownKey:
        """The key of a value that is not in memory; raises ``Unauthorized``."""
        old_until = None
        key = self._stored_keys.of_digest(digest)
        if key is None:
            key = self._stored_keys.of_old_digest(digest)
            if key is None:
                raise Unauthorized
            old_until = key.old_until or 0
        ends = [at for at in (old_until, key.expires_at) if at is not None]
        addresses = None if key.allowed_addresses is None else ranges_of(key.allowed_addresses)
        principal = Principal(
            key.organization_id,
            key.id,
            key.type,
            key.mode,
            key.allowed_origins,
            addresses,
            without_id=key.without_id,
            challenge=key.challenge,
        )
        known = self._keys[digest] = _KnownKey(key, principal, min(ends, default=None))
        if len(self._keys) > KEYS_CACHED_MAX:
            self._keys.popitem(last=False)
        return known

    def organization(self, organization_id: str) -> Organization:
        """An organization's name, status and price (its balance may be outdated).

        Raises:
            NotFound: no organization has this id.
        """
        known = self._organizations.get(organization_id)
        if known is None:
            known = self._stored.organization(organization_id)
            if len(self._organizations) >= KEYS_CACHED_MAX:
                self._organizations.clear()
            self._organizations[organization_id] = known
        return known

    # -- operators

    def fresh_organization(self, organization_id: str) -> Organization:
        """An organization with its present balance, and what it has spent today.

        Raises:
            NotFound: no organization has this id.
        """
        organization = self._stored.organization(organization_id)
        today = day_of(organization.time_zone, self._clock.now_ms())
        return replace(organization, spent_today=self._stored.spent(organization_id, today))

    async def create_organization(
        self,
        name: str,
        currency: str,
        price_per_segment: int | None,
        *,
        by: AuditEntry | None = None,
    ) -> Organization:
        """Create an active organization with no balance.

        Raises:
            Invalid: the name is empty or too long.
        """
        organization = self.draft_organization(name, currency, price_per_segment)
        return await self._stored.add(by, organization)

    def draft_organization(
        self, name: str, currency: str, price_per_segment: int | None = None
    ) -> Organization:
        """An organization that is not stored yet.

        Raises:
            Invalid: the name is empty or too long.
        """
        return Organization(
            id=self._ids.new("org"),
            name=_organization_name(name),
            status="active",
            balance=0,
            currency=currency,
            price_per_segment=price_per_segment,
            smart_encoding=False,
            lean_answers=False,
            factor_required=False,
            key_age_days=None,
            sms_per_s=None,
            low_balance=None,
            operator_spend_cap=None,
            owner_spend_cap=None,
            spent_today=None,
            time_zone=self._time_zone,
            created_at=self._clock.now_ms(),
        )

    async def set_status(
        self, organization_id: str, status: str, *, by: AuditEntry | None = None
    ) -> Organization:
        """Suspend or resume.

        Raises:
            NotFound: no organization has this id.
        """
        try:
            return await self._stored.set_status(by, organization_id, status)
        finally:
            self._forget(organization_id)

    async def change(
        self,
        organization_id: str,
        changes: Mapping[str, object],
        *,
        by: AuditEntry | None = None,
    ) -> Organization:
        """Change what can be set of an organization: fields by their names.

        Raises:
            NotFound: no organization has this id.
            Invalid: the name is empty or too long.
        """
        zone = changes.get("time_zone")
        if isinstance(name := changes.get("name"), str):
            changes = {**changes, "name": _organization_name(name)}
        if isinstance(zone, str) and not is_zone(zone):
            text = "`time_zone` is the name of a time zone, such as Africa/Nouakchott."
            raise Invalid("time_zone", "invalid_time_zone", text)
        try:
            await self._stored.change(by, organization_id, changes)
        finally:
            self._forget(organization_id)
        if "key_age_days" in changes:
            await self.date_old_keys()
        return self.fresh_organization(organization_id)

    async def create_key(
        self,
        organization_id: str,
        key_type: KeyType,
        mode: Mode,
        *,
        by: AuditEntry | None = None,
        **settings: Any,  # noqa: ANN401 -- fields of a key
    ) -> CreatedKey:
        """Create a key; its value exists only in the answer.

        Args:
            settings: the other fields of :class:`ApiKey` that can be set.

        Raises:
            NotFound: no such organization.
            Invalid: the name is not safe to show; origins for a secret key; it would have
                expired already, or work for longer than keys may.
            Conflict: the organization has too many.
        """
        if settings.get("name") is not None:
            settings = {**settings, "name": safe_name(settings["name"])}
        expires_at, now_ms = settings.get("expires_at"), self._clock.now_ms()
        self._refuse_past_expiry(expires_at)
        latest = self._latest(organization_id, now_ms)
        settings = {**settings, "expires_at": key_age.bounded(expires_at, latest, now_ms)}
        _refuse_origins_of_secrets(key_type, settings.get("allowed_origins"))
        value = new_value(key_type, mode)
        key = ApiKey(
            id=self._ids.new("key"),
            organization_id=organization_id,
            type=key_type,
            mode=mode,
            last4=value[-4:],
            enabled=True,
            created_at=now_ms,
            last_used_at=None,
            **settings,
        )
        return CreatedKey(await self._stored_keys.add(by, key, digest_of(value)), value)

    def list_keys(self, organization_id: str) -> list[ApiKey]:
        """Keys of an organization, oldest first.

        Raises:
            NotFound: no such organization.
        """
        self._stored.organization(organization_id)
        return [self._of_now(key) for key in self._stored_keys.of_organization(organization_id)]

    def age_days(self, organization_id: str) -> int | None:
        """The most days that a value of its keys works; None: for ever.

        Raises:
            NotFound: no organization has this id.
        """
        own = self.organization(organization_id).key_age_days
        return key_age.age_days(own, self._key_age_days)

    def _latest(self, organization_id: str, made_at: int) -> int | None:
        """The latest time that a value may work; None: there is no rule."""
        days = self.age_days(organization_id)
        return None if days is None else made_at + days * key_age.DAY_MS

    async def date_old_keys(self) -> None:
        """Give a date to keys that work for longer than they may."""
        if self._key_age_days is None and not self._stored_keys.has_age_rule():
            return
        now_ms, has_changed = self._clock.now_ms(), False
        while await self._stored_keys.date_keys(self._key_age_days, now_ms):
            has_changed = True
        if has_changed:
            self.forget_keys()

    def places_of(self, key_id: str) -> list[KeyPlace]:
        """The networks where a key was used, the last one first.

        Raises:
            NotFound: no key has this id.
        """
        self.key(key_id)
        return self._stored_keys.places(key_id)

    def _of_now(self, key: ApiKey) -> ApiKey:
        """A key without its former value, if that has expired."""
        if key.old_until is None or key.old_until > self._clock.now_ms():
            return key
        return replace(key, old_last4=None, old_until=None)

    async def set_key_enabled(
        self, key_id: str, *, enabled: bool, by: AuditEntry | None = None
    ) -> ApiKey:
        """Enable or disable a key, at once.

        Raises:
            NotFound: no key has this id.
        """
        with self._forgetting(key_id):
            return await self._stored_keys.set_enabled(by, key_id, enabled=enabled)

    def key(self, key_id: str) -> ApiKey:
        """One key.

        Raises:
            NotFound: no key has this id.
        """
        return self._of_now(self._stored_keys.key(key_id))

    async def change_key(
        self, key_id: str, changes: Mapping[str, Any], *, by: AuditEntry | None = None
    ) -> ApiKey:
        """Change a key's settings, at once: fields of :class:`ApiKey` by their names.

        Raises:
            NotFound: no key has this id.
            Invalid: origins or a challenge for a secret key; an expiry that is over, or later than
                it may be.
        """
        key, now_ms = self.key(key_id), self._clock.now_ms()
        _refuse_origins_of_secrets(key.type, changes.get("allowed_origins"))
        _refuse_challenge_of_secrets(key.type, changes.get("challenge"))
        self._refuse_past_expiry(changes.get("expires_at"))
        latest = self._latest(key.organization_id, key.made_at)
        if "expires_at" in changes and latest is not None:
            latest = max(latest, key.expires_at or 0)
            at = key_age.bounded(changes["expires_at"], latest, now_ms)
            changes = {**changes, "expires_at": at}
        with self._forgetting(key_id):
            return await self._stored_keys.change(by, key_id, changes)

    async def rotate_key(
        self, key_id: str, overlap_s: int, *, by: AuditEntry | None = None
    ) -> CreatedKey:
        """Give a key another value, which exists only in the answer. If keys have a maximum age,
        the time starts again.

        Args:
            overlap_s: how long the present value stays valid beside it. One that is still valid
                from an earlier rotation ends at once.

        Raises:
            NotFound: no key has this id.
        """
        key = self.key(key_id)
        value = new_value(key.type, key.mode)
        now_ms, ends = self._clock.now_ms(), key.expires_at
        days = self.age_days(key.organization_id)
        expires = key_age.renewed(ends, key.made_at, now_ms, days)
        until = now_ms + overlap_s * 1000 if overlap_s else None
        if expires != ends and until is not None and ends is not None:
            until = min(until, ends) if ends > now_ms else None
        new = NewValue(digest_of(value), value[-4:], now_ms, expires)
        with self._forgetting(key_id):
            made = await self._stored_keys.rotate(by, key_id, new, until)
        return CreatedKey(made, value)

    async def end_old_value(self, key_id: str, *, by: AuditEntry | None = None) -> ApiKey:
        """End a key's former value, at once.

        Raises:
            NotFound: no key has this id.
        """
        with self._forgetting(key_id):
            return await self._stored_keys.end_old_value(by, key_id)

    async def delete_key(self, key_id: str, *, by: AuditEntry | None = None) -> ApiKey:
        """Delete a key for good.

        Raises:
            NotFound: no key has this id.
        """
        with self._forgetting(key_id):
            return await self._stored_keys.delete(by, key_id)

    def forget_organization(self, organization_id: str) -> None:
        """Drop an organization and its keys from the cache, because it was written elsewhere."""
        self._forget(organization_id)
        for digest, known in [*self._keys.items()]:
            if known.key.organization_id == organization_id:
                del self._keys[digest]
                self.uses.forget(known.key.id)

    def _forget(self, organization_id: str) -> None:
        self._organizations.pop(organization_id, None)
        self.changed.publish(organization_id)

    @contextmanager
    def _forgetting(self, key_id: str) -> Iterator[None]:
        """Drop a key from the cache, even if writing it fails."""
        try:
            yield
        finally:
            for digest in [d for d, known in self._keys.items() if known.key.id == key_id]:
                del self._keys[digest]

    def _refuse_past_expiry(self, expires_at: int | None) -> None:
        if expires_at is not None and expires_at <= self._clock.now_ms():
            text = "The expiry must be in the future. To stop a key at once, disable it."
            raise Invalid("expires_at", "past_time", text)

    def forget_keys(self) -> None:
        """Read all keys again: their times have changed."""
        self._keys.clear()


def _over(key: ApiKey, now_ms: int) -> Unauthorized:
    """Why a value no longer works, one of whose ends is over."""
    if key.expires_at is not None and now_ms >= key.expires_at:
        return KeyExpired()
    return Unauthorized(
        "The API key was rotated, and this old value no longer works. Use the new value."
    )


def _organization_name(name: str) -> str:
    name = safe_name(name)
    if not name:
        raise Invalid("name", "invalid_name", f"A name must have 1 to {NAME_MAX} characters.")
    return name


def safe_name(text: str) -> str:
    """A name that others read in mails, in its one form; it may be empty.

    Raises:
        Invalid: it is too long, has a link, or control characters.
    """
    try:
        return name_in_mails(text, NAME_MAX)
    except NameTooLong:
        sentence = f"A name can have at most {NAME_MAX} characters."
        raise Invalid("name", "invalid_name", sentence) from None
    except UnfitName as error:
        raise Invalid("name", "unsafe_name", str(error)) from None


def _refuse_origins_of_secrets(key_type: KeyType, origins: tuple[str, ...] | None) -> None:
    if origins is not None and key_type is not KeyType.PUBLISHABLE:
        text = "A secret key cannot have allowed origins. Never use it in a browser."
        raise Invalid("allowed_origins", "not_publishable", text)


def _refuse_challenge_of_secrets(key_type: KeyType, when: KeyChallenge | None) -> None:
    if when not in (None, KeyChallenge.NEVER) and key_type is not KeyType.PUBLISHABLE:
        text = "A secret key asks no challenge: your server decides who gets a code."
        raise Invalid("challenge", "not_publishable", text)
