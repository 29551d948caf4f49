"""From a real Nagios, Alertmanager and Apprise to the phone, by what their pages tell to write.

Each program runs as who runs the tests, in a folder of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from doc_blocks import ROOT, blocks_of
from patience import HANG_S, until

pytestmark = [pytest.mark.slow, pytest.mark.long]

PAGES = ROOT / "docs/how-to/connect"
NAGIOS = shutil.which("nagios4", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
NAGIOS_SETTINGS = Path("/etc/nagios4/nagios.cfg")
"""Of Debian's package."""
ALERTMANAGER = shutil.which("prometheus-alertmanager")
MACROS = {
    "$NOTIFICATIONTYPE$": "PROBLEM",
    "$HOSTNAME$": "db1",
    "$SERVICEDESC$": "Disk /",
    "$SERVICESTATE$": "CRITICAL",
    "$SERVICEOUTPUT$": "DISK CRITICAL - 512 MB (3%)",
}


@pytest.fixture(scope="module")
def office(shared_premises):
    simulator = shared_premises.simulator()
    service = shared_premises.running(simulator)
    return service, simulator, service.organization()


def hook(service, account, preset):
    """The address and the secret, as its administrator is shown them."""
    made = service.perform(
        "hook.create",
        organization_id=account.organization_id,
        preset=preset,
        numbers=["+22236123456"],
    )
    return f"{service.url}/hooks/{made['hook']['id']}", made["secret"]


def on_the_page(name, wanted):
    """The one block of a page that has it."""
    (found,) = (each.text for each in blocks_of(PAGES / name) if wanted in each.text)
    return found


def with_places(text, meant):
    """What a page tells, with the places of the test."""
    for told, here in meant.items():
        assert told in text
        text = text.replace(told, here)
    return text


def wait_text(simulator, text):
    until(lambda: text in simulator.texts(), f"the phone has {text!r}")


# -- Nagios ------------------------------------------------------------------------------------


def nagios_commands(service, account, place):
    """The commands of the page, with a hook of their own."""
    url, secret = hook(service, account, "nagios")
    (place / "header").write_text(f"Authorization: Bearer {secret}\n")
    return with_places(
        on_the_page("nagios.md", "define command"),
        {
            "/etc/nagios/risala-header": str(place / "header"),
            "https://sms.example/hooks/hok_…": url,
        },
    )


def test_the_command_of_the_page_for_nagios_reaches_the_phone(office, tmp_path):
    service, simulator, account = office
    commands = nagios_commands(service, account, tmp_path)
    line = next(each for each in commands.splitlines() if "command_line" in each)
    command = with_places(line.split(maxsplit=1)[1], MACROS)
    subprocess.run(["sh", "-c", command], check=True, timeout=HANG_S, stdout=sys.stderr)
    wait_text(simulator, "PROBLEM: db1 Disk / CRITICAL\nDISK CRITICAL - 512 MB (3%)")


NAGIOS_MAIN = """\
cfg_file={here}/objects.cfg
log_file={here}/log
lock_file={here}/lock
temp_file={here}/temporary
temp_path={here}
status_file={here}/status
object_cache_file={here}/objects
check_result_path={here}
command_file={here}/commands
query_socket={here}/queries
nagios_user={user}
nagios_group={group}
check_workers=1
use_syslog=0
check_for_updates=0
interval_length=1
cached_host_check_horizon=0
"""
NAGIOS_OBJECTS = """\
define timeperiod {{
    timeperiod_name always
    alias always
    {days}
}}
define command {{
    command_name check
    command_line /bin/sh {here}/$ARG1$
}}
define contact {{
    contact_name duty
    service_notification_commands notify-service-by-sms
    host_notification_commands notify-host-by-sms
    service_notification_period always
    host_notification_period always
    service_notification_options w,u,c,r
    host_notification_options d,u,r
}}
define host {{
    host_name db1
    max_check_attempts 1
    check_command check!host
    check_interval 1
    check_period always
    notification_interval 0
    notification_period always
    contacts duty
}}
define service {{
    host_name db1
    service_description Disk /
    max_check_attempts 1
    check_command check!disk
    check_interval 1
    retry_interval 1
    check_period always
    notification_interval 0
    notification_period always
    contacts duty
}}
"""
DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


def nagios_settings(here, commands):
    """Settings for a Nagios that runs as who runs the tests; what it takes out of a plugin's words
    is what Debian's package says."""
    (kept,) = re.findall(
        "^illegal_macro_output_chars=.*$", NAGIOS_SETTINGS.read_text(encoding="utf-8"), re.M
    )
    main = NAGIOS_MAIN.format(here=here, user=os.getuid(), group=os.getgid())
    (here / "nagios.cfg").write_text(f"{main}{kept}\n")
    days = "\n    ".join(f"{day} 00:00-24:00" for day in DAYS)
    (here / "objects.cfg").write_text(NAGIOS_OBJECTS.format(here=here, days=days) + commands)
    return here / "nagios.cfg"


def plugin(path, words, status):
    """A check that says so; it is put there at once, as it may be run at any moment."""
    new = path.with_suffix(".new")
    new.write_text(f"cat <<'END'\n{words}\nEND\nexit {status}\n")
    new.replace(path)


@pytest.mark.skipif(NAGIOS is None, reason="NOT TRIED: there is no nagios4; `make peers` gets it")
def test_what_a_nagios_finds_reaches_the_phone(office, shared_premises, tmp_path):
    service, simulator, account = office
    plugin(tmp_path / "host", "PING OK", 0)
    plugin(tmp_path / "disk", 'DISK CRITICAL - it\'s `id` & "3" % of $(id)|/=3%', 2)
    settings = nagios_settings(tmp_path, nagios_commands(service, account, tmp_path))
    nagios = shared_premises.process(NAGIOS, str(settings))
    wait_text(simulator, "PROBLEM: db1 Disk / CRITICAL\nDISK CRITICAL - its id 3 % of (id)")
    plugin(tmp_path / "disk", "DISK OK", 0)
    wait_text(simulator, "RECOVERY: db1 Disk / OK\nDISK OK")
    plugin(tmp_path / "host", "PING CRITICAL - 100 % lost", 2)
    wait_text(simulator, "PROBLEM: db1 DOWN\nPING CRITICAL - 100 % lost")
    nagios.signal(signal.SIGTERM)
    assert nagios.wait_exit() == 0


# -- Alertmanager ------------------------------------------------------------------------------

SOONER = "  group_by: [alertname]\n  group_wait: 0s\n  group_interval: 100ms\n"
"""It gathers alerts for half a minute, and tells what changes after five minutes."""


@pytest.mark.skipif(
    ALERTMANAGER is None, reason="NOT TRIED: there is no prometheus-alertmanager; `make peers`"
)
def test_an_alert_of_an_alertmanager_reaches_the_phone(office, shared_premises, tmp_path):
    service, simulator, account = office
    url, secret = hook(service, account, "alertmanager")
    (tmp_path / "secret").write_text(f"{secret}\n")
    settings = tmp_path / "alertmanager.yml"
    settings.write_text(
        with_places(
            on_the_page("alertmanager.md", "webhook_configs"),
            {
                "https://sms.example/hooks/hok_…": url,
                "/etc/alertmanager/risala-secret": str(tmp_path / "secret"),
                "  group_by: [alertname]\n": SOONER,
            },
        )
    )
    process = shared_premises.process(
        ALERTMANAGER, f"--config.file={settings}", f"--storage.path={tmp_path / 'data'}",
        "--web.listen-address=127.0.0.1:0", "--cluster.listen-address=",
    )  # fmt: skip
    line = process.wait_error(lambda line: 'msg="Listening on"' in line)
    address = re.search(r"address=(\S+)", line).group(1)
    here = {"127.0.0.1:9093": address}
    begin = with_places(
        on_the_page("alertmanager.md", "amtool check-config"),
        {"/etc/alertmanager/alertmanager.yml": str(settings), **here},
    )
    end = with_places(on_the_page("alertmanager.md", "--end="), here)
    for commands, state in ((begin, "firing"), (end, "resolved")):
        subprocess.run(["sh", "-ec", commands], check=True, timeout=HANG_S, stdout=sys.stderr)
        wait_text(simulator, f"{state}: 1 Test\nA test of SMS")


# -- Apprise -----------------------------------------------------------------------------------


@pytest.mark.skipif(
    find_spec("apprise") is None, reason="NOT TRIED: there is no apprise; `make test` gets it"
)
def test_what_apprise_is_told_reaches_the_phone(office):
    service, simulator, account = office
    url, secret = hook(service, account, "apprise")
    command = with_places(
        on_the_page("apprise.md", "apprise -t"),
        {
            "jsons://sms.example/hooks/hok_…": url.replace("http://", "json://"),
            "Bearer%20…": secret.replace(" ", "%20"),
            "apprise -t": f"{sys.executable} -c 'from apprise.cli import main; main()' -t",
        },
    )
    subprocess.run(["sh", "-c", command], check=True, timeout=HANG_S, stdout=sys.stderr)
    wait_text(simulator, "Backup failed\ndisk full")
