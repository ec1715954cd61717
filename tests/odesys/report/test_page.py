"""The page in a real browser: formulas have a size, the filter works, nothing is asked for, nothing sticks out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import pytest
from PIL import Image

from odesys.papers import registry
from odesys.report import html
from odesys.report.content import Content
from tests.browser import CHROMIUM, DRIVER, Browser, browser
from tests.report_pages import stand_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None,
        reason="needs chromium and chromedriver, e.g. the Debian packages chromium and chromium-driver",
    ),
]


@pytest.fixture(scope="module")
def page(report: Path) -> Path:
    return report / "reported.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as session:
        yield session


@pytest.mark.parametrize("width", [375, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_stands_alone_and_fits(chromium: Browser, page: Path, width: int, dark: bool) -> None:
    chromium.open(page, width, dark=dark)
    assert chromium.execute_script("return document.documentElement.scrollWidth") == width
    wide = chromium.execute_script("""
        return [...document.querySelectorAll("main *")].filter((e) => e.getClientRects().length
            && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, pre"))
            .map((e) => e.outerHTML)""")
    assert not wide
    assert chromium.console() == []
    assert {address.split(":")[0] for address in chromium.requests()} <= {"file", "data"}
    ground = chromium.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) < 200) == dark


def test_words_in_tables_are_whole_on_a_phone(chromium: Browser, page: Path) -> None:
    chromium.open(page, 375)
    words, broken = chromium.execute_script("""
        const words = [...document.querySelectorAll("main td, main th code")].filter(
            (e) => e.childElementCount === 0 && /^\\w+$/.test(e.textContent.trim()) && e.getClientRects().length);
        const range = document.createRange();
        const lines = (e) => { range.selectNodeContents(e); return range.getClientRects().length; };
        return [words.length, words.filter((e) => lines(e) > 1).map((e) => e.textContent)];""")
    assert words > 5 and broken == []


@pytest.mark.parametrize("width", [375, 1400])
def test_ids_of_claims_are_whole_where_they_fit(chromium: Browser, page: Path, width: int) -> None:
    """Whatever a claim is called: an id is on one line, and one that is wider than the window is broken."""
    chromium.open(page, width)
    chromium.execute_script('document.querySelectorAll("details").forEach((d) => { d.open = true; })')
    seen, broken = chromium.execute_script("""
        const ids = [...document.querySelectorAll(".id")].filter((e) => e.getClientRects().length);
        const range = document.createRange();
        const broken = [];
        for (const name of ["C.3-transpose", "Beyond.heads-drift"]) {
            ids.forEach((e) => { e.textContent = name; });
            broken.push(...ids.filter((e) => { range.selectNodeContents(e); return range.getClientRects().length > 1; })
                .map((e) => name + " in " + e.parentElement.className));
        }
        return [ids.map((e) => e.closest("li, summary, p, dd, figure")?.tagName), broken];""")
    assert {"LI", "SUMMARY"} <= set(seen) and broken == []
    chromium.execute_script("""
        document.querySelectorAll(".id").forEach((e) => { e.textContent = "a-long-name".repeat(20); })""")
    assert chromium.execute_script("return document.documentElement.scrollWidth") == width


def test_formulas_have_a_size(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.execute_script('document.querySelectorAll("details").forEach((d) => { d.open = true; })')
    sizes = chromium.execute_script("""
        return [...document.querySelectorAll("math")].map((m) => {
            const box = m.getBoundingClientRect(); return [box.width, box.height]; })""")
    assert len(sizes) > 20 and all(w > 4 and h > 6 for w, h in sizes)
    fraction = chromium.execute_script("""
        const [top, bottom] = [...document.querySelector("mfrac").children].map((e) => e.getBoundingClientRect());
        return top.bottom <= bottom.top + 1""")
    assert fraction  # a renderer without MathML would put them side by side


def test_nothing_stands_after_a_root_but_what_follows_it(chromium: Browser, page: Path) -> None:
    """A browser keeps room for the widest root sign of the font."""
    chromium.open(page)
    gaps = chromium.execute_script("""
        const formula = document.querySelector(".formula math"), gaps = [];
        for (const inner of ["<mi>m</mi>", "<mfrac><mi>m</mi><mi>n</mi></mfrac>"]) {
            formula.innerHTML = `<msqrt>${inner}</msqrt><mo>,</mo><mn>1</mn>`;
            const root = formula.querySelector("msqrt");
            gaps.push(root.getBoundingClientRect().right - root.lastElementChild.getBoundingClientRect().right);
        }
        return gaps""")
    assert max(gaps) < 0.5, gaps


def shown(chromium: Browser) -> list[str]:
    return chromium.execute_script("""
        return [...document.querySelectorAll("[data-claim]")].filter((r) => r.getClientRects().length)
            .map((r) => r.dataset.claim)""")


def test_the_filter_works(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert shown(chromium) == ["1.1", "1.2", "1.3", "2.1"]
    click = 'document.querySelector("input[value={}]").click()'
    chromium.execute_script(click.format("holds"))
    assert shown(chromium) == ["1.3"]
    assert chromium.execute_script('return document.querySelector("#shown").textContent') == "1 of 4 claims shown"
    chromium.execute_script(click.format("holds"))
    chromium.execute_script(click.format("proof"))
    assert shown(chromium) == ["2.1"]
    chromium.execute_script('document.querySelector("#reset").click()')
    chromium.execute_script(
        'const s = document.querySelector("input[type=search]"); s.value = "KEYS and"; '
        's.dispatchEvent(new Event("input"))'
    )
    assert shown(chromium) == ["1.2"]
    chromium.execute_script('document.querySelector("#reset").click()')
    assert len(shown(chromium)) == 4


CLICK = """const node = document.querySelector(`svg.graph a[data-node="${arguments[0]}"]`);
    node.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true, view: window}));"""
MARKED = """return ["chosen", "below", "above"].map((word) =>
    [...document.querySelectorAll(`svg.graph a.${word}`)].map((a) => a.dataset.node).sort())"""


def test_the_graph_opens_on_the_theorem_and_follows_a_click(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    says = 'return document.querySelector("#graph-says").textContent'
    assert chromium.execute_script(MARKED) == [["2.1"], ["1.1", "1.2"], []]
    assert chromium.execute_script(says) == "2.1 rests on 2 claims, none of which needs a change; no claim rests on it."
    chromium.execute_script(CLICK, "1.1")
    assert chromium.execute_script(MARKED) == [["1.1"], [], ["2.1"]]
    assert "rests on no other claim; 1 claim rests on it" in chromium.execute_script(says)
    chromium.execute_script(CLICK, "1.1")
    assert chromium.execute_script(MARKED) == [[], [], []]


def test_a_link_opens_its_claim_even_when_filtered_away(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.execute_script('document.querySelector("input[value=holds]").click()')
    chromium.execute_script("document.querySelector('#graph-says a').click()")
    state = chromium.execute_script(
        'const d = document.getElementById("claim-2.1"); return [d.open, d.hidden, document.activeElement.tagName]'
    )
    assert state == [True, False, "SUMMARY"]


EXPLORERS = ("benign_overfitting", "cooccurrence")  # one protocol, and a choice of them


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages of all papers: real statements, made-up verdicts."""
    folder, made = tmp_path_factory.mktemp("stand-ins"), {}
    for paper in registry.all_papers():
        text = html.page(stand_in(paper, folder, explorer=paper.name in EXPLORERS))
        assert len(text.encode()) <= 1_500_000 and "{'" not in text
        assert set(re.findall(r'mathvariant="([^"]*)"', text)) <= {"normal"}
        made[paper.name] = folder / f"{paper.name}.html"
        made[paper.name].write_text(text, encoding="utf-8")
    return made


def test_pages_are_short_on_screen_and_on_paper(chromium: Browser, stand_ins: dict[str, Path]) -> None:
    for name, file in stand_ins.items():
        chromium.open(file, 1400, 900)
        assert chromium.execute_script("return document.documentElement.scrollHeight") <= 10_000, name
        assert chromium.pdf().count(b"/Type /Page\n") <= 15, name
        first = 'return document.querySelector("nav").getBoundingClientRect().bottom'
        assert chromium.execute_script(first) <= 900, f"the first screen of {name} has to be scrolled"
        chromium.open(file, 375, 800)
        assert chromium.execute_script("return document.documentElement.scrollWidth") == 375, name


def test_all_can_be_printed(chromium: Browser, page: Path, whole: Path) -> None:
    pages = []
    for file in (page, whole):
        chromium.open(file)
        pages.append(chromium.pdf().count(b"/Type /Page\n"))
    assert pages[0] < pages[1]


def test_a_grey_page_tells_verdict_and_evidence(chromium: Browser, stand_ins: dict[str, Path]) -> None:
    """Without colours the kinds of the bar differ in their letter or in their pattern, and their text can be read."""
    chromium.open(stand_ins["shallow_vit"])
    kinds = chromium.execute_script("""
        return [...document.querySelectorAll(".bar li")].map((li) => {
            const style = getComputedStyle(li);
            const words = li.textContent.trim().split(/\\s+/).slice(0, -1);
            return [words.join(" "), style.backgroundImage.slice(0, 40)]; })""")
    assert len(kinds) >= 6 and len({tuple(kind) for kind in kinds}) == len(kinds)
    picture = Image.open(io.BytesIO(chromium.get_screenshot_as_png())).convert("L")
    boxes = chromium.execute_script("""
        return [...document.querySelectorAll(".bar li")].map((li) => {
            const b = li.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })""")
    for box in boxes:  # letters stand out from their ground
        low, high = picture.crop(tuple(map(round, box))).getextrema()
        assert high - low > 90  # type: ignore[operator]


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(chromium: Browser, page: Path, stand_ins: dict[str, Path], dark: bool) -> None:
    source = (resources.files("axe_core_python") / "axe.min.js").read_text("utf-8")
    chromium.set_script_timeout(120)
    for file in (page, page.with_name("index.html"), *(stand_ins[name] for name in EXPLORERS)):
        chromium.open(file, dark=dark)
        chromium.execute_script(source + "; window.axe = axe;")
        chromium.execute_script("""  // of many claims that look alike some are enough
            const many = ".claims > .claim:nth-child(n+9), .change:nth-of-type(n+7), svg.graph a:nth-of-type(n+20)";
            document.querySelectorAll(many).forEach((e) => e.remove());""")
        found = chromium.execute_async_script("""
            const done = arguments[0];
            axe.run(document, {resultTypes: ["violations"]}).then((r) => done(r.violations.map(
                (v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`)));""")
        assert found == [], file.name


def test_the_keyboard_reaches_everything(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    unreachable = chromium.execute_script("""
        return [...document.querySelectorAll("a, button, input, summary, .scroll")]
            .filter((e) => e.tabIndex < 0 && e.getClientRects().length).map((e) => e.outerHTML.slice(0, 80))""")
    assert not unreachable
    nameless = chromium.execute_script("""
        return [...document.querySelectorAll("input")].filter((e) => !e.labels.length).length""")
    assert nameless == 0


def test_without_a_script_everything_can_be_read(chromium: Browser, page: Path) -> None:
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        chromium.open(page)
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    text = chromium.execute_script("return document.body.innerText")
    assert "Keys and queries grow together" in text and "Theory against networks" in text
    assert chromium.execute_script('return document.querySelector(".filters").getClientRects().length') == 0
    assert chromium.execute_script('return document.querySelectorAll("#claims, svg.figure").length') >= 3


def test_what_is_packed_is_there_when_the_page_is_open(
    chromium: Browser, tmp_path: Path, toy_content: Callable[..., Content], monkeypatch: pytest.MonkeyPatch
) -> None:
    content, file = toy_content(), tmp_path / "toy.html"
    monkeypatch.setattr(html, "LARGEST_PAGE", len(html.page(content).encode()) - 10)
    file.write_text(html.page(content), encoding="utf-8")
    chromium.open(file)
    chromium.set_script_timeout(20)
    texts = chromium.execute_async_script("""
        const done = arguments[0];
        const texts = () => [...document.querySelectorAll("[data-part]")].map((e) => e.textContent);
        const look = () => document.querySelector("#packed") ? setTimeout(look, 50) : done(texts());
        look();""")
    assert len(texts) == 3 and "<b>bold</b>" in "".join(texts) and not any("needs a script" in text for text in texts)
    assert chromium.console() == []
    chromium.execute_script(
        'const s = document.querySelector("input[type=search]"); s.value = "bold"; s.dispatchEvent(new Event("input"))'
    )
    assert chromium.execute_script('return document.querySelector("#shown").textContent') == "1 of 3 claims shown"


def test_copying_tex(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    copied = chromium.execute_script("""
        let got = null;
        navigator.clipboard.writeText = async (text) => { got = text; };
        const box = document.querySelector(".change .formula");
        box.querySelector("button").click();
        return [got, box.dataset.tex]""")
    assert copied[0] == copied[1] and copied[0].startswith("\\dot")


STICKING_OUT = """
    return [...document.querySelectorAll("main *")].filter((e) => e.getClientRects().length
        && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def whole(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as ``--print full`` makes it."""
    file = tmp_path_factory.mktemp("whole") / "page.html"
    file.write_text(page.read_text().replace('class="no-script"', 'class="no-script print-full"'))
    return file


def test_paper_is_white_and_shows_everything(chromium: Browser, whole: Path) -> None:
    chromium.on_paper(whole, dark=True)
    assert chromium.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert (
        chromium.execute_script('return getComputedStyle(document.documentElement).getPropertyValue("--card")')
        == "#ffffff"
    )
    before = chromium.execute_script('return document.querySelectorAll("details[open]").length')
    chromium.execute_script('dispatchEvent(new Event("beforeprint"))')
    hidden = chromium.execute_script("""
        return [...document.querySelectorAll("details:not(.tex)")].filter((d) => !d.lastElementChild.offsetHeight)
            .map((d) => d.outerHTML.slice(0, 80))""")
    assert not hidden and not chromium.execute_script(STICKING_OUT)
    useless = 'document.querySelectorAll("nav, .filters, .tex, button")'
    assert chromium.execute_script(f"return [...{useless}].every((e) => !e.getClientRects().length)")
    top = chromium.execute_script('return document.querySelector(".top").innerText')
    assert not top.strip().endswith("·")  # the link that stood behind it is not printed
    chromium.execute_script('dispatchEvent(new Event("afterprint"))')
    assert chromium.execute_script('return document.querySelectorAll("details[open]").length') == before


def test_a_wide_formula_is_made_to_fit_on_paper(chromium: Browser, page: Path) -> None:
    chromium.on_paper(page)
    size = chromium.execute_script("""
        document.querySelectorAll("details").forEach((d) => { d.open = true; });
        const math = document.querySelector(".claim .formula math");
        math.innerHTML = "<mrow>" + math.innerHTML + "</mrow>";
        const row = math.firstElementChild;
        for (let k = 0; k < 40 && row.getBoundingClientRect().width < 1000; k += 1) row.innerHTML += row.innerHTML;
        return parseFloat(getComputedStyle(row).fontSize)""")
    assert chromium.execute_script(STICKING_OUT)
    chromium.execute_script('dispatchEvent(new Event("beforeprint"))')
    assert not chromium.execute_script(STICKING_OUT)
    sizes = chromium.execute_script("""
        return [...document.querySelectorAll(".formula math")].map((m) => parseFloat(getComputedStyle(m).fontSize))""")
    assert min(sizes) < 0.8 * size and sorted(sizes)[1] == max(sizes) == size  # the others stay as they are


def test_equations_go_on_on_the_next_page(chromium: Browser, whole: Path) -> None:
    """A formula is one piece, which a printer cuts anywhere: of rows that fill most of a page each gets its own."""
    chromium.on_paper(whole)
    rows = chromium.execute_script("""
        const table = document.querySelector(".scroll > math > mtable");
        document.querySelectorAll("section, .claim").forEach((e) => { if (!e.contains(table)) e.remove(); });
        table.querySelectorAll("mtd").forEach((cell) => { cell.style.padding = "300px 0"; });
        addEventListener("beforeprint", () => { document.body.dataset.told = "yes"; });
        return table.querySelectorAll("mtr").length""")
    pages = chromium.pdf().count(b"/Type /Page\n")
    assert rows > 10 and rows <= pages <= rows + 2
    assert chromium.execute_script("return document.body.dataset.told") == "yes", "a printer tells the page first"
