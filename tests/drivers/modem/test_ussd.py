"""USSD: the SIM's balance on a schedule, and whatever an operator dials."""

import pytest
import trio

from risala.plugins.contract import Accepted, CommandRefusedError, HealthState
from risala.plugins.testing.conformance import segment

DIAL = r'AT\+CUSD=1,"\*124#",15'
BALANCE = {"code": "*124#", "pattern": r"solde[^0-9]*([0-9.,]+)", "low": 50}


class Network:
    """Answers codes and choices: text → (state, text), the answer apart from its OK."""

    def __init__(self, modem, answers, nursery, after_s=1.0):
        self.modem, self.answers, self.nursery, self.after_s = modem, answers, nursery, after_s
        self.dialled = []
        self.ended = 0
        modem.replies[r"AT\+CUSD=.*"] = self._dial

    def _dial(self, command):
        if command == "AT+CUSD=2":
            self.ended += 1
            return "OK"
        code = command.split('"')[1]
        self.dialled.append(code)
        if code not in self.answers:
            return "+CME ERROR: 4"
        if self.answers[code] is not None:
            self.nursery.start_soon(self._answer, *self.answers[code])
        return "OK"

    async def _answer(self, state, text=None):
        await trio.sleep(self.after_s)
        await self.modem.say(f"+CUSD: {state}" + ("" if text is None else f',"{text}",15'))


@pytest.fixture
async def play():
    async with trio.open_nursery() as nursery:
        yield nursery
        nursery.cancel_scope.cancel()


# -- on a schedule -----------------------------------------------------------------------------


async def test_the_balance_shows(autojump_clock, modem, new_line):
    balance = {"code": "*124#", "pattern": r"solde[^0-9]*([0-9.,]+)", "low": 50}

    def answer(_):
        line.nursery.start_soon(
            modem.say, '+CUSD: 0,"Votre solde est\r\nOK\r\nsolde: 42,50 MRU",15'
        )
        return "OK"

    modem.replies[r'AT\+CUSD=1,"\*124#",15'] = answer
    async with trio.open_nursery() as nursery, new_line(modem, ussd_balance=balance).run() as line:
        line.nursery = nursery
        await line.context.wait_until(lambda it: "sim_balance" in it.healths[-1].details)
        assert line.details["sim_balance"] == 42.5
        assert line.details["sim_balance_is"] == "low"
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_a_balance_that_is_asked_packed(autojump_clock, modem, new_line):
    modem.replies[r'AT\+CUSD=1,"\*124#",15'] = "ERROR"
    packed = r'AT\+CUSD=1,"AA988C3602",15'
    modem.replies[packed] = 'OK\r\n\r\n+CUSD: 0,"D3379B5CD681623250535A05",15'
    async with new_line(modem, ussd_balance={"code": "*124#"}).run() as line:
        await line.context.wait_until(lambda it: "ussd" in it.healths[-1].details)
        assert line.details["ussd"] == "Solde: 12 MRU"
        assert line.details["sim_balance"] == 12


async def test_a_low_balance_shows_everywhere(
    autojump_clock, new_modem, new_line, open_service, play
):
    modem = new_modem()
    Network(modem, {"*124#": (0, "solde: 12,5 MRU")}, play)
    async with open_service({"sim-1": new_line(modem, ussd_balance=BALANCE)}) as service:
        await trio.sleep(60)
        shown = service.carrier("sim-1")
        assert shown["text"].endswith("The SIM's balance is low: 12.5.")
        assert shown["details"]["attention"] == "The SIM's balance is low: 12.5."
        text = service.engine.gateway.metrics().decode()
        assert 'risala_carrier_detail{carrier="sim-1",detail="sim_balance"} 12.5' in text
        assert any("balance is low" in line["text"] for line in shown["trace"])
        asked = await service.engine.gateway.perform(
            "carriers.ask", {"carrier": "sim-1", "command": "ussd", "arguments": ["*124#"]}
        )
        assert asked["answer"] == {"text": "solde: 12,5 MRU"}


async def test_a_balance_that_is_not_told_is_said_once(autojump_clock, modem, new_line, play):
    network = Network(modem, {}, play)
    async with new_line(modem, ussd_balance=BALANCE).run() as line:
        await trio.sleep(3000)
        assert len(network.dialled) > 4
        told = [text for text in line.context.traces if "balance is not known" in text]
        assert told == [
            "The SIM's balance is not known: The modem does not take the code. "
            "The modem does not support it."
        ]
        assert line.context.healths[-1].state is HealthState.UP


# -- on request --------------------------------------------------------------------------------


async def test_what_can_be_asked(autojump_clock, modem, new_line):
    def names(**settings):
        return [each.name for each in new_line(modem, **settings).driver.commands]

    assert names() == ["ussd", "balance", "retry-pin", "network"]
    assert names(pin="1234", ussd_balance=BALANCE) == names()


async def test_what_cannot_be_asked_says_which_setting_is_missing(autojump_clock, modem, new_line):
    line = new_line(modem)
    with pytest.raises(CommandRefusedError, match=r"\[carriers\.modem\.ussd_balance\] set code ="):
        await line.driver.command("balance", ())
    with pytest.raises(CommandRefusedError, match="set pin_env"):
        await line.driver.command("retry-pin", ())


async def test_a_code_and_choices_from_its_menus(autojump_clock, modem, new_line, play):
    answers = {"*100#": (1, "1 Solde"), "1": (1, "1 SMS"), "2": (0, "12 SMS")}
    network = Network(modem, answers, play)
    async with new_line(modem).run() as line:
        found = await line.driver.command("ussd", ("*100#", "1", "2"))
        assert found == {"text": "12 SMS"}
        assert network.dialled == ["*100#", "1", "2"]
        assert network.ended == 0
        assert await line.driver.command("ussd", ("*100#",)) == {"text": "1 Solde"}
        assert network.ended == 1  # the network still waited for a choice


async def test_the_balance_on_request(autojump_clock, modem, new_line, play):
    network = Network(modem, {"*124#": (0, "Votre solde: 99 MRU")}, play)
    async with new_line(modem, ussd_balance=BALANCE).run() as line:
        found = await line.driver.command("balance", ())
        assert found == {"text": "Votre solde: 99 MRU", "amount": 99.0, "is": "fine"}
        assert line.details["sim_balance"] == 99
        network.answers["*124#"] = (0, "Erreur")
        found = await line.driver.command("balance", ())
        assert (found["text"], found["amount"]) == ("Erreur", None)
        with pytest.raises(CommandRefusedError, match="no arguments"):
            await line.driver.command("balance", ("x",))


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (None, "did not answer in time"),
        ((4,), "does not support"),
        ((5,), "did not answer in time"),
        ((2,), "ended it"),
        ((0, ""), "is empty"),
    ],
)
async def test_no_answer_is_a_sentence(autojump_clock, modem, new_line, play, answer, sentence):
    network = Network(modem, {"*124#": answer, "*1#": (0, "one")}, play)
    async with new_line(modem).run() as line:
        with pytest.raises(CommandRefusedError, match=sentence):
            await line.driver.command("ussd", ("*124#",))
        assert await line.driver.command("ussd", ("*1#",)) == {"text": "one"}
        assert network.ended == 1  # whatever was left open
        assert isinstance(await line.driver.submit(segment()), Accepted)


@pytest.mark.parametrize("words", [(), ("*124#;AT+CFUN=0",), ("*1#", 'a"')])
async def test_what_is_no_code_is_not_dialled(autojump_clock, modem, new_line, play, words):
    network = Network(modem, {}, play)
    async with new_line(modem).run() as line:
        with pytest.raises(CommandRefusedError, match="Codes and choices have only digits"):
            await line.driver.command("ussd", words)
        with pytest.raises(CommandRefusedError, match="no command"):
            await line.driver.command("dance", ())
    with pytest.raises(CommandRefusedError, match="not ready"):
        await line.driver.command("ussd", ("*124#",))
    assert network.dialled == []


async def test_a_question_waits_for_a_message_that_is_on_its_way(
    autojump_clock, modem, new_line, play
):
    network = Network(modem, {"*124#": (0, "12")}, play)
    modem.cmgs = lambda _: None  # its reference is long in coming
    async with new_line(modem).run() as line:
        outcomes, found = [], []

        async def submit():
            outcomes.append(await line.driver.submit(segment()))

        async def ask():
            found.append(await line.driver.command("ussd", ("*124#",)))

        play.start_soon(submit)
        await trio.sleep(1)
        play.start_soon(ask)
        await trio.sleep(20)
        assert network.dialled == []
        await modem.say("+CMGS: 5\r\n\r\nOK")
        await trio.sleep(5)
        assert isinstance(outcomes[0], Accepted)
        assert found == [{"text": "12"}]


async def test_a_message_leaves_while_the_network_thinks(autojump_clock, modem, new_line, play):
    Network(modem, {"*124#": (0, "12")}, play, after_s=30)
    async with new_line(modem).run() as line:
        found = []

        async def ask():
            found.append(await line.driver.command("ussd", ("*124#",)))

        play.start_soon(ask)
        await trio.sleep(1)
        began_s = trio.current_time()
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert trio.current_time() - began_s < 5
        await trio.sleep(40)
        assert found == [{"text": "12"}]


async def test_unplugged_before_the_answer(autojump_clock, modem, new_line, play):
    Network(modem, {"*124#": None}, play)
    async with new_line(modem).run() as line:

        async def unplug():
            await trio.sleep(5)
            await modem.hang_up()

        play.start_soon(unplug)
        began_s = trio.current_time()
        with pytest.raises(CommandRefusedError, match="port closed"):
            await line.driver.command("ussd", ("*124#",))
        assert trio.current_time() - began_s < 10


async def test_an_answer_before_its_ok_and_one_that_nobody_asked_for(
    autojump_clock, modem, new_line
):
    modem.replies[DIAL] = '+CUSD: 0,"early",15\r\n\r\nOK'
    async with new_line(modem).run() as line:
        assert await line.driver.command("ussd", ("*124#",)) == {"text": "early"}
        await modem.say('+CUSD: 0,"Vous avez recu 10 MRU",15')
        await line.context.wait_until(lambda it: "Vous avez recu" in it.traces[-1])


async def test_a_command_that_is_cancelled_harms_nobody(autojump_clock, modem, new_line, play):
    network = Network(modem, {"*124#": None, "*1#": (0, "one")}, play)
    async with new_line(modem).run() as line:
        with trio.move_on_after(5):
            await line.driver.command("ussd", ("*124#",))
        assert await line.driver.command("ussd", ("*1#",)) == {"text": "one"}
        assert network.ended == 1
