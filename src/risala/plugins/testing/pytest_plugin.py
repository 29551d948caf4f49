"""Fixtures and a report for plugin authors.

pytest imports this in every run where Risala is installed, so it imports no other room at once.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from risala.plugins.testing.context import RecordingContext


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("risala", "conformance of plugins for Risala")
    group.addoption(
        "--risala-report",
        metavar="FILE",
        help="write what the conformance suites found: Markdown, or JSON where FILE ends in .json",
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--risala-report")
    if path and not hasattr(config, "workerinput"):  # xdist's main process writes
        from risala.plugins.testing.report import ReportWriter

        config.pluginmanager.register(ReportWriter(path), "risala-report")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if getattr(getattr(item, "cls", None), "risala_suite", None):
        from risala.plugins.testing.report import tell

        tell(item, report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why checks were passed over: pytest counts them and says no more."""
    checks: dict[tuple[str, str], list[str]] = {}
    for status in ("passed", "skipped"):
        for report in terminalreporter.stats.get(status, ()):
            for name, line in report.user_properties:
                if name == "risala" and line["result"] not in ("passed", "failed"):
                    reason = f"{line['result']}: {line['text']}"
                    checks.setdefault((line["suite"], reason), []).append(line["check"])
    if checks:
        terminalreporter.section("Risala: checks that were passed over", sep="-")
        for (suite, reason), names in checks.items():
            terminalreporter.write_line(f"{suite}: {', '.join(names)}: {reason}")


@pytest.fixture
def recording_context() -> RecordingContext:
    """A :class:`~risala.plugins.testing.context.RecordingContext` to hand to ``driver.run``."""
    from risala.plugins.testing.context import RecordingContext

    return RecordingContext()
