"""Features: what the service does beside sending, each declared once, in a folder of its own.

What concerns all nouns alike (the table of operations, the audit trail, an export, a deletion,
metrics, tasks) names none of them, and reads :func:`features`.

A declaration imports nothing of its feature: it names what is there, and that is imported when it
is first wanted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from functools import cache
from importlib import import_module
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.people_records import MailKind

Task = tuple[str, Callable[[], Awaitable[None]], bool]
"""What the supervisor calls it, what runs, and whether it is patient: failures of what it reaches
outside never end the service."""
NAMES: Final[tuple[str, ...]] = (
    *("compat", "hooks", "tables", "lists", "mailings", "payments", "providers", "factors"),
    *(
        "approvals",
        "backup",
        "alerts",
        "request_log",
        "own_data",
        "standby",
        "answering",
        "own_texts",
        "hops",
    ),
    *("code_figures", "session_details", "reverse", "channels", "fixed_numbers"),
    *("trail_heads", "sinks", "pumping", "doctor", "challenges", "conversations", "answers"),
    "opt_out_words",
    "repeats",
    "alarms",
    "search",
    "overview",
    "handbook",
    "statements",
    "agents",
    "invoices",
)
"""The features, each after those that it needs, and in the order in which they take part in a
session; the doctor speaks of them in this order."""


@dataclass(frozen=True, slots=True)
class Declared:
    """Something of a module, which is imported when this is first called."""

    module: str
    name: str

    def __call__(self) -> Any:  # noqa: ANN401 -- whoever reads a declaration knows what it names
        return getattr(import_module(self.module), self.name)


def later(place: str) -> Declared:
    """``later("features.lists.stored:LISTS")``: what a module of the engine has by a name."""
    return elsewhere("engine." + place)


def elsewhere(place: str) -> Declared:
    """``elsewhere("http.dashboard.lists:ROUTES")``: what a module of another room has by a name."""
    module, _, name = place.partition(":")
    return Declared("risala." + module, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What a feature brings; all of it may be missing."""

    name: str
    needs: tuple[str, ...] = ()
    """The features that it imports."""
    operations: tuple[Declared, ...] = ()
    """Sequences of its operations."""
    views: tuple[str, ...] = ()
    """Operations whose lines in the audit trail tell of something that was only read."""
    images: Mapping[AuditImage, Declared] = field(default_factory=dict)
    """How the things that its operations change are read for the audit trail: a function of a
    connection and an id, which raises ``NotFound``."""
    exported: Mapping[str, Declared] = field(default_factory=dict)
    """The tables that an owner's file has of it, by the file's name there."""
    exported_settings: Mapping[str, Declared] = field(default_factory=dict)
    """What that file's settings have of it: a function of a connection and an organization's id,
    which returns a record, several, or None."""
    counted: Declared | None = None
    """About how many rows these tables have of an organization: a function of a connection and
    its id."""
    walks: Mapping[WalkKind, Declared] = field(default_factory=dict)
    """What retention deletes of it: functions of a connection, a walk, the time before which rows
    are old, and how many go at once."""
    oldest: Mapping[str, Declared] = field(default_factory=dict)
    """Functions of a connection that return the time of the oldest row, by retention's rules."""
    cleared: Declared | None = None
    """Deletes rows of what was deleted or is old: a function of a connection, how many go at once,
    and an organization's id or None, which returns ``Forgot``."""
    erased: Declared | None = None
    """Erases a phone number: a function of a connection, an organization's id, the number and how
    many rows at once, which returns how many rows of which kind went."""
    withdrawn: Declared | None = None
    """In the transaction that begins to erase a phone number, what waits because of it no longer
    leaves: a function of a connection, an organization's id and the number."""
    awaited: Declared | None = None
    """Whether the erasure of a number waits for messages to others: a function of the same."""
    emptied: Declared | None = None
    """Deletes what it has of erased messages: a function of a connection and the messages' keys."""
    findable: Declared | None = None
    """What a search over everything finds of it: a sequence of ``Findable``."""
    figures: Mapping[str, Declared] = field(default_factory=dict)
    """What there is of a phone number before it is erased, by the names of ``NumberFigures``:
    functions of a connection, an organization's id, the number, and the most that is counted."""
    of_user: Mapping[str, Declared] = field(default_factory=dict)
    """What an operator sees of it with a user, by the names of ``UserStory``: functions of a
    connection and the user's id."""
    decides: Mapping[str, Declared] = field(default_factory=dict)
    """How much waits for an operator's decision, by the names of ``Deciding``: functions of a
    connection and the time, which count no more than there can be or pages show."""
    received: Declared | None = None
    """In the transaction in which a text comes in for an organization: a function of a connection,
    the organization's id, the text's id, the ``Inbound``, and the ``Stamp``."""
    letters: Mapping[MailKind, Declared] = field(default_factory=dict)
    """What fills the words of its mails: functions of ``Letters``, an owed mail, and the words of
    its language, which return the values, or None if the mail is no longer useful."""
    quoting: tuple[MailKind, ...] = ()
    """Kinds of the feature's mails that quote drivers, in the words of the reader's language."""
    stores: Mapping[str, Declared] = field(default_factory=dict)
    """Tables of the feature with what takes room besides messages, by the names of
    ``StoredOfKind``: each a ``StoredTable``."""
    restored: Declared | None = None
    """In a restored database, keeps what was done since the backup from being done again: a
    function of a connection, in a transaction."""
    holds_uploads: Declared | None = None
    """The names of uploads that it may read again: a function of a connection."""
    duties: Mapping[Duty, Declared] = field(default_factory=dict)
    """What it alone does for the core."""
    in_sessions: Declared | None = None
    """The feature's part in verification sessions: a class as ``SessionFeature`` describes."""
    session_members: frozenset[str] = frozenset()
    """Members of requests about codes that make it take part."""
    session_ended: Declared | None = None
    """In the transaction that ends a session which names it: a function of a connection and the
    session's id."""
    session_joined: Declared | None = None
    """Whether it has a part in an organization's sessions though their requests name nothing of it:
    a function of ``SessionSources`` and the organization's id."""
    session_messages: Declared | None = None
    """The messages with the code of a session that names it, besides the first: a function of a
    connection and the session's id, which returns their ids."""
    session_goes_on: Declared | None = None
    """In the transaction in which one of these messages fails: whether the session goes on. A
    function of a connection, the session's row, the message's id and the time."""
    session_way: str = ""
    """What sessions that name it are counted as, in place of a channel: no message has a code of
    theirs."""
    arrived: Declared | None = None
    """What it does with a text or call that comes in: a function of ``SessionSources`` and of the
    ``PhoneArrival``, which returns what it does in the transaction that stores it
    (``StoreArrival``), or None."""
    access: Declared | None = None
    """What others do with it that is no operation, such as programs without an account, or who
    signs in: the part of the services that its ``FeatureAccess`` describes."""
    topped_up: Declared | None = None
    """In the transaction in which an operator credits money by its reference: a function of a
    connection, the reference in comparable form, and the time."""
    credits: Declared | None = None
    """What of it a ledger entry credits: a function of a connection and the entry's number, which
    returns an id, or None."""
    books: Declared | None = None
    """Queries of what does not agree in its tables: each row is a sentence."""
    metrics: Declared | None = None
    """Metrics of the feature: a function of the repositories and the time."""
    examined: Declared | None = None
    """What the doctor says of it in a database: a function of a connection and of the ``Patient``,
    which returns findings."""
    doctor: Declared | None = None
    """What the doctor says of it besides, after all else: a function of the ``Patient``, which
    returns findings. It may take long, and runs in a thread."""
    retuned: Declared | None = None
    """Applies settings that changed while it runs: a function of the services and the settings."""
    live_metrics: Declared | None = None
    """Metrics of what a running service has in memory: a function of the services."""
    statistics: Declared | None = None
    """What it adds to the service's statistics: a function of the services, which returns them by
    their names."""
    system: Mapping[str, Declared] = field(default_factory=dict)
    """What is shown of it among the facts about the system, by the names of ``SystemFacts``: async
    functions of the services."""
    measured: Declared | None = None
    """What alerts are raised of: a function of the services, and of what returns the limits as they
    are now; it returns groups of readings (``ReadingGroup``)."""
    begins: Declared | None = None
    """What has to stand before anything is accepted or sent: an async function of ``EngineStart``.
    It may put what it made into the parts of the services."""
    tasks: Declared | None = None
    """What runs for it as long as the service: a function of the services, which returns
    tasks (:data:`Task`)."""
    rests_without: tuple[str, ...] | None = None
    """The feature's tasks wait for the first operation, as long as its tables are empty and plugins
    built nothing of these kinds for it; None: they run from the start on."""
    stopping: Declared | None = None
    """Writes what only its memory has, as the service ends: an async function of the services."""
    forgets: Declared | None = None
    """Forgets what it remembers of an organization that was changed or deleted: a function of the
    services and the organization's id."""
    deleted: tuple[str, ...] = ()
    """Tables of the feature with few rows of an organization, which are deleted with it."""
    of_users: tuple[str, ...] = ()
    """Tables of the feature whose rows go with the user in their column ``user_id``."""
    shifts: Declared | None = None
    """Statements that move its waits after the clock was set back: by ``:by`` milliseconds, to the
    present time ``:now``."""
    sealed: Declared | None = None
    """Columns of the feature that hold sealed secrets: a sequence of ``SealedColumn``."""
    tables: tuple[str, ...] = ()
    """All of its tables."""
    dashboard: tuple[Declared, ...] = ()
    """Tables of its pages for an organization's members."""
    console: tuple[Declared, ...] = ()
    """Tables of its pages for operators."""
    commands: Mapping[str, Declared] = field(default_factory=dict)
    """The feature's commands, by the words after ``risala``: ``mailing``; or ``org delete``, in a
    group of the core."""
    shown: Mapping[str, Declared] = field(default_factory=dict)
    """What pages of others show of it, by the place: async functions of the page's request, and of
    what the place is about, which return values for the template."""
    takes: Mapping[str, Declared] = field(default_factory=dict)
    """What pages of others hand over to it, by the place: async functions of the page's request,
    and of what is handed over."""
    called: Declared | None = None
    """Adds paths to the dashboard's app that are no pages, for programs: a function of the app."""
    api_paths: tuple[str, ...] = ()
    """Paths of the HTTP API, for programs with a secret key."""
    api_handlers: Declared | None = None
    """What answers them: ``handlers`` as a module of the API has it."""
    api_reference: Declared | None = None
    """What the API's document says of these paths, and the components of their answers: a pair."""
    mounts: Declared | None = None
    """Answers paths on the API's listener: a function of ``PathMounting``."""
    ends: Declared | None = None
    """What else is done when an organization is deleted, before these tables: a function of a
    connection, the organization's id and the time."""


@cache
def features() -> tuple[Feature, ...]:
    """All features, in the order of :data:`NAMES`."""
    return tuple(import_module(f"risala.engine.features.{name}.feature").FEATURE for name in NAMES)


def duty(of: Duty) -> Any:  # noqa: ANN401 -- as a Declared
    """What the one feature that has a duty does; None: there is no such feature."""
    does = (each.duties[of] for each in features() if of in each.duties)
    return next((declared() for declared in does), None)


def required(of: Duty) -> Any:  # noqa: ANN401 -- as a Declared
    """What the one feature that has a duty does.

    Raises:
        LookupError: no feature has it: what depends on it must not be done without.
    """
    done = duty(of)
    if done is None:
        raise LookupError("No feature does what this needs.")
    return done
