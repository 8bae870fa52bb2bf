"""Questions in text files: accepted ones with their plan on the next line, refused ones by the code of the refusal."""

from pathlib import Path

HERE = Path(__file__).parent


def accepted():
    """(feature, question, summary of its plan)."""
    for file in sorted((HERE / "fixtures").glob("*.sql")):
        for block in file.read_text().strip().split("\n\n"):
            sql, expected = block.split("\n")
            yield file.stem, sql, expected.removeprefix("-- ")


def refused():
    """(code, question)."""
    for file in sorted((HERE / "refused").glob("*.sql")):
        yield from ((file.stem, sql) for sql in file.read_text().splitlines())
