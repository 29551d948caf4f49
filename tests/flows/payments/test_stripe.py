"""A card by Stripe, as the service meets it: over HTTP both ways, with a stand-in of its API."""

from __future__ import annotations

import json
import threading
import time
from functools import partial

import pytest
import trio

from patience import HANG_S
from stripe_stand_in import SECRET, StandIn, event, signature

pytestmark = pytest.mark.slow


class Station:
    """The stand-in, in a thread of its own: it outlives a service that is killed."""

    def __init__(self) -> None:
        self.api = StandIn(now_s=int(time.time()))
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._main,))
        self._thread.start()
        assert self._ready.wait(HANG_S)

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as self._nursery:
            serve = partial(trio.serve_tcp, self.api.serve, 0, host="127.0.0.1")
            listeners = await self._nursery.start(serve)
            self.port = listeners[0].socket.getsockname()[1]
            self._ready.set()

    def close(self) -> None:
        trio.from_thread.run_sync(self._nursery.cancel_scope.cancel, trio_token=self._token)
        self._thread.join(HANG_S)


@pytest.fixture
def station():
    station = Station()
    try:
        yield station
    finally:
        station.close()


def test_a_card_is_paid_and_credited_once(station, premises, until):
    config = premises.path / "risala.toml"
    config.write_text(
        '[payments.stripe]\nsecret_key = "sk_live_1"\n'
        f'webhook_secret = "{SECRET}"\napi = "http://127.0.0.1:{station.port}"\n'
    )
    service = premises.service("--config", str(config))
    service.start()
    shop = service.organization("0.01").organization_id

    def begin():
        given = {"organization_id": shop, "method": "stripe", "amount": "500"}
        return service.perform("payment.begin", **given)

    def call(body, secret=SECRET):
        headers = {"stripe-signature": signature(body, int(time.time()), secret)}
        return service.client.post("/pay/stripe/callback", content=body, headers=headers)

    payment = begin()
    assert payment["state"] == "waiting", service.process.errors
    assert payment["checkoutUrl"].startswith("https://checkout.stripe.example/")
    assert payment["askedAgainAt"]
    paid = event("checkout.session.completed", station.api.pay(payment["reference"]))
    assert call(paid, "whsec_of_another").status_code == 400
    assert call(paid.replace(b"50000", b"90000"), "x").status_code == 400
    service.kill()
    service.start()
    for _ in range(3):
        assert call(paid).status_code == 200
    assert service.perform("payment.show", payment_id=payment["id"])["paid"] == "500.00"
    unknown = json.loads(paid)
    unknown["data"]["object"]["metadata"]["payment"] = "pay_none"
    unknown["data"]["object"]["client_reference_id"] = "pay_none"
    assert call(json.dumps(unknown).encode()).status_code == 404

    # No callback comes: the operator has Stripe asked.
    second = begin()
    station.api.pay(second["reference"])
    done = service.perform("payment.poll", payment_id=second["id"])
    assert (done["state"], done["paid"]) == ("confirmed", "500.00")
    assert service.perform("org.show", organization_id=shop)["balance"] == "1000.01"
    service.assert_books_agree()
    service.assert_no_bug_logged()


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ('carrier = "nobody"\n', "payments.bankily.sms.carrier: is the name of no carrier"),
        ('carrier = "line"\n', "must be a carrier with `receives_only = true`"),
        (
            'carrier = "sim"\nby_itself = true\nservice_centres = ["+2221"]\npayment_max = "1"\n'
            'organization_day_max = "1"\nday_max = "1"\n',
            "needs payments.codes_organization",
        ),
    ],
)
def test_a_banks_texts_come_to_no_customers_line(premises, settings, fault):
    config = premises.path / "risala.toml"
    text = "{amount} {reference} {payer} {balance}"
    config.write_text(
        '[payments.bankily]\nmerchant = "1"\n[payments.bankily.sms]\nsenders = ["B"]\n'
        f'{settings}[[payments.bankily.sms.patterns]]\ntext = "{text}"\n'
        '[[carriers]]\nname = "line"\ndriver = "loopback"\n'
        '[[carriers]]\nname = "sim"\ndriver = "loopback"\nreceives_only = true\n'
    )
    service = premises.service("--config", str(config))
    service.launch()
    assert service.process.wait_exit() == 1
    said = "\n".join([*service.process.lines, *service.process.errors])
    assert fault in said
