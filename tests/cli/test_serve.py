"""``risala serve`` as a process: its metrics, its log, what SIGHUP changes and what it does not."""

import json
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from patience import HANG_S, until
from processes import Process, run

CONFIG = """
[log]
level = "{level}"
[pricing]
per_segment = "{price}"
[http]
keep_alive_s = {keep_alive}
[[carriers]]
name = "loop"
driver = "loopback"
rate_per_s = {rate}
"""


class Served:
    """A service whose two streams are read as they come."""

    def __init__(self, directory: Path, *options: str, **environment: str) -> None:
        self.data = directory / "data"
        command = [sys.executable, "-m", "risala", "serve", "--data", self.data, "--port", "0"]
        self._started = Process([*map(str, command), *options], directory, **environment)
        self.process = self._started.popen
        self.out = self._started.lines
        self.log = self._started.errors

    def until(self, found: Callable[[], object]) -> object:
        deadline = time.monotonic() + HANG_S
        while not (value := found()):
            assert time.monotonic() < deadline, (self.out, self.log)
            assert self.process.poll() is None, (self.out, self.log)
            time.sleep(0.02)
        return value

    def place(self, words: str) -> str:
        return self.until(lambda: next((x for x in self.out if x.startswith(words)), None)).split()[
            -1
        ]

    def logged(self, event: str) -> dict:
        """The newest line of this event."""

        def look() -> dict | None:
            lines = [json.loads(line) for line in list(self.log) if line.startswith("{")]
            return next((each for each in reversed(lines) if each["event"] == event), None)

        return self.until(look)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self._started.signal(number)
        return self._started.wait_exit()

    def end(self) -> None:
        self._started.end()


@pytest.fixture
def serve(tmp_path) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def start(*options: str, **environment: str) -> Served:
        started.append(Served(tmp_path, *options, **environment))
        return started[-1]

    yield start
    for each in started:
        each.end()


def blocks(pid: int, number: signal.Signals) -> bool:
    """Whether a process has this signal wait."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigBlk:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def get(url: str, **headers: str) -> httpx2.Response:
    return httpx2.get(url, headers=headers, trust_env=False, timeout=HANG_S)


@pytest.mark.slow
class TestMetrics:
    def test_on_the_main_address_for_this_machine_alone(self, serve):
        url = serve().place("Risala is running at")
        page = get(f"{url}/metrics")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/plain")
        assert "risala_accepted_total 0.0" in page.text
        # What a proxy on this machine passes on comes from elsewhere.
        forwarded = get(f"{url}/metrics", **{"x-forwarded-for": "203.0.113.9"})
        assert forwarded.status_code == 404
        assert forwarded.json()["code"] == "NOT_FOUND"
        assert httpx2.post(f"{url}/metrics", trust_env=False, timeout=HANG_S).status_code == 405

    def test_on_an_address_of_its_own(self, serve):
        served = serve(RISALA_HTTP__METRICS='{"host": "127.0.0.1", "port": 0}')
        url = served.place("Risala is running at")
        own = served.place("Metrics are at")
        assert get(own, **{"x-forwarded-for": "203.0.113.9"}).status_code == 200
        assert get(own.replace("/metrics", "/api/sms")).status_code == 404
        assert get(f"{url}/metrics").status_code == 404
        assert served.stop() == 0

    def test_not_at_all(self, serve):
        url = serve(RISALA_HTTP__METRICS__ENABLED="false").place("Risala is running at")
        assert get(f"{url}/metrics").status_code == 404


@pytest.mark.slow
class TestReload:
    def write(self, path: Path, **values: object) -> None:
        usual = {"level": "info", "price": "0.50", "keep_alive": 60, "rate": 5}
        path.write_text(CONFIG.format(**usual | values))

    def test_what_can_change_does_and_the_rest_is_named(self, serve, risala, tmp_path):
        config = tmp_path / "risala.toml"
        self.write(config)
        served = serve()
        served.place("Risala is running at")

        (tmp_path / "none.toml").touch()  # a command would refuse a faulty file itself

        def asked(*arguments: str) -> dict:
            more = ("--config", "none.toml", "--data", str(served.data), "--json")
            return json.loads(risala(*arguments, *more).stdout)

        self.write(config, level="debug", price="0.75", keep_alive=30, rate=50)
        served.process.send_signal(signal.SIGHUP)
        assert served.logged("settings.need_restart")["keys"] == ["http.keep_alive_s"]
        said = {
            line["key"]: line["now"]
            for line in map(json.loads, served.log)
            if line["event"] == "settings.changed"
        }
        assert said == {
            "log.level": "debug",
            "pricing.per_segment": "0.75",
            "carriers[loop].rate_per_s": 50.0,
        }
        assert asked("price")["perSegment"] == "0.75"
        assert asked("carriers")["carriers"][0]["rate_max_per_s"] == 50.0
        asked("org", "create", "Shop")
        asked("topup", "10")
        asked("send", "36123456", "Salam")
        served.logged("message.delivered")  # at debug level

        file = config.read_text()
        second = '\n[[carriers]]\nname = "second"\ndriver = "loopback"\nprefixes = ["+2222"]\n'
        config.write_text(file + second)
        seen = asked("carriers", "preview")
        assert [(one["carrier"], one["effect"]) for one in seen["carriers"]] == [
            ("second", "starts")
        ]
        assert asked("carriers", "apply", "--hash", seen["hash"])["hash"] == seen["hash"]
        assert asked("send", "26123456", "Salam")["accepted"]
        config.write_text(file)
        assert asked("carriers", "apply")["carriers"][0]["effect"] == "leaves"
        assert asked("carriers", "preview")["carriers"] == []

        config.write_text("[pricing]\nper_segment = 1\nper_word = 2\n")
        served.process.send_signal(signal.SIGHUP)
        assert len(served.logged("settings.refused")["faults"]) == 2
        assert asked("price")["perSegment"] == "0.75"

        self.write(config, level="debug", price="0.75", rate=50)
        served.process.send_signal(signal.SIGHUP)
        served.logged("settings.unchanged")
        assert served.stop() == 0
        assert not any("Traceback" in line for line in served.log)

    @pytest.mark.long
    def test_one_that_comes_while_it_starts_waits_until_it_is_heard(self, serve):
        # Started whole, as something is given to its interpreter: a fork has begun and is up before
        # anybody could look.
        served = serve(PYTHONHASHSEED="0")
        pid = served.process.pid
        until(lambda: blocks(pid, signal.SIGHUP), "the process has begun")
        for _ in range(3):
            served.process.send_signal(signal.SIGHUP)
        served.place("Risala is running at")
        served.logged("settings.unchanged")
        assert not blocks(pid, signal.SIGHUP)
        assert served.stop() == 0

    def test_without_a_file_it_changes_nothing(self, serve):
        served = serve()
        served.place("Risala is running at")
        served.process.send_signal(signal.SIGHUP)
        served.logged("settings.unchanged")
        assert served.stop(signal.SIGINT) == 0


@pytest.mark.slow
class TestHttps:
    FILES = Path(__file__).parents[1] / "drivers" / "smpp" / "tls"

    def test_it_is_spoken_and_a_renewed_certificate_is_read(self, serve, tmp_path):
        shown = Path(shutil.copy(self.FILES / "server.pem", tmp_path / "shown.pem"))
        served = serve(RISALA_HTTP__TLS_CERTIFICATE=str(shown))
        url = served.place("Risala is running at")
        assert url.startswith("https://127.0.0.1:")
        url = url.replace("127.0.0.1", "localhost")  # the name in the certificate
        trusted = ssl.create_default_context(cafile=self.FILES / "ca.pem")
        with httpx2.Client(verify=trusted, trust_env=False, timeout=HANG_S) as client:
            assert client.get(f"{url}/healthz").json() == {"status": "ok"}
        told = get(url.replace("https", "http"))
        assert (told.status_code, "https" in told.json()["message"]) == (400, True)

        address = ("localhost", int(url.rpartition(":")[2]))
        before = ssl.get_server_certificate(address)
        shutil.copy(self.FILES / "self.pem", shown)
        served.process.send_signal(signal.SIGHUP)
        served.logged("certificate.read")
        assert ssl.get_server_certificate(address) != before
        assert served.stop() == 0

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"TLS_CERTIFICATE": "none.pem"}, "none.pem cannot be read"),
            ({"TLS_KEY": "key.pem"}, "needs tls_certificate beside it"),
        ],
    )
    def test_what_cannot_be_used_is_one_sentence(self, serve, settings, words):
        served = serve(**{f"RISALA_HTTP__{name}": value for name, value in settings.items()})
        assert served.process.wait(HANG_S) != 0
        served.end()
        assert words in "".join(served.log)
        assert "Traceback" not in "".join(served.log)


@pytest.mark.slow
def test_a_demo_at_debug_level_logs_ids_and_no_secrets(serve):
    """Standard output is the phone and the curl line to paste; the log must have neither."""
    served = serve("--demo", RISALA_LOG__LEVEL="debug")
    served.place("Risala is running at")
    served.until((served.data / "demo.json").exists)
    demo = json.loads((served.data / "demo.json").read_text())
    bodies = [f"Zanzibar-{number} is a secret word" for number in range(3)]
    bodies.append("رسالة سرية زنجبار " * 12)
    keys = [demo[name] for name in demo if name.endswith("_key")]
    ids, requests = [], []
    for key in (demo["secret_key"], demo["test_secret_key"]):
        for body in bodies:
            payload = {"to": "+22236123456", "body": body, "metadata": {"note": body[:50]}}
            sent = httpx2.post(
                f"{demo['base_url']}/api/sms",
                json=payload,
                headers={"x-api-key": key},
                trust_env=False,
            )
            assert sent.status_code == 200
            ids.append(sent.json()["messageId"])
            requests.append(sent.headers["x-request-id"])
    # Refusals of every kind, too.
    for headers, body in (
        ({"x-api-key": "sk_live_" + "Q" * 32}, {"to": "+22236123456", "body": bodies[0]}),
        ({"x-api-key": demo["publishable_key"]}, {"to": "+22236123456", "body": bodies[0]}),
        ({"x-api-key": demo["secret_key"]}, {"to": "nobody", "body": bodies[0] * 100}),
    ):
        refused = httpx2.post(
            f"{demo['base_url']}/api/sms", json=body, headers=headers, trust_env=False
        )
        assert refused.status_code in (400, 401, 403)

    served.until(lambda: "".join(served.log).count('"message.delivered"') == len(ids))
    assert served.stop() == 0
    log = "".join(served.log)
    for secret in [*keys, "sk_live_" + "Q" * 32, "Zanzibar", "زنجبار", "secret word"]:
        assert secret not in log
        assert secret.encode("unicode_escape").decode() not in log
    lines = [json.loads(line) for line in served.log]
    accepted = [line for line in lines if line["event"] == "messages.accepted"]
    assert [line["message_ids"] for line in accepted] == [[each] for each in ids]
    assert [line["request_id"] for line in accepted] == requests
    life = [line for line in lines if line.get("message_id") == ids[0]]
    assert [line["event"] for line in life] == [
        "message.processing",
        "message.sent",
        "message.delivered",
    ]
    assert life[-1]["carrier"] == "demo-smsc"


@pytest.mark.slow
@pytest.mark.long
def test_a_backup_under_load_restores_to_a_service_with_clean_books(serve, risala, tmp_path):
    (tmp_path / "risala.toml").write_text(
        CONFIG.format(level="info", price="0.50", keep_alive=60, rate=2000)
    )
    served = serve()
    url = served.place("Risala is running at")

    def asked(*arguments: str, data: Path = served.data) -> dict:
        done = risala(*arguments, "--data", str(data), "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    asked("org", "create", "Shop")
    asked("topup", "100000")
    key = asked("key", "create")["value"]
    batch = {"messages": [{"to": "+22236123456", "body": "x" * 300}] * 100}
    accepted, enough, stop = [], threading.Event(), threading.Event()

    def load() -> None:
        with httpx2.Client(base_url=url, headers={"x-api-key": key}, trust_env=False) as client:
            while not stop.is_set():
                answer = client.post("/api/sms/batch", json=batch, timeout=HANG_S)
                accepted.append(answer.status_code)
                if len(accepted) == 5:
                    enough.set()

    loader = threading.Thread(target=load)
    loader.start()
    try:
        assert enough.wait(HANG_S)
        before = len(accepted)
        made = asked("backup", "copy.db")
        until(lambda: len(accepted) > before, "it goes on taking messages in")
    finally:
        stop.set()
        loader.join(HANG_S)
    assert set(accepted) == {200}
    assert made["messages"] % 100 == 0
    assert 500 <= made["messages"] <= len(accepted) * 100
    assert served.stop() == 0

    restored = asked("restore", "copy.db", data=tmp_path / "new")
    assert restored["clean"]
    assert restored["messages"] == made["messages"]
    again = serve("--data", str(tmp_path / "new"))
    again.place("Risala is running at")
    assert asked("audit", data=tmp_path / "new")["clean"]
    assert asked("send", "36123456", "Salam", data=tmp_path / "new")["accepted"]
    assert again.stop() == 0


@pytest.mark.slow
def test_a_process_that_was_stopped_says_so_and_blames_nobody(serve):
    """It was no driver that held it up, and no clock was set."""
    served = serve()
    served.until(lambda: served.out)
    served.process.send_signal(signal.SIGSTOP)
    with pytest.raises(subprocess.TimeoutExpired):
        served.process.wait(3)  # as long as a driver may hold it up before it is named, and more
    served.process.send_signal(signal.SIGCONT)
    assert served.logged("process.stood_still")["for_s"] >= 2
    command = [sys.executable, "-m", "risala", "doctor", "--json", "--data", served.data]
    told = run(command, served.data.parent)
    checks = {each["name"]: each["text"] for each in json.loads(told.stdout)["checks"]}
    assert "The whole process was stopped from outside once" in checks["loop"]
    assert "clock is later than all stored times" in checks["clock"]
    assert served.stop() == 0
    events = {json.loads(line)["event"] for line in served.log if line.startswith("{")}
    assert not events & {"loop.blocked", "clock.set_back"}
