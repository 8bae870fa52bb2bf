"""The Attacks page in a real browser: a weak release and Discreet side by side, at every setting, step by step."""

import json
import re

import pytest
from playwright.sync_api import expect

from discreet import attacks
from tests.server.browsing import check_accessible
from tests.server.conftest import Server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("attacks")).start()
    yield made
    made.stop()


def opened(browser, served, *, wide=1280, motion="reduce"):
    context = browser.new_context(viewport={"width": wide, "height": 900}, reduced_motion=motion)
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda told: page.complaints.append(told.text) if "Content Security" in told.text else None)
    page.goto(f"{served.url}/#attacks")
    page.fill("#key", served.alice)
    page.click("#sign-in-form button")
    expect(page.locator("#attack-list li")).to_have_count(len(attacks.names()))
    return page


@pytest.fixture
def page(browser, served):
    made = opened(browser, served)
    yield made
    assert made.complaints == []
    made.context.close()


def pick(page, name="differencing"):
    page.click(f"#attack-list a[href='#attacks/{name}']")
    played(page)


def played(page):
    expect(page.locator("#attack-says")).to_contain_text("no budget was spent")
    expect(page.locator("#attack-walk")).to_be_visible()


def points(page, side):
    return page.locator(f"#{side}-curve .point").count()


def test_an_attack_is_picked_by_keyboard_and_played_against_both_side_by_side(page):
    attack = attacks.find("differencing")
    first = page.locator("#attack-list a").first
    expect(first).to_contain_text(attack.title)
    expect(first).to_contain_text(attack.lesson)
    first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#attack-title")).to_be_focused()
    played(page)
    expect(page.locator("#attack-wants")).to_have_text(attack.wants)
    expect(page.locator("#attack-sees")).to_have_text(attack.sees)
    expect(page.locator("#weak-success")).to_have_text("100%")
    expect(page.locator("#weak-against")).to_contain_text("guessing 50 % · no guarantee")
    expect(page.locator("#discreet-against")).to_contain_text("guessing 50 % · privacy allows 88 %")
    weak, ours = (page.locator(f"#{side}-steps") for side in ("weak", "discreet"))
    assert weak.locator("b").all_text_contents()[:3] == ["known", "asked", "answered"]
    assert [steps.locator("b").all_text_contents()[-2:] for steps in (weak, ours)] == [["guess", "truth"]] * 2
    expect(weak.locator("em")).to_have_text("the attack succeeds this time")
    expect(ours).to_contain_text("SELECT SUM(")
    for side in ("weak", "discreet"):
        assert page.locator(f"#{side}-curve .point line").count() == 3  # an interval and its ends
        assert page.locator(f"#{side}-curve .guessing").count() == 1
    assert [page.locator(f"#{side}-curve .allowed").count() for side in ("weak", "discreet")] == [0, 1]
    expect(page.locator("#attack-lesson")).to_have_text(attack.lesson)
    expect(page.locator("#attack-citation")).to_have_text(attack.citation)
    expect(page.locator("#balance")).to_contain_text("2.00 left")
    page.click("text=All attacks")
    expect(first).to_contain_text("weak 100 % · Discreet")


def test_the_data_behind_discreet_can_be_looked_at(page):
    pick(page)
    page.click("#attack-data summary")
    expect(page.locator("#attack-sample caption")).to_have_text("people, first rows")
    expect(page.locator("#attack-sample tr")).to_have_count(9)
    expect(page.locator("#attack-sample tr").nth(1)).to_contain_text("p0")


def test_an_attack_is_played_on_people_made_up_in_the_catalogs_shape(page, served):
    expect(page.locator("#attack-people-line")).to_be_hidden()
    pick(page)
    page.select_option("#attack-people", "catalog")
    expect(page.locator("#attack-world")).to_contain_text("in the shape of your table patients")
    expect(page.locator("#discreet-steps")).to_contain_text('FROM "patients"')
    expect(page.locator("#discreet-against")).to_contain_text("privacy allows 88 %")
    expect(page.locator("#weak-success")).to_have_text("100%")
    expect(page.locator("#balance")).to_contain_text("2.00 left")
    check_accessible(page)
    page.goto(f"{served.url}/#attacks/linkage")
    expect(page.locator("#attack-people-line")).to_be_hidden()
    played(page)


def test_a_slider_plays_both_again_and_the_points_of_before_stay(page):
    pick(page)
    page.locator("#knob-people").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    people = page.inner_text("#knob-people-value")
    assert int(people) > 256
    expect(page.locator("#weak-curve .point")).to_have_count(2)
    expect(page.locator("#weak-steps")).to_contain_text(f"who is among the {people} people")
    expect(page.locator("#discreet-curve .point:not(.other)")).to_have_count(1)
    expect(page.locator("#discreet-curve .point.other")).to_have_count(1)  # ε 1 with 256 people
    page.locator("#knob-epsilon").fill("0")
    expect(page.locator("#knob-epsilon-value")).to_have_text("0.1")
    expect(page.locator("#discreet-steps")).to_contain_text("at ε 0.1")
    assert (points(page, "weak"), points(page, "discreet")) == (2, 3)
    trials = int(re.search(r"in (\d+) trial", page.inner_text("#discreet-against"))[1])
    page.click("#attack-more")
    more = re.compile(rf"in (?!{trials} )\d+ trials")
    expect(page.locator("#discreet-against")).to_contain_text(more)
    assert (points(page, "weak"), points(page, "discreet")) == (2, 3)


def test_a_sweep_walks_through_the_epsilons_says_where_it_is_and_can_be_stopped(page):
    pick(page, "exhaustive")
    page.click("#discreet-sweep")
    expect(page.locator("#attack-says")).to_contain_text(re.compile(r"Sweep, \d of 9: Running"))
    expect(page.locator("#attack-says")).to_contain_text("Swept ε from 0.1 to 10")
    assert points(page, "discreet") == 9  # one of them was there before
    expect(page.locator("#knob-epsilon-value")).to_have_text("1")
    page.click("#discreet-curve ~ div summary")
    expect(page.locator("#discreet-table tr")).to_have_count(10)
    expect(page.locator("#discreet-table tr").nth(1)).to_contain_text("0.1")
    page.click("#weak-sweep")
    expect(page.locator("#weak-sweep")).to_have_text("Stop")
    page.click("#weak-sweep")
    expect(page.locator("#weak-sweep")).to_contain_text("Sweep")


def test_another_weak_release_brings_its_own_knobs(page):
    pick(page, "reconstruction")
    assert page.locator("#knob-lies").count() == 0
    page.select_option("#attack-release", "mostly-right")
    expect(page.locator("#weak-about")).to_contain_text("one answer in ten")
    assert page.locator("#knob-lies").count() == 1
    played(page)
    bits = page.locator("#discreet-steps .truth mark")
    assert bits.count() > 0  # the bits that were guessed wrong


def test_a_trial_is_walked_step_by_step_with_the_keyboard(page):
    pick(page)
    assert page.locator(".steps .later").count() == 0  # no motion was asked for, so all is there
    expect(page.locator("#walk-at")).to_have_text("step 7 of 7")
    page.focus("#walk-back")
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#walk-at")).to_have_text("step 1 of 7")
    expect(page.locator("#weak-steps .guess")).not_to_be_visible()
    assert page.locator("#weak-steps li:not(.later)").count() == 1
    page.keyboard.press("ArrowRight")
    assert page.locator("#weak-steps li:not(.later)").count() == 2


def test_where_motion_is_welcome_the_guess_fills_in(browser, served):
    page = opened(browser, served, motion="no-preference")
    pick(page)
    expect(page.locator("#weak-steps .guess")).not_to_be_visible()
    expect(page.locator("#weak-steps .truth")).to_be_visible()
    assert page.complaints == []
    page.context.close()


def test_what_the_server_says_is_only_ever_text_and_a_refusal_says_the_next_step(page, served):
    bad = "<img src=x onerror=alert(1)>"
    listed = page.evaluate("() => fetch('/v1/attacks', { headers: { 'X-Discreet-Page': '1' } }).then((r) => r.json())")
    one = {**listed["attacks"][0], **dict.fromkeys(("title", "wants", "sees", "lesson", "citation"), bad)}
    result = attacks.run("differencing", size="small", trials=3)
    steps = [{"kind": kind, "text": bad} for kind in ("known", "asked", "answered", "guess", "truth")]
    answer = {**json.loads(result.to_json()), "transcript": steps, "details": {bad: bad}, "scores": [1], "allowed": []}
    page.route("**/v1/attacks", lambda route: route.fulfill(json={"attacks": [one]}))
    page.route("**/v1/attacks/*", lambda route: route.fulfill(json=answer))
    page.reload()
    expect(page.locator("#attack-list b")).to_have_text(bad)
    page.click("#attack-list a")
    expect(page.locator("#discreet-steps .truth span")).to_have_text(bad)
    expect(page.locator("#attack-title")).to_have_text(bad)
    expect(page.locator("#weak-facts dt")).to_have_text(bad)
    assert page.locator("#attacks img").count() == 0
    told = {"error": {"code": "bad-input", "message": "This needs a package.", "next_step": "Install it."}}
    page.unroute("**/v1/attacks/*")
    page.route("**/v1/attacks/*", lambda route: route.fulfill(status=422, json=told))
    page.click("#attack-more")
    expect(page.locator("#attack-told")).to_have_text("This needs a package.\nInstall it.")


def test_without_a_key_the_visitor_is_asked_to_sign_in(browser, served):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{served.url}/#attacks/differencing")
    expect(page.locator("#sign-in")).to_be_visible()
    expect(page.locator("#attacks")).to_be_hidden()
    context.close()


def test_nothing_is_cut_off_on_a_phone(browser, served):
    page = opened(browser, served, wide=390)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    pick(page, "reconstruction")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    wide = """() => [...document.querySelectorAll("#attacks *")].filter((node) => !node.closest(".scroll") && node.getBoundingClientRect().right > 391)
        .map((node) => node.outerHTML)"""
    assert page.evaluate(wide) == []
    check_accessible(page)
    assert page.complaints == []
    page.context.close()
