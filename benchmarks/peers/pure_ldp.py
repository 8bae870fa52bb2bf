"""pure-ldp: a client and a server object for each protocol; reports are made and counted one by one."""

from __future__ import annotations

from pure_ldp.frequency_oracles import (
    CMSClient,
    CMSServer,
    DEClient,
    DEServer,
    HadamardResponseClient,
    HadamardResponseServer,
    LHClient,
    LHServer,
    UEClient,
    UEServer,
)

from benchmarks.peers.reports import Steps, measure, serve

ROWS = COLUMNS = 1024


def pair(protocol: str, size: int, epsilon: float) -> tuple:
    match protocol:
        case "grr":
            return DEClient(epsilon, size), lambda: DEServer(epsilon, size)
        case "olh":
            return LHClient(epsilon, size, use_olh=True), lambda: LHServer(epsilon, size, use_olh=True)
        case "oue":
            return UEClient(epsilon, size, use_oue=True), lambda: UEServer(epsilon, size, use_oue=True)
        case "hadamard":
            server = HadamardResponseServer(epsilon, size)
            return HadamardResponseClient(epsilon, size, server.get_hash_funcs()), lambda: emptied(server)
        case "cms" | "hcms":
            server = CMSServer(epsilon, ROWS, COLUMNS, is_hadamard=protocol == "hcms")
            client = CMSClient(epsilon, server.get_hash_funcs(), COLUMNS, is_hadamard=protocol == "hcms")
            return client, lambda: emptied(server)
    raise SystemExit(f"not offered: {protocol}")


def emptied(server: object) -> object:
    server.reset()
    return server


def steps(cell: dict) -> dict:
    client, new_server = pair(cell["protocol"], cell["size"], cell["epsilon"])

    def aggregate(reports: list) -> object:
        server = new_server()
        server.aggregate_all(reports)
        return server

    return measure(
        cell,
        Steps(
            encode=lambda values: [client.privatise(value) for value in (values + 1).tolist()],  # it counts from 1
            aggregate=aggregate,
            estimate=lambda server, count: server.estimate_all(range(1, count + 1), suppress_warnings=True),
        ),
    )


if __name__ == "__main__":
    serve({"steps": steps})
