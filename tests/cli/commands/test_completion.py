"""Completion, in the shells that this machine has."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from patience import HANG_S

MARK = "# Written by `risala completion`"
ENGINE = ("trio", "pydantic", "httpx2", "risala.engine.gateway.gateway", "risala.app", "sqlite3")
ASK = {
    "bash": (
        ". ./script; COMP_WORDS=(risala {words}); COMP_CWORD={place}; _risala_completion risala; "
        "printf '%s\\n' ${{COMPREPLY[@]}}"
    ),
    "fish": "source ./script; complete --do-complete 'risala {typed}'",
    # zsh's completion needs its line editor; so the answer that its function reads is looked at.
    "zsh": (
        "autoload -Uz compinit; compinit -u -D; . ./script; whence -w _risala_completion; "
        "env COMP_WORDS='risala {typed}' COMP_CWORD={place} _RISALA_COMPLETE=zsh_complete risala"
    ),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch) -> Path:
    """A directory with a `risala` of its own on the path, and no home but itself."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "risala"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m risala "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("typed", "wanted", "other"),
    [
        ("car", {"carriers"}, {"send"}),
        ("key cr", {"create"}, {"rotate"}),
        ("key create --type s", {"secret"}, {"publishable"}),
        ("key create --ori", {"--origin"}, {"--org"}),
    ],
)
def test_a_shell_completes(place, risala, shell, typed, wanted, other):
    script = risala("completion", shell).stdout
    assert MARK in script
    (place / "script").write_text(script)
    if shutil.which(shell) is None:
        # Where the shell is missing: what it would run is there.
        assert f"_RISALA_COMPLETE={shell}_complete" in script
        return
    words = typed.split()
    text = ASK[shell].format(typed=typed, words=typed, place=len(words))
    done = subprocess.run(
        [shell, "-c", text], cwd=place, capture_output=True, text=True, timeout=HANG_S, check=True
    )
    found = {line.split("\t")[0] for line in done.stdout.splitlines()}
    assert wanted <= found, done
    assert not other & found, done


@pytest.mark.slow
@pytest.mark.parametrize("words", ["risala ", "risala key cr", "risala carriers show "])
def test_a_press_of_the_key_imports_no_engine(words):
    code = (
        "import sys\nfrom risala.__main__ import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ
        | {
            "_RISALA_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(done.stderr.split())
    assert not modules & set(ENGINE)
    if words == "risala ":
        assert "org" in done.stdout
        assert not {each for each in modules if each.startswith("risala.cli.commands")}


@pytest.mark.parametrize(
    ("shell", "path"),
    [
        ("bash", ".local/share/bash-completion/completions/risala"),
        ("zsh", ".local/share/zsh/site-functions/_risala"),
        ("fish", ".config/fish/completions/risala.fish"),
    ],
)
def test_it_is_installed_where_the_shell_looks(place, risala, shell, path):
    for _ in range(2):  # ours is written over
        done = risala("completion", shell, "--install")
        assert done.exit_code == 0
        assert str(place / path) in done.stdout
    assert (place / path).read_text() == risala("completion", shell).stdout


def test_what_is_not_ours_stays(place, risala):
    path = place / ".config/fish/completions/risala.fish"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n")
    done = risala("completion", "fish", "--install")
    assert done.exit_code == 1
    assert "not written by Risala" in done.stderr
    assert path.read_text() == "# mine\n"
