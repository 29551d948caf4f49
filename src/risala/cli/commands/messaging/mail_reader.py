"""Reads what an SMS needs out of a mail. A mail is a stranger's: all work on it is bounded."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import policy
from email.errors import MessageError
from email.message import Message
from email.parser import BytesParser
from email.policy import Policy
from email.utils import getaddresses, parseaddr
from html import unescape
from typing import Final

MAIL_BYTES_MAX: Final = 10 * 1024 * 1024
"""The largest mail that is read: what mail servers take by default."""
HEAD_BYTES_MAX: Final = 128 * 1024
"""The largest head of a mail: a bit more than Postfix keeps (``header_size_limit``)."""
PARTS_MAX: Final = 100
"""Parts of a mail, beside and within each other."""
CONTENT_BYTES_MAX: Final = 2048
"""The longest head that describes a part: it takes the parser the square of its length."""
TEXT_BYTES_MAX: Final = 256 * 1024
"""How much of a text is read: HTML mails bring their styles along."""
SENT_CHARACTERS_MAX: Final = 1600
"""As many as an SMS may have, of the subject and of the text each."""
_FAULTS: Final = (MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What the standard library raises for heads that are malformed on purpose."""
_RECIPIENTS: Final = ("Delivered-To", "X-Original-To", "Envelope-To", "To")
"""Heads with the recipient, where no argument names it: those of mail servers first."""
_NO_CHARSETS: Final = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape"})
"""Python's own codecs that no mail is written in; the first two take long for long texts."""
_UNSEEN: Final = re.compile(r"[\u00ad\u200b\u2060\ufeff]")
"""Marks of no width that phones show as boxes. Not those that join letters."""
_BLANKS: Final = re.compile(r"(?:[^\S\n]|[\x00-\x09\x0b-\x1f\x7f-\x9f])+")


class UnreadableMail(Exception):
    """The octets are no mail, or too much of one; with a sentence for the sender."""


@dataclass(frozen=True, slots=True)
class ReadMail:
    """What counts of a mail."""

    digest: str
    """A hash of the mail: the same each time that a mail server delivers it."""
    recipients: tuple[str, ...]
    """As the mail's head names them."""
    return_path: str | None
    """The envelope's sender, where the mail server wrote it into the head; empty for a bounce."""
    subject: str
    text: str
    """Without quotes and signature; empty if there is none."""
    is_automatic: bool
    """Whether it answers another mail automatically, or reports on one."""


def read_mail(octets: bytes) -> ReadMail:
    """
    Raises:
        UnreadableMail: the mail cannot be read within these bounds.
    """
    if len(octets) > MAIL_BYTES_MAX:
        raise UnreadableMail(f"The mail is larger than {MAIL_BYTES_MAX // 1024**2} MB.")
    if octets.startswith(b"From "):  # a mailbox's separator, with the time of this delivery
        octets = octets.partition(b"\n")[2]
    head = re.search(rb"\r?\n\r?\n", octets[: HEAD_BYTES_MAX + 4])
    if head is None and len(octets) > HEAD_BYTES_MAX:
        raise UnreadableMail("The head of the mail is too large.")
    try:
        parser = BytesParser(_BoundedMessages(), policy=_BoundedHeads())
        return _read(parser.parsebytes(octets), octets)
    except _FAULTS:
        raise UnreadableMail("The mail is malformed and cannot be read.") from None


class _BoundedHeads(policy.Compat32):
    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        if name.lower().startswith("content-") and len(value) > CONTENT_BYTES_MAX:
            raise UnreadableMail("The mail has a part with too long a description.")
        return name, value


class _BoundedMessages:
    """Makes a message for each part."""

    def __init__(self) -> None:
        self._made = 0

    def __call__(self, policy: Policy | None = None) -> Message:
        self._made += 1
        if self._made > PARTS_MAX:
            raise UnreadableMail("The mail has too many parts.")
        return Message() if policy is None else Message(policy)


def _read(mail: Message, octets: bytes) -> ReadMail:
    named = _raw(mail, "Message-ID").strip().encode("utf-8", "replace") or octets
    return_path = mail.get("Return-Path")
    return ReadMail(
        hashlib.sha256(named).hexdigest(),
        _recipients(mail),
        None if return_path is None else parseaddr(str(return_path))[1],
        _sendable(_decoded(mail, "Subject"))[:SENT_CHARACTERS_MAX],
        _text(mail)[:SENT_CHARACTERS_MAX],
        _is_automatic(mail),
    )


def _raw(mail: Message, name: str) -> str:
    """A head's value as it came; octets beyond ASCII are taken for UTF-8, or else Latin-1."""
    value = next((text for key, text in mail.raw_items() if key.lower() == name.lower()), "")
    octets = str(value).encode("utf-8", "surrogateescape")
    return _as_text(octets, "utf-8")


def _decoded(mail: Message, name: str) -> str:
    """A head's value with its encoded words (RFC 2047) decoded."""
    unfolded = re.sub(r"[\r\n]+", "", _raw(mail, name))
    return " ".join(str(policy.default.header_factory(name, unfolded)).split())


def _recipients(mail: Message) -> tuple[str, ...]:
    for name in _RECIPIENTS:
        values = [str(each) for each in mail.get_all(name, [])]
        if name != "To":
            values = values[:1]  # the topmost one is of the last delivery
        try:
            addresses = tuple(dict.fromkeys(each for _, each in getaddresses(values) if each))
        except _FAULTS:
            return ()  # mostly an argument names the recipient
        if addresses:
            return addresses
    return ()


def _is_automatic(mail: Message) -> bool:
    # Not ``auto-generated``: so are the mails of cron and of monitoring, which answer nothing.
    submitted = _raw(mail, "Auto-Submitted").strip().lower()
    return (
        submitted.startswith("auto-replied")
        or _raw(mail, "Precedence").strip().lower() == "auto_reply"
        or "X-Autoreply" in mail
        or "X-Autorespond" in mail
        or mail.get_content_type() == "multipart/report"
    )


def _text(mail: Message) -> str:
    """The first plain text of a mail; without one, the text of its first HTML."""
    texts = [part for part in _parts(mail) if part.get_content_disposition() != "attachment"]
    for kind in ("text/plain", "text/html"):
        for part in texts:
            if part.get_content_type() == kind and (text := _text_of(part).strip()):
                return text
    return ""


def _parts(part: Message) -> Iterator[Message]:
    """The parts of a mail that have no parts; not those of a mail within it."""
    if part.get_content_type() == "multipart/encrypted":
        raise UnreadableMail("The mail is encrypted.")
    if part.get_content_maintype() != "multipart":
        yield part
        return
    inner = part.get_payload()
    for each in inner if isinstance(inner, list) else ():
        if isinstance(each, Message):
            yield from _parts(each)


def _text_of(part: Message) -> str:
    octets = part.get_payload(decode=True)
    if not isinstance(octets, bytes):
        return ""
    text = _as_text(octets[:TEXT_BYTES_MAX], part.get_content_charset("utf-8"))
    if part.get_content_type() == "text/html":
        text = text_of_html(text)
    is_flowed = str(part.get_param("format", "")).lower() == "flowed"
    return _sendable(without_quotes(text, is_flowed=is_flowed))


def _as_text(octets: bytes, charset: str) -> str:
    """Octets in their charset; in UTF-8 or else Latin-1 where they are not in it."""
    for name in (charset, "utf-8"):
        try:
            codec = codecs.lookup(name)
            if codec.name in _NO_CHARSETS or not _is_of_text(name):
                continue
            # A text that is too long was cut anywhere: its last character may be incomplete.
            decoder = codecs.getincrementaldecoder(name)()
            return decoder.decode(octets)
        except (LookupError, ValueError):
            continue
    return octets.decode("cp1252", "replace")


def _is_of_text(name: str) -> bool:
    """Whether a codec makes text of octets; others unpack them, to any size."""
    try:
        b"a".decode(name)
    except UnicodeError:
        pass
    except LookupError:
        return False
    return True


def _sendable(text: str) -> str:
    """A text with nothing that phones show wrongly: one kind of space, no control characters."""
    lines = (_BLANKS.sub(" ", line).strip() for line in _UNSEEN.sub("", text).splitlines())
    joined = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    return joined.encode("utf-8", "replace").decode().strip()


# The text of a mail for an SMS: HTML to lines, and no quotes and signatures. Pure.

_SILENT: Final = frozenset({"head", "template", "blockquote"})
"""Elements that are not shown, besides those in which there are no tags; and quotes."""
_LINES: Final = frozenset(
    {"address", "article", "br", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2", "h3", "h4"}
    | {"h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tr", "ul"}
)
"""Elements that begin and end a line."""
_APART: Final = frozenset({"p", "table"})
_CELLS: Final = frozenset({"td", "th"})
_TOKENS: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)"
    r"|<(?P<raw>script|style|title)\b.*?(?:</(?P=raw)[^>]*(?:>|\Z)|\Z)"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)[^>]*(?:>|\Z)|(?P<words><?[^<]*)",
    re.DOTALL | re.IGNORECASE,
)
"""Each alternative takes what it has read, so that no octet is read often."""
_SIGNATURE: Final = "-- "
"""RFC 3676 §4.3. Some programs lose the space."""
_FORWARDED: Final = re.compile(r"-{2,} ?[^-]*(message|nachricht|mensaje|رسالة)[^-]*-{2,}", re.I)
"""``-----Original Message-----``, as mail programs for offices write it in any language."""
_RULE: Final = re.compile(r"_{20,}")
"""What such a program writes above the other mail's ``From:``."""
_FORWARDED_MAX: Final = 100
"""The most characters of such a line, and of a rule."""
_BEGINS: Final = re.compile(r"(on|le|am|el|em|il|في|بتاريخ)\b.*\d", re.I)
"""The first of several lines that introduce a quote."""
_INTRODUCTION_LINES_MAX: Final = 3
"""Lines of ``On Friday somebody <somebody@example.com> wrote:``."""


def text_of_html(html: str) -> str:
    """The words of a page, a line for each paragraph, row and item.

    Not by the standard library's parser: tags that never end can take it hours.
    """
    lines = (" ".join(line.split()) for line in "".join(_shown(html)).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _shown(html: str) -> Iterator[str]:
    silent, depth = "", 0
    for token in _TOKENS.finditer(html):
        name, is_end = (token.group("name") or "").lower(), bool(token.group("end"))
        if silent:
            depth += 0 if name != silent else -1 if is_end else 1
            silent = silent if depth else ""
        elif name in _SILENT and not is_end:
            silent, depth = name, 1
        elif name in _LINES:
            yield "\n\n" if is_end and name in _APART else "\n"
        elif name in _CELLS:
            yield " "
        elif token.group("words") is not None:
            yield re.sub(r"\s+", " ", unescape(token.group("words")))


def without_quotes(text: str, *, is_flowed: bool = False) -> str:
    """A mail's text without what it answers, and without its signature.

    Args:
        is_flowed: lines that end in a space go on in the next one (RFC 3676).
    """
    lines = list(_own(text.splitlines()))
    if is_flowed:
        return re.sub(r"(?<=\S) \n(?=\S)", " ", "\n".join(_unstuffed(lines)))
    return "\n".join(lines)


def _own(lines: list[str]) -> Iterator[str]:
    """The lines down to a signature or to a mail that is quoted whole, without quoted ones."""
    kept: list[str] = []
    for number, line in enumerate(lines):
        if line == _SIGNATURE or line.rstrip() == _SIGNATURE.rstrip():
            break
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if _begins_other_mail(line.strip(), following):
            break
        if line.startswith(">"):
            _drop_introduction(kept)
        else:
            kept.append(line)
    return iter(kept)


def _begins_other_mail(line: str, following: str) -> bool:
    if len(line) > _FORWARDED_MAX:
        return False
    return bool(_FORWARDED.fullmatch(line) or (_RULE.fullmatch(line) and ":" in following))


def _drop_introduction(kept: list[str]) -> None:
    """Take the words that introduce a quote from the end of the lines: ``On … wrote:``."""
    while kept and not kept[-1].strip():
        kept.pop()
    introduction = ""
    for count in range(1, _INTRODUCTION_LINES_MAX + 1):
        if count > len(kept) or not kept[-count].strip():
            return
        introduction = f"{kept[-count].strip()} {introduction}".strip()
        # With a time or an address: "Do this:" before a quote is the writer's own.
        if not introduction.endswith(":"):
            return
        before = kept[-count - 1] if count < len(kept) else ""
        if re.search(r"@|\d.*\d", introduction) and not _BEGINS.match(before):
            del kept[-count:]
            return


def _unstuffed(lines: list[str]) -> Iterator[str]:
    return (line.removeprefix(" ") for line in lines)
