"""A TLS listener on loopback with a certificate that no machine trusts by default."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

# Made for these tests, for 127.0.0.1, and valid for a hundred years. The key protects nothing.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBizCCATGgAwIBAgIUTqDSgXwPpUlZ77gPf+qfGQteH78wCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPcGdzLW5lbzRqIHRlc3RzMCAXDTI2MTEyMjE1MDg0NloYDzIx
MjYxMDI5MTUwODQ2WjAaMRgwFgYDVQQDDA9wZ3MtbmVvNGogdGVzdHMwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAATMBOqHGiWtKb6CCQDZ/ie0zKQ0QlP51ZGhIFHt
2q/m05QH0h3beGQd7XsYqLvJgUTsqyrmp0GWmlIgC6PggBExo1MwUTAdBgNVHQ4E
FgQUOz0y3TdJd+YY40SwcQeW3FF/Ew8wDwYDVR0RBAgwBocEfwAAATAPBgNVHRMB
Af8EBTADAQH/MA4GA1UdDwEB/wQEAwIChDAKBggqhkjOPQQDAgNIADBFAiBIDDAs
BoWfhG/OHbmp3rFkO4mjkgXE7YVvp+oVEaDutAIhAMqILfiPGHbeAM9z1wj6mqrT
i8rchOjNx3oV2LNG7oWd
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRO9TgRADEO7A9jhh
TZ/1ZNc84ZD/DjmUo0Y96a27aoKhRANCAATMBOqHGiWtKb6CCQDZ/ie0zKQ0QlP5
1ZGhIFHt2q/m05QH0h3beGQd7XsYqLvJgUTsqyrmp0GWmlIgC6PggBEx
-----END PRIVATE KEY-----
"""


class TlsServer:
    """Accepts connections, remembers the first bytes after the handshake, and closes them."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.heard: list[bytes] = []
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, name="fake-tls")

    def start(self) -> None:
        """Start accepting connections."""
        self._thread.start()

    def stop(self) -> None:
        """Stop accepting connections, and wait for the end."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(5.0)
            with connection, suppress(OSError):
                if self._context is None:
                    self.heard.append(connection.recv(20))
                    continue
                with self._context.wrap_socket(connection, server_side=True) as secured:
                    self.heard.append(secured.recv(20))


@contextmanager
def tls_server(*, tls: bool = True) -> Iterator[TlsServer]:
    """Serve until the block ends, without TLS on request."""
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with TemporaryDirectory() as folder:
            pair = Path(folder) / "pair.pem"
            pair.write_text(CERTIFICATE + KEY)
            context.load_cert_chain(pair)
    server = TlsServer(context)
    server.start()
    try:
        yield server
    finally:
        server.stop()
