"""Local protocols: Discreet, pure-ldp and multi-freq-ldpy on the same people, in one run.

    python -m benchmarks.local --peers .venv-peers

Every cell runs in a process of its own, one at a time and on one thread, and is timed in CPU seconds, so that other work
on the machine counts as little as possible.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import table, where, write_section

PEOPLE = 10**6
SIZES = (100, 10**4, 10**6)
SYSTEMS = {"pure_ldp": "pure-ldp", "multi_freq_ldpy": "multi-freq-ldpy"}
NAMES = {
    "grr": "k-ary response",
    "olh": "local hashing",
    "hadamard": "Hadamard response",
    "oue": "unary encoding (OUE)",
    "subset": "subset selection",
    "cms": "count mean sketch",
    "hcms": "Hadamard sketch",
}
OFFERED = {
    "pure_ldp": {"grr", "olh", "hadamard", "oue", "cms", "hcms"},
    "multi_freq_ldpy": {"grr", "olh", "oue", "subset"},
}
SAME = [  # protocol, number of values, epsilon
    *((protocol, size, epsilon) for protocol in ("grr", "olh", "hcms") for size in SIZES[:2] for epsilon in (1, 4)),
    *((protocol, size, 4) for protocol in ("hadamard", "oue", "subset", "cms") for size in SIZES[:2]),
]
BARS = {"encode": 20, ("olh", "aggregate"): 20} | dict.fromkeys(
    [("hcms", "encode"), ("hcms", "aggregate"), ("hcms", "estimate"), ("hcms", "all three")], 100
)
OVER_HASHING = {(100, 1): 25, (100, 4): 100, (10**4, 1): 1000, (10**4, 4): 1000}
OVER_HADAMARD = {100: 2, 10**4: 2, 10**6: 1}
MOST_SECONDS, MOST_BYTES = 15, 2 * 10**9

METHOD = (
    "pure-ldp 1.2.0, multi-freq-ldpy 0.2.5, each in an environment in which it works (pure-ldp with numpy 1.26, and with "
    "scikit-learn and statsmodels, which it does not ask for; both with xxhash 3). {people:,} people, Zipf 1.1 over the "
    "values, the same for every system. One process at a time, one thread, CPU seconds: other programs ran on this machine "
    "(load average {load} at the beginning, in the middle and at the end). Discreet draws from AES keyed by the operating "
    "system, the others from generators that are not secure. Times are medians of 3 to 25 runs where all people fit into "
    "{seconds:g} s; what takes longer is measured on a slice that takes at least as long (of people, or of values to "
    "estimate) and extrapolated: marked with * below, and nearly all figures of the peers in the second table."
)
END_TO_END = (
    f"**From {PEOPLE:,} values to an estimate of every value.** Discreet takes its default protocol, through `simulate`, "
    "and also works out the variances; beside the protocol's name is the variance of a rare value's count, per report. "
    "pure-ldp's Hadamard response is its only accurate protocol whose time does not grow with people times values; its "
    "local hashing has the least variance that it offers (3.68 at ε 1, 0.0760 at ε 4)."
)
END_HEADER = [
    "values",
    "ε",
    "default, variance",
    "s, **Discreet**",
    "s, pure-ldp Hadamard",
    "faster",
    "s, pure-ldp hashing",
    "faster",
    "s, multi-freq-ldpy hashing",
    "MB peak, Discreet",
]
SAME_PROTOCOL = (
    "**The same protocol.** Reports a second, or seconds for all values; the ratio is to the faster peer. Local hashing "
    "is counted for every value when it is aggregated (Discreet does so when it estimates, and is charged for it here). "
    "Sketches have 1024 × 1024 entries, and their encoding includes the SHA-256 fingerprints of all values. Reports of the "
    "unary encoding and of subset selection have a bit for each value. With a hundred values to look up, a sketch's "
    "estimate is nearly all the transform of its table, a matrix product in pure-ldp."
)
SAME_HEADER = ["", "values", "ε", "**Discreet**", *SYSTEMS.values(), "faster than the faster", "bar"]

DATA = """
import sys, numpy
size, people, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
chances = numpy.arange(1, size + 1) ** -1.1
numpy.save(path, numpy.random.default_rng(0).choice(size, people, p=chances / chances.sum()))
"""


class Bench:
    """Runs cells, each in the interpreter of its library."""

    def __init__(self, folder: Path, peers: Path, seconds: float) -> None:
        self._folder, self._peers, self._seconds = folder, peers, seconds
        for size in SIZES:  # in a process of its own: on Linux a child's peak memory starts at its parent's
            arguments = [str(size), str(PEOPLE), str(folder / f"{size}.npy")]
            subprocess.run([sys.executable, "-c", DATA, *arguments], check=True)

    def run(self, module: str, size: int, epsilon: int, **cell: object) -> dict:
        python = sys.executable if module == "ours_local" else str((self._peers / module / "bin" / "python").absolute())
        if not Path(python).exists():
            sys.exit(f"There is no virtual environment for {module}. Run: make bench")
        values = str(self._folder / f"{size}.npy")
        line = {"action": "steps", "size": size, "epsilon": epsilon, "values": values, "seconds": self._seconds, **cell}
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        done = subprocess.run(
            [python, "-m", f"benchmarks.peers.{module}", json.dumps(line)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
            env={**os.environ, **one_thread, "PYTHONWARNINGS": "ignore"},
        )
        print(module, size, epsilon, cell, done.stdout.strip(), file=sys.stderr)
        return json.loads(done.stdout)


def same_protocol(bench: Bench) -> Iterator[list[str]]:
    """One row for each protocol, domain, epsilon and stage."""
    for protocol, size, epsilon in SAME:
        ours = bench.run("ours_local", size, epsilon, protocol=protocol)
        peers = {
            module: bench.run(module, size, epsilon, protocol=protocol)
            for module in SYSTEMS
            if protocol in OFFERED[module]
        }
        stages = ["encode", "aggregate"] + (["estimate", "all three"] if protocol in ("cms", "hcms") else [])
        for found in (ours, *peers.values()):
            found["all three"] = PEOPLE * (found["encode"] + found["aggregate"]) + found.get("estimate", 0.0)
        for stage in stages:
            ratio = min(peer[stage] for peer in peers.values()) / ours[stage]
            bar = BARS.get((protocol, stage), BARS.get(stage))
            yield [
                f"{NAMES[protocol]}, {stage}",
                f"{size:,}",
                f"{epsilon}",
                shown(ours, stage),
                *(shown(peers[module], stage) if module in peers else "–" for module in SYSTEMS),
                f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:,.1f}×",
                judged(ratio, bar) if bar else "–",
            ]


def shown(found: dict, stage: str) -> str:
    return f"{found[stage]:,.4f} s" if stage in ("estimate", "all three") else f"{1 / found[stage]:,.0f}"


def judged(ratio: float, bar: float) -> str:
    return f"≥ {bar:g}: {'yes' if ratio >= bar else 'NO'}"


def end_to_end(bench: Bench) -> Iterator[list[str]]:
    """From a million values to the estimates of all: our default, pure-ldp's fastest, and what has the least variance."""
    for size in SIZES:
        for epsilon in (1, 4):
            ours = bench.run("ours_local", size, epsilon, action="default")
            hadamard = bench.run("pure_ldp", size, epsilon, protocol="hadamard", seconds=600)
            hashing = {module: bench.run(module, size, epsilon, protocol="olh") for module in SYSTEMS}
            slow = whole(hashing["pure_ldp"])
            over_hadamard, over_hashing = whole(hadamard) / ours["seconds"], slow / ours["seconds"]
            bar = OVER_HASHING.get((size, epsilon))
            yield [
                f"{size:,}",
                f"{epsilon}",
                f"{ours['protocol']}, {ours['variance']:.3g}",
                f"{ours['seconds']:.3f}",
                f"{whole(hadamard):.2f}{'' if hadamard['whole'] else '*'}",
                f"{over_hadamard:,.1f}× ({judged(over_hadamard, OVER_HADAMARD[size])})",
                f"{slow:,.0f}*",
                f"{over_hashing:,.0f}×" + (f" ({judged(over_hashing, bar)})" if bar else ""),
                f"{whole(hashing['multi_freq_ldpy']):,.0f}*",
                f"{ours['peak'] / 1e6:,.0f}",
            ]


def whole(found: dict) -> float:
    return PEOPLE * (found["encode"] + found["aggregate"]) + found["estimate"]


def main() -> None:
    options = arguments()
    load = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), options.peers, options.seconds)
        ends = list(end_to_end(bench))
        load.append(os.getloadavg()[0])
        same = list(same_protocol(bench))
        largest = bench.run("ours_local", PEOPLE, 4, action="default")
        load.append(os.getloadavg()[0])
    met = largest["waited"] < MOST_SECONDS and largest["peak"] < MOST_BYTES
    method = METHOD.format(people=PEOPLE, seconds=options.seconds, load=", ".join(f"{value:.1f}" for value in load))
    largest_line = (
        f"A million values and a million people at ε 4: {largest['waited']:.1f} s on the clock, "
        f"{largest['peak'] / 1e6:,.0f} MB (bars: {MOST_SECONDS} s, {MOST_BYTES / 1e6:,.0f} MB: {'yes' if met else 'NO'})."
    )
    parts = [f"{where()} {method}", END_TO_END, table(END_HEADER, ends), largest_line, SAME_PROTOCOL]
    body = "\n\n".join([*parts, table(SAME_HEADER, same)])
    if options.dry_run:
        print(body)
    else:
        write_section("local", body)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers"), help="the folder of virtual environments")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long a slice takes at least")
    parser.add_argument("--dry-run", action="store_true", help="print the section, write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
