"""The pages of an organization, as the rail and the dock list them.

A page that no route serves, or that is not for the reader's role, is not listed.
"""

from __future__ import annotations

from typing import Final

from risala.http.web.access import PageAccess
from risala.http.web.face import NavGroup, NavItem
from risala.http.web.languages import N_, NC_

NAVIGATION: Final = (
    NavGroup(
        None, (NavItem("overview", "overview", N_("Overview"), short=NC_("dock", "Home"), key="o"),)
    ),
    NavGroup(
        N_("Send"),
        (
            NavItem("messages", "messages", N_("Messages"), short=NC_("dock", "Messages"), key="m"),
            NavItem("mailings", "mailings", N_("Mailings"), key="a"),
            NavItem("lists", "lists", N_("Lists"), key="l"),
            NavItem("texts", "texts", N_("Texts"), key="x"),
            NavItem("inbound", "inbox", N_("Inbound"), key="i"),
            NavItem("verify", "verify", N_("Verify"), short=NC_("dock", "Verify"), key="v"),
            NavItem("senders", "sender", N_("Sender IDs"), key="s"),
        ),
    ),
    NavGroup(
        N_("Connect"),
        (
            NavItem("keys", "key", N_("API keys"), key="k"),
            NavItem("connect", "link", N_("Connect software"), key="c"),
            NavItem("webhooks", "webhooks", N_("Webhooks"), key="w"),
            NavItem("start", "book", N_("Quick start"), key="q"),
        ),
    ),
    NavGroup(
        N_("Organization"),
        (
            NavItem("billing", "billing", N_("Billing"), short=NC_("dock", "Balance"), key="b"),
            NavItem("members", "team", N_("Members"), key="t"),
            NavItem("settings", "settings", N_("Settings"), PageAccess.OWNER, key="e"),
        ),
    ),
)
