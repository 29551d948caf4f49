"""smstools (smsd), which we did not write, sends and receives through the simulated modem."""

import os
import shutil

import pytest
import trio

from patience import HANG_S
from risala.lab.modem.simulator import PROFILES, MessageReceived, ModemConfig, ModemSimulator

SMSD = shutil.which("smsd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
TO = "22236123456"
TEXTS = {
    "gsm7": "Bonjour",
    "extension": "[10 €] {a|b} ^",
    "arabic": "رسالة من ريسالة",
    "long": "Un message un peu long, de {1 500} MRU [payés en €]. " * 6,
}
INBOUND = "Solde [150 €] شكرا"
FOLDERS = ("outgoing", "checked", "incoming", "sent", "failed", "report")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(SMSD is None, reason="NOT TRIED: there is no smsd; `make peers` gets it"),
]


class Smsd:
    def __init__(self, folder, init, first_index=1):
        self.folder = folder
        for name in FOLDERS:
            (folder / name).mkdir()
        lines = [f"{name} = {folder / name}" for name in FOLDERS]
        lines += ["devices = GSM1", "delaytime = 1", f"logfile = {folder}/log", "loglevel = 7"]
        # After answers that came too late it would leave the modem alone for an hour.
        lines += ["errorsleeptime = 1", "blocktime = 1"]
        lines += ["[GSM1]", f"device = {folder}/modem", "incoming = yes", "report = yes"]
        lines += [f"init = {init}", "modem_disabled = no", "send_delay = 0"]
        lines += [f"memory_start = {first_index}"]
        (folder / "smsd.conf").write_text("\n".join(lines), encoding="utf-8")

    def send(self, name, text):
        draft = self.folder / name
        draft.write_text(f"To: {TO}\nAlphabet: UTF-8\n\n{text}", encoding="utf-8")
        draft.rename(self.folder / "outgoing" / name)

    async def run(self, *, task_status):
        arguments = [f"-c{self.folder}/smsd.conf", f"-p{self.folder}/pid", f"-i{self.folder}/work"]
        await trio.run_process(
            [SMSD, "-t", *arguments],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            deliver_cancel=kill,
            task_status=task_status,
        )

    async def file_in(self, folder):
        """Head and body of the first file that appears there."""
        # A folder tells nobody that something has come into it.
        while not (found := list((self.folder / folder).iterdir())):  # noqa: ASYNC110
            await trio.sleep(0.1)
        head, _, body = found[0].read_bytes().partition(b"\n\n")
        return head.decode(), body


async def kill(process):
    """Where it was told to end while it speaks with its modem, it takes seconds."""
    process.kill()


async def test_it_sends_gets_reports_and_receives(tmp_path, nursery):
    # A stick keeps reports among the messages, which is where smsd looks for them.
    config = ModemConfig(profile=PROFILES["huawei"], report_after_s=0)
    simulator = ModemSimulator(config, link=tmp_path / "modem")
    smsd = Smsd(tmp_path, "AT^CURC=0;+CNMI=1,1,0,2,0")
    for name, text in TEXTS.items():
        smsd.send(name, text)
    with trio.fail_after(HANG_S):
        await nursery.start(simulator.run)
        await nursery.start(smsd.run)
        for text in TEXTS.values():
            got = await simulator.wait(MessageReceived, lambda it, text=text: it.text == text)
            assert got.recipient == f"+{TO}"
        head, body = await smsd.file_in("report")
        assert f"From: {TO}" in head
        assert b"Status: 0,Ok,short message received by the SME" in body
        simulator.receive("+22246999999", INBOUND)
        head, body = await smsd.file_in("incoming")
    assert "From: 22246999999" in head
    assert "Alphabet: UCS2" in head
    assert body.decode("utf-16-be") == INBOUND


async def test_each_modem_keeps_reports_where_smsd_looks(tmp_path):
    async def one(profile):
        folder = tmp_path / profile
        folder.mkdir()
        config = ModemConfig(profile=PROFILES[profile], report_after_s=0)
        simulator = ModemSimulator(config, link=folder / "modem")
        smsd = Smsd(folder, "AT+CNMI=1,1,0,2,0", config.profile.first_index)
        smsd.send("one", "Bonjour")
        async with trio.open_nursery() as nursery:
            await nursery.start(simulator.run)
            await nursery.start(smsd.run)
            head, body = await smsd.file_in("report")
            nursery.cancel_scope.cancel()
        assert f"From: {TO}" in head
        assert b"Status: 0,Ok,short message received by the SME" in body

    # It mostly waits: all at once.
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            for profile in ("plain", "sim800", "quectel"):
                nursery.start_soon(one, profile)
