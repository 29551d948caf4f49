"""The contract for plugins that add pages to the operator's console, and for drivers that fill a
part of their carrier's page there (:class:`Paged`).

A page is registered by the hook ``risala_register_console_pages`` (see
:mod:`risala.plugins.hookspecs`), and is at ``/operator/plugins/NAME``. It is made of blocks, which
the console draws in its own frame, in every direction and theme, with everything escaped: a plugin
writes no HTML. Only operators can open it; forms have the console's CSRF token, and each one sent
is a line of the audit trail before the plugin gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Cell = str | int | float | bool | None
"""None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class PageHeading:
    """A heading."""

    text: str
    """Its words."""


@dataclass(frozen=True, slots=True)
class PageText:
    """A paragraph."""

    text: str
    """Its words."""


@dataclass(frozen=True, slots=True)
class PageFigures:
    """Some numbers or short words, in large type."""

    figures: Sequence[tuple[str, Cell]]
    """What it is, and its value."""


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows of cells. On a narrow screen each row is a card."""

    columns: Sequence[str]
    """Their headings."""
    rows: Sequence[Sequence[Cell]]
    """As many cells each as there are columns. At most 500 are shown."""
    empty: str = ""
    """The text if there are no rows."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form."""

    name: str
    """Letters, digits and ``_``."""
    label: str
    """What it is for."""
    kind: Literal["text", "number", "check", "choice", "hidden"] = "text"
    """A ``check`` is yes or no. ``hidden`` is not shown: its value is sent as it is, such as the id
    of what the form is for; its label is empty."""
    value: str = ""
    """The field's first content; of a ``check``, ``yes`` or nothing."""
    choices: Sequence[tuple[str, str]] = ()
    """The options of a ``choice``: the value sent, and its label."""
    hint: str = ""
    """A sentence below it."""


@dataclass(frozen=True, slots=True)
class PageForm:
    """Something that an operator may do."""

    action: str
    """A word for :meth:`ActingPage.act` and for the audit trail."""
    submit: str
    """The text of the button."""
    fields: Sequence[FormField] = ()
    """What it asks for."""
    text: str = ""
    """What it does."""
    confirm: str = ""
    """What is asked before it is done, in the reader's language, with what it costs. Empty: the
    button does it at once."""


PageBlock = PageHeading | PageText | PageFigures | PageTable | PageForm


class PageService(Protocol):
    """A page's way to the engine, with the rights of the operator who opened it."""

    @property
    def language(self) -> str:
        """The reader's language: ``en``, ``fr`` or ``ar``."""

    @property
    def address(self) -> str:
        """Where the carrier calls the driver whose part this is
        (:attr:`risala.plugins.answering.CarrierRequest.own_url`); only the path of it where
        ``http.public_url`` is not set. Empty: it is not called, or this is another page."""

    @property
    def query(self) -> Mapping[str, str]:
        """The fields of the page's address."""

    async def look(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        """Do an operation that changes nothing and shows no message's text; see
        ``docs/reference/operations.md``.

        Raises:
            PermissionError: the operation is not one of those.
            Exception: the engine refuses; let it pass, the console shows the reason.
        """

    async def do(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        """Within :meth:`ActingPage.act`: do any operation but those that show messages' texts. It
        leaves its own line in the audit trail.

        Raises:
            PermissionError: the operation is not one of those, or nobody sent a form.
            Exception: as :meth:`look`.
        """


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """The result of a form."""

    text: str
    """A sentence in the reader's language."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """Faults by field; if there are any, nothing was done."""


@runtime_checkable
class ConsolePage(Protocol):
    """One page."""

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        """The page's present content. Cancelled after ten seconds. If it raises, the console says
        that the page could not be drawn."""


@runtime_checkable
class ActingPage(Protocol):
    """A page with forms."""

    async def act(self, service: PageService, action: str, fields: Mapping[str, str]) -> PageAnswer:
        """An operator sent a form, once. The page is drawn again after it."""


@runtime_checkable
class LivePage(Protocol):
    """A page that is drawn again by itself while somebody looks at it, except its forms."""

    @property
    def redrawn_every_s(self) -> float:
        """Seconds between two drawings. At least one second passes."""


@runtime_checkable
class Paged(Protocol):
    """A driver that fills a part of its carrier's page in the operator's console, such as a list of
    devices.

    The part stands at ``/operator/carriers/NAME``, and is drawn as a plugin's page is: from blocks,
    for operators alone. A :class:`PageForm` there asks one of the driver's own commands
    (:class:`risala.plugins.contract.Commandable`): ``action`` is the command's name, the values of
    the fields are its arguments, in their order; empty ones at the end are left out. The command's
    answer is shown once. Only operators whose role may ask commands see the form. A form of no
    command that the driver has is left out.
    """

    @property
    def console_page(self) -> ConsolePage:
        """The part. It is asked at any time in the driver's life, also before it is up. With
        :class:`LivePage` it is drawn again by itself."""


@dataclass(frozen=True, slots=True)
class ConsolePageFactory:
    """How a page is built."""

    name: str
    """The word in the page's address."""
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
