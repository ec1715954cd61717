"""How long the explorer of each paper takes for one solve, in Chromium, by the code that stands in the page.

    python -m benchmarks.bench_explorer [FILE]

prints a table, and writes it to FILE if one is given. A solve is the paper's own values with the first protocol; the
fastest of many counts, after some that only warm up the browser's compiler: what else runs on the machine only adds to
it. A yardstick is a fixed loop of additions and multiplications in the same page, timed between the solves: ratios can
be compared between machines, times can not.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from odesys.papers import registry
from odesys.report.explorer import explorer_page, fragment
from tests.browser import CHROMIUM, DRIVER, Browser, browser

WARM, SOLVES = 20, 61
MEASURE = """
    const explorer = document.getElementById("explore").explorer, [warm, count] = arguments, spent = [], yards = [];
    const protocol = arguments[2], values = arguments[3];
    const yardstick = () => {
        const began = performance.now();
        let x = 0.5;
        for (let k = 0; k < 1e6; k++) x = x * 0.999999 + 1e-6 * (1 - x);
        return [performance.now() - began, x];
    };
    let steps = 0;
    for (let k = 0; k < warm + count; k++) {
        const [yard] = yardstick(), found = explorer.run(protocol, values);
        steps = found.runs.reduce((n, run) => n + run.steps.length, 0);
        if (k >= warm) { spent.push(found.spent); yards.push(yard); }
    }
    return [steps, Math.min(...spent), Math.min(...yards)];"""


@dataclass(frozen=True)
class Row:
    """The explorer of one paper: bytes of script, steps of a solve, milliseconds, and the same in yardsticks."""

    paper: str
    script: int
    steps: int
    milliseconds: float
    yardsticks: float


def row(name: str, chromium: Browser, folder: Path) -> Row:
    """Measure one paper's explorer on a page of its own."""
    paper = registry.find_paper(name)
    assert paper.explorer is not None
    made, file = paper.explorer(paper.read_parameters({})), folder / f"{name}.html"
    file.write_text(explorer_page(made), encoding="utf-8")
    chromium.open(file)
    values = {slider.name: slider.value for slider in made.sliders}
    steps, spent, yard = chromium.execute_script(MEASURE, WARM, SOLVES, made.protocols[0].name, values)
    return Row(name, len(fragment(made).script.encode()), steps, spent, spent / yard)


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    head = "| paper | script | steps | a solve | yardsticks |\n| --- | --- | --- | --- | --- |\n"
    return head + "".join(
        f"| {r.paper} | {r.script / 1000:.0f} kB | {r.steps} | {r.milliseconds:.2f} ms | {r.yardsticks:.2f} |\n"
        for r in rows
    )


def written(text: str) -> str:
    """The table as a page: what was measured, and by what."""
    about = f"The fastest of {SOLVES} in Chromium, by `python -m benchmarks.bench_explorer`."
    return f"# One solve in the explorer\n\n{about}\n\n{text}"


def main(file: str = "") -> None:
    """Measure all papers that have an explorer."""
    if not (CHROMIUM and DRIVER):
        sys.exit("the explorer runs in a browser: install chromium and chromium-driver, or call make browser")
    names = [paper.name for paper in registry.all_papers() if paper.explorer is not None]
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "profile") as chromium:
        chromium.set_script_timeout(600)
        text = table([row(name, chromium, Path(folder)) for name in names])
    print(text, end="")
    if file:
        Path(file).write_text(written(text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:2])
