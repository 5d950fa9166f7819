"""Bounds what a connection may cost before its request has come whole.

The server that runs the application waits for ever for the rest of a request, and serves nobody
once it has all the connections that it may have. So a few silent clients without a token could
keep everybody out. Here, each part of a request has its time. When connections run short, those
that have asked for nothing yet make room, first those of the address that has the most of them.
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
"""Seconds for the head of a request, from the connection or its first byte."""
BODY_S, BYTES_PER_S = 30.0, 4096
"""Seconds for a body, and the bytes of it that earn one second more."""
UNREAD_S = 120.0
"""Seconds in which a client may read nothing of an answer that waits for it."""
CLOSING_S = 10.0
"""Seconds for the rest of an answer on a connection that is being closed."""
SHARE = 4
"""One address may have this part of all connections."""
PREFIX = 64
"""A network of IPv6 counts as one address, since a client that has one of them has them all."""

Network = str


@dataclass(slots=True, eq=False)
class Gate:
    """The connections of one server, at most ``most``.

    ``proxies`` are addresses or networks with any number of connections, since many clients come
    through them.
    """

    most: int
    proxies: tuple[str, ...] = ()
    _open: dict[BoundedProtocol, Network] = field(default_factory=dict, repr=False)
    _counts: Counter[Network] = field(default_factory=Counter, repr=False)
    # Those that have not asked yet, and those whose body is on its way, the oldest first.
    _idle: dict[BoundedProtocol, None] = field(default_factory=dict, repr=False)
    _sending: dict[BoundedProtocol, None] = field(default_factory=dict, repr=False)
    _trusted: tuple[IPv4Network | IPv6Network, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._trusted = tuple(map(ip_network, self.proxies))

    @property
    def count(self) -> int:
        """How many connections are open."""
        return len(self._open)

    def enter(self, connection: BoundedProtocol, address: str) -> None:
        """Take in a connection; another one may have to go for it, or the new one itself."""
        network = self._network(address)
        self._open[connection] = network
        self._counts[network] += 1
        self._idle[connection] = None
        if network and self._counts[network] > max(self.most // SHARE, 1):
            self._make_room([network])
        elif len(self._open) >= self.most:
            self._make_room([name for name, _ in self._counts.most_common()])

    def leave(self, connection: BoundedProtocol) -> None:
        """Forget a connection that is closed."""
        network = self._open.pop(connection, None)
        if network is not None:
            self._counts[network] -= 1
            if not self._counts[network]:
                del self._counts[network]
        self.mark(connection, None)

    def mark(self, connection: BoundedProtocol, state: str | None) -> None:
        """Note that a connection is ``idle`` or ``sending``; None: its request is whole."""
        for name, marked in (("idle", self._idle), ("sending", self._sending)):
            if name != state:
                marked.pop(connection, None)
            elif connection in self._open:
                marked.setdefault(connection)

    def _make_room(self, networks: Iterable[Network]) -> None:
        """Close the oldest connection of the first network that has one without a request."""
        for network in networks:
            for marked in (self._idle, self._sending):
                oldest = next((one for one in marked if self._open.get(one) == network), None)
                if oldest is not None:
                    oldest.cut()
                    return

    def _network(self, address: str) -> Network:
        """Return the network that shares connections; empty for a proxy."""
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
    """A connection of HTTP/1.1 whose requests have to come whole in time."""

    def __init__(self, gate: Gate, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._gate = gate
        self._timer: asyncio.TimerHandle | None = None
        self._waits_for = ""
        self._since = 0.0
        self._received = 0
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take in a connection."""
        super().connection_made(transport)
        self._gate.enter(self, self.client[0] if self.client else "")
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._gate.leave(self)
        self._stop_timers()
        self._waits_for = "gone"
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what has come."""
        self._received += len(data)
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_S, self.cut)

    def resume_writing(self) -> None:
        """Continue to write."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that has been silent since its last answer."""
        super().timeout_keep_alive_handler()
        self._watch()

    def cut(self) -> None:
        """Close the connection at once, whatever is still on its way."""
        self._gate.leave(self)
        if self.transport is not None:
            self.transport.abort()

    def _watch(self) -> None:
        """Set the time for what the connection waits for, unless it waited for it before."""
        waits_for = self._part()
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
            self._timer = self.loop.call_later(seconds[waits_for], self._end_in_time)

    def _part(self) -> str:
        """Return what is on its way: a head, a body, the rest of one that nobody reads, nothing."""
        if self.transport.is_closing():
            return "closing"
        if self.conn.their_state is h11.IDLE:
            return "head"
        if self.conn.their_state is h11.SEND_BODY:
            answered = self.conn.our_state in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
            return "rest" if answered else "body"
        return ""

    def _end_in_time(self) -> None:
        """Close the connection, unless enough of a body has come, or the client has to wait."""
        if self._waits_for == "body":
            held = self.flow.read_paused or self.conn.they_are_waiting_for_100_continue
            earned = self._since + BODY_S + self._received / BYTES_PER_S - self.loop.time()
            if held or earned > 0:
                wait = max(earned, 1.0)
                self._timer = self.loop.call_later(wait, self._end_in_time)
                return
        self.cut()

    def _stop_timers(self) -> None:
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()
        self._timer = self._unread = None
