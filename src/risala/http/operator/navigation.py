"""The pages of the console, as its rail and its dock list them."""

from __future__ import annotations

from functools import partial
from typing import Final

from risala.http.web.access import PageAccess
from risala.http.web.face import NavGroup, NavItem
from risala.http.web.languages import N_, NC_

_item: Final = partial(NavItem, access=PageAccess.OPERATOR)

NAVIGATION: Final = (
    NavGroup(
        None,
        (_item("overview", "overview", N_("Overview"), short=NC_("dock", "Overview"), key="o"),),
    ),
    NavGroup(
        N_("Traffic"),
        (
            _item("carriers", "antenna", N_("Carriers"), short=NC_("dock", "Carriers"), key="c"),
            _item("messages", "messages", N_("Messages"), key="m"),
        ),
    ),
    NavGroup(
        N_("To decide"),
        (
            _item(
                "senders",
                "sender",
                N_("Sender requests"),
                short=NC_("dock", "Requests"),
                key="s",
                counts="senders",
            ),
            _item(
                "payments",
                "billing",
                N_("Payments"),
                short=NC_("dock", "Payments"),
                key="p",
                counts="payments",
            ),
            _item("approvals", "s-sent", N_("Confirmations"), key="f", counts="approvals"),
        ),
    ),
    NavGroup(
        N_("Records"),
        (
            _item("organizations", "org", N_("Organizations"), key="n"),
            _item("users", "team", N_("Users"), key="u"),
            _item("audit", "audit", N_("Audit log"), key="a"),
            _item("security", "key", N_("Security"), key="x"),
            _item("system", "settings", N_("System"), key="y"),
        ),
    ),
)
