"""Makes the client for threads from the one for tasks: the same file without its waiting.

    make client

`tests/client/test_synchronous.py` says when that is due.
"""

import re
from pathlib import Path

ROOM = Path(__file__).parents[2] / "src/risala/client"
HEAD = '''"""The client for programs of threads.

Made from `asynchronous.py` by ``make client``: change that file.
"""
'''
CHANGES = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAwaitable\[(answers\.Page\[T\])\]", r"\1"),
    (r"\bAwaitable, ", ""),
    (r"\bAsyncIterator\b", "Iterator"),
    # In the order of the alphabet, and as a generator of threads does it: so the linter wants it.
    (r"Iterator, Callable, Iterable, Mapping", "Callable, Iterable, Iterator, Mapping"),
    (r"for item in (answer\.items):\n +yield item\n", r"yield from \1\n"),
    (r"\bAsyncRisala\b", "Risala"),
    (r"\bAsyncCaller\b", "SyncCaller"),
    (r"\bAsyncClient\b", "Client"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\baclose\b", "close"),
)


def synchronous(text: str) -> str:
    """The text of `synchronous.py`, before it is formatted."""
    text = re.sub(r'\A""".*?"""\n', lambda _: HEAD, text, flags=re.DOTALL)
    for found, becomes in CHANGES:
        text = re.sub(found, becomes, text)
    return text


if __name__ == "__main__":
    made = synchronous((ROOM / "asynchronous.py").read_text("utf-8"))
    (ROOM / "synchronous.py").write_text(made, "utf-8")
