"""Takes guards away one at a time, in a copy of the tree, and sees which test fails."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from proofs.guards.guard import ROOT, Guard

HANG_S: Final = 300
"""A test that waits for ever without a guard has missed it, too. Those that are marked slow."""
_TRIAL_S: Final = 1800
"""Where even the test's own limit does not end it. Several times what the widest tests take."""
_COPIED: Final = (
    "src",
    "tests",
    "docs",
    "examples",
    "benchmarks",
    "deploy",
    "proofs",
    "changes",
    "clients",
)
_KNOWN: Final = ROOT / "build/guards.json"
"""Which test missed which guard the last time: it is tried first, and others where it passes."""


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one trial."""

    guard: Guard
    by: str | None
    """The first test that failed; None: none did, and the guard is watched by nobody."""
    hangs: bool = False
    """It did not fail but wait for ever."""


class Trials:
    """A copy of all that tests read, which is changed instead of the tree; and who tests there."""

    def __init__(
        self, tree: Path, place: Path, warm: subprocess.Popen[str], *, only_known: bool
    ) -> None:
        self._only_known = only_known
        self._tree = tree
        self._place = place
        self._warm = warm
        self._known = _read_known()
        self._news: dict[str, str | None] = {}

    def without(self, guard: Guard) -> Found:
        """One trial; the copy is whole again afterwards."""
        path = self._tree / "src/risala" / guard.file
        whole = path.read_text("utf-8")
        self._put(path, guard.take_away(whole))
        try:
            found = next(filter(None, map(partial(self._try, guard), self._stages(guard))), None)
        finally:
            self._put(path, whole)
        if found is None:
            found = Found(guard, None)
        self._news[guard.promise] = found.by
        return found

    def _stages(self, guard: Guard) -> Iterator[Sequence[str]]:
        """Tests to be run, the likeliest first: pytest takes as long to read them as to run one."""
        known = self._known.get(guard.promise)
        if known is not None and (self._tree / known.split("::")[0]).exists():
            yield (known,)
        if self._only_known:
            return
        first, *others = [f"tests/{each}" for each in guard.tests]
        yield (first,)
        if others:
            yield others

    def failing(self, tests: Sequence[str]) -> str | None:
        """The first of these tests that fails while all guards are in place; None: all pass."""
        failed, _ = self._run([*dict.fromkeys(tests)])
        return failed

    def remember(self) -> None:
        """Say it to the next run."""
        _KNOWN.parent.mkdir(exist_ok=True)
        known = {**_read_known(), **self._news}  # another part may have written meanwhile
        told = {promise: by for promise, by in known.items() if by is not None}
        _KNOWN.write_text(json.dumps(told, indent=1), "utf-8")

    def is_known(self, guard: Guard) -> bool:
        """Whether a test missed it the last time."""
        return guard.promise in self._known

    def _try(self, guard: Guard, tests: Sequence[str]) -> Found | None:
        failed, hangs = self._run(tests)
        return None if failed is None else Found(guard, failed, hangs)

    def _run(self, tests: Sequence[str]) -> tuple[str | None, bool]:
        """The first test that fails (None: all pass), and whether it never came to an end.

        Raises:
            RuntimeError: the tests could not be run at all.
        """
        arguments = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-m", "not browser"]
        # The warm interpreter has imported plugins before pytest could; they assert nothing.
        arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        arguments += [f"--timeout={HANG_S}", *tests]
        trial = {"arguments": arguments, "place": str(self._place), "limit_s": _TRIAL_S}
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        self._warm.stdin.write(json.dumps(trial) + "\n")
        self._warm.stdin.flush()
        answer = self._warm.stdout.readline()
        if answer.strip() == "0":
            return None, False
        if failed := (self._place / "failed").read_text("utf-8"):
            test, hangs = json.loads(failed)
            return test, hangs
        if answer.startswith("-") and (begun := (self._place / "begun").read_text("utf-8")):
            return begun, True
        words = (self._place / "words").read_text("utf-8")
        raise RuntimeError(f"the tests {tests} cannot be run ({answer.strip()}):\n{words[-3000:]}")

    def _put(self, path: Path, text: str) -> None:
        """Compiled source of the same second and size would pass for it: none is left."""
        path.write_text(text, "utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()


def _read_known() -> dict[str, str]:
    known: dict[str, str] = json.loads(_KNOWN.read_text("utf-8")) if _KNOWN.exists() else {}
    return known


@contextmanager
def trials(*, only_known: bool = False) -> Iterator[Trials]:
    """What is needed to try, until the end of the block.

    Args:
        only_known: run no test but the one that missed the guard the last time.
    """
    with TemporaryDirectory(prefix="risala-guards-") as directory:
        tree, place = Path(directory) / "tree", Path(directory) / "trial"
        place.mkdir()
        for name in _COPIED:
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(ROOT / name, tree / name, ignore=ignored)
        for path in ROOT.iterdir():
            if path.is_file() and path.name != ".git":
                shutil.copy2(path, tree / path.name)
        environ = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONSAFEPATH": "1"}
        warm = subprocess.Popen(
            [sys.executable, str(ROOT / "proofs/guards/warm.py")],
            cwd=tree,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield Trials(tree, place, warm, only_known=only_known)
        finally:
            warm.terminate()  # and with it the trial that is under way
            warm.wait()
