"""A newcomer with a file of their own: two commands, the link that is printed, and an answer stands on the page."""

import re
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import expect

from tests.server.browsing import check_accessible
from tests.server.conftest import free_port
from tests.support.commands import run_apart
from tests.support.own_files import write_salaries, write_shop, write_survey
from tests.support.terminal import Terminal

pytestmark = pytest.mark.slow


@dataclass
class Newcomer:
    """A person at a terminal and a browser, who notes every command typed and every refusal seen."""

    browser: object
    folder: object
    commands: list = field(default_factory=list)
    refused: list = field(default_factory=list)

    def types(self, command, *arguments):
        self.commands.append(command)
        return run_apart(command, *arguments, cwd=self.folder)

    def serves(self):
        """The server on its terminal, and the link that it prints there."""
        self.commands.append("serve")
        terminal = Terminal(self.folder, "serve", "--port", str(free_port()))
        told = terminal.wait_for(r"#sign-in/\S+\s")
        assert max(map(len, told.splitlines())) <= 80
        return terminal, re.search(r"http\S+#sign-in/\S+", told)[0]

    def opens(self, link, **details):
        page = self.browser.new_context(**details).new_page()
        page.on("pageerror", lambda error: self.refused.append(str(error)))
        page.on("response", lambda response: self.refused.append(response.url) if response.status >= 400 else None)
        page.goto(link)
        return page


def ask_what_is_there(page):
    """Whatever question the page begins with, as it stands."""
    expect(page.locator("#offer-error")).to_contain_text("±")
    expect(page.locator("#go")).to_be_enabled()
    page.click("#go")
    expect(page.locator("#answer-cost")).to_contain_text("Charged ε")
    expect(page.locator("#chart")).to_contain_text(re.compile(r"\d\s±\s\d"))


SALARIES = ("salaries.csv", "--bounds", "salary=0:200000", "--values", "Job Title=boss,clerk")
SHOP = ("customers.csv", "orders.csv", "--max-rows", "orders=20", "--values", "city=Oslo,Rome")
JOINED = "SELECT city, COUNT(*) AS orders FROM orders JOIN customers ON customer_id = id GROUP BY city"
MEAN_AGE = 'SELECT AVG(LEAST(GREATEST(age, 16), 70)) AS "mean age" FROM salaries'
COLOURS = 'SELECT "favourite colour", COUNT(*) AS n FROM survey_2024_results GROUP BY 1'
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
FILES = {
    "salaries": (write_salaries, SALARIES, MEAN_AGE, {"viewport": DESKTOP}),
    "survey": (write_survey, ("survey 2024-results.csv",), COLOURS, {"viewport": PHONE}),
    "shop": (write_shop, SHOP, JOINED, {"viewport": DESKTOP, "color_scheme": "dark"}),
}


@pytest.mark.parametrize("name", FILES)
def test_two_commands_lead_from_a_file_to_an_answer_on_the_page(browser, tmp_path, name):
    write, init, second_query, look = FILES[name]
    write(tmp_path)
    newcomer = Newcomer(browser, tmp_path)
    newcomer.types("init", *init, "--epsilon", "5", "--yes")
    terminal, link = newcomer.serves()
    try:
        page = newcomer.opens(link, **look)
        ask_what_is_there(page)
        expect(page.locator("#told")).to_be_empty()
        page.fill("#sql", second_query)
        expect(page.locator("#answer-old")).to_be_visible()
        ask_what_is_there(page)
        for tab in ("ask", "budget", "publish", "transparency", "collect", "books", "owner"):
            page.click(f"header nav a[href='#{tab}']")
            expect(page.locator(f"#{tab}")).to_be_visible()
            check_accessible(page)
        expect(page.locator("#owner")).to_contain_text("5, δ 0.000001")
        expect(page.locator("#owner")).not_to_contain_text("cannot be served")
        page.context.close()
    finally:
        terminal.stop()
    assert newcomer.refused == []
    assert newcomer.commands == ["init", "serve"]
