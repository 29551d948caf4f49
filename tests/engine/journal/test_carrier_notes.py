"""What a driver asked the engine to remember."""

import pytest

from risala.engine.journal import carriers
from risala.engine.model.errors import StorageFailed
from risala.plugins.contract import (
    NOTE_KEY_CHARACTERS_MAX,
    NOTE_TEXT_CHARACTERS_MAX,
    NOTES_MAX,
    Inbound,
    NotStoredError,
)

WHOLE = Inbound("+22236999999", None, "whole", 0, ("a", "b"))


async def test_notes_outlive_a_restart_and_are_the_carriers_own(open_house, quick, carrier):
    both = (carrier("one"), carrier("two"))
    async with open_house(*both) as house:
        one, two = (driver.context for driver in house.drivers.values())
        await one.remember({"quota/day": "17", "quota/month": "3", "pin": "refused"})
        await two.remember({"quota/day": "1"})
        await one.remember({"quota/day": "18", "pin": None, "never": None})
    async with open_house(*both) as house:
        one, two = (driver.context for driver in house.drivers.values())
        assert one.recall() == {"quota/day": "18", "quota/month": "3"}
        assert two.recall() == {"quota/day": "1"}
        assert one.recall("quota/d") == {"quota/day": "18"}
        assert one.recall("quota%") == {}


async def test_parts_go_in_the_instant_in_which_their_message_comes(open_house, quick):
    async with open_house() as house:
        context = house.driver.context
        await context.remember({"part/1": "who", "part/2": "le", "other": "stays"})
        await context.inbound(WHOLE, forget=("part/1", "part/2"))
        assert context.recall() == {"other": "stays"}
        # Brought again, it is not stored again, and its parts go all the same.
        await context.remember({"part/1": "who"})
        await context.inbound(WHOLE, forget=("part/1",))
        assert context.recall("part/") == {}


async def test_where_the_message_is_not_stored_its_parts_stay(open_house, quick, monkeypatch):
    def breaks(*_: object) -> None:
        raise StorageFailed

    async with open_house() as house:
        context = house.driver.context
        await context.remember({"part/1": "whole"})
        with monkeypatch.context() as patched:
            patched.setattr(carriers, "forget_notes", breaks)
            with pytest.raises(NotStoredError):
                await context.inbound(WHOLE, forget=("part/1",))
        assert context.recall("part/") == {"part/1": "whole"}
        stored = house.gateway.services.repositories._store.reader.execute(
            "SELECT count(*) FROM inbound"
        ).fetchone()
        assert stored == (0,)


async def test_too_many_and_too_long_change_nothing(open_house, quick):
    async with open_house() as house:
        context = house.driver.context
        await context.remember({f"{n:05}": "" for n in range(NOTES_MAX - 1)})
        with pytest.raises(NotStoredError):
            await context.remember({"new": "", "newer": ""})
        assert len(context.recall()) == NOTES_MAX - 1
        await context.remember({"new": ""})
        await context.remember({"new": "again", "00000": None, "newer": ""})
        assert len(context.recall()) == NOTES_MAX
        for bad in ({"": "x"}, {"k" * (NOTE_KEY_CHARACTERS_MAX + 1): "x"}):
            with pytest.raises(ValueError, match="key"):
                await context.remember(bad)
        with pytest.raises(ValueError, match="characters"):
            await context.remember({"new": "x" * (NOTE_TEXT_CHARACTERS_MAX + 1)})
        assert context.recall("new") == {"new": "again", "newer": ""}
