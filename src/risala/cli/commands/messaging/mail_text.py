"""The text of a mail for an SMS: HTML to lines, and no quotes and signatures. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

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
    said = ""
    for count in range(1, _INTRODUCTION_LINES_MAX + 1):
        if count > len(kept) or not kept[-count].strip():
            return
        said = f"{kept[-count].strip()} {said}".strip()
        # With a time or an address: "Do this:" before a quote is the writer's own.
        if not said.endswith(":"):
            return
        before = kept[-count - 1] if count < len(kept) else ""
        if re.search(r"@|\d.*\d", said) and not _BEGINS.match(before):
            del kept[-count:]
            return


def _unstuffed(lines: list[str]) -> Iterator[str]:
    return (line.removeprefix(" ") for line in lines)
