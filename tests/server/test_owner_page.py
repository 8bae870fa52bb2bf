"""The Owner page in a real browser: what the owner and a steward do there counts at once, and an analyst sees none of it."""

import re

import httpx
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from discreet.local import Task
from discreet.server.auth.keys import KeyStore
from tests.server.browsing import check_accessible
from tests.server.conftest import Server
from tests.server.test_collecting import publish

pytestmark = pytest.mark.slow
COUNT = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.01}


class Served(Server):
    """A server that printed a link, with a key for a steward."""

    def __init__(self, folder):
        super().__init__(folder)
        book = KeyStore.open(str(self.config.parent / "ledger.sqlite"))
        self.steward = book.create("sam", role="steward")
        book.close()

    @property
    def log_text(self):
        return (self.config.parent / "server.log").read_text()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Served(tmp_path_factory.mktemp("owner")).start("--link")
    yield made
    made.stop()


@pytest.fixture
def opened(browser, served):
    """Opens the page for whoever holds a key."""
    contexts, complaints = [], []

    def open_page(key=None, *, width=1200, at="", **details):
        context = browser.new_context(viewport={"width": width, "height": 900}, **details)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(served.url + at)
        if key:
            page.fill("#key", key)
            page.click("#sign-in-form button")
            expect(page.locator("#sign-out")).to_be_visible()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def part(page, name):
    page.click("nav a[href='#owner']")
    page.click(f"nav a[href='#owner/{name}']")
    expect(page.locator(f"nav a[href='#owner/{name}']")).to_have_attribute("aria-current", "true")


def test_the_link_on_the_terminal_signs_the_owner_in_once_and_is_in_no_log(opened, served):
    (token,) = re.findall("#sign-in/([0-9a-f]{32})", served.log_text)
    page = opened(at=f"/#sign-in/{token}")
    expect(page.locator("#who")).to_have_text("owner")
    assert token not in page.url
    assert token not in page.evaluate("() => JSON.stringify(history.state) + document.documentElement.outerHTML")
    page.reload()
    expect(page.locator("nav a[href='#owner']")).to_be_visible()
    again = opened(at=f"/#sign-in/{token}")
    expect(again.locator("#sign-in-told")).to_contain_text("was used already, or has expired")
    page.click("#sign-out")
    expect(page.locator("#sign-in")).to_be_visible()
    served.get("/healthz")
    assert served.log_text.count(token) == 1, "as it was printed"


def test_the_owner_adds_an_analyst_with_an_account_and_changes_freezes_and_thaws_it(opened, served):
    page = opened(served.owner)
    part(page, "analysts")
    page.fill("form.line >> label:has-text('name') >> input", "bob")
    page.fill("form.line >> label:has-text('may spend') >> input", "1.5")
    page.click("text=Add and create a key")
    key = page.locator("#new-key").text_content()
    assert served.ask(COUNT, key=key).status_code == 200
    bob = page.locator(".account", has_text="bob")
    expect(bob).to_contain_text("of ε 1.5")
    bob.get_by_role("button", name="the cap of bob").click()
    bob.locator("input").fill("0.005")
    page.click("text=Set the cap")
    expect(bob).to_contain_text("of ε 0.005")
    assert served.ask({**COUNT, "epsilon": 0.02}, key=key).json()["error"]["code"] == "budget-exceeded"
    bob.get_by_role("button", name="Freeze").click()
    expect(bob).to_contain_text("frozen")
    assert served.ask(COUNT, key=key).json()["error"]["code"] == "account-frozen"
    bob.get_by_role("button", name="Unfreeze").click()
    expect(page.locator("#owner-said")).to_contain_text("can run queries again")
    assert served.ask(COUNT, key=key).status_code == 200
    part(page, "done")
    expect(page.locator("#done")).to_contain_text("set the cap of bob to ε 0.005")


def test_a_budget_that_renews_says_when_and_the_card_what_its_periods_come_to(opened, served):
    page = opened(served.owner)
    page.goto(f"{served.url}/#owner/analysts")  # drawn once: a form that is opened stays
    alice = page.locator(".account", has_text="alice")
    alice.get_by_role("button", name="the cap of alice").click()
    alice.locator("select").select_option("each week")
    page.click("text=Set the cap")
    expect(alice).to_contain_text("each week")
    expect(alice).to_contain_text("renews on 20")
    before = served.config.read_text()
    owner = {"Authorization": f"Bearer {served.owner}"}
    renewed = before.replace("epsilon = 500.0", 'epsilon = 5.0\nrenews = "monthly"')
    httpx.put(f"{served.url}/v1/catalog/source", json={"text": renewed}, headers=owner).raise_for_status()
    served.ask({**COUNT, "epsilon": 0.5}).raise_for_status()
    page.click("nav a[href='#budget']")
    expect(page.locator("#accounts")).to_contain_text("each month")
    expect(page.locator("#accounts")).to_contain_text("a year allows ε\u00a060")
    check_accessible(page)
    page.click("nav a[href='#transparency']")
    says = page.locator("#card-says")
    expect(says).to_contain_text("All answers that are paid for in one month stay below ε 5")
    expect(says).to_contain_text("After k of them the promise is k × ε 5")
    expect(says).to_contain_text("up to ε\u00a060")
    expect(page.locator("#card")).to_contain_text("used in all")
    check_accessible(page)
    httpx.put(f"{served.url}/v1/catalog/source", json={"text": before}, headers=owner).raise_for_status()


def test_keys_are_made_rotated_and_revoked_and_a_new_analyst_needs_a_cap(opened, served):
    page = opened(served.owner)
    part(page, "keys")
    cap = page.locator("form.line label", has_text="may spend")
    page.fill("form.line >> label:has-text('for') >> input", "alice")
    expect(cap).to_be_hidden()
    page.fill("form.line >> label:has-text('for') >> input", "carol")
    expect(cap).to_be_visible()
    page.click("#owner-part >> text=Create key")
    expect(page.locator("#new-key")).to_be_hidden()
    cap.locator("input").fill("1")
    page.click("#owner-part >> text=Create key")
    first = page.locator("#new-key").text_content()
    row = page.locator("tr", has_text="carol")
    row.get_by_role("button", name="Rotate").click()
    row.get_by_role("button", name="Rotate").click()
    expect(page.locator("#new-key")).not_to_have_text(first)
    second = page.locator("#new-key").text_content()
    assert [served.get("/v1/budget", key=key).status_code for key in (first, second)] == [401, 200]
    row = page.locator("tr", has_text=second.split("_")[1])
    row.get_by_role("button", name="Revoke").click()
    row.get_by_role("button", name="Not now").click()
    row.get_by_role("button", name="Revoke").click()
    row.get_by_role("button", name="Revoke").click()
    expect(page.locator("#owner-said")).to_contain_text("is revoked")
    assert served.get("/v1/budget", key=second).status_code == 401


def test_a_steward_refreshes_and_lets_users_in_and_has_no_catalog(opened, served):
    page = opened(served.steward)
    part(page, "users")
    page.fill("form.line >> label:has-text('as the proxy sends it') >> input", "dora")
    page.select_option("form.line select", "auditor")
    page.click("text=Give the role")
    expect(page.locator("tr", has_text="dora")).to_contain_text("auditor")
    for hidden in ("catalog", "collections", "done"):
        expect(page.locator(f"nav a[href='#owner/{hidden}']")).to_be_hidden()
    page.goto(f"{served.url}/#owner/catalog")
    expect(page.locator("#owner-part")).to_contain_text("Remaining budgets")
    visits = served.config.parent / "visits.parquet"
    rows = pq.read_table(visits)
    pq.write_table(rows.slice(1), visits)
    part(page, "data")
    expect(page.locator("#serving-news")).to_contain_text("The source changed on disk")
    page.get_by_role("button", name="Refresh the data").click()
    page.get_by_role("button", name="Refresh the data").click()
    expect(page.locator("#owner-said")).to_have_text("Data version 2 is served; before, it was 1.")
    expect(page.locator("#serving")).to_contain_text("2, since")
    page.reload()
    expect(page.locator("#dataset")).to_contain_text("version 2")


def test_a_catalog_with_a_mistake_on_disk_is_told_by_its_line_and_the_old_one_is_served(opened, served):
    good = served.config.read_text()
    page = opened(served.owner)
    served.config.write_text(good.replace("max_rows = 20", "max_rows = 0"))
    try:
        page.wait_for_timeout(2500)  # until the server has looked
        part(page, "catalog")
        expect(page.locator("#serving-news")).to_contain_text(re.compile(r"still is.*Line \d+: tables.visits.max_rows"))
        expect(page.locator("#toml")).to_have_value(re.compile("max_rows = 0"))
        assert served.ask(COUNT).status_code == 200
        page.fill("#toml", good)
        page.click("#save")
        expect(page.locator("#catalog-said")).to_have_text("Saved, and served.")
        expect(page.locator("#serving-news")).to_be_empty()
    finally:
        served.config.write_text(good)


def test_a_collection_is_begun_on_the_page(opened, served):
    page = opened(served.owner)
    page.goto(f"{served.url}/#owner/collections")
    page.fill("form.line >> label:has-text('name') >> input", "pets")
    page.fill("form.line >> label:has-text('with commas') >> input", "cat, dog,fish")
    page.fill("form.line >> label:has-text('ε of a report') >> input", "1.5")
    page.click("text=Create collection")
    expect(page.locator("#owner-said")).to_contain_text("pets is open")
    expect(page.locator("tr", has_text="pets")).to_contain_text("ε 1.5")
    page.fill("form.line >> label:has-text('name') >> input", "steps")
    page.select_option("form.line select", "a number")
    page.fill("form.line >> label:has-text('lowest') >> input", "9")
    assert page.locator("form.line input:invalid").count() >= 1
    asks = {"name": "steps", "epsilon": 1, "between": [9]}
    owner = {"Authorization": f"Bearer {served.owner}"}
    refused = httpx.post(f"{served.url}/v1/tasks", json={"asks": asks}, headers=owner, timeout=60).json()
    assert refused["error"]["code"] == "bad-task"
    page.fill("form.line >> label:has-text('ε of a report') >> input", "1")
    page.fill("form.line >> label:has-text('lowest') >> input", "0, 30000")
    page.click("text=Create collection")
    expect(page.locator("tr", has_text="steps")).to_contain_text("ε 1")
    tasks = {task["name"]: task for task in served.get("/v1/tasks").json()["tasks"]}
    assert {"pets", "steps"} <= set(tasks)


def test_a_collection_is_closed_and_deleted(opened, served):
    publish(served, Task.frequency("ice cream", domain=["vanilla", "lemon"], epsilon=1.0), retention_days=30)
    page = opened(served.owner)
    part(page, "collections")
    row = page.locator("tr", has_text="ice cream")
    expect(row).to_contain_text("until 2")
    for name, after in (("Close", "closed"), ("Delete", None)):
        row.get_by_role("button", name=name).click()
        row.get_by_role("button", name=name).click()
        if after:
            expect(row).to_contain_text(after)
    expect(row).to_have_count(0)


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1200, "light")])
def test_every_part_is_accessible_and_nothing_is_cut_off(opened, served, width, theme):
    page = opened(served.owner, width=width, color_scheme=theme)
    for name in ("analysts", "keys", "users", "data", "catalog", "collections", "done"):
        part(page, name)
        page.wait_for_timeout(100)
        check_accessible(page)


def test_an_analyst_sees_no_owner_page_and_its_routes_refuse(opened, served):
    page = opened(served.alice)
    expect(page.locator("nav a[href='#owner']")).to_be_hidden()
    page.goto(f"{served.url}/#owner/keys")
    expect(page.locator("#ask")).to_be_visible()
    expect(page.locator("#owner")).to_be_hidden()
    for path in ("/v1/serving", "/v1/keys", "/v1/users", "/v1/catalog/source", "/v1/collections", "/v1/ledger"):
        assert served.get(path).status_code == 403
