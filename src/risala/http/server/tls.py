"""The certificate of an https address: read at the start, and again when it was renewed."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog

from risala.config.secrets import key_fault
from risala.engine.model.clock import Clock, SystemClock
from risala.engine.model.times import iso
from risala.http.server.sockets import ListenError

log = structlog.get_logger("risala.http")

_CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""The ciphers of TLS 1.2: those with forward secrecy (a stolen key decrypts no recorded connection)
and authenticated encryption. Clients of the last ten years have one. TLS 1.3 has its own."""
_ENCRYPTED: Final = b"ENCRYPTED"
"""A word in the PEM of a key with a password; OpenSSL would ask the terminal for the password."""

_WARN_DAYS: Final = 14
"""ACME clients renew a certificate of 90 days when 30 are left; fewer mean that this has failed."""
_DAY_MS: Final = 86_400_000


class ServerTls:
    """Holds the context that new connections begin with; open connections keep theirs."""

    def __init__(
        self,
        certificate: Path,
        key: Path | None,
        clock: Clock | None = None,
        *,
        section: str = "http",
    ) -> None:
        """``key`` may be in the certificate's file; ``section`` is the settings' section that names
        both.

        Raises:
            ListenError: a file cannot be used.
        """
        self._certificate = certificate
        self._key = key
        self._clock = clock or SystemClock()
        self._section = section
        self._context = _context(certificate, key, section)
        self._ends_at = ends_at(certificate)
        self._look_at = 0
        """When to look again whether the certificate ends soon."""
        self._warn_of_end()
        self._look_at_key()

    @property
    def context(self) -> ssl.SSLContext:
        """The TLS object of a new connection."""
        if self._clock.now_ms() >= self._look_at:
            self._warn_of_end()
        return self._context

    def reload(self) -> None:
        """Read the files again; if they cannot be used, log it and keep the certificate in use."""
        try:
            self._context = _context(self._certificate, self._key, self._section)
        except ListenError as error:
            log.error("certificate.refused", text=f"{error} The previous one stays in use.")
            return
        self._ends_at = ends_at(self._certificate)
        log.info("certificate.read", ends_at=self._ends_at and iso(self._ends_at))
        self._warn_of_end()
        self._look_at_key()

    def _look_at_key(self) -> None:
        if fault := key_fault(self._key or self._certificate):
            log.warning("certificate.key", text=fault)

    def _warn_of_end(self) -> None:
        """Warn once a day while the certificate is in its last days, or over."""
        now_ms = self._clock.now_ms()
        self._look_at = now_ms + _DAY_MS
        if self._ends_at is not None and now_ms >= self._ends_at - _WARN_DAYS * _DAY_MS:
            text = "Renew the certificate, then send SIGHUP. Clients refuse an expired one."
            log.warning("certificate.ends", ends_at=iso(self._ends_at), text=text)


def _context(certificate: Path, key: Path | None, section: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # A renegotiation costs the server far more than the client, and has no use.
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_ciphers(_CIPHERS)
    if section == "http":
        context.set_alpn_protocols(["http/1.1"])
    content = b""
    for setting, path in (("tls_certificate", certificate), ("tls_key", key)):
        try:
            if path is not None:
                content = path.read_bytes()
        except OSError as error:
            sentence = f"{section}.{setting} {path} cannot be read: {error.strerror}."
            raise ListenError(sentence) from error
    files = f"{section}.tls_certificate {certificate}"
    files += f" with {section}.tls_key {key}" if key else ""
    if _ENCRYPTED in content:
        raise ListenError(f"{files} cannot be used: the key has a password. Remove the password.")
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ValueError) as error:
        raise ListenError(f"{files} cannot be used: {_why(error)}.") from error
    return context


def _why(error: Exception) -> str:
    reason = error.reason if isinstance(error, ssl.SSLError) else None
    known = {
        "KEY_VALUES_MISMATCH": "the key belongs to another certificate",
        "EE_KEY_TOO_SMALL": "its key is too small (RSA needs 2048 bits)",
        "CA_MD_TOO_WEAK": "it is signed with SHA-1 or MD5",
    }
    return known.get(reason or "", "there must be a certificate and its key in PEM")


def ends_at(certificate: Path) -> int | None:
    """When a file's first certificate ends, in UTC epoch milliseconds; None: unknown.

    Python's ``ssl`` reports it only for a peer's certificate. It is the second time of
    ``tbsCertificate.validity`` (RFC 5280 §4.1).
    """
    pem = certificate.read_text(encoding="utf-8", errors="replace")
    try:
        begin = pem.index(_BEGIN)
        der = ssl.PEM_cert_to_DER_cert(pem[begin : pem.index(_END, begin) + len(_END)])
        (_, whole), *_ = _elements(der)
        (_, signed), *_ = _elements(whole)
        fields = [content for tag, content in _elements(signed) if tag != _VERSION]
        # The fourth field, after the serial number, the algorithm and the issuer.
        (_, (tag, end)) = _elements(fields[3])
        form = "%y%m%d%H%M%SZ" if tag == _UTC_TIME else "%Y%m%d%H%M%SZ"
        moment = datetime.strptime(end.decode(), form).replace(tzinfo=UTC)
    except (ValueError, IndexError):
        return None  # a form that OpenSSL accepts and this parser does not
    return int(moment.timestamp() * 1000)


_BEGIN: Final = "-----BEGIN CERTIFICATE-----"
_END: Final = "-----END CERTIFICATE-----"
_VERSION: Final = 0xA0
"""The tag of the version, the one field that may be missing before the others."""
_UTC_TIME: Final = 0x17


def _elements(der: bytes) -> Iterator[tuple[int, bytes]]:
    """The elements of DER, one after another: tag and content."""
    at = 0
    while at < len(der):
        tag, size, at = der[at], der[at + 1], at + 2
        if size >= 0x80:  # so many octets of length follow
            size, at = int.from_bytes(der[at : at + (size & 0x7F)], "big"), at + (size & 0x7F)
        yield tag, der[at : at + size]
        at += size
