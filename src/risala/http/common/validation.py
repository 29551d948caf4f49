"""Bodies of requests: validated whole, every fault at once, in the API's words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from risala.http.common.parse import character_faults, has_escapes, read_object
from risala.http.common.problems import BodyIssue, bad_body
from risala.http.common.unknown_members import likely, note_unknown


class RequestBody(BaseModel):
    """Unknown members are ignored; nothing is coerced; nothing submitted is in an error's text."""

    model_config = ConfigDict(
        strict=True, extra="ignore", frozen=True, hide_input_in_errors=True, defer_build=True
    )

    def given(self) -> dict[str, Any]:
        """The values that are given, by the names of operations' arguments."""
        values = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {name: value for name, value in values if value is not None}


Body = TypeVar("Body", bound=RequestBody)


# Our codes by pydantic's. Ours are part of the API: clients may depend on them.
_CODES: Final = {
    "missing": "required",
    "string_type": "not_a_string",
    "string_unicode": "invalid_characters",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
    "dict_type": "not_an_object",
    "too_long": "too_many_entries",
    "int_type": "not_an_integer",
    "bool_type": "not_a_flag",
    "list_type": "not_a_list",
    "greater_than_equal": "too_small",
    "less_than_equal": "too_large",
}


_SENTENCES: Final = {
    "required": "`{name}` is required.",
    "not_a_string": "`{name}` must be a string.",
    "invalid_characters": "NUL and lone surrogates are not allowed.",
    "too_short": "`{name}` must have at least {least} character(s).",
    "too_long": "`{name}` must have at most {most} characters.",
    "not_an_object": "`{name}` must be an object.",
    "too_many_entries": "`{name}` must have at most {most} entries.",
    "not_an_integer": "`{name}` must be a whole number.",
    "not_a_flag": "`{name}` must be true or false.",
    "not_a_list": "`{name}` must be a list.",
    "too_small": "`{name}` must be at least {least}.",
    "too_large": "`{name}` must be at most {most}.",
}


def parse_body(model: type[Body], raw: bytes, context: object = None) -> Body:
    """Validate a body.

    Args:
        context: what its members are compared with.

    Raises:
        Problem: 400 with every fault at once.
    """
    return validate(model, read_object(raw), escapes=has_escapes(raw), context=context)


def validate(
    model: type[Body], members: dict[str, Any], *, escapes: bool, context: object = None
) -> Body:
    """A JSON object as a model.

    Args:
        escapes: whether its text may hold characters that :func:`character_faults` refuses.

    Raises:
        Problem: 400 with every fault at once.
    """
    known = names_of(model)
    if not members.keys() <= known:
        note_unknown(name for name in members if name not in known)
    issues = character_faults(members, known) if escapes else []
    try:
        body = model.model_validate(members, context=context)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)
        raise bad_body(issues + _issues(details, issues, members, known)) from None
    if issues:
        raise bad_body(issues)
    return body


@cache
def names_of(model: type[RequestBody]) -> frozenset[str]:
    """The members that a body may have, as clients write them."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


def _issues(
    details: Iterable[ErrorDetails],
    earlier: list[BodyIssue],
    members: dict[str, Any],
    known: frozenset[str],
) -> list[BodyIssue]:
    """One issue for each member without one."""
    paths = {issue.path for issue in earlier}
    issues = []
    for detail in details:
        # Names within a member of ours (`metadata`) are the client's own text: not repeated.
        path = tuple(part for part in detail["loc"][:1] if part in known)
        if path not in paths:
            paths.add(path)
            issues.append(_with_likely(_issue(path, detail), members, known))
    return issues


def _with_likely(issue: BodyIssue, members: dict[str, Any], known: frozenset[str]) -> BodyIssue:
    """An issue of a missing member that names the given one which probably stands for it."""
    if issue.code != "required" or len(issue.path) != 1:
        return issue
    similar = likely(str(issue.path[0]), members, known)
    if similar is None:
        return issue
    text = f"{issue.message} The request has `{similar}` instead, which is not read."
    return BodyIssue(issue.path, issue.code, text)


def _issue(path: tuple[str | int, ...], detail: ErrorDetails) -> BodyIssue:
    kind = detail["type"]
    if kind == "string_type" and detail["input"] is None and len(detail["loc"]) == 1:
        kind = "missing"  # a member that is null counts as left out
    code = _CODES.get(kind)
    if code is None:
        return BodyIssue(path, kind, detail["msg"])
    context: dict[str, Any] = detail.get("ctx", {})
    name = ".".join(map(str, path)) or "body"
    if len(detail["loc"]) > 1:
        name = f"{name}.*"
    sentence = _SENTENCES[code].format(
        name=name,
        least=context.get("min_length", context.get("ge")),
        most=context.get("max_length", context.get("le")),
    )
    return BodyIssue(path, code, sentence)
