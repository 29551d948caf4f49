"""What one operator asked for, and another one confirms or refuses."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.approvals import records as approvals
from risala.engine.features.approvals.records import Approval, ApprovalState
from risala.engine.model.errors import Refusal
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

CONFIRMED: Final = N_("Confirmed: it is done.")
REFUSED: Final = N_("Refused: nothing is done.")
KINDS: Final = {
    "topup": NC_("approval", "Credit cash"),
    "adjust": NC_("approval", "Adjust a balance"),
    "payment.confirm": NC_("approval", "Confirm a payment"),
    "org.create": NC_("approval", "New organization with its own price"),
    "org.set": NC_("approval", "Another price"),
    "price.set": NC_("approval", "Another price abroad"),
    "price.drop": NC_("approval", "Remove a price abroad"),
    "sender.clear": NC_("approval", "Approve a sender"),
    "sender.waive": NC_("approval", "Approve a sender without the volume"),
    "user.set": NC_("approval", "Another role or address of an operator"),
    "user.reset_factors": NC_("approval", "Reset somebody’s second factors"),
}
FIELDS: Final = {
    "reference": NC_("approval", "Reference"),
    "note": NC_("approval", "Note"),
    "reason": NC_("approval", "Reason"),
    "price_per_segment": NC_("approval", "Price of a part"),
    "price": NC_("approval", "Price of a part"),
    "prefix": NC_("approval", "Numbers that begin with"),
    "payment_id": NC_("approval", "Payment"),
    "sender_id": NC_("approval", "Sender"),
    "email": NC_("approval", "User"),
    "operator_role": NC_("approval", "Role in the console"),
    "new_email": NC_("approval", "New address"),
    "name": NC_("approval", "Name"),
}
"""Arguments that are shown, by their names. The amount stands above them; others say nothing to
people."""
STATES: Final = {
    ApprovalState.PENDING: ("waiting", NC_("approvals", "Waiting")),
    ApprovalState.CONFIRMED: ("approved", NC_("approvals", "Confirmed")),
    ApprovalState.REFUSED: ("denied", NC_("approvals", "Refused")),
    ApprovalState.EXPIRED: ("expired", NC_("approvals", "Expired")),
}
_TEMPLATE: Final = "approvals/list.html"
_PLACES: Final = {"payment_id": "payments", "sender_id": "senders"}


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """A request, as the page shows it."""

    approval: Approval
    kind: str
    fields: tuple[tuple[Markup, str, str | None], ...]
    """A label, a text, and where it leads."""
    badge: str
    word: str


async def _values(request: PageRequest) -> dict[str, Any]:
    waiting = (await request.ask(approvals.LIST)).approvals
    shown = [_view(request, each) for each in waiting]
    return {
        "waiting": [each for each in shown if each.approval.state is ApprovalState.PENDING],
        "decided": [each for each in shown if each.approval.state is not ApprovalState.PENDING],
        "form": request.form,
    }


def _view(request: PageRequest, approval: Approval) -> ApprovalView:
    badge, word = STATES[approval.state]
    fields = tuple(
        (request.words.among("approval", label), text, _leads_to(request, name, text))
        for name, label in FIELDS.items()
        if (text := approval.arguments.get(name))
    )
    return ApprovalView(
        approval, KINDS.get(approval.operation, approval.operation), fields, badge, word
    )


def _leads_to(request: PageRequest, name: str, text: str) -> str | None:
    slug = _PLACES.get(name)
    return request.at(f"{slug}/{text}") if slug is not None and request.has(slug) else None


def _id(request: PageRequest) -> str:
    return request.arguments.get("approval_id", "")


async def confirm(request: PageRequest) -> TrioResponse:
    try:
        await request.ask(approvals.CONFIRM, approval_id=_id(request))
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return request.go(request.at("approvals"), CONFIRMED)


async def refuse(request: PageRequest) -> TrioResponse:
    arguments = {"approval_id": _id(request), "why": request.form.text("why") or None}
    try:
        await request.ask(approvals.REFUSE, **arguments)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return request.go(request.at("approvals"), REFUSED)


_PAGE: Final = "/operator/approvals"
_ONE: Final = f"{_PAGE}/<approval_id>"
_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(path=_PAGE, view=shows(_TEMPLATE, _values), access=_OPERATOR, needs=approvals.LIST),
    PageRoute(
        path=f"{_ONE}/confirm",
        view=confirm,
        access=_OPERATOR,
        needs=approvals.CONFIRM,
        method="POST",
        once=True,
    ),
    PageRoute(
        path=f"{_ONE}/refuse", view=refuse, access=_OPERATOR, needs=approvals.REFUSE, method="POST"
    ),
)
