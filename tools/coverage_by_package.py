"""Print how much of each package the tests execute, from the JSON report of `coverage`; used by `make coverage`."""

import json
import sys
from collections import Counter
from pathlib import Path


def by_package(report):
    """Statements and executed statements of each package of `discreet`, from a report of `coverage json`."""
    statements, executed = Counter(), Counter()
    for name, file in report["files"].items():
        inside = Path(name).parts[Path(name).parts.index("discreet") + 1 :]
        package = inside[0] if len(inside) > 1 else "(root)"
        statements[package] += file["summary"]["num_statements"]
        executed[package] += file["summary"]["covered_lines"]
    return {package: (statements[package], executed[package]) for package in sorted(statements)}


if __name__ == "__main__":
    rows = by_package(json.loads(Path(sys.argv[1]).read_text()))
    rows["all"] = tuple(sum(column) for column in zip(*rows.values(), strict=True))
    print(f"{'package':16}{'statements':>12}{'executed':>12}{'share':>9}")
    for package, (statements, executed) in rows.items():
        print(f"{package:16}{statements:12,}{executed:12,}{100 * executed / max(statements, 1):8.1f}%")
