"""A program's request to a hook, what is read of it, what is wrong with it, and each way in which a
program proves that it has the secret. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
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


@dataclass(frozen=True, slots=True)
class HookRequest:
    """One request. Its words may be codes and texts, its headers a secret: so it prints nothing."""

    method: str
    query: str
    """The address's query as it came, with its escapes."""
    headers: Mapping[str, str]
    """Names in small letters."""
    body: bytes
    content_type: str
    """The header's value; empty if there is none."""
    path_secret: str | None
    """The part of the path behind the hook's id."""
    at_s: int
    """When it came, in seconds since 1970."""
    suffix: str = ""
    """What follows in the path: must be the preset's ``suffix``."""

    def __repr__(self) -> str:
        return f"HookRequest({self.method}, {len(self.body)} bytes)"


@dataclass(frozen=True, slots=True)
class HookMessage:
    """One message that a request asks for, in the program's words."""

    to: str | None
    """The number as the program writes it; None: the mapping has none, and the hook's are taken."""
    text: str | None
    code: str | None
    """None beside a text: that has the code in it, if there is any. Never both None."""
    sender: str | None = None
    reference: str | None = None
    """The program's own name for the message; an answer may repeat it."""
    locale: str | None = None
    """``en``, ``fr`` or ``ar``; None: the program says none of these."""
    once: str | None = None
    """Requests with the same are one message."""

    def __repr__(self) -> str:
        return "HookMessage(…)"


@dataclass(frozen=True, slots=True)
class HookFault:
    """Why a request sends nothing."""

    code: str
    """One word for programs, such as ``missing_field``."""
    sentence: str
    """What its administrator reads. It names fields, and never has their values."""


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
    TIMED_SIGNATURE = "timed-signature"
    """``t=…,v1=…`` in one named header: HMAC-SHA256 in hex of time, dot and body."""
    BODY_SIGNATURE = "body-signature"
    """HMAC-SHA256 of the body in hex in one named header. It has no time: who has seen a request
    can repeat it, and the message is told apart by its own id alone."""

    @property
    def signs(self) -> bool:
        """Whether the program signs: then its secret itself is kept, not a hash."""
        return self in _SIGNING

    @property
    def is_made_by_program(self) -> bool:
        """Whether the program itself makes the secret, and takes none."""
        return self in (HookProof.TIMED_SIGNATURE, HookProof.BODY_SIGNATURE)

    @property
    def has_header(self) -> bool:
        """Whether it is in a header that a preset names."""
        return self in _IN_A_HEADER


_SIGNING: Final = {
    HookProof.STANDARD_WEBHOOKS,
    HookProof.TIMED_SIGNATURE,
    HookProof.BODY_SIGNATURE,
}
_IN_A_HEADER: Final = {HookProof.HEADER, HookProof.TIMED_SIGNATURE, HookProof.BODY_SIGNATURE}


@dataclass(frozen=True, slots=True)
class HookSecrets:
    """What is known of a hook's secret, by ``known_of``."""

    current: bytes
    former: bytes | None = None
    """The one before, while it works still."""

    def __repr__(self) -> str:
        return "HookSecrets(…)"


def known_of(proof: HookProof, secret: str) -> bytes | None:
    """What is kept of a secret; None: it has not the form that this proof needs. A secret of
    Standard Webhooks may have the prefixes of its program (``v1,whsec_…``)."""
    stripped = secret.strip()
    if not proof.signs:
        return (
            hashlib.sha256(stripped.encode("utf-8", "surrogatepass")).digest() if stripped else None
        )
    key = _decoded(stripped) if proof is HookProof.STANDARD_WEBHOOKS else _octets(stripped)
    return key if key is not None and SECRET_BYTES_MIN <= len(key) <= SECRET_BYTES_MAX else None


def _decoded(secret: str) -> bytes | None:
    encoded = secret.removeprefix(_VERSION).removeprefix(PREFIX)
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except ValueError:  # also if it is not ASCII
        return None


def _octets(secret: str) -> bytes | None:
    try:
        return secret.encode()
    except UnicodeEncodeError:  # half a pair of surrogates, which no program can sign with
        return None


def proof_fault(
    proof: HookProof, known: HookSecrets, request: HookRequest, *, header: str = ""
) -> HookFault | None:
    """Why a request does not prove its caller; None: it does.

    Args:
        header: the name of the header, for a proof that ``has_header``.
    """
    if proof is HookProof.STANDARD_WEBHOOKS:
        return _webhook_fault(known, request)
    if proof.signs:
        return _header_fault(proof, known, request, header)
    secret = _shown_secret(proof, request, header.lower())
    if not secret:
        return HookFault("no_proof", _NO_PROOF[proof].format(header=header))
    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
    if _is_known(digest, known):
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
    authorization = request.headers.get("authorization", "")[:HEADER_CHARACTERS_MAX].strip()
    scheme, _, rest = authorization.partition(" ")
    if proof is HookProof.BEARER:
        # Some programs send what was typed, without the scheme.
        return rest.strip() if scheme.lower() == "bearer" else authorization
    if scheme.lower() != "basic":
        return None
    try:
        pair = base64.b64decode(rest.strip(), validate=True).decode()
    except ValueError:  # no base64, or no Unicode
        return None
    return pair.partition(":")[2]


def _is_known(digest: bytes, known: HookSecrets) -> bool:
    """Whether a secret is known, in a time that says nothing of how near a guess is."""
    former = known.current if known.former is None else known.former
    is_current = hmac.compare_digest(digest, known.current)
    is_former = hmac.compare_digest(digest, former)
    return is_current or is_former


def _webhook_fault(known: HookSecrets, request: HookRequest) -> HookFault | None:
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    request_id, written_at, signatures = (request.headers.get(name, "") for name in names)
    if not request_id or not written_at or not signatures:
        sentence = f"The headers `{names[0]}`, `{names[1]}` and `{names[2]}` are needed."
        return HookFault("no_proof", sentence)
    if len(request_id) > ID_CHARACTERS_MAX or not _TIME.fullmatch(written_at):
        return _WRONG_FORM
    content = b".".join((request_id.encode("utf-8", "replace"), written_at.encode(), request.body))
    if not _is_signed(content, known, [*_signatures(signatures)]):
        return _WRONG_SIGNATURE
    return _time_fault(request, int(written_at))


def _header_fault(
    proof: HookProof, known: HookSecrets, request: HookRequest, header: str
) -> HookFault | None:
    """Why a signature in one header is not the secret's."""
    signature = request.headers.get(header.lower(), "")[:HEADER_CHARACTERS_MAX].strip()
    if not signature:
        return HookFault("no_proof", _NO_PROOF[HookProof.HEADER].format(header=header))
    if proof is HookProof.BODY_SIGNATURE:
        is_signed = _is_signed(request.body, known, [*_hex([signature])])
        return None if is_signed else _WRONG_SIGNATURE
    pairs = [each.strip().partition("=") for each in signature.split(",")[: SIGNATURES_MAX + 1]]
    written_at = next((value for name, _, value in pairs if name == "t"), "")
    if not _TIME.fullmatch(written_at):
        return _WRONG_FORM
    marks = [*_hex([value for name, _, value in pairs if name == "v1"])]
    if not _is_signed(written_at.encode() + b"." + request.body, known, marks):
        return _WRONG_SIGNATURE
    return _time_fault(request, int(written_at))


def _is_signed(content: bytes, known: HookSecrets, signatures: Sequence[bytes]) -> bool:
    """Whether one of the signatures is made with one of the secrets."""
    keys = (known.current, known.current if known.former is None else known.former)
    marks = [hmac.new(key, content, hashlib.sha256).digest() for key in keys]
    is_signed = False
    for each in signatures:
        for mark in marks:
            is_signed |= hmac.compare_digest(each, mark)
    return is_signed


def _time_fault(request: HookRequest, signed_at_s: int) -> HookFault | None:
    if abs(request.at_s - signed_at_s) <= AGE_S_MAX:
        return None
    sentence = "The signature's time is more than five minutes from ours: check both clocks."
    return HookFault("wrong_time", sentence)


_WRONG_FORM: Final = HookFault("wrong_signature", "The signature has the wrong format.")
_WRONG_SIGNATURE: Final = HookFault(
    "wrong_signature", "No signature is made with this hook's secret."
)


def _hex(written: Sequence[str]) -> Iterator[bytes]:
    for each in written:
        try:
            yield bytes.fromhex(each)
        except ValueError:
            continue


def _signatures(header: str) -> Iterator[bytes]:
    """The signatures of version 1, separated by spaces, or by a comma and a space."""
    for each in header[:HEADER_CHARACTERS_MAX].split()[:SIGNATURES_MAX]:
        if each.startswith(_VERSION):
            try:
                yield base64.b64decode(each[len(_VERSION) :].rstrip(","), validate=True)
            except ValueError:
                continue
