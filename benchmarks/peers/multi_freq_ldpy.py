"""multi-freq-ldpy: a function for a client, compiled by numba, and one that aggregates and estimates at once."""

from __future__ import annotations

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

from benchmarks.peers.reports import Steps, measure, serve

PROTOCOLS = {
    "grr": (GRR_Client, GRR_Aggregator_MI),
    "olh": (LH_Client, LH_Aggregator_MI),
    "subset": (SS_Client, SS_Aggregator_MI),
    "oue": (UE_Client, lambda reports, _size, epsilon: UE_Aggregator_MI(reports, epsilon)),
}


def steps(cell: dict) -> dict:
    size, epsilon = cell["size"], float(cell["epsilon"])
    client, estimate = PROTOCOLS[cell["protocol"]]
    client(0, size, epsilon)  # compiles it
    return measure(
        cell,
        Steps(
            encode=lambda values: [client(value, size, epsilon) for value in values.tolist()],
            aggregate=lambda reports: estimate(reports, size, epsilon),
        ),
    )


if __name__ == "__main__":
    serve({"steps": steps})
