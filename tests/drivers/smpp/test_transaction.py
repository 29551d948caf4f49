"""Transaction mode (``esm_class`` 2): the answer to a submit is the phone's."""

import random

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.habits import asks_for_receipts
from risala.drivers.smpp.protocol.status import StatusVerdict, refusal
from risala.drivers.smpp.protocol.submit import submit_sm
from risala.drivers.smpp.settings import SmppSettings
from risala.lab.smsc.behaviour import Reaction, SteadyBehaviour
from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator
from risala.plugins.contract import Accepted, HealthState, Refused, Scope, Uncertain
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.cause import Cause


def settings(**changes) -> SmppSettings:
    ends = {"host": "127.0.0.1", "system_id": "risala", "transaction_mode": True}
    return SmppSettings.model_validate({**ends, **changes})


def test_a_submit_asks_for_the_phones_answer_and_for_no_receipt():
    pdu = submit_sm(segment("Hello"), settings().submit_options, 0)
    assert (pdu.esm_class, pdu.registered_delivery) == (0x02, 0)
    assert not asks_for_receipts(settings())


def test_the_header_of_a_part_stays():
    part = segment("Hello", total=2)
    pdu = submit_sm(part, settings().submit_options, 0)
    assert pdu.esm_class == 0x42


@pytest.mark.parametrize(
    ("status", "scope", "cause"),
    [
        (0x0B, Scope.FINAL, Cause.UNKNOWN_NUMBER),
        (0xFE, Scope.RECIPIENT, Cause.ABSENT),
        (0x64, Scope.RECIPIENT, Cause.PHONE_FULL),
        (0x65, Scope.FINAL, Cause.PHONE_FULL),
        (0x66, Scope.FINAL, Cause.PHONE_FULL),
        (0x08, Scope.NOW, Cause.CARRIER_FAULT),
    ],
)
def test_what_the_network_says_of_the_phone_is_a_word_of_the_closed_list(status, scope, cause):
    told = refusal(status, is_transaction=True)
    assert isinstance(told, Refused)
    assert (told.scope, told.cause) == (scope, cause)


def test_the_settings_of_a_carrier_count_first():
    told = refusal(0xFE, {0xFE: StatusVerdict.FINAL}, is_transaction=True)
    assert told.scope is Scope.FINAL
    assert refusal(0xFE, causes={0xFE: Cause.BARRED}, is_transaction=True).cause is Cause.BARRED


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
