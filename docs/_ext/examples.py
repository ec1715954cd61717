"""The gallery: a page for each example with its picture and its source, and a page for the papers."""

import ast
import hashlib
import importlib.util
import re
import shutil
from pathlib import Path

from reference import write
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "gallery"
PAPERS = {
    "two_mixture": "1",
    "cooccurrence": "1clean",
    "benign_overfitting": "1finite",
    "signgd": "",
    "shallow_vit": "",
}


def write_gallery(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "gallery"
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    cards, pages = [], []
    for file in sorted(EXAMPLES.glob("*.py")):
        text = file.read_text(encoding="utf-8")
        docstring = ast.get_docstring(ast.parse(text)) or ""
        title, _, body = docstring.partition("\n\n")
        whole = re.sub(r"\s+", " ", title).rstrip(".")
        title = re.split(r" \(|: |, and ", whole)[0]
        picture = draw(file, folder / "pictures")
        image = f"![{title}](pictures/{picture})\n" if picture else ""
        source = re.sub(r'^r?""".*?"""\n+', "", text, flags=re.DOTALL)
        fence = f"```python\n{source}```\n"
        said = quoted(escaped(body))
        run = f"Run it with `python examples/gallery/{file.name}`; a test does.\n"
        write(
            folder / f"{file.stem}.md", f"# {escaped(title)}\n\n{escaped(whole)}.\n\n{said}\n\n{image}\n{run}\n{fence}"
        )
        pages.append(file.stem)
        cards.append(f"### [{escaped(title)}]({file.stem}.md)\n\n{escaped(whole)}.\n\n{image}")
    listed = "\n".join(["papers", *pages])
    head = (
        "# Gallery\n\nThe five papers have [a page of their own](papers.md).\n\n## Published results\n\nPrograms of "
        "20 to 75 lines: each derives the closed system, proves or measures the law that is known, and puts a network "
        f"beside it.\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n\n"
    )
    write(folder / "index.md", head + "\n".join(cards))
    write(folder / "papers.md", papers(app))


def escaped(text: str) -> str:
    """Text of a docstring as Markdown: nothing in it is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#$|])", r"\\\1", text)


def quoted(text: str) -> str:
    """Paragraphs as a quotation; the lines of a docstring end where its file is wide enough, not where a page is."""
    return "\n>\n".join(f"> {' '.join(part.split())}" for part in re.split(r"\n\s*\n", text) if part.strip())


def draw(file: Path, folder: Path) -> str:
    """The picture of an example, drawn again only where its source has changed; empty if it has none."""
    if "def picture(" not in file.read_text(encoding="utf-8"):
        return ""
    name = f"{file.stem}-{hashlib.sha256(file.read_bytes()).hexdigest()[:12]}.png"
    if not (folder / name).exists():
        import matplotlib

        matplotlib.use("Agg")
        spec = importlib.util.spec_from_file_location(f"gallery_{file.stem}", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for old in folder.glob(f"{file.stem}-*.png"):
            old.unlink()
        module.picture().savefig(folder / name, dpi=110)
    return name


def papers(app: Sphinx) -> str:
    """A section per paper: figure, claims, commands, and the page itself where `make results` has made it."""
    from odesys.papers import registry

    parts = [
        "# The five papers\n\nEach is a package of one shape: setting, dynamics, protocols, claims, figures. "
        "`odesys report PAPER` writes the page: do the theorems stand, what to change, the equations, every claim "
        "with its evidence, theory on networks. `make results` makes all of them.\n"
    ]
    for name in PAPERS:
        paper = registry.find_paper(name)
        figure, made = ROOT / "docs" / f"{name}.png", ROOT / "results" / f"{name}.html"
        image = f"![{paper.title}](../{name}.png)\n\n" if figure.exists() else ""
        page = ""
        if made.exists():
            target = Path(app.outdir) / "papers" / made.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made, target)
            page = f'<a href="../papers/{made.name}">Open its page</a>\n\n'
        listed = "".join(f"- `{system}`: {escaped(paper.meanings.get(system, ''))}\n" for system in paper.systems)
        parts.append(
            f"## {paper.title}\n\n*{escaped(paper.reference)}.*\n\n{image}{page}Systems (the default is "
            f"`{paper.default}`):\n\n{listed}\n```console\n$ odesys list {name}\n$ odesys derive {name}\n"
            f"$ odesys verify {name}\n$ odesys report {name} --out report\n```\n"
        )
    return "\n".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
