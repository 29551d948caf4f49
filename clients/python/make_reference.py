"""Writes docs/reference/python-client.md from the client's own code.

    make client

`tests/client/test_reference.py` says when that is due.
"""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from pathlib import Path

from risala.client import answers, asynchronous, calls, errors, retrying, synchronous, webhooks

HEAD = (Path(__file__).parent / "reference-head.md").read_text("utf-8")


def attribute_docs(module):
    """What stands beneath each field of each class, by class and name."""
    found = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            for at, each in enumerate(node.body[:-1]):
                after = node.body[at + 1]
                if (
                    isinstance(each, ast.AnnAssign)
                    and isinstance(after, ast.Expr)
                    and isinstance(after.value, ast.Constant)
                ):
                    found[node.name, each.target.id] = inspect.cleandoc(after.value.value)
    return found


def one_line(text):
    return re.sub(r"\s+", " ", (text or "")).replace("|", "\\|").strip()


def typed(annotation):
    """A type as the page names it."""
    return re.sub(r"\b(answers|calls)\.", "", str(annotation)).replace("|", "\\|")


def fields(module, kind, own_only=False):
    told = attribute_docs(module)
    inherited = (
        {each.name for base in kind.__bases__ for each in fields_of(base)} if own_only else ()
    )
    lines = ["| | Type | |", "|---|---|---|"]
    for each in dataclasses.fields(kind):
        if each.name not in inherited:
            owner = next(
                base.__name__ for base in kind.__mro__ if each.name in vars(base)["__annotations__"]
            )
            said = one_line(told.get((owner, each.name)))
            lines.append(f"| `{each.name}` | `{typed(each.type)}` | {said} |")
    return "\n".join(lines)


def fields_of(kind):
    return dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()


def method(name, function):
    signature = inspect.signature(function)
    shown = [each for each in signature.parameters.values() if each.name != "self"]
    words = []
    for each in shown:
        is_first_keyword = each.kind is each.KEYWORD_ONLY and "*" not in words
        if is_first_keyword:
            words.append("*")
        default = "" if each.default is each.empty else f"={each.default!r}"
        words.append(f"{each.name}{default}")
    answer = str(signature.return_annotation).replace("answers.", "")
    # The arrow stays beside its parenthesis: a line may be broken between these alone.
    text = f"{name}({', '.join(words)})\N{NO-BREAK SPACE}->\N{NO-BREAK SPACE}{answer}"
    shape = textwrap.fill(text, 94, subsequent_indent="    ", break_long_words=False)
    shape = shape.replace("\N{NO-BREAK SPACE}", " ")
    return f"```python\ndef {shape}: ...\n```\n\n{inspect.cleandoc(function.__doc__)}"


def methods():
    source = inspect.getsource(asynchronous)
    parts = re.split(r"^    # -- (.+)$", source, flags=re.M)
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        names = re.findall(r"^    (?:async )?def ([a-z]\w+)\(", text, re.M)
        if names:
            yield f"### {title.capitalize()}"
            for name in names:
                yield method(name, getattr(synchronous.Risala, name))


def error_lines(kind=errors.RisalaError):
    for each in kind.__subclasses__():
        parents = f"`{each.__name__}`"
        passing = "yes" if each.is_passing else ""
        yield f"| {parents} | {one_line(each.__doc__)} | {each.fault} | {passing} |"
        yield from error_lines(each)


def classes(module):
    return [
        each
        for each in vars(module).values()
        if dataclasses.is_dataclass(each) and each.__module__ == module.__name__
    ]


def page():
    yield HEAD
    yield "### `Retrying`\n"
    yield fields(retrying, retrying.Retrying).replace("| | Type | |", "| | Type | For |")
    yield "\n## Methods\n\n<!-- fmt: off -->\n"
    yield inspect.cleandoc(synchronous.Risala.__doc__) + "\n"
    yield method("within", synchronous.Risala.within) + "\n"
    for part in methods():
        yield part + "\n"
    yield "## What is given and answered\n"
    yield "Frozen dataclasses. What the service answers beyond them is passed over.\n"
    for module, kinds in ((calls, [calls.OutgoingMessage]), (answers, classes(answers))):
        for kind in kinds:
            yield f"### `{kind.__name__}`\n\n{one_line(kind.__doc__)}\n\n{fields(module, kind)}\n"
    yield "## Errors\n"
    tree = errors.__doc__.split("::", 1)[1]
    drawn, _, rest = tree.partition("\n\nEach class")
    yield "<!-- not run: a drawing, which tests/client/test_errors.py holds -->"
    yield f"```text\n{textwrap.dedent(drawn).strip()}\n```\n"
    yield f"Each class{rest}".strip() + "\n"
    yield "`is_maybe_done` says whether the call, or an attempt of it, may have been carried out"
    yield "nevertheless. A `RefusedError` has `status`, `code`, `message`, `data`, `word`"
    yield "(`data.code`), `request_id` and `retry_after_s`, as [the API](http-api.md#errors) has"
    yield "them.\n"
    yield "| | | Whose fault | May pass later |\n|---|---|---|---|"
    yield from error_lines()
    yield "\n## Webhooks\n"
    yield inspect.cleandoc(webhooks.Webhook.__doc__) + "\n"
    yield method("verify", webhooks.Webhook.verify) + "\n"
    yield method("verify_signed", webhooks.Webhook.verify_signed) + "\n"
    yield f"A signature may be {webhooks.TOLERANCE_S} seconds old (`tolerance_s`). Both raise"
    yield "`SignatureError`, and compare in a time that does not tell how much was right. An event"
    yield "of a type that this version does not know is a plain `WebhookEvent`; its `data` has all"
    yield "of it.\n"
    for kind in classes(webhooks):
        own = kind is not webhooks.WebhookEvent
        table = fields(webhooks, kind, own_only=own)
        yield f"### `{kind.__name__}`\n\n{one_line(kind.__doc__)}\n\n{table}\n"


def text():
    """The page: literals of docstrings are code in Markdown."""
    told = re.sub(r"(?<!`)``(?!`)", "`", "\n".join(page()))
    return told.rstrip().replace("\n\n\n", "\n\n") + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), "utf-8")
