"""Alarms in a running engine: each step once, until somebody answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from typing import Any

import pytest
import trio

from risala.engine.features.alarms.service import AlarmCalling
from risala.engine.features.alarms.stored import alarms as stored
from risala.engine.features.hooks.receiving import HookReceiver
from risala.engine.features.hooks.rules.requests import HookRequest
from risala.engine.journal.store.writer import Journal
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound
from risala.engine.model.feature_work import RetentionWalk, WalkKind
from risala.sms.message import Inbound
from second_machine import copy_of, take_over

pytestmark = pytest.mark.slow

ONE, TWO, THREE = "+22236000001", "+22236000002", "+22236000003"
OURS = "1234"
SAYS = "Fire\nReply OK to stop this alarm."
_ids = count()


class Watch:
    """An organization with a chain."""

    def __init__(self, house: Any, before: Watch | None = None) -> None:
        self.house = house
        self.whose = (
            {"organization_id": house.principal.organization_id} if before is None else before.whose
        )

    async def do(self, name: str, caller: Caller | None = None, /, **arguments: Any) -> Any:
        perform = self.house.gateway.perform
        is_whole = "." in name or name in ("adjust", "topup")
        name = name if is_whole else f"alarm.{name}"
        return await (
            perform(name, arguments) if caller is None else perform(name, arguments, caller)
        )

    async def chain(self, *people: str, **more: Any) -> str:
        usual = {"name": "Cold room", "people": people or (ONE, TWO), "interval_seconds": 60}
        made = await self.do("create", **{**usual, **more}, **self.whose)
        return str(made["chainId"])

    async def sound(self, chain_id: str, text: str = "Fire", **more: Any) -> str:
        raised = await self.do("raise", chain_id=chain_id, text=text, **more)
        await trio.sleep(0.01)  # the next one has a later id
        return str(raised["alarmId"])

    async def look(self, alarm_id: str) -> tuple[str, list[str]]:
        """Its state, and whom its steps wrote to."""
        view = await self.do("steps", alarm_id=alarm_id)
        return view["alarm"]["state"], [each["number"] for each in view["past"]]

    async def come_in(self, text: str, sender: str) -> None:
        now_ms = self.house.clock.now_ms()
        message = Inbound(sender, OURS, text, now_ms, (f"mo{next(_ids)}",))
        await self.house.driver.context.inbound(message)
        await trio.sleep(1)

    @property
    def sent(self) -> list[str]:
        return [each.recipient for each in self.house.driver.submitted]

    @property
    def reader(self) -> Any:
        return self.house.gateway.services.repositories._store.reader

    def rows(self, statement: str) -> list[Any]:
        return self.reader.execute(statement).fetchall()


OpenWatch = Callable[..., AbstractAsyncContextManager[Watch]]


@pytest.fixture
def open_watch(open_house, quick) -> OpenWatch:
    former: list[Watch] = []

    @asynccontextmanager
    async def open_one(**given: Any) -> AsyncIterator[Watch]:
        async with open_house(**given) as house:
            former[:] = [Watch(house, former[0] if former else None)]
            yield former[0]

    return open_one


@pytest.fixture
async def watch(open_watch, quick) -> AsyncIterator[Watch]:
    async with open_watch() as opened:
        yield opened


async def test_one_after_the_other_until_somebody_answers(watch, quick):
    alarm = await watch.sound(await watch.chain(ONE, TWO, THREE))
    await trio.sleep(1)
    assert watch.sent == [ONE], "the first at once"
    assert watch.house.driver.submitted[0].text == SAYS
    await trio.sleep(60)
    assert watch.sent == [ONE, TWO]
    await watch.come_in("ok, I go", TWO)
    await trio.sleep(600)
    assert watch.sent == [ONE, TWO], "nobody after the answer"
    view = await watch.do("steps", alarm_id=alarm)
    assert (view["alarm"]["state"], view["alarm"]["endedBy"]) == ("answered", TWO)
    assert [(each["step"], each["outcome"]) for each in view["past"]] == [(1, "sent"), (2, "sent")]
    message = await watch.do("message.show", message_id=view["past"][1]["messageId"])
    assert f"the face alarm ({alarm}:2)" in message["timeline"][0]["text"]


async def test_rounds_then_nobody_answered(watch, quick):
    alarm = await watch.sound(await watch.chain(rounds=2))
    await trio.sleep(600)
    assert await watch.look(alarm) == ("unanswered", [ONE, TWO, ONE, TWO])
    with pytest.raises(Conflict, match="has ended"):
        await watch.do("end", alarm_id=alarm)


async def test_the_words_that_end_it(watch, quick):
    """Whoever was not written to, or says something else, ends nothing."""
    alarm = await watch.sound(await watch.chain(word="VU"))
    await trio.sleep(1)
    for text, sender in (("vu", THREE), ("vu", TWO), ("I have vu it", ONE), ("", ONE)):
        await watch.come_in(text, sender)
    assert (await watch.look(alarm))[0] == "going"
    await watch.come_in("« Vu ! »", ONE)
    assert (await watch.look(alarm))[0] == "answered"


async def test_one_answer_ends_what_the_organization_wrote_to_its_sender(watch, quick):
    chain = await watch.chain()
    first, second = await watch.sound(chain), await watch.sound(chain)
    other = Watch(watch.house)
    other.whose = {"organization_id": (await watch.house.organization()).organization_id}
    theirs = await other.sound(await other.chain(ONE))
    await trio.sleep(1)
    await watch.come_in("ok", ONE)
    assert [(await watch.look(each))[0] for each in (first, second)] == ["going", "going"]
    assert (await watch.look(theirs))[0] == "answered", "who wrote last is meant"
    await watch.come_in("ok", ONE)
    assert [(await watch.look(each))[0] for each in (first, second)] == ["answered", "answered"]


async def test_a_word_of_the_opt_outs_is_that_alone(watch, quick):
    chain = await watch.chain()
    for word in ("stop", "ARRÊT", "start"):
        with pytest.raises(Invalid) as refused:
            await watch.do("set", chain_id=chain, word=word)
        assert refused.value.code == "reserved_word"
    await watch.do("inbound.opt_outs", heeds=True, **watch.whose)
    alarm = await watch.sound(chain)
    await trio.sleep(1)
    await watch.come_in("STOP", ONE)
    await trio.sleep(120)
    state, numbers = await watch.look(alarm)
    assert state == "going"
    assert numbers[:3] == [ONE, TWO, ONE]
    (refused,) = [
        each["why"]
        for each in (await watch.do("steps", alarm_id=alarm))["past"]
        if each["outcome"] == "refused"
    ]
    assert "opted out" in refused


async def test_a_rule_does_not_answer_what_ends_an_alarm(watch, quick):
    await watch.do("inbound.route", **watch.whose)
    await watch.do("answer.create", name="All", text_en="We are closed.", **watch.whose)
    alarm = await watch.sound(await watch.chain())
    await trio.sleep(1)
    await watch.come_in("ok", ONE)
    assert watch.sent == [ONE]
    assert (await watch.look(alarm))[0] == "answered"
    await watch.come_in("ok", ONE)
    assert watch.sent == [ONE, ONE], "no alarm goes on: the rule answers"


async def test_who_cannot_be_written_to_is_passed_over_at_once(watch, quick):
    await watch.do("inbound.opt_outs", heeds=True, **watch.whose)
    await watch.do("inbound.opt_out", number=ONE, **watch.whose)
    alarm = await watch.sound(await watch.chain())
    await trio.sleep(1)
    assert watch.sent == [TWO]
    past = (await watch.do("steps", alarm_id=alarm))["past"]
    assert [(each["number"], each["outcome"]) for each in past] == [(ONE, "refused"), (TWO, "sent")]


async def test_without_money_the_next_try_is_after_the_interval(watch, quick):
    await watch.do("adjust", amount="-1000", reason="spent", **watch.whose)
    alarm = await watch.sound(await watch.chain())
    await trio.sleep(1)
    assert await watch.look(alarm) == ("going", [ONE])
    assert watch.sent == []
    await watch.do("topup", amount="5", **watch.whose)
    await trio.sleep(60)
    assert watch.sent == [TWO]


async def test_shifts_are_looked_at_before_each_step(watch, quick):
    await watch.do("org.set", time_zone="UTC", **watch.whose)
    minute = watch.house.clock.now_ms() // 60_000 % 1440
    turn = f"{(minute + 2) % 1440 // 60:02}:{(minute + 2) % 60:02}"
    chain = await watch.chain(f"{ONE} {turn}-00:00", f"{TWO} 00:00-{turn}", rounds=1)
    shown = await watch.do("show", chain_id=chain)
    assert (shown["onDuty"], shown["timeZone"]) == ([TWO], "UTC")
    alarm = await watch.sound(chain)
    watch.house.pass_s(180)
    await trio.sleep(61)
    assert (await watch.look(alarm))[1] == [TWO, ONE]
    await trio.sleep(61)
    assert (await watch.look(alarm))[0] == "unanswered"


async def test_a_clock_that_is_set_writes_to_nobody_twice(watch, quick):
    alarm = await watch.sound(await watch.chain(ONE, TWO, THREE, rounds=1))
    await trio.sleep(1)
    for shift_s in (-3600, 3600, -86400, 86400):
        watch.house.pass_s(shift_s)
        await trio.sleep(70)
    assert await watch.look(alarm) == ("unanswered", [ONE, TWO, THREE])
    assert watch.sent == [ONE, TWO, THREE]


async def test_the_same_key_raises_once(watch, quick):
    chain = await watch.chain()
    first = await watch.sound(chain, idempotency_key="fire-2026-12")
    assert await watch.sound(chain, idempotency_key="fire-2026-12") == first
    assert await watch.sound(chain, idempotency_key="fire-2026-13") != first
    tried = await watch.sound(chain, idempotency_key="fire-2026-12", mode="test")
    assert tried != first
    await trio.sleep(1)
    assert watch.sent == [ONE, ONE], "a trial uses no carrier"
    assert (await watch.look(tried))[1] == [ONE]


async def test_a_live_text_ends_no_trial(watch, quick):
    alarm = await watch.sound(await watch.chain(), mode="test")
    await trio.sleep(1)
    await watch.come_in("ok", ONE)
    assert (await watch.look(alarm))[0] == "going"
    ended = await watch.do("end", alarm_id=alarm)
    assert (ended["state"], ended["nextAt"]) == ("ended", None)


async def test_a_chain_that_changes_or_goes_takes_its_alarms_along(watch, quick):
    chain = await watch.chain(rounds=1)
    alarm = await watch.sound(chain)
    await trio.sleep(1)
    await watch.do("set", chain_id=chain, people=[THREE, ONE], word="yes")
    await trio.sleep(60)
    assert (await watch.look(alarm))[1] == [ONE, THREE]
    deleted = await watch.do("delete", chain_id=chain)
    assert deleted["people"] == [THREE, ONE]
    with pytest.raises(NotFound):
        await watch.look(alarm)
    await trio.sleep(600)
    assert watch.rows("SELECT * FROM alarm_steps") == []
    assert watch.sent == [ONE, THREE]


async def test_there_are_bounds(watch, quick, monkeypatch):
    for name, most in (("CHAINS_MAX", 2), ("OPEN_MAX", 2), ("RAISED_KEPT", 1)):
        monkeypatch.setattr(stored, name, most)
    chain, _ = await watch.chain(), await watch.chain()
    with pytest.raises(Conflict, match="at most 2 alarm chains"):
        await watch.chain()
    first, _ = await watch.sound(chain), await watch.sound(chain)
    with pytest.raises(Conflict, match="At most 2 alarms"):
        await watch.sound(chain)
    for _ in range(3):
        alarms = (await watch.do("show", chain_id=chain))["alarms"]
        await watch.do("end", alarm_id=alarms[0]["alarmId"])
        await watch.sound(chain)
    alarms = watch.rows("SELECT state, id FROM alarms ORDER BY id")
    assert sorted(state for state, _ in alarms) == ["ended", "going", "going"]
    assert first in {alarm_id for _, alarm_id in alarms}, "those that go on stay"


async def test_what_is_wrong_is_named(watch, quick):
    for wrong, name, code in (
        ({"people": []}, "people", "missing"),
        ({"people": ["nobody"]}, "people", "invalid_person"),
        ({"people": ["12"]}, "people", "invalid_phone_number"),
        ({"people": [ONE] * 21}, "people", "too_many_recipients"),
        ({"people": ONE}, "people", "invalid_list"),
        ({"interval_seconds": 59}, "interval_seconds", "out_of_range"),
        ({"rounds": 6}, "rounds", "out_of_range"),
        ({"word": "two words"}, "word", "invalid_keyword"),
        ({"word": "?"}, "word", "invalid_keyword"),
        ({"language": "de"}, "language", "invalid_language"),
        ({"name": ""}, "name", "missing"),
    ):
        with pytest.raises(Invalid) as refused:
            await watch.do("create", **{"name": "A", "people": [ONE], **wrong}, **watch.whose)
        assert (refused.value.path, refused.value.code) == (name, code)
    chain = await watch.chain("36 00 00 01 mon-wed")
    assert (await watch.do("show", chain_id=chain))["chain"]["people"] == [f"{ONE} mon-wed"]
    for text, code in (("", "missing"), ("  ", "empty"), ("x" * 1001, "too_long")):
        with pytest.raises(Invalid) as refused:
            await watch.sound(chain, text)
        assert refused.value.code == code


async def test_who_may(watch, quick):
    organization_id = watch.whose["organization_id"]
    viewer = Caller("v@b.mr", CallerKind.DASHBOARD, Role.VIEWER, organization_id, user_id="usr_2")
    chain = await watch.chain()
    assert (await watch.do("show", viewer, chain_id=chain))["chain"]["word"] == "OK"
    for name, arguments in (
        ("raise", {"chain_id": chain, "text": "Fire"}),
        ("end", {"alarm_id": await watch.sound(chain)}),
        ("set", {"chain_id": chain, "rounds": 1}),
    ):
        with pytest.raises(Forbidden):
            await watch.do(name, viewer, **arguments)


# -- hooks


async def receive(watch: Watch, hook: Any, text: str) -> int:
    """The status that a program gets."""
    secret = hook["secret"].removeprefix("Bearer ")
    request = HookRequest(
        method="POST",
        query="",
        headers={"authorization": f"Bearer {secret}"},
        body=json.dumps({"msg": text}).encode(),
        content_type="application/json",
        path_secret=None,
        at_s=watch.house.clock.now_ms() // 1000,
    )
    receiver = watch.house.gateway.services.part(HookReceiver)
    return (await receiver.receive(hook["hook"]["id"], request, None)).answer.status


async def test_a_hook_raises_an_alarm_in_place_of_writing_to_all(watch, quick):
    chain = await watch.chain()
    hook = await watch.do("hook.create", preset="uptime-kuma", alarm=chain, **watch.whose)
    assert await receive(watch, hook, "Shop is down") == 200
    await trio.sleep(1)
    assert watch.sent == [ONE]
    (alarm,) = (await watch.do("list", **watch.whose))["going"]
    assert (alarm["text"], alarm["raisedBy"]) == ("Shop is down", hook["hook"]["id"])
    await watch.do("delete", chain_id=chain)
    assert await receive(watch, hook, "Shop is down") == 400
    with pytest.raises(Invalid) as refused:
        await watch.do("hook.set", hook_id=hook["hook"]["id"], alarm=chain)
    assert refused.value.code == "unknown_chain"
    with pytest.raises(Invalid):
        await watch.do("hook.set", hook_id=hook["hook"]["id"], alarm=None)


async def test_a_hook_that_names_its_recipients_raises_none(watch, quick):
    with pytest.raises(Invalid) as refused:
        await watch.do(
            "hook.create", preset="supabase-auth", alarm=await watch.chain(), **watch.whose
        )
    assert refused.value.code == "unexpected_alarm"


async def test_a_storm_of_alerts_raises_a_few_alarms(watch, quick):
    hook = await watch.do(
        "hook.create", preset="uptime-kuma", alarm=await watch.chain(rounds=1), **watch.whose
    )
    for number in range(30):
        assert await receive(watch, hook, f"Down {number}") == 200
    await trio.sleep(400)
    (alarms,) = watch.rows("SELECT count(*) FROM alarms")
    assert alarms == (6,), "five, and one that says how many more there were"


# -- crashes, and what else there is to do with all tables


@pytest.mark.parametrize("commits", range(1, 7))
async def test_a_cut_off_service_makes_each_step_once(open_watch, quick, monkeypatch, commits):
    async with open_watch() as watch:
        chain = await watch.chain(rounds=2)
    left, stock = commits, Journal._written
    with trio.CancelScope() as life:

        async def written(journal, entries, abort):
            nonlocal left
            await stock(journal, entries, abort)
            left -= 1
            if left <= 0:
                life.cancel()
                await trio.lowlevel.checkpoint()

        async with open_watch() as watch:
            await watch.do("carriers.pause", carrier="fake")
            with monkeypatch.context() as patch:
                patch.setattr(Journal, "_written", written)
                await watch.sound(chain, idempotency_key="fire-2026")
                await trio.sleep(300)
    async with open_watch() as watch:
        alarm = await watch.sound(chain, idempotency_key="fire-2026")
        await trio.sleep(300)
        assert await watch.look(alarm) == ("unanswered", [ONE, TWO, ONE, TWO])
        messages = watch.rows("SELECT recipient FROM messages ORDER BY id")
        assert [number for (number,) in messages] == [ONE, TWO, ONE, TWO]


@pytest.mark.parametrize("commits", range(1, 7))
async def test_a_second_machine_that_has_all_makes_each_step_once(
    open_watch, tmp_path, quick, monkeypatch, commits
):
    """It takes over at any commit of an alarm, and goes on."""
    async with open_watch() as watch:
        chain = await watch.chain(rounds=2)
    left, stock = commits, Journal._written
    with trio.CancelScope() as life:

        async def written(journal, entries, abort):
            nonlocal left
            await stock(journal, entries, abort)
            left -= 1
            if left <= 0:
                life.cancel()
                await trio.lowlevel.checkpoint()

        async with open_watch() as watch:
            await watch.do("carriers.pause", carrier="fake")
            with monkeypatch.context() as patch:
                patch.setattr(Journal, "_written", written)
                await watch.sound(chain, idempotency_key="fire-2026")
                await trio.sleep(300)
    take_over(tmp_path, copy_of(tmp_path), watch.house.clock.now_ms(), goes_on=True)
    async with open_watch() as watch:
        alarm = await watch.sound(chain, idempotency_key="fire-2026")
        await trio.sleep(300)
        assert await watch.look(alarm) == ("unanswered", [ONE, TWO, ONE, TWO])
        messages = watch.rows("SELECT recipient FROM messages ORDER BY id")
        assert [number for (number,) in messages] == [ONE, TWO, ONE, TWO]


async def test_a_second_machine_with_an_older_copy_makes_no_step_again(open_watch, tmp_path, quick):
    async with open_watch() as watch:
        alarm = await watch.sound(await watch.chain())
        copy = copy_of(tmp_path)
        await trio.sleep(61)
        assert watch.sent == [ONE, TWO]
    take_over(tmp_path, copy, watch.house.clock.now_ms(), goes_on=False)
    async with open_watch() as watch:
        await trio.sleep(600)
        assert watch.sent == [], "it does not know whom the first one wrote to"
        view = await watch.do("steps", alarm_id=alarm)
        assert (view["alarm"]["state"], view["alarm"]["endedBy"]) == ("ended", "restore")


async def test_a_key_that_a_customer_used_before_does_not_hold_it_up(watch, quick):
    chain = await watch.chain(rounds=1)
    calling = watch.house.gateway.services.part(AlarmCalling)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calling._ids, "new", lambda prefix: f"{prefix}_1")
        await watch.house.send(to=ONE, body="Mine", idempotency_key="alm_1:1")
        alarm = await watch.sound(chain)
    await trio.sleep(120)
    assert (await watch.look(alarm))[1] == [ONE, TWO]


async def test_after_a_restore_none_goes_on_by_itself(watch, quick):
    alarm = await watch.sound(await watch.chain())
    services = watch.house.gateway.services
    await services.recorder.journal.commit(stored.restored)
    view = await watch.do("steps", alarm_id=alarm)
    assert (view["alarm"]["state"], view["alarm"]["endedBy"]) == ("ended", "restore")


async def test_an_erased_number_is_in_no_chain_and_no_step(watch, quick):
    chain = await watch.chain(f"{ONE} mon", TWO)
    alarm = await watch.sound(chain)
    await trio.sleep(61)
    await watch.come_in("ok", TWO)
    whose, journal = watch.whose["organization_id"], watch.house.gateway.services.recorder.journal
    for number in (ONE, TWO):
        await journal.commit(lambda conn, n=number: stored.withdraw(conn, whose, n))
    gone = await journal.commit(lambda conn: stored.erase(conn, whose, TWO, 10))
    assert sum(gone.values()) >= 1
    assert (await watch.do("show", chain_id=chain))["chain"]["people"] == []
    view = await watch.do("steps", alarm_id=alarm)
    assert TWO not in {each["number"] for each in view["past"]}
    assert view["alarm"]["endedBy"] is None
    nobody = await watch.sound(chain)
    await trio.sleep(1)
    assert await watch.look(nobody) == ("unanswered", [])


async def test_old_alarms_go_and_those_that_go_on_stay(watch, quick):
    chain = await watch.chain(rounds=1)
    await watch.sound(chain)
    await trio.sleep(200)
    going = await watch.sound(chain)
    await trio.sleep(1)
    now_ms, journal = watch.house.clock.now_ms(), watch.house.gateway.services.recorder.journal
    others = RetentionWalk(WalkKind.ALARMS, 0, organizations=("org_other",))
    none = await journal.commit(lambda conn: stored.walk_old(conn, others, now_ms, 10))
    assert (none.rows, none.done) == (0, True)
    walk = RetentionWalk(WalkKind.ALARMS, 0)
    forgot = await journal.commit(lambda conn: stored.walk_old(conn, walk, now_ms, 10))
    assert (forgot.rows, forgot.done) == (1, True)
    assert watch.rows("SELECT DISTINCT alarm_id FROM alarm_steps") == [(going,)]


async def test_the_owners_file_has_them(watch, quick):
    chain = await watch.chain(rounds=1)
    first, _ = await watch.sound(chain), await watch.sound(chain)
    await trio.sleep(100)
    whose = watch.whose["organization_id"]
    part = stored.export(watch.reader, whose, "", 1)
    assert (part.rows[0]["alarmId"], len(part.rows[0]["steps"])) == (first, 2)
    rest = stored.export(watch.reader, whose, part.last, 5)
    assert (len(rest.rows), rest.last) == (1, None)
