"""A service in another currency, and a command that reads none of its settings."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from processes import Process
from processes import run as run_process


@pytest.mark.slow
@pytest.mark.parametrize(
    ("currency", "price", "added", "shown"),
    [
        ("TND", "0.045", "12.5", "12.500 TND"),
        pytest.param("XOF", "25", "12500", "12500 XOF", marks=pytest.mark.long),
    ],
)
def test_a_command_without_settings_counts_as_the_service(tmp_path, currency, price, added, shown):
    data, config = tmp_path / "data", tmp_path / "risala.toml"
    config.write_text(f'[service]\ncurrency = "{currency}"\n[pricing]\nper_segment = "{price}"\n')

    def run(*words: str | Path, fails: bool = False) -> str:
        command = [sys.executable, "-m", "risala", *words, "--data", data]
        done = run_process(command, tmp_path.parent)
        assert (done.returncode != 0) is fails, done.stderr
        return done.stderr if fails else done.stdout

    assert run("org", "create", "Shop", "--config", config)
    serve = ("serve", "--config", str(config), "--data", str(data), "--port", "0")
    process = Process((sys.executable, "-m", "risala", *serve), tmp_path)
    try:
        process.wait_line(lambda line: line.startswith("Risala is running at "))
        assert shown in run("topup", "Shop", added)
        assert shown in run("ledger", "Shop")
        assert "clean" in run("audit", "--json")
        process.signal(signal.SIGTERM)
        assert process.wait_exit() == 0
    finally:
        process.end()
    # Without the service nobody tells the command how its balances are kept.
    assert f'Set `service.currency` to "{currency}" again' in run("ledger", "Shop", fails=True)
    assert shown in run("ledger", "Shop", "--config", config)
    assert "currency" in run("doctor", fails=True)
