"""Makes the stored examples. It was run once, on the version whose formats they are; do not run it again.

python -m tests.stored_formats.make_examples
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tests.stored_formats import adapter

HERE = Path(__file__).parent
WORLD, EXAMPLES = HERE / "world", HERE / "examples"
NOW = 20_000 * 86_400.0
COUNT, GROUPED, BOUNDED, PRIVATE_GROUPS = (
    "SELECT COUNT(*) FROM visits",
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward",
    "SELECT MEDIAN(cost), COUNT(DISTINCT patient_id) FROM visits WHERE day >= DATE '2024-03-01'",
    "SELECT zip, COUNT(*) FROM patients GROUP BY zip",
)
QUERIES = [
    COUNT,
    GROUPED,
    BOUNDED,
    PRIVATE_GROUPS,
    "SELECT SUM(cost) FROM visits WHERE cost > 10.5 AND ward = 'ER'",
    "SELECT sex, smokes, COUNT(*) FROM patients GROUP BY ROLLUP (sex, smokes)",
    "SELECT COUNT(*) FROM visits v JOIN patients p USING (patient_id) WHERE p.age BETWEEN 20 AND 39 OR NOT p.smokes",
    "SELECT w.beds, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.beds",
    "WITH old AS (SELECT * FROM patients WHERE age > 64) SELECT sex, AVG(age) FROM old GROUP BY 1 HAVING COUNT(*) > 3",
    "SELECT QUANTILE_CONT(age, 0.25), STDDEV(age) FROM patients",
    "SELECT EXTRACT(month FROM day) AS m, COUNT(*) FROM visits GROUP BY m",
    "SELECT COUNT(*) FROM patients WHERE UPPER(zip) LIKE '606%' AND CASE WHEN smokes THEN age > 30 ELSE TRUE END",
    "SELECT COUNT(*) FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) WHERE total > 500",
    "SELECT COUNT(*) FROM visits WHERE ward IN ('ER', 'ICU') UNION ALL SELECT COUNT(*) FROM patients",
]
ASKED = [
    (COUNT, 0.25, "alice"),
    (COUNT, 0.25, None),
    (GROUPED, 0.5, "alice"),
    (BOUNDED, 0.25, "bob"),
    (PRIVATE_GROUPS, 0.2, None),
]


def main() -> None:
    EXAMPLES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(shutil.copytree(WORLD, Path(folder) / "world")) / "discreet.toml"
        _ledger(config)
        _write("digests.json", _digests(config))
        _devices(Path(folder))
        _collector(Path(folder))
    files = sorted(path for folder in (WORLD, EXAMPLES) for path in folder.iterdir())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(HERE)}" for path in files]
    (HERE / "checksums.txt").write_text("\n".join([*sums, ""]))


def _write(name: str, content: object) -> None:
    (EXAMPLES / name).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _ledger(config: Path) -> None:
    path = config.parent / "ledger.sqlite"
    adapter.begin_ledger(config)
    adapter.begin_data_version(config)
    with adapter.curator_of(config) as curator:
        for number, (sql, epsilon, analyst) in enumerate(ASKED):
            adapter.ask(curator, sql, epsilon=epsilon, analyst=analyst, request_id=f"request-{number}")
        release = adapter.make_releases(curator)
        adapter.watch(curator, COUNT, threshold=1, epsilon=0.1, analyst="alice")
    facts: dict[str, object] = {"key": adapter.create_key(path, "alice", "analyst")}
    with adapter.ledger_at(path) as ledger:
        adapter.begin_run(ledger)
        adapter.cap_account(ledger, "alice", 1.75)
        steps = [body.hex() for body in adapter.steps_of_run(ledger)]
        assert adapter.problems_of(ledger) == []
        facts |= {"accounts": adapter.accounts_of(ledger), "published": adapter.published_names(ledger)}
    with adapter.curator_of(config) as curator:
        facts["answers"] = [
            asked | {"sql": sql} | adapter.recall(curator, sql, **asked)
            for sql, epsilon, analyst in ASKED
            for asked in [{"epsilon": epsilon, "analyst": analyst}]
        ]
    adapter.write_checkpoint(path, Path(f"{path}.secret").read_bytes())
    (EXAMPLES / "ledger.sql").write_text(adapter.dump(path))
    (EXAMPLES / "ledger.secret").write_bytes(Path(f"{path}.secret").read_bytes())
    facts["head"] = adapter.noted_in(Path(f"{path}.anchor"))
    (EXAMPLES / "ledger.anchor").write_bytes(Path(f"{path}.anchor").read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        facts["shape"] = json.loads(json.dumps(adapter.shape_of(connection)))
        stored = [
            bytes(row[0]) for row in connection.execute("SELECT answer FROM ledger_questions WHERE answer IS NOT NULL")
        ]
        journal = [
            bytes(row[0])[16:] for row in connection.execute("SELECT body FROM ledger_steps ORDER BY question, number")
        ]
    transcripts = sorted(answer for answer in stored if answer.startswith(b'{"facts"'))
    _write("ledger.json", facts)
    _write("unfinished_run.json", steps)
    _write("journal.json", [{"facts": adapter.step_facts(body), "bytes": body.hex()} for body in journal])
    _write("transcripts.json", [{"facts": adapter.transcript_facts(one), "bytes": one.hex()} for one in transcripts])
    (EXAMPLES / "rows.release").write_bytes(release)
    _write("release.json", adapter.release_facts(release))
    (EXAMPLES / "snapshot_header.json").write_text(adapter.snapshot_header(config))


def _digests(config: Path) -> dict[str, str]:
    with adapter.curator_of(config) as curator:
        digests = {sql: adapter.digest(curator, sql, epsilon=0.5) for sql in QUERIES}
        return {**digests, "-- mechanism=gaussian": adapter.digest(curator, COUNT, epsilon=0.5, mechanism="gaussian")}


def _devices(folder: Path) -> None:
    given = {"mean": 0.5, "distribution": 7.25, "heavy-hitters": "word"}
    devices = []
    for number, text in enumerate(adapter.tasks_for_all_protocols()):
        facts = adapter.task_facts(text)
        values = json.loads(text)["domain"].get("values", [given.get(facts[2])])
        sent = []
        for at, value in enumerate([values[0], values[-1], values[len(values) // 2]]):
            seed, slot = 100 * number + at, 1_000_003 * at + number
            sender, message_id = bytes([at + 1] * 16), bytes([number, at] * 8)
            message = adapter.device_message(text, [value], sender=sender, message_id=message_id, seed=seed, slot=slot)
            read = adapter.decode_message(text, message)
            sent.append({"value": value, "seed": seed, "slot": slot, "bytes": message.hex(), "read": read})
        batch = adapter.batch_of(text, [bytes.fromhex(each["bytes"]) for each in sent])
        read = adapter.decode_message(text, batch)
        devices.append({"task": text, "facts": facts, "messages": sent, "batch": batch.hex(), "read": read})
    assert sorted(device["facts"][3] for device in devices) == adapter.all_protocols()
    _write("devices.json", devices)
    (text,) = [device["task"] for device in devices if device["facts"][3] == "grr"]
    adapter.report_twice(text, folder / "device.json")
    (EXAMPLES / "device_store.json").write_bytes((folder / "device.json").read_bytes())


def _collector(folder: Path) -> None:
    devices = json.loads((EXAMPLES / "devices.json").read_text())
    messages = {device["task"]: [bytes.fromhex(each["bytes"]) for each in device["messages"]] for device in devices}
    adapter.collect(folder / "reports.sqlite", messages, now=NOW, fold_after=2)
    (EXAMPLES / "collector.sql").write_text(adapter.dump(folder / "reports.sqlite"))
    _write("collector.json", adapter.tallies_in(folder / "reports.sqlite", now=NOW))


if __name__ == "__main__":
    main()
