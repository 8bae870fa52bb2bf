"""Mistakes that people make in catalogs and CSV files, by chance; and what must come of each: it is served, or refused by name."""

import random
import re
from pathlib import Path

from discreet.api.local import Curator
from discreet.api.opening import open_curator
from discreet.catalog import load_catalog
from discreet.cli.terminal.exit_codes import ExitCode, exit_code
from discreet.errors import DiscreetError
from discreet.sql.builder import quote

CATALOG = """[source]
path = "."

[ledger]
path = ":memory:"

[budget]
epsilon = 5.0
delta = 1e-6

[budget.analysts.alice]
epsilon = 2.0

[tables.patients]
privacy_unit = "patient_id"
columns.patient_id = { type = "integer" }
columns.age = { type = "integer", lower = 0, upper = 110 }
columns."größe (cm)" = { type = "real", lower = 0, upper = 250 }

[tables.visits]
privacy_unit = "patient_id"
max_rows = 20
columns.patient_id = { type = "integer" }
columns.ward = { type = "text", values = ["ER", "ICU"] }
columns.date = { type = "date", lower = 2020-01-01, upper = 2025-12-31 }

[tables.staff]
privacy_unit = "row"
columns.pay = { type = "real", lower = 0, upper = 10000 }

[tables.wards]
public = true
"""
FILES = {
    "patients.csv": 'patient_id,age,größe (cm),note\n1,30,170.5,\n2,41,180,"a ""b"", c"\n3,,,\n',
    "visits.csv": "patient_id;ward;date\n1;ER;2024-01-01\n1;ICU;2024-02-01 10:30:00\n2;ER;\n9;;2024-01-01\n",
    "staff.csv": "pay\n1000\n2000.5\nmuch\n",
    "wards.csv": "ward,floor\nER,1\nICU,2\n",
}
PIECES = ['"', "'", "=", ".", ",", "[", "]", "{", "}", "#", "\n", "\r\n", "\r", "-", "0", "1e999", "nan", "true", "$", "\0", "é", "\u2028", " ", "\t", "x", "\\", ";", "|"]  # fmt: skip
WORDS = ["type", "lower", "upper", "values", "privacy_unit", "public", "row", "max_rows", "integer", "text", "date", "patient_id", "people", "bounding", "-1", "2020-01-01", "[]", "{}", '""', "1979-05-27T07:32:00Z", "inf"]  # fmt: skip
NAMED = re.compile(
    r"[Ll]ine \d+|end of document|is missing|no known|for the table .|(patients|visits|staff|wards)\b", re.IGNORECASE
)


def edited(text: str, rng: random.Random) -> bytes:
    """A text after one to three slips: letters, lines or words lost, doubled, exchanged, put in; now and then no text at all."""
    for _ in range(rng.randint(1, 3)):
        lines, at = text.split("\n"), rng.randrange(len(text) + 1)
        line = rng.randrange(len(lines))
        match rng.randrange(8):
            case 0:
                text = text[:at] + text[at + rng.randint(1, 4) :]
            case 1:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 2:
                text = "\n".join([*lines[:line], *lines[line + 1 :]])
            case 3:
                text = "\n".join([*lines[:line], lines[line], *lines[line:]])
            case 4:
                other = rng.randrange(len(lines))
                lines[line], lines[other] = lines[other], lines[line]
                text = "\n".join(lines)
            case 5 if words := list(re.finditer(r"\w+", text)):
                word = rng.choice(words)
                text = text[: word.start()] + rng.choice(WORDS) + text[word.end() :]
            case 6:
                text = text[:at]
            case _:
                text = text[:at] + text[at : at + 1].swapcase() + text[at + 1 :]
    written = text.encode("utf-16" if rng.random() < 1 / 50 else "utf-8", "replace")
    if rng.random() < 1 / 20 and written:
        at = rng.randrange(len(written))
        written = written[:at] + rng.choice([b"\xff", b"\xc3", b"\xef\xbb\xbf"]) + written[at:]
    return written


def write(folder: Path, **changed: bytes) -> Path:
    """The catalog and the files, some of them changed."""
    files = {"discreet.toml": CATALOG, **FILES}
    for name, text in files.items():
        (folder / name).write_bytes(changed.get(name, text.encode()))
    return folder / "discreet.toml"


def outcome(config: Path) -> str:
    """`served`, or the code of a refusal that names its place; anything else is an error, and so is a price that was said to be unpaid."""
    try:
        catalog = load_catalog(config)
        if catalog.ledger != ":memory:" and Path(catalog.ledger).parent != config.parent:
            return "elsewhere"  # which might be anywhere on this machine
        curator = open_curator(config, create_ledger=True)
    except DiscreetError as error:
        return _named(error)
    with curator:
        for table in curator.declared.tables.values():
            if not table.is_public and (refused := _refusal(curator, quote(table.name))):
                return refused
    return "served"


def _refusal(curator: Curator, table: str) -> str:
    """The code of a question's refusal, empty if it is answered; the books must have paid for an answer, and for nothing else."""
    before = curator.ledger.account().spent.epsilon
    code, price = "", 0.25
    try:
        curator.ask(curator.table(table).count("n"), epsilon=price)
    except DiscreetError as error:
        code, price = _named(error), 0.0 if exit_code(error) is ExitCode.REFUSED else price
    assert curator.ledger.account().spent.epsilon == before + price
    return code


def _named(error: DiscreetError) -> str:
    """The code of an error that says where and what to do."""
    assert NAMED.search(error.problem), error.problem
    assert error.next_step
    return error.code


def catalog_outcome(folder: Path, seed: int) -> str:
    """What comes of the catalog with slips in it."""
    return outcome(write(folder, **{"discreet.toml": edited(CATALOG, random.Random(f"catalog {seed}"))}))


def file_outcome(folder: Path, seed: int) -> str:
    """What comes of one of the files with slips in it."""
    rng = random.Random(f"file {seed}")
    name = rng.choice(sorted(FILES))
    return outcome(write(folder, **{name: edited(FILES[name], rng)}))
