"""Signing in and out in a real browser: the key is exchanged for a session, and each role has its own pages."""

import pytest
from playwright.sync_api import expect

from discreet.server.auth.keys import KeyStore
from tests.server.conftest import Server
from tests.support.opening import CAP

pytestmark = pytest.mark.slow


class Served(Server):
    """A server with keys for those who do not ask."""

    def __init__(self, folder):
        super().__init__(folder)
        self.book = KeyStore.open(str(self.config.parent / "ledger.sqlite"))
        self.auditor, self.steward = (self.book.create(role, role=role) for role in ("auditor", "steward"))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Served(tmp_path_factory.mktemp("sign-in")).start()
    yield made
    made.stop()
    made.book.close()


@pytest.fixture
def page(browser, served):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    opened = context.new_page()
    opened.complaints = []
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.goto(served.url)
    yield opened
    assert opened.complaints == []
    assert opened.evaluate("() => document.documentElement.scrollWidth") <= 390
    context.close()


def sign_in(page, key):
    page.fill("#key", key)
    page.click("#sign-in-form button")
    expect(page.locator("#sign-out")).to_be_visible()


def test_the_browser_never_keeps_the_key_and_signing_out_ends_the_session(page, served):
    sign_in(page, served.alice)
    expect(page.locator("#who")).to_have_text("alice, analyst")
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert served.alice not in str(page.context.storage_state())
    page.click("#sign-out")
    expect(page.locator("#sign-in")).to_be_visible()
    expect(page.locator("#ask")).to_be_hidden()
    assert page.context.cookies() == []
    page.context.add_cookies([cookie])
    page.reload()
    expect(page.locator("#sign-in")).to_be_visible()


def test_a_revoked_key_ends_the_session_that_it_began(page, served):
    key = served.book.create("bob", cap=CAP)
    page.wait_for_timeout(300)  # until a key of another process is heard of
    sign_in(page, key)
    expect(page.locator("#offer-error")).to_contain_text("±")
    served.book.revoke(key.split("_")[1])
    page.wait_for_timeout(1200)  # and a revocation
    page.reload()
    expect(page.locator("#sign-in")).to_be_visible()


def test_an_auditor_reads_the_books_and_who_did_what_and_cannot_ask(page, served):
    sign_in(page, served.auditor)
    expect(page.locator("#history")).to_be_visible()
    expect(page.locator("nav a[href='#ask']")).to_be_hidden()
    page.click("nav a[href='#books']")
    expect(page.locator("#books-entries")).to_contain_text("command line")
    expect(page.locator("#books-entries")).not_to_contain_text("salt")
    page.click("#books-verify")
    expect(page.locator("#books-told")).to_contain_text("Valid")


def test_a_steward_sees_the_accounts_and_no_questions(page, served):
    sign_in(page, served.steward)
    expect(page.locator("#accounts")).to_contain_text("alice")
    expect(page.locator("#asked")).to_be_hidden()
    page.goto(f"{served.url}/#ask")
    expect(page.locator("#accounts")).to_be_visible()
