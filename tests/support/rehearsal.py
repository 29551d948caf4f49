"""A page of the documentation, done as it says: its commands typed, its output compared.

What differs from one run to the next (ids, keys, times, ports, the width of columns) is the same
word on both sides; ``…`` in a page stands for anything.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from doc_blocks import ROOT, Block, blocks_of
from forked_processes import is_risala
from forked_processes.in_a_shell import risala_in_a_shell
from processes import Process

PREFIX = Path(sys.prefix)
DEMO = "/tmp/risala-demo"
"""Where the pages have the demo's data."""
DONE = "== done"
"""What our shell says after each command, with its exit status."""
TYPED = ("console", "sh")
SHOWN = (*TYPED, "text")
"""Blocks that a rehearsal leaves none of out, but for those that say why they are not run."""

# From the page or from the machine to a word that both share. The order matters.
COMMON = (
    (r"\b(?:sk|pk)_(live|test)_[\w…-]+", r"<key \1>"),
    (r"\b(sms|org|idk|key|ver|req|evt|snd|whe|mlg)_[\w…]+", r"<\1>"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?", "<moment>"),
    (r"\b\d\d:\d\d:\d\d(\.\d+)?\b", "<time>"),
    (r"…[0-9A-Z]{8}\b", "<end of an id>"),
    (r"\b[0-9a-f]{16}\b", "<carrier's id>"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:<port>"),
    # The next one that is free: another program's terminals are counted too.
    (r"/dev/pts/\d+", "/dev/pts/<number>"),
)


def common(line: str) -> str:
    """A line in the words that the page and every machine share."""
    for pattern, word in COMMON:
        line = re.sub(pattern, word, line)
    line = re.sub(r"─{2,}", "──", line)
    if line.startswith("{"):
        line = re.sub(r"([,:]) ", r"\1", line)
    return re.sub(r" {2,}", "  ", line).rstrip()


def as_pattern(line: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in common(line).split("…")))


def differences(shown: Sequence[str], said: Sequence[str]) -> list[str]:
    """Lines of the page with what was said in their place, where that is not the same."""
    rows = max(len(shown), len(said))
    pairs = zip([*shown, *[""] * rows][:rows], [*said, *[""] * rows][:rows], strict=True)
    return [
        f"page: {page!r}\nreal: {real!r}"
        for page, real in pairs
        if not as_pattern(page).fullmatch(common(real))
    ]


class Shell:
    """A terminal whose commands end before the next one is typed."""

    def __init__(self, cwd: Path, **more: str) -> None:
        self.process = Process(
            ["bash", "--noprofile", "--norc"], cwd, typed=True, COLUMNS="200", **more
        )
        self._read = 0
        self.status = 0
        """The exit status of the last command."""
        # In a terminal curl shows no progress; it takes a pipe for a file.
        self.run('curl() { command curl --silent --show-error "$@"; }')

    def run(self, command: str) -> list[str]:
        """Its output, of both streams, line by line."""
        stdin = self.process.popen.stdin
        stdin.write(f"{{ {command}\n}} 2>&1 </dev/null; status=$?; echo; echo {DONE!r} $status\n")
        stdin.flush()
        lines = self.process.lines
        self.process.wait_line(lambda _: any(each.startswith(DONE) for each in lines[self._read :]))
        end = next(n for n in range(self._read, len(lines)) if lines[n].startswith(DONE))
        self.status = int(lines[end].split()[-1])
        said, self._read = lines[self._read : end], end + 1
        while said and not said[-1]:
            said.pop()
        return said


@dataclass
class Rehearsal:
    """One page in one directory of its own."""

    page: Path
    place: Path
    environ: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    """Words of the page → what they are here: an address, a directory."""
    untyped: tuple[str, ...] = ()
    """Beginnings of commands that are done otherwise here, and are not typed."""
    prefix: Path = PREFIX
    """The environment whose commands they are."""

    def __post_init__(self) -> None:
        self.blocks = blocks_of(self.page)
        self.compared: list[Block] = []
        self.terminals: list[Process] = []
        self.words.setdefault(".venv/bin/", f"{self.prefix}/bin/")
        path = f"{self.prefix}/bin:/usr/local/bin:/usr/bin:/bin"
        self.environ = {"PATH": path, "PYTHONSAFEPATH": "1", **self.environ}
        self.shell = Shell(self.place, **self.environ)
        self.terminals.append(self.shell.process)
        self._until_the_end = ExitStack()
        if is_risala([f"{self.prefix}/bin/python", "-m", "risala"]):
            place = self.place / f".typed-{self.shell.process.popen.pid}"
            self.shell.run(self._until_the_end.enter_context(risala_in_a_shell(place)))
        self._ids: dict[str, str] = {}

    def block(self, language: str, part: str) -> Block:
        """The one block of this language that has ``part`` in it."""
        (found,) = (b for b in self.blocks if b.language == language and part in b.text)
        return found

    def here(self, command: str) -> str:
        """A command of the page with what it means here."""
        for word, meaning in self.words.items():
            command = command.replace(word, meaning)
        return re.sub(r"\b([a-z]{3})_…", lambda m: self._ids.get(m[1], m[0]), command)

    def there(self, line: str) -> str:
        """A line of this machine's in the words of the page."""
        for word, meaning in self.words.items():
            line = line.replace(meaning, word)
        return line

    def start(self, command: str, *, typed: bool = False) -> Process:
        """A command in a terminal of its own, that goes on; a block of it alone is done then."""
        self.compared += [b for b in self.left(TYPED) if b.text.strip() == command.strip()]
        words = shlex.split(self.here(command))
        more = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_\d]+=", word))
        argv = [word for word in words if not re.match(r"[A-Z_\d]+=", word)]
        if argv[0] == "make":
            # The set-up itself is left out: these tests run in what it made.
            argv = ["make", "-C", str(ROOT), "-o", str(self.prefix / ".stamp"), *argv[1:]]
            argv += [f"VENV={self.prefix}", f"ARGS={more.pop('ARGS', '')} --port 0"]
        elif argv[:2] == ["risala", "serve"]:
            argv += ["--port", "0"]
        if argv[0] == "risala":
            argv[:1] = [str(self.prefix / "bin/python"), "-m", "risala"]
        self.terminals.append(Process(argv, self.place, typed=typed, **{**self.environ, **more}))
        return self.terminals[-1]

    def serve(self, command: str) -> Process:
        """The same, of a service; its address is known afterwards."""
        service = self.start(command)
        line = service.wait_line(lambda line: line.startswith("Risala is running at "))
        self.words["http://127.0.0.1:8080"] = line.split()[-1]
        return service

    def run(self, command: str) -> list[str]:
        """Type one command, which must succeed; what it said, in the words of the page."""
        said = [self.there(line) for line in self.shell.run(self.here(command))]
        assert self.shell.status == 0, f"{self.page}\n$ {command}\n" + "\n".join(said)
        for kind, value in re.findall(r"\b([a-z]{3})_([0-9A-Z]{26,})\b", "\n".join(said)):
            self._ids[kind] = f"{kind}_{value}"
        return said

    def type(self, language: str, part: str) -> list[str]:
        """Type a block's commands; what is shown of their output must be what comes."""
        return self._typed(self.block(language, part))

    def rest(self) -> None:
        """Type each block that was not typed yet, in the order of the page."""
        for block in self.left(TYPED):
            self._typed(block)

    def left(self, languages: Sequence[str] = SHOWN) -> list[Block]:
        """The blocks that should be done and were not."""
        return [
            block
            for block in self.blocks
            if block.language in languages and block.reason is None and block not in self.compared
        ]

    def _typed(self, block: Block) -> list[str]:
        language, said = block.language, []
        for command, shown in block.commands:
            if command.startswith(self.untyped):
                continue
            said = self.run(command)
            if language == "console":
                wrong = differences(shown, said)
                assert not wrong, f"{self.page}\n$ {command}\n" + "\n".join(wrong)
        self.compared.append(block)
        return said

    def compare(
        self, language: str, part: str, said: Sequence[str], *, figures: bool = True
    ) -> None:
        """What a block shows is all that was said; without ``figures``, but for the numbers."""
        block = self.block(language, part)
        shown, here = block.text.splitlines(), [self.there(line) for line in said]
        if not figures:
            shown = [re.sub(r"\d[\d.]*", "#", common(line)) for line in shown]
            here = [re.sub(r"\d[\d.]*", "#", common(line)) for line in here]
        wrong = differences(shown, here)
        assert not wrong, f"{self.page}\n" + "\n".join(wrong)
        self.compared.append(block)

    def hear(self, language: str, part: str, terminal: Process) -> None:
        """Each line of a block is said in that terminal, sooner or later."""
        block = self.block(language, part)
        for line in block.text.splitlines():
            pattern = as_pattern(line)
            terminal.wait_line(lambda real, p=pattern: p.fullmatch(common(self.there(real))))
        self.compared.append(block)

    def end(self) -> None:
        for terminal in self.terminals:
            terminal.end()
        self._until_the_end.close()


Play = Callable[..., Rehearsal]


@contextmanager
def playing(place: Path) -> Iterator[Play]:
    """Begins to do what a page says; at the end all of it must have been done."""
    started: list[Rehearsal] = []

    def start(
        page: str, words: dict[str, str] | None = None, prefix: Path = PREFIX, **environ: str
    ) -> Rehearsal:
        meant = {DEMO: str(place / "demo"), **(words or {})}
        started.append(Rehearsal(ROOT / page, place, environ, meant, prefix=prefix))
        return started[-1]

    yield start
    for each in started:
        each.end()
    for each in started:
        left = [block.where for block in each.left()]
        assert left == [], "these blocks were not run; see CONTRIBUTING.md on docs"
