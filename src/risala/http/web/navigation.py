"""The pages of an organization, as the rail and the dock list them.

A page that no route serves, or that is not for the reader's role, is not listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from risala.http.web.access import PageAccess
from risala.http.web.languages import N_, NC_


@dataclass(frozen=True, slots=True)
class NavItem:
    slug: str
    """Below the organization's address."""
    icon: str
    label: str
    access: PageAccess = PageAccess.VIEWER
    short: str | None = None
    """For the dock of a phone; None: it is not there."""


@dataclass(frozen=True, slots=True)
class NavGroup:
    title: str | None
    items: tuple[NavItem, ...]


NAVIGATION: Final = (
    NavGroup(None, (NavItem("overview", "overview", N_("Overview"), short=NC_("dock", "Home")),)),
    NavGroup(
        N_("Send"),
        (
            NavItem("messages", "messages", N_("Messages"), short=NC_("dock", "Messages")),
            NavItem("inbound", "inbox", N_("Inbound")),
            NavItem("verify", "verify", N_("Verify"), short=NC_("dock", "Verify")),
            NavItem("senders", "sender", N_("Sender IDs")),
        ),
    ),
    NavGroup(
        N_("Connect"),
        (
            NavItem("keys", "key", N_("API keys")),
            NavItem("webhooks", "webhooks", N_("Webhooks")),
            NavItem("start", "book", N_("Quick start")),
        ),
    ),
    NavGroup(
        N_("Organization"),
        (
            NavItem("billing", "billing", N_("Billing"), short=NC_("dock", "Balance")),
            NavItem("members", "team", N_("Members")),
            NavItem("settings", "settings", N_("Settings")),
        ),
    ),
)
HOME: Final = ("overview", "messages", "keys")
"""Where somebody who chose an organization comes first: to the first of these that there is."""
