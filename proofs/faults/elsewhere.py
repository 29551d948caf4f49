"""Faults that tests of their own rooms make: where, and what is seen of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Elsewhere:
    title: str
    seen: str
    test: str
    """The file, ``::``, and the test's name."""


ELSEWHERE: Final = (
    Elsewhere(
        "A small disk is filled for real",
        "503 with `Retry-After`, known keys are answered all the same; back by itself",
        "tests/cli/test_disk_full.py::test_full_means_503_and_then_everything_again",
    ),
    Elsewhere(
        "The log of requests cannot be written",
        "messages go on; `risala doctor` says that requests are not logged, and why",
        "tests/engine/features/request_log/test_request_log_beside_sending.py::test_messages_go_on_while_the_log_is_broken",
    ),
    Elsewhere(
        "Nobody reads what it prints any more",
        "the lines are lost, and all else goes on; `log.lost` says how many once they can be "
        "written again. A terminal that is closed ends it in order",
        "tests/cli/test_terminal.py::test_it_serves_on_where_nobody_reads_its_log",
    ),
    Elsewhere(
        "The disk of its log is full",
        "the same: lines are lost, and nothing else",
        "tests/cli/test_terminal.py::test_it_serves_on_where_its_logs_disk_is_full",
    ),
    Elsewhere(
        "What a modem has to remember cannot be written down",
        "the segment does not leave, and keeps its place; nothing is counted that was not sent",
        "tests/drivers/modem/card/test_quota.py::test_what_cannot_be_written_down_does_not_leave",
    ),
    Elsewhere(
        "The process is stopped for a while, and goes on",
        "`process.stood_still` in the log, and `risala doctor` says for how long; nobody is blamed",
        "tests/cli/test_serve.py::test_a_process_that_was_stopped_says_so_and_blames_nobody",
    ),
    Elsewhere(
        "A modem is unplugged, resets or falls silent in the middle of a send",
        "what had left is uncertain, the rest keeps its place; the port is looked for by itself",
        "tests/flows/modem/test_modem_trouble.py::test_the_modem_goes_wrong",
    ),
    Elsewhere(
        "A carrier drops its link at each submit of a message",
        "after the third submit it fails with `UNCERTAIN`, and is refunded",
        "tests/flows/test_link_killer.py::test_a_link_that_is_dropped_each_time_ends_with_the_third_submit",
    ),
    Elsewhere(
        "A driver blocks the whole service",
        "the log has its stack, `risala doctor` names the driver",
        "tests/flows/test_bad_driver.py"
        "::test_a_driver_that_blocks_the_loop_is_named_with_its_stack",
    ),
    Elsewhere(
        "Plugins raise, hang or forget to answer",
        "each is named with its fault, on the console too; the rest goes on",
        "tests/flows/plugins/test_bad_plugins.py::test_each_is_named_and_the_rest_goes_on",
    ),
    Elsewhere(
        "The standby's lease cannot be renewed",
        "the primary ends before another may send",
        "tests/flows/standby/test_standby.py"
        "::test_a_primary_that_cannot_renew_ends_before_another_may_send",
    ),
    Elsewhere(
        "The primary is stopped, and continues after its lease",
        "the kernel has killed it (`status=9/KILL`), and nothing more leaves",
        "tests/flows/standby/test_standby.py"
        "::test_a_primary_that_was_frozen_sends_nothing_when_it_goes_on",
    ),
    Elsewhere(
        "The standby's copy lags behind",
        "both machines say by how much",
        "tests/flows/standby/test_standby.py::test_a_copy_that_lags_says_by_how_much",
    ),
    Elsewhere(
        "The standby's directory is full",
        "`standby.failing` in the log; what was written meanwhile is shipped once there is room, "
        "and nothing half-made keeps any",
        "tests/engine/features/standby/stored/test_shipping.py"
        "::test_a_directory_that_is_full_for_a_while_misses_nothing",
    ),
    Elsewhere(
        "The standby's PostgreSQL crashes and comes back",
        "what was written meanwhile is shipped then, and nothing is missing",
        "tests/engine/features/standby/test_postgresql.py"
        "::test_a_restart_loses_nothing_and_it_goes_on_by_itself",
    ),
    Elsewhere(
        "A primary ships to PostgreSQL while another machine takes the lease",
        "PostgreSQL refuses the piece, and the primary ends",
        "tests/engine/features/standby/test_postgresql.py"
        "::test_a_piece_that_meets_a_takeover_half_way_is_refused",
    ),
    Elsewhere(
        "Nothing reaches the standby any more",
        "after five minutes the alert `standby_behind`, which is over once it is reached again",
        "tests/engine/features/alerts/test_alerts.py::test_nothing_reaches_the_standby_any_more",
    ),
    Elsewhere(
        "5,000 hostile connections at once",
        "each costs itself and nothing else: [Hostile clients](../discussion/hostile-clients.md)",
        "tests/http/server/test_guard_hostile.py::test_5000_hostile_connections",
    ),
    Elsewhere(
        "An upgrade is killed again and again",
        "the next start goes on from where it was",
        "tests/flows/test_upgrade.py::test_killed_again_and_again_nothing_is_lost",
    ),
)
