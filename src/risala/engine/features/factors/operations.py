"""Operations of a signed-in user on their second factors, and an operator's reset of them."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.features.factors.records import (
    ADD_APP,
    ADD_PASSKEY,
    BEGIN_APP,
    BEGIN_PASSKEY,
    LIST,
    REMOVE,
    RENEW_CODES,
    RESET,
    AddedFactor,
    AppSetUp,
    Factor,
    FactorList,
    PasskeySetUp,
    PasskeySite,
    RecoveryCodes,
    ResetFactors,
    ShownFactor,
    factor_view,
)
from risala.engine.features.factors.service import Factors
from risala.engine.features.factors.stored import FactorRepository
from risala.engine.kernel.arguments import (
    Arguments,
    MaybeAnyName,
    MaybeText,
    NoArguments,
    Text,
)
from risala.engine.kernel.operation import Call, Operations, Weight
from risala.engine.model.callers import CallerKind
from risala.engine.model.errors import Conflict
from risala.engine.model.people import User
from risala.engine.model.records.people.users import FactorView
from risala.engine.rules.roles import OPERATORS, USERS

_PAGES: Final = frozenset({CallerKind.DASHBOARD, CallerKind.CONSOLE})
"""Callers through which a second operator confirms a reset: an operator's session alone must not
open another's account."""
NOT_OWN: Final = "Nobody resets their own factors. Remove them on your own page."


class BeginApp(Arguments):
    nonce: MaybeText = None
    """The nonce of a set-up that goes on; None: a new one."""


class AddApp(Arguments):
    nonce: Text
    code: Text
    """The first code that the app shows."""
    name: MaybeAnyName = None
    but: Text
    """The caller's session; with the first factor, their others end."""


class BeginPasskey(Arguments):
    """What the browser is asked, for the pages at an origin."""

    host: Text
    origin: Text
    cookie: Text
    """The session's: no other browser can answer."""


class AddPasskey(BeginPasskey):
    answer: Text
    """The browser's, as JSON."""
    name: MaybeAnyName = None
    but: Text
    """The session that stays signed in, as for an app."""


class OfFactor(Arguments):
    factor_id: Text


class ResetFor(Arguments):
    email: Text


OPERATIONS: Final = Operations()
_MINE: Final[dict[str, Any]] = {"roles": USERS, "fresh_for_all": True}


def _me(call: Call[Any]) -> str:
    return call.caller.user_id or ""


@OPERATIONS(LIST, roles=USERS)
async def _list(call: Call[NoArguments]) -> FactorList:
    factors, me = call.part(Factors), _me(call)
    views = tuple(map(factor_view, factors.of_user(me)))
    return FactorList(views, call.stored(FactorRepository).codes_left(me), factors.is_needed(me))


@OPERATIONS(BEGIN_APP, **_MINE)
async def _begin_app(call: Call[BeginApp]) -> AppSetUp:
    begun = call.part(Factors).begin_app(_me(call), call.arguments.nonce)
    return AppSetUp(begun.nonce, begun.seed, begun.address)


@OPERATIONS(ADD_APP, changes=FactorView, **_MINE)
async def _add_app(call: Call[AddApp]) -> AddedFactor:
    arguments, me = call.arguments, _me(call)
    by = call.audit(subject=me, details={"kind": "app", "name": arguments.name or ""})
    add = call.part(Factors).add_app
    return _added(
        *await add(me, arguments.nonce, arguments.code, arguments.name or "", arguments.but, by)
    )


@OPERATIONS(BEGIN_PASSKEY, **_MINE)
async def _begin_passkey(call: Call[BeginPasskey]) -> PasskeySetUp:
    arguments = call.arguments
    site = PasskeySite(arguments.host, arguments.origin)
    begin = call.part(Factors).begin_passkey
    return PasskeySetUp(begin(_me(call), site, arguments.cookie))


@OPERATIONS(ADD_PASSKEY, changes=FactorView, **_MINE)
async def _add_passkey(call: Call[AddPasskey]) -> AddedFactor:
    arguments, me = call.arguments, _me(call)
    shown = ShownFactor(answer=arguments.answer, site=PasskeySite(arguments.host, arguments.origin))
    details = {"kind": "passkey", "name": arguments.name or "", "site": arguments.host}
    by = call.audit(subject=me, details=details)
    add = call.part(Factors).add_passkey
    name, cookie = arguments.name or "", arguments.cookie
    return _added(*await add(me, shown, cookie, name, arguments.but, by))


def _added(factor: Factor, codes: tuple[str, ...]) -> AddedFactor:
    return AddedFactor(factor.id, factor_view(factor), codes)


@OPERATIONS(REMOVE, changes=FactorView, **_MINE)
async def _remove(call: Call[OfFactor]) -> FactorView:
    me, factor_id = _me(call), call.arguments.factor_id
    by = call.audit(subject=me, details={"factor": factor_id})
    return factor_view(await call.part(Factors).remove(me, factor_id, by))


@OPERATIONS(RENEW_CODES, changes=FactorView, **_MINE)
async def _renew_codes(call: Call[NoArguments]) -> RecoveryCodes:
    me = _me(call)
    by = call.audit(subject=me)
    return RecoveryCodes(await call.part(Factors).renew_codes(me, by))


def _weigh_reset(call: Call[ResetFor]) -> Weight | None:
    """The weight of a reset: by a page it always needs a second operator."""
    if call.caller.face not in _PAGES and call.approval is None:
        return None
    user = _lost_by(call)
    count = len(call.part(Factors).of_user(user.id))
    return Weight(None, {"email": user.email, "factors": count}, is_always=True)


def _lost_by(call: Call[ResetFor]) -> User:
    """The user whose factors are to be reset; raises ``Conflict`` if that is the caller."""
    user = call.services.people.users.find(call.arguments.email)
    if user.id == call.caller.user_id:
        raise Conflict(NOT_OWN)
    return user


@OPERATIONS(RESET, roles=OPERATORS, changes=FactorView, fresh=True, four_eyes=_weigh_reset)
async def _reset(call: Call[ResetFor]) -> ResetFactors:
    user = _lost_by(call)
    return ResetFactors(await call.part(Factors).reset(user, call.audit(subject=user.id)))
