"""Pages of reports for tests: a reader that checks their markup, and a small paper in which much goes wrong."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from odesys.errors import IntegrationError
from odesys.papers.claims import ClaimBook
from odesys.papers.paper import FigureSpec, Paper
from odesys.verdicts import Verdict, proved, refuted, undecided

VOID = {"meta", "link", "input", "img", "br"}


class Reader(HTMLParser):
    """Checks that elements are closed in order, and collects ids, links and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found[key] or "" for key in ("href", "src", "xlink:href") if key in found]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data


def toy(**more: Any) -> Paper:
    """A paper whose run fails and whose texts look like markup."""

    def nothing(parameters: Any, progress: Any) -> Any:
        raise IntegrationError("the step became <too> small", time=1.0)

    def draw(folder: Path, progress: Any) -> list[Path]:
        (folder / "x.svg").write_text('<svg viewBox="0 0 100 50"><g id="a"/></svg>')
        return [folder / "x.svg"]

    book = ClaimBook("toy", laboratory=lambda mutation="": mutation)

    @book.claim(
        "A.1", "<script>alert(1)</script>", kind="identity", statement=r"1 < 2 & \unknown{", reading="<b>bold</b>"
    )
    def first(lab: str) -> Verdict:
        return undecided("x < y")

    @book.claim("A.2", "Second", kind="identity", statement="1 = 2", reading="as is", uses=["A.1"], expect="fails")
    def second(lab: str) -> Verdict:
        return refuted({"<i>": [1, 2.5, None]}, seen=[1, 2.5, None]).correcting("1 = 1", proved(), "a typo & more")

    @book.claim("A.3", "Third", kind="order", statement="x", reading="y", level="full")
    def third(lab: str) -> Verdict:
        return proved()

    known: dict[str, Any] = {
        "name": "toy",
        "title": "A <toy>",
        "reference": "nobody & never",
        "parameters": (),
        "systems": {},
        "protocols": {"run": nothing},
        "book": lambda: book,
        "figures": {
            "1": FigureSpec("one", draw),
            "2": FigureSpec("long", draw, "full"),
            "3": FigureSpec("elsewhere", draw, "never"),
        },
    }
    return Paper(**{**known, **more})
