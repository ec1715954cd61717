"""Random command lines and model definitions, a good part of them valid, and what must be true after each.

Used by a small test and by ``python -m benchmarks.fuzz_inputs``, which runs thousands.
"""

from __future__ import annotations

import functools
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import strategies as st
from typer.main import get_command
from typer.testing import CliRunner

from odesys.cli import commands
from odesys.errors import OdesysError
from odesys.papers import registry
from odesys.papers.new import create
from tests.watching import Hang, misplaced, watched

KEPT = ("fuzzpaper", "a_file", "locked")  # what `playground` makes
ENOUGH = 2  # seconds of processor time after which a size that can be, but takes long, is interrupted


@dataclass
class Tally:
    """How many examples were run, and how many of them to the end."""

    run: int = 0
    valid: int = 0
    codes: dict[int, int] = field(default_factory=dict)

    def count(self, code: int) -> None:
        """One more, with this exit code; zero is one that was run to the end."""
        self.run += 1
        self.valid += code == 0
        self.codes[code] = self.codes.get(code, 0) + 1


def playground(folder: Path) -> Path:
    """A paper, a file, and a folder that can not be written (by anyone but root); nothing else is in the one above."""
    folder = folder / "inside"
    folder.mkdir()
    create(folder / "fuzzpaper")
    (folder / "a_file").write_text("not a folder\n")
    (folder / "locked").mkdir(mode=0o500)
    return folder


# ---- command lines ---------------------------------------------------------------------------------------------------

OMEGAS = st.one_of(
    st.sampled_from(["0.5", "1e-3", "2", "99.9", "0.125", "1e-50", "1_0"]), st.floats(1e-3, 3.0).map(repr)
)
TIMES = st.one_of(st.sampled_from(["1", "40", "1e-6", "0.3", "1000", "25"]), st.floats(1e-3, 50.0).map(repr))
NUMBERS = st.integers(0, 10**9)
#: what nobody means; no slash and no dots, so that nothing is written outside the folder
NONSENSE = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "-",
            "--",
            "=",
            "nan",
            "-1",
            "1e999",
            "9" * 400,
            "--set",
            "--out",
            "--json",
            "--bogus",
            "omega=",
            "=3",
            "omega=nan",
            "omega=1e400",
            "omega=0",
            "t_end=-1",
            "omega=__import__('os')",
            "K=3",
            "missing_folder",
            "a_file",
            "locked",
            "--workers",
            "0",
            "--level",
            "--seeds",
            "1.5",
            "true",
            "log:0:1:3",
            "omega=log:1:2",
            "omega=log:1:2:0",
            "omega=lin:1:1:5",
            "omega=log:-1:2:4",
            "omega=1,1",
            "omega=,",
            "t_end=lin:1:2:999999999",
            "\x1b[31m",
            "é" * 50,
            "%s%n",
            "{}",
            "*",
        ]
    ),
    st.text(st.characters(exclude_characters="/.\x00", exclude_categories=["Cs"]), max_size=12),
)


def _settings() -> st.SearchStrategy[list[str]]:
    omega = st.one_of(st.just([]), OMEGAS.map(lambda v: ["--set", f"omega={v}"]))
    end = st.one_of(st.just([]), TIMES.map(lambda v: ["--set", f"t_end={v}"]))
    return st.builds(lambda a, b: a + b, omega, end)


def _maybe(option: str, file: str) -> st.SearchStrategy[list[str]]:
    """An option with a file name of its own, or nothing; hypothesis runs no line twice, so lines must differ."""
    return st.one_of(st.just([]), NUMBERS.map(lambda n: [option, file.format(n)]))


def valid_lines(paper: str) -> st.SearchStrategy[list[str]]:
    """Lines that must run to the end; frequent ones are cheap."""
    form = st.sampled_from(["text", "latex", "mathml", "json", "python"])
    derive = st.builds(
        lambda a, b, c, d: ["derive", paper, *a, "--format", b, *c, *d],
        st.sampled_from([[], ["--quotient"], ["--system", "full"], ["--system", "quotient"]]),
        form,
        _maybe("--json", "d{}.json"),
        _maybe("--out", "sub{}/d.txt"),
    )
    simulate = st.builds(lambda a, b: ["simulate", paper, *a, *b], _settings(), _maybe("--json", "s{}.json"))
    compare = st.builds(
        lambda w, n, a: ["compare", paper, "--widths", w, "--seeds", n, *a],
        st.one_of(st.integers(1, 20).map(str), st.sampled_from(["16, 2", "4,8"])),
        st.sampled_from(["1", "2"]),
        _maybe("--json", "c{}.json"),
    )
    verify = st.builds(
        lambda c, a, b: ["verify", paper, *c, "--workers", "1", *a, *b],
        st.sampled_from([[], ["--claim", "1.1"], ["--claim", "1.2", "--claim", "1.3"], ["--level", "full"]]),
        _maybe("--json", "v{}.json"),
        _maybe("--errata", "e{}.tex"),
    )
    sweep = st.builds(
        lambda a, b, n: ["sweep", paper, *a, *b, "--workers", "1", "--out", f"sweep{n}"],
        st.sampled_from(
            [
                ["--over", "omega=log:0.1:1:3"],
                ["--over", "t_end=1,2"],
                ["--over", "omega=0.2,0.4", "--over", "t_end=lin:1:3:2"],
            ]
        ),
        st.sampled_from([[], ["--plot", "loss"]]),
        NUMBERS,
    )
    rare = st.one_of(
        st.just(["list", paper, "--json", "l.json"]),
        st.just(["--version"]),
        st.sampled_from(["list", "derive", "simulate", "compare", "figures", "verify", "report", "sweep", "new"]).map(
            lambda c: [c, "--help"]
        ),
        NUMBERS.map(lambda n: ["new", f"fresh{n}"]),
        NUMBERS.map(lambda n: ["list", paper, "--json", f"l{n}.json"]),
    )
    often = [derive, simulate, compare, verify, rare]
    return st.integers(0, 39).flatmap(
        lambda k: sweep if k == 17 else often[k % len(often)]  # zeros and ends are drawn most
    )


@st.composite
def command_lines(draw: Callable[..., Any], paper: str) -> tuple[list[str], bool]:
    """A line, and whether it must run to the end: half of them are spoilt in one to three places."""
    line = list(draw(valid_lines(paper)))
    if draw(st.integers(0, 9)) < 6:
        return line, True
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(line)))
        kind = draw(st.sampled_from(["insert", "replace", "drop", "twice"]))
        if kind == "insert" or not line:
            line.insert(place, draw(NONSENSE))
        elif kind == "replace":
            line[place % len(line)] = draw(NONSENSE)
        elif kind == "drop":
            del line[place % len(line)]
        else:
            line.insert(place, line[place % len(line)])
    return line, False


#: typer reads all signatures for every line, which takes longer than most lines
read_options = functools.cache(get_command)


@contextmanager
def only_this_paper() -> Iterator[None]:
    """No paper has a name, so that `verify` without one does not check them all; folders are still found."""
    with mock.patch.object(registry, "announced", dict), mock.patch.object(registry, "source_modules", dict):
        yield


def check_line(line: list[str], valid: bool, folder: Path, tally: Tally, papers: bool = False) -> None:
    """Run a line in `folder`: an exit code that is documented, one sentence for a mistake, no half-written file.

    Nothing is written but where the line says so. With `papers` those of ours have names, and what takes long is
    interrupted.
    """
    before = Path.cwd()
    os.chdir(folder)
    try:
        with (
            watched(enough=ENOUGH if papers else math.inf),
            nullcontext() if papers else only_this_paper(),
            mock.patch("typer.testing._get_command", read_options),
        ):
            result = CliRunner().invoke(commands.app, line, prog_name="odesys")
    except Hang as hang:
        raise AssertionError(f"odesys {line!r}: {hang}") from None
    finally:
        os.chdir(before)
    shown = f"odesys {line!r}\n{result.output}"
    assert result.exception is None or isinstance(result.exception, SystemExit), f"{shown}\n{result.exception!r}"
    assert result.exit_code in ((0, 1, 2, 130) if papers else (0, 1, 2)), shown
    assert "Traceback" not in result.output, shown
    if result.exit_code == 2:
        last = result.stderr.splitlines()[-1]
        assert last.startswith("odesys: ") and last.isprintable(), shown
    assert not valid or result.exit_code == 0, shown
    left = [file for file in folder.rglob("*") if file.name.endswith(".part")]
    assert not left, f"{shown}\n{left}"
    for file in folder.rglob("*.json"):
        json.loads(file.read_text(encoding="utf-8"))
    stray = [*misplaced(folder, line, KEPT), *(each for each in folder.parent.iterdir() if each != folder)]
    assert not stray, f"{shown}\n{stray}"
    tidy(folder)
    tally.count(result.exit_code)


def tidy(folder: Path) -> None:
    """Only what `playground` makes is left."""
    for each in [*folder.iterdir(), *(each for each in folder.parent.iterdir() if each != folder)]:
        if each.name not in KEPT:
            shutil.rmtree(each) if each.is_dir() else each.unlink()


# ---- model definitions -----------------------------------------------------------------------------------------------

WORDS = st.sampled_from([["a", "b"], ["a", "b", "c"], ["c1", "v1", "v2"]])
STRANGE = st.sampled_from(
    [
        None,
        "",
        "a b",
        0,
        -1,
        1.5,
        float("nan"),
        float("inf"),
        [],
        {},
        "zz",
        True,
        b"x",
        "-",
        "--a",
        object,
        ["a", "a"],
        10**400,
        Fraction(1, 3),
        "relu",
        lambda: 0,
    ]
)


@st.composite
def definitions(draw: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    """Everything a user writes down, and whether it makes sense; half of them have one to two strange entries."""
    words = draw(WORDS)
    count = draw(st.integers(1, 3))
    tokens = st.lists(st.sampled_from(words + [f"-{w}" for w in words]), min_size=1, max_size=3)
    shares = draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    samples = [
        {"tokens": draw(tokens), "label": draw(st.sampled_from([1, -1])), "weight": Fraction(s, sum(shares))}
        for s in shares
    ]
    heads = draw(
        st.lists(
            st.fixed_dictionaries(
                {
                    "sign": st.sampled_from([1, -1]),
                    "activation": st.sampled_from(["linear", "relu"]),
                    "bias": st.sampled_from([0, Fraction(1, 2)]),
                }
            ),
            min_size=1,
            max_size=2,
        )
    )
    value = draw(st.sampled_from([("w",), ("W_V",), ("W", "W_V")]))
    made: dict[str, Any] = {
        "words": list(words),
        "samples": samples,
        "heads": heads,
        "value": value,
        "output": None
        if value == ("w",)
        else draw(st.sampled_from([("fixed", 1), ("fixed", 2), ("neurons", (1, -1))])),
        "pooling": draw(st.sampled_from(["sum", "mean"])),
        "scale": draw(st.sampled_from([1, Fraction(1, 2)])),
        "gram": draw(st.sampled_from([None, "unit"])),
        "loss": draw(st.sampled_from(["logistic", "hinge"])),
        "train": draw(st.sampled_from([(*value, "W_K", "W_Q"), ("W_K", "W_Q"), value])),
        "omega": draw(st.sampled_from([0.1, 1.0, 0.5])),
        "time": draw(st.sampled_from([0.01, 0.5, 1.0])),
    }
    if draw(st.booleans()):
        return made, True
    for _ in range(draw(st.integers(1, 2))):
        key = draw(st.sampled_from([*made, "token", "label", "weight", "sign", "bias", "activation"]))
        strange = draw(STRANGE)
        if key in ("label", "weight"):
            samples[0][key] = strange
        elif key == "token":
            samples[0]["tokens"] = [strange]
        elif key in ("sign", "bias", "activation"):
            heads[0][key] = strange
        else:
            made[key] = strange
    return made, False


def check_definition(made: dict[str, Any], valid: bool, tally: Tally) -> None:
    """From words to a trajectory; a definition that makes no sense is refused by an error of the engine."""
    try:
        with watched():
            run_definition(made)
    except Hang as hang:
        raise AssertionError(f"{made}: {hang}") from None
    except OdesysError as error:
        still = "stands still at zero" in str(error)  # labels that contradict each other: every sign may change
        assert not valid or still or type(error).__name__ == "IntegrationError", f"{made}\n{error}"
        tally.count(2)
    else:
        tally.count(0)


def run_definition(made: dict[str, Any]) -> float:
    """Model, closed system, quotient, TeX and a short run."""
    from numerics.flows.integrate import integrate
    from odesys import (
        AttentionModel,
        Dictionary,
        Distribution,
        FixedVector,
        Head,
        Neurons,
        Sample,
        Value,
        gradient_flow,
    )

    gram = made["gram"]
    if gram == "unit":
        size = len(made["words"]) if isinstance(made["words"], list) else 2
        gram = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    words = Dictionary(made["words"], gram)
    data = Distribution(_each(made["samples"], lambda s: Sample(s["tokens"], s["label"], s["weight"])))
    output = made["output"]
    if isinstance(output, tuple):
        output = FixedVector("a", square=output[1]) if output[0] == "fixed" else Neurons(output[1])
    heads = _each(made["heads"], lambda h: Head(h["sign"], h["activation"], h["bias"]))
    model = AttentionModel(words, heads, Value(made["value"], output), pooling=made["pooling"], scale=made["scale"])
    flow = gradient_flow(model, data, train=made["train"], loss=made["loss"])
    quotient = flow.quotient()
    assert 1 <= quotient.system.dimension <= flow.system.dimension
    quotient.system.latex()
    spread = dict.fromkeys(model.value.maps, Fraction(1, 2)) if output is not None else {}
    start = quotient.initial_state(omega=made["omega"], **spread)
    run = integrate(quotient.system, start, (0.0, made["time"]), rtol=1e-6)
    return float(run.final["loss"])


def _each(items: Any, make: Callable[[dict[str, Any]], Any]) -> Any:
    """The list made of descriptions; what is no such list is handed on as it is."""
    described = isinstance(items, list) and all(isinstance(item, dict) for item in items)
    return [make(item) for item in items] if described else items
