"""TLS to the carrier, and its failures, in the operator's words."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from risala.drivers.smpp.settings import SmppSettings

ALERT: Final = b"\x15\x03"
"""The first octets of a TLS alert, which a TLS port answers plain octets with (RFC 8446 §5.1)."""
PLAIN_PORT: Final = "Ask the carrier for its TLS port, or set tls = false."


class TlsError(Exception):
    """TLS failed; ``str()`` is a sentence for the operator.

    ``is_ours`` is True where only our own side can mend it: settings, files, a certificate to
    trust.
    """

    def __init__(self, text: str, *, is_ours: bool = False) -> None:
        super().__init__(text)
        self.is_ours = is_ours


def client_context(settings: SmppSettings) -> ssl.SSLContext:
    """The trusted certificates and our own. The files are read at each call, so that renewed
    certificates take effect at the next connection.

    Raises:
        TlsError: a file cannot be used.
    """
    ca_file, cert_file, key_file = (
        settings.tls_ca_file,
        settings.tls_cert_file,
        settings.tls_key_file,
    )
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as fault:
        text = f"The certificates to trust cannot be read: tls_ca_file {ca_file} {_file(fault)}."
        raise TlsError(text, is_ours=True) from None
    if cert_file is None:
        return context
    try:
        # A password is always given, if an empty one: without it OpenSSL would ask the terminal.
        password = settings.tls_key_password.get_secret_value()
        context.load_cert_chain(cert_file, key_file, password)
    except OSError as fault:
        text = f"Our client certificate cannot be used: {_pair(fault, settings)}."
        raise TlsError(text, is_ours=True) from None
    return context


def why(peer: str, fault: ssl.SSLError, settings: SmppSettings) -> TlsError:
    """The meaning of a fault of TLS, during the handshake or after it, in the operator's words."""
    if isinstance(fault, ssl.SSLCertVerificationError):
        return _distrust(peer, fault, settings)
    reason = fault.reason or "no reason was given"
    if reason in _NOT_TLS:
        return TlsError(f"{peer} does not use TLS on this port. {PLAIN_PORT}")
    _, is_alert, alert = reason.partition("ALERT_")
    if reason in _OLD or (is_alert and alert == "PROTOCOL_VERSION"):
        return TlsError(
            f"{peer} and this machine speak no common version of TLS; ours are 1.2 and newer."
            " The carrier must offer one of them."
        )
    has_certificate = settings.tls_cert_file is not None
    if is_alert and alert in _ABOUT_CERTIFICATE and not has_certificate:
        return TlsError(
            f"{peer} wants a client certificate. Ask the carrier for one, and name its files in"
            " tls_cert_file and tls_key_file.",
            is_ours=True,
        )
    if is_alert and alert in _ABOUT_CERTIFICATE:
        return TlsError(
            f"{peer} does not accept our client certificate ({_words(alert)}). Ask the carrier"
            " which one it knows; tls_cert_file names ours.",
            is_ours=True,
        )
    if is_alert and alert == "HANDSHAKE_FAILURE":
        return TlsError(
            f"{peer} ended the handshake: it shares no cipher with this machine, or wants a client"
            " certificate. Ask the carrier which."
        )
    if is_alert and alert == "UNRECOGNIZED_NAME":
        return TlsError(
            f"{peer} does not know the name {server_name(settings)}. Set tls_server_name to the"
            " name that the carrier's certificate has.",
            is_ours=True,
        )
    return TlsError(f"No TLS with {peer}: {_words(alert if is_alert else reason)}.")


def hung_up(peer: str) -> TlsError:
    return TlsError(
        f"{peer} closed the connection instead of speaking TLS: perhaps the port is a plain one."
        f" {PLAIN_PORT}"
    )


def silent(peer: str, waited_s: float) -> TlsError:
    return TlsError(
        f"{peer} took the connection, but did not speak TLS within {waited_s:g} s: perhaps the"
        f" port is a plain one. {PLAIN_PORT}"
    )


def server_name(settings: SmppSettings) -> str:
    """The name that the carrier's certificate must have."""
    return settings.tls_server_name or settings.host


_NOT_TLS: Final = frozenset(
    {
        *("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"),
        *("RECORD_LAYER_FAILURE", "BAD_RECORD_TYPE", "UNEXPECTED_MESSAGE", "HTTPS_PROXY_REQUEST"),
    }
)
"""OpenSSL's reasons for octets that are no TLS at all."""
_OLD: Final = frozenset(
    {"UNSUPPORTED_PROTOCOL", "NO_PROTOCOLS_AVAILABLE", "WRONG_SSL_VERSION", "VERSION_TOO_LOW"}
)
_ABOUT_CERTIFICATE: Final = frozenset(
    {
        *("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "UNSUPPORTED_CERTIFICATE", "UNKNOWN_CA"),
        *("CERTIFICATE_REVOKED", "CERTIFICATE_EXPIRED", "CERTIFICATE_UNKNOWN", "NO_CERTIFICATE"),
        *("ACCESS_DENIED", "DECRYPT_ERROR"),
    }
)
"""Alerts (RFC 8446 §6.2) of a server that requires a certificate of ours, or rejects ours."""

_EXPIRED, _NOT_YET, _REVOKED, _PURPOSE = 10, 9, 23, 26
_SELF_SIGNED = 18
_UNKNOWN_ISSUER: Final = frozenset({2, 19, 20, 21})
_OTHER_NAME: Final = frozenset({62, 64})
_TOO_WEAK: Final = frozenset({66, 67, 68})
# X509_V_ERR_… of OpenSSL's x509_vfy.h, which Python has as numbers only.


def _distrust(peer: str, fault: ssl.SSLCertVerificationError, settings: SmppSettings) -> TlsError:
    theirs = f"The certificate of {peer}"
    code = fault.verify_code
    if code in _OTHER_NAME:
        return TlsError(
            f"{theirs} is for another name than {server_name(settings)}. Set host to the name that"
            " the carrier gave you, or tls_server_name to the one in its certificate.",
            is_ours=True,
        )
    if code == _SELF_SIGNED:
        return TlsError(
            f"{theirs} is self-signed. If the carrier confirms that it is its own, name its "
            f"file in tls_ca_file.",
            is_ours=True,
        )
    if code in _UNKNOWN_ISSUER:
        trusted = "in tls_ca_file" if settings.tls_ca_file else "that this machine trusts"
        return TlsError(
            f"{theirs} is not signed by a CA {trusted}. Ask the carrier for the certificate of "
            f"its CA, and name that file in tls_ca_file.",
            is_ours=True,
        )
    if code == _EXPIRED:
        return TlsError(
            f"{theirs} has expired. The carrier must renew it, unless this machine's clock is"
            " wrong."
        )
    if code == _NOT_YET:
        return TlsError(
            f"{theirs} is not valid yet. Check this machine's clock first. If it is right, the "
            f"carrier must fix the certificate."
        )
    if code == _REVOKED:
        return TlsError(f"{theirs} was revoked. The carrier must replace it.")
    if code == _PURPOSE:
        return TlsError(f"{theirs} is not made for a server. The carrier must replace it.")
    if code in _TOO_WEAK:
        return TlsError(f"{theirs} is too weak for this machine. The carrier must replace it.")
    return TlsError(f"{theirs} was not accepted: {fault.verify_message}.")


def _words(reason: str) -> str:
    return reason.replace("_", " ").lower()


def _is_locked(path: Path | None) -> bool:
    """Whether a file holds a key under a password: for a wrong password OpenSSL itself reports only
    "PEM lib"."""
    try:
        return path is not None and b"ENCRYPTED" in path.read_bytes()
    except OSError:
        return False


def _file(fault: OSError) -> str:
    if isinstance(fault, ssl.SSLError):
        return "has no certificates"
    return "is not there" if isinstance(fault, FileNotFoundError) else "cannot be read"


def _pair(fault: OSError, settings: SmppSettings) -> str:
    cert_file, key_file = settings.tls_cert_file, settings.tls_key_file
    files = f"tls_cert_file {cert_file}" + (f" or tls_key_file {key_file}" if key_file else "")
    if not isinstance(fault, ssl.SSLError):
        return f"{files} {_file(fault)}"
    if fault.reason == "KEY_VALUES_MISMATCH":
        return "its key belongs to another certificate"
    if _is_locked(key_file or cert_file):
        return "its key needs another tls_key_password"
    return f"{files} does not hold what it should, a certificate and its key"
