"""Our room is called http; the standard library's must stay where everybody expects it."""

import http
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
STDLIB = Path(sysconfig.get_paths()["stdlib"])


def test_import_http_is_the_standard_librarys():
    assert Path(http.__file__).is_relative_to(STDLIB)


def test_also_in_a_new_process_at_the_roots_of_the_repository():
    # Without PYTHONSAFEPATH and with `-c`, the current directory is first on the path.
    for directory in (ROOT, ROOT / "src"):
        done = subprocess.run(
            [sys.executable, "-c", "import http.client, risala.http; print(http.__file__)"],
            cwd=directory,
            env={},
            capture_output=True,
            text=True,
            check=True,
        )
        assert Path(done.stdout.strip()).is_relative_to(STDLIB)
