"""The certificate of an https address: read at the start, and again when it was renewed."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

import structlog

from risala.http.server.sockets import ListenError

log = structlog.get_logger("risala.http")

_CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""The ciphers of TLS 1.2: those with forward secrecy (a stolen key decrypts no recorded connection)
and authenticated encryption. Clients of the last ten years have one. TLS 1.3 has its own."""
_ENCRYPTED: Final = b"ENCRYPTED"
"""A word in the PEM of a key with a password; OpenSSL would ask the terminal for the password."""


class ServerTls:
    """Holds the context that new connections begin with; open connections keep theirs."""

    def __init__(self, certificate: Path, key: Path | None) -> None:
        """``key`` may stand in the certificate's file.

        Raises:
            ListenError: a file cannot be used.
        """
        self._certificate = certificate
        self._key = key
        self._context = _context(certificate, key)

    @property
    def context(self) -> ssl.SSLContext:
        return self._context

    def reload(self) -> None:
        """Read the files again; if they cannot be used, log it and keep the certificate in use."""
        try:
            self._context = _context(self._certificate, self._key)
        except ListenError as error:
            log.error("certificate.refused", text=f"{error} The one before is kept.")
        else:
            log.info("certificate.read")


def _context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # A renegotiation costs the server far more than the client, and nobody needs one.
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    content = b""
    for setting, path in (("tls_certificate", certificate), ("tls_key", key)):
        try:
            if path is not None:
                content = path.read_bytes()
        except OSError as error:
            raise ListenError(f"http.{setting} {path} cannot be read: {error.strerror}.") from error
    files = f"http.tls_certificate {certificate}" + (f" with http.tls_key {key}" if key else "")
    if _ENCRYPTED in content:
        raise ListenError(f"{files} cannot be used: the key has a password; take it off.")
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ValueError) as error:
        raise ListenError(f"{files} cannot be used: {_why(error)}.") from error
    return context


def _why(error: Exception) -> str:
    reason = error.reason if isinstance(error, ssl.SSLError) else None
    known = {
        "KEY_VALUES_MISMATCH": "the key is another certificate's",
        "EE_KEY_TOO_SMALL": "its key is too small (RSA needs 2048 bits)",
        "CA_MD_TOO_WEAK": "it is signed with SHA-1 or MD5",
    }
    return known.get(reason or "", "there must be a certificate and its key in PEM")
