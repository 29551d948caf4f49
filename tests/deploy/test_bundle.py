"""``risala.pyz``: what differs where the packages are found by the program that starts them alone.

`make bundle` tries each bundle as a whole (``deploy/bundle/trial.py``).
"""

import json
import runpy
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import risala
from patience import HANG_S

PREAMBLE = Path(__file__).parents[2] / "deploy/bundle/preamble.py"
BARE = str(getattr(sys, "_base_executable", sys.executable))
READS = """
import sys
sys.path[:0] = {paths!r}
import trio
from pathlib import Path
from risala.engine.features.tables.reading import ReadRequest, read

asked = ReadRequest(
    owner="org_1", path=Path("people.csv"), rows_path=Path("people.rows"), countries=("MR",)
)
print(trio.run(read, asked).rows)
"""


@pytest.mark.slow
def test_the_process_that_reads_tables_finds_the_packages_of_the_bundle(tmp_path):
    """Neither an installation nor the environment names them."""
    paths = [str(Path(risala.__file__).parents[1]), *(p for p in sys.path if "site-packages" in p)]
    (tmp_path / "people.csv").write_text("number\n36123456\n36123457\n")
    done = subprocess.run(
        [BARE, "-I", "-c", READS.format(paths=paths)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr


def start(site: Path) -> None:
    runpy.run_path(str(PREAMBLE), init_globals={"site_packages": site})


def module(site: Path, end: str) -> None:
    place = site / "pydantic_core"
    place.mkdir(exist_ok=True)
    (place / f"_pydantic_core{end}").touch()


def test_a_bundle_starts_with_the_python_that_it_was_built_for(tmp_path):
    module(tmp_path, EXTENSION_SUFFIXES[0])
    start(tmp_path)


def test_with_another_it_says_which_one_it_needs(tmp_path):
    module(tmp_path, ".cpython-39-mips-linux-gnu.so")
    with pytest.raises(SystemExit, match=r"was built for cpython-39-mips-linux-gnu\. This is Pyth"):
        start(tmp_path)


def test_the_preamble_looks_at_a_module_that_the_lock_installs():
    told = json.dumps(sorted(path.name for path in _installed().iterdir()))
    assert "_pydantic_core." in told


def _installed() -> Path:
    import pydantic_core

    return Path(pydantic_core.__file__).parent
