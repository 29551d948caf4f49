"""Plugins that hang, or are made for another contract: named and set aside, the others go on."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from risala.cli.main import cli
from risala.plugins import version
from risala.plugins.command import BUILT_IN
from risala.plugins.kinds import COMMANDS, FACES, MAILERS
from risala.plugins.manager import PluginManager
from risala.plugins.version import CONTRACT, ContractVersion, made_for

HEAD = """
import threading
from risala.plugins.hookspecs import hookimpl
from risala.plugins.mail import MailerFactory

"""
GOOD = """
@hookimpl
def risala_register_mailers(register):
    register(MailerFactory("NAME", object, "for tests"))
"""
HANGS = """
def hang():
    thread = threading.current_thread()
    while not hasattr(thread, "risala_hangs"):  # until somebody waits for it
        pass
    thread.risala_hangs.set()
    threading.Event().wait()

"""
IN_A_HOOK = """
@hookimpl
def risala_register_mailers(register):
    hang()
"""
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "plugin-hooks.md"


def until_it_hangs(thread: threading.Thread, limit_s: float) -> None:
    """Wait until a plugin is loaded or hangs for good, however long that takes here."""
    hangs = threading.Event()
    thread.risala_hangs = hangs  # type: ignore[attr-defined]  # the plugin knows its thread alone
    while thread.is_alive() and not hangs.wait(0.01):
        pass


@pytest.fixture
def load(tmp_path):
    before = set(sys.modules)

    def load(**plugins: str) -> PluginManager:
        for name, text in plugins.items():
            (tmp_path / f"{name}.py").write_text(HEAD + text.replace("NAME", name))
        manager = PluginManager(until_it_hangs)
        with capture_logs():
            manager.load((), folder=tmp_path, installed=(), load_s=7)
        return manager

    yield load
    for name in set(sys.modules) - before:
        if name.startswith("risala_plugin_"):
            del sys.modules[name]


def test_those_that_hang_are_named_with_the_place_and_the_others_serve(load):
    manager = load(
        a=GOOD, b_import=HANGS + "hang()", c_hook=HANGS + IN_A_HOOK, d=GOOD, e="raise SystemExit"
    )
    assert list(manager.of(MAILERS)) == ["a", "d"]
    reasons = {each.name: each.reason for each in manager.faults}
    assert list(reasons) == ["b_import", "c_hook", "e"]
    for name in ("b_import", "c_hook"):
        assert reasons[name].startswith("it did not load within 7 s: it is at ")
        assert f"/{name}.py:" in reasons[name]
    states = {each.name: each.state for each in manager.plugins()}
    assert states == {
        **dict.fromkeys("ad", "loaded"),
        **dict.fromkeys(("b_import", "c_hook", "e"), "set aside"),
    }


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('"2.0"', "it is made for the contract 2.0, and this Risala has "),
        ('"0.9"', "it is made for the contract 0.9, and this Risala has "),
        ('"1.999"', f"it is made for the contract 1.999, and this Risala has {CONTRACT}: upgrade"),
        ("1.1", "its risala_contract is no version"),
        ('"1"', "its risala_contract is no version"),
        ("object()", "its risala_contract is no version"),
    ],
)
def test_one_for_another_contract_is_set_aside(load, said, reason):
    manager = load(a=GOOD, b=f"risala_contract = {said}\n{GOOD}")
    assert list(manager.of(MAILERS)) == ["a"]
    (fault,) = manager.faults
    assert fault.name == "b"
    assert fault.reason.startswith(reason)


def test_an_older_one_works_and_is_warned_of(load):
    manager = load(
        now=f'risala_contract = "{CONTRACT}"\n{GOOD}',
        older=f'risala_contract = "1.0"\n__version__ = "0.3"\n{GOOD}',
        silent=GOOD,
    )
    assert manager.faults == ()
    found = {each.name: each for each in manager.plugins()}
    assert [found[name].contract for name in ("now", "older", "silent")] == [
        str(CONTRACT),
        "1.0",
        None,
    ]
    assert found["now"].warnings == ()
    assert found["older"].warnings == (f"it is made for the contract 1.0; this one is {CONTRACT}",)
    assert found["older"].version == "0.3"
    (warning,) = found["silent"].warnings
    assert warning.startswith("it does not say for which contract it is made, which the contract ")


def test_what_is_newer_tomorrow_is_older_then():
    plugin = type("Plugin", (), {"risala_contract": str(CONTRACT)})
    later = ContractVersion(CONTRACT.major, CONTRACT.minor + 1)
    assert made_for(plugin, later).warnings == (
        f"it is made for the contract {CONTRACT}; this one is {later}",
    )
    assert made_for(plugin, ContractVersion(CONTRACT.major + 1, 0)).fault


def test_the_page_has_the_contract_and_each_deprecation():
    page = PAGE.read_text(encoding="utf-8")
    assert f"now **{CONTRACT}**" in page
    rows = [f"| {each.since} | {each.what} | {each.instead} |" for each in version.DEPRECATIONS]
    assert all(row in page for row in rows)
    table = page.split("| Since | What | Instead |\n|---|---|---|\n")[1].split("\n\n")[0]
    assert table.splitlines() == rows


COMMAND = """
from risala.plugins.command import CommandFactory

@hookimpl
def risala_register_commands(register):
    register(CommandFactory("NAME", object, "for tests"))
"""


def test_no_plugin_takes_the_name_of_a_built_in_command(load):
    manager = load(hello=COMMAND, send=COMMAND)
    assert list(manager.of(COMMANDS)) == ["hello"]
    (fault,) = manager.faults
    assert fault.reason == '"send" cannot be the name of a command'
    missing = frozenset(cli.commands) ^ BUILT_IN
    assert not missing, f"write {sorted(missing)} into BUILT_IN of plugins/command.py, or out of it"


FACE = """
from pydantic import BaseModel
from risala.plugins.face import FaceFactory

risala_contract = "1.1"

@hookimpl
def risala_register_HOOK(register):
    register(FaceFactory("NAME", BaseModel, object, "for tests"))
"""


def test_the_hook_of_before_works_and_is_warned_of(load):
    manager = load(old=FACE.replace("HOOK", "faces"), new=FACE.replace("HOOK", "compat"))
    assert sorted(manager.of(FACES)) == ["new", "old"]
    found = {info.name: info.warnings for info in manager.plugins()}
    assert found["new"] == ()
    (warning,) = found["old"]
    assert warning.endswith("Call it by its new name.")
