"""An authenticator in software: makes passkeys, and signs with them, as a browser hands it over."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
"""Flags of authenticator data: WebAuthn, section 6.1."""


def text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def octets(data: str) -> bytes:
    return urlsafe_b64decode(data + "=" * (-len(data) % 4))


@dataclass
class Authenticator:
    """One passkey, which counts its signatures."""

    origin: str = "https://sms.example"
    counter: int = 0
    flags: int = PRESENT | VERIFIED
    handle: bytes = b""
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    credential: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def make(self, question: str) -> str:
        """The answer to what makes a passkey."""
        asked = json.loads(question)
        self.handle = octets(asked["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        x, y = (each.to_bytes(32, "big") for each in (numbers.x, numbers.y))
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        size = len(self.credential).to_bytes(2, "big")
        attested = bytes(16) + size + self.credential + public
        data = self._data(asked["rp"]["id"], self.flags | ATTESTED) + attested
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", asked["challenge"])
        return self._answer({"clientDataJSON": text(client), "attestationObject": text(made)})

    def show(self, question: str) -> str:
        """The answer to what asks for a passkey."""
        asked = json.loads(question)
        self.counter += 1
        data, client = (
            self._data(asked["rpId"], self.flags),
            self._client("webauthn.get", asked["challenge"]),
        )
        signed = data + hashlib.sha256(client).digest()
        response = {
            "clientDataJSON": text(client),
            "authenticatorData": text(data),
            "signature": text(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
            "userHandle": text(self.handle),
        }
        return self._answer(response)

    def _data(self, host: str, flags: int) -> bytes:
        digest = hashlib.sha256(host.encode()).digest()
        return digest + bytes([flags]) + self.counter.to_bytes(4, "big")

    def _client(self, kind: str, challenge: str) -> bytes:
        told = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(told).encode()

    def _answer(self, response: dict[str, str]) -> str:
        named = text(self.credential)
        told = {"id": named, "rawId": named, "type": "public-key", "response": response}
        return json.dumps({**told, "clientExtensionResults": {}})
