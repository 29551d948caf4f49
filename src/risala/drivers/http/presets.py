"""The presets, one file an aggregator in ``presets/``, and a carrier's own tables over them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, Protocol

from pydantic import SecretStr, ValidationError

from risala.drivers.http.proving import key_of
from risala.drivers.http.shape import ProofShape, Shape
from risala.drivers.http.templates import faults_of, holes_of
from risala.drivers.http.words import DEFAULT_STATUSES

MESSAGES: Final = "presets"
"""The folder of presets that send messages."""
CALLS: Final = "presets/calls"
"""The folder of those that call."""
TABLES: Final = ("auth", "send", "answer", "receipt", "inbound", "proof", "query", "look")
"""Tables of a preset that a carrier's settings may override, field by field."""


class PresetSettings(Protocol):
    """What of a carrier's settings its preset is read with, beside the tables themselves."""

    @property
    def folder(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def values(self) -> dict[str, str]: ...
    @property
    def secret_address(self) -> SecretStr: ...
    @property
    def submit_s(self) -> float: ...


class ShapeError(ValueError):
    """A preset, or what the settings make of it, cannot be used; the sentence says why."""


@cache
def names(folder: str = MESSAGES) -> tuple[str, ...]:
    """The names of all presets for messages, or for calls."""
    there = files("risala.drivers.http") / folder
    stems = [each.name for each in there.iterdir() if each.name.endswith(".toml")]
    return tuple(sorted(name.removesuffix(".toml") for name in stems))


@cache
def table_of(name: str, folder: str = MESSAGES) -> Mapping[str, Any]:
    """A preset as its file has it.

    Raises:
        ShapeError: there is none of this name.
    """
    known = names(folder)
    if name not in known:
        raise ShapeError(f"there is no preset {name!r}; there are {', '.join(known)}")
    place = files("risala.drivers.http") / folder / f"{name}.toml"
    return tomllib.loads(place.read_text(encoding="utf-8"))


def preset(name: str, folder: str = MESSAGES) -> Shape:
    """A preset by itself, as ``risala carriers presets`` lists it.

    Raises:
        ShapeError: there is none of this name, or its file is wrong.
    """
    return _checked(dict(table_of(name, folder)), f"the preset {name}")


def shape_of(settings: PresetSettings) -> Shape:
    """How the API of a carrier is called.

    Raises:
        ShapeError: with every fault, each with the field that has it.
    """
    table = dict(table_of(settings.preset, settings.folder)) if settings.preset else {}
    for name in TABLES:
        if own := getattr(settings, name):
            table[name] = _over(table.get(name, {}), own)
    if settings.url:
        table["url"] = settings.url
    shape = _checked(table, "these settings")
    faults = [*_faults(shape, settings)]
    if faults:
        raise ShapeError("; ".join(dict.fromkeys(faults)))
    return shape


def _over(under: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A table with another one laid over it; an empty text or table takes a member away."""
    merged = dict(under)
    for name, value in own.items():
        below = merged.get(name)
        if isinstance(value, Mapping) and isinstance(below, Mapping) and value:
            merged[name] = _over(below, value)
        else:
            merged[name] = value
    return merged


def _checked(table: dict[str, Any], whose: str) -> Shape:
    answer = dict(table.get("answer", {}))
    if isinstance(answer.get("statuses", {}), Mapping):
        answer["statuses"] = {**DEFAULT_STATUSES, **answer.get("statuses", {})}
        table = {**table, "answer": answer}
    try:
        return Shape.model_validate(table)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise ShapeError("; ".join(_sentence(each, whose) for each in details)) from None


def _sentence(detail: Any, whose: str) -> str:  # noqa: ANN401 -- pydantic's own
    field = ".".join(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        return f"{whose}: there is no field `{field}`; take it away"
    text = detail["msg"].removeprefix("Value error, ")
    return f"{whose}: `{field}`: {text[:1].lower()}{text[1:]}"


def _faults(shape: Shape, settings: PresetSettings) -> Iterator[str]:
    """What is missing, or fits nothing, though each field by itself is right."""
    for name in shape.needs:
        kind, _, key = name.partition(".")
        setting = settings.values.get(key) if kind == "values" else getattr(settings, name, None)
        if not (setting if isinstance(setting, str | None) else setting.get_secret_value()):
            yield f"the preset needs `{name}`; add it"
    if not shape.url:
        yield "`url` is missing; add the address of the API"
    if not shape.send.fields and not shape.send.path:
        yield "`send` is missing; add how a message is sent, or name a `preset`"
    elif not {"to", "to_digits"} & _send_holes(shape) or "text" not in _send_holes(shape):
        yield "`send` does not say where the number and the text go: use `{to}` and `{text}`"
    yield from _id_faults(shape)
    if (shape.answer.own_id or shape.send.once) and "id" not in _send_holes(shape):
        yield "`send` must hold `{id}`, by which the carrier knows the message again"
    if bool(shape.send.once) != bool(shape.send.once_s):
        yield "`send.once` and `send.once_s` belong together: a key, and how long it is known"
    elif shape.send.once and shape.send.once_s <= settings.submit_s:
        yield f"`send.once_s` must be more than {settings.submit_s:g}: as long as a submit takes"
    yield from _holes(shape, settings)
    yield from _auth_faults(shape)
    yield from _heard_faults(shape, settings)


def _id_faults(shape: Shape) -> Iterator[str]:
    answer = shape.answer
    if answer.no_id and (answer.own_id or answer.id is not None or shape.receipt is not None):
        yield "`answer.no_id` is for a carrier without ids and receipts; take one of them away"
    elif answer.id is None and not answer.own_id and not answer.no_id:
        yield "`answer.id` is missing; say where the carrier's id is, or set `answer.own_id`"


def _send_holes(shape: Shape) -> set[str]:
    send = shape.send
    return holes_of(send.fields) | holes_of(send.path) | holes_of({**send.headers})


def _holes(shape: Shape, settings: PresetSettings) -> Iterator[str]:
    values = settings.values
    written: dict[str, object] = {
        "auth.value": shape.auth.value,
        "auth.fields": shape.auth.fields,
        "send.path": shape.send.path,
        "send.fields": shape.send.fields,
        "send.headers": {**shape.send.headers},
        "query.path": shape.query.path,
        "query.fields": shape.query.fields,
        "look.path": shape.look.path,
        "look.fields": shape.look.fields,
    }
    for name in ("receipt", "inbound"):
        if (heard := getattr(shape, name)) is not None:
            written[f"{name}.poll.path"] = heard.poll.path
    for name, template in written.items():
        yield from (f"`{name}` {fault}" for fault in faults_of(template, values))


def _auth_faults(shape: Shape) -> Iterator[str]:
    auth = shape.auth
    if auth.kind in ("header", "query", "hmac") and not (auth.name and auth.value):
        yield f"`auth` of the kind `{auth.kind}` needs `name` and `value`"
    if auth.kind in ("oauth2", "login") and not auth.path:
        yield "`auth.path` is missing: where a token is asked for"
    if auth.kind == "login" and not (auth.fields and auth.token):
        yield "`auth` of the kind `login` needs `fields` and `token`"
    known = ("method", "path", "body", "time", "id")
    if bad := [each for each in auth.parts if each not in known and not each.startswith("=")]:
        yield f"`auth.parts` has no `{bad[0][:40]}`"


def _heard_faults(shape: Shape, settings: PresetSettings) -> Iterator[str]:
    receipt, inbound, proof = shape.receipt, shape.inbound, shape.proof
    if receipt is not None and (receipt.id is None or receipt.word is None):
        yield "`receipt` needs `id` and `word`"
    if inbound is not None and (inbound.sender is None or inbound.text is None):
        yield "`inbound` needs `sender` and `text`"
    heard = [each for each in (receipt, inbound) if each is not None]
    if len({each.path for each in heard}) < len(heard) and any(each.kind is None for each in heard):
        yield "`receipt.path` and `inbound.path` are the same, and no `kind` tells them apart"
    if proof.kind == "hmac":
        secret = getattr(settings, proof.secret).get_secret_value()
        if not secret:
            yield f"`{proof.secret}` is missing: the carrier signs its calls with it"
        elif not _is_key(proof, secret):
            yield f"`{proof.secret}` is no base64 behind `whsec_`; paste it whole"
        if not proof.header:
            yield "`proof.header` is missing: the header that has the signature"
        if "url" in proof.parts and not settings.secret_address.get_secret_value():
            yield "`secret_address` is missing: the signature is over our own address"
    known = ("url", "body", "sorted_form")
    for each in proof.parts:
        if each not in known and not each.startswith(("=", "header:")):
            yield f"`proof.parts` has no `{each[:40]}`"


def _is_key(proof: ProofShape, secret: str) -> bool:
    try:
        return bool(key_of(proof, secret))
    except ValueError:
        return False
