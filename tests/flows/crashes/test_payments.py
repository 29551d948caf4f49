"""``kill -9`` while payments are confirmed: each is credited once, and its row says so."""

from __future__ import annotations

import random
import threading
from contextlib import suppress

import pytest

from patience import HANG_S
from risala.cli.reach.client import NotListening
from risala.cli.reach.refused import CommandRefused

pytestmark = pytest.mark.slow

PAYMENTS, ROUNDS = 10, 4
GONE = (CommandRefused, NotListening)
"""What a command meets when the service is killed under it."""


def test_a_payment_is_credited_once_whenever_the_service_is_killed(premises):
    rng = random.Random(7)
    config = premises.path / "risala.toml"
    config.write_text('[payments.bankily]\nmerchant = "038 221"\n')
    service = premises.service("--config", str(config))
    service.start()
    shop = service.perform("org.create", name="Shop")["id"]
    wanted = {"organization_id": shop, "method": "bankily", "amount": "5"}
    waiting = []
    for number in range(PAYMENTS):
        waiting.append(service.perform("payment.begin", **wanted)["id"])
        entered = {"reference": f"BK-{number}"}
        service.perform("payment.claim", payment_id=waiting[-1], entered=entered)
    answered: set[str] = set()
    for _ in range(ROUNDS):
        enough = threading.Event()
        stop_at = len(answered) + rng.randint(1, 3)

        def confirm(ids, enough=enough, stop_at=stop_at):
            with suppress(*GONE):
                for payment_id in ids:
                    service.perform("payment.confirm", payment_id=payment_id)
                    answered.add(payment_id)
                    if len(answered) >= stop_at:
                        enough.set()

        # Two operators, who begin at other ends and meet.
        crew = [threading.Thread(target=confirm, args=(ids,)) for ids in (waiting, waiting[::-1])]
        for each in crew:
            each.start()
        enough.wait(HANG_S)
        service.kill()
        for each in crew:
            each.join()
        service.start()
        confirmed = "SELECT id FROM payments WHERE state = 'confirmed'"
        assert answered <= {payment_id for (payment_id,) in service.rows(confirmed)}
        service.assert_books_agree()
    for payment_id in waiting:
        service.perform("payment.confirm", payment_id=payment_id)
    assert service.perform("org.show", organization_id=shop)["balance"] == f"{PAYMENTS * 5}.00"
    assert service.rows("SELECT count(*) FROM entry") == [(PAYMENTS,)]
    service.assert_books_agree()
