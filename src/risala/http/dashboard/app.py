"""The customer's pages: the table of all of them, and the app that serves them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from risala.config.model import Settings
from risala.engine.model.clock import Clock
from risala.engine.model.features import features
from risala.engine.model.people import SessionKind
from risala.http.dashboard import (
    account,
    inbound,
    members,
    organizations,
    senders,
    webhooks,
)
from risala.http.dashboard import settings as settings_page
from risala.http.dashboard.billing import entries, statement
from risala.http.dashboard.keys import listing as keys
from risala.http.dashboard.keys import one as key
from risala.http.dashboard.messages import composer, export, listing, message
from risala.http.dashboard.verify import sessions as verify_sessions
from risala.http.dashboard.verify import settings as verify_settings
from risala.http.dashboard.verify import trying
from risala.http.web.app import WebApp
from risala.http.web.entry import fresh, identity, outbox, reader, security, sign_in, unsent
from risala.http.web.face import NavGroup, NavItem, PageAccess, WebFace
from risala.http.web.languages import N_, NC_
from risala.http.web.routes import PageRoute, with_entries

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


_CORE: Final = (
    NavGroup(
        None, (NavItem("overview", "overview", N_("Overview"), short=NC_("dock", "Home"), key="o"),)
    ),
    NavGroup(
        N_("Send"),
        (
            NavItem(
                "messages",
                "messages",
                N_("Messages"),
                short=NC_("dock", "Messages"),
                key="m",
                new=N_("New message"),
            ),
            NavItem("inbound", "inbox", N_("Inbound"), key="i"),
            NavItem("verify", "verify", N_("Verify"), short=NC_("dock", "Verify"), key="v"),
            NavItem("senders", "sender", N_("Sender IDs"), key="s", new=N_("Ask for a name")),
        ),
    ),
    NavGroup(
        N_("Connect"),
        (
            NavItem("keys", "key", N_("API keys"), key="k", new=N_("New key")),
            NavItem("webhooks", "webhooks", N_("Webhooks"), key="w", new=N_("New endpoint")),
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
"""The pages of an organization, as the rail and the dock list them; features bring entries of their
own. A page that is not for the reader's role is not listed."""
TEMPLATES: Final = Path(__file__).parent / "templates"
ROUTES: Final[tuple[PageRoute, ...]] = (
    *sign_in.routes("", sign_up=True),
    *reader.routes(""),
    *outbox.routes(""),
    *unsent.routes(""),
    *security.routes(""),
    *fresh.routes(""),
    *identity.routes(""),
    *(
        route
        for page in (
            *(account, organizations, members, listing, message, keys, key),
            *(composer, export, webhooks, senders, statement, settings_page),
            *(verify_sessions, verify_settings, trying, entries, inbound),
        )
        for route in page.ROUTES
    ),
    *(route for feature in features() for table in feature.dashboard for route in table()),
)
FACE: Final = WebFace(
    templates=(TEMPLATES,),
    kind=SessionKind.CUSTOMER,
    root="",
    home="/app",
    frame="shell.html",
    navigation=with_entries(_CORE, ROUTES),
    of_money=frozenset({"billing"}),
    first=("overview", "messages", "keys"),
)


def create_dashboard(
    gateway: Gateway, settings: Settings, *, shutdown: trio.Event, clock: Clock | None = None
) -> WebApp:
    """The app for all paths of the public listener that are not the API's."""
    app = WebApp(gateway, settings, FACE, ROUTES, shutdown=shutdown, clock=clock)
    for feature in features():
        if feature.called is not None:
            feature.called()(app)
    return app
