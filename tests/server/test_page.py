"""The page in a real browser: a newcomer signs in, sees the price while typing, asks, and runs out of budget."""

import re

import pytest
from playwright.sync_api import expect

from tests.server.conftest import Server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("page")).start()
    yield made
    made.stop()


@pytest.fixture
def page(browser, served):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    opened.complaints = []
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.goto(served.url)
    yield opened
    assert opened.complaints == []
    context.close()


def sign_in(page, key):
    page.fill("#key", key)
    page.click("#sign-in-form button")
    expect(page.locator("#ask")).to_be_visible()


def test_a_newcomer_is_told_what_is_wrong_with_a_key_and_signs_in(page, served):
    page.fill("#key", "dk_wrong_key")
    page.click("#sign-in-form button")
    expect(page.locator("#sign-in-told")).to_contain_text("Ask the owner for a key")
    sign_in(page, served.alice)
    expect(page.locator("#catalog")).to_contain_text("cost")
    expect(page.locator("#balance")).to_contain_text("left of 2")


def test_the_price_changes_while_typing_and_a_refusal_says_the_next_step(page, served):
    sign_in(page, served.alice)
    page.fill("#sql", "SELECT COUNT(*) AS n FROM patients")
    expect(page.locator("#price")).to_contain_text("n ± ")
    before = page.locator("#price").text_content()
    page.locator("#epsilon").fill("-2")
    expect(page.locator("#price")).not_to_have_text(before)
    page.fill("#sql", "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward")
    expect(page.locator("#told")).to_contain_text("Join on the column that names the person")
    expect(page.locator("#go")).to_be_disabled()


def test_an_answer_is_drawn_with_its_intervals_and_the_budget_runs_out(page, served):
    sign_in(page, served.alice)
    page.fill("#sql", "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward")
    page.locator("#epsilon").fill("0.15")
    expect(page.locator("#price")).to_contain_text("visits ± ")
    page.keyboard.press("Tab")
    page.focus("#sql")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#rows")).to_contain_text("Surgery")
    expect(page.locator("#rows")).to_contain_text("±")
    assert page.locator("#chart line.range").count() == 9  # for each of three wards a range and its two ends
    page.fill("#sql", "SELECT COUNT(*) AS n FROM visits WHERE cost > 1")
    expect(page.locator("#price")).to_contain_text("n ± ")
    page.click("#go")
    expect(page.locator("#told")).to_contain_text("above its cap")
    expect(page.locator("#told")).to_contain_text("Ask for a smaller epsilon")
    page.click("nav a[href='#budget']")
    expect(page.locator("#history")).to_contain_text("GROUP BY ward")
    expect(page.locator("#burn")).to_contain_text("1 question paid for")


def test_names_are_completed_from_the_catalog_and_escape_lets_tab_move_on(page, served):
    sign_in(page, served.alice)
    page.fill("#sql", "")
    page.locator("#sql").press_sequentially("SELECT COUNT(*) AS n FROM pat")
    expect(page.locator("#completions")).to_contain_text("patients")
    page.keyboard.press("Tab")
    expect(page.locator("#sql")).to_have_value("SELECT COUNT(*) AS n FROM patients")
    expect(page.locator("#price")).to_contain_text("n ± ")
    page.locator("#sql").press_sequentially(" WHERE ag")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator("#sql")).not_to_be_focused()
    page.click("aside button:text-is('age')")
    assert page.input_value("#sql").endswith("age")


def test_the_owner_edits_the_catalog_and_is_told_of_mistakes_by_line_and_of_risks(page, served):
    sign_in(page, served.owner)
    page.click("nav a[href='#owner']")
    expect(page.locator("#toml")).to_have_value(re.compile("privacy_unit"))
    expect(page.locator("#warnings")).to_contain_text("zip: has no declared values")
    good = page.input_value("#toml")
    page.fill("#toml", good.replace("max_rows = 20", "max_rows = 0"))
    page.click("#check")
    expect(page.locator("#catalog-told")).to_contain_text(re.compile(r"Line \d+: tables.visits.max_rows"))
    page.fill("#toml", good.replace("max_rows = 20", "max_rows = 200"))
    page.click("#save")
    expect(page.locator("#catalog-told")).to_contain_text("after the next start")
    expect(page.locator("#warnings")).to_contain_text("200 rows of a person")
    assert "max_rows = 200" in served.config.read_text()
    page.fill("#toml", good)
    page.click("#save")


def test_the_card_needs_no_key_and_nothing_is_cut_off_on_a_phone(browser, served):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{served.url}/api")
    expect(page.locator("#routes")).to_contain_text("POST /v1/ask")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.goto(f"{served.url}/#transparency")
    expect(page.locator("#card")).to_contain_text("patient_id")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    context.close()
