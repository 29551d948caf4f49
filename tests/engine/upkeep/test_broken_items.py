"""One item that breaks a loop for everybody ends nobody else's turn: at each loop, and again after
a restart."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace as Given

import pytest
import trio
from structlog.testing import capture_logs

from risala.config.model import RetentionSection
from risala.engine.accounts.key_upkeep import KeyUpkeep
from risala.engine.accounts.last_uses import LastUses, UsedPlaces
from risala.engine.actors.set_aside import AGAIN_FIRST_S, SetAsideItems
from risala.engine.delivery.deadline_watch import DeadlineWatch
from risala.engine.delivery.sorter import sort_again
from risala.engine.features.compat.callbacks import CompatCallbacks
from risala.engine.features.hooks.records import Storm
from risala.engine.features.hooks.service import end_due
from risala.engine.features.own_data import erasing
from risala.engine.features.own_data.erasing import Erasing
from risala.engine.features.own_data.exporting import Exporting
from risala.engine.features.own_data.records import ExportState
from risala.engine.features.own_data.retention import Retention
from risala.engine.features.payments.bank_sms_reader import BankSmsReader
from risala.engine.intake.opt_outs import LookBack
from risala.engine.model.errors import StorageFailed
from risala.engine.model.feature_work import Forgot
from risala.engine.model.records.webhooks import DueCall
from risala.engine.people.post import Post
from risala.engine.verify.sessions import VerificationSessions
from risala.engine.webhooks.notices import Notices

FAULTS = [
    OverflowError("Python int too large to convert to SQLite INTEGER"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    ValueError("year 10000 is out of range"),
    TypeError("must be real number, not NoneType"),
]
BAD = "bad"
OF_BANK = {"sender": "BANK", "body": "", "received_at": 0, "service_centre": None, "sent_at": None}
TRY_S = 2 * AGAIN_FIRST_S


class Broken:
    """Does something for items, and breaks over one of them."""

    def __init__(self, fault=FAULTS[0]):
        self.fault = fault
        self.done = []
        self.tried = 0

    async def __call__(self, item, *_):
        some = item if isinstance(item, list | dict | tuple) else [item]
        if any(BAD in str(each) for each in some):
            self.tried += 1
            raise self.fault
        self.done += [str(each) for each in some]
        return True


@pytest.fixture
def clock():
    return Given(now_ms=lambda: 1_000_000 + round(1000 * trio.current_time()))


@pytest.fixture
def aside():
    return SetAsideItems()


def broken_one(aside):
    """The only item that is set aside, whatever loop has it."""
    (found,) = (each for each in aside.statuses() if each.items)
    (item,) = found.items
    return item


async def a_while(run, span_s=1.0):
    with trio.move_on_after(span_s):
        await run()


async def a_second(_):
    await trio.sleep(1)


async def storms(work, aside, clock):
    rows = [Storm(hook, 0, 1, 1, "x") for hook in (BAD, "good")]
    left = {each.hook: each for each in rows}

    async def end(storm):
        left.pop(storm.hook)

    stored = Given(storms=lambda: [*left.values()], end_storm=end)

    async def ended(storm):
        await work(storm.hook)

    receiver = Given(end_storm=ended)
    while True:
        await end_due(receiver, stored, clock, aside.loop("hook_alerts"))
        await trio.sleep(1)


async def notices(work, aside, clock):
    left = [Given(endpoint=Given(id=each), due_at=0) for each in (BAD, "good")]

    async def owe(notice, *_):
        await work(notice.endpoint.id)
        left.remove(notice)
        return 1

    def first(besides, _broken):
        return next((each for each in left if each.endpoint.id not in besides), None)

    stored = Given(next_notice=first, owe_notice=owe)
    await Notices(stored, clock, None, lambda: None, aside.loop("webhook_notices")).run()


async def mails(work, aside, clock):
    left = [
        Given(seq=each, whose=each, due_at=0, useless_at=10**13, tries=0, kind=Given(value="code"))
        for each in (BAD, "good")
    ]

    async def settle(seq, *_):
        await work(seq)
        left[:] = [each for each in left if each.seq != seq]

    async def ready(*_):
        pass

    stored = Given(due=lambda limit, *_: left[:limit], settle=settle)
    letters = Given(write=lambda owed: None, prepare=ready)
    await Post(clock, stored, letters, None, aside.loop("mails")).run()


async def keys(work, aside, clock):
    left = [BAD, "good"]

    async def owe(key_id, *_):
        await work(key_id)
        left.remove(key_id)

    async def nothing(*_):
        pass

    stored = Given(to_remind=lambda _: [*left], owe_reminder=owe, forget_old_places=nothing)
    accounts = Given(date_old_keys=nothing)
    await KeyUpkeep(accounts, stored, clock, lambda: None, aside.loop("keys")).run()


async def queues(work, aside, clock):
    async def reroute(queue, *_):
        await work(queue[0])

    async def noted(_):
        pass

    rows = Given(
        routes=lambda: "", queues=lambda: [(BAD, 0, "o"), ("good", 0, "o")], reroute=reroute
    )
    rows.note_routes = noted
    router = Given(fingerprint="x", routes={}, route_key=None)
    while True:
        await sort_again(rows, clock, router, aside.loop("queues"))
        await trio.sleep(TRY_S)


async def deadlines(work, aside, clock):
    left = {1: BAD, 2: "good"}

    async def settle(_, only=None):
        for key in [only] if only else list(left):
            await work(left[key])
            del left[key]

    async def nothing(*_):
        return ()

    recorder = Given(settle_deadlines=settle, clock=clock, groups=None)
    receipts = Given(ending=lambda _: (), forget=nothing)
    queue = Given(
        due_keys=lambda now_ms, count: list(left)[:count],
        next_deadline=lambda after_ms=0: 1 if left and not after_ms else None,
    )
    alarm = Given(wait=a_second)
    settings = Given(receipts_held_s=60, uncertain_submits_max=3)
    stored = Given(queue=queue, receipts=receipts)
    watch = DeadlineWatch(recorder, stored, alarm, nothing, settings, aside.loop("deadlines"))
    await watch.run()


async def erasures(work, aside, clock, monkeypatch):
    left = [Given(id=each) for each in (BAD, "good")]

    async def go_on(_, erasure_id):
        await work(erasure_id)
        left[:] = [each for each in left if each.id != erasure_id]
        return Given(waits=False, erasure=Given(ended_at=1, gone={}))

    monkeypatch.setattr(erasing, "go_on", go_on)
    bell = Given(wait=a_second, ring=lambda: None)
    services = Given(
        set_aside=aside,
        repositories=Given(part=lambda _: Given(under_way=lambda _broken: [*left])),
        part=lambda _: Given(erasing=bell, exporting=bell),
    )
    await Erasing(services).run()


async def retention(work, aside, clock):
    async def forget(_, walk, *__):
        await work(BAD if walk.kind.value == "inbound" else "good")
        return Forgot(0, "", done=True)

    async def noted(_):
        pass

    kept = Given(forget=forget, chosen=dict)
    services = Given(
        set_aside=aside,
        recorder=Given(clock=clock),
        repositories=Given(part=lambda _: kept, storage=Given(note_passed=noted)),
        settings=Given(retention=RetentionSection(texts_days=1, inbound_days=1)),
    )
    await Retention(services).run()


async def uses(work, aside, clock):
    found = LastUses("keys", lambda used: work([*used]), aside.loop("uses"))
    found.note(BAD, 1)
    found.note("good", 2)
    await found.keep_writing()


async def places(work, aside, clock):
    found = UsedPlaces(lambda seen: work([key for key, _ in seen]), aside.loop("uses"))
    found.note(BAD, "192.0.2.1", 1)
    found.note("good", "192.0.2.1", 2)
    await found.keep_writing()


async def callbacks(work, aside, clock, read=lambda event: None):
    told = [[Given(seq=each) for each in (BAD, "good")]]

    async def following(_):
        return told.pop() if told else await trio.sleep_forever()

    async def keep(_):
        pass

    async def opened(*_, **__):
        return Given(next=following, keep=keep)

    def candidate(event):
        read(event)
        return Given(message=1, callback=Given(credential=event))

    calls = Given(candidate=candidate, owe=lambda owed, _: work([each.event for each in owed]))
    cursors = Given(open=opened, close=lambda _: None)
    have = {"calls": calls, "cursors": cursors, "clock": clock}
    found = CompatCallbacks(Given(items=aside.loop("compat_calls"), **have))
    found._call = lambda *_: True
    await found._follow()


async def events_of_faces(work, aside, clock):
    def read(event):
        if event == BAD:
            raise work.fault

    await callbacks(work, aside, clock, read)


async def look_back(work, aside, clock):
    async def step(*_):
        await work("good")
        await work(BAD)
        return True, ()

    changed = Given(wait=trio.sleep_until)
    await LookBack(Given(look_back=step), clock, changed, aside.loop("opt_outs")).run()


async def face_calls(work, aside, clock):
    left = {1: BAD, 2: "good"}

    async def begin(event, _):
        await work(left[event])
        del left[event]

    def first(_, besides):
        return next((DueCall(each, 0) for each in left if each not in besides), None)

    async def never(_):
        await trio.sleep_forever()

    async def opened(*_, **__):
        return Given(next=never)

    cursors = Given(open=opened, close=lambda _: None)
    calls = Given(waiting=lambda: [("cred", 0)], first_due=first, begin=begin)
    have = {"calls": calls, "cursors": cursors, "clock": clock, "kept_days": 0}
    await CompatCallbacks(Given(items=aside.loop("compat_calls"), **have)).run()


async def bank_texts(work, aside, clock):
    left = [Given(id=each, **OF_BANK) for each in (BAD, "good")]

    async def leave(text_id, *_):
        await work(text_id)
        left[:] = [each for each in left if each.id != text_id]

    stored = Given(unread=lambda *_: [*left], waiting=lambda *_: [], leave=leave)
    texts = Given(wait=a_second)
    settings = Given(service=Given(currency="MRU"))
    have = {"bank_texts": stored, "texts": texts, "listeners": {}, "settings": settings}
    await BankSmsReader(Given(set_aside=aside, **have), None).run()


async def exports(work, aside, clock):
    known = {"state": ExportState.WRITING, "expires_at": None, "expected": 0}
    left = [Given(id=each, **known) for each in (BAD, "good")]

    async def write(export):
        await work(export.id)
        left.remove(export)

    services = Given(
        set_aside=aside,
        recorder=Given(clock=clock),
        repositories=Given(part=lambda _: Given(current=lambda: [*left])),
        settings=Given(storage=Given(data_dir="/nowhere")),
        part=lambda _: Given(exporting=Given(wait=a_second, ring=lambda: None)),
    )
    found = Exporting(services, inline=True)
    found._write = write
    await found.run()


async def sessions(work, aside, clock):
    left = [BAD, "good"]

    async def expire(ids, _):
        await work(ids)
        left[:] = [each for each in left if each not in ids]

    stored = Given(nearest_deadlines=lambda _: [(0, each) for each in left], expire=expire)
    recorder = Given(clock=clock, stamp=lambda: None, tell=lambda _: None)
    have = {"stored": stored, "recorder": recorder, "alarm": Given(ring=lambda: None)}
    found = VerificationSessions(Given(items=aside.loop("sessions"), **have))
    while True:
        await found.started()
        await found._expire(found._deadlines.due(clock.now_ms(), 10))
        await trio.sleep(1)


LOOPS = [storms, notices, mails, keys, queues, deadlines, retention, uses, places]
LOOPS += [callbacks, events_of_faces, face_calls, look_back, bank_texts, exports, sessions]
ONCE = (uses, places, callbacks, events_of_faces)
"""What breaks is left out: it does not come again."""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
async def test_the_loop_goes_on(loop, fault, aside, clock, autojump_clock):
    work = Broken(fault)
    with capture_logs() as logs:
        await a_while(lambda: loop(work, aside, clock), 60)
    assert "good" in str(work.done)
    assert broken_one(aside)
    said = [line for line in logs if line["event"] == "item.set_aside"]
    assert len(said) == 1
    assert "crashed" not in str(logs)


@pytest.mark.parametrize("loop", [each for each in LOOPS if each not in ONCE])
async def test_it_comes_again_and_is_done(loop, aside, clock, autojump_clock):
    work = Broken()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop, work, aside, clock)
        await trio.sleep(AGAIN_FIRST_S / 2)
        assert work.tried
        work.fault = None
        work.__class__ = Well
        for span_s in (TRY_S, 2 * 3600):  # some loops look once an hour
            if any(each.items for each in aside.statuses()):
                await trio.sleep(span_s)
        assert not [each for each in aside.statuses() if each.items]
        nursery.cancel_scope.cancel()


class Well(Broken):
    async def __call__(self, item, *_):
        self.done.append(item)
        return True


@pytest.mark.parametrize("loop", [storms, keys, queues], ids=lambda loop: loop.__name__)
async def test_a_failing_disk_sets_nothing_aside(loop, aside, clock, autojump_clock):
    work = Broken(StorageFailed())
    with suppress(StorageFailed):
        await a_while(lambda: loop(work, aside, clock))
    assert not [each for each in aside.statuses() if each.items]


async def test_an_erasure_that_breaks_holds_no_other_up(aside, clock, monkeypatch, autojump_clock):
    work = Broken()
    await a_while(lambda: erasures(work, aside, clock, monkeypatch), 60)
    assert work.done == ["good"]
    assert broken_one(aside) == BAD
