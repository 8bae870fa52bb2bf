"""The page in a real browser: a newcomer signs in, sees the price while typing, asks, shares, and runs out of budget."""

import csv
import io
import json
import os
import re
from contextlib import contextmanager
from urllib.parse import unquote_plus

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from tests.server.browsing import check_accessible
from tests.server.conftest import Server

pytestmark = pytest.mark.slow
WARDS = "SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("page")).start()
    yield made
    made.stop()


@contextmanager
def opened(browser, url):
    """The page of a server, about which the console has nothing to complain."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.complaints = []
    listen(page, page.complaints)
    page.goto(url)
    yield page
    assert page.complaints == []
    context.close()


@pytest.fixture
def page(browser, served):
    with opened(browser, served.url) as page:
        yield page


EXPECTED = ("Failed to load resource", "Applying inline style")
"""Refusals, which the page tells in words; and what the browser does when `fill` writes over a text in one piece, which no key does."""


def listen(page, complaints, *, expected=EXPECTED):
    """Note all that the console complains about."""
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda said: (
            complaints.append(said.text)
            if said.type == "error" and not any(words in said.text for words in expected)
            else None
        ),
    )


def sign_in(page, key):
    page.fill("#key", key)
    page.click("#sign-in-form button")
    expect(page.locator("#ask")).to_be_visible()


def ask(page, sql, *, slider=None):
    page.fill("#sql", sql)
    page.keyboard.press("Escape")
    if slider is not None:
        page.locator("#epsilon").fill(slider)
    expect(page.locator("#offer-error")).to_contain_text("±")
    expect(page.locator("#go")).to_be_enabled()
    page.click("#go")
    expect(page.locator("#answer-old")).to_be_hidden()
    expect(page.locator("#answer-cost")).to_contain_text("ε")


def test_a_newcomer_is_told_what_is_wrong_with_a_key_and_finds_a_first_question_of_this_catalog(page, served):
    page.fill("#key", "dk_wrong_key")
    page.click("#sign-in-form button")
    expect(page.locator("#sign-in-told")).to_contain_text("Ask the owner for a new one")
    sign_in(page, served.alice)
    expect(page.locator("#catalog")).to_contain_text("cost")
    expect(page.locator("#balance")).to_contain_text(" left")
    expect(page.locator("#offer-error")).to_contain_text("±")
    expect(page.locator("#go")).to_be_enabled()
    page.fill("#sql", "")
    expect(page.locator("#starters")).to_contain_text("visits by ward")
    page.click("#sign-out")
    expect(page.locator("#sign-in")).to_be_visible()


def test_the_price_follows_the_question_and_a_refusal_marks_its_place_and_stays(page, served):
    sign_in(page, served.alice)
    page.fill("#sql", "SELECT COUNT(*) AS n FROM patients")
    expect(page.locator("#offer-error")).to_contain_text("n ± ")
    before = page.locator("#offer-error").text_content()
    page.locator("#epsilon").fill("-2")
    expect(page.locator("#offer-error")).not_to_have_text(before)
    page.fill("#within", "20")
    expect(page.locator("#offer-error")).to_contain_text(re.compile(r"n ±\s(20|19)"))
    page.fill("#sql", "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward")
    expect(page.locator("#told")).to_contain_text("Join on the person's id")
    expect(page.locator("#go")).to_be_disabled()
    page.fill("#sql", "SELECT wrd, COUNT(*) AS n\nFROM visits GROUP BY wrd")
    expect(page.locator("#sql .cm-lintRange-error")).to_have_text("wrd")
    expect(page.locator("#told")).to_contain_text("line 2")
    page.wait_for_timeout(400)
    expect(page.locator("#told")).to_contain_text("Did you mean ward?")
    page.click("#told button")
    expect(page.locator("#sql")).to_contain_text("GROUP BY ward")


def test_an_answer_is_drawn_whole_and_asked_again_it_is_free_and_says_so_before(page, served):
    sign_in(page, served.alice)
    ask(page, WARDS, slider="-1")
    expect(page.locator("#answer-cost")).to_have_text(re.compile(r"Charged ε\s0\.1\."))
    assert page.locator("#chart svg").count() == 2  # both measures
    assert page.locator("#chart line.range").count() == 18  # for each of three wards a range and its two ends, twice
    expect(page.locator("#offer-free")).to_be_visible()
    page.click("#go")
    expect(page.locator("#answer-cost")).to_contain_text("Free: asked before")
    page.fill("#sql", WARDS.replace("ward,", "ward AS unit,"))
    expect(page.locator("#answer-old")).to_be_visible()
    page.click("#answer-back")
    expect(page.locator("#answer-old")).to_be_hidden()
    page.click("#tab-table")
    expect(page.locator("#rows")).to_contain_text("Surgery")
    page.click("#tab-python")
    expect(page.locator("#python")).to_contain_text("epsilon=0.1")


def test_a_link_and_a_saved_question_show_a_stored_answer_without_asking_and_files_are_plain(page, served):
    sign_in(page, served.alice)
    ask(page, WARDS, slider="-1")
    asked = len(served.get("/v1/history").json()["queries"])
    link = page.url
    assert "GROUP BY ward" in unquote_plus(link)
    page.click("#tab-download")
    for name, read in [("CSV", lambda data: list(csv.DictReader(io.StringIO(data.decode())))), ("JSON", json.loads),
                       ("Parquet", lambda data: pq.read_table(io.BytesIO(data)).to_pylist())]:  # fmt: skip
        with page.expect_download() as download:
            page.click(f"#files button:text-is('{name}')")
        rows = read(download.value.path().read_bytes())
        assert [row["ward"] for row in rows] == ["ER", "ICU", "Surgery"]
        assert all(float(row["visits_low"]) < float(row["visits"]) < float(row["visits_high"]) for row in rows)
    page.click("#answer-save")
    page.fill("#save-name", "by ward")
    page.check("#save-shared")
    page.click("#save-form button")
    expect(page.locator("#saved-list")).to_contain_text("by ward")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#answer-cost")).to_contain_text("Free: asked before")
    (saved,) = served.get("/v1/saved").json()["saved"]
    page.click("#sign-out")
    expect(
        page.locator("#sign-in")
    ).to_be_visible()  # signing out loads the page anew, which would undo an earlier change of address
    page.goto(f"{served.url}/#saved/{saved['number']}")
    page.fill("#key", served.owner)
    page.click("#sign-in-form button")
    expect(page.locator("#saved-title")).to_contain_text("by ward, shared by alice")
    expect(page.locator("#answer-cost")).to_contain_text("alice’s answer")
    assert len(served.get("/v1/history").json()["queries"]) == asked


def test_what_is_beyond_the_budget_says_so_before_it_is_asked_and_the_budget_page_shows_why(page, served):
    sign_in(page, served.alice)
    ask(page, "SELECT COUNT(*) AS n FROM visits WHERE cost > 1", slider="0")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM visits WHERE cost > 2")
    page.locator("#epsilon").fill("0.6")
    expect(page.locator("#told")).to_contain_text("more than what remains")
    expect(page.locator("#go")).to_be_disabled()
    expect(page.locator("#offer")).not_to_contain_text("leaves")
    page.click("#told button")
    expect(page.locator("#go")).to_be_enabled()
    expect(page.locator("#offer-price")).to_contain_text("nothing")
    page.click("nav a[href='#budget']")
    expect(page.locator("#history")).to_contain_text("GROUP BY ward")
    expect(page.locator("#asked-says")).to_contain_text("saved ε")
    expect(page.locator("#burn .spent")).to_have_count(1)


def test_names_are_completed_from_the_catalog_and_without_a_completion_tab_moves_on(page, served):
    sign_in(page, served.alice)
    page.fill("#sql", "")
    page.locator("#sql").press_sequentially("SELECT COUNT(*) AS n FROM pat")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("patients")
    page.wait_for_timeout(150)  # what has just appeared is not taken by a key that was meant for something else
    page.keyboard.press("Tab")
    expect(page.locator("#sql")).to_have_text("SELECT COUNT(*) AS n FROM patients")
    expect(page.locator("#offer-error")).to_contain_text("n ± ")
    page.keyboard.press("Tab")
    expect(page.locator("#sql")).not_to_be_focused()
    page.click("aside button:text-is('age')")
    expect(page.locator("#sql")).to_have_text(re.compile("age$"))


def test_who_asks_by_the_keyboard_is_left_with_no_list_of_names(page, served):
    sign_in(page, served.alice)
    page.fill("#sql", "")
    page.locator("#sql").press_sequentially("SELECT COUNT(*) AS n FROM visits")
    expect(page.locator(".cm-tooltip-autocomplete")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".cm-tooltip-autocomplete")).to_have_count(0)


def test_the_owner_edits_the_catalog_and_is_told_of_mistakes_by_line_and_of_risks(page, served):
    sign_in(page, served.owner)
    page.click("nav a[href='#owner']")
    page.click("nav a[href='#owner/catalog']")
    expect(page.locator("#toml")).to_have_value(re.compile("privacy_unit"))
    expect(page.locator("#warnings")).to_contain_text("zip: has no declared values")
    good = page.input_value("#toml")
    page.fill("#toml", good.replace("max_rows = 20", "max_rows = 0"))
    page.click("#check")
    expect(page.locator("#catalog-told")).to_contain_text(re.compile(r"Line \d+: tables.visits.max_rows"))
    page.fill("#toml", good.replace("max_rows = 20", "max_rows = 200"))
    page.click("#save")
    expect(page.locator("#catalog-said")).to_have_text("Saved, and served.")
    expect(page.locator("#warnings")).to_contain_text("200 rows per person")
    assert "max_rows = 200" in served.config.read_text()
    page.fill("#toml", good)
    page.click("#save")


@pytest.fixture
def broken(tmp_path):
    """A server that is about to lose its data."""
    made = Server(tmp_path).start()
    yield made
    made.stop()


def test_a_question_that_fails_says_so_and_stays_and_shows_what_was_paid_and_who_is_frozen(browser, broken):
    with opened(browser, broken.url) as page:
        sign_in(page, broken.alice)
        ask(page, "SELECT COUNT(*) AS n FROM patients", slider="-1")
        os.truncate(f"{broken.config.parent}/ledger.sqlite.snapshot", 4096)  # what the server answers from is gone
        page.fill("#sql", WARDS)
        expect(page.locator("#offer-error")).to_contain_text("visits ±")
        page.click("#go")
        expect(page.locator("#told")).to_contain_text("could not answer. The query was charged.")
        expect(page.locator("#balance")).to_have_text("frozen")
        with page.expect_response("**/v1/explain"):  # the price is asked for again, and takes nothing away
            page.locator("#epsilon").dispatch_event("input")
        expect(page.locator("#told")).to_contain_text("Report this to the owner of the data.")
        expect(page.locator("#go")).to_be_disabled()
        expect(page.locator("#answer-old")).to_be_visible()
        check_accessible(page)
        page.fill("#sql", "SELECT COUNT(*) AS n FROM visits")
        expect(page.locator("#told")).to_contain_text("The account alice is frozen")
        page.click("nav a[href='#budget']")
        expect(page.locator("#budget")).to_contain_text("frozen")
        expect(page.locator("#history")).to_contain_text("GROUP BY ward")
        page.click("nav a[href='#ask']")
        expect(page.locator("#sql")).to_be_visible()
        broken.stop()
        page.fill("#sql", "SELECT COUNT(*) AS n FROM wards")
        expect(page.locator("#told")).to_contain_text("cannot be reached")


@pytest.mark.parametrize(
    ("who", "width", "theme"), [("stranger", 1200, "light"), ("alice", 390, "dark"), ("owner", 640, "light")]
)
def test_every_page_is_accessible_to_everybody_who_may_see_it(browser, served, who, width, theme):
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=theme, reduced_motion="reduce")
    page, complaints = context.new_page(), []
    listen(page, complaints)
    page.goto(served.url)
    expect(page.locator("#sign-in")).to_be_visible()
    check_accessible(page)
    pages = ["transparency", "collect"]
    if who != "stranger":
        sign_in(page, getattr(served, who))
        ask(page, WARDS, slider="-1")
        pages += ["budget", "attacks", *(["books", "owner"] if who == "owner" else [])]
        for view in ("table", "python", "download", "chart"):
            page.click(f"#tab-{view}")
            check_accessible(page)
    for name in pages:
        page.click(f"nav a[href='#{name}']")
        expect(page.locator(f"#{name}")).to_be_visible()
        expect(page.locator("header nav a[aria-current]")).to_have_count(1)
        check_accessible(page)
    page.goto(f"{served.url}/api")
    expect(page.locator("#routes")).to_contain_text("POST /v1/ask")
    check_accessible(page)
    assert complaints == []
    context.close()


def test_typing_over_a_coloured_question_leaves_no_complaint_on_the_console(page, served):
    listen(page, page.complaints, expected=EXPECTED[:1])
    sign_in(page, served.alice)
    page.click("#sql")
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT 1")
    expect(page.locator("#sql")).to_have_text("SELECT 1")


def test_the_card_needs_no_key_and_nothing_is_cut_off_on_a_phone(browser, served):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{served.url}/api")
    expect(page.locator("#routes")).to_contain_text("POST /v1/ask")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.goto(f"{served.url}/#transparency")
    expect(page.locator("#card")).to_contain_text("patient_id")
    # "nobody can tell" would be untrue at any epsilon
    expect(page.locator("#card-says")).to_contain_text("no one can be sure")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    context.close()
