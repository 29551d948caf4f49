"""The two clients are one: the one for threads is made from the one for tasks."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from patience import HANG_S
from risala.client import AsyncRisala, Risala

ROOT = Path(__file__).parents[2]
ROOM = ROOT / "src/risala/client"


def made() -> str:
    place = ROOT / "clients/python/make_synchronous.py"
    spec = spec_from_file_location("make_synchronous", place)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.synchronous((ROOM / "asynchronous.py").read_text("utf-8"))


@pytest.mark.slow
def test_the_file_is_the_one_that_is_made():
    ruff = (sys.executable, "-m", "ruff", "format", "--stdin-filename", "synchronous.py", "-")
    done = subprocess.run(
        ruff, input=made(), capture_output=True, text=True, cwd=ROOT, timeout=HANG_S, check=True
    )
    made_file = (ROOM / "synchronous.py").read_text("utf-8")
    assert done.stdout == made_file, "`make client` writes it"


def test_both_have_the_same_methods_with_the_same_parameters():
    def methods(kind: type) -> dict[str, list[str]]:
        found = inspect.getmembers(kind, inspect.isfunction)
        return {
            name.replace("aclose", "close"): [*inspect.signature(each).parameters]
            for name, each in found
            if not name.startswith("_")
        }

    assert methods(Risala) == methods(AsyncRisala), "`make client` writes the one from the other"


def test_every_method_says_what_it_does():
    silent = [
        name
        for name, each in inspect.getmembers(Risala, inspect.isfunction)
        if not name.startswith("_") and not each.__doc__
    ]
    assert silent == []
