"""A process that crashes leaves no picture of its memory, and nobody takes one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from risala.app import undumped

PROGRAM = """
import ctypes, os, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
import runpy
runpy.run_path({file!r})["forbid_dumps"]()  # without what is beside it
GET_DUMPABLE = 3
print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(GET_DUMPABLE), flush=True)
signal.signal(signal.{signal}, signal.SIG_DFL)  # a shell's background job ignores SIGQUIT
os.kill(os.getpid(), signal.{signal})
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
@pytest.mark.parametrize(
    "name",
    [
        "SIGSEGV",
        pytest.param("SIGABRT", marks=pytest.mark.long),
        pytest.param("SIGQUIT", marks=pytest.mark.long),
    ],
)
def test_a_crash_leaves_no_core(tmp_path, name):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(signal=name, file=undumped.__file__)],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    ) as process:
        assert process.stdout is not None
        told = process.stdout.read()
        _, status = os.waitpid(process.pid, 0)
        process.returncode = 0  # waited for above, where it is told whether there is a core
    assert told == "(0, 0) 0\n"
    assert os.WTERMSIG(status) == getattr(signal, name)
    assert not os.WCOREDUMP(status)
    assert list(tmp_path.iterdir()) == []
