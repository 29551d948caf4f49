"""The programs that hooks have a preset for: one file a program in ``presets/``. Pure.

A new program is a file and a test. ``custom`` has no mapping in its file: a hook of it brings the
same table in its own row.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from risala.dataclass import dataclass
from risala.engine.features.hooks.rules.answers import HookAnswerShape
from risala.engine.features.hooks.rules.mapping import HookMapping, MappingError, mapping_of
from risala.engine.features.hooks.rules.requests import HookFault, HookProof

CUSTOM: Final = "custom"
TABLE_CHARACTERS_MAX: Final = 4096
"""A hook's own table, as JSON."""
REPEAT_S_MAX: Final = 3600
_HEADER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_LINE: Final = re.compile(r"[^\x00-\x1f\x7f]{1,80}")
_SUFFIX: Final = re.compile(r"(/[A-Za-z0-9._-]{1,32}){0,6}")


class HookKind(StrEnum):
    """What a program is for: the groups of the gallery."""

    SIGN_IN = "sign-in"
    MONITORING = "monitoring"
    BUSINESS = "business"
    HOME = "home"


@dataclass(frozen=True, slots=True)
class PresetTrial:
    """What a preset was tried with."""

    version: str
    """The version of the program: a release, or a commit."""
    at: str
    """The day, such as ``2026-11-27``."""
    how: Literal["run", "source"]
    """The program itself was run, or its source or documents were read."""


@dataclass(frozen=True, slots=True)
class Preset:
    """How one program calls."""

    name: str
    title: str
    """The program's own name."""
    kind: HookKind
    proofs: tuple[HookProof, ...]
    """The proofs that the program can give; the first is the default."""
    sends: Literal["code", "text"]
    to: Literal["request", "fixed"]
    """Whether the request names the number, or the hook has a list of its own, as for alerts."""
    mapping: HookMapping | None
    """None: of ``custom``, whose hooks bring their own."""
    answer: HookAnswerShape
    header: str = ""
    """The header of a proof that ``has_header``."""
    secret_from: Literal["risala", "program"] = "risala"  # noqa: S105 -- a maker
    """The maker of the secret, who gives it to the other side. It is the program also where
    ``HookProof.is_made_by_program``."""
    secret_prefix: str = ""
    """What stands before the secret where it is pasted: ``v1,``, or ``Bearer `` where the program
    is given a header's whole value. Of proofs by a signature or by bearer; others have none."""
    suffix: str = ""
    """What the program itself adds to the address that it is given."""
    repeat_s: int | None = None
    """The window within which the same number and code or text is the same message, for a program
    that repeats with new ids."""
    tried: PresetTrial | None = None
    """None: a hook's own table."""

    def pasted(self, proof: HookProof, secret: str) -> str:
        """A secret as it is pasted into the program."""
        is_prefixed = proof in (HookProof.BEARER, HookProof.STANDARD_WEBHOOKS)
        return self.secret_prefix + secret if is_prefixed else secret


class PresetError(ValueError):
    """A preset is wrong; the sentence says how."""


@cache
def presets() -> tuple[Preset, ...]:
    """Every preset, by its kind and title."""
    folder = resources.files("risala.engine.features.hooks.rules") / "presets"
    programs = [
        preset_of(each.name.removesuffix(".toml"), tomllib.loads(each.read_text(encoding="utf-8")))
        for each in folder.iterdir()
        if each.name.endswith(".toml")
    ]
    order = [*HookKind]
    return tuple(sorted(programs, key=lambda each: (order.index(each.kind), each.title.lower())))


@cache
def _by_name() -> Mapping[str, Preset]:
    return {each.name: each for each in presets()}


def preset(name: str) -> Preset | None:
    """None: there is none of this name."""
    return _by_name().get(name)


def custom_preset(text: str) -> Preset | HookFault:
    """The preset that a hook brings itself, as JSON: the members of a preset's file, of which
    ``mapping`` must be there."""
    if len(text) > TABLE_CHARACTERS_MAX:
        return HookFault("invalid_mapping", f"It has at most {TABLE_CHARACTERS_MAX} characters.")
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        return HookFault("invalid_mapping", "It must be JSON.")
    if not isinstance(table, dict) or not isinstance(table.get("mapping"), dict):
        return HookFault("invalid_mapping", "It must be an object with the member `mapping`.")
    try:
        return preset_of(CUSTOM, {**_custom_table(), **table})
    except PresetError as error:
        return HookFault("invalid_mapping", str(error))


@cache
def _custom_table() -> Mapping[str, object]:
    place = resources.files("risala.engine.features.hooks.rules") / "presets" / f"{CUSTOM}.toml"
    return tomllib.loads(place.read_text(encoding="utf-8"))


def preset_of(name: str, table: Mapping[str, Any]) -> Preset:
    """A preset as it is written in TOML or JSON.

    Raises:
        PresetError: it is none.
    """
    unknown = sorted(set(table) - _MEMBERS)
    if unknown:
        raise PresetError(f"A preset has no `{unknown[0][:40]}`.")
    to = _one_of(table, "to", ("request", "fixed"))
    mapping = _mapping(table.get("mapping"), to)
    if mapping is None and name != CUSTOM:
        raise PresetError("`mapping` is missing.")
    repeat_s = table.get("repeat_s")
    if repeat_s is not None and (type(repeat_s) is not int or not 0 < repeat_s <= REPEAT_S_MAX):
        raise PresetError(f"`repeat_s` is 1 to {REPEAT_S_MAX} seconds.")
    tried = table.get("tried")
    return Preset(
        name=name,
        title=_text(table, "title"),
        kind=HookKind(_one_of(table, "kind", tuple(HookKind))),
        proofs=_proofs(table),
        sends="code" if _one_of(table, "sends", ("code", "text")) == "code" else "text",
        to="fixed" if to == "fixed" else "request",
        mapping=mapping,
        answer=HookAnswerShape(_one_of(table, "answer", tuple(HookAnswerShape))),
        header=_text(table, "header", "", _HEADER),
        secret_from=(
            "program"
            if _one_of(table, "secret_from", ("risala", "program"), "risala") == "program"
            else "risala"
        ),
        secret_prefix=_text(table, "secret_prefix", ""),
        suffix=_text(table, "suffix", "", _SUFFIX),
        repeat_s=repeat_s,
        tried=None if tried is None else _trial(tried),
    )


_MEMBERS: Final = frozenset(Preset.__slots__) - {"name"}


def _mapping(table: object, to: str) -> HookMapping | None:
    if table is None:
        return None
    if not isinstance(table, dict):
        raise PresetError("`mapping` must be a table.")
    try:
        mapping = mapping_of(table, is_cut=to == "fixed")
    except MappingError as error:
        raise PresetError(str(error)) from None
    if (mapping.to is None) is (to == "request"):
        raise PresetError("`to` of the mapping is there if, and only if, `to` is `request`.")
    return mapping


def _proofs(table: Mapping[str, Any]) -> tuple[HookProof, ...]:
    names = table.get("proofs")
    if not isinstance(names, list) or not names or len({*map(str, names)}) != len(names):
        raise PresetError("`proofs` must be a list.")
    proofs = tuple(
        HookProof(_one_of({"proofs": name}, "proofs", tuple(HookProof))) for name in names
    )
    if any(proof.has_header for proof in proofs) is not bool(table.get("header")):
        raise PresetError("`header` is there if, and only if, one of the proofs needs it.")
    return proofs


def _trial(table: Any) -> PresetTrial:  # noqa: ANN401 -- any JSON
    if not isinstance(table, dict) or set(table) != {"version", "at", "how"}:
        raise PresetError("`tried` has `version`, `at` and `how`.")
    how = _one_of(table, "how", ("run", "source"))
    return PresetTrial(
        _text(table, "version"), str(table["at"]), "run" if how == "run" else "source"
    )


def _one_of(
    table: Mapping[str, Any], name: str, words: tuple[str, ...], default: str | None = None
) -> str:
    word = table.get(name, default)
    if word not in words or not isinstance(word, str):
        raise PresetError(f"`{name}` is one of {', '.join(f'`{each}`' for each in words)}.")
    return word


def _text(
    table: Mapping[str, Any], name: str, default: str | None = None, form: re.Pattern[str] = _LINE
) -> str:
    value = table.get(name, default)
    if not isinstance(value, str) or (value != default and not form.fullmatch(value)):
        raise PresetError(f"`{name}` is missing, or has not the form that it must have.")
    return value
