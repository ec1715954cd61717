"""The page in a real browser: formulas have a size, the filter works, nothing is asked for, nothing sticks out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import CHROMIUM, DRIVER, Browser, browser

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


def shown(chromium: Browser) -> list[str]:
    return chromium.execute_script("""
        return [...document.querySelectorAll("tr[data-claim]")].filter((r) => r.getClientRects().length)
            .map((r) => r.querySelector("a").textContent)""")


def test_the_filter_works(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert shown(chromium) == ["1.1", "1.2", "1.3", "2.1"]
    click = 'document.querySelector("input[value={}]").click()'
    chromium.execute_script(click.format("holds"))
    assert shown(chromium) == ["1.3"]
    assert chromium.execute_script('return document.querySelector("#shown").textContent') == "1 of 4 claims shown"
    assert (
        chromium.execute_script(
            'return [...document.querySelectorAll("details.claim[data-claim]")]'
            ".filter((d) => d.getClientRects().length).length"
        )
        == 1
    )
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


def test_a_link_opens_its_claim_even_when_filtered_away(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.execute_script('document.querySelector("input[value=holds]").click()')
    chromium.execute_script(
        "document.querySelector('svg.graph a[href=\"#claim-2.1\"]').dispatchEvent("
        "new MouseEvent('click', {bubbles: true, cancelable: true, view: window}))"
    )
    state = chromium.execute_script(
        'const d = document.getElementById("claim-2.1"); return [d.open, d.hidden, document.activeElement.tagName]'
    )
    assert state == [True, False, "SUMMARY"]


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
    assert "Keys and queries grow together" in text and "Theory against finite width" in text
    assert chromium.execute_script('return document.querySelector(".filters").getClientRects().length') == 0
    assert chromium.execute_script('return document.querySelectorAll("#claims, svg.figure").length') >= 3


def test_copying_tex(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    copied = chromium.execute_script("""
        let got = null;
        navigator.clipboard.writeText = async (text) => { got = text; };
        const box = document.querySelector(".tex");
        box.open = true;
        box.querySelector("button").click();
        return [got, box.querySelector("code").textContent]""")
    assert copied[0] == copied[1] and copied[0].startswith("f(X)")


STICKING_OUT = """
    return [...document.querySelectorAll("main *")].filter((e) => e.getClientRects().length
        && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"""


def test_paper_is_white_and_shows_everything(chromium: Browser, page: Path) -> None:
    chromium.on_paper(page, dark=True)
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
    chromium.execute_script('dispatchEvent(new Event("afterprint"))')
    assert chromium.execute_script('return document.querySelectorAll("details[open]").length') == before


def test_a_wide_formula_is_made_to_fit_on_paper(chromium: Browser, page: Path) -> None:
    chromium.on_paper(page)
    size = chromium.execute_script("""
        document.querySelectorAll("details").forEach((d) => { d.open = true; });
        const row = document.querySelector(".claim .formula math > mrow");
        for (let k = 0; k < 40 && row.getBoundingClientRect().width < 1000; k += 1) row.innerHTML += row.innerHTML;
        return parseFloat(getComputedStyle(row).fontSize)""")
    assert chromium.execute_script(STICKING_OUT)
    chromium.execute_script('dispatchEvent(new Event("beforeprint"))')
    assert not chromium.execute_script(STICKING_OUT)
    sizes = chromium.execute_script("""
        return [...document.querySelectorAll(".formula math")].map((m) => parseFloat(getComputedStyle(m).fontSize))""")
    assert min(sizes) < 0.8 * size and sorted(sizes)[1] == max(sizes) == size  # the others stay as they are


def test_equations_go_on_on_the_next_page(chromium: Browser, page: Path) -> None:
    """A formula is one piece, which a printer cuts anywhere: of rows that fill most of a page each gets its own."""
    chromium.on_paper(page)
    rows = chromium.execute_script("""
        const table = document.querySelector(".scroll > math > mtable");
        document.querySelectorAll("section, .claim").forEach((e) => { if (!e.contains(table)) e.remove(); });
        table.querySelectorAll("mtd").forEach((cell) => { cell.style.padding = "300px 0"; });
        addEventListener("beforeprint", () => { document.body.dataset.told = "yes"; });
        return table.querySelectorAll("mtr").length""")
    pages = chromium.pdf().count(b"/Type /Page\n")
    assert rows > 10 and rows <= pages <= rows + 2
    assert chromium.execute_script("return document.body.dataset.told") == "yes", "a printer tells the page first"
