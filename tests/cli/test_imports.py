"""What a command imports, by name: a budget that no busy machine can break, as a time would be.

An import that comes back shows here; what it costs is in ``make bench``.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from risala.cli.main import cli
from risala.cli.reach import quick
from risala.config.model import StorageSection
from risala.late import LATE

CODE = """
import sys
from risala.__main__ import main
sys.argv = ["risala", *{arguments!r}]
before = set(sys.modules)
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(flush=True)
import json
new = set(sys.modules) - before
used = [each for each in new if type(sys.modules[each]).__name__ != "_LateModule"]
print(json.dumps(sorted(used)))
"""
SERVICE = {
    "asyncio", "httpcore2", "httpx2", "hypercorn", "pydantic", "quart", "rich", "sqlite3",
    "sqlite_utils", "structlog", "trio", "importlib.metadata", "risala.app",
    "risala.drivers", "risala.lab", "risala.plugins",
}  # fmt: skip
"""What only the service, or a command without one, has use for."""
RECORDS = re.compile(r"risala\.engine\.(model\b|features(\.\w+(\.(records|feature))?)?$)")
"""What a command may know of the engine: the types of its answers, and where commands are."""


def of_service(found: set[str]) -> set[str]:
    """What of these only a service has use for."""
    engine = {each for each in found if each.startswith("risala.engine.")}
    return (SERVICE & found) | {each for each in engine if not RECORDS.match(each)}


def imported(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_version_imports_no_command_line():
    found = imported("--version")
    assert {"click", "importlib.metadata", "risala.cli"} & found == set()


@pytest.mark.slow
@pytest.mark.long
def test_an_idle_service_has_nothing_in_memory_that_it_does_not_use(tmp_path):
    arguments = ("serve", "--port", "0", "--data", str(tmp_path / "data"))
    with subprocess.Popen(
        [sys.executable, "-c", CODE.format(arguments=arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("Risala is running")
        running.terminate()
        found = set(json.loads(running.stdout.read().splitlines()[-1]))
    assert "structlog" in found
    # What libraries import, and a service uses at certain faults or over TLS.
    assert (
        LATE
        | {"_hashlib", "_ssl", "asyncio", "dateutil", "email.message", "greenlet"}
        | {"click.shell_completion"}
    ) & found == set()
    # Drawing, the simulators, drivers of carriers that are not there, the API's own description.
    assert {
        "httpx2", "pygments", "rich", "risala.app.demo", "risala.client", "risala.lab",
        "risala.drivers.modem.driver", "risala.drivers.smpp.driver", "serial",
        "risala.http.api.openapi.document",
    } & found == set()  # fmt: skip
    # The pages and what is below them; calls of webhooks; what somebody does who does more than
    # send; what is switched on by the settings.
    assert {
        "aiofiles", "babel", "flask", "h2", "html", "hypercorn", "jinja2", "quart", "werkzeug",
        "wsproto", "risala.http.common.base", "risala.http.dashboard", "risala.http.operator",
        "risala.http.web", "anyio", "h11", "httpcore2", "risala.http.outbound.client",
        "cryptography", "phonenumbers", "risala.engine.gateway.table", "smtplib",
        "webauthn", "pyotp", "segno",
        "risala.smpp_server.server", "urllib.request", "xml.sax", "openpyxl",
    } & found == set()  # fmt: skip
    # Features that rest. A new database asks each what it seals.
    resting = ("compat.c", "hooks.", "lists.", "mailings.", "payments.")
    features = {each.removeprefix("risala.engine.features.") for each in found}
    assert {each for each in features if each.startswith(resting)} == {
        "hooks.feature", "hooks.records", "hooks.stored", "lists.feature", "mailings.feature",
        "payments.feature", "lists.records", "lists.stored",  # a word of opt-outs may be a list's
    }  # fmt: skip
    # The API's calls that perform operations; the standby of a service that has none.
    assert {
        "risala.engine.operations.organizations", "risala.engine.operations.webhooks",
        "risala.http.api.management.actions", "risala.http.api.management.lists",
        "risala.http.api.management.webhooks", "risala.engine.features.compat.operations",
        "risala.engine.features.standby.named_stores", "risala.engine.kernel.operation",
        "risala.engine.features.standby.stored.shipper",
    } & found == set()  # fmt: skip


def test_both_ways_to_the_version_say_the_same(risala):
    command = [sys.executable, "-m", "risala", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert risala("--version").stdout.replace("cli ", "risala ") == done.stdout


@pytest.mark.slow
def test_a_question_to_a_service_imports_nothing_of_it(service):
    found = imported("key", "list", "--data", str(service.data_dir))
    assert service.operator.asked[-1][0] == "key.list"
    assert of_service(found) == set()
    assert {each for each in found if each.startswith("risala.cli.commands.")} == {
        "risala.cli.commands.accounts",
        "risala.cli.commands.accounts.asking",
        "risala.cli.commands.accounts.key",
        "risala.cli.commands.accounts.organizations",
    }


@pytest.mark.parametrize("name", ["org", "simulate"])
def test_help_of_a_command_imports_no_other(name):
    found = imported(name, "--help")
    rooms = ("risala.cli.commands.", "risala.cli.lab.")
    modules = {each for each in found if each.startswith(rooms)}
    assert modules <= {
        "risala.cli.commands.accounts",
        "risala.cli.commands.accounts.asking",
        "risala.cli.commands.accounts.org",
        "risala.cli.commands.accounts.organizations",
        "risala.cli.commands.upkeep",
        "risala.cli.commands.upkeep.erasing",
        "risala.cli.lab.simulate",
        "risala.cli.lab.simulate_hilink",
        "risala.cli.lab.simulate_modem",
        "risala.cli.lab.simulate_phone",
    }
    assert of_service(found) == set()


def test_every_command_is_where_the_table_says():
    for name, command in cli.commands.items():
        assert command.name == name


@pytest.mark.parametrize(
    ("environment", "file", "given", "found"),
    [
        ({}, None, None, "risala-data"),
        ({}, "", None, "risala-data"),
        ({}, "[storage]\ndata_dir = 'a'", None, "a"),
        ({"RISALA_STORAGE__DATA_DIR": "b"}, "[storage]\ndata_dir = 'a'", None, "b"),
        ({"RISALA_STORAGE__DATA_DIR": " "}, "[storage]\ndata_dir = 'a'", None, "a"),
        ({"RISALA_STORAGE__DATA_DIR": "b"}, "[storage]\ndata_dir = 'a'", "c", "c"),
        # Whatever is not plain is left to the settings, which tell what is wrong.
        ({"RISALA_STORAGE": '{"data_dir": "d"}'}, None, None, None),
        ({"RISALA_storage__data_dir": "d"}, None, None, None),
        ({}, "[storage]\ndata_dir = 7", None, None),
        ({}, "storage = 7", None, None),
        ({}, "storage", None, None),
    ],
)
def test_where_the_data_is_without_reading_the_settings(
    tmp_path, monkeypatch, environment, file, given, found
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    config = None if file is None else tmp_path / "risala.toml"
    if config is not None:
        config.write_text(file)
    told = quick.data_dir(given and Path(given), config)
    assert told == (found and Path(found))


def test_a_file_that_is_not_there_is_left_to_the_settings(tmp_path):
    assert quick.data_dir(None, tmp_path / "none.toml") is None


def test_the_short_way_knows_the_settings_default():
    assert StorageSection().data_dir == Path(quick.DATA_DIR)


def test_work_that_waits_is_told_that_it_must_say_so():
    class Waits:
        def __await__(self):
            yield

    with pytest.raises(RuntimeError, match="waits=True"):
        quick.run(Waits())
