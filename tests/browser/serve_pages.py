"""The pages over a gateway in memory, for looking at: ``python serve_pages.py`` prints its address.

Beside those of the dashboard there is ``parts``, which has every component in every state.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "support/pages"))

from quart_trio.wrappers import TrioResponse

from risala.config.channels import ChannelsSection
from risala.config.model import HttpSection, MailSection, Settings
from risala.engine.model.callers import Role
from risala.engine.model.people import ReachableOrganization
from risala.engine.model.times import iso
from risala.http.dashboard.app import FACE, ROUTES, TEMPLATES
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp
from risala.http.web.app import WebApp
from risala.http.web.charts import Bar
from risala.http.web.face import PageAccess
from risala.http.web.languages import STATES
from risala.http.web.lists import pager_of
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from web_people import (
    AT_MS,
    FakeWebGateway,
    delivery,
    endpoint,
    entry,
    key,
    member,
    method,
    payment,
    sender,
    user,
)
from web_statements import month_invoice

DAY_MS = 86_400_000
LONG_EMAIL = "mohamed-abdallahi.ould-cheikh-sidiya@etablissements-du-fleuve.example"


async def parts(request: PageRequest) -> TrioResponse:
    path = f"/app/{request.organization_id}/parts"
    return await request.page(
        "every_part.html",
        states=[*STATES],
        chart=[Bar((12 * hour, 3, hour % 3, hour % 2)) for hour in range(24)],
        labels=[f"{hour:02}:00" for hour in range(24)],
        pager=pager_of(path, {}, newer=None, older="x"),
        stations=[
            {"kind": kind, "shape": "s-sent", "title": title, "text": "08:41"}
            for kind, title in (("done", "Accepted"), ("odd", "Uncertain"), ("", "Delivered"))
        ],
        entries=[
            {"state": "sent", "text": "Taken by Mattel.", "at": AT_MS, "raws": ["ESME_ROK"]},
            {"state": "next", "text": "Wait for the receipt.", "at": None, "raws": []},
        ],
        steps=[
            {"state": state, "title": "A step", "text": "Why.", "href": "#x", "action": "Do it"}
            for state in ("done", "waiting", "")
        ],
        at_ms=AT_MS - 120_000,
        live=f"{path}/live" if request.form.ticked("live") else None,
    )


async def live(request: PageRequest) -> TrioResponse:
    async def draw(_: object) -> str:
        return '<b id="piece" hx-swap-oob="true">drawn anew</b>'

    return request.live(draw)


EXTRA = (
    PageRoute(path="/app/<org>/parts", view=parts, access=PageAccess.VIEWER),
    PageRoute(path="/app/<org>/parts/live", view=live, access=PageAccess.VIEWER),
)


class FixedClock:
    def now_ms(self) -> int:
        return AT_MS


def gateway() -> FakeWebGateway:
    """`OWNER` owns an organization and looks at another; `NEW` has none yet."""
    made = FakeWebGateway()
    places = (
        ReachableOrganization("org_1", "Baraka Market", "active", Role.OWNER),
        ReachableOrganization("org_2", "Clinique Nasr", "active", Role.VIEWER),
    )
    made.people.enter(user(), *places, token="OWNER")
    made.people.enter(user(), token="NEW")
    keys = [
        key(1, oldLast4="7kPw", oldUntil=iso(AT_MS + DAY_MS), allowedAddresses=["203.0.113.7"]),
        key(
            2, type="publishable", name="Mobile app", last4="Lm0s", lastUsedAt=iso(AT_MS - 120_000)
        ),
        key(3, name="متجر قديم", enabled=False, lastUsedAt=iso(AT_MS - 47 * DAY_MS)),
        key(4, name="Tests", mode="test", last4="Vb31", lastUsedAt=iso(AT_MS - DAY_MS)),
        key(5, name="Old", lastUsedAt=iso(AT_MS - 47 * DAY_MS), createdAt=iso(AT_MS - 10**10)),
    ]
    made.entries = [
        entry(1, "topup", "10000.00", reference="MS-220814", note="Masrvi"),
        entry(2, messages=142, amount="-71.00"),
        entry(3, "refund", "0.50"),
        entry(4, "adjustment", "36.00", reference="adj_1", note="Charged twice on 17 Nov"),
        *(entry(seq) for seq in range(5, 34)),
    ]
    made.invoices = (month_invoice("2026-10"), month_invoice("2026-09", number="F-0041"))
    made.methods = [
        method(name, title)
        for name, title in (
            *(("sandbox", "Card (sandbox)"), ("bankily", "Bankily")),
            *(("masrvi", "Masrvi"), ("sedad", "Sedad")),
        )
    ]
    card = {"method": "sandbox", "asks": [], "byOperator": False, "instructions": {}}
    payer = {"number": "+22236123456"}
    states = (
        {},
        {"asks": [], "reference": "BK-7710342", "claimedAt": iso(AT_MS)},
        {**card, "checkoutUrl": "/pay/sandbox/checkout/pay_3"},
        {"state": "confirmed", "paid": "5000.00", "entry": 1, "asks": [], "reference": "BK-1"},
        {"state": "refused", "asks": [], "why": {"en": "No such payment is in the account."}},
        {"state": "begun", "asks": []},
        {"asks": [], "reference": "BK-1", "payer": {**payer, "state": "sent", "codesLeft": 2}},
        {"asks": [], "reference": "BK-1", "payer": {**payer, "state": "unsent", "codesLeft": 0}},
    )
    made.payments.given = {
        f"pay_{number}": payment(f"pay_{number}", **changes)
        for number, changes in enumerate(states, 1)
    }
    made.keys = {each["id"]: each for each in keys}
    made.members = {
        "usr_1": member(1, email="aicha@baraka.example", name="Aïcha Mint Ahmed", role="owner"),
        "usr_2": member(2, name="محمد ولد سيدي"),
        "usr_3": member(3, role="viewer"),
        "usr_4": member(4, email=LONG_EMAIL),
    }
    reason = "The name is generic, misleading or impersonates a third party."
    made.senders += [
        sender(1),
        sender(2, status="approved"),
        sender(3, status="denied", cleared=False, reason=reason),
    ]
    made.endpoints["whe_1"] = endpoint(failingSince=iso(AT_MS - 1_800_000))
    arrived = [
        delivery(number, state="delivered", status=200, type="sms.sent", attempts=1)
        for number in range(3, 9)
    ]
    waiting = delivery(2, state="pending", status=None, nextAttemptAt=iso(AT_MS + 300_000))
    made.deliveries += [delivery(1), waiting, *arrived]
    made.devices = [
        {"id": each, "kind": "customer", "agent": agent, "address": "192.0.2.7"}
        | dict.fromkeys(("createdAt", "usedAt", "expiresAt"), iso(AT_MS - DAY_MS))
        for each, agent in (("ses_OWNER", "Firefox/140 (Android 14)"), ("ses_2", "curl/8"))
    ]
    made.change = {"email": "new@baraka.example", "expiresAt": iso(AT_MS + DAY_MS)}
    made.change |= {"oldConfirmed": True, "newConfirmed": False}
    return made


def mails(folder: Path) -> MailSection:
    """An outbox with one mail."""
    outbox = folder / "outbox.jsonl"
    text = "482193\n\nيصلح لمدة 10 دقائق."
    mail = {"at": iso(AT_MS), "to": "aicha@baraka.example", "subject": "Your code", "text": text}
    outbox.write_text(json.dumps(mail) + "\n", "utf-8")
    return MailSection(mailer="outbox", outbox=outbox)


async def main(port: int, folder: Path) -> None:
    own = [TEMPLATES, Path(__file__).parent / "pages"]
    face = replace(FACE, templates=own)
    settings = Settings(
        http=HttpSection(graceful_stop_s=0),
        mail=mails(folder),
        channels=ChannelsSection.model_validate({"email": {"channel": "email", "price": "0.05"}}),
    )
    app = WebApp(
        gateway(), settings, face, (*ROUTES, *EXTRA), shutdown=trio.Event(), clock=FixedClock()
    )
    sock = listen_tcp("127.0.0.1", port)
    print(base_url(sock), flush=True)
    await serve_app(app, settings.http, sock=sock, shutdown=trio.Event())


if __name__ == "__main__":
    with TemporaryDirectory() as directory:
        trio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 0, Path(directory))
