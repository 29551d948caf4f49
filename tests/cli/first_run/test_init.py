"""``risala init`` as its user runs it: in a terminal, and from a script."""

import json
import os
import pty
import signal
import socket
import stat
import sys
import tomllib
from types import SimpleNamespace as Given

import pytest
import trio
from click.testing import CliRunner

from patience import HANG_S
from processes import Process, environment
from risala.cli.first_run import finishing, service
from risala.cli.first_run.finishing import Finish
from risala.cli.first_run.settings import SettingsFile
from risala.cli.first_run.trials import MachineTrials
from risala.cli.main import cli
from risala.cli.reach.refused import CommandRefused
from risala.drivers.http.presets import names
from risala.http.first_run.answers import Wrong
from risala.http.first_run.progress import with_needs
from risala.http.first_run.questions import AGGREGATORS as AGGREGATOR_TITLES
from risala.http.first_run.questions import STEPS
from risala.lab.aggregators.row import PASSWORD, USER
from risala.lab.aggregators.stand_in import StandIn
from risala.lab.aggregators.table import AGGREGATORS
from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator

STEP = {each.name: each for each in STEPS}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def init(*arguments: str):
    return CliRunner().invoke(cli, ["init", *arguments], prog_name="risala")


# -- answers of a file ---------------------------------------------------------------------------


@pytest.fixture
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_that_is_wrong_is_named_at_once(at):
    (at / "a.toml").write_text(
        f'carrier = "smpp"\nprice = "x"\nsmpp_host = "127.0.0.1"\nsmpp_port = {free_port()}\n'
        f'smpp_system_id = "r"\nmail_host = "127.0.0.1"\nmail_port = {free_port()}\n'
        'mail_sender = "a@b.mr"\noperator = "x"\nphone = "1"\nport = 99999\n'
    )
    done = init("--yes", "--file", "a.toml")
    assert done.exit_code == 1
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        *("price", "smpp", "port", "mail", "operator", "phone")
    ]
    assert "nothing listens there" in done.stderr
    assert not (at / "risala.toml").exists()


NEEDS = 'payer = "self"\ncarrier = "trial"\noperator = "me@example.com"\nport = 0\n'
"""The answers that have no default, and none of a country."""


def test_without_a_country_it_refuses_and_says_how_to_name_one(at, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    (at / "a.toml").write_text(f'{NEEDS}phone = "36 12 34 56"\n')
    done = init("--yes", "--file", "a.toml")
    assert (done.exit_code, done.stderr) == (
        1,
        "country: Choose a country. The time zone and the language of this machine name none. Give"
        ' its two letters: --country KE, or a line country = "KE" in the file of answers.\n',
    )
    assert not (at / "risala.toml").exists()


@pytest.mark.parametrize("line", ["", 'country = "MR"\n'], ids=["alone", "before the file"])
def test_the_country_of_the_command_goes_before_all_others(at, monkeypatch, line):
    monkeypatch.setenv("TZ", "UTC")
    (at / "risala.toml").write_text('[numbers]\ncountries = ["FR"]\n')
    (at / "a.toml").write_text(f'{NEEDS}{line}phone = "1"\n')
    told = init("--yes", "--file", "a.toml", "--country", "ke").stderr
    assert told == "phone: This is no mobile number of your country. Write it like 0712 123456.\n"


def test_a_country_that_nobody_knows_is_refused(at):
    told = init("--yes", "--country", "XX").stderr
    assert told.startswith("XX is no country that Risala knows.")


def test_a_key_that_no_question_has_is_refused(at):
    (at / "a.toml").write_text('carier = "smpp"\n')
    done = init("--yes", "--file", "a.toml")
    assert (done.exit_code, done.stderr) == (1, "carier is no question. Did you mean carrier?\n")


def test_a_password_may_come_from_the_environment(at, monkeypatch):
    monkeypatch.delenv("NONE_SUCH", raising=False)
    (at / "a.toml").write_text('smpp_password_env = "NONE_SUCH"\n')
    done = init("--yes", "--file", "a.toml")
    assert "set the environment variable NONE_SUCH" in done.stderr


def test_without_a_terminal_it_writes_what_it_always_wrote(at):
    done = init()
    assert done.stdout == "Wrote risala.toml. It explains every setting and its default.\n"
    assert init().exit_code == 1
    assert init("--force").exit_code == 0


@pytest.mark.parametrize(
    "wrong",
    [("--file", "a"), ("--yes", "--web"), ("--template", "--country", "KE"), ("--country", "KE")],
)
def test_options_that_do_not_go_together(at, wrong):
    assert init(*wrong).exit_code == 2


# -- trying things out ---------------------------------------------------------------------------


async def test_a_bind_is_tried_and_nothing_is_sent():
    simulator = SmscSimulator(SimulatorConfig(accounts={"esme": "secret"}))
    account = {"smpp_host": "127.0.0.1", "smpp_tls": "no", "smpp_system_id": "esme"}
    trials = MachineTrials()
    async with trio.open_nursery() as nursery:
        account["smpp_port"] = str(await nursery.start(simulator.run))
        with trio.fail_after(HANG_S):
            await trials.attempt(STEP["smpp"], {**account, "smpp_password": "secret"}, {})
            with pytest.raises(Wrong, match="password is wrong"):
                await trials.attempt(STEP["smpp"], {**account, "smpp_password": "other"}, {})
        nursery.cancel_scope.cancel()


async def test_an_account_at_an_aggregator_is_tried_and_nothing_is_sent():
    aggregator, trials = StandIn(AGGREGATORS["twilio"]), MachineTrials()
    account = {"http_preset": "twilio", "http_user": USER, "http_password": PASSWORD}
    account = with_needs(trials, account)
    async with trio.open_nursery() as nursery:
        await nursery.start(aggregator.run)
        account["http_url"] = aggregator.url
        with trio.fail_after(HANG_S):
            await trials.attempt(STEP["account"], account, {})
            with pytest.raises(Wrong, match="refuses our credentials"):
                await trials.attempt(STEP["account"], {**account, "http_password": "other"}, {})
            with pytest.raises(Wrong, match="the preset needs `user`"):
                await trials.attempt(STEP["account"], {**account, "http_user": ""}, {})
        nursery.cancel_scope.cancel()
    assert aggregator.taken == []


async def test_the_aggregators_that_are_known_are_offered():
    offered = dict(await MachineTrials().choices("http_preset"))
    assert [*sorted(offered)] == [*names()]
    assert offered["twilio"] == "Twilio"
    assert AGGREGATOR_TITLES.items() <= offered.items()


@pytest.mark.parametrize("name", names())
def test_whatever_a_preset_needs_is_asked(name):
    trials = MachineTrials()
    answers = with_needs(trials, {"carrier": "http", "http_preset": name})
    asked = [one for one in STEP["account"].questions if one.when(answers)]
    must = [one.setting for one in asked if not one.is_optional(answers)]
    needed = {f"carriers.http.{each}" for each in trials.needs(name)}
    needed.discard("carriers.http.secret_address")  # it is made of the public address
    assert {each for each in must if each.startswith("carriers.http.")} == needed


async def test_a_port_that_is_taken_is_told_and_not_where_the_service_itself_has_it():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answers = {"port": str(taken.getsockname()[1]), "public_url": ""}
        with pytest.raises(Wrong, match="in use by another program"):
            await MachineTrials().attempt(STEP["address"], answers, {})
        await MachineTrials(is_running=True).attempt(STEP["address"], answers, answers)


async def test_a_modem_that_is_not_there_is_told(tmp_path):
    answers = {"modem_port": str(tmp_path / "none"), "modem_pin": ""}
    with pytest.raises(Wrong, match="does not exist"):
        await MachineTrials().attempt(STEP["modem"], answers, {})


# -- the end -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "said", "paid"),
    [
        ({"payer": "self", "parts_per_day": "150"}, "Nobody pays: A may send 150 parts a day.", []),
        (
            {"payer": "customers", "price": "0.50", "currency": "MRU"},
            "A has 10.00 MRU, enough for 20 parts. Your customers' money is added like this:"
            " risala topup A 10.00",
            ["10.00"],
        ),
        ({"payer": "customers", "price": "0", "currency": "MRU"}, "", []),
    ],
    ids=["nobody", "customers", "free"],
)
async def test_the_end_says_what_a_new_organization_may_send(tmp_path, answers, said, paid):
    told, added = [], []

    async def ask(operation, **given):
        added.extend(given[name] for name in ("amount",) if name in given)
        return Given(value=Given(organization_id=None, count=0, id="org_1"))

    finish = Finish(SettingsFile(tmp_path / "risala.toml"), tmp_path, told.append)
    await finish._organization(Given(ask=ask), {"organization": "A", **answers})
    assert " ".join(stage.english for stage in told) == said
    assert added == paid


class Child:
    """A service that runs."""

    url = "http://127.0.0.1:1"

    def __init__(self, settings, data) -> None:
        pass

    async def run(self, task_status) -> None:
        task_status.started()


async def test_a_service_that_was_started_is_known_after_an_end_that_failed(tmp_path, monkeypatch):
    runs = iter([False, True])

    async def is_running(data):
        return next(runs)

    def reached(data):
        raise CommandRefused("It does not answer.")

    monkeypatch.setattr(service, "is_running", is_running)
    monkeypatch.setattr(service, "ChildService", Child)
    monkeypatch.setattr(service, "reached", reached)
    finish = Finish(SettingsFile(tmp_path / "risala.toml"), tmp_path, lambda stage: None)
    answers = {"country": "MR", "payer": "customers", "price": "1", "carrier": "trial"}
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            with pytest.raises(CommandRefused):
                await finish.run(answers, nursery)
    assert isinstance(finish.child, Child)


# -- the whole way, in a terminal ----------------------------------------------------------------


class Terminal:
    """A terminal in which ``risala init`` runs."""

    def __init__(self, folder, *arguments: str) -> None:
        self.told = ""
        command = [sys.executable, "-m", "risala", "init", *arguments]
        self.pid, self._screen = pty.fork()
        if not self.pid:
            os.chdir(folder)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execve(sys.executable, command, environment())

    def wait(self, text: str) -> str:
        """What came until then."""
        while text not in self.told:
            try:
                self.told += os.read(self._screen, 65536).decode()
            except OSError:
                raise AssertionError(f"{text} does not come: {self.told}") from None
        before, _, self.told = self.told.partition(text)
        return before + text

    def answer(self, question: str, text: str = "") -> str:
        before = self.wait(question)
        self.wait(": ")
        os.write(self._screen, f"{text}\n".encode())
        return before

    def end(self) -> int:
        os.write(self._screen, b"\x03")
        try:
            while os.read(self._screen, 65536):
                pass
        except OSError:  # EIO: the other end is closed
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.slow
def test_from_nothing_to_an_sms_on_ones_own_phone(tmp_path):
    assert trio.run(_play, tmp_path) == 0
    settings = tomllib.loads((tmp_path / "risala.toml").read_text())
    assert settings["carriers"][0]["smpp"]["password_env"] == "MATTEL_PASSWORD"
    assert (tmp_path / "secrets").read_text() == "MATTEL_PASSWORD='s3cret'\n"
    for name in ("risala.toml", "secrets"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    done = CliRunner().invoke(
        cli, ["user", "list", "--json", "--data", str(tmp_path / "risala-data")]
    )
    [operator] = json.loads(done.stdout)["users"]
    assert (operator["email"], operator["operator"]) == ("me@example.mr", True)


async def _play(folder) -> int:
    """The exit status of the command, beside a carrier."""
    simulator = SmscSimulator(SimulatorConfig(accounts={"esme": "s3cret"}, receipt_after_s=0.01))
    async with trio.open_nursery() as nursery:
        smsc = await nursery.start(simulator.run)
        with trio.fail_after(HANG_S):
            status = await trio.to_thread.run_sync(_set_up, folder, smsc)
        nursery.cancel_scope.cancel()
    return status


def _set_up(folder, smsc: int) -> int:
    terminal = Terminal(folder)
    for question, text in (
        *(("Country [MR]", ""), ("Who pays for messages?", "2")),
        *(("Currency [MRU]", ""), ("Price of a part [0.50]", "")),
        *(("Carrier [smpp]", "smpp"), ("Its name here", "mattel"), ("Host", "127.0.0.1")),
        *(("Port [2775]", str(smsc)), ("TLS [no]", ""), ("system_id", "esme")),
        *(("Password", "s3cret"), ("Parts a second", ""), ("Sender", "")),
        *(("Public address", ""), ("Port on this machine", "0"), ("Mail server", "")),
        *(("Your e-mail", "me@example.mr"), ("Name of your", ""), ("Your own", "36 12 34 56")),
        ("go on?", ""),
    ):
        terminal.answer(question, text)
    told = terminal.wait("Ctrl-C.")
    assert "✓ Your phone has the SMS." in told
    assert "/operator/sign-in/link/" in told
    assert "s3cret" not in told
    return terminal.end()


def test_from_nothing_to_an_sms_by_a_phone_that_pairs_itself(at):
    (at / "a.toml").write_text(
        'country = "MR"\npayer = "self"\ncarrier = "android"\ncarrier_name = "my-phone"\nport = 0\n'
        'operator = "me@example.mr"\norganization = "Mine"\nphone = "+22236123456"\n'
    )
    risala = (sys.executable, "-m", "risala")
    setting_up = Process([*risala, "init", "risala.toml", "--yes", "--file", "a.toml"], at)
    try:
        url, token = (
            setting_up.wait_line(lambda line, mark=mark: mark in line).partition(mark)[2]
            for mark in ("API URL: ", "Private Token: ")
        )
        assert url.endswith("/carriers/my-phone/mobile/v1")
        phone = Process([*risala, "simulate", "phone", url, "--token", token], at, typed=True)
        try:
            setting_up.wait_line(lambda line: line == "✓ simulated/phone is there.")
            setting_up.wait_line(lambda line: line == "✓ Your phone has the SMS.")
            phone.wait_line(lambda line: "sent       SIM 1 → +22236123456" in line)
            assert setting_up.wait_exit() == 0
        finally:
            phone.end()
    finally:
        setting_up.end()
    settings = tomllib.loads((at / "risala.toml").read_text())
    assert settings["carriers"][0]["phone"] == {"sim": "any"}
    written = [each for each in at.rglob("*") if each.is_file()]
    assert any(each.suffix == ".db" for each in written)
    assert [each for each in written if token.encode() in each.read_bytes()] == [], "it is sealed"


async def test_a_phone_that_does_not_come_is_told_why_and_how_to_go_on(at):
    class Silent:
        async def ask(self, _, **about):
            asked.append(about)
            strangers = len(asked) == 2
            answer = {"phone": None, "strangers": int(strangers), "token": "made0by0the0driver"}
            return Given(value=Given(answer=answer))

    asked, told = [], []
    file = SettingsFile.at(at / "risala.toml")
    answers = {"country": "MR", "payer": "self", "parts_per_day": "200", "port": "8080"}
    answers |= {"carrier": "android", "carrier_name": "p", "android_sim": "2"}
    file.write(answers)
    finish = Finish(SettingsFile.at(file.path), at, told.append)
    assert await finish._pair(Silent(), answers) is False
    sentences = [each.english for each in told]
    assert sentences[-2].startswith("A phone called with another private token.")
    assert sentences[-1] == "Go on later with this command: risala phone pair p"
    about = {"carrier": "p", "arguments": []}
    assert asked == [{**about, "command": each} for each in ("token", *["pair"] * 6)]
    step = next(each for each in told if "made0by0the0driver" in each.english)
    assert step.english == "There, Private Token: made0by0the0driver"
    assert step.spoken["fr"] == "Au même endroit, Private Token\u00a0: {token}"


def test_the_command_that_starts_it_again_is_one_that_a_shell_finds(monkeypatch, tmp_path):
    beside, elsewhere = tmp_path / "clone/risala", tmp_path / "bin/risala"
    for place in (beside, elsewhere):
        place.parent.mkdir()
        place.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(beside.with_name("python")))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert finishing._program() == str(beside)
    monkeypatch.setenv("PATH", str(elsewhere.parent))
    assert finishing._program() == "risala"
