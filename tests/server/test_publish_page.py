"""The Publish page in a real browser: the price while choosing, a refusal that stays, what was made with its bounds, files; and the owner publishes it."""

import csv
import io
from contextlib import contextmanager
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from discreet.synthetic.synthetic_release import SyntheticRelease
from tests.server.browsing import check_accessible
from tests.server.conftest import PATIENCE, Server
from tests.server.test_page import listen, sign_in

pytestmark = pytest.mark.slow
NAME = "visits of 2026, 50 %?"
"""A name that an address must write in another way."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One whose answers leave at once: a run is given half a minute."""
    made = Server(tmp_path_factory.mktemp("publish")).start("--class-ms", "0")
    yield made
    made.stop()


@contextmanager
def opened(browser, served, key, **details):
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **details})
    page, complaints = context.new_page(), []
    listen(page, complaints)
    page.goto(served.url)
    sign_in(page, key)
    page.click("nav a[href='#publish']")
    expect(page.locator("#publish-epsilon")).to_have_value("")  # nothing has a price that nobody named
    page.fill("#publish-epsilon", "0.5")
    expect(page.locator("#publish-price")).to_contain_text("ε")
    yield page
    assert complaints == []
    context.close()


def spent(served):
    return [account["spent"]["epsilon"] for account in served.get("/v1/budget").json()["accounts"]]


def downloaded(page, name):
    with page.expect_download() as caught:
        page.click(f"#release-files button:text-is('{name}')")
    assert caught.value.suggested_filename.startswith("visits")
    return Path(caught.value.path())


@pytest.fixture(scope="module")
def made(browser, served):
    """What an analyst has chosen, after a refusal, and paid for."""
    with opened(browser, served, served.alice) as page:
        expect(page.locator("#publish-columns div", has_text="zip")).to_contain_text("not public")
        page.check("#publish-columns input[value='zip']")
        expect(page.locator("#publish-small")).to_contain_text("the cost of finding the values of zip")
        page.fill("#publish-columns div:has(input[value='zip']) [data-kind='found']", "0.2")
        page.fill("#publish-columns div:has(input[value='age']) [data-kind='bins']", "16")
        expect(page.locator("#publish-price")).to_contain_text("and ε\u00a00.2 to find the values of zip")
        expect(page.locator("#publish-columns div", has_text="age")).to_contain_text("16 values or bins")
        expect(page.locator("#publish-columns div", has_text="zip")).to_contain_text("unknown until they are found")
        page.select_option("#publish-table", "visits")
        expect(page.locator("#publish-columns div", has_text="cost")).to_contain_text("32 values or bins")
        expect(page.locator("#publish-notes")).to_contain_text("20 rows")
        page.fill("#publish-epsilon", "50")
        expect(page.locator("#publish-told")).to_contain_text("more than what remains: alice")
        expect(page.locator("#publish-go")).to_be_disabled()
        check_accessible(page)
        assert spent(served) == [0, 0]
        expect(page.locator("#publish-exactness")).to_contain_text("3 tables of 2 columns")
        page.fill("#publish-rows", "4000")
        expect(page.locator("#publish-exactness tr", has_text="ward")).to_contain_text("±")
        page.fill("#publish-epsilon", "0.5")
        expect(page.locator("#publish-told")).to_be_empty()
        page.uncheck("#publish-columns input[value='date']")
        page.fill("#publish-name", NAME)
        expect(page.locator("#publish-small")).to_contain_text("1 table of 2 columns")
        expect(page.locator("#publish-go")).to_be_enabled()
        page.click("#publish-go")
        expect(page.locator("#release-head")).to_have_text(NAME)
        yield page


def test_an_analyst_makes_a_release_and_sees_it_with_its_bounds(served, made):
    expect(made.locator("#release-facts")).to_contain_text("ward 3, cost 32")
    expect(made.locator("#release-bars svg")).to_have_count(2)
    expect(made.locator("#release-bars")).to_contain_text("All counts of ward together are off by at most")
    expect(made.locator("#release-heat .pair")).to_have_count(2)
    expect(made.locator("#release-published")).to_contain_text("Visible to you and the owner")
    expect(made.locator("#release-published button")).to_have_count(0)
    expect(made.locator("#release-tabs")).to_be_hidden()
    expect(made.locator("#view-real")).to_be_hidden()
    check_accessible(made)
    rows = list(csv.DictReader(io.StringIO(downloaded(made, "CSV").read_text())))
    assert {row["ward"] for row in rows} <= {"ER", "ICU", "Surgery"}
    table = pq.read_table(downloaded(made, "Parquet"))
    assert (table.num_rows, table.column_names) == (len(rows), ["ward", "cost"])
    assert SyntheticRelease.load(downloaded(made, "Release")).sample(len(rows)).num_rows == len(rows)
    assert NAME in made.locator("#release-python").inner_text()


def test_a_refused_select_and_a_taken_name_are_told_until_something_changes_and_cost_nothing(served, made):
    bill = spent(served)
    made.click("text=Create another")
    expect(made.locator("#publish-price")).to_have_text("free: asked before")
    for wrong in ("0", "-1", "0,5", "a half"):
        made.fill("#publish-epsilon", wrong)
        expect(made.locator("#publish-small")).to_have_text("ε is a number above 0, with a point: 0.5.")
        expect(made.locator("#publish-go")).to_be_disabled()
    made.fill("#publish-epsilon", "0.5")
    made.fill("#publish-width", "")
    expect(made.locator("#publish-small")).to_contain_text("number of columns k")
    made.fill("#publish-width", "2")
    expect(made.locator("#publish-price")).to_have_text("free: asked before")
    made.check("#publish-reuse")
    made.fill("#publish-name", "more of it")
    expect(made.locator("#publish-small")).to_contain_text(f"reuses {NAME}")
    expect(made.locator("#publish-price")).to_contain_text("ε")  # under another name it is another release
    made.uncheck("#publish-reuse")
    made.fill("#publish-name", NAME)
    expect(made.locator("#publish-price")).to_have_text("free: asked before")
    made.select_option("#publish-table", "")
    made.fill("#publish-sql", "SELECT zip FROM patients")
    expect(made.locator("#publish-told")).to_contain_text("not public: zip")
    made.fill("#publish-sql", "SELECT sex, age FROM patients")
    expect(made.locator("#publish-small")).to_contain_text("sex 2, age 111")
    made.fill("#publish-bins", "age 20")
    expect(made.locator("#publish-small")).to_contain_text("sex 2, age 20")
    made.fill("#publish-bins", "")
    expect(made.locator("#publish-told")).to_be_empty()
    made.select_option("#publish-unit", "rho")
    made.fill("#publish-rho", "0.01")
    expect(made.locator("#publish-price")).to_have_text("ρ\u00a00.01")
    made.click("#publish-go")
    expect(made.locator("#publish-told")).to_contain_text("name")
    expect(made.locator("#publish-go")).to_be_enabled()
    assert made.locator("#publish-told").inner_text()
    assert spent(served) == bill


def test_the_owner_publishes_on_a_phone_and_then_everybody_has_it(browser, served, made):
    place = httpx.URL(served.url).join(f"/v1/published/{NAME.replace('%', '%25').replace('?', '%3F')}")
    assert httpx.get(place, timeout=PATIENCE).status_code == 404
    with opened(browser, served, served.owner, viewport={"width": 1100, "height": 844}, color_scheme="dark") as page:
        lines = page.evaluate(
            "[...document.querySelectorAll('header nav a')].map((tab) => tab.getBoundingClientRect().top)"
        )
        assert len(lines) == 9
        assert len(set(lines)) == 1
        page.set_viewport_size({"width": 390, "height": 844})
        page.click("#publish-list a")
        page.click("#release-published button:text-is('Publish')")
        expect(page.locator("#release-published")).to_contain_text("cannot be undone")
        page.click("#release-published button.bad")
        expect(page.locator("#release-said")).to_contain_text("is published")
        expect(page.locator("#publish-list")).to_contain_text("published")
        check_accessible(page)
    assert httpx.get(place, timeout=PATIENCE).json()["name"] == NAME


def test_the_owner_looks_at_real_numbers_that_are_marked_in_every_picture_and_gone_with_the_page(browser, served, made):
    bill = spent(served)
    with opened(browser, served, served.owner) as page:
        page.click("#publish-list a")
        page.click("#tab-real")
        expect(page.locator("#view-real .mark")).to_have_text("Not private: do not show, do not publish.")
        expect(page.locator("#real-parts")).to_be_empty()
        page.click("#real-look")
        expect(page.locator("#real-parts h3")).to_have_text(
            ["Columns", "A pair of columns", "Error by ε", "Trained on synthetic rows"]
        )
        page.click("#real-parts button:text-is('Show')")
        expect(page.locator("#real-parts .halves svg")).to_have_count(2)
        page.click("#real-parts button:text-is('Try other prices')")
        page.click("#real-parts button:text-is('Stop')")  # after the price that is being tried
        expect(
            page.locator("#real-parts tbody tr:nth-child(4)")
        ).to_be_visible()  # beside the release and two baselines
        pictures = page.locator("#real-parts svg")
        expect(pictures.filter(has_text="NOT PRIVATE: do not show, do not publish")).to_have_count(pictures.count())
        expect(page.locator("#real-parts button:text-is('Try other prices')")).to_be_visible()
        check_accessible(page)
        page.evaluate("location.hash = 'ask'; setTimeout(() => { location.hash = 'budget'; })")
        expect(page.locator("#real-parts")).to_be_empty()
        expect(page.locator("#budget")).to_be_visible()
        page.wait_for_load_state("networkidle")
        expect(page.locator("#ask")).to_be_hidden()  # whoever moves on quickly sees one page
    assert spent(served) == bill


def test_a_model_is_shown_by_its_kind(browser, served):
    model = {"kind": "NaiveBayes", "features": [{"category": "ward"}], "target": "is_dear"}
    query = {
        "source": "SELECT ward, cost > 500 AS is_dear FROM visits",
        "rho": 0.01,
        "model": model,
        "name": "model",
    }
    paid = {"Authorization": f"Bearer {served.alice}"}
    assert httpx.post(f"{served.url}/v1/learn", json=query, headers=paid, timeout=PATIENCE).status_code == 200
    with opened(browser, served, served.alice) as page:
        page.click("#publish-list a:text-is('model')")
        expect(page.locator("#release-facts")).to_contain_text("NaiveBayes, 1 noisy measurement")
        expect(page.locator("#release-quality")).to_be_hidden()
