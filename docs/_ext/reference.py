"""Pages of the reference, written from the list of public names and from the command line's own help."""

import re
from pathlib import Path
from types import FunctionType, ModuleType

from sphinx.application import Sphinx

import odesys

#: page -> its title, what it is about, and the rooms whose names it has
PAGES = {
    "programs": ("Programs and data", "What you write down: words, maps, functions, samples.", ["program", "model"]),
    "derivation": ("Derivation", "From a program and data to a closed system.", ["derive"]),
    "systems": (
        "Systems and expressions",
        "What a system is, and the expressions in it.",
        ["expr", "reading", "jit", "tex"],
    ),
    "reduction": ("Reduction", "From a system to a smaller one, with the way back.", ["reduce"]),
    "analysis": ("Analysis", "What can be said about a system.", ["analysis"]),
    "exact": ("Exact answers", "When two expressions are equal, or one is positive.", ["exact"]),
    "certificates": (
        "Certificates",
        "What no rounding can break, and files for a proof assistant.",
        ["certify", "proofs"],
    ),
    "runs": ("Runs", "Flows through switches and slides, and maps.", ["flows", "compiled", "maps"]),
    "networks": ("Networks", "Finite width: the same program with weights that really move.", ["networks"]),
    "pictures": ("Pictures and sweeps", "Figures, fits, and many runs.", ["pictures", "sweeps"]),
    "claims": (
        "Claims and verdicts",
        "A lemma as data with a check, and its answer.",
        ["papers", "verdicts", "sentences"],
    ),
    "rest": ("Errors, files, progress", "What is left.", ["errors", "files", "terminal"]),
}
#: what a page begins with; the rest is in alphabetical order
FIRST = """
    Words Space Units maps Data softmax relu gradient_flow gradient_descent Flow System State Quotient Reduction
    identity enclose integrate Trajectory program_network ProgramNetwork compare new_figure ClaimBook Verdict
"""
COMMANDS = ("list", "derive", "verify", "simulate", "compare", "figures", "report", "sweep", "analyse", "new")


def room(name: str) -> str:
    """Where a public name lives: ``reduce`` for ``odesys.reduce.quotient``."""
    package, *rest = odesys._MODULES[name].split(".")
    return rest[0] if rest else package


def directive(name: str) -> str:
    value = getattr(odesys, name)
    if isinstance(value, ModuleType):
        return f".. rubric:: The module {name}\n\n.. automodule:: {value.__name__}\n   :no-index:\n"
    if isinstance(value, type):
        kind = "exception" if issubclass(value, BaseException) else "class"
        members = "" if kind == "exception" else "   :members:\n"
        return f".. auto{kind}:: odesys.{name}\n{members}"
    if isinstance(value, FunctionType):
        return f".. autofunction:: odesys.{name}\n"
    return f".. py:data:: {name}\n\n   {described(name, value)}\n"


def described(name: str, value: object) -> str:
    """A constant: its value if that is short, its kind, and the sentence of its module."""
    first = (getattr(__import__(odesys._MODULES[name], fromlist=["x"]), "__doc__", "") or "").split("\n\n")[0]
    text = re.sub(r"\s+", " ", first).replace("`", "``").replace("|", r"\|")
    return f"``{value!r}``. From the module: {text}"


def write(path: Path, text: str) -> None:
    """Only what has changed is written, so that a second build reads little."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_reference(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    rows, seen = [], set()
    place = {name: k for k, name in enumerate(FIRST.split())}
    for page, (title, about, rooms) in PAGES.items():
        names = [name for name in odesys.__all__ if room(name) in rooms]
        seen |= set(names)
        order = sorted(names, key=lambda name: (place.get(name, len(place)), name.lower()))
        body = "\n\n".join(directive(name) for name in order)
        write(
            folder / f"{page}.rst", f"{title}\n{'=' * len(title)}\n\n{about}\n\n.. currentmodule:: odesys\n\n{body}\n"
        )
        links = ", ".join(f"{{py:obj}}`~odesys.{name}`" for name in order)
        rows.append(f"## [{title}]({page}.rst)\n\n{about}\n\n{links}\n")
    missing = sorted(set(odesys.__all__) - seen)
    if missing:
        raise ValueError(f"public names on no page of the reference: {missing}")
    pages = "\n".join(["terminal", *PAGES])
    text = (
        "# Reference\n\nEverything is imported from `odesys`. A name is loaded when it is first used, and "
        f"`help(odesys.NAME)` prints what is here.\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n\n"
    )
    write(folder / "index.md", text + "\n".join(rows))
    write(folder / "terminal.md", terminal())


def terminal() -> str:
    """The help of every command, as it is printed."""
    from typer.testing import CliRunner

    from odesys.cli import commands

    known = {command.name or command.callback.__name__ for command in commands.app.registered_commands}
    order = [*COMMANDS, *sorted(known - set(COMMANDS))]
    parts = ["# The command line\n\nThe help of every command, as `odesys COMMAND --help` prints it.\n"]
    for command in order:
        shown = CliRunner().invoke(commands.app, [command, "--help"], prog_name="odesys", env={"COLUMNS": "90"})
        parts.append(f"## odesys {command}\n\n```text\n{shown.stdout.strip()}\n```\n")
    return "\n".join(parts)


def escape_bars(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """In our docstrings bars are absolute values, not substitutions of reStructuredText."""
    for k, line in enumerate(lines):
        code = line.lstrip().startswith((">>>", "...", ".. math", "=", "+"))
        if not code and "|" in line and "``" not in line and ":math:" not in line and not line.startswith("   "):
            lines[k] = line.replace("|", r"\|")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", escape_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
