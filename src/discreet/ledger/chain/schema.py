"""The tables of the ledger."""

from __future__ import annotations

VERSION = 11
SCHEMA = """
CREATE TABLE ledger_entries (
    seq BIGINT PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
    previous TEXT NOT NULL, hash TEXT NOT NULL, seal TEXT);
CREATE INDEX ledger_entries_by_kind ON ledger_entries (kind, seq);
CREATE INDEX ledger_asked ON ledger_entries ({body[analyst]}, seq) WHERE kind = 'charge';
CREATE INDEX ledger_outcomes ON ledger_entries ({body[question]}, seq) WHERE kind IN ('answer', 'watch');
CREATE TABLE ledger_accounts (
    name TEXT PRIMARY KEY, kind TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, frozen INTEGER NOT NULL,
    spent_pure TEXT, spent_rho TEXT NOT NULL, spent_delta TEXT NOT NULL, spent_renyi TEXT NOT NULL,
    renews TEXT, begun TEXT, earlier TEXT);
CREATE TABLE ledger_requests (
    analyst TEXT NOT NULL, request TEXT NOT NULL, question TEXT NOT NULL, receipt TEXT NOT NULL,
    PRIMARY KEY (analyst, request));
CREATE TABLE ledger_questions (question TEXT PRIMARY KEY, answer {blob}, charged BIGINT);
CREATE TABLE ledger_paid (
    analyst TEXT NOT NULL, question TEXT NOT NULL, charged BIGINT, PRIMARY KEY (analyst, question));
CREATE TABLE ledger_steps (
    question TEXT NOT NULL, number BIGINT NOT NULL, body {blob} NOT NULL, written BIGINT NOT NULL,
    note TEXT, seal TEXT, PRIMARY KEY (question, number));
CREATE TABLE ledger_checkpoint (state TEXT NOT NULL, signature TEXT NOT NULL);
CREATE TABLE ledger_secret (value TEXT NOT NULL);
CREATE TABLE ledger_pulse (beat BIGINT NOT NULL);
INSERT INTO ledger_pulse VALUES (0);
"""
