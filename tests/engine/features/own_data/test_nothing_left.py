"""After a number is erased, no octet of its files has the number or what was written: the database,
its write-ahead log and their free pages are searched as they lie on the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path

import trio

from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.commands import SendCode
from risala.plugins.contract import Inbound

NUMBER, OTHER, OURS = "+22236123456", "+22222999888", "+22244000000"
ON_CALL = "+22233000111"
"""A colleague, to whom texts are forwarded."""
DIGITS = NUMBER[1:].encode()
AS_INTEGER = int(DIGITS).to_bytes(6, "big")
"""As SQLite stores it in a column of integers (file format, §2.1)."""
WORDS = ("whatabargain", "soonervisit", "lastlyanswered", "personallyhere")
"""Words of texts, each of which nobody else writes."""
_ids = count()


@asynccontextmanager
async def talking(open_house, carrier):
    """An organization that everybody writes to, by a carrier that keeps to whom it has sent."""
    async with open_house(carrier(sticky=True)) as house:
        whose = {"organization_id": house.principal.organization_id}
        await house.gateway.perform("inbound.route", whose)
        await house.gateway.perform("inbound.opt_outs", {"heeds": True, **whose})
        rule = {"name": "Prices", "keywords": ["price"], "anywhere": True, "language": "en"}
        text = "What a thing costs, {{number}}, is on our page."
        rule |= {"text_en": text, "forward_number": ON_CALL}
        await house.gateway.perform("answer.create", {**rule, **whose})
        types = ["sms.sent", "sms.received", "conversation.received"]
        hook = {"url": "https://example.com/hook", "types": types, **whose}
        await house.gateway.perform("webhook.create", hook)
        yield house, whose


async def come_in(house, text: str, sender: str = NUMBER) -> None:
    message = Inbound(sender, OURS, text, house.clock.now_ms(), (f"mo{next(_ids)}",))
    await house.driver.context.inbound(message)
    await trio.sleep(0.1)


async def talk(house, whose, number: str, words=WORDS) -> None:
    """A whole conversation: texts and answers, by people and by themselves, a mark, and a code."""
    gateway, given = house.gateway, {"number": number, **whose}
    await house.wait_status(await house.send(f"first {words[0]}", number), "sent")
    await come_in(house, f"I want {words[1]}: price?", number)
    await gateway.perform("conversation.reply", {"body": f"here is {words[2]}", **given})
    await gateway.perform("conversation.mark", {"state": "done", "read": True, **given})
    await come_in(house, f"thanks, {words[3]}, and its price?", number)
    await gateway.send_code(house.principal, SendCode(to=number))
    await trio.sleep(60)


def found(folder: Path, *words: bytes) -> Iterator[tuple[str, bytes]]:
    """Each of the words that stands in a file, and the file's name."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            octets = file.read_bytes()
            yield from ((file.name, word) for word in words if word in octets)


def rows_of(house, *tables: str) -> list[int]:
    reader = house.gateway.services.repositories._store.reader
    return [reader.execute(f"SELECT count(*) FROM {each}").fetchone()[0] for each in tables]


def everything() -> tuple[bytes, ...]:
    return (DIGITS, AS_INTEGER, *(word.encode() for word in WORDS))


async def forget(house, whose, number: str = NUMBER) -> None:
    owner = Caller("aicha", CallerKind.DASHBOARD, Role.OWNER, whose["organization_id"])
    asked = await house.gateway.perform("number.forget", {"number": number, **whose}, owner)
    while True:
        done = await house.gateway.perform("erasure.run", {"erasure_id": asked["id"]})
        if done["erasure"]["state"] == "done":
            return
        await trio.sleep(60)


async def test_a_conversation_leaves_no_octet_in_the_files(open_house, carrier, quick, tmp_path):
    async with talking(open_house, carrier) as (house, whose):
        await talk(house, whose, NUMBER)
        await talk(house, whose, OTHER, ("otherword",) * len(WORDS))
        assert {word for _, word in found(tmp_path, *everything())} == set(everything())
        assert rows_of(house, "answer_pauses", "answers") == [2, 4]
        await forget(house, whose)
        # Former pages stand in both until the log is written over.
        assert {name for name, _ in found(tmp_path, *everything())} <= {
            "risala.db",
            "risala.db-wal",
        }
    assert set(found(tmp_path, *everything())) == set()
    assert {name for name, _ in found(tmp_path, b"otherword", OTHER[1:].encode())} == {"risala.db"}


async def test_of_one_who_wants_no_messages_the_number_stays_there_alone(
    open_house, carrier, quick, tmp_path
):
    async with talking(open_house, carrier) as (house, whose):
        await talk(house, whose, NUMBER)
        await come_in(house, "STOP")
        await forget(house, whose)
    assert set(found(tmp_path, *everything())) == {("risala.db", DIGITS)}
    with closing(sqlite3.connect(tmp_path / "risala.db")) as conn:
        conn.execute("PRAGMA secure_delete = on")
        assert conn.execute("DELETE FROM opt_outs").rowcount == 1
        conn.commit()
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert set(found(tmp_path, *everything())) == set()
