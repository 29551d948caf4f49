"""Who calls a hook: each way in which a program proves that it has the secret. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from risala.engine.rules.hooks.hook_request import HookFault, HookRequest
from risala.engine.rules.webhooks.signatures import PREFIX, SECRET_BYTES_MAX, SECRET_BYTES_MIN

AGE_S_MAX: Final = 300
"""How far a signature's time may be from ours, either way: five minutes, as the scheme's."""
SIGNATURES_MAX: Final = 16
"""Signatures of one request that are compared; one for each secret that its program knows."""
ID_CHARACTERS_MAX: Final = 256
HEADER_CHARACTERS_MAX: Final = 4096
"""A longer one is of no program; what is compared is bounded."""
_TIME: Final = re.compile(r"[0-9]{1,12}")
_VERSION: Final = "v1,"


class HookProof(StrEnum):
    """How a program proves that it has the hook's secret."""

    STANDARD_WEBHOOKS = "standard-webhooks"
    BEARER = "bearer"
    BASIC = "basic"
    """The password of basic authentication; any user name."""
    HEADER = "header"
    """The value of one named header."""
    PATH = "path"
    """The end of the address: for programs that take an address alone."""

    @property
    def signs(self) -> bool:
        """Whether the program signs: then its secret itself is kept, not a hash."""
        return self is HookProof.STANDARD_WEBHOOKS


@dataclass(frozen=True, slots=True)
class HookSecrets:
    """What is known of a hook's secret, by ``known_of``."""

    current: bytes
    former: bytes | None = None
    """The one before, while it works still."""

    def __repr__(self) -> str:
        return "HookSecrets(…)"


def known_of(proof: HookProof, secret: str) -> bytes | None:
    """What is kept of a secret; None: it has not the form that this proof needs. A signing
    secret may have the prefixes of its program (``v1,whsec_…``)."""
    if not proof.signs:
        return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
    encoded = secret.strip().removeprefix(_VERSION).removeprefix(PREFIX)
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except ValueError:  # also if it is not ASCII
        return None
    return key if SECRET_BYTES_MIN <= len(key) <= SECRET_BYTES_MAX else None


def proof_fault(
    proof: HookProof, known: HookSecrets, request: HookRequest, *, header: str = ""
) -> HookFault | None:
    """Why a request does not prove its caller; None: it does.

    Args:
        header: the name of ``HookProof.HEADER``'s header.
    """
    if proof.signs:
        return _signature_fault(known, request)
    secret = _shown_secret(proof, request, header.lower())
    if not secret:
        return HookFault("no_proof", _NO_PROOF[proof].format(header=header))
    given = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
    if _is_known(given, known):
        return None
    return HookFault("wrong_secret", "The secret is not this hook's.")


_NO_PROOF: Final = {
    HookProof.BEARER: "The header `Authorization: Bearer …` is missing.",
    HookProof.BASIC: "The header `Authorization: Basic …` is missing, or has no password.",
    HookProof.HEADER: "The header `{header}` is missing.",
    HookProof.PATH: "The address ends without the hook's secret.",
}


def _shown_secret(proof: HookProof, request: HookRequest, header: str) -> str | None:
    """The secret that a request brings; None if there is none."""
    if proof is HookProof.PATH:
        return request.path_secret
    if proof is HookProof.HEADER:
        return request.headers.get(header, "")[:HEADER_CHARACTERS_MAX]
    given = request.headers.get("authorization", "")[:HEADER_CHARACTERS_MAX].strip()
    scheme, _, rest = given.partition(" ")
    if proof is HookProof.BEARER:
        # Some programs send what was typed, without the scheme.
        return rest.strip() if scheme.lower() == "bearer" else given
    if scheme.lower() != "basic":
        return None
    try:
        pair = base64.b64decode(rest.strip(), validate=True).decode()
    except ValueError:  # no base64, or no Unicode
        return None
    return pair.partition(":")[2]


def _is_known(given: bytes, known: HookSecrets) -> bool:
    """In a time that says nothing of how near a guess is."""
    former = known.current if known.former is None else known.former
    is_current = hmac.compare_digest(given, known.current)
    is_former = hmac.compare_digest(given, former)
    return is_current or is_former


def _signature_fault(known: HookSecrets, request: HookRequest) -> HookFault | None:
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    request_id, written_at, signatures = (request.headers.get(name, "") for name in names)
    if not request_id or not written_at or not signatures:
        sentence = f"The headers `{names[0]}`, `{names[1]}` and `{names[2]}` are needed."
        return HookFault("no_proof", sentence)
    if len(request_id) > ID_CHARACTERS_MAX or not _TIME.fullmatch(written_at):
        return HookFault("wrong_signature", "The headers of the signature have not their form.")
    told = b".".join((request_id.encode("utf-8", "replace"), written_at.encode(), request.body))
    keys = (known.current, known.current if known.former is None else known.former)
    marks = [hmac.new(key, told, hashlib.sha256).digest() for key in keys]
    is_signed = False
    for given in _signatures(signatures):
        for mark in marks:
            is_signed |= hmac.compare_digest(given, mark)
    if not is_signed:
        return HookFault("wrong_signature", "No signature is made with this hook's secret.")
    if abs(request.at_s - int(written_at)) > AGE_S_MAX:
        sentence = "The signature's time is more than five minutes from ours: check both clocks."
        return HookFault("wrong_time", sentence)
    return None


def _signatures(header: str) -> Iterator[bytes]:
    """The signatures of version 1, separated by spaces, or by a comma and a space."""
    for each in header[:HEADER_CHARACTERS_MAX].split()[:SIGNATURES_MAX]:
        if each.startswith(_VERSION):
            try:
                yield base64.b64decode(each[len(_VERSION) :].rstrip(","), validate=True)
            except (binascii.Error, ValueError):
                continue
