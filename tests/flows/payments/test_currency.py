"""A service in another currency, and a command that reads none of its settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("currency", "price", "added", "shown"),
    [("XOF", "25", "12500", "12500 XOF"), ("TND", "0.045", "12.5", "12.500 TND")],
)
def test_a_command_without_settings_counts_as_the_service(tmp_path, currency, price, added, shown):
    data, config = tmp_path / "data", tmp_path / "risala.toml"
    config.write_text(f'[service]\ncurrency = "{currency}"\n[pricing]\nper_segment = "{price}"\n')

    def run(*words: str | Path, fails: bool = False) -> str:
        command = [sys.executable, "-m", "risala", *words, "--data", data]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path.parent
        )
        assert (done.returncode != 0) is fails, done.stderr
        return done.stderr if fails else done.stdout

    assert run("org", "create", "Shop", "--config", config)
    serve = ["serve", "--config", config, "--data", data, "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "risala", *serve], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("Risala is running at ")
            assert shown in run("topup", "Shop", added)
            assert shown in run("ledger", "Shop")
            assert "clean" in run("audit", "--json")
        finally:
            process.terminate()
    # Without the service nobody tells the command how its balances are kept.
    assert f'Set `service.currency` to "{currency}" again' in run("ledger", "Shop", fails=True)
    assert shown in run("ledger", "Shop", "--config", config)
    assert "currency" in run("doctor", fails=True)
