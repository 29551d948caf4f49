"""What runs in the tree of mutants, with mutmut at hand: ``inside.py WORK``.

It is a process of its own for each part: mutmut runs the tests in itself, and knows one tree only.

- ``run [MUTANT …]``: make the mutants and try them; those that are named are tried anew.
- ``keys``: each mutant as JSON, and whether a test has seen it.
- ``list``: the same, with what those change that none has seen.
- ``import MODULE …``: which functions run as soon as the modules are imported. Their mutants must
  be there from a process's beginning, which those that mutmut forks are not.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from mutmut.__main__ import cli
from mutmut.mutation.data import MutantLineSpans, SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import setup_source_paths, walk_mutatable_files

_SEEN = ("killed", "timeout", "segfault", "suspicious")
"""mutmut's words for a mutant that a test saw, by failing or by never coming to its end."""
_DIFF_HEAD_LINES = 3


def _list(*, with_changes: bool) -> None:
    found = []
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        spans = MutantLineSpans.load(path)
        for key, code in data.exit_code_by_key.items():
            status = status_by_exit_code[code]
            one = {"key": key, "path": str(path), "is_seen": status in _SEEN}
            if with_changes and status not in _SEEN:
                lines = get_diff_for_mutant(key, path=path).split("\n")[_DIFF_HEAD_LINES:]
                one["gone"] = [line[1:].strip() for line in lines if line.startswith("-")]
                one["new"] = [line[1:].strip() for line in lines if line.startswith("+")]
                span = spans.span_by_function_name[key.rpartition(".")[2]] if spans else None
                one["lines"] = [span.start, span.end] if span else []
            found.append(one)
    json.dump(found, sys.stdout)


def _import(modules: list[str]) -> None:
    setup_source_paths()
    set_mutant_under_test("stats")
    for module in modules:
        importlib.import_module(module)
    json.dump(sorted(state()._stats), sys.stdout)


def _main() -> None:
    match sys.argv[1:]:
        case ["run", *mutants]:
            sys.argv = ["mutmut", "run", "--max-children", "1", *mutants]
            cli()
        case ["keys"]:
            _list(with_changes=False)
        case ["list"]:
            _list(with_changes=True)
        case ["import", *modules]:
            _import(modules)
        case other:
            raise SystemExit(f"not a task: {other}")


if __name__ == "__main__":
    assert Path("setup.cfg").exists(), "the tree of mutants is where this runs"
    _main()
