"""What only a test may see of a curator: exact numbers; and an engine that never finishes."""

from dataclasses import replace

from discreet.api.operations.ask import priced_plan
from discreet.api.requests.ask import AskRequest
from discreet.engines.sqlgen.kernel import Statement
from tests.sql.checking import groups, run


def planned(curator, sql, **details):
    """How a query would be answered."""
    return priced_plan(AskRequest(sql, **details), curator.context)


FOREVER = "SELECT count(*) FROM range(1000000000) a, range(1000000) b WHERE a.range + b.range = 7"


def exact_groups(curator, sql):
    """Key to the exact integers of the measures, in the first grouping of the first question."""
    return groups(run(planned(curator, sql, epsilon=1), curator._engine)[0][0])


def read_forever(curator, monkeypatch):
    """Whatever is asked, reading it takes far too long."""
    engine = curator._engine
    honest = engine._groupings

    def endless(query):
        return [replace(grouping, integers=Statement(FOREVER, {}, ())) for grouping in honest(query)]

    monkeypatch.setattr(engine, "_groupings", endless)
    monkeypatch.setattr(engine, "bind", lambda query: None)
