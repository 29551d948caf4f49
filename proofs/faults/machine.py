"""Faults of the machine around the service."""

from __future__ import annotations

from typing import Final

from proofs.faults.row import ACCEPTED, IN_DOUBT, REFUSED, Fault

MACHINE: Final = (
    Fault(
        "clock_set_ahead",
        "The clock is set an hour ahead",
        "the wall clock of the process is an hour later from one call to the next",
        {"API": (ACCEPTED,)},
        "nothing has to: what waits is due earlier",
        "See what sets the clock (`timedatectl`).",
        alert="clock_jumped",
    ),
    Fault(
        "clock_set_back",
        "The clock is set an hour back",
        "the wall clock of the process is an hour earlier from one call to the next",
        {
            "API": (ACCEPTED,),
            "log": ("clock.set_back: …",),
            "doctor": (
                "The newest row is from …, but the clock says …: the clock was set back. "
                "Messages from before the last start wait until it has caught up. Use NTP to "
                "keep the clock right.",
            ),
        },
        "by itself: what waits for a stretch of time is brought forward by as much",
        "See what sets the clock (`timedatectl`).",
        alert="clock_jumped",
    ),
    Fault(
        "no_threads",
        "There are no more threads",
        "each new thread is refused (EAGAIN), once the idle ones have ended",
        {
            "API": (ACCEPTED,),
            "`risala audit`": (
                "exit 1: The service cannot answer right now. Send again in a moment.",
            ),
            "log": (
                "machine.lacks: threads",
                "requests.not_logged: The machine has run out of threads.",
            ),
            "doctor": (
                "Requests are not logged, but everything else works: The machine has run out of "
                "threads.",
            ),
        },
        "by itself: what sends has its threads from the start on",
        "See what uses them up (`ps -eLf`), and the limits (`TasksMax=`, `ulimit -u`).",
    ),
    Fault(
        "no_memory",
        "Memory runs out while a batch is written",
        "the thread that writes the database gets no more memory, from one step or another on",
        {
            "API": (REFUSED,),
            "`/readyz`": ("memory has run out",),
            "log": ("storage.recovered: memory has run out",),
        },
        "by itself, once there is memory; it is tried every second",
        "See what uses it up. What systemd or the kernel kills is started again and loses nothing.",
        perhaps={"API": (ACCEPTED, IN_DOUBT), "log": ("storage.failed: memory has run out",)},
    ),
    Fault(
        "no_descriptors",
        "There are no more descriptors",
        "the limit of open files is lowered to those that are open, and clients connect",
        {
            "API": (ACCEPTED,),
            "log": ("connections.no_descriptors: Too many open files",),
        },
        "by itself: the connection that has been idle longest is closed for each new one",
        "Raise `LimitNOFILE=` (`risala doctor` says how many files may be open).",
    ),
)
