"""The charts and the texts of questions, as functions in a real browser: no data, no session."""

import pytest

pytestmark = pytest.mark.slow

ROWS = [
    {"label": "ER", "value": 120, "low": 100, "high": 140, "width": 20},
    {"label": "ICU", "value": -15, "low": -35, "high": 5, "width": 20},
    {"label": "a ward with a very long name", "value": 7, "low": None, "high": 27, "width": None},
]


@pytest.fixture(scope="module")
def page(browser, server):
    context = browser.new_context(viewport={"width": 900, "height": 700})
    opened = context.new_page()
    opened.goto(f"{server.url}/api")  # a page without a session, of the same origin
    yield opened
    context.close()


def run(page, module, body, **given):
    """What a function body returns, with a module's exports as `m` and a box to draw in."""
    script = (
        f"async (given) => {{ const m = await import('/page/{module}'); "
        "const box = document.createElement('div'); document.body.append(box); "
        f"try {{ {body} }} finally {{ box.remove(); }} }}"
    )
    return page.evaluate(script, given)


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [((0, 9), [0, 2, 4, 6, 8, 10]), ((-35, 140), [-50, 0, 50, 100, 150]), ((0, 0), [0, 1]), ((0, 0.03), [0, 0.01, 0.02, 0.03]), ((0, 41873), [0, 10000, 20000, 30000, 40000, 50000])],
)  # fmt: skip
def test_an_axis_has_few_round_numbers_that_hold_all_values(page, ends, ticks):
    found = run(page, "chart.js", "return m.axis(...given.ends)", ends=ends)
    if ends != (0, 0):
        assert found == ticks
    assert found[0] <= ends[0]
    assert found[-1] >= ends[1]


def test_every_bar_has_its_interval_to_scale_and_an_open_end_runs_to_the_edge(page):
    drawn = run(page, "chart.js", """
        const svg = m.drawBars(box, { title: "visits", rows: given.rows, wide: 600 });
        const at = (node, name) => Number(node.getAttribute(name));
        return [...svg.querySelectorAll("g.row")].map((row) => {
          const bar = row.querySelector("rect"), lines = [...row.querySelectorAll("line")], dot = row.querySelector("circle");
          return { low: at(lines[0], "x1"), high: at(lines[0], "x2"), dot: at(dot, "cx"), bar: [at(bar, "x"), at(bar, "x") + at(bar, "width")], lines: lines.length, text: row.textContent };
        });
    """, rows=ROWS)  # fmt: skip
    er, icu, long = drawn
    a_unit = (er["high"] - er["low"]) / 40
    assert er["dot"] - icu["dot"] == pytest.approx(135 * a_unit)
    assert er["bar"][1] == pytest.approx(er["dot"])
    assert icu["bar"][0] == pytest.approx(icu["dot"])  # below zero the bar grows to the left
    assert icu["bar"][1] == pytest.approx(er["bar"][0])
    assert (er["lines"], long["lines"]) == (3, 2)  # an end that nothing bounds has no cap
    assert long["low"] == pytest.approx(er["low"] - 150 * a_unit)
    assert "120 ± 20" in er["text"].replace("\u00a0", " ")
    assert "…" in long["text"]


def test_a_line_has_a_band_through_all_ends_and_labels_that_do_not_touch(page):
    points = [
        {"at": i, "label": f"2024-{i + 1:02}", "value": i, "low": i - 2, "high": i + 2, "width": 2} for i in range(12)
    ]
    drawn = run(page, "chart.js", """
        const svg = m.drawLine(box, { title: "visits", points: given.points, wide: 400 });
        const labels = [...svg.querySelectorAll("text.tick")].filter((node) => /^2024/.test(node.textContent));
        const ends = labels.map((node) => { const { x, width } = node.getBBox(); return [x, x + width]; });
        return { band: svg.querySelector(".band").getAttribute("d").match(/[ML]/g).length, dots: svg.querySelectorAll("circle").length, ends };
    """, points=points)  # fmt: skip
    assert (drawn["band"], drawn["dots"]) == (24, 12)
    assert len(drawn["ends"]) >= 2
    assert all(one[1] < other[0] for one, other in zip(drawn["ends"], drawn["ends"][1:], strict=False))


def test_a_burn_down_ends_at_what_is_left(page):
    steps = [
        {"at": 0, "left": 2, "label": "a"},
        {"at": 5, "left": 1.5, "label": "b"},
        {"at": 9, "left": 0.5, "label": "now"},
    ]
    path, dot, zero = run(page, "chart.js", """
        const svg = m.drawBurn(box, { steps: given.steps, cap: 2, wide: 500 });
        return [svg.querySelector(".spent").getAttribute("d"), Number(svg.querySelector("circle").getAttribute("cy")), Number(svg.querySelector(".axis").getAttribute("y1"))];
    """, steps=steps)  # fmt: skip
    top = float(path.split()[2])
    assert (zero - dot) / (zero - top) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize(
    ("value", "width", "shown"),
    [(41873, 118.2, "41,873"), (2204.4, 31.4, "2,204"), (0.12345, 0.0312, "0.123"), (3.14159, 2.5, "3.1"), (12, 0, "12"), (-5, 3, "−5"), (None, None, "—")],
)  # fmt: skip
def test_numbers_have_the_digits_that_their_width_is_worth(page, value, width, shown):
    assert run(page, "dom.js", "return m.number(given.value, given.width)", value=value, width=width) == shown


def test_names_are_quoted_where_they_must_be_and_first_questions_use_the_catalog(page):
    names = ["ward", "total cost", "order", 'a"b', "größe", "2nd"]
    quoted = run(page, "questions.js", "return given.names.map(m.quoted)", names=names)
    assert quoted == ["ward", '"total cost"', '"order"', '"a""b"', '"größe"', '"2nd"']
    column = {"type": "integer", "lower": None, "upper": None, "values": None, "nullable": False}
    table = {"name": "my survey", "public": False, "person": "who", "max_rows": 1, "columns": [
        {**column, "name": "who"}, {**column, "name": "age group", "type": "text", "values": ["a", "b"]}, {**column, "name": "pay", "lower": 0, "upper": 9},
    ]}  # fmt: skip
    best = run(page, "questions.js", "return m.firstQuestions(given.tables)[0].sql", tables=[table])
    assert (
        best
        == 'SELECT "age group", COUNT(*) AS "my survey", AVG(pay) AS mean_pay\nFROM "my survey"\nGROUP BY "age group"'
    )


def test_a_link_holds_the_whole_question(page):
    asked = {"sql": "SELECT COUNT(*) FROM a\nWHERE x = 'ä & #?'", "epsilon": 0.25, "within": None}
    found = run(
        page, "questions.js", "return m.fromLink(m.linkOf(given.asked).split('?').slice(1).join('?'))", asked=asked
    )
    assert found == asked


def test_a_single_number_has_its_name_once(page):
    rows = [{"label": "visits", "value": 10, "low": 5, "high": 15, "width": 5}]
    texts = run(page, "chart.js", """
        const svg = m.drawBars(box, { title: "visits", rows: given.rows, wide: 600 });
        return [...svg.querySelectorAll("text")].map((node) => node.textContent);
    """, rows=rows)  # fmt: skip
    assert texts.count("visits") == 1
