"""``make clicks``: what a person presses, types, reads and waits for, in some tasks of the pages.

A browser does each task in English, on a screen of 1280 pixels, as the pages lead. Each begins at
the overview, but the first, which begins at sign-up. A word counts on each page that the person
sees after that one, in menus and code too; folded text does not. ``--before`` names the root of an
older source, and plays the tasks with a clock there; what is not found there has dashes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from playwright.sync_api import Error, sync_playwright

from proofs import evidence
from proofs.clicks import clocked, tasks
from proofs.clicks.clocked import CLOCKED, NotThere, customers_server
from proofs.clicks.person import HEIGHT, WAIT_S, Effort, Person, serving
from proofs.clicks.tasks import TASKS
from proofs.evidence import ROOT

_HEADER: Final = ("Clicks", "Fields", "Words")
_CLOCKED: Final = ("Pages", "Clicks", "Keys", "Pages take, ms")
_EFFORTS: Final[Mapping[str, str]] = {
    "Clicks": "clicks",
    "Fields": "fields",
    "Words": "words",
    "Pages": "pages",
    "Keys": "keys",
    "Pages take, ms": "page_ms",
}


def measured(source: Path, names: frozenset[str]) -> dict[str, Effort | None]:
    """What tasks take on the pages of a source; None: they do not lead there.

    Args:
        names: those that are told. All are done, as one needs what another made.
    """
    found: dict[str, Effort | None] = {}
    with serving(source) as demo, customers_server() as hook, sync_playwright() as playwright:
        browsers = ("chromium-headless-shell", "chromium", "chromium-browser")
        chromium = next(filter(None, map(shutil.which, browsers)), None)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(locale="en", viewport={"width": 1280, "height": HEIGHT})
        page = context.new_page()
        page.set_default_timeout(WAIT_S * 1000)
        person, home = Person(page), ""
        for name, task in (*TASKS, *CLOCKED):
            try:
                begins = tasks.prepare(person, demo, home, task) if home else ""
                if home and name in dict(CLOCKED[len(tasks.FINDING) :]):
                    begins = clocked.prepare(person, demo, home, task, hook)
                person.begin(begins)
                task(person, demo)
            except (Error, NotThere):
                if source == ROOT:
                    raise
                print(f"{name}: not found")
                found[name] = None
                continue
            home = home or page.url.partition("/start")[0].partition("/messages")[0]
            found[name] = replace(person.effort)  # what comes before the next task is not its own
            print(f"{name}: {person.effort}")
        browser.close()
    return {name: each for name, each in found.items() if name in names}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make clicks", description=__doc__)
    parser.add_argument("--before", type=Path, help="the root of an older source")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    given = parser.parse_args(arguments)
    everything = frozenset(dict((*TASKS, *CLOCKED)))
    now, before = measured(ROOT, everything), {}
    if given.before is not None:
        before = measured(given.before.resolve(), frozenset(dict(CLOCKED)))
    if not given.no_page:
        _write("clicks", TASKS, _HEADER, now, {})
        _write("clocked", CLOCKED, _CLOCKED, now, before)
    return 0


def _write(
    table: str,
    played: Sequence[tuple[str, tasks.Task]],
    columns: Sequence[str],
    now: Mapping[str, Effort | None],
    before: Mapping[str, Effort | None],
) -> None:
    """A table of the page, whose columns of before stay where nothing older was played."""
    known = {row[0]: row[len(columns) + 1 :] for row in evidence.rows(table)}
    rows = [
        [
            *(name, *_cells(now[name], columns)),
            *(_cells(before[name], columns) if name in before else known.get(name, [])),
        ]
        for name, _ in played
    ]
    header = ("Task", *columns, *(f"{each} before" for each in columns))
    evidence.write(table, header, rows, command="make clicks")


def _cells(effort: Effort | None, columns: Sequence[str]) -> list[str]:
    if effort is None:
        return ["–"] * len(columns)
    return [f"{getattr(effort, _EFFORTS[each]):.0f}" for each in columns]


if __name__ == "__main__":
    sys.exit(main())
