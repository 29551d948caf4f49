"""What a driver asked the engine to keep sealed."""

import pytest
from structlog.testing import capture_logs

from risala.engine.features.backup.stored.backup import back_up
from risala.engine.journal import carriers
from risala.engine.journal.carrier_secrets import SecretOwner
from risala.engine.journal.upkeep.database_copy import unheard
from risala.engine.model.errors import StorageFailed
from risala.plugins.contract import (
    NOTE_KEY_CHARACTERS_MAX,
    NOTE_TEXT_CHARACTERS_MAX,
    SECRET_CHARACTERS_MAX,
    SECRETS_MAX,
    Inbound,
    NotStoredError,
)

TOKEN = "token-of-the-phone-4711"
WHOLE = Inbound("+22236999999", None, "whole", 0, ("a", "b"))


def octets(folder):
    """Everything that the database's files hold."""
    return b"".join(each.read_bytes() for each in folder.glob("risala.db*"))


def keys_stored(house):
    store = house.gateway.services.repositories._store
    return [key for (key,) in store.reader.execute("SELECT key FROM carrier_secrets ORDER BY 1")]


async def test_they_outlive_a_restart_are_the_carriers_own_and_stand_nowhere_in_the_clear(
    open_house, quick, carrier, tmp_path
):
    both = (carrier("one"), carrier("two"))
    with capture_logs() as lines:
        async with open_house(*both) as house:
            one, two = (driver.context for driver in house.drivers.values())
            await one.remember_secret({"a/token": TOKEN, "b": "", "c": "gone"}, notes={"a": "seen"})
            await two.remember_secret({"a/token": "token-of-another"})
            await one.remember_secret({"c": None, "never": None})
            assert TOKEN.encode() not in octets(tmp_path)
            assert b"a/token" in octets(tmp_path)  # what is looked for is what the driver gave
        async with open_house(*both) as house:
            one, two = (driver.context for driver in house.drivers.values())
            assert one.recall_secret() == {"a/token": TOKEN, "b": ""}
            assert one.recall_secret("a/") == {"a/token": TOKEN}
            assert one.recall_secret("a%") == {}
            assert two.recall_secret() == {"a/token": "token-of-another"}
            assert one.recall() == {"a": "seen"}
            assert TOKEN not in repr(vars(one))
    backup = tmp_path / "copies" / "copy.db"
    backup.parent.mkdir()
    back_up(tmp_path / "risala.db", backup, unheard)
    assert TOKEN.encode() not in octets(tmp_path)
    assert TOKEN.encode() not in backup.read_bytes()
    assert TOKEN not in str(lines)


async def test_both_kinds_are_written_together_or_neither(open_house, quick, monkeypatch):
    def breaks(*_: object) -> None:
        raise StorageFailed

    async with open_house() as house:
        context = house.driver.context
        with monkeypatch.context() as patched:
            patched.setattr(carriers, "remember_notes", breaks)
            with pytest.raises(NotStoredError):
                await context.remember_secret({"token": TOKEN}, notes={"device": "seen"})
        assert (context.recall_secret(), context.recall()) == ({}, {})


async def test_they_go_in_the_instant_in_which_their_message_comes(open_house, quick, monkeypatch):
    def breaks(*_: object) -> None:
        raise StorageFailed

    async with open_house() as house:
        context = house.driver.context
        await context.remember_secret({"once": TOKEN, "other": "stays"}, notes={"part": "x"})
        with monkeypatch.context() as patched:
            patched.setattr(carriers, "forget_notes", breaks)
            with pytest.raises(NotStoredError):
                await context.inbound(WHOLE, forget=("once", "part"))
        assert context.recall_secret("once") == {"once": TOKEN}
        await context.inbound(WHOLE, forget=("once", "part"))
        assert context.recall_secret() == {"other": "stays"}
        assert context.recall() == {}


async def test_too_many_and_too_long_change_nothing_and_say_nothing_of_the_text(open_house, quick):
    async with open_house() as house:
        context = house.driver.context
        await context.remember_secret({f"{n:04}": "" for n in range(SECRETS_MAX - 1)})
        with pytest.raises(NotStoredError):
            await context.remember_secret({"new": TOKEN, "newer": TOKEN}, notes={"n": "x"})
        assert len(context.recall_secret()) == SECRETS_MAX - 1
        assert context.recall() == {}
        await context.remember_secret({"new": TOKEN, "0000": None, "newer": TOKEN})
        assert len(context.recall_secret()) == SECRETS_MAX
        for bad in ({"": "x"}, {"k" * (NOTE_KEY_CHARACTERS_MAX + 1): "x"}):
            with pytest.raises(ValueError, match="key"):
                await context.remember_secret(bad)
        long = TOKEN * SECRET_CHARACTERS_MAX
        with pytest.raises(ValueError, match="characters") as caught:
            await context.remember_secret({"new": long})
        assert TOKEN not in str(caught.value)
        with pytest.raises(ValueError, match="note"):
            await context.remember_secret({}, notes={"n": "x" * (NOTE_TEXT_CHARACTERS_MAX + 1)})
        assert context.recall_secret("new") == {"new": TOKEN, "newer": TOKEN}


async def test_a_rotation_seals_them_anew_and_a_lost_key_takes_them_by_their_names(
    open_house, quick
):
    async with open_house() as house:
        gateway, context = house.gateway, house.driver.context
        await context.remember_secret({"phone/token": TOKEN})
        await gateway.perform("secrets.rotate", {"forget_old": True})
        assert context.recall_secret() == {"phone/token": TOKEN}
        gateway.services.sealing.rotate()  # without sealing: the key is lost
        gateway.services.sealing.forget_old()
        assert context.recall_secret() == context.recall_secret() == {}
        (lost,) = (await gateway.perform("secrets.show", {}))["lost"]
        assert "phone/token" in lost["remedy"]
        shown = await gateway.perform("carriers", {})
        assert str(shown).count("'phone/token'") == 1
        assert TOKEN not in str(shown)
        await context.remember_secret({"phone/token": "another"})
        assert context.recall_secret() == {"phone/token": "another"}


async def test_a_carrier_that_is_gone_leaves_none_and_a_disabled_one_keeps_its_own(
    open_house, quick, carrier
):
    async with open_house(carrier("one"), carrier("two")) as house:
        for driver in house.drivers.values():
            await driver.context.remember_secret({f"of-{driver.context.carrier}": TOKEN})
        stored = house.gateway.services.repositories.carrier_secrets
        await stored.remember(SecretOwner("one", "another"), {"former-driver": TOKEN}, {}, 1)
        assert keys_stored(house) == ["former-driver", "of-one", "of-two"]
    async with open_house(carrier("one", enabled=False), carrier("three")) as house:
        assert keys_stored(house) == ["of-one"]
