"""What people do with the guard: see what was suspicious and why, choose what becomes of a key's
suspicious codes, reserve codes for secret keys, and let codes pass."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.features.pumping.guarding import (
    GuardedOrganization,
    Guarding,
    asks_challenges,
    reserved,
)
from risala.engine.features.pumping.records import (
    FACES,
    GUARD,
    NAME,
    PASS_DAYS,
    SHARE_MAX,
    GuardedKey,
    GuardReaction,
    ShownGuard,
    SuspiciousCodes,
)
from risala.engine.features.pumping.rules.groups import DAY_MS, CodeGroup, GroupKind
from risala.engine.features.pumping.settling import Settling
from risala.engine.features.pumping.stored import PumpingRepository, SuspicionRow
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeFlag,
    OfOrganization,
    fault,
    maybe,
    one_of,
    text,
    whole,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.records.keys import ApiKey, KeyType
from risala.engine.model.states import Mode
from risala.engine.rules.roles import DEVELOPERS, OWNERS, READERS, VIEWERS
from risala.engine.services import Services

_CHOSEN: Final = (GuardReaction.WATCH.value, GuardReaction.REFUSE.value)
"""Challenges are switched on with the key itself."""


def _share(value: object) -> int:
    share = whole(value)
    if not 0 <= share <= SHARE_MAX:
        raise fault("out_of_range", f"`{{name}}` must be from 0 to {SHARE_MAX} per cent.")
    return share


def _group(value: object) -> CodeGroup:
    kind, _, name = text(value).partition(":")
    try:
        return CodeGroup(GroupKind(kind), name)
    except ValueError:
        parts = ", ".join(GroupKind)
        words = f"`{{name}}` must be one of {parts}, a colon, and its name: block:+22241234."
        raise fault("invalid_group", words) from None


class SetGuard(OfOrganization):
    """Show an organization's guard against pumped codes, after changing what is given."""

    key_id: Annotated[str | None, PlainValidator(maybe(text)), ArgumentKind("id of a key")] = None
    """The key whose reaction is meant; ``faces``: all credentials of other software."""
    reaction: Annotated[
        str | None,
        PlainValidator(maybe(one_of("invalid_reaction", _CHOSEN))),
        ArgumentKind(f"one of {', '.join(_CHOSEN)}"),
    ] = None
    """What becomes of its suspicious codes."""
    secret_share: Annotated[
        int | None,
        PlainValidator(maybe(_share)),
        ArgumentKind(f"per cent, from 0 to {SHARE_MAX}"),
    ] = None
    """The share of the codes an hour that only secret keys may use."""
    group: Annotated[
        CodeGroup | None, PlainValidator(maybe(_group)), ArgumentKind("such as block:+22241234")
    ] = None
    """What passes, or is held back again."""
    passes: MaybeFlag = None
    """Whether its codes pass, for a week; without it, they do."""


OPERATIONS: Final = Operations()


@OPERATIONS(
    GUARD,
    roles=VIEWERS,
    operators=READERS,
    reserved={
        "key_id": OWNERS,
        "reaction": OWNERS,
        "secret_share": OWNERS,
        "group": DEVELOPERS,
        "passes": DEVELOPERS,
    },
    owner=owners.named,
    changes=ShownGuard,
)
async def _guard(call: Call[SetGuard]) -> ShownGuard:
    arguments, organization_id = call.arguments, call.arguments.organization_id
    call.services.accounts.organization(organization_id)
    if arguments.reaction is not None or arguments.key_id is not None:
        await _react(call)
    if arguments.secret_share is not None:
        by = call.audit(
            organization_id=organization_id, details={"secret_share": arguments.secret_share}
        )
        await call.stored(PumpingRepository).set_share(by, organization_id, arguments.secret_share)
    if arguments.group is not None:
        await _let(call, arguments.group)
    whose = _organization(call.services, organization_id)
    whose.read_settings()
    return await _shown(call, whose)


async def _react(call: Call[SetGuard]) -> None:
    arguments = call.arguments
    if arguments.key_id is None or arguments.reaction is None:
        path = "key_id" if arguments.key_id is None else "reaction"
        raise Invalid(path, "required", "`key_id` and `reaction` are given together.")
    organization_id, key_id = arguments.organization_id, arguments.key_id
    if key_id != FACES:
        key = call.services.accounts.key(key_id)
        if key.organization_id != organization_id or key.mode is Mode.TEST:
            raise NotFound("The organization has no such live key.")
    details = {"key_id": key_id, "reaction": arguments.reaction}
    by = call.audit(organization_id=organization_id, details=details)
    reaction = GuardReaction(arguments.reaction)
    await call.stored(PumpingRepository).set_reaction(by, organization_id, key_id, reaction)


async def _let(call: Call[SetGuard], group: CodeGroup) -> None:
    """Let codes pass for a week, or hold them back again."""
    organization_id = call.arguments.organization_id
    until = None
    if call.arguments.passes is not False:
        until = call.now_ms + PASS_DAYS * DAY_MS
    await call.part(Settling).write()  # what is suspicious since a moment has its row
    details = {"kind": group.kind.value, "name": group.name, "passes": until is not None}
    by = call.audit(organization_id=organization_id, details=details)
    stored = call.stored(PumpingRepository)
    if not await stored.set_pass(by, organization_id, group, until):
        raise NotFound("No code of this group was suspicious: it passes already.")
    passes = _organization(call.services, organization_id).windows.passes
    if until is None:
        passes.pop(group, None)
    else:
        passes[group] = until


def _organization(services: Services, organization_id: str) -> GuardedOrganization:
    part = services.session_features.part(NAME)
    assert isinstance(part, Guarding)
    return part.organization(organization_id)


async def _shown(call: Call[Any], whose: GuardedOrganization) -> ShownGuard:
    services, organization_id = call.services, call.arguments.organization_id
    await call.part(Settling).write()
    settings = services.code_settings(organization_id)
    price = _price(services, organization_id)
    return ShownGuard(
        organization_id,
        whose.secret_share,
        reserved(settings.per_organization_per_hour, whose.secret_share),
        (
            *(
                _key(each, whose)
                for each in services.accounts.list_keys(organization_id)
                if each.mode is Mode.LIVE
            ),
            _faces(whose),
        ),
        tuple(
            _codes(each, whose, price, call.now_ms)
            for each in call.stored(PumpingRepository).suspicions_of(organization_id)
        ),
    )


def _key(key: ApiKey, whose: GuardedOrganization) -> GuardedKey:
    reaction = whose.reactions.get(key.id, GuardReaction.WATCH)
    if reaction is GuardReaction.WATCH and asks_challenges(key):
        reaction = GuardReaction.CHALLENGE
    return GuardedKey(key.id, key.name, key.type, key.last4, reaction)


def _faces(whose: GuardedOrganization) -> GuardedKey:
    """All credentials of other software: they cannot answer a challenge."""
    reaction = whose.reactions.get(FACES, GuardReaction.WATCH)
    return GuardedKey(FACES, None, KeyType.SECRET, "", reaction)


def _codes(
    row: SuspicionRow, whose: GuardedOrganization, price: int, now_ms: int
) -> SuspiciousCodes:
    group = CodeGroup(GroupKind(row.kind), row.name)
    passes = row.passes_until if row.passes_until is not None else 0
    return SuspiciousCodes(
        kind=row.kind,
        name=row.name,
        first_at=row.first_at,
        last_at=row.last_at,
        missed=round(row.missed, 1),
        entered=round(row.entered, 1),
        half_life_s=row.half_life_ms // 1000,
        usual_missed=round(row.usual_missed, 1),
        usual_entered=round(row.usual_entered, 1),
        factor=row.factor,
        watched=row.watched,
        challenged=row.challenged,
        refused=row.refused,
        cost=price * (row.watched + row.challenged + row.refused),
        is_held=whose.windows.is_held(group, now_ms),
        passes_until=passes if passes > now_ms else None,
    )


def _price(services: Services, organization_id: str) -> int:
    """What a code costs in the organization's own words, in minor units."""
    organization = services.accounts.organization(organization_id)
    settings = services.code_settings(organization_id)
    segments = next(size.segments for _, size in settings.sizes())
    return segments * services.intake.prices.per_segment_of(organization)
