"""Users: their details, their sessions, and ending those.

Operations that give access to another account, or make an operator, are only available on the
machine itself, so that a stolen operator's browser gives no further access.
"""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.factors import records as factors
from risala.engine.model.callers import OperatorRole
from risala.engine.model.errors import Refusal
from risala.engine.model.records.people import users
from risala.http.web.editing.edit_conflict import as_seen
from risala.http.web.entry.reader import device_name
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, OWN_NAMES
from risala.http.web.lists import addresses, choice, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import OPERATOR_ROLES
from risala.http.web.routes import PageRoute

ENDED: Final = N_("The session is ended.")
ALL_ENDED: Final = N_("All their sessions are ended.")
ROLE_GIVEN: Final = N_("They have this role now.")
ROLES_TOLD: Final = {
    OperatorRole.ADMINISTRATOR: N_("May do everything."),
    OperatorRole.FINANCE: N_("Credits, settles payments and sets prices; sees no messages."),
    OperatorRole.SUPPORT: N_("Finds messages and decides on senders; moves no money."),
    OperatorRole.VIEWER: N_("Reads figures and states; sees no messages, users or payments."),
}
"""What an operator's role is for."""
_USER: Final = "users/show.html"
OPERATORS: Final = "operators"
"""The filter for operators only."""
FILTERS: Final = (
    typed("search", N_("Part of a name or an e-mail address")),
    choice("kind", N_("Who"), (OPERATORS,)),
    *addresses(),
)
ROWS: Final = 50


async def show(request: PageRequest) -> TrioResponse:
    form = request.form
    query = {"search": text} if (text := form.text("search")) else {}
    if form.text("kind") == OPERATORS:
        query["kind"] = OPERATORS
    arguments: dict[str, Any] = {"limit": ROWS, "search": query.get("search")}
    if "kind" in query:
        arguments["operator"] = True
    arguments |= form.filled("before", "after")
    page = await request.ask(users.LIST, **arguments)
    previous, after = page.previous, page.next
    return await request.page(
        "users/list.html",
        query=query,
        users=page.users,
        operator_roles=OPERATOR_ROLES,
        before_at=None if previous is None else request.at("users", **query, before=previous),
        after_at=None if after is None else request.at("users", **query, after=after),
    )


async def show_one(request: PageRequest) -> TrioResponse:
    if not request.form.text("email"):
        return request.go(request.at("users"))
    return await request.page(_USER, await _one(request))


async def _one(request: PageRequest) -> dict[str, Any]:
    account = await request.ask(users.SHOW, email=request.form.text("email"))
    return {
        "user": account.user,
        "factors": account.factors,
        "language_name": OWN_NAMES[account.user.language],
        "memberships": account.memberships,
        "sessions": [(each, device_name(each.agent)) for each in account.devices],
        "operator_roles": OPERATOR_ROLES,
        "roles_told": list(ROLES_TOLD.items()),
        "chosen": request.form.text("role") or account.user.operator_role,
    }


async def set_role(request: PageRequest) -> TrioResponse:
    """Give an operator another role."""
    form = request.form
    arguments = {"email": form.text("email"), "operator_role": form.text("role"), **as_seen(form)}
    try:
        await request.ask(users.SET, **arguments)
    except Refusal as error:
        return await request.again(_USER, error, await _one(request))
    return request.go(request.at("users/one", email=form.text("email")), ROLE_GIVEN)


async def reset_factors(request: PageRequest) -> TrioResponse:
    """Ask for the end of factors that their owner lost: another operator confirms it."""
    email = request.form.text("email")
    try:
        await request.ask(factors.RESET, email=email)
    except Refusal as error:
        return await request.again(_USER, error, await _one(request))
    return request.go(request.at("users/one", email=email))


async def end(request: PageRequest) -> TrioResponse:
    """End one session, or all."""
    email, session_id = request.form.text("email"), request.form.text("session_id")
    await request.ask(users.SIGN_OUT, email=email, session_id=session_id or None)
    return request.go(request.at("users/one", email=email), ENDED if session_id else ALL_ENDED)


_PAGE: Final = "/operator/users"
_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(path=_PAGE, view=show, access=_OPERATOR, needs=users.LIST, filters=FILTERS),
    PageRoute(path=f"{_PAGE}/one", view=show_one, access=_OPERATOR, needs=users.SHOW),
    PageRoute(
        path=f"{_PAGE}/role", view=set_role, access=_OPERATOR, needs=users.SET, method="POST"
    ),
    PageRoute(
        path=f"{_PAGE}/reset-factors",
        view=reset_factors,
        access=_OPERATOR,
        needs=factors.RESET,
        method="POST",
    ),
    PageRoute(
        path=f"{_PAGE}/sign-out", view=end, access=_OPERATOR, needs=users.SIGN_OUT, method="POST"
    ),
)
