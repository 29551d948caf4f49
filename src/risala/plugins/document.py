"""The reference pages of the contracts from their code: ``python -m risala.plugins.document``.

Each page lists the modules and their parts for authors. The descriptions are the docstrings, and
the lines below fields.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Final

_NOTE: Final = (
    "<!-- Written by `python -m risala.plugins.document docs/reference`; change the docstrings in "
    "`src/risala` instead. -->"
)
_ROLE: Final = re.compile(r":(?:class|meth|data|attr|func|mod|exc):`~?\.?([^`]+)`")
_BETWEEN: Final = re.compile(r", (?![^\[]*\])")
"""Between two parameters, and not between the parts of a type."""
_SECTIONS: Final = ("Args:", "Raises:", "Returns:")


@dataclass(frozen=True, slots=True)
class ContractChapter:
    """A section of the contract."""

    title: str
    module: str
    """The module that has them."""
    names: tuple[str, ...]
    text: str = ""
    """Markdown above them."""


@dataclass(frozen=True, slots=True)
class ContractPage:
    """One page of the reference."""

    file: str
    title: str
    text: str
    chapters: tuple[ContractChapter, ...]
    suite: tuple[str, str] | None = None
    """Module and class of the suite whose checks the page lists."""


_USES: Final = (
    (
        "Accepted",
        "the carrier said that it has the message, or the phone said that it sent it",
    ),
    (
        "Throttled",
        "the carrier, or the line's own pace, asks for fewer messages: each of them would get "
        "this answer now",
    ),
    (
        "Refused(Scope.FINAL)",
        "the message itself is at fault, and every carrier would say so: no such number, a text "
        "that nobody may send",
    ),
    (
        "Refused(Scope.CARRIER)",
        "this carrier or line will not take this message, though another one may: a sender that "
        "is not registered with it, a country that it does not serve, no credit left. It fails "
        "where no other carrier serves the number",
    ),
    (
        "Refused(Scope.NOW)",
        "the carrier has a fault of its own, and the same message will do later: it waits and is "
        "routed again, mostly to this carrier. Many such answers let the carrier rest",
    ),
    (
        "Refused(Scope.RECIPIENT)",
        "the carrier is well, and this number cannot be reached or is asked too often at this "
        "moment: the message waits, and the answer says nothing against the carrier",
    ),
    (
        "Uncertain",
        "bytes may have left, and no answer came: a time-out, a link that broke, a 500 of a "
        "machine between",
    ),
    (
        "Unsent",
        "nothing left, for want of a link: no connection, no session, no phone that fetches",
    ),
)
"""Each answer to a submit, and when to use it."""
_USED_WHEN: Final = "\n".join(
    (
        "A submit may last long, up to `capabilities.submit_s`: a driver whose phone fetches its "
        "messages, or whose answer comes by a callback, waits for it in `submit`. As many wait at "
        "once as `capabilities.window_max` says.",
        "",
        "| Answer | Use this when |",
        "|---|---|",
        *(f"| `{answer}` | {when} |" for answer, when in _USES),
        "",
        "A line that cannot take a message now, where another line may, has three ways. For all "
        "messages, such as without service: health that is not `UP`. For one, before it is "
        "submitted: [`Choosy`](#choosy) declines it, and it costs no attempt. In the answer: "
        "`Scope.CARRIER`, after which this message does not come back to the line.",
    )
)
_DRIVER: Final = ContractPage(
    "driver-contract.md",
    "The contract of drivers",
    "What a driver for a carrier has, is given and answers. "
    "[Write a driver](../tutorials/write-a-driver.md) builds one from nothing; "
    "[Plugin hooks](plugin-hooks.md#risala_register_drivers) says how it is registered and what "
    "the engine makes of it. Everything here is imported from `risala.plugins.contract`, unless "
    "a section says otherwise.",
    (
        ContractChapter("The driver", "risala.plugins.contract", ("Driver", "Capabilities")),
        ContractChapter("What it is given", "risala.sms.message", ("Segment", "Alphabet")),
        ContractChapter(
            "Outcomes",
            "risala.sms.outcome",
            ("Accepted", "Throttled", "Refused", "Scope", "Uncertain", "Unsent"),
            "`submit` answers with one of five. Which one decides about somebody's money: a "
            "message that may have left is never sent again without a thought, and one that did "
            "not leave is not charged.\n\n"
            "| Outcome | It means | The message |\n|---|---|---|\n"
            "| `Accepted` | The carrier has it | is sent |\n"
            "| `Throttled` | Slow down | keeps its place; the carrier is sent less |\n"
            "| `Refused` | No: for good (`FINAL`), by this carrier (`CARRIER`), for the moment "
            "(`NOW`, `RECIPIENT`) | fails, goes elsewhere, or waits |\n"
            "| `Uncertain` | It left, and nobody knows whether it arrived | is held until something"
            " settles it |\n"
            "| `Unsent` | Nothing left this machine | keeps its place |\n\n"
            "`cause` is a word of a [closed list](error-codes.md). `raw` is the carrier's own word "
            "for the timeline. `text` is left empty, or says more than the cause's own sentence. "
            "None of them ever holds a message's text or a credential.\n\n" + _USED_WHEN,
        ),
        ContractChapter(
            "What it tells",
            "risala.plugins.contract",
            ("DriverContext", "NotStoredError", "Health", "HealthState"),
            "Health may be told from anywhere: `run` may look at the carrier now and then, and a "
            "driver that is called may say `UP` when its carrier or its phone calls, and `DOWN` or "
            "`SICK` when it was silent for too long. The latest report holds.",
        ),
        ContractChapter("Receipts", "risala.sms.receipt", ("Receipt", "ReceiptState")),
        ContractChapter("Messages from phones", "risala.sms.message", ("Inbound",)),
        ContractChapter(
            "What it may have besides",
            "risala.plugins.contract",
            (
                "Posting",
                "Choosy",
                "IdForms",
                "Declined",
                "Commandable",
                "DriverCommand",
                "CommandRefusedError",
            ),
            "None of these is needed. The engine looks whether a driver has the methods.",
        ),
        ContractChapter(
            "A driver that is called",
            "risala.plugins.answering",
            (
                "Answering",
                "CarrierRequest",
                "CarrierAnswer",
                "CarrierStream",
                "RequestRefusedError",
            ),
            "The service's own listener hands requests for `/carriers/NAME/…` to the driver, which "
            "needs no port, no certificate and no rule of a proxy. Anybody may call: a request "
            "that the driver has not proved is answered with 401 and leaves nothing but a count. "
            "A carrier that signs nothing proves itself by a secret in its address, which "
            "`risala carriers rotate NAME` makes and shows once. All of it is imported from "
            "`risala.plugins.answering`.\n\n"
            "`risala.plugins.testing.called` has the same address for tests: `open_address` puts a "
            "driver behind the service's own handling of requests, without the rest of a service.",
        ),
        ContractChapter(
            "A driver that fills its carrier's page",
            "risala.plugins.page",
            (
                "Paged",
                "ConsolePage",
                "LivePage",
                "PageService",
                "PageHeading",
                "PageText",
                "PageFigures",
                "PageTable",
                "PageForm",
                "FormField",
            ),
            "What the console shows of devices, SIMs or accounts is data: the console draws it in "
            "its own frame, right to left where the reader's language is, light and dark, with "
            "everything escaped. Sentences are the driver's, in the language that "
            "`service.language` names. At most 50 blocks are drawn, and 500 rows of a table.",
        ),
        ContractChapter(
            "What carriers of one account share",
            "risala.plugins.sharing",
            ("SharedAccount", "Sharing"),
            "Two SIMs of one phone, or two senders of one account, may be two carriers that must "
            "not register a webhook twice. The factory's `account_key` says which carriers are of "
            "one account; its `shared` builds, once for an account, what each driver is given.\n\n"
            "The service runs it from before the first of these drivers until after the last one. "
            "A driver that fails, or is built again by other settings, leaves it and the others as "
            "they are. If the shared part fails, it is started again after a growing wait, and no "
            "driver is ended: each reports what its link is like meanwhile. Two keys never share: "
            "where the settings of a carrier change its key, it gets another shared part.",
        ),
        ContractChapter("How it is registered", "risala.plugins.contract", ("DriverFactory",)),
    ),
    ("risala.plugins.testing.conformance", "DriverConformance"),
)
_PAYMENT: Final = ContractPage(
    "payment-contract.md",
    "The contract of payment methods",
    "What a way of paying has, is given and answers. "
    "[Plugin hooks](plugin-hooks.md#risala_register_payment_methods) says how it is registered, "
    "and on which task each step runs. Everything here is imported from `risala.plugins.payment`, "
    "what has to do with a bank's texts from `risala.plugins.payment_texts`. Amounts are whole "
    "minor units of the payment's currency.",
    (
        ContractChapter(
            "The method",
            "risala.plugins.payment",
            ("PaymentMethod", "PaymentOffer", "Beginner", "PaymentField"),
        ),
        ContractChapter("What it is given", "risala.plugins.payment", ("Payment",)),
        ContractChapter(
            "What a step comes to",
            "risala.plugins.payment",
            (
                "PaymentPending",
                "Confirmation",
                "PaymentSettled",
                "PaymentRefused",
                "PaymentMethodError",
            ),
            "A settled payment is known by its provider and its reference: the pair is credited "
            "once, over all methods and organizations, for ever.",
        ),
        ContractChapter(
            "What it may have besides",
            "risala.plugins.payment",
            (
                "Claimed",
                "Polled",
                "CalledBack",
                "PaymentCallback",
                "PaymentReport",
                "ForgedCallbackError",
                "Played",
            ),
            "The engine looks whether a method has these steps.",
        ),
        ContractChapter(
            "A bank's texts",
            "risala.plugins.payment_texts",
            ("HearsTexts", "TextReading", "TextKind", "CreditCaps"),
        ),
        ContractChapter(
            "How it is registered", "risala.plugins.payment", ("PaymentMethodFactory",)
        ),
    ),
    ("risala.plugins.testing.payments", "PaymentConformance"),
)
_MAIL: Final = ContractPage(
    "mail-contract.md",
    "The contract of mailers",
    "What sends e-mail has, is given and raises. "
    "[Plugin hooks](plugin-hooks.md#risala_register_mailers) says how it is registered. "
    "Everything here is imported from `risala.plugins.mail`.",
    (
        ContractChapter("The mailer", "risala.plugins.mail", ("Mailer", "Mail")),
        ContractChapter("What it raises", "risala.plugins.mail", ("MailNotSentError",)),
        ContractChapter("How it is registered", "risala.plugins.mail", ("MailerFactory",)),
    ),
    ("risala.plugins.testing.mailers", "MailerConformance"),
)
_SINK: Final = ContractPage(
    "sink-contract.md",
    "The contract of event sinks",
    "What takes events to somewhere else has, is given and raises. "
    "[Plugin hooks](plugin-hooks.md#risala_register_event_sinks) says how it is registered. "
    "Everything here is imported from `risala.plugins.sink`.",
    (
        ContractChapter(
            "The sink",
            "risala.plugins.sink",
            ("EventSink", "AuditHeadSink", "ClosingSink", "RunningSink"),
        ),
        ContractChapter(
            "What it is given",
            "risala.plugins.sink",
            ("SinkEvent", "SinkFigures", "SinkCarrier", "SinkOrganization"),
        ),
        ContractChapter("What it raises", "risala.plugins.sink", ("SinkUnavailableError",)),
        ContractChapter("How it is registered", "risala.plugins.sink", ("EventSinkFactory",)),
    ),
    ("risala.plugins.testing.sinks", "SinkConformance"),
)
_CHANNEL: Final = ContractPage(
    "channel-contract.md",
    "The contract of channels",
    "What brings one-time codes by another way than SMS has, is given and answers. "
    "[Plugin hooks](plugin-hooks.md#risala_register_channels) says how it is registered. "
    "Everything here is imported from `risala.plugins.channel`, and what it shares with drivers "
    "too: [outcomes](driver-contract.md#outcomes), [receipts](driver-contract.md#receipts), "
    "[the context](driver-contract.md#drivercontext), and "
    "[being called](driver-contract.md#a-driver-that-is-called).",
    (
        ContractChapter(
            "The channel",
            "risala.plugins.channel",
            ("CodeChannel", "ChannelCapabilities", "Reaches"),
        ),
        ContractChapter("What it is given", "risala.plugins.channel", ("CodeToSend",)),
        ContractChapter(
            "How it is registered", "risala.plugins.channel", ("ChannelFactory", "ChannelTools")
        ),
    ),
    ("risala.plugins.testing.channels", "ChannelConformance"),
)
_OTHERS: Final = ContractPage(
    "other-contracts.md",
    "The contracts of policies, faces, commands and pages",
    "What plugins register beside drivers, channels, payment methods, mailers and event sinks. "
    "[Plugin hooks](plugin-hooks.md#hooks) says what the engine makes of it.",
    (
        ContractChapter(
            "Message policies",
            "risala.plugins.policy",
            (
                "MessagePolicyFactory",
                "MessagePolicy",
                "PolicyMessage",
                "PolicyPass",
                "PolicyRewrite",
                "PolicyRefusal",
            ),
        ),
        ContractChapter(
            "Faces", "risala.plugins.face", ("FaceFactory", "GatewayFace", "FaceService")
        ),
        ContractChapter("Commands", "risala.plugins.command", ("CommandFactory", "CommandDoor")),
        ContractChapter(
            "Pages of the console",
            "risala.plugins.page",
            ("ConsolePageFactory",),
            "What a page is made of is told [with drivers]"
            "(driver-contract.md#a-driver-that-fills-its-carriers-page).",
        ),
    ),
)
PAGES: Final = (_DRIVER, _CHANNEL, _PAYMENT, _MAIL, _SINK, _OTHERS)


def render_page(page: ContractPage) -> str:
    """The whole page."""
    linker = _Linker(page)
    parts = [f"# {page.title}", _NOTE, page.text]
    for chapter in page.chapters:
        parts.append(f"## {chapter.title}")
        if chapter.text:
            parts.append(chapter.text)
        for name in chapter.names:
            parts += _thing(chapter.module, name, linker)
    modules = dict.fromkeys(one.module for one in page.chapters)
    rows = [row for module in modules for row in _limits(module, linker)]
    if rows:
        parts += ["## Limits", "\n".join(["| Name | Value | Meaning |", "|---|---|---|", *rows])]
    parts += _checks(page, linker)
    return "\n\n".join(parts) + "\n"


class _Linker:
    """Makes Markdown of what a docstring says."""

    def __init__(self, page: ContractPage) -> None:
        self._known: set[str] = set()
        for chapter in page.chapters:
            for name in chapter.names:
                methods = _methods(_class_node(chapter.module, name))
                self._known |= {name, *(f"{name}.{each.name}" for each in methods)}

    def line(self, text: str, owner: str = "") -> str:
        """A text without line ends."""
        return " ".join(self.markdown(text, owner).split()).replace("|", "\\|")

    def markdown(self, text: str, owner: str = "") -> str:
        """Roles become links where the page has the thing, and code where it has not."""

        def link(match: re.Match[str]) -> str:
            target = match[1]
            name = target.rpartition(".")[2]
            for written in (".".join(target.split(".")[-2:]), f"{owner}.{name}", name):
                if written in self._known:
                    return f"[`{written}`](#{_slug(written)})"
            return f"`{name}`"

        return _ROLE.sub(link, text).replace("``", "`")


def _slug(heading: str) -> str:
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def _class_node(module: str, name: str) -> ast.ClassDef:
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    return next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name)


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        each
        for each in node.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and not each.name.startswith("_")
    ]


def _thing(module: str, name: str, linker: _Linker) -> Iterator[str]:
    """A class: what it is, its fields or words, its methods."""
    node = _class_node(module, name)
    yield f"### `{name}`"
    yield _prose(ast.get_docstring(node) or "", linker, name)
    rows = [*_fields(node, linker)]
    if rows:
        is_enum = any("Enum" in ast.unparse(base) for base in node.bases)
        head = "| Word | Meaning |\n|---|---|" if is_enum else _FIELD_HEAD
        yield "\n".join([head, *rows])
    for method in _methods(node):
        is_property = any(ast.unparse(one) == "property" for one in method.decorator_list)
        yield f"#### `{name}.{method.name}`"
        if not is_property:
            yield f"```python\n{_signature(method)}\n```"
        elif method.returns is not None:
            yield f"A property: `{ast.unparse(method.returns)}`."
        yield _prose(ast.get_docstring(method) or "", linker, name)


_FIELD_HEAD: Final = "| Field | Type | Default | Meaning |\n|---|---|---|---|"


def _signature(method: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    word = "async def" if isinstance(method, ast.AsyncFunctionDef) else "def"
    returns = "" if method.returns is None else f" -> {ast.unparse(method.returns)}"
    parameters = [_spaced(one) for one in _BETWEEN.split(ast.unparse(method.args))]
    line = f"{word} {method.name}({', '.join(parameters)}){returns}"
    if len(line) <= 100:
        return line
    return (
        f"{word} {method.name}(\n"
        + "".join(f"    {one},\n" for one in parameters)
        + f"){returns}: ..."
    )


def _spaced(argument: str) -> str:
    """An argument as formatters write it: blanks around the sign where it has a type."""
    return re.sub(r"^(\w+: [^=]+)=", r"\1 = ", argument).replace("''", '""')


def _fields(node: ast.ClassDef, linker: _Linker) -> Iterator[str]:
    for at, each in enumerate(node.body):
        after = node.body[at + 1] if at + 1 < len(node.body) else None
        meaning = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            meaning = linker.line(str(after.value.value), node.name)
        if isinstance(each, ast.AnnAssign):
            kind = ast.unparse(each.annotation).replace("|", "\\|")
            default = _default(each.value)
            yield f"| `{ast.unparse(each.target)}` | `{kind}` | {default} | {meaning} |"
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant):
            yield f"| `{ast.unparse(each.targets[0])}` | {meaning} |"


def _default(value: ast.expr | None) -> str:
    if value is None:
        return "needed"
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        options = {one.arg: ast.unparse(one.value) for one in value.keywords}
        made = {"dict": "{}", "list": "[]", "tuple": "()"}.get(options.get("default_factory", ""))
        default = made or options.get("default")
        return f"`{default}`" if default else "needed"
    return f"`{ast.unparse(value)}`"


def _prose(text: str, linker: _Linker, owner: str) -> str:
    """A docstring's paragraphs, and its sections as lists."""
    parts: list[str] = []
    for paragraph in dedent(text).split("\n\n"):
        head, _, rest = paragraph.partition("\n")
        if head in _SECTIONS:
            items = re.split(r"\n(?! )", dedent(rest))
            listed = [" ".join(item.split()) for item in items]
            shown = {"Args:": "Given:", "Raises:": "May raise:", "Returns:": "Returns:"}[head]
            lines = [f"- {_item(one, linker, owner)}" for one in listed]
            parts.append(shown + "\n\n" + "\n".join(lines))
        elif paragraph.startswith("    "):
            parts.append(f"```text\n{dedent(paragraph)}\n```")
        elif paragraph != "::":
            sentence = re.sub(r"::$", ":", paragraph)
            parts.append(linker.markdown(sentence, owner))
    return "\n\n".join(parts)


def _item(text: str, linker: _Linker, owner: str) -> str:
    name, colon, rest = text.partition(": ")
    meaning = linker.markdown(rest, owner)
    return f"`{name}`: {meaning}" if colon else linker.markdown(text, owner)


def _limits(module: str, linker: _Linker) -> Iterator[str]:
    """The module's public limits that have a sentence."""
    body = ast.parse(inspect.getsource(importlib.import_module(module))).body
    for each, after in pairwise(body):
        if (
            isinstance(each, ast.AnnAssign)
            and isinstance(each.target, ast.Name)
            and each.target.id.isupper()
            and not each.target.id.startswith("_")
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and each.value is not None
        ):
            meaning = linker.line(str(after.value.value))
            yield f"| `{each.target.id}` | `{ast.unparse(each.value)}` | {meaning} |"


def _checks(page: ContractPage, linker: _Linker) -> Iterator[str]:
    """What the conformance suite proves of it."""
    if page.suite is None:
        return
    # Here and not above: the suites need pytest, which a service has not.
    from risala.plugins.testing.checks import checks_of

    module, name = page.suite
    suite = getattr(importlib.import_module(module), name)
    yield "## What the suite checks"
    yield (
        f'`{name}` of `{module}` (`pip install "risala[testing]"`) proves it of your plugin. A '
        "check that fails says what was done wrong, and names the place on this page."
    )
    rows = [f"| `{check}` | {linker.line(text)} |" for check, text, _ in checks_of(suite)]
    yield "\n".join(["| Check | What it proves |", "|---|---|", *rows])


def main() -> None:
    """Write the pages into the folder named on the command line."""
    folder = Path(sys.argv[1])
    for page in PAGES:
        (folder / page.file).write_text(render_page(page), encoding="utf-8")


if __name__ == "__main__":
    main()
