"""Programs that send a message and verify a number, in our customers' languages, with the reader's
own address.

A live key is never part of a program: copied code ends in repositories. Programs read it from the
environment variable ``RISALA_KEY``, and the commands for a terminal set that variable first if the
page has the key: on the page that shows it once. A test key, which reaches no phone and costs
nothing, stands in the programs of the quick start while that page shows it, so that they run as
pasted.
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

from risala.http.dashboard.programs import LANGUAGES
from risala.sms.numbering.plan import NumberingPlan

TEXT: Final = "Bonjour"
"""The text of the message in an example: a word of every language here, in one part."""
_LOCALE: Final = "fr"
"""The language of the code in an example."""
_QUOTED: Final = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")


def number_of(plan: NumberingPlan, *, is_test: bool) -> str:
    """An example's recipient. With a test key the last two digits choose the outcome: 00 is
    delivered."""
    return f"{plan.example[:-2]}00" if is_test else plan.example


def send_snippets(
    url: str, to: str, key: str | None = None, *, body: str = TEXT, test_key: str | None = None
) -> list[tuple[str, Markup]]:
    """A message in each language, with the quoted parts marked.

    Args:
        key: set in the environment by the commands for a terminal, so that they work as pasted;
            None: the reader sets it.
        test_key: stands in each program; None: each reads its key from the environment.
    """
    first = {} if key is None else {"curl": f"export RISALA_KEY='{key}'\n"}
    return [
        (
            each.name,
            marked(
                first.get(each.name, "")
                + each.written(each.sending, url, test_key, to=to, body=body)
            ),
        )
        for each in LANGUAGES
        if each.sending is not None
    ]


def verifying(url: str, to: str) -> list[tuple[str, Markup]]:
    """The same for a code that is sent and judged."""
    return [
        (each.name, marked(each.written(each.verifying, url, None, to=to, locale=_LOCALE)))
        for each in LANGUAGES
        if each.verifying is not None
    ]


def marked(code: str) -> Markup:
    """Code with its strings marked, for the eye."""
    found, at = Markup(""), 0
    for quoted in _QUOTED.finditer(code):
        found += escape(code[at : quoted.start()]) + Markup("<i>{}</i>").format(quoted[0])
        at = quoted.end()
    return found + escape(code[at:])
