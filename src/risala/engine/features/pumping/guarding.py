"""The guard's kind in verification sessions: each live code that a key asks for is judged before
anything is stored of it, from memory alone.

What became of a code is read later (:mod:`~risala.engine.features.pumping.settling`). Counts are in
memory for the organizations that send codes now, and are written from time to time: a kill loses
those of half a minute, and the codes whose end is not known yet, which then count against nobody.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.pumping.records import FACES, NAME, GuardReaction
from risala.engine.features.pumping.rules.groups import CodeGroup, GroupKind, groups_of
from risala.engine.features.pumping.rules.judging import (
    GroupSuspicion,
    Windows,
    counted_in,
)
from risala.engine.features.pumping.stored import PumpingRepository, SuspiciousCount
from risala.engine.model.commands import Principal
from risala.engine.model.errors import RateLimited
from risala.engine.model.records.keys import KeyChallenge, KeyType
from risala.engine.model.states import Mode
from risala.engine.rules.sealing import Seal
from risala.engine.rules.verification import VerificationRow
from risala.engine.rules.verify_settings import VerifySettings
from risala.engine.services import Services
from risala.engine.verify.session_features import NOTHING, CodeCheck, Opening, SessionSources

ORGANIZATIONS_MAX: Final = 50
"""Organizations whose counts are in memory: at most some 25 MB, if each of them fills its own. The
one that sent no code for longest is read again when it does."""
PENDING_MAX: Final = 10_000
"""Codes whose end is not known yet, about 1 kB each; beyond it the oldest one counts against
nobody."""
KEY_PREFIX: Final = "key_"
"""How ids of keys begin; codes that people send by hand have none."""
PUMPED: Final = (
    "Too many codes like this one were asked for and never entered. Wait, then try again; or let"
    " your organization's owner see the guard's page."
)


@dataclass(frozen=True, slots=True)
class PendingCode:
    """A code that was asked for, until it is known what became of it."""

    organization_id: str
    number: str
    groups: Sequence[CodeGroup]
    """The groups in which the code counts."""
    at_ms: int
    probe: GroupKind | None = None
    """The code passed to learn whether it is entered."""
    is_missed: bool = False
    """The code counts as missed, and may still be entered."""
    codes: int = 1
    """How many codes were paid for: it, and those that it was asked for instead of."""


class GuardedOrganization:
    """The counts and settings of one organization."""

    def __init__(self, stored: PumpingRepository, organization_id: str) -> None:
        self._stored, self._id = stored, organization_id
        self.windows: Windows = stored.windows(organization_id)
        self.read_settings()
        self.held: dict[CodeGroup, SuspiciousCount] = {}
        """What was suspicious since it was last written."""
        self.last_found_ms: int | None = None
        self.last_suspicion: GroupSuspicion | None = None
        self.found = 0
        """Suspicious codes since the start."""

    def read_settings(self) -> None:
        """Read what was chosen for it."""
        self.reactions: Mapping[str, GuardReaction] = self._stored.reactions(self._id)
        self.secret_share: int = self._stored.secret_share(self._id)


class Guarding:
    """A :class:`risala.engine.verify.session_features.SessionFeature`."""

    def __init__(self, sources: SessionSources) -> None:
        self.stored = sources.repositories.part(PumpingRepository)
        self.pending: OrderedDict[str, PendingCode] = OrderedDict()
        self.organizations: OrderedDict[str, GuardedOrganization] = OrderedDict()
        self.decided: Counter[str] = Counter()
        """Codes since the start, by what was decided."""
        self._by_number: dict[tuple[str, str], str] = {}
        self._seal = Seal(sources.ring, NAME)

    def organization(self, organization_id: str) -> GuardedOrganization:
        """An organization's counts, read if they are not in memory."""
        known = self.organizations.get(organization_id)
        if known is None:
            known = self.organizations[organization_id] = GuardedOrganization(
                self.stored, organization_id
            )
        self.organizations.move_to_end(organization_id)
        return known

    async def open(self, opening: Opening) -> Opening:
        principal, to = opening.principal, opening.command.to
        if opening.mode is Mode.TEST or not _is_by_key(principal):
            return opening
        whose = self.organization(opening.organization_id)
        # What costs nothing takes its place in the hour too.
        settings = _left_by(opening.settings, opening.key_type, whose.secret_share)
        opening = replace(opening, settings=settings)
        if opening.is_fixed or "@" in to:
            return opening
        groups = whose.windows.counted(self._groups(opening))
        opinion = whose.windows.judge(groups, opening.now_ms)
        probe, by_itself = None, opinion.is_vouched
        if opinion.suspicion is None:
            self.decided["pass"] += 1
        else:
            by_itself = by_itself or self.stored.was_verified(opening.organization_id, to)
            if by_itself:
                self.decided["pass"] += 1
            else:
                probe = self._react(principal, whose, opinion.suspicion, opening.now_ms)
                opening = replace(opening, is_suspicious=True)
        counted = counted_in(groups, opinion, passes_by_itself=by_itself)
        # Once it is there: one that is refused must not stand for the one before it.
        expect = partial(self._expect, opening, counted, probe)
        return replace(opening, when_open=(*opening.when_open, expect))

    def judge_again(self, principal: Principal, session: VerificationRow, now_ms: int) -> None:
        """Judge a further delivery of a code that a key asks for. It asks no challenge: the code's
        first delivery did, where the key has one.

        Raises:
            RateLimited: it is refused.
        """
        if session.mode == Mode.TEST or not _is_by_key(principal) or "@" in session.recipient:
            return
        whose = self.organization(session.organization_id)
        groups = groups_of(session.recipient, address=None, key=principal.key_id)
        opinion = whose.windows.judge(groups, now_ms)
        if opinion.suspicion is None or opinion.is_vouched:
            return
        if self.stored.was_verified(session.organization_id, session.recipient):
            return
        unasked = replace(principal, challenge=KeyChallenge.NEVER)
        probe = self._react(unasked, whose, opinion.suspicion, now_ms)
        code = self.pending.get(session.id)
        if probe is not None and code is not None:
            self.pending[session.id] = replace(code, probe=probe)

    def _groups(self, opening: Opening) -> tuple[CodeGroup, ...]:
        command, principal = opening.command, opening.principal
        address: str | None = command.client
        if principal.type is KeyType.SECRET:
            address = command.beside.get("clientIp")
        if address is not None:
            address = self._seal.mark(address, opening.organization_id)[:MARK_CHARACTERS]
        tags = command.beside.get("tags", ())[:TAGS_COUNTED]
        return groups_of(command.to, address=address, key=principal.key_id, tags=tags)

    def _react(
        self,
        principal: Principal,
        whose: GuardedOrganization,
        suspicion: GroupSuspicion,
        now_ms: int,
    ) -> GroupKind | None:
        """Do what the key's reaction says; the kind that the code passes for, to learn whether it
        is entered.

        Raises:
            RateLimited: the code is refused.
        """
        group = suspicion.group
        whose.last_found_ms, whose.last_suspicion = now_ms, suspicion
        whose.found += 1
        reaction = reaction_of(principal, whose.reactions)
        probe, wait_ms = None, 0
        if reaction is GuardReaction.REFUSE:
            wait_ms = whose.windows.probe_in_ms(group.kind, now_ms)
            if wait_ms == 0:
                reaction, probe = GuardReaction.WATCH, group.kind
        self.decided[reaction.value] += 1
        held = whose.held.get(group)
        if held is None:
            held = whose.held[group] = SuspiciousCount(now_ms)
        held.add(suspicion, reaction, now_ms)
        if reaction is GuardReaction.REFUSE:
            raise RateLimited(NAME, -(-wait_ms // 1000), PUMPED)
        return probe

    def _expect(
        self, opening: Opening, groups: Sequence[CodeGroup], probe: GroupKind | None
    ) -> None:
        organization_id, number = opening.organization_id, opening.command.to
        # Who asks again did not need the code before: it counts with the new one, once it is known
        # whether that is entered. One that is counted already stays so.
        former = self._by_number.pop((organization_id, number), None)
        before = None if former is None else self.pending.pop(former, None)
        codes = 1 if before is None or before.is_missed else 1 + before.codes
        if len(self.pending) >= PENDING_MAX:
            self.settled(next(iter(self.pending)))
        self.pending[opening.id] = PendingCode(
            organization_id, number, groups, opening.now_ms, probe, codes=codes
        )
        self._by_number[organization_id, number] = opening.id

    def settled(self, verification_id: str) -> None:
        """What became of a code is known: forget it."""
        code = self.pending.pop(verification_id, None)
        if code is not None:
            key = (code.organization_id, code.number)
            if self._by_number.get(key) == verification_id:
                del self._by_number[key]

    def refresh(self, organization_id: str) -> None:
        """Read an organization's settings again."""
        known = self.organizations.get(organization_id)
        if known is not None:
            known.read_settings()

    def code(self, session: VerificationRow) -> str | None:
        return None

    def words(self, session: VerificationRow) -> Mapping[str, str]:
        return NOTHING

    def judge(self, session: VerificationRow, check: CodeCheck) -> bool | None:
        return None

    def details(self, session: VerificationRow) -> Mapping[str, Any]:
        return NOTHING


MARK_CHARACTERS: Final = 16
"""Characters of an address's mark: 64 bits tell those of an organization apart."""
TAGS_COUNTED: Final = 2
"""Tags of a code that count: the first ones."""


def again(
    services: Services, session: VerificationRow, asker: Principal | None, key_type: KeyType
) -> VerifySettings:
    """See :attr:`~risala.engine.model.feature_work.Duty.CODE_AGAIN`."""
    guard = services.session_features.part(NAME)
    assert isinstance(guard, Guarding)
    if asker is not None:
        guard.judge_again(asker, session, services.recorder.clock.now_ms())
        key_type = asker.type
    organization_id = session.organization_id
    share = guard.organization(organization_id).secret_share
    return _left_by(services.code_settings(organization_id), key_type, share)


def reaction_of(principal: Principal, reactions: Mapping[str, GuardReaction]) -> GuardReaction:
    """What becomes of suspicious codes of a key."""
    key_id = principal.key_id if principal.face is None else FACES
    chosen = reactions.get(key_id, GuardReaction.WATCH)
    if chosen is GuardReaction.WATCH and asks_challenges(principal):
        return GuardReaction.CHALLENGE
    return chosen


def asks_challenges(key: object) -> bool:
    """Whether a key asks for a challenge where a code is suspicious."""
    return str(getattr(key, "challenge", "never")) != "never"


def _is_by_key(principal: Principal) -> bool:
    return principal.face is not None or principal.key_id.startswith(KEY_PREFIX)


def _left_by(settings: VerifySettings, key_type: KeyType, secret_share: int) -> VerifySettings:
    """A publishable key's code leaves the share that is reserved for secret ones."""
    if secret_share == 0 or key_type is KeyType.SECRET:
        return settings
    most = settings.per_organization_per_hour
    left = most - reserved(most, secret_share)
    return settings.model_copy(update={"per_organization_per_hour": left})


def reserved(per_hour: int, secret_share: int) -> int:
    """How many of the codes an hour are for secret keys alone."""
    return per_hour * secret_share // 100
