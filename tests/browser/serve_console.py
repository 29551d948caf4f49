"""The console over a real engine in a folder of its own, for looking at: ``python
serve_console.py`` prints its address. ``/operator/enter`` signs a browser in as an operator."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyotp
import trio

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "support/pages"))

from quart_trio.wrappers import TrioResponse

from console_lanes import LINES, MODEM, SECTIONS
from console_records import records
from patience import until_true
from payment_shop import wallet
from risala.app.demo_phones import Phones, phones_page
from risala.config.model import (
    CarrierSection,
    HttpSection,
    PricingSection,
    Settings,
    StorageSection,
)
from risala.config.people import PeopleSection
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.stored import alerts
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.clock import SystemClock
from risala.engine.model.numbers import DELIVERED, UNDELIVERED
from risala.engine.model.people import Browser, Language
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.http.operator.app import FACE, ROUTES
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp
from risala.http.web.app import WebApp
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.plugins.contract import Driver, Inbound
from risala.plugins.manager import PluginManager
from risala.plugins.page import (
    FormField,
    OpenPage,
    PageBlock,
    PageFigures,
    PageForm,
    PageHeading,
    PageService,
    PageTable,
    PageText,
)
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.numbering.plan import NumberingPlan

LANGUAGES = ("fr", "ar", "en")
OPERATOR = "mariem@risala.example"
SECOND = "sidi@risala.example"
AT_THE_MACHINE = Caller("root", CallerKind.CLI, Role.OPERATOR)
PATTERN = "Vous avez recu {amount} MRU de {payer}. Ref {reference}. Solde {balance} MRU."
TEXTS = {"carrier": "sim", "senders": ["Bankily"], "patterns": [{"text": PATTERN}]}
WALLETS = {"bankily": wallet(sms=TEXTS), "masrvi": wallet("masrvi")}
STEP_S = 0.002
"""Between things whose order is seen: ids of one millisecond have none."""


class Filling:
    """Fills the engine with what pages are looked at with."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.organizations: dict[str, str] = {}

    async def do(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        await trio.sleep(STEP_S)
        return await self.gateway.perform(name, arguments, AT_THE_MACHINE)

    async def wrong(self, lane: str, *, ends: bool) -> None:
        """An alert, and its end two minutes later."""
        recorder = self.gateway.services.recorder
        facts, now_ms = {"state": "down", "text": "The link broke."}, recorder.clock.now_ms()

        def unit(conn: sqlite3.Connection) -> None:
            raised = alerts.raise_one(conn, AlertKind.CARRIER_DOWN, lane, facts, now_ms)
            if ends and raised is not None:
                alerts.end(conn, raised.seq, facts, now_ms + 120_000)

        await recorder.journal.commit(unit)

    async def fill(self) -> None:
        for name in ("Baraka Market", "Clinique Nasr", "متجر النخيل"):
            self.organizations[name] = (await self.do("org.create", name=name))["id"]
        await self.do("user.create", email=OPERATOR, operator=True)
        for part in PARTS:
            await part(self)


async def senders(filling: Filling) -> None:
    baraka, nasr, palms = filling.organizations.values()
    asked = [
        (baraka, "BARAKA", "Suivi des commandes et heures de livraison de nos boutiques."),
        (nasr, "B4NKILY", "Rappels de rendez-vous."),
        (palms, "PROMO", "عروض الأسبوع لزبائننا."),
        (palms, "Nakhil", "تأكيد الطلبات."),
        (nasr, "Nasr", "Résultats d’analyses."),
        (baraka, "Baraka Fr", "Promotions."),
        (baraka, "Baraka Eau", "Factures d’eau."),
    ]
    made = {}
    for organization_id, name, description in asked:
        given = {"organization_id": organization_id, "name": name, "description": description}
        made[name] = (await filling.do("sender.request", **given))["id"]
    await filling.do("sender.clear", sender_id=made["Nasr"])
    await filling.do("sender.waive", sender_id=made["Baraka Fr"])
    await filling.do("sender.deny", sender_id=made["Baraka Eau"], reason="ownership")


async def payments(filling: Filling) -> None:
    baraka, nasr, palms = filling.organizations.values()
    begun = []
    for organization_id, method, amount, reference in (
        (baraka, "bankily", "12000", "BK-7710342"),
        (nasr, "masrvi", "500.50", "MS-220814"),
        (palms, "masrvi", "500.50", "ms 220814"),
        (baraka, "bankily", "2500", "BK-7710400"),
        (nasr, "bankily", "800", "BK-7710401"),
        (palms, "bankily", "100", None),
    ):
        given = {"organization_id": organization_id, "method": method, "amount": amount}
        made = (await filling.do("payment.begin", **given))["id"]
        begun.append(made)
        if reference is not None:
            entered = {"reference": reference}
            await filling.do("payment.claim", payment_id=made, entered=entered)
    await filling.do("payment.confirm", payment_id=begun[3])
    reason = "No such payment is in the account."
    await filling.do("payment.refuse", payment_id=begun[4], reason=reason)


async def system(filling: Filling) -> None:
    """Something that is wrong, something that was, and something that nobody is told of."""
    await filling.wrong("fake", ends=False)
    await filling.wrong("mattel", ends=True)
    await filling.do("alert.mute", kind="backup_old", minutes=600)


async def decisions(filling: Filling) -> None:
    """What an operator of each language decides: names and payments of their own."""
    palms = filling.organizations["متجر النخيل"]
    for language in LANGUAGES:
        for name in (f"Souk {language}", f"Waha {language}", f"Barid {language}"):
            given = {"organization_id": palms, "name": name, "description": "Livraisons."}
            await filling.do("sender.request", **given)
        for number, amount in enumerate(("700", "900")):
            given = {"organization_id": palms, "method": "masrvi", "amount": amount}
            made = (await filling.do("payment.begin", **given))["id"]
            entered = {"reference": f"{language}-4471{number}"}
            await filling.do("payment.claim", payment_id=made, entered=entered)
        await filling.wrong(f"lane-{language}", ends=False)


async def intruders(filling: Filling) -> None:
    """A second operator, somebody of each language who lost a factor, and a key in a new place."""
    await filling.do("user.create", email=SECOND, operator=True)
    gateway = filling.gateway
    for language in LANGUAGES:
        email = f"lost-{language}@baraka.example"
        user_id = (await filling.do("user.create", email=email))["id"]
        own = Caller(email, CallerKind.DASHBOARD, Role.USER, None, user_id)
        begun = await gateway.perform("factor.begin_app", {}, own)
        given = {"nonce": begun["nonce"], "code": pyotp.TOTP(begun["secret"]).now()}
        await gateway.perform("factor.add_app", {**given, "but": "none"}, own)
    given = {"organization_id": filling.organizations["Baraka Market"], "type": "secret"}
    key_id = (await filling.do("key.create", **given, name="Caisse"))["key"]["id"]
    stored, now_ms = gateway.services.repositories.keys, SystemClock().now_ms()
    await stored.note_places({(key_id, "203.0.113.0/24"): now_ms - 9 * 86_400_000})
    await stored.note_places({(key_id, "198.51.100.0/24"): now_ms})


async def ways(filling: Filling) -> None:
    """Messages that arrived by two carriers: the second is slower, and loses some."""
    whose = {"organization_id": filling.organizations["Clinique Nasr"]}
    await filling.do("topup", amount="100", **whose)
    sent = [
        (await filling.do("send", to=f"+222{network}612{number:04}", body="Bonjour", **whose))
        for number, network in enumerate("3334423342")
    ]
    recorder = filling.gateway.services.recorder

    def status(each: Mapping[str, Any]) -> str:
        return filling.gateway.show_message(each["messageId"])[0].status

    await until_true(lambda: all(status(each) == "sent" for each in sent))

    def unit(conn: sqlite3.Connection) -> None:
        conn.execute("INSERT OR IGNORE INTO names (name) VALUES (?)", (MODEM,))
        for number, each in enumerate(sent):
            slow, lost = number % 2, number % 5 == 1
            conn.execute(
                "UPDATE message SET status = ?, delivered_at = sent_at + ?, carrier ="
                " (SELECT no FROM names WHERE name = ?) WHERE id = ?",
                (
                    *((UNDELIVERED, None) if lost else (DELIVERED, 1000 + 9000 * slow)),
                    *(MODEM if slow else "fake", each["messageId"]),
                ),
            )

    await recorder.journal.commit(unit)


PARTS: list[Callable[[Filling], Any]] = [
    *(senders, payments, records, system, decisions, intruders, ways),
]
"""Whoever adds a page adds what it shows here."""


class ChangingFile:
    """A settings file in which somebody changes the price whenever it was gone by."""

    def __init__(self, settings: Settings, drivers: Mapping[str, Driver]) -> None:
        self._settings = settings
        self._drivers = drivers
        self._applied = 0

    def load(self) -> Settings:
        priced = PricingSection(per_segment=f"{self._applied + 2}.00")
        return self._settings.model_copy(update={"pricing": priced})

    def build(self, carrier: CarrierSection) -> Driver:
        return self._drivers[carrier.name]

    def secrets_of(self, driver: str) -> frozenset[str]:
        return frozenset()

    def take_over(self, settings: Settings) -> None:
        self._applied += 1


async def enter(request: PageRequest) -> TrioResponse:
    """A session of the operator, for whoever asks: this serves tests alone."""
    email = request.form.text("who", OPERATOR)
    people, given = request.site.gateway.people, {"email": email, "operator": True}
    link = await request.site.gateway.perform("user.sign_in", given, AT_THE_MACHINE)
    entered = await people.sign_in.use_link(
        link["token"], Browser("x", None, "", "", Language.ENGLISH)
    )
    assert entered is not None
    reply = request.go(request.face.home)
    request.cookie_policy.set_cookie(reply, request.cookie_policy.session_cookie, entered.token)
    return reply


EXTRA = PageRoute(path="/operator/enter", view=enter, access=PageAccess.PUBLIC)


async def hear(sim: FakeDriver) -> None:
    """What a bank wrote: one text about a payment that waits, and one that nothing reads."""
    told = "Vous avez recu 12000 MRU de 36123456. Ref BK-7710342. Solde 90000 MRU."
    adverts = (f"{language}: gagnez un million!" for language in LANGUAGES)
    for number, text in enumerate((told, "اربح مليون أوقية!", *adverts)):
        sent_at = SystemClock().now_ms()
        await sim.context.inbound(Inbound("Bankily", None, text, sent_at, (f"pdu-{number}",), None))


class ThingsPage:
    """A plugin's page with each kind of block."""

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        long = "a-word-that-is-as-long-as-an-address-" * 4
        fields = (
            FormField("name", "Name", value="x", hint="How it is called"),
            FormField("size", "Size", "choice", "s", (("s", "Small"), ("l", "Large"))),
            FormField("count", "Count", "number"),
            FormField("loud", "Loud", "check", "yes"),
        )
        return (
            PageHeading("Things"),
            PageText(long),
            PageFigures((("Waiting", 12_345), ("State", "running"))),
            PageTable(("Thing", "Count", "Is there"), ((long, 1.5, True), ("b", None, False))),
            PageForm("rename", "Rename", fields, "Gives it another name."),
        )


def some_phones(plan: NumberingPlan) -> Phones:
    """Phones of a demo, one with texts in either direction."""
    phones = Phones(plan, lambda _: True, SystemClock().now_ms)
    phones.got("+22236123456", "RISALA", "Your code is 123456", SystemClock().now_ms())
    phones.got("+22246123456", "RISALA", "مرحبا بكم في رسالة " * 10, SystemClock().now_ms())
    phones.write("+22236123456", "1234", "https://shop.example/" + "a-long-address-" * 12)
    return phones


async def main(
    port: int,
    folder: Path,
    lines: Mapping[str, Driver] = LINES,
    sections: Sequence[CarrierSection] = SECTIONS,
) -> None:
    settings = Settings(
        http=HttpSection(graceful_stop_s=0),
        storage=StorageSection(data_dir=folder),
        # Every browser of every test enters from one address.
        people=PeopleSection(guesses_per_ip_per_minute=100_000),
    )
    lanes = (
        CarrierSection(name="fake", driver="fake", prefixes=("+222",)),
        CarrierSection(name="sim", driver="fake", receives_only=True),
        *sections,
    )
    settings = settings.model_copy(update={"carriers": lanes})
    drivers = {"fake": FakeDriver(), "sim": FakeDriver(), **lines}
    plugins = PluginManager()
    plugins.load(installed=())
    pages = {
        **plugins.build_pages(),
        "things": OpenPage({"en": "Things"}, ThingsPage()),
        **phones_page(some_phones(settings.plan)),
    }
    outside = Connections(
        payments=WALLETS,
        plugins=plugins.plugins(),
        source=ChangingFile(settings, drivers),
        pages=pages,
    )
    async with open_engine(settings, lanes, drivers, outside=outside) as engine:
        await Filling(engine.gateway).fill()
        await hear(drivers["sim"])
        app = WebApp(engine.gateway, settings, FACE, (*ROUTES, EXTRA), shutdown=trio.Event())
        sock = listen_tcp("127.0.0.1", port)
        print(base_url(sock), flush=True)
        await serve_app(app, settings.http, sock=sock, shutdown=trio.Event())


if __name__ == "__main__":
    with TemporaryDirectory() as directory:
        trio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 0, Path(directory))
