"""What there is: papers in one line each, one paper in detail, and the sizes of its systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..terminal import line_width, print_table, say

if TYPE_CHECKING:
    from ..papers.paper import Paper
    from ..papers.sizes import SystemSize


def print_papers(papers: Sequence[Paper]) -> None:
    """One line per paper: its name, its title and the system that is derived where none is named."""
    width = max(len(paper.name) for paper in papers) + 2
    system = max(len(paper.default) for paper in papers) + 2
    for paper in papers:
        say(_cut(f"{paper.name:{width}}{paper.default or '-':{system}}{paper.title}"))
    say()
    say("name, default system, title; next:")
    _commands((f"list {papers[-1].name}", "its systems, protocols, parameters, figures"), ("--help", "all commands"))


def _cut(line: str) -> str:
    """One line that ends where the terminal does."""
    width = line_width()
    return line if width is None or len(line) <= width else line[: width - 1].rsplit(" ", 1)[0] + "…"


def print_paper(paper: Paper, word: str) -> None:
    """What one paper offers; `word` is what it was asked for with."""
    say(f"{paper.name}: {paper.title}", style="bold")
    say(paper.reference, 4, 0)
    _systems(paper)
    _names("protocols", [f"{name} (default)" if k == 0 else name for k, name in enumerate(paper.protocols)])
    if paper.parameters:
        say("\nparameters, for --set NAME=VALUE:")
        wide = max(len(_setting(p)) for p in paper.parameters) + 2
        for p in paper.parameters:
            words = f"{': ' if p.kind is str else '; or '}{' or '.join(p.words)}" if p.words else ""
            say(f"{_setting(p):{wide}}{p.help}{words}", 4, wide)
    if paper.figures:
        say("\nfigures, for --fig ID:")
        wide = max(map(len, paper.figures)) + 2
        for name, figure in paper.figures.items():
            say(f"{name:{wide}}{figure.title}", 4, wide)
    claims = paper.claims()
    say(
        f"\n{len(claims)} claims" + (f": {', '.join(claims[:6])}{', ...' if len(claims) > 6 else ''}" if claims else "")
    )
    say("\nnext:")
    _commands(
        *([(f"derive {word}", "the sizes of its systems")] if paper.systems else ()),
        *([(f"simulate {word}", "run it")] if paper.protocols else ()),
        *([(f"verify {word}", "do its theorems stand?")] if claims else ()),
        (f"report {word} --out report", "all on one page"),
    )


def _systems(paper: Paper) -> None:
    """The systems of a paper, with what each is where the paper says so."""
    names = {name: f"{name} (default)" if name == paper.default else name for name in paper.systems}
    if not paper.meanings:
        _names("systems", list(names.values()))
        return
    say("\nsystems, for derive --system NAME:")
    wide = max(map(len, names.values())) + 2
    for name, shown in names.items():
        say(f"{shown:{wide}}{paper.meanings.get(name, '')}".rstrip(), 4, wide)


def _setting(parameter: Any) -> str:
    return f"{parameter.name}={parameter.default}"


def _names(title: str, names: Sequence[str]) -> None:
    if names:
        say()
        say(f"{title}: {', '.join(names)}", 0, 4)


def print_sizes(paper: Paper, word: str, sizes: Iterable[SystemSize]) -> None:
    """The systems of a paper with their sizes, and commands that derive one."""
    found = list(sizes)
    say(f"{paper.name}: {paper.title}", style="bold")
    say()
    written = [s for s in found if not s.refused]
    kinds = {"map": "step", "flow": "flow"}
    rows = [
        (f"{s.name} (default)" if s.name == paper.default else s.name, s.states, kinds[s.kind], _few(s.parameters))
        for s in written
    ]
    if rows:
        print_table("", ("system", "states", "kind", "left open"), rows)
    for s in written:
        if s.name in paper.meanings:
            say(f"{s.name}: {paper.meanings[s.name]}", 0, 4)
    if paper.meanings:
        say()
    for size in found:
        if size.refused:
            say(f"{size.name}: {size.refused}")
    given = ", ".join(_setting(p) for p in paper.parameters[:4])
    if given:
        say(f"sizes are for {given}{', ...' if len(paper.parameters) > 4 else ''}", 0, 0)
    say("\nnext:")
    open_ = next((f"{p.name}={p.words[0]}" for p in paper.parameters if p.words and p.kind is not str), "")
    _commands(
        (f"derive {word} --system {paper.default}", "print its equations"),
        (f"derive {word} --format latex --out system.tex", "the default system as a document"),
        *([(f"derive {word} --set {open_}", f"one system for every {open_.partition('=')[0]}")] if open_ else ()),
        *([(f"simulate {word} --out run", "run it")] if paper.protocols else ()),
        (f"list {word}", "its parameters, protocols and figures"),
    )


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _commands(*lines: tuple[str, str]) -> None:
    """Commands that can be copied, each whole on its line; what they do beside them where there is room, else below."""
    wide = max(len(command) for command, _ in lines) + len("odesys ") + 3
    room = line_width()
    if room is None or 4 + wide + 2 + max(len(what) for _, what in lines) <= room:
        for command, what in lines:
            say(f"{'odesys ' + command:{wide}}# {what}", 4)
    else:
        for command, what in lines:
            say(f"# {what}", 4)
            say(f"odesys {command}", 4)
