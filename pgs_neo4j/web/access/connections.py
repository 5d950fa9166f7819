"""Limits the time of connections whose requests are incomplete, and their number.

Uvicorn waits forever for the rest of a request, and refuses requests once it has the maximum number
of connections. So a few silent clients without a token could keep everyone out. This module sets a
time limit for each part of a request. When connections run short, it closes connections that have
no complete request yet, beginning with the address that has the most connections.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 20.0
"""Seconds for the head of a request, from the start of the connection or its first byte."""
BODY_S, BYTES_PER_S = 30.0, 4096
"""Seconds for a body, and the number of received bytes that extend the time by one second."""
UNREAD_S = 120.0
"""Seconds for which a client may leave a ready response unread."""
CLOSING_S = 10.0
"""Seconds for the rest of a response on a connection that is being closed."""
SHARE = 4
"""Reciprocal of the share of all connections that one address may have."""
PREFIX = 64
"""An IPv6 network of this prefix length counts as one address; one client may own all of it."""

Network = str


@dataclass(slots=True, eq=False)
class Gate:
    """The open connections of one server, at most ``most``.

    ``proxies`` are addresses or networks whose number of connections is not limited, since many
    clients share a proxy.
    """

    most: int
    proxies: tuple[str, ...] = ()
    _open: dict[BoundedProtocol, Network] = field(default_factory=dict, repr=False)
    _counts: Counter[Network] = field(default_factory=Counter, repr=False)
    # Connections without a request, and connections that are sending a body, oldest first.
    _idle: dict[BoundedProtocol, None] = field(default_factory=dict, repr=False)
    _sending: dict[BoundedProtocol, None] = field(default_factory=dict, repr=False)
    _trusted: tuple[IPv4Network | IPv6Network, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._trusted = tuple(map(ip_network, self.proxies))

    @property
    def count(self) -> int:
        """The number of open connections."""
        return len(self._open)

    def enter(self, connection: BoundedProtocol, address: str) -> None:
        """Add a connection; if there are too many, close another one or the new one."""
        network = self._find_network(address)
        self._open[connection] = network
        self._counts[network] += 1
        self._idle[connection] = None
        if network and self._counts[network] > max(self.most // SHARE, 1):
            self._make_room([network])
        elif len(self._open) >= self.most:
            self._make_room([name for name, _ in self._counts.most_common()])

    def leave(self, connection: BoundedProtocol) -> None:
        """Remove a closed connection."""
        network = self._open.pop(connection, None)
        if network is not None:
            self._counts[network] -= 1
            if not self._counts[network]:
                del self._counts[network]
        self.mark(connection, None)

    def mark(self, connection: BoundedProtocol, state: str | None) -> None:
        """Record a connection's state: ``idle``, ``sending``, or None for a complete request."""
        for name, marked in (("idle", self._idle), ("sending", self._sending)):
            if name != state:
                marked.pop(connection, None)
            elif connection in self._open:
                marked.setdefault(connection)

    def _make_room(self, networks: Iterable[Network]) -> None:
        """Close the oldest connection without a complete request.

        Networks are tried in the given order, until one has such a connection.
        """
        for network in networks:
            for marked in (self._idle, self._sending):
                oldest = next((one for one in marked if self._open.get(one) == network), None)
                if oldest is not None:
                    oldest.cut()
                    return

    def _find_network(self, address: str) -> Network:
        """Return the network under which an address is counted; empty for a proxy."""
        try:
            parsed = ip_address(address)
        except ValueError:
            return address or "local"
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        if any(parsed in network for network in self._trusted):
            return ""
        if isinstance(parsed, IPv6Address) and not parsed.is_loopback:
            return str(ip_network((parsed, PREFIX), strict=False))
        return str(parsed)


class BoundedProtocol(H11Protocol):
    """An HTTP/1.1 connection with time limits for the parts of requests and responses."""

    def __init__(self, gate: Gate, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._gate = gate
        self._timer: asyncio.TimerHandle | None = None
        self._waits_for = ""
        self._since = 0.0
        self._received = 0
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection, and start its timer."""
        super().connection_made(transport)
        self._gate.enter(self, self.client[0] if self.client else "")
        self._restart_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection, and stop its timers."""
        self._gate.leave(self)
        self._stop_timers()
        self._waits_for = "gone"
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass received data on, and restart the timer if the next part of a request begins."""
        self._received += len(data)
        super().data_received(data)
        self._restart_timer()

    def on_response_complete(self) -> None:
        """Start the timer for the next request."""
        super().on_response_complete()
        self._restart_timer()

    def pause_writing(self) -> None:
        """Limit the time until the client reads again."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_S, self.cut)

    def resume_writing(self) -> None:
        """Stop the timer, because the client reads again."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that has been silent since its last response."""
        super().timeout_keep_alive_handler()
        self._restart_timer()

    def cut(self) -> None:
        """Close the connection at once, without sending or receiving the rest."""
        self._gate.leave(self)
        if self.transport is not None:
            self.transport.abort()

    def _restart_timer(self) -> None:
        """Start the timer for the part that the connection waits for, unless it already runs."""
        waits_for = self._find_pending_part()
        if waits_for == self._waits_for or self._waits_for == "gone":
            return
        self._waits_for, self._since, self._received = waits_for, self.loop.time(), 0
        states = {"head": "idle", "rest": "idle", "body": "sending"}
        self._gate.mark(self, states.get(waits_for))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        seconds = {"head": HEAD_S, "rest": HEAD_S, "body": BODY_S, "closing": CLOSING_S}
        if waits_for in seconds:
            self._timer = self.loop.call_later(seconds[waits_for], self._close_if_late)

    def _find_pending_part(self) -> str:
        """Return the part that the connection waits for.

        That is the ``head`` or ``body`` of a request, the ``rest`` of a body whose response is
        complete, or ``closing``; empty if the request is complete.
        """
        if self.transport.is_closing():
            return "closing"
        if self.conn.their_state is h11.IDLE:
            return "head"
        if self.conn.their_state is h11.SEND_BODY:
            answered = self.conn.our_state in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
            return "rest" if answered else "body"
        return ""

    def _close_if_late(self) -> None:
        """Close the connection, unless enough of a body has arrived or the server makes it wait."""
        if self._waits_for == "body":
            held = self.flow.read_paused or self.conn.they_are_waiting_for_100_continue
            earned = self._since + BODY_S + self._received / BYTES_PER_S - self.loop.time()
            if held or earned > 0:
                wait = max(earned, 1.0)
                self._timer = self.loop.call_later(wait, self._close_if_late)
                return
        self.cut()

    def _stop_timers(self) -> None:
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()
        self._timer = self._unread = None
