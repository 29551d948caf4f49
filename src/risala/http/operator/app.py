"""The operator's pages: the table of all of them, and the app that serves them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.config.model import Settings
from risala.engine.model.clock import Clock
from risala.engine.model.features import features
from risala.engine.model.people import SessionKind
from risala.http.operator import account, plugins, senders, tries, users
from risala.http.operator.audit import export as trail_export
from risala.http.operator.audit import listing as trail
from risala.http.operator.carriers import changes as carrier_changes
from risala.http.operator.carriers import listing as carriers
from risala.http.operator.carriers import one as carrier
from risala.http.operator.carriers import traffic as carrier_traffic
from risala.http.operator.messages import finding, message
from risala.http.operator.organizations import listing as organizations
from risala.http.operator.organizations import money
from risala.http.operator.organizations import one as organization
from risala.http.operator.system import facts as system
from risala.http.operator.system import payer as system_payer
from risala.http.web.app import WebApp
from risala.http.web.entry import fresh, identity, outbox, reader, security, sign_in, unsent
from risala.http.web.face import NavGroup, NavItem, PageAccess, WebFace
from risala.http.web.languages import N_, NC_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, with_entries

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


# The pages of the console, as its rail and its dock list them.

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


TEMPLATES: Final = Path(__file__).parent / "templates"
ROOT: Final = "/operator"
PAGES: Final = (
    carriers,
    carrier_changes,
    carrier,
    carrier_traffic,
    finding,
    message,
    senders,
    organizations,
    organization,
    money,
    users,
    trail,
    trail_export,
    system,
    system_payer,
    tries,
    plugins,
    account,
)
"""The modules of the core's pages."""


async def root(request: PageRequest) -> TrioResponse:
    """``/operator``, and ``/`` if the console has an address of its own."""
    return request.go(HOME)


ROUTES: Final[tuple[PageRoute, ...]] = (
    *(
        PageRoute(path=path, view=root, access=PageAccess.PUBLIC)
        for path in ("/", ROOT, f"{ROOT}/")
    ),
    *sign_in.routes(ROOT, sign_up=False),
    *reader.routes(ROOT),
    *outbox.routes(ROOT),
    *unsent.routes(ROOT),
    *security.routes(ROOT),
    *fresh.routes(ROOT),
    *identity.routes(ROOT),
    *(route for page in PAGES for route in page.ROUTES),
    *(route for feature in features() for table in feature.console for route in table()),
)
HOME: Final = next(
    path
    for path in (f"{ROOT}/overview", f"{ROOT}/carriers")
    if any(route.path == path for route in ROUTES)
)
FACE: Final = WebFace(
    templates=(TEMPLATES,),
    kind=SessionKind.OPERATOR,
    root=ROOT,
    home=HOME,
    frame="console.html",
    navigation=with_entries(NAVIGATION, ROUTES),
    of_money=frozenset({"payments"}),
)


def create_console(
    gateway: Gateway, settings: Settings, *, shutdown: trio.Event, clock: Clock | None = None
) -> WebApp:
    """The app of the console: next to the dashboard, or alone at its own address."""
    return WebApp(gateway, settings, FACE, ROUTES, shutdown=shutdown, clock=clock)
