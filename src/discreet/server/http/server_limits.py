"""Limits for clients without a key, and for the size of answers. `discreet serve` has a flag for most of them."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from discreet.errors import BadInput

_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits that apply before authentication, and limits for the size of answers."""

    connections: int = 1000
    """Maximum open connections; at most half of the process's file descriptors."""
    connections_per_address: int = 100
    """Maximum open connections of one address. Those of a trusted proxy are not counted."""
    patience: float = 10.0
    """Timeout in seconds for the headers of a request, between two pieces of a body, and for reading a piece of a response. A whole body may take
    three times as long."""
    public_rate: float = 50.0
    """Requests per second of one address to public routes, or with wrong keys."""
    public_at_once: int = 32
    """Concurrent requests of one address to public routes."""
    body: int = 100_000
    """Maximum bytes of a body. A device's message is limited by its task."""
    cells: int = 200_000
    """Maximum rows times columns of an answer as JSON. Parquet has no such limit."""
    stopping: float = 5.0
    """Seconds that a stopping server waits for requests in progress."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of trusted proxies, whose `X-Forwarded-For` is used."""
    user_header: str | None = None
    """The header in which trusted proxies name the signed-in user."""

    def __post_init__(self) -> None:
        if self.user_header is not None and not self.proxies:
            raise BadInput(
                "A user header is accepted from trusted proxies only, and none is configured.",
                next_step="Give --proxy together with --user-header.",
            )
        for proxy in self.proxies:
            try:
                ip_network(proxy, strict=False)
            except ValueError:
                raise BadInput(
                    "A trusted proxy must be an IP address or a network.",
                    next_step="Write --proxy 10.0.0.2, or --proxy 10.0.0.0/24.",
                ) from None

    @property
    def most_connections(self) -> int:
        """The connection limit, at most half of the descriptors: the others are for files and connections that wait to be accepted."""
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return min(self.connections, descriptors // 2)

    def is_proxy(self, address: str) -> bool:
        """Whether an address belongs to a trusted proxy."""
        return any(_unwrapped(address) in ip_network(proxy, strict=False) for proxy in self.proxies)


def address_group(address: str) -> str:
    """Return the address that limits count: IPv4 as it is, IPv6 by its /64 network, since one household owns all of it."""
    try:
        known = _unwrapped(address)
    except ValueError:
        return address  # a Unix socket has no IP address
    return str(ip_network((known, 64), strict=False).network_address) if known.version == 6 else str(known)


def is_loopback_address(address: str) -> bool:
    """Whether an address is the loopback address of this machine or container."""
    try:
        return _unwrapped(address).is_loopback
    except ValueError:
        return False


def _unwrapped(address: str) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address embeds (mapped, NAT64, 6to4), else the address itself."""
    known = ip_address(address)
    if isinstance(known, IPv4Address):
        return known
    nat64 = IPv4Address(int(known) % 2**32) if known in _NAT64 else None
    return known.ipv4_mapped or known.sixtofour or nat64 or known
