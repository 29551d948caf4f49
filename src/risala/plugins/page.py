"""The contract for plugins that add pages to the operator's console.

A page is registered by the hook ``risala_register_console_pages`` (see
:mod:`risala.plugins.hookspecs`), and stands at ``/operator/plugins/NAME``. It is made of blocks,
which the console draws in its own frame, in every direction and theme, with everything escaped: a
plugin writes no HTML. Only operators come here; forms bear the console's mark, and what one sends
is a line of the audit trail before the plugin hears of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Cell = str | int | float | bool | None
"""None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class PageHeading:
    text: str


@dataclass(frozen=True, slots=True)
class PageText:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class PageFigures:
    """Some numbers or short words, drawn large."""

    figures: Sequence[tuple[str, Cell]]
    """What it is, and its value."""


@dataclass(frozen=True, slots=True)
class PageTable:
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    """As many cells each as there are columns. At most 500 are shown."""
    empty: str = ""
    """Said where there is no row."""


@dataclass(frozen=True, slots=True)
class FormField:
    """What is filled in."""

    name: str
    """Letters, digits and ``_``."""
    label: str
    kind: Literal["text", "number", "check", "choice"] = "text"
    value: str = ""
    """What stands there already; of a ``check``, ``yes`` or nothing."""
    choices: Sequence[tuple[str, str]] = ()
    """Of a ``choice``: what is sent, and how it is called."""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class PageForm:
    """Something that an operator may do."""

    action: str
    """A word for :meth:`ActingPage.act` and for the audit trail."""
    submit: str
    """What stands on the button."""
    fields: Sequence[FormField] = ()
    text: str = ""
    """What it does."""


PageBlock = PageHeading | PageText | PageFigures | PageTable | PageForm


class PageService(Protocol):
    """A page's hand in the engine, as the operator who looks at it."""

    @property
    def language(self) -> str:
        """Of the reader: ``en``, ``fr`` or ``ar``."""

    @property
    def query(self) -> Mapping[str, str]:
        """The fields of the page's address."""

    async def look(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        """Do an operation that changes nothing and shows no message's text; see
        ``docs/reference/operations.md``.

        Raises:
            PermissionError: it is no such operation.
            Exception: as the engine refuses it; let it pass, the console tells it.
        """

    async def do(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        """Within :meth:`ActingPage.act`: do any operation but those that show messages' texts. It
        leaves its own line in the audit trail.

        Raises:
            PermissionError: it is no such operation, or nobody sent a form.
            Exception: as :meth:`look`.
        """


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What became of a form."""

    text: str
    """A sentence in the reader's language."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """What is wrong, by field; where there is any, nothing was done."""


@runtime_checkable
class ConsolePage(Protocol):
    """One page."""

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        """What stands on it now. Cancelled after ten seconds. What it raises is told as a page that
        could not be drawn."""


@runtime_checkable
class ActingPage(Protocol):
    """A page with forms."""

    async def act(self, service: PageService, action: str, fields: Mapping[str, str]) -> PageAnswer:
        """An operator sent a form, once. The page is drawn anew after it."""


@dataclass(frozen=True, slots=True)
class ConsolePageFactory:
    """How a page is built."""

    name: str
    """The word in its address."""
    title: Mapping[str, str]
    """By language; ``en`` is always there."""
    build: Callable[[], ConsolePage]
    """Called once, when the service starts. Opens nothing."""
    summary: str
    """One line for ``risala plugins``."""


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page that was built, as the console has it."""

    title: Mapping[str, str]
    page: ConsolePage


ConsolePages = Mapping[str, OpenPage]
"""By the word in each one's address."""
