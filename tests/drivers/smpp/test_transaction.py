"""Transaction mode (``esm_class`` 2): the answer to a submit is the phone's."""

import random

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.habits import asks_for_receipts
from risala.drivers.smpp.protocol.submit import submit_sm
from risala.drivers.smpp.settings import SmppSettings
from risala.lab.smsc.behaviour import Reaction, SteadyBehaviour
from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator
from risala.plugins.contract import Accepted, HealthState, Uncertain
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext


def settings(**changes) -> SmppSettings:
    ends = {"host": "127.0.0.1", "system_id": "risala", "transaction_mode": True}
    return SmppSettings.model_validate({**ends, **changes})


def test_a_submit_asks_for_the_phones_answer_and_for_no_receipt():
    pdu = submit_sm(segment("Hello"), settings().submit_options, 0)
    assert (pdu.esm_class, pdu.registered_delivery) == (0x02, 0)
    assert not asks_for_receipts(settings())


class Phone(SteadyBehaviour):
    """Answers after so many seconds, with a status."""

    def __init__(self, after_s: float, status: int = 0) -> None:
        super().__init__()
        self.reaction = Reaction(status, after_s)

    def on_submit(self, system_id, request, now_s):
        return self.reaction


async def submitted(phone: Phone, **changes):
    context = RecordingContext()
    simulator = SmscSimulator(SimulatorConfig(response_timeout_s=600), behaviour=phone)
    async with trio.open_nursery() as nursery:
        with trio.fail_after(HANG_S):
            port = await nursery.start(simulator.run)
            driver = SmppDriver("smsc", settings(port=port, **changes), rng=random.Random(1))
            await nursery.start(driver.run, context)
            await context.wait_until(lambda it: it.healths[-1].state is HealthState.UP)
            outcome = await driver.submit(segment("Hello"))
            nursery.cancel_scope.cancel()
    return outcome


@pytest.mark.slow
async def test_an_answer_that_takes_longer_than_others_may_is_waited_for():
    outcome = await submitted(Phone(0.6), response_timeout_s=0.2, transaction_timeout_s=600)
    assert outcome.is_delivered
    assert isinstance(outcome, Accepted)


@pytest.mark.slow
async def test_an_answer_that_never_comes_is_given_up_by_its_own_timeout():
    outcome = await submitted(Phone(600), response_timeout_s=0.1, transaction_timeout_s=0.5)
    assert isinstance(outcome, Uncertain)
    assert outcome.raw == "no answer within 0.5 s"


def test_the_engine_waits_as_long():
    driver = SmppDriver("smsc", settings(transaction_timeout_s=300))
    assert driver.capabilities.submit_s == 600
    assert driver.capabilities.receipts
