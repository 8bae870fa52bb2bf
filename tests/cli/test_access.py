"""`discreet key` and `discreet user`, as an owner runs them: what they do is in the books, and a backup does not undo it."""

import json
import shutil

import pytest

from discreet.samples import write_clinic
from tests.support import commands


@pytest.fixture
def config(tmp_path):
    return write_clinic(tmp_path, patients=20, visits=50)


def run(config, *arguments, code=0):
    return commands.run(*arguments, "--config", config, code=code).strip()


def test_keys_and_users_are_made_listed_and_stopped_and_who_did_it_is_shown(config):
    run(config, "ledger", "new")
    key = run(config, "key", "create", "sam", "--role", "steward")
    fresh = run(config, "key", "rotate", key.split("_")[1])
    run(config, "key", "revoke", fresh.split("_")[1])
    listed = json.loads(run(config, "key", "list", "--json"))
    assert [(facts["name"], facts["role"], facts["revoked"]) for facts in listed] == [("sam", "steward", True)] * 2
    assert "proof" not in listed[0]
    commands.run_apart("user", "add", "alice", "--role", "auditor", "--config", config)
    assert run(config, "user", "list") == "alice  auditor"
    run(config, "user", "remove", "alice")
    assert run(config, "user", "list") == ""
    shown = run(config, "ledger", "show")
    assert "sam, steward" in shown
    assert shown.count("command line") >= 6
    assert run(config, "key", "create", "eve", "--role", "king", code=3).endswith("Use one of: owner, steward, analyst, auditor, metrics, shuffler.")  # fmt: skip


def test_an_analyst_gets_no_key_without_an_account_and_both_in_one_step(config):
    run(config, "ledger", "new")
    assert "--epsilon 2" in run(config, "key", "create", "bob", code=3)
    assert run(config, "key", "list") == ""
    run(config, "key", "create", "bob", "--epsilon", "1.5")
    run(config, "key", "create", "bob")
    accounts = json.loads(run(config, "budget", "--json"))["accounts"]
    assert [account["cap"]["epsilon"] for account in accounts if account["account"] == "bob"] == [1.5]
    assert "already" in run(config, "key", "create", "bob", "--epsilon", "9", code=3)
    config.write_text(config.read_text() + "\n[budget.analysts.carol]\nepsilon = 1.0\n")
    run(config, "key", "create", "carol")


def test_a_backup_that_brings_a_revoked_key_back_is_refused(config):
    ledger = config.parent / "ledger.sqlite"
    config.write_text(config.read_text().replace("[ledger]", '[ledger]\nanchor = "elsewhere/head"'))
    (config.parent / "elsewhere").mkdir()
    run(config, "ledger", "new")
    key = run(config, "key", "create", "alice")
    shutil.copy(ledger, config.parent / "backup")
    run(config, "key", "revoke", key.split("_")[1])
    shutil.copy(config.parent / "backup", ledger)
    for suffix in ("-wal", "-shm"):
        (config.parent / f"ledger.sqlite{suffix}").unlink(missing_ok=True)
    assert "does not match its anchor" in run(config, "key", "list", code=5)
