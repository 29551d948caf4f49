"""A tree of mutants for one part, and what became of each of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from proofs.mutants.parts import Part

ROOT: Final = Path(__file__).parents[2]
_WORK: Final = ROOT / "build/mutants"
_INSIDE: Final = Path(__file__).parent / "inside.py"
_STUBS: Final = Path(__file__).parent / "stubs"
_HANG_S: Final = 300
"""A part's tests take some seconds; a mutant that takes this long waits for ever."""
_PROGRESS: Final = re.compile(r"(\d+)/(\d+) ")
_TYPE_ERROR: Final = re.compile(r"^(\S+?):(\d+): error:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A small change that no test has seen."""

    key: str
    """mutmut's name of it: ``risala.sms.address.x_is_number__mutmut_1``."""
    path: str
    """``sms/address.py``, below ``src/risala``."""
    function: str
    """``is_number``, or ``Assembler.add``."""
    gone: str
    """The lines that it takes away, joined by spaces."""
    new: str
    """The lines that stand there instead."""
    lines: tuple[int, int]
    """Where it is in the file that holds all mutants."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a part's mutants."""

    part: Part
    mutants: int
    by_tests: int
    by_types: int
    survived: tuple[Mutant, ...]


def try_part(part: Part, tools: Path, told: Callable[[int, int], None], *, again: bool) -> Tried:
    """Make the mutants of one part and try them all.

    Args:
        tools: where mutmut's environment is.
        told: called with how many were tried, and of how many.
        again: only those are tried anew that no test saw the last time; for whoever writes tests.

    Raises:
        RuntimeError: the tests fail without any mutant, or cannot be run.
    """
    work = _Work(part, tools)
    work.fill(again=again)
    before = {one["key"] for one in work.ask("keys") if not one["is_seen"]} if again else set()
    work.run([], told)
    if again:
        # mutmut lets a result stand until it is asked for that mutant by its name.
        still = [one["key"] for one in work.ask("keys") if not one["is_seen"]]
        if named := [key for key in still if key in before]:
            work.run(named, told)
    all_of_them = work.ask("list")
    left = [_mutant(one) for one in all_of_them if not one["is_seen"]]
    early = set(work.ask("import", *_modules(part)))
    left = [
        one
        for one in left
        if not (_original(one.key) in early or one.function in part.cached)
        or not work.is_seen_early(one)
    ]
    refused = work.refused_by_types(left)
    survived = tuple(one for one in left if one.key not in refused)
    return Tried(part, len(all_of_them), len(all_of_them) - len(left), len(refused), survived)


class _Work:
    """The folder that a part's mutants are made in."""

    def __init__(self, part: Part, tools: Path) -> None:
        self._part = part
        self._place = _WORK / part.name
        self._tests = tuple(f"tests/{each}" for each in part.tests)
        (packages,) = tools.resolve().glob("lib/python3*/site-packages")
        self._env = {
            **os.environ,
            "PYTHONSAFEPATH": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{packages}",
        }

    def fill(self, *, again: bool) -> None:
        """Copy what the tests read, beside mutmut's settings."""
        shutil.rmtree(self._place / "mutants/tests" if again else self._place, ignore_errors=True)
        for name in ("src/risala", "tests"):
            shutil.rmtree(self._place / name, ignore_errors=True)
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, self._place / name, ignore=ignored)
        shutil.copy2(ROOT / "pyproject.toml", self._place)
        (self._place / "mutants/mutmut-stats.json").unlink(missing_ok=True)
        settings = {
            "source_paths": ["src"],
            "only_mutate": [f"src/risala/{self._part.paths}"],
            "pytest_add_cli_args_test_selection": list(self._tests),
            "pytest_add_cli_args": _PYTEST,
            "use_git_change_detection": ["false"],
        }
        lines = [f"{name}=\n " + "\n ".join(values) for name, values in settings.items()]
        (self._place / "setup.cfg").write_text("\n".join(["[mutmut]", *lines, ""]), "utf-8")

    def run(self, named: list[str], told: Callable[[int, int], None]) -> None:
        """Let mutmut try its mutants; ``told`` hears how far it is."""
        said = b""
        with subprocess.Popen(
            [sys.executable, _INSIDE, "run", *named],
            cwd=self._place,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            assert process.stdout is not None
            while more := os.read(process.stdout.fileno(), 65536):
                said = (said + more)[-20_000:]
                if counts := _PROGRESS.findall(said[-400:].decode(errors="replace")):
                    told(int(counts[-1][0]), int(counts[-1][1]))
        if process.returncode != 0:
            raise RuntimeError(f"{self._part.name}: {said.decode(errors='replace')[-3000:]}")

    def ask(self, *task: str) -> list[Any]:
        """What ``inside.py`` answers to a task.

        Raises:
            RuntimeError: it failed.
        """
        done = self._call([sys.executable, _INSIDE, *task], self._place)
        if done.returncode != 0:
            raise RuntimeError(f"{self._part.name}: {done.stderr[-3000:]}")
        found: list[Any] = json.loads(done.stdout)
        return found

    def is_seen_early(self, mutant: Mutant) -> bool:
        """Whether the tests fail where a mutant is there before anything is imported."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", *_PYTEST, *self._tests]
        place = self._place / "mutants"
        self._env["MUTANT_UNDER_TEST"] = mutant.key
        source = f"{place / 'src'}{os.pathsep}{self._env['PYTHONPATH']}"
        try:
            done = self._call(command, place, PYTHONPATH=source)
        except subprocess.TimeoutExpired:
            return True
        finally:
            del self._env["MUTANT_UNDER_TEST"]
        return done.returncode != 0

    def refused_by_types(self, mutants: Sequence[Mutant]) -> set[str]:
        """The keys of those that ``make lint`` refuses, since a type is wrong."""
        command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--hide-error-context"]
        command += ["--no-warn-unused-ignores", f"--cache-dir={_WORK / 'mypy'}"]
        # A class of the tree has each method many times over, and so what __init__ declares.
        command += ["--disable-error-code=no-redef"]
        place = self._place / "mutants"
        where = f"src{os.pathsep}{_STUBS}"
        done = self._call(
            [*command, f"src/risala/{self._part.source}"], place, MYPYPATH=where, PYTHONPATH=""
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{self._part.name}: mypy: {(done.stdout + done.stderr)[-2000:]}")
        wrong: dict[str, list[int]] = {}
        for path, line in _TYPE_ERROR.findall(done.stdout):
            wrong.setdefault(path.removeprefix("src/risala/"), []).append(int(line))
        return {
            one.key
            for one in mutants
            if any(one.lines[0] <= line <= one.lines[1] for line in wrong.get(one.path, ()))
        }

    def _call(
        self, command: list[Any], place: Path, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=place,
            env={**self._env, **env},
            capture_output=True,
            text=True,
            timeout=_HANG_S,
        )


_PYTEST: Final = [
    "-p", "no:cacheprovider", "-p", "proofs.mutants.quickest", "--hypothesis-profile=mutants",
    "-m", "not slow",
]  # fmt: skip


def _modules(part: Part) -> list[str]:
    folder = ROOT / "src/risala" / part.source
    there = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    files = (path.relative_to(ROOT / "src") for path in there)
    return [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files]


def _original(key: str) -> str:
    """The function that a mutant is one of, as mutmut's statistics name it."""
    return key.rpartition("__mutmut_")[0]


def _mutant(one: dict[str, Any]) -> Mutant:
    name = _original(one["key"]).rpartition(".")[2]
    function = name.removeprefix("x_") if "ǁ" not in name else ".".join(name.split("ǁ")[1:])
    path = one["path"].removeprefix("src/risala/")
    gone, new = " ".join(one["gone"]), " ".join(one["new"])
    return Mutant(one["key"], path, function, gone, new, tuple(one["lines"]))
