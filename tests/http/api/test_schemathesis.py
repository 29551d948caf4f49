"""The live server holds to its own /openapi.json, whatever schemathesis makes of that.

With a test key, so that hundreds of accepted messages cost nobody's balance; once more, shorter,
with the live one.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from patience import HANG_S

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """``demo.json`` of a running demo."""
    data = tmp_path_factory.mktemp("demo")
    with (data / "log").open("w") as log:
        service = subprocess.Popen(
            [sys.executable, "-m", "risala", "serve", "--demo", "--port", "0", "--data", data],
            stdout=log,
            stderr=log,
        )
    try:
        deadline = time.monotonic() + HANG_S
        while not (data / "demo.json").exists():
            assert service.poll() is None, (data / "log").read_text()
            assert time.monotonic() < deadline, (data / "log").read_text()
            time.sleep(0.05)
        yield json.loads((data / "demo.json").read_text())
        assert service.poll() is None, (data / "log").read_text()
        assert "Traceback" not in (data / "log").read_text()
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(timeout=HANG_S)


@pytest.mark.slow
@pytest.mark.parametrize(("key", "seconds"), [("test_secret_key", 20), ("secret_key", 10)])
@pytest.mark.long
def test_schemathesis_finds_nothing(demo, tmp_path, key, seconds):
    command = [
        *(sys.executable, "-m", "schemathesis.cli"),
        *("--config-file", str(HERE / "schemathesis.toml")),
        *("run", f"{demo['base_url']}/openapi.json", "--header", f"x-api-key: {demo[key]}"),
        *("--checks", "all", "--max-examples", "20", "--max-time", str(seconds)),
        *("--seed", "1", "--generation-database", "none", "--no-color"),
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(HERE), "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_S + seconds,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "❌" not in done.stdout
