"""A broken plugin is named and hurts nobody; a driver is built or every fault is told."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from risala.config.faults import ConfigError
from risala.config.model import CarrierSection
from risala.config.outward import MailSection
from risala.config.secrets import resolve_secrets
from risala.plugins.kinds import DRIVERS, KINDS
from risala.plugins.mail import Mailer
from risala.plugins.manager import BUILTINS, PluginManager
from risala.plugins.tables import PluginConfigError

GOOD = """
from typing import Any
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from risala.plugins.contract import Capabilities, DriverFactory
from risala.plugins.hookspecs import hookimpl

class Account(BaseModel):
    model_config = ConfigDict(extra="forbid")
    pin: SecretStr = Field(default=SecretStr("0000"), min_length=4)

class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    host: str
    port: int = Field(default=1, ge=1, le=65535)
    password: SecretStr = Field(default=SecretStr("x"), min_length=1)
    account: Account = Account()

    @field_validator("host")
    @classmethod
    def no_spaces(cls, host: str) -> str:
        if " " in host:
            raise ValueError("Must not have spaces")
        return host

class Driver:
    capabilities = Capabilities(True, True, True, False, False, 1)
    def __init__(self, name: str, settings: Settings) -> None:
        if settings.host == "refused":
            raise ValueError("the host is refused")
        self.name, self.settings = name, settings
    async def run(self, context: Any, *, task_status: Any = None) -> None: ...
    async def submit(self, segment: Any) -> Any: ...
    async def query(self, carrier_id: str, *, sender: str) -> None: ...

@hookimpl
def risala_register_drivers(register):
    register(DriverFactory("DRIVER", Settings, Driver, "for tests"))
"""
HEAD = "from risala.plugins.hookspecs import hookimpl\n"


class Folder:
    """A plugins folder, and a manager that loads it and nothing else."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str) -> None:
        (self.path / f"{name}.py").write_text(text)

    def good(self, name: str, driver: str) -> None:
        self.write(name, GOOD.replace("DRIVER", driver))

    def load(self, **options: Any) -> PluginManager:
        manager = PluginManager()
        with capture_logs():
            manager.load((), folder=self.path, **{"installed": (), **options})
        return manager


@pytest.fixture
def folder(tmp_path):
    before = set(sys.modules)
    yield Folder(tmp_path)
    for name in set(sys.modules) - before:
        if name.startswith("risala_plugin_"):
            del sys.modules[name]


def faults(manager: PluginManager) -> dict[str, str]:
    return {fault.name: fault.reason for fault in manager.faults}


def carrier(driver: str = "acme", **table: Any) -> CarrierSection:
    return CarrierSection.model_validate({"name": "mattel", "driver": driver, driver: table})


def test_built_ins_are_plugins_like_any_other():
    manager = PluginManager()
    manager.load(BUILTINS[:1], installed=())
    (smpp,) = manager.plugins()
    assert (smpp.name, smpp.source, smpp.names) == ("smpp", "built in", ("smpp",))
    assert manager.faults == ()


CODE = """
import sys
from risala.plugins.manager import BUILTINS, PluginManager
PluginManager().load(BUILTINS, installed=())
print(*sorted(each for each in sys.modules if each.startswith({parts!r})))
"""
PARTS = ("", ".plugin", ".settings")
MODEMS = ("risala.drivers.hilink", "risala.drivers.modem", "jeepney", "httpcore2", "serial")


def test_ways_to_modems_that_no_carrier_takes_cost_their_settings_alone():
    """So a service that names none of them starts as fast, and idles with as much memory."""
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(parts=MODEMS)],
        capture_output=True,
        text=True,
        check=True,
    )
    places = ("hilink", "modem", "modem.manager")
    allowed = [f"risala.drivers.{place}{part}" for place in places for part in PARTS]
    assert sorted(allowed) == done.stdout.split()


def test_a_file_in_the_folder(folder):
    folder.good("acme_plugin", "acme")
    folder.write("_helper", "raise SystemExit")
    (folder.path / "notes.txt").write_text("")
    manager = folder.load()
    assert list(manager.of(DRIVERS)) == ["acme"]
    (info,) = manager.plugins()
    assert (info.name, info.source) == ("acme_plugin", str(folder.path / "acme_plugin.py"))


def test_an_installed_package(folder, monkeypatch):
    folder.good("acme_package", "acme")
    monkeypatch.syspath_prepend(folder.path)
    manager = PluginManager()
    entry = EntryPoint("acme", "acme_package", "risala")
    manager.load((), installed=[entry, EntryPoint("gone", "no_such_module", "risala")])
    assert [info.source for info in manager.plugins()] == ["package", "package"]
    assert list(manager.of(DRIVERS)) == ["acme"]
    assert faults(manager) == {"gone": "ModuleNotFoundError: No module named 'no_such_module'"}


BROKEN = {
    "raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "syntax": ("def", "SyntaxError: "),
    "misspelt": (
        HEAD + "@hookimpl\ndef risala_register_driver(register): ...",
        "unknown hook 'risala_register_driver'",
    ),
    "parameters": (
        HEAD + "@hookimpl\ndef risala_register_drivers(registrar): ...",
        "{'registrar'} are declared in the hookimpl but can not be found",
    ),
    "unmarked": ("def risala_register_drivers(register): ...", "marked with @hookimpl"),
    "hook": (
        HEAD + "@hookimpl\ndef risala_register_drivers(register): raise LookupError('no')",
        "LookupError: no",
    ),
    "junk": (
        HEAD + "@hookimpl\ndef risala_register_drivers(register): register(3)",
        "a int instead of a DriverFactory",
    ),
    "half": (
        GOOD.replace("DRIVER", "half") + "    raise LookupError('after the first')",
        "LookupError: after the first",
    ),
    "twice": (
        GOOD.replace("DRIVER", "twice")
        + '    register(DriverFactory("twice", Settings, Driver, ""))',
        'the driver "twice" twice',
    ),
    "badname": (GOOD.replace("DRIVER", "Not Good"), '"Not Good" cannot be the name'),
    "reserved": (GOOD.replace("DRIVER", "prefixes"), '"prefixes" cannot be the name'),
}


def test_each_broken_plugin_is_named_and_the_good_ones_serve(folder):
    for name, (text, _) in BROKEN.items():
        folder.write(name, text)
    folder.good("a_first", "first")
    folder.good("z_last", "last")
    manager = folder.load()
    assert sorted(manager.of(DRIVERS)) == ["first", "last"]
    assert set(faults(manager)) == set(BROKEN)
    for name, (_, reason) in BROKEN.items():
        assert reason in faults(manager)[name]
    assert not any(f"risala_plugin_{name}" in sys.modules for name in ("raises", "exits"))


def test_two_plugins_of_one_driver_name_are_both_named(folder):
    folder.good("one", "acme")
    folder.good("two", "acme")
    manager = folder.load()
    assert list(faults(manager)) == ["two"]
    assert '"acme" is registered by the plugin one already' in faults(manager)["two"]
    assert list(folder.load(disabled=["one"]).of(DRIVERS)) == ["acme"]


def test_two_plugins_of_one_name(folder, monkeypatch):
    folder.good("acme", "acme")
    monkeypatch.syspath_prepend(folder.path)
    manager = folder.load(installed=[EntryPoint("acme", "acme", "risala")])
    assert faults(manager) == {"acme": "another plugin has this name: package"}
    assert list(manager.of(DRIVERS)) == ["acme"]


def test_disabled_ones_are_not_even_imported(folder):
    folder.write("bomb", "raise SystemExit")
    manager = folder.load(disabled=["bomb", "nobody"])
    (info,) = manager.plugins()
    assert info.disabled
    assert faults(manager) == {"nobody": "is disabled, but there is no such plugin"}


def test_a_folder_that_is_not_there(folder):
    folder.path /= "no"
    assert faults(folder.load()) == {str(folder.path): "cannot be read: No such file or directory"}


@pytest.mark.parametrize("whole", [True, False], ids=["folder", "file"])
def test_what_others_may_write_is_not_run(folder, whole):
    """It would run with all that the service may read and send."""
    folder.good("acme_plugin", "acme")
    folder.good("other_plugin", "other")
    open_one = folder.path if whole else folder.path / "acme_plugin.py"
    open_one.chmod(open_one.stat().st_mode | 0o002)
    manager = folder.load()
    reason = f"every user of this machine may write {open_one}: run `chmod o-w {open_one}`"
    assert faults(manager) == {str(open_one) if whole else "acme_plugin": reason}
    assert [info.name for info in manager.plugins()] == ([] if whole else ["other_plugin"])


def test_a_folder_that_others_may_replace_is_not_run(folder):
    above = folder.path / "above"
    above.mkdir()
    folder.path = above / "plugins"
    folder.path.mkdir()
    folder.good("acme_plugin", "acme")
    above.chmod(0o777)
    reason = f"every user of this machine may write {above}: run `chmod o-w {above}`"
    assert faults(folder.load()) == {str(folder.path): reason}
    above.chmod(0o1777)  # as /tmp is: only the owner renames what is in it
    assert faults(folder.load()) == {}


def test_compiled_plugins_that_others_may_write_are_not_run(folder):
    folder.good("acme_plugin", "acme")
    compiled = folder.path / "__pycache__"
    compiled.mkdir(exist_ok=True)
    compiled.chmod(0o777)
    manager = folder.load()
    reason = f"every user of this machine may write {compiled}: run `chmod o-w {compiled}`"
    assert faults(manager) == {str(folder.path): reason}
    assert manager.plugins() == ()


@pytest.mark.parametrize(("era", "run"), [("before", 4), ("now", 0)])
@pytest.mark.parametrize("place", ["file", "folder", "above", "compiled"])
def test_plugins_of_folders_that_others_may_write(folder, monkeypatch, place, era, run):
    """Of four such plugins: those that run. *Before* is today's manager without the guard."""
    if era == "before":
        monkeypatch.setattr("risala.plugins.manager.write_fault", lambda _: None)
    folder.path = folder.path / "above" / "plugins"
    folder.path.mkdir(parents=True)
    folder.good("acme_plugin", "acme")
    open_one = {
        "file": folder.path / "acme_plugin.py",
        "folder": folder.path,
        "above": folder.path.parent,
        "compiled": folder.path / "__pycache__",
    }[place]
    if place == "compiled":
        open_one.mkdir()
    open_one.chmod(0o777)
    assert len(folder.load().plugins()) == run / 4  # each of the four is one run of this test


def build_faults(manager: PluginManager, section: CarrierSection, **environ: str) -> list[str]:
    with pytest.raises(PluginConfigError) as caught:
        manager.build_driver(section, partial(resolve_secrets, environ=environ))
    assert isinstance(caught.value, ConfigError)
    return [f"{fault.key}: {fault.text}" for fault in caught.value.faults]


def test_a_driver_is_built_with_its_secrets(folder):
    folder.good("acme", "acme")
    section = carrier(host="h", password_env="ACME_PW")
    driver: Any = folder.load().build_driver(
        section, partial(resolve_secrets, environ={"ACME_PW": "s3cret"})
    )
    assert driver.name == "mattel"
    assert driver.settings.password.get_secret_value() == "s3cret"


def test_all_faults_of_a_table_at_once_without_its_values(folder):
    folder.good("acme", "acme")
    section = carrier(
        port=99999, hots="h", password_env="NOT_SET", account={"pin_env": "lower", "puk": "s3cret"}
    )
    told = build_faults(folder.load(), section)
    assert told == [
        "carriers.mattel.acme.password_env: set the environment variable NOT_SET, or name another"
        " one",
        "carriers.mattel.acme.account.pin_env: must be the name of an environment variable:"
        " capitals, digits and _, in quotes",
        "carriers.mattel.acme.host: field required",
        "carriers.mattel.acme.port: input should be less than or equal to 65535",
        "carriers.mattel.acme.account.puk: extra inputs are not permitted",
        "carriers.mattel.acme.hots: extra inputs are not permitted",
    ]
    assert not any("s3cret" in line for line in told)


def test_a_missing_secret_alone_is_told(folder):
    folder.good("acme", "acme")
    (told,) = build_faults(folder.load(), carrier(host="h", password_env="NOT_SET"))
    assert told.startswith("carriers.mattel.acme.password_env: set the environment variable")


def test_a_validator_s_own_words(folder):
    folder.good("acme", "acme")
    told = build_faults(folder.load(), carrier(host="a b"))
    assert told == ["carriers.mattel.acme.host: must not have spaces"]


def test_a_driver_that_refuses_its_settings(folder):
    folder.good("acme", "acme")
    told = build_faults(folder.load(), carrier(host="refused"))
    assert told == ["carriers.mattel: the driver acme cannot be built: the host is refused"]


def test_what_is_no_driver_is_refused(folder):
    text = GOOD.replace("DRIVER", "acme").replace("Settings, Driver,", "Settings, lambda *_: 3,")
    folder.write("acme", text)
    told = build_faults(folder.load(), carrier(host="h"))
    assert told == ["carriers.mattel: the plugin acme built something that is no driver"]


def test_an_unknown_driver_lists_the_known_and_the_broken(folder):
    folder.good("acme", "acme")
    folder.good("off", "off")
    folder.write("modem", "1 / 0")
    told = build_faults(folder.load(disabled=["off"]), carrier("modem"))
    assert told == [
        'carriers.mattel.driver: there is no driver "modem"; known: acme; plugins that are not'
        " used: modem (ZeroDivisionError: division by zero); disabled: off"
    ]


def test_the_carrier_of_test_keys_and_mail_are_plugins_too():
    manager = PluginManager()
    manager.load(installed=())
    assert manager.faults == ()
    brought = {
        info.name: ([*info.brings["drivers"]], [*info.brings["mailers"]])
        for info in manager.plugins()
    }
    assert brought["testmode"] == (["test"], [])
    assert brought["mail"] == ([], ["smtp", "outbox"])
    section = CarrierSection(name="test", driver="test", prefixes=())
    assert manager.build_driver(section).capabilities.receipts


def test_a_mailer_is_built_by_its_name():
    manager = PluginManager()
    manager.load(installed=())
    section = MailSection(host="mail.example")
    assert isinstance(manager.build_mailer(section), Mailer)
    with pytest.raises(PluginConfigError, match='no mailer "pigeon"; known: outbox, smtp'):
        manager.build_mailer(section.model_copy(update={"mailer": "pigeon"}))


def test_without_a_plugin_of_its_own_nothing_serves_test_keys():
    manager = PluginManager()
    manager.load(installed=(), disabled=["testmode"])
    with pytest.raises(PluginConfigError, match=r'no driver "test".*disabled: testmode'):
        manager.build_driver(CarrierSection(name="test", driver="test"))


def test_a_drivers_secrets_are_known_by_its_settings():
    plugins = PluginManager()
    plugins.load()
    assert plugins.secrets_of("smpp") >= {"password", "outbind.password"}
    assert plugins.secrets_of("modem") == {"pin"}
    assert plugins.secrets_of("nothing") == frozenset()


def test_settings_are_built_when_a_table_of_theirs_is_read():
    """What no table names is in no memory."""
    manager = PluginManager()
    manager.load(installed=())
    models = [
        model
        for kind in KINDS
        for each in manager.of(kind).values()
        if (model := getattr(each, "settings", None)) is not None
    ]
    assert len(models) > 10
    assert [each for each in models if not each.model_config.get("defer_build")] == []


SHARED = (
    GOOD.replace(
        'register(DriverFactory("DRIVER", Settings, Driver, "for tests"))',
        'register(DriverFactory("acme", Settings, Sharer, "", Account, lambda it: it.host))',
    )
    .replace(
        "@hookimpl",
        """
class Account:
    def __init__(self, settings: Settings) -> None: ...
    async def run(self) -> None: ...

class Sharer(Driver):
    def __init__(self, name: str, settings: Settings, account: Account) -> None:
        super().__init__(name, settings)
        self.shared_account = account

@hookimpl""",
    )
    .replace("class Account(BaseModel)", "class Keys(BaseModel)")
    .replace("Account = Account()", "Keys = Keys()")
)


def test_two_carriers_of_one_account_are_given_the_same(folder):
    folder.write("acme_plugin", SHARED)
    manager = folder.load()
    assert manager.faults == ()
    one, two, other = (manager.build_driver(carrier(host=host)) for host in ("a", "a", "b"))
    assert one.shared_account is two.shared_account
    assert one.shared_account is not other.shared_account
