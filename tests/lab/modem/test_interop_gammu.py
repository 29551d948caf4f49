"""gammu, which we did not write, takes the simulated modem for a real one.

Each of its runs takes seconds in which it only waits: so several run at once, each with a modem of
its own.
"""

import os
import shutil
from functools import partial

import pytest
import trio

from patience import HANG_S
from risala.lab.modem.simulator import (
    PROFILES,
    CommandAnswered,
    MessageReceived,
    ModemConfig,
    ModemSimulator,
    Submitted,
)

GAMMU = shutil.which("gammu")
TO = "+22236123456"
ARABIC = "رسالة من ريسالة"
TEXTS = {
    "gsm7": ("Bonjour", (), 1),
    "extension": ("[10 €] {a|b} ^", (), 1),
    "arabic": (ARABIC, ("-unicode",), 1),
    "long": ("Un message un peu long, de {1 500} MRU [en €]. " * 6, ("-autolen", "500"), 3),
    "long-arabic": (f"{ARABIC} طويلة. " * 10, ("-unicode", "-autolen", "500"), 4),
}
MAKERS = ("plain", "huawei", "sim800", "quectel")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(GAMMU is None, reason="NOT TRIED: there is no gammu; `make peers` gets it"),
]


class Gammu:
    """One, with a modem of its own."""

    def __init__(self, folder, profile, **config):
        folder.mkdir()
        self.simulator = ModemSimulator(
            ModemConfig(profile=PROFILES[profile], **config), link=folder / "modem"
        )
        self._settings = folder / "gammurc"
        self._settings.write_text(
            f"[gammu]\ndevice = {folder}/modem\nconnection = at115200\n", encoding="utf-8"
        )

    async def run(self, *arguments, typed=""):
        done = await trio.run_process(
            [GAMMU, "-c", str(self._settings), *arguments],
            stdin=typed.encode(),
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "C"},
        )
        said = done.stdout.decode() + done.stderr.decode()
        assert done.returncode == 0, said
        return said


@pytest.fixture
async def all_at_once(tmp_path):
    """``all_at_once(names, use)``: ``use(gammu, name)`` for each, each with a modem of its own."""

    async def one(use, name, profile, config):
        gammu = Gammu(tmp_path / name, profile, **config)
        async with trio.open_nursery() as nursery:
            await nursery.start(gammu.simulator.run)
            await use(gammu, name)
            nursery.cancel_scope.cancel()

    async def run(names, use, profile=None, **config):
        with trio.fail_after(HANG_S):
            async with trio.open_nursery() as nursery:
                for name in names:
                    nursery.start_soon(one, use, name, profile or name, config)

    return run


async def test_it_knows_each_modem_and_its_network(all_at_once):
    async def use(gammu, name):
        said = await gammu.run("identify")
        assert PROFILES[name].manufacturer.lower() in said.lower()
        assert PROFILES[name].model in said
        assert "861234567890124" in said
        assert "609101234567890" in said
        assert "609 10" in await gammu.run("networkinfo")
        assert '"+22236990000"' in await gammu.run("getsmsc")

    await all_at_once(MAKERS, use)


@pytest.mark.parametrize("profile", ["plain", "huawei"])
async def test_what_it_sends_arrives(all_at_once, profile):
    async def use(gammu, name):
        text, arguments, segments = TEXTS[name]
        said = await gammu.run("sendsms", "TEXT", TO, "-report", *arguments, typed=text)
        assert "OK, message reference" in said
        received = await gammu.simulator.wait(MessageReceived)
        assert (received.recipient, received.text, received.segments) == (TO, text, segments)
        assert (await gammu.simulator.wait(Submitted)).wants_report

    await all_at_once(TEXTS, use, profile)


async def test_it_reads_what_comes(all_at_once):
    async def use(gammu, name):
        gammu.simulator.receive("+22246999999", ARABIC)
        gammu.simulator.receive("Mauritel", "Solde [150 €]")
        said = await gammu.run("getallsms")
        assert ARABIC in said
        assert "Solde [150 €]" in said
        assert '"+22246999999"' in said
        assert '"Mauritel"' in said
        assert "2 SMS parts in 2 SMS sequences" in said

    await all_at_once(MAKERS, use)


async def test_it_is_told_who_calls(all_at_once, tmp_path):
    """As soon as it asks for that: gammu takes the line with the number for that of a call."""

    async def ring(gammu):
        await gammu.simulator.wait(CommandAnswered, lambda each: each.line == "AT+CLIP=1")
        gammu.simulator.perform(f"call {TO}")

    log = tmp_path / "gammu.log"

    async def use(gammu, name):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ring, gammu)
            await gammu.run("-d", "textall", "-f", str(log), "monitor", "30")
        said = log.read_text(encoding="utf-8", errors="replace")
        assert f'"+CLIP: "{TO}",145"' in said
        assert said.count("Incoming call info") >= 2  # of RING, and of the number

    await all_at_once(["plain"], use)


async def test_it_types_the_pin(all_at_once):
    async def use(gammu, name):
        await gammu.run("entersecuritycode", "PIN", "1234")
        assert gammu.simulator.modem.card.is_ready

    await all_at_once(["plain"], use, pin="1234")


SMSD = shutil.which("gammu-smsd")


@pytest.mark.skipif(SMSD is None, reason="NOT TRIED: there is no gammu-smsd; `make peers` gets it")
async def test_its_daemon_reads_the_report(tmp_path, nursery):
    """It asks for +CDSI, and looks among the messages for what was announced."""
    folders = {"inboxpath": "in", "outboxpath": "out", "sentsmspath": "sent", "errorsmspath": "bad"}
    for name in folders.values():
        (tmp_path / name).mkdir()
    log = tmp_path / "log"
    (tmp_path / "smsdrc").write_text(
        f"[gammu]\ndevice = {tmp_path}/modem\nconnection = at115200\n"
        f"[smsd]\nservice = files\nlogfile = {log}\ndebuglevel = 1\ndeliveryreport = log\n"
        "checksecurity = 0\ncommtimeout = 1\nreceivefrequency = 1\n"
        + "".join(f"{key} = {tmp_path / name}/\n" for key, name in folders.items()),
        encoding="utf-8",
    )
    (tmp_path / "out" / f"OUT{TO}.txtd").write_text("Bonjour", encoding="utf-8")
    simulator = ModemSimulator(ModemConfig(report_after_s=0), link=tmp_path / "modem")
    with trio.fail_after(HANG_S):
        await nursery.start(simulator.run)
        await nursery.start(
            partial(
                trio.run_process,
                [SMSD, "-c", str(tmp_path / "smsdrc")],
                capture_stdout=True,
                capture_stderr=True,
                check=False,
                deliver_cancel=kill,
            )
        )
        # A log tells nobody that it has grown.
        while f"Delivery report: Delivered to {TO}" not in told(log):  # noqa: ASYNC110
            await trio.sleep(0.1)


async def kill(process):
    """It takes seconds to let go of its modem, and more once that is gone."""
    process.kill()


def told(log):
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
