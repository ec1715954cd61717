"""The explorer of a page: what is written, and what a reader can do with it in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.integrate import DOP853
from selenium.webdriver.common.keys import Keys

from odesys import Explorer, LiveEvent, LiveProtocol, LiveStage, Panel, Slider, System, analyse, graph, sym
from odesys.errors import EquationError
from odesys.report.content import Content
from odesys.report.explorer import (
    _Code,
    _code_of,
    _gate_names,
    _protocol,
    _script,
    _table,
    explorer_page,
    findings_page,
    fragment,
    math_font,
    page_file,
    policy_of,
)
from odesys.report.html import page
from tests.browser import Browser, browser
from tests.live_pages import needs_browser, show, solve, times
from tests.report_pages import Reader
from tests.report_pages import toy as toy_paper
from tests.written_code import value_of

X, V, K = sym("x"), sym("v"), sym("k")


def toy() -> Explorer:
    """Growth until x = 1, then a relay that slides along x = 2; and the growth alone."""
    grow = System.from_equations({"x": K * X, "v": 0 * V}, ["k"])
    relay = System.from_equations({"x": 1 - 2 * graph.step(X - 2), "v": 1 + 0 * V})
    stages = (
        LiveStage("", grow, events=(LiveEvent("T₁", X - 1, direction=1),)),
        LiveStage("", relay),
    )
    panels = (Panel("x", {"x": X}, log=True), Panel("v <b>", {"v & more": V, "kx": K * X}))
    both = LiveProtocol("both", "two stages", stages, {"x": sym("x0")}, sym("end"), panels)
    alone = LiveProtocol("alone", "growth alone", stages[:1], {"x": sym("x0")}, 3, panels)
    sliders = (
        Slider("k", 1.0, 0.1, 10, "rate", "k", log=True),
        Slider("x0", 0.1, 0.01, 0.9, "start", "x_0", log=True),
        Slider("end", 10.0, 5, 50, "end"),
    )
    return Explorer("A toy", sliders, (both, alone))


def test_the_policy_is_the_hash_of_the_script() -> None:
    made = fragment(toy())
    digest = base64.b64encode(hashlib.sha256(made.script.encode()).digest()).decode()
    assert made.policy == f"'sha256-{digest}'"
    text = explorer_page(toy())
    assert f"script-src {made.policy};" in text and f"<script>{made.script}</script>" in text


def test_nothing_is_evaluated_from_text_and_texts_are_never_markup() -> None:
    made = fragment(toy())
    assert not re.search(r"\beval\b|new Function|setTimeout\(\s*[\"'`]|innerHTML|javascript:", made.script)
    assert "</script" not in made.script and "<!--" not in made.script
    assert "v <b>" not in made.script and "\\u003cb>" in made.script
    assert not re.search(r"\son\w+=", made.html)
    Reader(explorer_page(toy()))


def test_texts_in_templates_keep_their_spaces() -> None:
    """The script is written without needless space, which must not reach into its sentences."""
    script = fragment(toy()).script
    assert "is not reached by t = ${" in script and "ends at ${" in script and " — ${" in script


def test_stages_with_the_same_equations_share_their_code() -> None:
    x, v = sym("x"), sym("v")
    whole = System.from_equations({"x": v, "v": -graph.relu(x)})
    half = System.from_equations({"x": 0 * x, "v": -graph.relu(x)})
    stages = (LiveStage("a", half, end=1), LiveStage("b", whole))
    panels = (Panel("x", {"x": x}),)
    made = Explorer("shared", (), (LiveProtocol("p", "p", stages, {"x": 1}, 2, panels),))
    script = fragment(made).script
    assert script.count("f:(t,x,p,g)=>") == 1 and "z:[0]" in script and "z:[]" in script


def refused(**changes: object) -> str:
    base = toy().protocols[1]
    with pytest.raises(EquationError) as caught:
        fragment(replace(toy(), protocols=(replace(base, **changes),)))
    return str(caught.value)


def test_names_that_mean_nothing_are_refused() -> None:
    assert "uses q, which is no state and no slider" in refused(panels=(Panel("q", {"q": sym("q")}),))
    assert "names z, which is no state" in refused(start={"z": 1})
    assert "x is none" in refused(end=X)
    step = System.from_equations({"x": 2 * X, "v": V}, kind="map")
    assert "is a map" in refused(stages=(LiveStage("step", step),))
    other = System.from_equations({"x": X})
    assert "other states" in refused(stages=(*toy().protocols[0].stages, LiveStage("other", other)))
    assert "no parameter r" in refused(stages=(LiveStage("a", other, values={"r": 1}),))
    with pytest.raises(EquationError, match="x is a state and a slider"):
        fragment(replace(toy(), sliders=(*toy().sliders, Slider("x", 1, 0, 2))))


def test_it_is_on_the_page_of_its_paper(toy_content: Callable[..., Content]) -> None:
    text = page(toy_content(replace(toy_paper(), explorer=lambda parameters: toy())))
    made = fragment(toy())
    assert "Try it" in Reader(text).text and f"<script>{made.script}</script>" in text
    policy = re.search(r"script-src ([^;]*);", text)
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert policy and policy[1].split() == [policy_of(script) for script in scripts] and len(scripts) == 2


def test_an_explorer_that_can_not_be_made_is_said(toy_content: Callable[..., Content]) -> None:
    def fails(parameters: object) -> Explorer:
        raise EquationError("there is no <system> here")

    text = page(toy_content(replace(toy_paper(), explorer=fails)))
    assert "The part “try it” could not be computed: there is no &lt;system&gt; here" in text


# ---- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as session:
        yield session


def said(chromium: Browser) -> str:
    chromium.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    return str(chromium.execute_script('return document.querySelector(".said").textContent'))


@pytest.mark.slow
@needs_browser
def test_stages_events_and_slides(chromium: Browser, tmp_path: Path) -> None:
    show(chromium, tmp_path, toy())
    found = solve(chromium, "both")
    assert times(found, "event") == pytest.approx([2.302585092994046], rel=1e-8)
    assert times(found, "slide") == pytest.approx([3.302585092994046, 10.0], rel=1e-8)
    assert found["x"] == pytest.approx([2.0, 10 - 2.302585092994046], rel=1e-8)
    late = solve(chromium, "both", k=0.1)
    assert late["problem"] == "T₁ is not reached by t = 10" and late["t"] == 10
    assert "T₁ = 2.3026" in said(chromium) and "1 slide (3.303 to 10)" in said(chromium)


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(375, True), (1400, False)])
def test_it_fits_and_obeys_its_policy(chromium: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    show(chromium, tmp_path, toy(), width=width, dark=dark)
    assert chromium.execute_script("return document.documentElement.scrollWidth") == width
    wide = chromium.execute_script("""
        return [...document.querySelectorAll("main *")].filter((e) => e.getClientRects().length
            && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 90))""")
    assert not wide and chromium.console() == []
    assert {address.split(":")[0] for address in chromium.requests()} <= {"file", "data"}
    chromium.execute_script("""
        const script = document.createElement("script");
        script.textContent = "document.title = 'taken'";
        document.body.append(script)""")
    assert chromium.title == "A toy" and "Content Security Policy" in "".join(chromium.console())


@pytest.mark.slow
@needs_browser
def test_the_keyboard_moves_a_slider_and_a_link_carries_the_values(chromium: Browser, tmp_path: Path) -> None:
    show(chromium, tmp_path, toy())
    nameless = chromium.execute_script(
        'return [...document.querySelectorAll("input, select")].filter((e) => !e.labels.length).length'
    )
    assert nameless == 0
    grey = 'return document.querySelectorAll(".panels .grey").length'
    assert chromium.execute_script(grey) == 0
    before = said(chromium)
    chromium.find_element("name", "k").send_keys(Keys.ARROW_RIGHT * 3)
    assert said(chromium) != before and chromium.execute_script(grey) == 3
    values = chromium.execute_script('return document.getElementById("explore").explorer.values()')
    assert values["k"] == pytest.approx(100 ** (103 / 200) / 10, rel=1e-2) and values["x0"] == 0.1
    spoken = chromium.find_element("name", "k").get_attribute("aria-valuetext")
    assert float(spoken) == values["k"]
    link = chromium.current_url
    assert f"#explore?protocol=both&k={values['k']}" in link
    chromium.get("about:blank")
    chromium.get(link)
    assert chromium.execute_script('return document.getElementById("explore").explorer.values()') == values
    chromium.find_element("css selector", "button.paper").click()
    assert said(chromium).split(" —")[0] == before.split(" —")[0] and chromium.execute_script(grey) == 0
    chromium.execute_script("location.hash = 'explore?protocol=alone&k=7e9&x0=abc&end=20'")
    said(chromium)
    values = chromium.execute_script('return document.getElementById("explore").explorer.values()')
    assert values == {"k": 1, "x0": 0.1, "end": 20}  # what is out of range is not taken
    shown = 'return [...document.querySelectorAll(".slider")].map((e) => e.getClientRects().length > 0)'
    assert chromium.execute_script(shown) == [True, True, False]  # this protocol does not read the end


@pytest.mark.slow
@needs_browser
def test_without_a_script_the_figure_stays(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(explorer_page(toy(), static='<p id="still">a figure</p>'), encoding="utf-8")
    visible = 'return [...document.querySelectorAll("#still, .controls")].map((e) => e.getClientRects().length > 0)'
    chromium.open(file)
    live = chromium.execute_script(visible)
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        chromium.open(file)
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    still = chromium.execute_script(visible)
    assert sorted(live) == sorted(still) == [False, True] and live == still[::-1]


def test_gates_have_the_names_of_their_surfaces() -> None:
    explorer = toy()
    grow, relay = explorer.protocols[0].stages
    assert _gate_names(grow, explorer) == {}
    assert list(_gate_names(relay, explorer).values()) == ["x/2 - 1"]
    named = replace(relay, gates={"x/2 - 1": "the relay"})
    assert list(_gate_names(named, explorer).values()) == ["the relay"]


# ---- what is written -------------------------------------------------------------------------------------------------


def test_the_coefficients_are_those_of_the_method_without_zeros_at_the_ends() -> None:
    """Each table read back is the one of scipy, filled up with zeros."""
    found = dict(re.findall(r"(\w+):(\[.*?\])(?=,[A-Z]|\})", _table()))
    for name, table in {
        "A": DOP853.A,
        "B": DOP853.B,
        "E3": DOP853.E3,
        "E5": DOP853.E5,
        "D": DOP853.D,
        "X": DOP853.A_EXTRA,
    }.items():
        rows = value_of(found[name], {})  # numbers, and quotients of two
        if table.ndim == 1:
            rows, table = [rows], table[None]
        assert len(rows) == len(table)
        for row, values in zip(rows, table, strict=True):
            assert not row or row[-1] != 0
            assert [*row, *[0.0] * (len(values) - len(row))] == values.tolist()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1, "b": [True, False, None]}, "{a:1,b:[1,0,null]}"),
        (("x", 'a "<b>"'), '["x","a \\"\\u003cb>\\""]'),
        (2, "2"),
        ("é", '"é"'),
        ([], "[]"),
        ([[1, 2], {}], "[[1,2],{}]"),
    ],
)
def test_values_are_written_as_javascript(value: object, text: str) -> None:
    assert _script(value) == text


def test_numbers_are_written_exactly_and_without_brackets() -> None:
    for value in (0.5, -0.5, 1e-300, 2.0, 1 / 3, -1e21):
        text = _script(value)
        assert "(" not in text and float(text) == value


def test_what_is_looked_at_has_one_number_and_a_function_its_sizes() -> None:
    relay = toy().protocols[0].stages[1]
    code = _Code(relay, tuple(relay.system.nodes))
    assert [code.place(node) for node in (X, V, X, X * V, V)] == [0, 1, 0, 2, 1]
    text = code.text(["k"], {})
    assert text.startswith('{n:2,s:1,w:[1],names:["gate 1"],f:(t,x,p,g)=>')
    still = System.from_equations({"x": 0 * X, "v": graph.step(X - 2) + graph.step(V - K)}, ["k"])
    code = _Code(LiveStage("", still), tuple(still.nodes))
    movable = {str(surface): sum(s in ("v", "t") for s in graph.symbols([surface])) for surface in code.surfaces}
    written = re.search(r"w:(\[.*?\])", code.text(["k"], {code.surfaces[0]: "first"}))
    assert written is not None and json.loads(written[1]) == [int(bool(n)) for n in movable.values()]
    assert 'names:["first","gate 2"]' in code.text(["k"], {code.surfaces[0]: "first"})
    clock = System.from_equations({"x": graph.step(sym("t") - 1)})
    assert "w:[1]" in _Code(LiveStage("", clock), tuple(clock.nodes)).text([], {}), "time moves"


def model(explorer: Explorer) -> dict[str, object]:
    """Protocols as the page has them."""
    code: list[_Code] = []
    names = [slider.name for slider in explorer.sliders]
    for protocol in explorer.protocols:
        for stage in protocol.stages:
            _code_of(stage, code)
    return {p.name: _protocol(p, names, code)[0] for p in explorer.protocols} | {"codes": code}


def test_a_protocol_says_what_it_reads_draws_and_where_it_stops() -> None:
    made = model(toy())
    both, alone = made["both"], made["alone"]
    assert both["uses"] == ["k", "x0", "end"] and alone["uses"] == ["k", "x0"]
    assert (both["id"], both["n"], both["rtol"], both["log"], both["letter"]) == ("both", 2, 1e-9, False, "t")
    first, second = both["stages"]
    assert (first["c"], second["c"], first["z"], second["z"]) == (0, 1, [], [])
    (event,) = first["e"]
    assert (event["name"], event["d"], event["stop"]) == ("T₁", 1, True) and second["e"] == []
    assert [(p["title"], p["log"], [label for label, _ in p["seen"]]) for p in both["panels"]] == [
        ("x", True, ["x"]),
        ("v <b>", False, ["v & more", "kx"]),
    ]
    codes = made["codes"]
    eye = codes[both["y"]]
    looked = [eye.seen[place] for panel in both["panels"] for _, place in panel["seen"]]
    assert looked == [X, V, K * X] and codes[first["c"]].seen[event["i"]] is X - 1
    assert alone["y"] == both["y"] == 0, "curves are read beside the equations they share most with"


def test_code_is_shared_by_stages_with_the_same_equations_for_what_moves() -> None:
    moving = System.from_equations({"x": V, "v": -X})
    slower = System.from_equations({"x": V, "v": 0 * X})
    other = System.from_equations({"x": V, "v": X})
    named = System.from_equations({"y": sym("v"), "v": -sym("y")})
    codes: list[_Code] = []
    first = _code_of(LiveStage("a", moving), codes)
    assert _code_of(LiveStage("b", slower), codes) is first and first.nodes == moving.nodes
    assert _code_of(LiveStage("c", other), codes) is not first and len(codes) == 2
    assert _code_of(LiveStage("d", named), codes) is codes[2] and _code_of(LiveStage("e", moving), codes) is first
    codes = []
    small = _code_of(LiveStage("b", slower), codes)
    assert _code_of(LiveStage("a", moving), codes) is small and small.nodes == moving.nodes and len(codes) == 1


def test_a_stage_without_parameters_says_so() -> None:
    none = System.from_equations({"x": X, "v": V})
    assert refused(stages=(LiveStage("a", none, values={"r": 1}),)).endswith("; its parameters are none")
    some = System.from_equations({"x": K * X, "v": V}, ["k"])
    assert refused(stages=(LiveStage("a", some, values={"r": 1}),)).endswith("; its parameters are k")


def test_what_is_put_into_a_stage_is_in_its_code() -> None:
    """A parameter may be an expression in sliders; the start of states that are not named is zero."""
    grow = System.from_equations({"x": sym("r") * X, "v": 0 * V}, ["r"])
    stage = LiveStage("", grow, values={"r": 2 * K})
    protocol = LiveProtocol("p", "p", (stage,), {"x": 3}, 5, (Panel("x", {"x": X}),))
    explorer = Explorer("one", (Slider("k", 1.0, 0.1, 10),), (protocol,))
    script = fragment(explorer).script
    assert "f:(t,x,p,g)=>" in script and model(explorer)["p"]["uses"] == ["k"]
    _, start = _protocol(protocol, ["k"], model(explorer)["codes"])
    assert re.sub(r"\s", "", start).endswith("[3,0,0,0,5,5]"), "x, v, tolerance, begin, end, end of the stage"
    unread = replace(explorer, sliders=(*explorer.sliders, Slider("unread", 1, 0, 2)))
    assert model(unread)["p"]["uses"] == ["k"]
    alone = replace(protocol, stages=(LiveStage("", grow),))
    with pytest.raises(EquationError, match="uses r, which is no state and no slider"):
        fragment(replace(explorer, protocols=(alone,)))


def test_a_page_of_findings_has_no_script_and_the_font_of_formulas() -> None:
    system = System.from_strings("x' = -x")
    text = findings_page("A map", "<math><mi>q</mi></math>", analyse(system))
    assert "<title>A map" in text and "<math><mi>q</mi></math>" in text and "explore(" not in text
    font = base64.b64decode(math_font())
    assert font[:4] == b"wOF2" and math_font() in text
    assert page_file("explorer.css") == fragment(toy()).style and page_file("explorer.css").strip()
