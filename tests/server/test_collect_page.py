"""The Collect page in a real browser: its device is held to the Python client, and what it sends is what it showed."""

import json
import math
import re
import zlib

import pytest
from playwright.sync_api import expect
from scipy.stats import chi2

from discreet.local import Task
from discreet.local.collector.report_store import ReportStore
from discreet.local.device.client import Draw, canonical_bytes, task_digest
from discreet.local.tasks.messages import read_message
from tests.local.cases import randomizer_for
from tests.local.test_device import TABLE
from tests.server.browsing import check_accessible
from tests.server.conftest import Server

pytestmark = pytest.mark.slow
EMOJI = ["😀", "😂", "🥰", "😎", "🤔", "😭"]
TASK = Task.frequency("favourite emoji", domain=EMOJI, epsilon=2.0, lifetime=2)
LN3 = "1.0986122886681098"
WHOLE = (
    f"const task = {json.dumps({'id': TASK.id, 'spec': TASK.spec})}; const device = await import('/page/device.js');"
)
"""What begins every script that is run on the page."""


class Collecting(Server):
    """A server that asks for emoji."""

    def __init__(self, folder):
        super().__init__(folder)
        self.books = str(self.config.parent / "ledger.sqlite.reports")
        books = ReportStore.open(self.books)
        books.publish(TASK)
        books.close()

    def reports(self):
        books = ReportStore.open(self.books)
        found = books.collector(TASK).reports
        books.close()
        return found


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Collecting(tmp_path_factory.mktemp("collect")).start()
    yield made
    made.stop()


@pytest.fixture
def page(browser, served):
    context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    opened = context.new_page()
    opened.complaints = []
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.on("console", lambda told: opened.complaints.append(told.text) if "Content Security" in told.text else None)
    yield opened
    assert opened.complaints == []
    context.close()


def signed_in(page, served):
    page.goto(served.url)
    page.fill("#key", served.alice)
    page.click("#sign-in-form button")
    expect(page.locator("#ask")).to_be_visible()
    page.click("nav a[href='#collect']")
    expect(page.locator("#collect-question")).to_have_text("What’s your favourite emoji?")


def run(page, served, script, given=None):
    page.goto(f"{served.url}/#collect")
    expect(page.locator("#collect-values button")).to_have_count(6)
    return page.evaluate(f"async (given) => {{ {WHOLE} {script} }}", given)


# ── the device, held to the Python client ───────────────────────────────────────────────────────────────────────────


def test_the_thresholds_are_the_python_clients_to_the_last_bit(page, served):
    epsilons = ["2", "1/3", "3.5", "7/2", "0.001", "1/1048576", LN3, "10", "40", "99.9", "123456789/987654321"]
    cases = [(epsilon, size, "grr") for epsilon in epsilons for size in (2, 3, 6, 24, 1000, 65536)]
    cases += [("1", 2, "warner"), ("1.09861228866810969140", 2, "coin"), ("2", 2, "coin")]
    script = "return given.map(([epsilon, size, protocol]) => String(device.keepThreshold(epsilon, size, protocol)));"
    found = run(page, served, script, [list(case) for case in cases])
    assert [int(keep) for keep in found] == [
        randomizer_for(protocol, epsilon, {"size": size}).keep for epsilon, size, protocol in cases
    ]


def test_epsilons_that_promise_nothing_or_cannot_be_read_are_refused(page, served):
    script = """return given.map(([epsilon, size, protocol]) => {
        try { return String(device.keepThreshold(epsilon, size, protocol)); } catch (error) { return error.constructor.name; } });"""
    bad = ["0", "-1", "1/0", "", "2e3", "Infinity", "0/5", "1000", "２", "1/1048577", "1/10000000000"]
    cases = [[epsilon, 6, "grr"] for epsilon in bad] + [
        ["1", 2, "coin"],
        ["2", 3, "coin"],
        ["1.09861228866810969139", 2, "coin"],
    ]
    assert run(page, served, script, cases) == ["Refused"] * len(cases)


class _Words(Draw):
    def __init__(self, words):
        self._words = iter(words)

    def word(self):
        return next(self._words)


def test_the_same_coins_make_the_same_report_as_in_python(page, served):
    randomizer = TASK.randomizer
    edges = [0, 1, randomizer.keep - 1, randomizer.keep, 2**64 - 1, 2**63 + 12345]
    seconds = [0, 1, 4, 5, 987654321987654321, 2**64 - 2]
    cases = [(code, first, second) for code in range(6) for first in edges for second in seconds]
    script = """return given.map(([code, first, second]) => { const words = [first, second, "3"].map(BigInt); let i = 0;
        return device.randomize(code, 6, device.keepThreshold("2", 6), () => words[i++]).report; });"""
    found = run(page, served, script, [[code, str(first), str(second)] for code, first, second in cases])
    assert found == [randomizer.randomize(code, _Words([first, second, 3])) for code, first, second in cases]


def test_four_thousand_reports_follow_the_law(page, served):
    script = """const counts = Array(6).fill(0); const { keep } = await device.Device.open(task);
        for (let i = 0; i < 4000; i += 1) counts[device.randomize(2, 6, keep).report] += 1; return counts;"""
    counts = run(page, served, script)
    told = math.exp(2) / (math.exp(2) + 5)
    expected = [4000 * (told if value == 2 else (1 - told) / 5) for value in range(6)]
    distance = sum((count - mean) ** 2 / mean for count, mean in zip(counts, expected, strict=True))
    assert sum(counts) == 4000
    assert distance < chi2.isf(1e-10, 5)


def test_a_message_can_be_read_by_the_collector_and_says_what_the_device_said(page, served):
    script = """const store = { getItem: () => null, setItem: () => {} }; const mine = await device.Device.open(task, store);
        const made = []; for (const value of given) { const { message, report } = await mine.report(value); made.push([device.hex(message), report]); }
        return made;"""
    made = run(page, served, script, EMOJI * 5)
    numbers = set()
    for message, report in made:
        read = read_message(TASK, bytes.fromhex(message))
        assert read.reports.tolist() == [report]
        numbers |= {read.id, read.sender}
    assert len(numbers) == 2 * len(made)


def test_the_page_refuses_what_the_python_client_refuses_and_takes_what_it_takes(page, served):
    script = """const opened = async (spec) => {
        try { await device.Device.open({ id: device.hex(await device.digestOf(spec)), spec }, { getItem: () => null, setItem: () => {} }); }
        catch (error) { return error instanceof device.Refused ? "refused" : `${error}`; }
        return "taken";
    }; return Promise.all(given.map(opened));"""
    whole = TABLE["task"]
    parts = [{name: said for name, said in whole.items() if name != left_out} for left_out in whole]
    malformed = [*({**whole, **change} for change in TABLE["malformed"]), *parts]
    said = run(page, served, script, malformed)
    assert [spec for spec, told in zip(malformed, said, strict=True) if told != "refused"] == []
    assert set(run(page, served, script, [{**whole, **change} for change in TABLE["sound"]])) == {"taken"}


def test_checksums_and_the_names_of_tasks_are_those_of_python(page, served):
    texts = ["", "123456789", "😀" * 50]
    script = "return given.map((text) => device.crc32(new TextEncoder().encode(text)));"
    assert run(page, served, script, texts) == [zlib.crc32(text.encode()) for text in texts]
    specs = [
        TASK.spec,
        {"b": [1, True, None], "": {"é": '\u2028\n"\\/\x7f\x01', "\uffff": 0, "𝒳": -7}, "ab": "x", "a": []},
    ]
    script = "return Promise.all(given.map(async (spec) => [device.canonical(spec), device.hex(await device.digestOf(spec))]));"
    assert run(page, served, script, specs) == [[canonical_bytes(s).decode(), task_digest(s).hex()] for s in specs]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"parameters": {"size": 5}}, "do not fit its randomizer"),
        ({"parameters": {"size": 1}, "domain": {"values": ["yes"]}}, "do not fit its randomizer"),
        ({"domain": {"values": ["a", "a", "b", "c", "d", "e"]}}, "do not fit its randomizer"),
        ({"epsilon": "200"}, "epsilon between 0 and 100"),
        ({"protocol": "olh", "parameters": {"size": 6, "buckets": 8}}, "Python client"),
        ({"memoize": True}, "Python client"),
        ({"caps": {"per_epoch": 1, "lifetime": "many"}}, "caps cannot be read"),
        ({"caps": {"per_epoch": 0, "lifetime": 2}}, "caps cannot be read"),
        ({"parameters": {"size": 6, "first": "0.001"}}, "parts that its protocol does not have"),
        ({"more": 1}, "parts that its protocol does not have"),
        ({"domain": {"values": EMOJI, "range": 6}}, "values cannot be read"),
        ({"domain": None}, "cannot be read"),
    ],
)
def test_a_task_that_would_weaken_the_promise_is_refused(page, served, change, told):
    spec = {**TASK.spec, **change}
    script = """try { await device.Device.open(given); return "opened"; } catch (error) { return `${error.message} ${error.next_step}`; }"""
    assert told in run(page, served, script, {"id": task_digest(spec).hex(), "spec": spec})


STORE = "const kept = new Map(), store = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };"


def test_all_tasks_of_a_browser_share_one_budget_in_all_tabs(page, served):
    script = f"""{STORE} const said = [];
        for (const one of given) {{
          const mine = await device.Device.open(one, store);
          const made = await Promise.allSettled([1, 2, 3].map(() => mine.report("😀")));
          said.push([made.filter((each) => each.status === "fulfilled").length, mine.left, mine.spentInAll, made.at(-1).reason?.message ?? ""]); }}
        return said;"""
    tasks = [Task.frequency(f"task {i}", domain=EMOJI, epsilon=3.5, protocol="grr", lifetime=1000) for i in range(3)]
    said = run(page, served, script, [{"id": task.id, "spec": task.spec} for task in tasks])
    assert [row[:3] for row in said] == [[3, 2, 10.5], [2, 0, 17.5], [0, 0, 17.5]]
    assert "at most ε 20 in all" in said[-1][3]


def test_a_value_that_is_not_asked_for_leaves_a_message_like_any_other(page, served):
    script = f"""{STORE} const mine = await device.Device.open(task, store), {{ message }} = await mine.report("a secret");
        return [device.hex(message), mine.reports];"""
    message, reports = run(page, served, script)
    assert len(read_message(TASK, bytes.fromhex(message)).reports) == reports == 1


def test_a_new_epoch_has_a_new_name_and_a_clock_put_back_gains_nothing(page, served):
    script = f"""{STORE} const mine = await device.Device.open(given, store), told = [];
        for (const now of [5e3, 6e3, 7e3, 15e3, 6e3, 16e3, 25e3]) {{
          try {{ told.push(device.hex((await mine.report("😀", now)).parts.sender)); }} catch (error) {{ told.push(error.message); }} }}
        return told;"""
    task = Task.frequency("daily", domain=EMOJI, epsilon=1, lifetime=4, per_epoch=2, epoch_seconds=10)
    one, same, full, other, back, again, over = run(page, served, script, {"id": task.id, "spec": task.spec})
    assert one == same != other == again
    assert full == back == "This device has reached the task's cap for one epoch."
    assert over == "This device has reached the task's lifetime cap."


def test_a_clock_that_was_wrong_once_silences_no_browser(page, served):
    script = f"""{STORE} const mine = await device.Device.open(given, store), told = [];
        for (const now of [5, 4000, 6, 5, 4000, 7, 8, 9, 10, 11, 12, 13, 5, 14]) {{
          try {{ await mine.report("😀", now * 1e4); told.push(now); }} catch (error) {{ told.push(error.constructor.name); }} }}
        return told;"""
    task = Task.frequency("daily", domain=EMOJI, epsilon=1, lifetime=20, per_epoch=1, epoch_seconds=10)
    told = run(page, served, script, {"id": task.id, "spec": task.spec})
    assert told == [5, 4000, 6, "Refused", "Refused", 7, 8, 9, 10, 11, 12, 13, "Refused", 14]


# ── the page ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_report_is_shown_before_it_is_sent_and_the_device_gives_no_more_than_its_cap(page, served):
    sent = []
    page.on("request", lambda request: sent.append(request) if request.url.endswith("/reports") else None)
    signed_in(page, served)
    expect(page.locator("#collect-left")).to_contain_text("2 left")
    before = served.reports()
    page.click("#collect-values button >> nth=1")
    expect(page.locator("#report-says")).to_contain_text(re.compile(f"It says ({'|'.join(EMOJI)})"))
    expect(page.locator("#report-parts")).to_contain_text("With probability 60 % this is what you clicked")
    assert sent == []
    assert served.reports() == before
    shown = "".join(page.locator("#report-parts code").all_text_contents())
    named = re.search("|".join(EMOJI), page.inner_text("#report-says"))[0]
    page.click("#report-send")
    expect(page.locator("#report-done")).to_contain_text("Sent.")
    expect(page.locator("#crowd-says")).to_contain_text("The collector never saw a true answer")
    assert [request.post_data_buffer.hex() for request in sent] == [shown]
    assert "cookie" not in sent[0].all_headers()
    read = read_message(TASK, bytes.fromhex(shown))
    assert EMOJI[int(read.reports[0])] == named
    assert served.reports() == before + 1
    assert page.locator("#crowd .range").count() == 6

    page.click("#collect-values button >> nth=0")
    page.click("#report-drop")
    expect(page.locator("#report-done")).to_contain_text("Nothing was sent")
    expect(page.locator("#collect-left")).to_contain_text("which is its limit")
    page.reload()
    expect(page.locator("#collect-left")).to_contain_text("which is its limit")
    assert page.locator("#collect-values button:enabled").count() == 0
    assert served.reports() == before + 1


def test_a_report_waits_for_a_dead_server_and_is_sent_as_it_was_when_the_page_is_opened_again(page, served):
    sent = []
    page.on("request", lambda request: sent.append(request) if request.url.endswith("/reports") else None)
    page.route("**/reports", lambda route: route.abort())
    page.goto(f"{served.url}/#collect")
    before = served.reports()
    page.click("#collect-values button >> nth=1")
    page.click("#report-send")
    expect(page.locator("#collect-told")).to_contain_text("keeps the report, and has counted it")
    expect(page.locator("#collect-left")).to_contain_text("1 left")
    page.unroute("**/reports")
    page.reload()
    expect(page.locator("#collect-left")).to_contain_text("1 left")
    page.wait_for_function(
        "() => JSON.parse(localStorage.discreet)[Object.keys(JSON.parse(localStorage.discreet))[0]].pending.length === 0"
    )
    assert served.reports() == before + 1
    first, again = (request.post_data_buffer for request in sent)
    assert first == again


def test_anybody_may_answer_without_a_key_and_by_keyboard_alone(page, served):
    page.goto(f"{served.url}/#collect")
    expect(page.locator("#crowd-says")).to_contain_text("The estimate needs a key")
    expect(page.locator("#play")).to_be_disabled()
    before = served.reports()
    page.focus("#collect-values button >> nth=2")
    page.keyboard.press("Enter")
    expect(page.locator("#report")).to_be_focused()
    page.keyboard.press("Enter")  # held too long: sends nothing
    page.keyboard.press("Tab")
    expect(page.locator("#report-send")).to_be_focused()
    assert served.reports() == before
    page.keyboard.press("Enter")
    expect(page.locator("#report-done")).to_be_focused()
    assert served.reports() == before + 1


def test_a_made_up_crowd_joins_the_lines_shrink_and_nothing_is_mixed_with_real_reports(page, served):
    signed_in(page, served)
    before = served.reports()
    said = page.locator("#rehearsal-says")
    expect(said).to_contain_text("100 made-up people")
    first = float(re.search(r"±\s([\d.]+)", said.inner_text())[1])
    page.click("[data-people='1000']")
    page.click("[data-people='10000']")
    expect(said).to_contain_text("11,100 made-up people")
    assert float(re.search(r"±\s([\d.]+)", said.inner_text())[1]) < first / 5
    assert page.locator("#rehearsal .made-up").count() == page.locator("#rehearsal .range").count() == 6
    assert "never mixed with real reports" in page.inner_text("#rehearsal-about")
    page.click("#play")
    expect(page.locator("#play")).to_have_text("Pause")
    expect(said).not_to_contain_text("11,100")
    page.click("nav a[href='#transparency']")
    expect(page.locator("#transparency")).to_be_visible()
    page.click("nav a[href='#collect']")
    expect(page.locator("#play")).to_have_text("Play")
    page.click("#rehearsal-anew")
    expect(said).to_have_text("No people yet.")
    assert served.reports() == before


def test_a_task_that_was_changed_on_the_way_is_refused(page, served):
    weaker = {"id": TASK.id, "spec": {**TASK.spec, "epsilon": "20"}}
    page.route(f"**/v1/tasks/{TASK.id}", lambda route: route.fulfill(json=weaker))
    page.goto(f"{served.url}/#collect")
    expect(page.locator("#collect-told")).to_contain_text("somebody changed it")
    expect(page.locator("#collecting")).to_be_hidden()


def test_what_the_server_says_is_only_ever_text(page, served):
    spec = {**TASK.spec, "name": "<img src=x onerror=alert(1)>", "domain": {"values": ["<b>bold</b>", *EMOJI[1:]]}}
    name = task_digest(spec).hex()
    about = {"id": name, "name": spec["name"], "kind": "frequency"}
    page.route("**/v1/tasks", lambda route: route.fulfill(json={"tasks": [about]}))
    page.route(f"**/v1/tasks/{name}", lambda route: route.fulfill(json={**about, "spec": spec}))
    page.goto(f"{served.url}/#collect")
    expect(page.locator("#collect-question")).to_have_text("<img src=x onerror=alert(1)>")
    expect(page.locator("#collect-values button >> nth=0")).to_have_text("<b>bold</b>")


def test_nothing_is_cut_off_on_a_phone(browser, served):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    signed_in(page, served)
    page.click("#collect-values button >> nth=5")
    expect(page.locator("#report-send")).to_be_visible()
    expect(page.locator("#rehearsal .range")).to_have_count(6)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    wide = """() => [...document.querySelectorAll("#collect *")].filter((node) => node.getBoundingClientRect().right > 390
        || (node.matches(".number, button, code, .name") && node.scrollWidth > node.clientWidth + 1 && node.clientWidth))
        .map((node) => node.outerHTML)"""
    assert page.evaluate(wide) == []
    check_accessible(page)
    context.close()
