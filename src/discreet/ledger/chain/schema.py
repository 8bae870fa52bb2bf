"""The tables of the books, one script a version: append, and never change one that was released."""

from __future__ import annotations

SCHEMA = [
    """
    CREATE TABLE ledger_entries (
        seq BIGINT PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
        previous TEXT NOT NULL, hash TEXT NOT NULL);
    CREATE TABLE ledger_accounts (
        name TEXT PRIMARY KEY, kind TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, frozen INTEGER NOT NULL,
        spent_pure TEXT, spent_rho TEXT NOT NULL, spent_delta TEXT NOT NULL, spent_renyi TEXT NOT NULL);
    CREATE TABLE ledger_requests (
        analyst TEXT NOT NULL, request TEXT NOT NULL, question TEXT NOT NULL, receipt TEXT NOT NULL,
        PRIMARY KEY (analyst, request));
    CREATE TABLE ledger_questions (question TEXT PRIMARY KEY, answer {blob});
    CREATE TABLE ledger_paid (analyst TEXT NOT NULL, question TEXT NOT NULL, PRIMARY KEY (analyst, question));
    """,
    "",  # the tables stay; entries may name neighbours and formats, which version 1 cannot replay
    "CREATE INDEX ledger_entries_by_kind ON ledger_entries (kind, seq)",
    # what counts as paid names the entry that says so; what is looked up has an index; a checkpoint
    """
    ALTER TABLE ledger_questions ADD COLUMN charged BIGINT;
    ALTER TABLE ledger_paid ADD COLUMN charged BIGINT;
    CREATE INDEX ledger_filling ON ledger_entries ({body[question]}, seq) WHERE kind = 'charge';
    UPDATE ledger_questions SET charged = (SELECT MIN(seq) FROM ledger_entries
        WHERE kind = 'charge' AND {body[question]} = ledger_questions.question);
    UPDATE ledger_paid SET charged = (SELECT MIN(seq) FROM ledger_entries
        WHERE kind = 'charge' AND {body[question]} = ledger_paid.question
        AND COALESCE({body[analyst]}, '') = ledger_paid.analyst);
    DROP INDEX ledger_filling;
    CREATE INDEX ledger_asked ON ledger_entries ({body[analyst]}, seq) WHERE kind = 'charge';
    CREATE INDEX ledger_outcomes ON ledger_entries ({body[question]}, seq) WHERE kind IN ('answer', 'watch');
    CREATE TABLE ledger_checkpoint (state TEXT NOT NULL, signature TEXT NOT NULL);
    """,
    # what fingerprints are keyed with, and a row to find out whether anything can be written
    """
    CREATE TABLE ledger_secret (value TEXT NOT NULL);
    CREATE TABLE ledger_pulse (beat BIGINT NOT NULL);
    INSERT INTO ledger_pulse VALUES (0);
    """,
    # what shows that an entry was written by somebody who holds the secret
    "ALTER TABLE ledger_entries ADD COLUMN seal TEXT",
    # what was drawn along the way, with the number of the entry that says so
    """
    CREATE TABLE ledger_steps (
        question TEXT NOT NULL, number BIGINT NOT NULL, body {blob} NOT NULL, written BIGINT NOT NULL,
        PRIMARY KEY (question, number));
    """,
    # how often a cap renews, the first day of the period, and what was charged before it
    """
    ALTER TABLE ledger_accounts ADD COLUMN renews TEXT;
    ALTER TABLE ledger_accounts ADD COLUMN begun TEXT;
    ALTER TABLE ledger_accounts ADD COLUMN earlier TEXT;
    """,
    "",  # the tables stay; entries may say whom prices are about, which catalog answers and whose account is closed
    "",  # the tables stay; entries may say whom the catalog lists, and repeats refer to the entry that has their words
    # a step waits, under a seal of its own, until what it brought about leaves: then its entry is written
    """
    ALTER TABLE ledger_steps ADD COLUMN note TEXT;
    ALTER TABLE ledger_steps ADD COLUMN seal TEXT;
    """,
]
