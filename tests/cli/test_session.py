"""How a command reaches a data directory that somebody holds, and what it says when it cannot."""

import socket
import ssl
import subprocess
import sys

import pytest

from patience import HANG_S
from processes import run
from risala.cli.reach import session
from risala.cli.reach.client import connect
from risala.engine.journal.store.lock import DataLock


def test_no_data_directory_is_made_by_a_slip_of_the_hand(risala, tmp_path):
    done = risala("org", "list", "--data", str(tmp_path / "typo"))
    assert done.exit_code == 1
    assert "There is no data in" in done.stderr
    assert not (tmp_path / "typo").exists()


def test_a_service_that_is_starting_is_waited_for(risala, tmp_path, make_service, monkeypatch):
    monkeypatch.setattr(session, "_PATIENCE_S", HANG_S)
    with make_service(tmp_path, delay_s=0.2):
        assert "Shop 1" in risala("org", "list", "--data", str(tmp_path)).stdout


def test_a_holder_that_never_listens_is_told_in_one_sentence(risala, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_PATIENCE_S", 0.2)
    with DataLock(tmp_path):
        done = risala("org", "list", "--data", str(tmp_path))
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "in use" in done.stderr


def test_a_socket_that_a_crash_left_is_nobody(risala, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_PATIENCE_S", 0.2)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "control.sock"))
    with DataLock(tmp_path):
        done = risala("org", "list", "--data", str(tmp_path))
    assert (done.exit_code, "in use" in done.stderr) == (1, True)


def test_the_environment_names_the_directory(service, risala, monkeypatch):
    monkeypatch.setenv("RISALA_DATA", str(service.data_dir))
    assert "Shop 1" in risala("org", "list").stdout


async def test_no_authorities_are_read_for_a_socket(service, monkeypatch):
    """That takes thirty milliseconds of each command."""
    read = []
    monkeypatch.setattr(ssl, "create_default_context", lambda *_, **__: read.append("all"))
    async with connect(service.data_dir) as gateway:
        found = await gateway.perform("org.list", {})
    assert found["organizations"]
    assert read == []


def test_a_path_too_long_for_a_socket(risala, tmp_path, make_service):
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    with make_service(deep):
        assert "Shop 1" in risala("org", "list", "--data", str(deep)).stdout


@pytest.mark.slow
def test_a_process_of_its_own(service):
    """The console script's own way: light, with the right exit codes and streams."""
    command = [sys.executable, "-m", "risala"]
    place = service.data_dir
    done = run([*command, "org", "list", "--data", place], place)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Shop 1" in done.stdout
    done = run([*command, "org", "show", "x"], place)
    assert (done.returncode, done.stdout) == (1, "")
    assert run([*command, "nonsense"], place).returncode == 2


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["org", "create", "--help"]])
def test_help_imports_nothing_of_the_service(arguments):
    code = (
        "import sys\n"
        "from risala.__main__ import main\n"
        f"sys.argv = ['risala', *{arguments!r}]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'trio', 'quart', 'hypercorn', 'pydantic', 'rich', 'httpx2', 'sqlite_utils'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
