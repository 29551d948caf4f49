"""Hooks: made, changed, deleted, and found by their id.

As with keys: the journal is the truth, a cache entry is dropped by the same call that committed a
change, and a secret that is not needed to check signatures is kept as a hash alone.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.accounts.accounts import safe_name
from risala.engine.accounts.last_uses import LastUses
from risala.engine.features.hooks.records import NUMBERS_MAX, AddressedHook, Hook, MadeHook
from risala.engine.features.hooks.rules.presets import CUSTOM, Preset, custom_preset, preset
from risala.engine.features.hooks.rules.requests import HookFault, HookProof, HookSecrets, known_of
from risala.engine.features.hooks.stored import HookRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Invalid, NotFound, SecretLost
from risala.engine.model.origins import ranges_of
from risala.engine.model.records.keys import KeyType
from risala.engine.rules.sealing import SecretPurpose
from risala.engine.rules.webhooks.signatures import new_secret
from risala.engine.services import Services

REMEMBERED_MAX: Final = 10_000
"""Hooks in memory; more than these in use at once cost two indexed reads each."""
FACE: Final = "hook"
"""What the timeline of a hook's message says of the way it came."""
SECRET_CHARACTERS: Final = 32
SECRET_CHARACTERS_MIN: Final = 16
"""The least length of a secret that its program made."""
SECRET_CHARACTERS_MAX: Final = 256
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class KnownHook:
    """A hook in memory, with all that a request to it needs."""

    hook: Hook
    preset: Preset
    principal: Principal
    secrets: HookSecrets | None
    """None: they cannot be opened."""
    old_until: int | None

    def secrets_at(self, now_ms: int) -> HookSecrets:
        """The secrets that prove a caller at this time.

        Raises:
            SecretLost: they cannot be opened: nobody can prove anything.
        """
        if self.secrets is None:
            raise SecretLost(SecretPurpose.HOOK_SECRET, self.hook.id)
        if self.old_until is None or now_ms < self.old_until:
            return self.secrets
        return HookSecrets(self.secrets.current)


class HookRegistry:
    """See the module's text."""

    def __init__(self, services: Services) -> None:
        self._accounts = services.accounts
        self._stored = services.repositories.part(HookRepository)
        self._clock = services.recorder.clock
        self._ids = services.ids
        self._public_url = services.public_url
        self._known: OrderedDict[str, KnownHook] = OrderedDict()
        self.uses = LastUses("hooks", self._stored.touch, services.set_aside.loop("uses"))

    # -- for requests

    def find(self, hook_id: str) -> KnownHook | None:
        """A hook by its id; None: there is none."""
        known = self._known.get(hook_id)
        if known is not None:
            return known
        try:
            hook = self._stored.hook(hook_id)
        except NotFound:
            return None
        program = preset_of(hook)
        if isinstance(program, HookFault):  # of a version that knew another preset
            return None
        allowed = hook.allowed_addresses
        principal = Principal(
            hook.organization_id,
            hook.id,
            KeyType.SECRET,
            hook.mode,
            allowed_addresses=None if allowed is None else ranges_of(allowed),
            face=FACE,
        )
        try:
            stored = self._stored.secrets(hook_id)
        except SecretLost:  # not remembered: the key may come back
            return KnownHook(hook, program, principal, None, None)
        proved_by = HookSecrets(stored.secret, stored.old_secret)
        known = self._known[hook_id] = KnownHook(
            hook, program, principal, proved_by, stored.old_until
        )
        if len(self._known) > REMEMBERED_MAX:
            self._known.popitem(last=False)
        return known

    def is_active(self, known: KnownHook) -> bool:
        """Whether its organization is active, and the hook is not disabled."""
        status = self._accounts.organization(known.hook.organization_id).status
        return known.hook.disabled_at is None and status == "active"

    def used(self, hook_id: str) -> None:
        """Note that a program proved itself."""
        self.uses.note(hook_id, self._clock.now_ms())

    # -- by hand

    async def create(
        self,
        hook: Hook,
        program_secret: str | None,
        *,
        by: AuditEntry | None = None,
    ) -> MadeHook:
        """Store a hook.

        Args:
            hook: without its id, times and ends, which are made here.
            program_secret: the secret that its program made; None: it is made here.

        Raises:
            NotFound: no such organization.
            Invalid: there is no such preset, or a value does not fit it.
            Conflict: the organization has too many.
        """
        program = self._checked(hook)
        name = None if hook.name is None else safe_name(hook.name)
        secret, known = _secret(HookProof(hook.proof), program_secret, program)
        new = replace(
            hook,
            id=self._ids.new("hok"),
            name=name,
            last4=secret[-4:],
            created_at=self._clock.now_ms(),
        )
        made = await self._stored.add(by, new, known)
        return self._made(made, program, secret, program_secret)

    def addressed(self, hook_id: str) -> AddressedHook:
        """One hook with its address.

        Raises:
            NotFound: the id is unknown.
        """
        hook = self._stored.hook(hook_id)
        return self._addressed(hook, "{secret}")

    def of_organization(self, organization_id: str) -> list[Hook]:
        """The hooks of an organization, the oldest first.

        Raises:
            NotFound: no such organization.
        """
        self._accounts.organization(organization_id)
        return self._stored.of_organization(organization_id)

    async def change(
        self, hook_id: str, values: Mapping[str, Any], *, by: AuditEntry | None = None
    ) -> Hook:
        """Change settings of a hook.

        Raises:
            NotFound: the id is unknown.
            Invalid: a value does not fit its preset.
        """
        if values.get("name") is not None:
            values = {**values, "name": safe_name(values["name"])}
        changed = replace(self._stored.hook(hook_id), **values)
        self._checked(changed)
        try:
            return await self._stored.change(by, hook_id, values)
        finally:
            self._known.pop(hook_id, None)

    async def rotate(
        self,
        hook_id: str,
        program_secret: str | None,
        overlap_s: int,
        *,
        by: AuditEntry | None = None,
    ) -> MadeHook:
        """Give a hook a new secret; the present one works too for a while.

        Raises:
            NotFound: the id is unknown.
            Invalid: the given secret cannot be used.
        """
        hook = self._stored.hook(hook_id)
        program = self._checked(hook)
        secret, known = _secret(HookProof(hook.proof), program_secret, program)
        until = self._clock.now_ms() + overlap_s * 1000 if overlap_s else None
        try:
            made = await self._stored.rotate(by, hook_id, known, secret[-4:], until)
        finally:
            self._known.pop(hook_id, None)
        return self._made(made, program, secret, program_secret)

    async def delete(self, hook_id: str, *, by: AuditEntry | None = None) -> Hook:
        """Delete a hook: at once, and for good.

        Raises:
            NotFound: the id is unknown.
        """
        try:
            return await self._stored.delete(by, hook_id)
        finally:
            self._known.pop(hook_id, None)

    def organization_changed(self, organization_id: str) -> None:
        """Forget the hooks of an organization that was deleted: they were deleted with it."""
        for hook_id, known in [*self._known.items()]:
            if known.hook.organization_id == organization_id:
                del self._known[hook_id]

    def _made(
        self, made: Hook, program: Preset, secret: str, program_secret: str | None
    ) -> MadeHook:
        shown = program.pasted(HookProof(made.proof), secret)
        return MadeHook(
            self._addressed(made, secret), None if program_secret is not None else shown
        )

    def _addressed(self, hook: Hook, secret: str) -> AddressedHook:
        end = f"/{secret}" if hook.proof == HookProof.PATH else ""
        url = f"{self._public_url}/hooks/{hook.id}{end}"
        values = {each.name: getattr(hook, each.name) for each in fields(hook)}
        return AddressedHook(**values, url=url)

    def _checked(self, hook: Hook) -> Preset:
        """The preset of a hook whose values fit it."""
        program = preset_of(hook)
        if isinstance(program, HookFault):
            raise Invalid(program.code.removeprefix("invalid_"), program.code, program.sentence)
        if hook.proof not in program.proofs:
            text = f"{program.title} authenticates with {' or '.join(program.proofs)}."
            raise Invalid("proof", "invalid_proof", text)
        if program.to == "fixed" and not hook.numbers and hook.alarm is None:
            text = f"{program.title} names no recipient: give the numbers that get its messages."
            raise Invalid("numbers", "missing_numbers", text)
        if program.to != "fixed" and (hook.numbers or hook.alarm is not None):
            text = f"{program.title} names the recipient in each request: give no numbers."
            name = "numbers" if hook.numbers else "alarm"
            raise Invalid(name, f"unexpected_{name}", text)
        if len(hook.numbers or ()) > NUMBERS_MAX:
            text = f"A hook sends to at most {NUMBERS_MAX} numbers."
            raise Invalid("numbers", "too_many_recipients", text)
        return program


def preset_of(hook: Hook) -> Preset | HookFault:
    """How a hook's program calls, or why nobody knows."""
    if hook.preset == CUSTOM:
        return custom_preset(hook.mapping or "")
    program = preset(hook.preset)
    if program is None:
        return HookFault("invalid_preset", "There is no preset of this name.")
    if hook.mapping is not None:
        return HookFault("invalid_mapping", "Only a custom hook has a mapping of its own.")
    return program


def _secret(proof: HookProof, program_secret: str | None, program: Preset) -> tuple[str, bytes]:
    """A secret, and what is kept of it."""
    of_program = proof.is_made_by_program or program.secret_from == "program"  # noqa: S105
    if program_secret is None and of_program:
        text = f"{program.title} makes the secret itself: give the one that it shows."
        raise Invalid("secret", "missing_secret", text)
    secret = _new_secret(proof) if program_secret is None else program_secret.strip()
    is_short = len(secret) < SECRET_CHARACTERS_MIN or len(secret) > SECRET_CHARACTERS_MAX
    known = None if is_short else known_of(proof, secret)
    if known is None:
        text = "The secret is not one that its program makes: copy it whole, and nothing else."
        if is_short and not proof.signs:
            text = f"A secret has {SECRET_CHARACTERS_MIN} to {SECRET_CHARACTERS_MAX} characters."
        raise Invalid("secret", "invalid_secret", text)
    return secret, known


def _new_secret(proof: HookProof) -> str:
    if proof.signs:
        return new_secret()
    return "".join(secrets.choice(_ALPHABET) for _ in range(SECRET_CHARACTERS))
