"""The guard against pumped codes: what was suspicious and why, what becomes of it, what passes."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.features.pumping.records import (
    GUARD,
    SHARE_MAX,
    GuardReaction,
    ShownGuard,
    SuspiciousCodes,
)
from risala.engine.features.pumping.rules.groups import GroupKind
from risala.engine.model.errors import Refusal
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_, network_name
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("Saved. Codes that are asked for from now on follow it.")
PASSES: Final = N_("These codes pass for a week, from now on.")
HELD: Final = N_("These codes are guarded again.")
REACTIONS: Final = {
    GuardReaction.WATCH.value: NC_("guard", "Watch"),
    GuardReaction.CHALLENGE.value: NC_("guard", "Ask for a proof"),
    GuardReaction.REFUSE.value: NC_("guard", "Refuse"),
}
_PAGE: Final = "verify/guard.html"
_PATH: Final = "/app/<org>/verify/guard"
_FACTOR_SHOWN_MAX: Final = 1e9
"""A larger factor is shown as more than this one."""


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    shown: ShownGuard = await request.ask_here(GUARD)
    names = {each.id: each.name or f"…{each.last4}" for each in shown.keys}
    typed = shown.secret_share if error is None else request.form.text("secret_share")
    return {
        "guard": shown,
        "typed_share": str(typed),
        "share_max": SHARE_MAX,
        "most": _FACTOR_SHOWN_MAX,
        "reactions": [
            (value, request.words.among("guard", REACTIONS[value]))
            for value in (GuardReaction.WATCH.value, GuardReaction.REFUSE.value)
        ],
        "said": {value: request.words.among("guard", REACTIONS[value]) for value in REACTIONS},
        "rows": [(each, _named(request, each, names)) for each in shown.suspicious],
        "labels": {"secret_share": request.words("Share for secret keys")},
    }


def _named(request: PageRequest, of: SuspiciousCodes, keys: dict[str, str]) -> str | Markup:
    """What the codes have in common, in the reader's words."""
    words = request.words
    match of.kind:
        case GroupKind.BLOCK:
            return words("Numbers that begin with {digits}", digits=request.code(of.name))
        case GroupKind.ADDRESS:
            return words("One address of users, {mark}", mark=request.code(of.name))
        case GroupKind.TAG:
            return words("The tag {name}", name=of.name) if of.name else words("All other tags")
        case GroupKind.KEY:
            return words("The key {name}", name=keys.get(of.name, of.name))
        case GroupKind.NETWORK:
            return words("The network {name}", name=network_name(of.name))
    return words("All codes of the organization")


async def save(request: PageRequest) -> TrioResponse:
    form = request.form
    share = form.text("secret_share")
    arguments: dict[str, object]
    if form.text("key_id"):
        arguments = {"key_id": form.text("key_id"), "reaction": form.text("reaction")}
    else:
        is_whole = share.isascii() and share.isdigit()
        arguments = {"secret_share": int(share) if is_whole else -1}
    try:
        await request.ask_here(GUARD, **arguments)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("verify/guard"), SAVED)


async def let(request: PageRequest) -> TrioResponse:
    passes = request.form.text("passes") == "yes"
    try:
        await request.ask_here(GUARD, group=request.form.text("group"), passes=passes)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("verify/guard"), PASSES if passes else HELD)


ROUTES: Final = (
    PageRoute(path=_PATH, view=shows(_PAGE, _values), access=PageAccess.VIEWER),
    PageRoute(path=_PATH, view=save, access=PageAccess.OWNER, method="POST"),
    PageRoute(path=f"{_PATH}/pass", view=let, access=PageAccess.DEVELOPER, method="POST"),
)
