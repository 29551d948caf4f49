"""What an operator asks of a carrier's driver."""

from dataclasses import dataclass, field

import pytest
import trio

from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.plugins.contract import (
    COMMAND_S,
    CommandRefusedError,
    DriverCommand,
    Health,
    HealthState,
)
from risala.plugins.testing.fake_driver import FakeDriver


@dataclass(slots=True)
class Talker(FakeDriver):
    """A driver with commands."""

    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    hangs: bool = False

    @property
    def commands(self):
        return (
            DriverCommand("balance", "What is left."),
            DriverCommand("say", "Repeats.", "WORD"),
        )

    async def command(self, name, arguments):
        await trio.lowlevel.checkpoint()
        self.asked.append((name, arguments))
        if self.hangs:
            await trio.sleep_forever()
        if arguments == ("no",):
            raise CommandRefusedError("The carrier says no.")
        if arguments == ("bug",):
            raise KeyError("secret")
        return {"balance": 42.5, "word": " ".join(arguments) or None}


@pytest.fixture
async def ask(open_house, quick):
    """``ask(command, *arguments)`` at a carrier with commands; ``ask.house``."""
    async with open_house(drivers={"fake": Talker()}) as house:

        async def ask_it(command, *words, carrier="fake"):
            values = {"carrier": carrier, "command": command, "arguments": list(words)}
            return await house.gateway.perform("carriers.ask", values)

        ask_it.house, ask_it.driver = house, house.driver
        yield ask_it


async def test_an_answer(ask, quick):
    assert (await ask("say", "one", "two"))["answer"] == {"balance": 42.5, "word": "one two"}
    assert ask.driver.asked == [("say", ("one", "two"))]


async def test_what_is_offered_and_what_was_asked_is_shown(ask, quick):
    await ask("say", "4711")
    shown = await ask.house.gateway.perform("carriers.show", {"carrier": "fake"})
    assert [each["name"] for each in shown["commands"]] == ["balance", "say"]
    told = [line["text"] for line in shown["trace"]]
    assert "the operator asked for say" in told
    assert "4711" not in repr(shown)
    assert all(line["at"].endswith("Z") for line in shown["trace"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("no",), "The carrier says no."), (("bug",), "See the log for the cause")],
)
async def test_a_refusal_and_a_bug_are_sentences(ask, words, sentence, quick):
    with pytest.raises(Conflict, match=sentence) as caught:
        await ask("say", *words)
    assert "secret" not in str(caught.value)
    assert (await ask("balance"))["answer"]["balance"] == 42.5


async def test_what_there_is_not(ask, quick):
    with pytest.raises(Invalid, match="balance, say"):
        await ask("dance")
    with pytest.raises(NotFound):
        await ask("say", carrier="nobody")
    with pytest.raises(NotFound):
        await ask.house.gateway.perform("carriers.show", {"carrier": "nobody"})
    with pytest.raises(Invalid):
        await ask("say", *["x"] * 11)
    with pytest.raises(Invalid):
        await ask("say", "x" * 201)
    with pytest.raises(Invalid):
        await ask("say", 7)
    values = {"carrier": "fake", "command": "say", "arguments": "word"}
    with pytest.raises(Invalid):
        await ask.house.gateway.perform("carriers.ask", values)
    assert ask.driver.asked == []


async def test_a_driver_without_commands(open_house, quick):
    async with open_house() as house:
        shown = await house.gateway.perform("carriers.show", {"carrier": "fake"})
        assert shown["commands"] == []
        with pytest.raises(Invalid, match="none"):
            await house.gateway.perform("carriers.ask", {"carrier": "fake", "command": "balance"})


async def test_one_at_a_time_and_bounded_in_time(ask, quick):
    ask.driver.hangs = True
    ends = []

    async def first():
        with pytest.raises(Conflict, match="did not answer"):
            await ask("balance")
        ends.append(trio.current_time())

    began_s = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(first)
        await trio.sleep(1)
        with pytest.raises(Conflict, match="busy"):
            await ask("balance")
    assert ends == [pytest.approx(began_s + COMMAND_S)]
    ask.driver.hangs = False
    await ask("balance")


async def test_a_hanging_command_holds_up_no_message(ask, quick):
    ask.driver.hangs = True
    async with trio.open_nursery() as nursery:

        async def hang():
            with pytest.raises(Conflict):
                await ask("balance")

        nursery.start_soon(hang)
        await trio.sleep(1)
        began_s = trio.current_time()
        await ask.house.wait_status(await ask.house.send(), "sent")
        assert trio.current_time() - began_s < 10


async def test_numbers_of_a_driver_are_metrics_and_its_attention_is_the_doctor_s(ask, quick):
    details = {"signal_dbm": -73, "operator": "Mauritel", "attention": "Top it up."}
    ask.driver.context.health(Health(HealthState.UP, "Ready.", details))
    text = ask.house.gateway.metrics().decode()
    assert 'risala_carrier_detail{carrier="fake",detail="signal_dbm"} -73.0' in text
    assert "Mauritel" not in text
    (shown,) = ask.house.gateway.services.delivery.carriers()
    assert shown.details == details


async def test_a_hanging_command_does_not_hold_up_the_stop(open_house, quick):
    said = []
    async with trio.open_nursery() as nursery:
        async with open_house(drivers={"fake": Talker(hangs=True)}) as house:

            async def ask_it():
                with pytest.raises(Conflict) as caught:
                    await house.gateway.perform(
                        "carriers.ask", {"carrier": "fake", "command": "balance"}
                    )
                said.append(str(caught.value))

            nursery.start_soon(ask_it)
            await trio.sleep(1)
            began_s = trio.current_time()
        assert trio.current_time() - began_s < 5
    assert said == ["The service is stopping."]
