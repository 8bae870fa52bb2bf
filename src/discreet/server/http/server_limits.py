"""What a stranger may use of a server, in one place; `discreet serve` has a flag for most of it."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from discreet.errors import BadInput

_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits that hold before anybody has shown a key, and for the size of answers."""

    connections: int = 1000
    """Open at once; never more than half of the descriptors that the process may have."""
    connections_per_address: int = 100
    """Of one address; those of a named proxy are not counted."""
    patience: float = 10.0
    """Seconds for the headers of a request, between two pieces of a body, and until a piece of an answer is read; a whole body may take three times as long."""
    public_rate: float = 50.0
    """Requests a second, of one address, to routes that need no key; and wrong keys."""
    public_at_once: int = 32
    """Such requests of one address at once."""
    body: int = 100_000
    """Bytes of a body; a message of a device is as long as its task allows."""
    cells: int = 200_000
    """Rows times columns of an answer as JSON; Parquet has room for all."""
    stopping: float = 5.0
    """Seconds that a server which is asked to stop waits for what is under way."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks whose `X-Forwarded-For` is believed."""
    user_header: str | None = None
    """The header in which these proxies say whom they have signed in."""

    def __post_init__(self) -> None:
        if self.user_header is not None and not self.proxies:
            raise BadInput(
                "Nobody is believed who says which user asks, unless a proxy is named.",
                next_step="Give --proxy with --user-header.",
            )
        for proxy in self.proxies:
            try:
                ip_network(proxy, strict=False)
            except ValueError:
                raise BadInput(
                    "A proxy is named by an address or a network.",
                    next_step="Write --proxy 10.0.0.2, or --proxy 10.0.0.0/24.",
                ) from None

    @property
    def most_connections(self) -> int:
        """As many as asked for, if there are descriptors: the other half is for files, and for those who wait to be accepted."""
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return min(self.connections, descriptors // 2)

    def is_proxy(self, address: str) -> bool:
        """Whether connections from an address are those of many clients."""
        return any(_unwrapped(address) in ip_network(proxy, strict=False) for proxy in self.proxies)


def place_of(address: str) -> str:
    """What counts as one address: of version 6 the network of 64 bits, of which one household has all."""
    try:
        known = _unwrapped(address)
    except ValueError:
        return address  # a socket of this machine has none
    return str(ip_network((known, 64), strict=False).network_address) if known.version == 6 else str(known)


def is_of_this_machine(address: str) -> bool:
    """Whether something comes from the machine, or the container, itself."""
    try:
        return _unwrapped(address).is_loopback
    except ValueError:
        return False


def _unwrapped(address: str) -> IPv4Address | IPv6Address:
    """An address of version 4 that is written as one of version 6 (mapped, NAT64, 6to4) is the one of version 4."""
    known = ip_address(address)
    if isinstance(known, IPv4Address):
        return known
    behind_nat64 = IPv4Address(int(known) % 2**32) if known in _NAT64 else None
    return known.ipv4_mapped or known.sixtofour or behind_nat64 or known
