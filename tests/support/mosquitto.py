"""A real Mosquitto for tests, and who subscribes at it."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from benchmarks.processes import free_port
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from patience import HANG_S, until

USER, PASSWORD = "risala", "correct horse"


@dataclass
class Mosquitto:
    """One broker at one port, which can be stopped and started again; it keeps nothing."""

    folder: Path
    port: int
    more: str = ""
    _running: subprocess.Popen | None = None

    def start(self) -> None:
        config = self.folder / "mosquitto.conf"
        # As root it would become a user who may not read the folder.
        config.write_text(f"user root\nlistener {self.port} 127.0.0.1\n{self.more}\n")
        program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin")
        self._running = subprocess.Popen(
            [program, "-c", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until(self._listens, "the broker listens")

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=HANG_S).close()
        except OSError:
            return False
        return True

    @property
    def is_running(self) -> bool:
        return self._running is not None

    def stop(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.wait()
            self._running = None

    def freeze(self) -> None:
        """Answer nothing from now on."""
        self._running.send_signal(signal.SIGSTOP)

    def with_password(self) -> None:
        """Let in only who knows the password."""
        file = self.folder / "passwords"
        subprocess.run(
            ["mosquitto_passwd", "-b", "-c", str(file), USER, PASSWORD],
            check=True,
            capture_output=True,
            timeout=HANG_S,
        )
        file.chmod(0o644)
        self.more += f"allow_anonymous false\npassword_file {file}\n"


@dataclass
class Subscriber:
    """Whoever subscribes to everything: what came, in its order."""

    messages: list[tuple[str, str, bool]] = field(default_factory=list)
    """Topic, payload, and whether the broker had kept it."""
    _ready: threading.Event = field(default_factory=threading.Event)

    def bodies(self, topic_end: str = "") -> list[str]:
        return [payload for topic, payload, _ in self.messages if topic.endswith(topic_end)]

    def last(self) -> dict[str, str]:
        """The last payload of each topic."""
        return {topic: payload for topic, payload, _ in self.messages}


@contextmanager
def subscribed(broker: Mosquitto, *, login: bool = False) -> Iterator[Subscriber]:
    """Subscribed to all topics, in a thread; it connects again by itself."""
    subscriber = Subscriber()
    client = Client(CallbackAPIVersion.VERSION2)
    if login:
        client.username_pw_set(USER, PASSWORD)
    client.reconnect_delay_set(min_delay=1, max_delay=1)
    client.on_connect = lambda *_: client.subscribe("#", qos=1)
    client.on_subscribe = lambda *_: subscriber._ready.set()
    client.on_message = lambda _client, _data, each: subscriber.messages.append(
        (each.topic, each.payload.decode(), bool(each.retain))
    )
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    assert subscriber._ready.wait(HANG_S)
    yield subscriber
    client.disconnect()
    client.loop_stop()


@contextmanager
def mosquitto(
    folder: Path, *, password: bool = False, certificate: Path | None = None
) -> Iterator[Mosquitto]:
    """A broker that runs; the test is skipped, and says so, where there is none.

    Args:
        certificate: a file with a certificate and its key: the broker speaks TLS.
    """
    if shutil.which("mosquitto", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("NOT TESTED against Mosquitto: it is not installed (make peers)")
    broker = Mosquitto(folder, free_port())
    if password:
        broker.with_password()
    else:
        broker.more += "allow_anonymous true\n"
    if certificate is not None:
        broker.more += f"certfile {certificate}\nkeyfile {certificate}\n"
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()
