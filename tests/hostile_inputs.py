"""Inputs that mean harm or come by accident: sizes that can not be, and files of systems that no one would write.

Used by a small test and by ``python -m benchmarks.fuzz_inputs``, which runs thousands.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from odesys.errors import OdesysError
from odesys.papers import registry
from tests.watching import Hang, watched

# ---- sizes -----------------------------------------------------------------------------------------------------------

NAMES = ("two_mixture", "cooccurrence", "signgd", "shallow_vit", "benign_overfitting")
SIZES = st.one_of(
    st.sampled_from(
        ["0", "-1", "1", "2", "7", "40", "600", "1000000", "600000000", "1000000000000", "999999999999999"]
    ),
    st.sampled_from(["1e308", "1e-308", "1e60", "5e-324", "1e12", "0.5", "-0.0", "nan", "inf", "9" * 4000]),
    st.integers(0, 18).map(lambda k: str(10**k)),
    st.integers(1, 10**12).map(str),
)


@st.composite
def sized_lines(draw: Callable[..., Any]) -> list[str]:
    """A command on a paper of ours with one to three parameters of any size."""
    paper = draw(st.sampled_from(NAMES))
    parameters = [each.name for each in registry.find_paper(paper).parameters]
    values = draw(st.lists(st.tuples(st.sampled_from(parameters), SIZES), min_size=1, max_size=3))
    command = draw(st.sampled_from(["simulate", "derive", "compare", "sweep"]))
    line = [command, paper]
    if command == "simulate":
        protocols = list(registry.find_paper(paper).protocols)
        line += ["--protocol", draw(st.sampled_from(protocols))]
    elif command == "derive":
        systems = list(registry.find_paper(paper).systems)
        line += ["--system", draw(st.sampled_from(systems)), "--out", "d.txt"]
    elif command == "compare":
        line += ["--widths", draw(SIZES), "--seeds", draw(SIZES)]
    else:
        (name, value), *values = values
        line += ["--over", f"{name}={draw(st.sampled_from([f'{value},1', f'lin:1:2:{value}', f'log:1:{value}:3']))}"]
        line += ["--workers", "1", "--out", "s"]
    return [*line, *(word for name, value in values for word in ("--set", f"{name}={value}"))]


# ---- files of systems ------------------------------------------------------------------------------------------------

TERMS = (
    ["x", "y", "k*x", "-x", "sin(x)", "x^2*y", "1/3", "0.1*y", "x^3 - y", "exp(-x)*y", "k"],
    ["3**(10**9)", "x^(9^9^9)", "x**1000000000", "(x+1)^100000", "(x+y+1)^3000", "2^4000*x", "1e308*x*10"],
    ["1e999999999", "1e-999999999", "9" * 4001, "0." + "1" * 4001, "1e308", "5e-324*x", "nan", "inf", "-inf*x"],
    ["exp(exp(exp(1000)))", "exp(1000)", "x/0", "0^(-1)", "0^0", "1/(x-x)", "log(-1)", "log(0)", "sqrt(-1)", "x^x"],
    ["(" * 2000 + "x" + ")" * 2000, "sin(" * 500, "-" * 3000 + "x", "x" + "+x" * 3000, "x" + "*x" * 3000],
    ["sin(" * 400 + "x" + ")" * 400, "", " ", ";", "x'", "x = y", "f(x)", "x y", "é", "x\x00", "\u202ex", "\ud800"],
    ["__import__('os')", "x.__class__", "lambda: 0", "x[0]", "'x'", "#x", "x if x else y", "unknown", "t", "t^t"],
    ["heaviside(x)", "max(x, y)", "abs(x)", "x!", "x^(1/2)", "x^(1/3)", "x^-1", "x^(2^62)", "x^(1/10^400)"],
)
TERM = st.one_of(st.sampled_from(TERMS[0]), st.sampled_from([term for group in TERMS[1:] for term in group]))
NAME = st.sampled_from(
    ["x", "y", "k", "z", "", " ", "x y", "t", "sin", "1", "-x", "é", "a" * 300, "x'", "__x", "lambda"]
)
NUMBER = st.one_of(
    st.sampled_from([1, 0, -1, 0.1, "1/3", "1/0", "1e400", "nan", "0x1p3", "3**(10**9)", True, None, [], {}, "", " 1"]),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
)
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), TERM),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


@st.composite
def equations(draw: Callable[..., Any]) -> tuple[Any, bool]:
    """JSON with equations as texts, and whether it must be read."""
    data: dict[str, Any] = {"equations": {"x": draw(st.sampled_from(TERMS[0])), "y": "-x"}, "parameters": {"k": 2}}
    if draw(st.integers(0, 9)) < 3:
        return data, True
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(["term", "name", "parameter", "start", "kind", "observables", "any"]))
        if kind == "term" and isinstance(data["equations"], dict):
            data["equations"]["x"] = draw(TERM)
        elif kind == "name" and isinstance(data["equations"], dict):
            data["equations"][draw(NAME)] = draw(TERM)
        elif kind == "parameter":
            data["parameters"] = {draw(NAME): draw(NUMBER), "k": 1}
        elif kind == "start":
            data["start"] = {draw(NAME): draw(NUMBER)}
        elif kind == "kind":
            data["kind"] = draw(st.one_of(st.sampled_from(["map", "flow", "Flow"]), ANY))
        elif kind == "observables":
            data["observables"] = draw(st.one_of(st.dictionaries(NAME, TERM, max_size=2), ANY))
        else:
            data[draw(st.sampled_from(["equations", "parameters", "start", "format"]))] = draw(ANY)
    return data, False


ROWS = st.one_of(
    st.tuples(st.just("num"), NUMBER.map(lambda n: n if isinstance(n, str) else str(n))),
    st.tuples(st.just("sym"), NAME),
    st.tuples(
        st.sampled_from(["add", "mul"]), st.tuples(st.integers(-1, 8), NUMBER), st.tuples(NUMBER, st.integers(-1, 8))
    ),
    st.tuples(st.just("mul"), st.tuples(st.integers(0, 6), st.sampled_from(["2", "-1", "1/2", "99999", "1000000000"]))),
    st.tuples(st.just("add"), st.tuples(st.sampled_from(["1", "-1/3", "inf", "0x1p1023"]), st.integers(0, 6))),
    st.tuples(st.sampled_from(["exp", "log", "sin", "relu", "step", "nothing"]), st.integers(-1, 8)),
    ANY,
)


@st.composite
def tables(draw: Callable[..., Any]) -> tuple[Any, bool]:
    """JSON with a table of nodes, as `System.to_json` writes it, and whether it must be read."""
    nodes: list[Any] = [["sym", "x"], ["sym", "k"], ["num", "1/3"], ["mul", [0, "1"], [1, "1"]], ["exp", 3]]
    nodes.append(["add", ["-1", 0], ["1", draw(st.integers(0, 4))]])
    valid = draw(st.integers(0, 9)) < 3
    if not valid:
        for _ in range(draw(st.integers(1, 3))):
            nodes.insert(draw(st.integers(0, len(nodes))), draw(ROWS))
        if draw(st.integers(0, 3)) == 0:  # each the square of the one before
            nodes += [["mul", [k, "2"]] for k in range(len(nodes) - 1, len(nodes) + draw(st.integers(3, 80)))]
    data: dict[str, Any] = {"format": "odesys-system", "version": 1, "kind": "flow", "states": ["x"]}
    data |= {"parameters": ["k"], "tex": {}, "equations": [len(nodes) - 1], "observables": {}, "nodes": nodes}
    if not valid and draw(st.integers(0, 2)) == 0:
        data[draw(st.sampled_from(list(data)))] = draw(ANY)
    return data, valid


@st.composite
def system_files(draw: Callable[..., Any]) -> tuple[str, bool]:
    """The text of a .json file, and whether it must be read; some are cut off, nested or spoilt as texts."""
    data, valid = draw(st.one_of(equations(), tables()))
    text = json.dumps(data)
    if valid or draw(st.integers(0, 4)):
        return text, valid
    cut = draw(st.integers(0, len(text)))
    spoilt = [text[:cut], "[" * 100_000, '{"a":' * 50_000, text.replace("1", "9" * 5000), "\ufeff" + text, text * 2]
    spoilt += [text.replace('"', "'"), text.replace("2", "NaN"), text[:cut] + "\x00" + text[cut:], "null", "1e400"]
    return draw(st.sampled_from(spoilt)), False


# ---- systems that are analysed ---------------------------------------------------------------------------------------

PIECES = ["x", "y", "k", "0", "1", "2", "1/3", "(x-x)", "(x+y)", "(x-1)", "(k-k*1)", "(sin(x)^2+cos(x)^2-1)", "t"]
CALLS = ["sin({})", "cos({})", "exp({})", "log({})", "sqrt({})", "abs({})", "heaviside({})", "tanh({})", "-({})"]
JOINED = st.recursive(
    st.sampled_from(PIECES),
    lambda inner: st.one_of(
        st.builds(lambda a, sign, b: f"({a}){sign}({b})", inner, st.sampled_from("+-**/^"), inner),
        st.builds(lambda call, a: call.format(a), st.sampled_from(CALLS), inner),
    ),
    max_leaves=4,
)


def analysed_systems() -> st.SearchStrategy[dict[str, str]]:
    """Equations of one or two states, many with a value nowhere or with poles and kinks everywhere."""
    return st.one_of(
        st.builds(lambda a: {"x": a.replace("y", "x")}, JOINED),
        st.builds(lambda a, b: {"x": a, "y": b}, JOINED, JOINED),
    )


def check_analysis(equations: dict[str, str], count: Callable[[int], None]) -> None:
    """What `analyse` finds can be printed and stored, or the equations are refused by an error of the engine."""
    from odesys import System, analyse
    from odesys.files import json_text

    try:
        with watched():
            found = analyse(System.from_strings(equations), {})
            assert str(found) and json.loads(json_text(found.as_json()))
    except OdesysError as error:
        assert len(str(error)) < 2000, f"{equations}\n{error}"
        count(2)
    except Hang as hang:
        raise AssertionError(f"{equations}\n{hang}") from None
    except Exception as error:
        raise AssertionError(f"{equations}\n{error!r}") from error
    else:
        count(0)


def run_file(file: Path) -> None:
    """Read a system, write and read it again, its TeX, and its rates at one point."""
    from odesys.expr.system import System
    from odesys.reading.reading import read_system

    reading = read_system(file)
    system = reading.with_values
    assert System.from_json(system.to_json()).nodes == system.nodes
    system.latex()
    if not system.parameters:
        system.compile()(0.0, [0.5] * system.dimension)


def check_file(text: str, valid: bool, folder: Path, count: Callable[[int], None]) -> None:
    """A file is read or refused by an error of the engine, which is short and can be shown."""
    file = folder / "hostile.json"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    shown = text if len(text) < 2000 else f"{text[:1000]}...{text[-500:]}"
    try:
        with watched():
            run_file(file)
    except OdesysError as error:
        assert not valid, f"{shown}\n{error}"
        assert len(str(error)) < 2000, f"{shown}\n{error}"
        count(2)
    except Hang as hang:
        raise AssertionError(f"{shown}\n{hang}") from None
    else:
        count(0)
    finally:
        file.unlink()
