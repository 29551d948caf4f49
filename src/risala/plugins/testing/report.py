"""The report of a conformance run, to attach to a plugin's release or to a question about it."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

import risala
from risala.plugins.manager import ENTRY_POINTS
from risala.plugins.testing.checks import CheckResult, checks_of
from risala.plugins.testing.suite import ConformanceSuite

PROPERTY: Final = "risala"
"""The name of our property in a test's report, which the workers of xdist pass on too."""
_SIGNS: Final = {"passed": "✓", "failed": "✗", "does not apply": "–"}


def tell(item: pytest.Item, report: pytest.TestReport) -> None:
    """Add to pytest's report of one check what our report needs."""
    instance = getattr(item, "instance", None)
    if not isinstance(instance, ConformanceSuite):
        return
    if (report.when == "setup" and report.passed) or report.when == "teardown":
        return
    kind, result = type(instance), instance.told
    name = item.name.partition("[")[0]
    known = {check: (sentence, at) for check, sentence, at in checks_of(kind)}
    if name not in known:
        return  # a test of the author's own
    if result is None:
        result = CheckResult("failed", str(report.longrepr).rpartition("\n")[2])
    line: dict[str, Any] = {
        "suite": kind.__qualname__,
        "module": kind.__module__,
        "kind": kind.risala_suite,
        "about": kind.about.get(kind, {}),
        "check": name,
        "what": known[name][0],
        "contract": f"docs/reference/{known[name][1]}",
        "result": result.result,
        "text": result.text,
    }
    report.user_properties.append((PROPERTY, line))


@dataclass(slots=True)
class SuiteReport:
    """What one suite found."""

    suite: str
    kind: str
    about: dict[str, str] = field(default_factory=dict)
    checks: list[dict[str, str]] = field(default_factory=list)

    @property
    def passes(self) -> bool:
        """No check failed, and none was left untried."""
        return not any(one["result"] in ("failed", "not tried") for one in self.checks)


class ReportWriter:
    """Collects the result of every check, and writes the report at the end."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._suites: dict[tuple[str, str], SuiteReport] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, line in report.user_properties:
            if name == PROPERTY and isinstance(line, dict):
                self._hear(line)

    def _hear(self, line: dict[str, Any]) -> None:
        key = (line["module"], line["suite"])
        suite = self._suites.setdefault(key, SuiteReport(line["suite"], line["kind"]))
        suite.about |= line["about"]
        known = ("check", "result", "text", "what", "contract")
        suite.checks.append({name: line[name] for name in known})

    def pytest_sessionfinish(self) -> None:
        facts = _facts()
        suites = [*self._suites.values()]
        for suite in suites:
            suite.about |= _package_of(suite.about.get("plugin", ""))
        text = _as_json(facts, suites) if self._path.suffix == ".json" else _page(facts, suites)
        self._path.write_text(text, encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.write_line(f"Risala's conformance report: {self._path}")


def _facts() -> dict[str, str]:
    return {
        "made at": datetime.now(UTC).isoformat(timespec="seconds"),
        "risala": risala.__version__,
        "python": platform.python_version(),
        "trio": importlib.metadata.version("trio"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _package_of(plugin: str) -> dict[str, str]:
    """The installed package that a class comes from; empty: from none."""
    top = plugin.partition(".")[0]
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        if entry.module.partition(".")[0] == top and entry.dist is not None:
            return {"package": f"{entry.dist.name} {entry.dist.version}"}
    return {}


def _as_json(facts: dict[str, str], suites: list[SuiteReport]) -> str:
    listed = [
        {
            "suite": one.suite,
            "kind": one.kind,
            "passes": one.passes,
            "about": one.about,
            "checks": one.checks,
        }
        for one in suites
    ]
    return json.dumps({**facts, "suites": listed}, ensure_ascii=False, indent=1) + "\n"


def _page(facts: dict[str, str], suites: list[SuiteReport]) -> str:
    parts = ["# Conformance report", "", _table(facts)]
    for suite in suites:
        counts = [
            f"{sum(one['result'] == result for one in suite.checks)} {result}"
            for result in ("passed", "failed", "does not apply", "not shown", "not tried")
        ]
        verdict = "conforms" if suite.passes else "does not conform"
        parts += ["", f"## {suite.suite}: the {suite.kind} {verdict}", "", _table(suite.about), ""]
        parts += [", ".join(one for one in counts if not one.startswith("0 ")) + ".", ""]
        parts += ["| | Check | What it proves | Result |", "|---|---|---|---|"]
        for one in suite.checks:
            sign = _SIGNS.get(one["result"], "?")
            text = f"{one['result']}: {one['text']}" if one["text"] else one["result"]
            what = one["what"].replace("``", "`")
            cells = (sign, f"`{one['check']}`", what, text)
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(parts) + "\n"


def _table(facts: dict[str, str]) -> str:
    rows = [f"| {name} | {value} |" for name, value in facts.items()]
    return "\n".join(["| | |", "|---|---|", *rows])
