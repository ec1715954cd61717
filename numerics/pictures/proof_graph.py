"""The proof graph of a claim book, drawn with every claim coloured by its verdict."""

from __future__ import annotations

from pathlib import Path

from odesys.papers.claims import ClaimBook
from odesys.papers.verification import verify
from odesys.terminal import Progress

from .plotting import draw_layers, save_figure

VERDICT_COLOURS = {
    "holds, proof": "#9fd3a8",
    "holds, certificate": "#a9cfe8",
    "holds, measurement": "#f3e3a2",
    "fails as printed": "#eeaaa3",
    "undecided": "#bbbbbb",
    "untested": "#dddddd",
    "not run": "#eeeeee",
}


def draw_proof_graph(book: ClaimBook, folder: Path, progress: Progress) -> list[Path]:
    """Check the claims of level quick and draw what rests on what.

    Parameters
    ----------
    book : ClaimBook
        The claims to check and draw.
    folder : Path
        Where the files go.
    progress : Progress
        Told which claim is checked, and the fraction of all.

    Returns
    -------
    list[Path]
        The files that were written.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> from odesys import proved, silent
    >>> book = ClaimBook("toy", laboratory=dict)
    >>> for number, uses in (("1", []), ("2", ["1"]), ("3", ["1"]), ("4", ["2", "3"])):
    ...     claim = book.claim(number, "A step", kind="identity", statement="0 = 0", reading="it is", uses=uses)
    ...     _ = claim(lambda lab: proved())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [file.name for file in draw_proof_graph(book, Path(folder), silent)]
    ['proof.png', 'proof.svg']
    """
    kinds = {}
    for outcome in verify(book, book.select(level="quick"), progress):
        holds = f"{outcome.verdict.as_stated}, {outcome.verdict.evidence}"
        answer = outcome.verdict.as_stated
        kinds[outcome.claim.id] = {"holds": holds, "fails": "fails as printed"}.get(answer, answer)
    colours = {claim.id: VERDICT_COLOURS[kinds.get(claim.id, "not run")] for claim in book}
    fig = draw_layers(book.proof_graph(), colours, VERDICT_COLOURS, f"{book.paper}: what rests on what")
    return save_figure(fig, folder, "proof")
