"""TLS at the SMSC's end of a connection: for ESMEs that connect to it."""

from __future__ import annotations

import ssl
from pathlib import Path

import trio


class TlsFilesError(Exception):
    """A certificate or key cannot be used; ``str()`` is a sentence."""


class HandshakeError(Exception):
    """The TLS handshake with a client failed; ``str()`` is OpenSSL's reason."""


def server_context(
    cert_file: Path, key_file: Path | None = None, client_ca_file: Path | None = None
) -> ssl.SSLContext:
    """The server's certificate, and the clients that it accepts.

    Args:
        cert_file: a certificate, maybe with its chain, and with its key if ``key_file`` is None.
        client_ca_file: accept only clients with a certificate that one of these signed.

    Raises:
        TlsFilesError: a file cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A password is always given, if an empty one: without it OpenSSL would ask the terminal.
        context.load_cert_chain(cert_file, key_file, "")
    except OSError:
        files = f"{cert_file} and {key_file}" if key_file else str(cert_file)
        raise TlsFilesError(
            f"{files} cannot be read, or does not hold a certificate and its key."
        ) from None
    if client_ca_file is not None:
        try:
            context.load_verify_locations(client_ca_file)
        except OSError:
            raise TlsFilesError(
                f"{client_ca_file} cannot be read, or has no certificates."
            ) from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context


async def shake_hands(
    stream: trio.abc.Stream, context: ssl.SSLContext, patience_s: float
) -> trio.abc.Stream:
    """Shake hands for TLS on a connection; the secured stream over it.

    Raises:
        HandshakeError: it is closed.
    """
    secured = trio.SSLStream(stream, context, server_side=True, https_compatible=True)
    try:
        with trio.fail_after(patience_s):
            await secured.do_handshake()
    except trio.TooSlowError:
        await trio.aclose_forcefully(stream)
        raise HandshakeError("nothing came") from None
    except (trio.BrokenResourceError, trio.ClosedResourceError) as fault:
        await _say_why(stream, secured, patience_s)
        reason = getattr(fault.__cause__, "reason", None) or "the connection ended"
        raise HandshakeError(reason.replace("_", " ").lower()) from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secured


async def _say_why(
    stream: trio.abc.Stream, secured: trio.SSLStream[trio.abc.Stream], patience_s: float
) -> None:
    """Send the alert that OpenSSL wrote, as carriers do; Trio leaves it unsent."""
    outgoing = getattr(secured, "_outgoing", None)
    try:
        if outgoing is not None and (alert := outgoing.read()):
            with trio.move_on_after(patience_s):
                await stream.send_all(alert)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # the client is gone
    finally:
        await trio.aclose_forcefully(stream)
