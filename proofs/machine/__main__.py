"""``make machine-test``: the Debian package and the first message, on real machines in qemu."""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from proofs.evidence import ROOT
from proofs.machine import clock, later, report, steps, tools
from proofs.machine.clock import Walked
from proofs.machine.container import Container
from proofs.machine.guest import BUILD_MEMORY_MIB, Guest, has_kvm
from proofs.machine.image import SUITES, Image, image
from proofs.machine.machine import Gone, Machine, NotTried, StepFailed
from proofs.machine.packages import Packages, packages
from proofs.machine.report import Came
from proofs.machine.world import World

STEPS: Final[tuple[Callable[[World], str], ...]] = (
    steps.boot,
    steps.installed,
    steps.started,
    steps.sent,
    steps.by_stick,
    steps.by_table,
    steps.fenced,
    steps.reloaded,
    steps.quiet,
    later.rebooted,
    later.upgraded,
    later.timed,
    later.restored,
    later.standing_by,
    later.removed,
    later.purged,
)
PARTS: Final = ("package", "clock")


class Machines:
    """The tests of each Debian, with what they say on the way."""

    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self._folder: Path = options.folder
        self._base: str = options.base
        self._only: list[str] = options.only
        self._is_container: bool = options.container
        self._console = console
        self.came: list[Came] = []
        self.walked: list[Walked] = []
        self.kind = ""

    def test(self, debian: str) -> None:
        """One Debian. Raises: CannotRun."""
        with tempfile.TemporaryDirectory(prefix="machines-", dir=self._folder) as place:
            here = Path(place)
            with self._busy(f"Debian {debian}: the image"):
                base = image(debian, self._folder, is_container=self._is_container)
            self.kind = self._kind(base)
            self._console.print(f"Debian {debian}: {self.kind}")

            @cache
            def built() -> Packages:
                with self._busy(f"Debian {debian}: the packages"):
                    return packages(base, self._base, self._folder)

            if "package" in self._only:
                self._package(base, built(), here)
            if "clock" in self._only:
                self._clock(base, built, here)
            self._keep_consoles(here)

    def write(self, debian: str) -> None:
        """What came of one Debian, into the page of evidence."""
        came = [each for each in self.came if each.debian == debian]
        walked = [each for each in self.walked if each.debian == debian]
        report.write(came, walked, self.kind)

    def _kind(self, base: Image) -> str:
        if self._is_container:
            return "in a container, with this machine's kernel"
        return "in qemu with KVM" if has_kvm(base) else "in qemu, emulated"

    def _package(self, base: Image, built: Packages, place: Path) -> None:
        with contextlib.ExitStack() as stack:
            modem = stack.enter_context(_modem(place / "modem.log"))
            first = stack.enter_context(self._machine(base, place, "first", modem=modem))

            def second() -> Machine:
                return stack.enter_context(self._machine(base, place, "second"))

            world = World(base.debian, first, built, second)
            for step in STEPS:
                came = self._step(step, world)
                self.came.append(came)
                if not came.held and (world.is_gone or step in STEPS[:3]):
                    return  # nothing that follows has what it needs

    def _machine(self, base: Image, place: Path, name: str, **more: int) -> Machine:
        if self._is_container:
            return Container(base, place, name)
        return Guest(base, place, name, **more)

    def _step(self, step: Callable[[World], str], world: World) -> Came:
        name = (step.__doc__ or step.__name__).partition("\n")[0]
        began = time.monotonic()
        held, said = True, ""
        with self._busy(f"Debian {world.debian}: {name}"):
            try:
                said = step(world)
            except NotTried as error:
                said = f"not tried: {error}"
            except StepFailed as error:
                held, said = False, str(error)
                world.is_gone = isinstance(error, Gone)
        came = Came(name, world.debian, said, time.monotonic() - began, held)
        mark = "[green]✓[/]" if held else "[red]✗[/]"
        shown = report.shortened(said) if held else said
        line = f"{mark} {world.debian} {escape(name)}: {escape(shown)} ({came.seconds:.0f} s)"
        self._console.print(line, highlight=False)
        return came

    def _clock(self, base: Image, built: Callable[[], Packages], place: Path) -> None:
        for way in clock.WAYS:
            package = built().now if way.has_package else None
            with self._busy(f"Debian {base.debian}: {way.name}") as said:
                try:
                    machine = self._machine(base, place, "bare", memory_mib=BUILD_MEMORY_MIB)
                    walked = clock.walk(machine, base.debian, way, package, said)
                except StepFailed as error:
                    self.came.append(Came(way.name, base.debian, str(error), 0.0, held=False))
                    self._console.print(f"[red]✗[/] {escape(way.name)}: {escape(str(error))}")
                    continue
            self.walked.append(walked)
            line = f"[green]✓[/] {base.debian} {way.name}: {walked.seconds / 60:.1f} minutes"
            self._console.print(line, highlight=False)

    @contextlib.contextmanager
    def _busy(self, what: str) -> Iterator[Callable[[str], None]]:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True) as progress:
            task = progress.add_task(escape(what))
            yield lambda more: progress.update(task, description=escape(f"{what}: {more}"))

    def _keep_consoles(self, place: Path) -> None:
        for log in (*place.glob("*.console"), *place.glob("*.log")):
            log.replace(self._folder / log.name)


@contextlib.contextmanager
def _modem(log: Path) -> Iterator[int]:
    """The TCP port of a simulated modem, which qemu makes a USB stick of."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "risala", "simulate", "modem", "--lines"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--listen", f"127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            yield port
        finally:
            process.terminate()
            process.wait()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make machine-test", description=__doc__)
    parser.add_argument("--debian", nargs="+", choices=SUITES, default=list(SUITES))
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    base = os.environ.get("BASE") or "HEAD~1"
    parser.add_argument("--base", default=base, help="the commit to upgrade from (or BASE=…)")
    folder = ROOT / "build/machine"
    parser.add_argument("--folder", type=Path, default=folder, help="for images and packages")
    told = "in containers of systemd-nspawn instead of qemu, where there is no KVM"
    parser.add_argument("--container", action="store_true", help=told)
    told = "each Debian into the page of evidence, as soon as it was tried"
    parser.add_argument("--write", action="store_true", help=told)
    return parser.parse_args()


def main() -> int:
    """The exit code: 1 if a step failed."""
    options = _options()
    console = Console()
    machines = Machines(options, console)
    try:
        tools.check(options.container)
        options.folder.mkdir(parents=True, exist_ok=True)
        for debian in options.debian:
            machines.test(debian)
            if options.write:
                machines.write(debian)
    except (tools.CannotRun, StepFailed) as error:
        console.print(f"[red]{escape(str(error))}[/]")
        return 1
    came, walked = machines.came, machines.walked
    if came:
        console.print(report.table("The package", report.header(came), report.rows(came)))
    if walked:
        lines = report.clock_rows(walked)
        console.print(report.table("To the first message", report.CLOCK_HEADER, lines))
    return 0 if all(each.held for each in came) else 1


if __name__ == "__main__":
    sys.exit(main())
