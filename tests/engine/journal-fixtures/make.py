"""Make database files as each version of the tables wrote them.

    python tests/engine/journal-fixtures/make.py NAME [COMMIT]

lives the day of ``life.py`` with the code of COMMIT (this working tree where none is named) and
writes NAME.db.gz and NAME.json here. NAME is the newest migration in the file. A new migration
needs a new file, made by the code that brings it.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent.resolve()
ROOT = HERE.parents[2]


def make(name: str, commit: str | None) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        source = ROOT if commit is None else place / "old"
        if commit is not None:
            tree = subprocess.run(
                ("git", "archive", commit, "src"), cwd=ROOT, check=True, capture_output=True
            )
            source.mkdir()
            subprocess.run(("tar", "-x"), cwd=source, input=tree.stdout, check=True)
        data, copy = place / "data", place / f"{name}.db"
        data.mkdir()
        subprocess.run(
            (sys.executable, str(HERE / "life.py"), str(data), str(copy)),
            env={**os.environ, "PYTHONPATH": str(source / "src"), "PYTHONSAFEPATH": "1"},
            check=True,
        )
        packed = gzip.compress(copy.read_bytes(), mtime=0)
        (HERE / f"{name}.db.gz").write_bytes(packed)
        (HERE / f"{name}.json").write_bytes(copy.with_suffix(".json").read_bytes())
        print(f"{name}: {len(packed)} bytes")


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
