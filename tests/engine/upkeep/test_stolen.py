"""What each thief learns: the database, a backup, the standby's pieces and the log are stolen, each
without the keys, and searched. What is found is what the threat model says, word for word."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest
import structlog
import trio

from risala.config.model import StandbySection
from risala.engine.features.backup.stored.backup import back_up, back_up_encrypted
from risala.engine.journal.sealed import resealing
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.model.commands import SendCode, SendMessage

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "threat-model.md"
KEYS = ("server.key", "sealing.key", "audit.key")
TEXT, NUMBER = "planted text Zebrafink 4417", "+22236123456"
PERSON, NAME = "planted.owner@shop.example", "Planted Organization"
ADDRESS, HEADER = "https://hooks.shop.example/planted", "Bearer planted-header-Jb5Rt8Yc"


class Loot:
    """What was planted: words for each kind of thing, as octets."""

    def __init__(self) -> None:
        self.kinds: dict[str, list[bytes]] = {
            "texts": [TEXT.encode()],
            "numbers": [NUMBER.encode()],
            "people's addresses": [PERSON.encode()],
            "names of organizations": [NAME.encode()],
            "webhooks' addresses": [ADDRESS.encode()],
            "webhooks' headers": [HEADER.encode()],
        }

    def plant(self, kind: str, value: str | bytes) -> None:
        self.kinds.setdefault(kind, []).append(value.encode() if isinstance(value, str) else value)

    def found_in(self, octets: bytes) -> set[str]:
        return {
            kind for kind, values in self.kinds.items() if any(each in octets for each in values)
        }


async def plant(house, loot: Loot) -> None:
    perform = house.gateway.perform
    made = await perform("org.create", {"name": NAME})
    whose = {"organization_id": made["id"]}
    await perform("topup", {**whose, "amount": "100"})
    await perform("member.add", {**whose, "email": PERSON, "role": "owner"})
    loot.plant("API keys", (await perform("key.create", {**whose, "type": "secret"}))["value"])
    for face in ("kannel", "twilio", "smpp"):
        made = await perform("credential.create", {**whose, "face": face})
        loot.plant("passwords", made["password"])
    given = {**whose, "mode": "live", "url": ADDRESS, "headers": {"Authorization": HEADER}}
    endpoint = await perform("webhook.create", given)
    loot.plant("webhooks' secrets", endpoint["secret"])
    rotated = await perform("webhook.rotate", {"endpoint_id": endpoint["endpoint"]["id"]})
    loot.plant("webhooks' secrets", rotated["secret"])
    hook = await perform("hook.create", {**whose, "preset": "keycloak"})
    loot.plant("hooks' secrets", hook["secret"])
    link = await perform("user.sign_in", {"email": PERSON})
    loot.plant("sign-in links", link["token"])
    await house.gateway.send_message(house.principal, SendMessage(NUMBER, TEXT))
    await house.gateway.send_code(house.principal, SendCode(to=NUMBER))
    for _ in range(200):
        codes = [
            found[0]
            for each in house.driver.submitted
            if (found := re.search(r"(?<!\d)\d{6}(?!\d)", each.text))
        ]
        if codes:
            break
        await trio.sleep(1)
    loot.plant("codes", codes[0])


def documented() -> Iterator[tuple[str, set[str], set[str]]]:
    """The table of the page: the thief, what they learn, what they do not."""
    section = (
        PAGE.read_text(encoding="utf-8").split("### What each thief learns")[1].split("\n## ")[0]
    )
    for line in section.splitlines():
        cells = [each.strip() for each in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[0] not in ("Stolen", "---"):
            yield cells[0], _words(cells[1]), _words(cells[2])


def _words(cell: str) -> set[str]:
    return set() if cell == "nothing" else {each.strip() for each in cell.split(",")}


def octets_of(folder: Path) -> bytes:
    """All files but the keys; pages of pieces as they were before they were compressed."""
    found = []
    for each in sorted(folder.rglob("*")):
        if each.is_file() and each.name not in KEYS:
            octets = each.read_bytes()
            if each.suffix == ".piece":
                octets = zlib.decompress(octets.partition(b"\n")[2])
            found.append(octets)
    return b"\0".join(found)


def silent(*_: object) -> None:
    pass


@pytest.mark.slow
async def test_each_thief_learns_what_the_page_says(open_house, quick, tmp_path, tmp_path_factory):
    loot, others = Loot(), tmp_path_factory.mktemp("others")
    pieces, mine = others / "pieces", pyrage.x25519.Identity.generate()
    pieces.mkdir(0o700)
    with structlog.testing.capture_logs() as log:
        async with open_house(standby=StandbySection(directory=pieces, every_s=0.1)) as house:
            await plant(house, loot)
            await trio.sleep(10)
            database = tmp_path / "risala.db"
            (others / "plain").mkdir()
            back_up(database, others / "plain" / "b.db", silent)
            (others / "encrypted").mkdir()
            target = others / "encrypted" / "b.age"
            back_up_encrypted(database, target, [str(mine.to_public())], silent)
            directory = octets_of(tmp_path)
    stolen = {
        "the data directory, without its keys": directory,
        "a backup": octets_of(others / "plain"),
        "the standby's copy": octets_of(pieces),
        "the log": repr(log).encode(),
        "an encrypted backup": octets_of(others / "encrypted"),
    }
    kinds = set(loot.kinds)
    seen = {
        place: (loot.found_in(octets), kinds - loot.found_in(octets))
        for place, octets in stolen.items()
    }
    assert {
        place: (learns, not_) for place, learns, not_ in documented() if place in stolen
    } == seen
    try_keys_of_theirs(others / "plain" / "b.db", others)
    with pytest.raises(pyrage.DecryptError):
        pyrage.decrypt_io(
            io.BytesIO(target.read_bytes()), io.BytesIO(), [pyrage.x25519.Identity.generate()]
        )


def try_keys_of_theirs(backup: Path, folder: Path) -> None:
    """No other key opens any of the sealed secrets."""
    theirs = folder / "theirs"
    theirs.mkdir()
    conn = open_reader(backup)
    try:
        total = sum(resealing.counted(conn).values())
        assert total >= 5
        rows = {(each.purpose, each.id) for each in resealing.lost(conn, SealingKeys(theirs, {}))}
        assert len(rows) >= 4
    finally:
        conn.close()
