"""A modem on LTE: what its registration says, and what a failed text's sentence says to do."""

import pytest
import trio.testing

from risala.drivers.modem.at.errors import CMS
from risala.drivers.modem.at.fields import Registration
from risala.drivers.modem.network.chips import CHIPS, MODES, UNKNOWN, chip_of
from risala.drivers.modem.network.lte import NetworkService, reason
from risala.drivers.modem.ready.identity import Identity
from risala.plugins.contract import Accepted, HealthState, Refused
from risala.plugins.testing.conformance import segment

LTE = '+COPS: 0,0,"Mauritel",7\r\n\r\nOK'
NOT_TAKEN = "The modem is on LTE, and the network does not take its text there."
DATA_ALONE = "The modem has LTE for data alone, and no way for a text."
ASK = "Ask the SIM's operator for SMS over SGs or IMS."
OFF = "To keep it off LTE: risala carriers ask carrier network 3g (AT+CNMP=14)."


@pytest.fixture
def sim7600(modem):
    modem.replies |= {
        r"AT\+CGMI": "SIMCOM INCORPORATED\r\n\r\nOK",
        r"AT\+CGMM": "SIMCOM_SIM7600G-H\r\n\r\nOK",
        r"AT\+COPS\?": LTE,
    }
    return modem


@pytest.mark.parametrize(
    ("stat", "state", "word"),
    [
        (0, HealthState.DOWN, "idle"),
        (1, HealthState.UP, "home"),
        (2, HealthState.DOWN, "searching"),
        (3, HealthState.SICK, "denied"),
        (4, HealthState.DOWN, "unknown"),
        (5, HealthState.UP, "roaming"),
        (6, HealthState.UP, "sms_only_home"),
        (7, HealthState.UP, "sms_only_roaming"),
        (8, HealthState.SICK, "emergency"),
        (9, HealthState.UP, "csfb_home"),
        (10, HealthState.UP, "csfb_roaming"),
        (11, HealthState.SICK, "restricted"),
    ],
)
async def test_each_registration_of_the_standard(
    autojump_clock, modem, new_line, stat, state, word
):
    modem.replies[r"AT\+CREG\?"] = f"+CREG: 0,{stat}\r\n\r\nOK"
    async with new_line(modem).run(state=None) as line:
        await line.context.wait_health(state)
        # The modem is asked at once after it came up: its first health without a fault has details.
        await trio.testing.wait_all_tasks_blocked()
        assert line.details["registration"] == word
        if state is HealthState.SICK:
            assert "ask its operator" in line.context.healths[-1].text


async def test_a_text_that_lte_does_not_take(autojump_clock, sim7600, new_line):
    sim7600.cmgs = lambda _: "+CMS ERROR: Unknown error"
    async with new_line(sim7600).run() as line:
        assert line.details["attention"] is None
        outcome = await line.driver.submit(segment())
    assert isinstance(outcome, Refused)
    assert outcome.text == f"{NOT_TAKEN} {OFF} {ASK}"
    assert outcome.raw == "+CMS ERROR: Unknown error"


async def test_a_text_that_fails_for_its_own_reason_says_that(autojump_clock, sim7600, new_line):
    sim7600.cmgs = lambda _: "+CMS ERROR: 1"
    async with new_line(sim7600).run() as line:
        outcome = await line.driver.submit(segment())
    assert outcome.text == "The number is not in use."


async def test_the_same_error_on_3g_says_nothing_of_lte(autojump_clock, sim7600, new_line):
    sim7600.replies[r"AT\+COPS\?"] = '+COPS: 0,0,"Mauritel",2\r\n\r\nOK'
    sim7600.cmgs = lambda _: "+CMS ERROR: 500"
    async with new_line(sim7600).run() as line:
        outcome = await line.driver.submit(segment())
    assert outcome.text == "The modem gives no reason."
    assert "AT+CGSMS?" not in sim7600.commands


async def test_data_alone_is_said_before_a_text_fails(autojump_clock, sim7600, new_line):
    """+CREG says denied, +CEREG registered: the network has data for this SIM, and no texts."""
    sim7600.replies[r"AT\+CREG\?"] = "+CREG: 0,3\r\n\r\nOK"
    sim7600.replies[r"AT\+CEREG\?"] = "+CEREG: 0,1\r\n\r\nOK"
    async with new_line(sim7600).run() as line:
        assert line.details["attention"] == f"{DATA_ALONE} {OFF} {ASK}"
        assert f"{DATA_ALONE} {OFF}" in line.context.healths[-1].text
        sim7600.cmgs = lambda _: "+CMS ERROR: 331"
        assert (await line.driver.submit(segment())).text == f"{DATA_ALONE} {OFF} {ASK}"


@pytest.mark.parametrize(
    ("ims", "carries"),
    [
        ("+CIREG: 0,1,5", True),
        ("+CIREG: 0,1", True),
        ("+CIREG: 0,1,1", False),
        ("+CIREG: 0,0", False),
        ("+CIREG: 0,x", False),
        ("+CIREG: 0,1,xyz", False),
    ],
)
async def test_ims_may_carry_texts_where_nothing_else_does(
    autojump_clock, sim7600, new_line, ims, carries
):
    sim7600.replies[r"AT\+CREG\?"] = "+CREG: 0,0\r\n\r\nOK"
    sim7600.replies[r"AT\+CEREG\?"] = "+CEREG: 0,1\r\n\r\nOK"
    sim7600.replies[r"AT\+CIREG\?"] = f"{ims}\r\n\r\nOK"
    async with new_line(sim7600).run() as line:
        assert (line.details["attention"] is None) == carries
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_a_modem_that_sends_by_packets_alone(autojump_clock, sim7600, new_line):
    sim7600.replies[r"AT\+CGSMS\?"] = "+CGSMS: 0\r\n\r\nOK"
    sim7600.cmgs = lambda _: "+CMS ERROR: 500"
    async with new_line(sim7600).run() as line:
        outcome = await line.driver.submit(segment())
    assert outcome.text == (
        "The modem sends texts as data alone (+CGSMS: 0), which the network does not take. To let "
        "it take another way: risala carriers ask carrier network sms-any-way (AT+CGSMS=3)."
    )


@pytest.mark.parametrize(
    ("maker", "model", "name"),
    [
        ("SIMCOM_Ltd", "SIMCOM_SIM800L", "SIM800"),
        ("SIMCOM INCORPORATED", "SIMCOM_SIM7600G-H", "SIM7600"),
        ("SIMCOM_Ltd", "SIMCOM_SIM7000G", "SIM7000"),
        ("SIMCOM_Ltd", "A7670E-FASE", "SIM7000"),
        ("Quectel", "EC25", "Quectel"),
        ("Quectel", "BG96", "Quectel BG"),
        ("huawei", "E3372", "Huawei"),
        ("ZTE CORPORATION", "MF831", "ZTE"),
        ("Sierra Wireless, Incorporated", "MC7455", "Sierra Wireless"),
        ("Telit", "LE910C1-EU", "Telit"),
        ("Fake", "F1", ""),
    ],
)
def test_the_family_of_a_modem(maker, model, name):
    assert chip_of(Identity(maker, model)).name == name


def test_families_have_known_modes_alone():
    assert all(set(chip.modes) <= set(MODES) for chip in CHIPS)
    assert UNKNOWN.without_lte is None


def test_an_unknown_modem_is_given_no_command():
    service = NetworkService(circuit=Registration.HOME, technology=7)
    assert reason(service, UNKNOWN, "sim-1", CMS[500]) == f"{NOT_TAKEN} {ASK}"
