"""Laws of stored region bounds: what is written is accepted, and what a changed number makes false is rejected."""

from __future__ import annotations

import copy
import importlib.util
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp

from derivations.two_mixture.claims.part_e_growth import BLOCK, GROWTH
from derivations.two_mixture.claims.part_e_growth import region as growth_region
from derivations.two_mixture.laboratory import Laboratory
from odesys import System
from odesys.certify.comparison import BoundResult, lower_linear_bound
from odesys.certify.region import Region
from odesys.certify.region_certificate import write_region_certificate
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import call, exp, relu, sym

LEAF = "first box without parts"
CHECKER = Path(__file__).parents[3] / "tools" / "check_region.py"
SEED = 11
ONE, HALF = sp.eye(1), Fraction(1, 2)
x, y, z, w = (sym(name) for name in "xyzw")
unit = (Fraction(0), Fraction(1))
LAST: list[tuple[System, dict[str, Fraction]]] = []  # the system that was bounded last


def bound(
    equations: dict[str, Any],
    region: Any,
    block: str = "x",
    matrix: sp.Matrix = ONE,
    parameters: dict[str, Fraction] | None = None,
    **options: Any,
) -> BoundResult:
    system = System.from_equations(equations, parameters=list(parameters or {}))
    LAST[:] = [(system, parameters or {})]
    return lower_linear_bound(system, list(block), matrix, region, parameters, keep_boxes=True, **options)


def logistic() -> BoundResult:
    return bound({"x": sym("r") * x * (1 - x)}, {"x": (0, Fraction(1, 3))}, parameters={"r": Fraction(5, 3)})


def split() -> BoundResult:
    """The least ratio is inside, so that boxes are split."""
    return bound({"x": x * (1 + (x - Fraction(1, 3)) ** 2)}, {"x": (0, 1)}, tolerance=1e-3)


def tied() -> BoundResult:
    """Two states tied by a condition."""
    field = x * (2 + exp(x) * (y - HALF) ** 2) - y
    return bound({"x": field, "y": -y}, Region({"x": unit, "y": unit}, [HALF * x - y]))


def apart() -> BoundResult:
    """Conditions on states that are not tied to the block."""
    field = x * (1 + (y - Fraction(7, 10)) ** 2 + z / 10)
    region = Region({"x": unit, "y": (0, Fraction(9, 10)), "z": unit}, [y + z - 1, y - z])
    return bound({"x": field, "y": -y, "z": -z}, region, tolerance=1e-2)


def gates() -> BoundResult:
    """A gate that is open, one that is shut, and a sigmoid."""
    shut = graph.step(x - y - 2)
    field = x * call("sigmoid", x * y - y) * (1 - shut) + relu(x + y + HALF) * x
    return bound({"x": field, "y": -y}, {"x": (0, HALF), "y": (0, HALF)})


def kink() -> BoundResult:
    """A gate that is undecided on the region."""
    return bound({"x": 2 * x + x * relu(y - HALF), "y": -y}, {"x": (0, HALF), "y": unit}, tolerance=1e-2)


def hidden() -> BoundResult:
    """A sum inside an exponential is hidden."""
    field = x * exp(-x + y * z + z * z / 3) / (1 + x)
    return bound({"x": field, "y": -y, "z": -z}, {"x": unit, "y": (-1, 1), "z": (-1, 1)}, tolerance=1e-1)


def affine() -> BoundResult:
    """A row with a constant part: vertices count, not rays."""
    return bound({"x": (1 + x) * exp(y) - y, "y": -y}, Region({"x": unit, "y": unit}, [x - y]))


def pair() -> BoundResult:
    """Two rows, one of them with constant coefficients."""
    equations = {"x": x / 3 + y * z, "y": x / 3, "z": -z}
    return bound(equations, dict.fromkeys("xyz", unit), "xy", sp.Matrix([[1, 0], [1, 0]]))


EXAMPLES: list[Callable[[], BoundResult]] = [logistic, split, tied, apart, gates, kink, hidden, affine, pair]


def check(path: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-I", str(CHECKER), str(path)], capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1, 2) and not done.stderr, done.stderr
    return done.returncode, done.stdout


@cache
def certificate(example: Callable[[], BoundResult]) -> dict[str, Any]:
    found = example()
    assert found.answer == "holds" and found.certificate is not None
    return dict(found.certificate)


@pytest.fixture(scope="module")
def verdict() -> Callable[[Any], int]:
    """The exit code of the checker for plain data, without a process of its own."""
    spec = importlib.util.spec_from_file_location("check_region", CHECKER)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)

    def run(data: Any) -> int:
        with flint.ctx.workprec(flint.ctx.prec):
            try:
                tool.check(json.loads(json.dumps(data)))
            except tool.Failure:
                return 1
            except (ValueError, LookupError, TypeError, ZeroDivisionError):
                return 2
        return 0

    return run


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_written_is_accepted(example: Callable[[], BoundResult], tmp_path: Path) -> None:
    found = example()
    path = tmp_path / "bound.json"
    write_region_certificate(found, path)
    assert [file.name for file in tmp_path.iterdir()] == ["bound.json"]
    code, text = check(path)
    assert code == 0, text
    data = json.loads(path.read_text())
    assert data == found.certificate and f"F >= {data['rate']} A x" in text
    assert sp.Rational(data["rate"]) <= found.rate  # the stated rate is proved by balls, the reported one may be exact


def test_the_examples_cover_what_a_certificate_can_hold() -> None:
    every = [certificate(example) for example in EXAMPLES]
    proofs = [proof for data in every for row in data["rows"] for proof in row["proofs"]]
    boxes = [box for proof in [*proofs, *(gate for data in every for gate in data["gates"])] for box in proof["boxes"]]
    assert any("split" in box for box in boxes) and any(box.get("hidden") for box in boxes)
    assert {gate["sign"] for data in every for gate in data["gates"]} == {1, -1}
    assert {row["rays"] for data in every for row in data["rows"]} == {True, False}
    undecided = certificate(kink)
    assert any(op == "step" for op, _ in undecided["nodes"]) and not undecided["gates"]


def test_the_checker_is_short_and_shares_no_code() -> None:
    lines = CHECKER.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 200
    imports = [line.split()[1] for line in lines if line.startswith(("import ", "from "))]
    assert set(imports) == {"json", "sys", "itertools", "pathlib", "flint"}


# ---- changed numbers -----------------------------------------------------------------------------------------------


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the rational numbers of a certificate are."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, item in items:
        if isinstance(item, str) and item.lstrip("-")[:1].isdigit():
            yield (*path, name)
        yield from places(item, (*path, name))


def changed(data: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    other = copy.deepcopy(data)
    here: Any = other
    for name in path[:-1]:
        here = next(box for box in here if "hidden" in box) if name == LEAF else here[name]
    here[path[-1]] = value(here[path[-1]]) if callable(value) else value
    return other


def add(amount: Fraction | int) -> Callable[[str], str]:
    return lambda text: str(Fraction(text) + amount)


TINY = Fraction(1, 10**30)


@pytest.mark.parametrize("example", EXAMPLES)
def test_boxes_levels_and_vertices_can_not_be_changed_alone(
    example: Callable[[], BoundResult], verdict: Callable[[Any], int]
) -> None:
    """However little: they are pinned by the region, the conditions, the rate and the matrix."""
    rng, data = random.Random(SEED), certificate(example)
    pinned = [
        path
        for path in places(data)
        if {"box", "at", "generator", "level"} & set(path[3:])
        and "hidden" not in path
        and not (path[0] == "gates" and path[-1] == "level")
    ]
    pinned += [path for path in places(data) if path[0] in ("rate", "matrix")]
    print("seed", SEED)
    for path in rng.sample(pinned, min(len(pinned), 8)):
        for amount in (TINY, -TINY):
            assert verdict(changed(data, path, add(amount))) != 0, path


FALSE: list[tuple[Callable[[], BoundResult], tuple[Any, ...], Any]] = [
    (logistic, ("parameters", "r"), "33/20"),  # a smaller rate of growth
    (logistic, ("region", "box", "x", 1), "2/5"),  # more region than boxes
    (logistic, ("region", "box", "x", 0), "-1/9"),
    (tied, ("region", "conditions", 0, "slopes", "x"), "3/4"),  # a weaker condition
    (tied, ("region", "conditions", 0, "constant"), "1/10"),
    (tied, ("region", "conditions", 0, "slopes", "y"), "-1/2"),
    (gates, ("gates", 0, "sign"), lambda sign: -sign),
    (gates, ("gates", 0, "level"), "100"),  # more than the surface has
    (gates, ("gates", 1, "level"), "-1"),
    (hidden, ("rows", 0, "proofs", 0, "boxes", LEAF, "hidden", "sum_1", 0), "-1"),  # too high a lower end
    (hidden, ("rows", 0, "proofs", 0, "boxes", LEAF, "hidden", "sum_1", 1), "1/2"),
    (hidden, ("rows", 0, "proofs", 0, "boxes", LEAF, "hidden", "sum_1", 1), "4"),  # too wide for the level
    (pair, ("matrix", 1, 0), "2"),
    (pair, ("rows", 1, "rays"), False),  # zero is a vertex and would have to be listed
    (affine, ("rows", 0, "rays"), True),
    (split, ("format",), "other"),
    (split, ("version",), 2),
]


@pytest.mark.parametrize(("example", "path", "value"), FALSE)
def test_a_false_number_is_rejected(
    example: Callable[[], BoundResult], path: tuple[Any, ...], value: Any, verdict: Callable[[Any], int]
) -> None:
    data = certificate(example)
    other = changed(data, path, value)
    assert other != data and verdict(other) != 0


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_model_with_less_growth_is_rejected(
    example: Callable[[], BoundResult], verdict: Callable[[Any], int]
) -> None:
    """F - rate x for F, by one more row of the table: the boxes and levels stay, and the rate is too large for them."""
    data = copy.deepcopy(certificate(example))
    rate = max(Fraction(data["rate"]), Fraction(1, 100))
    for row in data["rows"]:
        role = next(k for k, (op, arg) in enumerate(data["nodes"]) if op == "role" and arg in "xy")
        data["nodes"].append(["add", [["1", row["root"]], [str(-rate), role]]])
        row["root"] = len(data["nodes"]) - 1
    assert verdict(data) == 1


def table_numbers(data: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [path for path in places(data) if path[0] in ("nodes", "parameters")]


@pytest.mark.parametrize(
    "example",
    [
        logistic,
        affine,
        pair,
        pytest.param(tied, marks=pytest.mark.slow),
        pytest.param(hidden, marks=pytest.mark.nightly),
    ],
)
def test_changed_coefficients_are_rejected_where_they_make_the_bound_false(
    example: Callable[[], BoundResult], verdict: Callable[[Any], int]
) -> None:
    """Any number of the table moved up and down: accepted only if the stated inequality is true at sampled points."""
    data, rng = certificate(example), random.Random(SEED)
    rejected = 0
    for path in table_numbers(data):
        for factor in (Fraction(3, 2), Fraction(-1)):
            if path[0] == "nodes" and data["nodes"][path[1]][0] == "mul" and factor != -1:
                continue  # an exponent: 3/2 of it is a root
            other = changed(data, path, lambda text, f=factor: str(Fraction(text) * f))
            code = verdict(other)
            rejected += code != 0
            if code == 0:
                assert true_at_samples(other, rng), path
    assert rejected > 0


def literal(data: dict[str, Any], point: dict[str, float]) -> list[float]:
    """The right-hand sides of the block at a point, in floats, from the table read as it stands."""
    known = point | {name: float(Fraction(value)) for name, value in data["parameters"].items()}
    functions = {"exp": math.exp, "sigmoid": lambda v: 1 / (1 + math.exp(-v)), "step": lambda v: float(v > 0)}
    rows: list[float] = []
    for op, arg in data["nodes"]:
        if op in ("sym", "role", "num"):
            rows.append(float(Fraction(arg)) if op == "num" else known[arg])
        elif op == "add":
            rows.append(sum(float(Fraction(c)) * rows[i] for c, i in arg))
        elif op == "mul":
            rows.append(math.prod(rows[i] ** int(e) for i, e in arg))
        else:
            rows.append(rows[arg[1]] if op == "sum" else functions[op](rows[arg]))
    return [rows[row["root"]] for row in data["rows"]]


def points(data: dict[str, Any], rng: random.Random) -> Iterator[dict[str, float]]:
    """Random points of the region of a certificate."""
    for _ in range(200):
        point = {
            s: float(Fraction(a)) + rng.random() * float(Fraction(b) - Fraction(a))
            for s, (a, b) in data["region"]["box"].items()
        }
        forms = [
            float(Fraction(c["constant"])) + sum(float(Fraction(a)) * point[s] for s, a in c["slopes"].items())
            for c in data["region"]["conditions"]
        ]
        if min(forms, default=0.0) >= 0:
            yield point


def true_at_samples(data: dict[str, Any], rng: random.Random) -> bool:
    """The statement of a certificate at random points of its region."""
    for point in points(data, rng):
        for left, weights in zip(literal(data, point), data["matrix"], strict=True):
            right = sum(float(Fraction(a)) * point[s] for a, s in zip(weights, data["block"], strict=True))
            if left < float(Fraction(data["rate"])) * right - 1e-9:
                return False
    return True


def several() -> BoundResult:
    """Hidden sums inside two gates that are open, and another one in the row itself."""
    field = x * exp(x + w * sym("v") + w) * (2 + graph.step(3 + x + y * z + z)) + x * graph.step(4 + x + y * z * z - y)
    states = {"x": field, "y": -y, "z": -z, "w": -w, "v": -sym("v")}
    return bound(states, dict.fromkeys("xyzwv", unit))


@pytest.mark.parametrize("example", [*EXAMPLES, several])
def test_the_table_read_as_it_stands_is_the_model(example: Callable[[], BoundResult]) -> None:
    found = example()
    system, values = LAST[-1]
    assert found.certificate is not None
    data, rng = dict(found.certificate), random.Random(SEED)
    field = system.compile({name: float(value) for name, value in values.items()})
    count = 0
    for point in points(data, rng):
        wanted = field(0.0, np.array([point[name] for name in system.names]))
        count += 1
        for state, value in zip(data["block"], literal(data, point), strict=True):
            assert value == pytest.approx(wanted[system.names.index(state)], rel=1e-12, abs=1e-12)
    assert count > 10


def test_sums_of_gates_and_rows_have_their_own_names(verdict: Callable[[Any], int]) -> None:
    data = certificate(several)
    names = [arg[0] for op, arg in data["nodes"] if op == "sum"]
    assert len(names) == len(set(names)) >= 3 and len(data["gates"]) == 2
    assert verdict(data) == 0


def test_a_box_may_be_left_empty_only_by_the_conditions(verdict: Callable[[Any], int]) -> None:
    """y + z >= 1 and y >= z leave nothing of y <= 1/5, and something of y >= 1/5."""
    data = copy.deepcopy(certificate(apart))
    rest = {"y": ["1/5", "9/10"], "z": ["1/10", "9/10"]}
    proof = data["rows"][0]["proofs"][0]
    assert proof["boxes"][0] == {"box": {**rest, "y": ["1/10", "9/10"]}, "split": "y", "at": "1/2"}
    proof["boxes"][:1] = [{**proof["boxes"][0], "at": "1/5"}, {"box": rest, "split": "y", "at": "1/2"}]
    proof["boxes"].append({"box": None})
    assert verdict(data) == 0
    proof["boxes"][1:] = [{"box": None}, {"box": None}]
    assert verdict(data) != 0


def test_boxes_that_are_missing_or_too_many_are_rejected(verdict: Callable[[Any], int]) -> None:
    data = certificate(split)
    for edit in (lambda boxes: boxes.pop(), lambda boxes: boxes.append(boxes[-1]), lambda boxes: boxes.reverse()):
        other = copy.deepcopy(data)
        edit(other["rows"][0]["proofs"][0]["boxes"])
        assert verdict(other) != 0
    fewer = copy.deepcopy(certificate(affine))
    fewer["rows"][0]["proofs"].pop()
    assert verdict(fewer) == 1


def test_marks_that_do_not_fit_are_rejected(verdict: Callable[[Any], int]) -> None:
    """A square counted as linear, a gate of a state in the linear role, and two sums of one name."""
    data = certificate(logistic)
    square = copy.deepcopy(data)
    square["nodes"] = [["role", "x"] if row == ["sym", "x"] else row for row in square["nodes"]]
    assert verdict(square) == 1
    gated = copy.deepcopy(data)
    root, mark = data["rows"][0]["root"], data["nodes"].index(["role", "x"])
    last = len(data["nodes"])
    gated["nodes"] += [
        ["num", "-1/4"],
        ["add", [["1", mark], ["1", last]]],
        ["step", last + 1],
        ["add", [["1", root], ["1", last + 2]]],
    ]
    gated["rows"][0]["root"] = len(gated["nodes"]) - 1
    assert verdict(gated) == 1
    twice = copy.deepcopy(certificate(hidden))
    twice["nodes"] += [next(row for row in twice["nodes"] if row[0] == "sum")]
    assert verdict(twice) == 1


def test_refusals_are_sentences(tmp_path: Path) -> None:
    system = System.from_equations({"x": x * (1 - x)})
    plain = lower_linear_bound(system, ["x"], ONE, {"x": (0, HALF)})
    assert plain.certificate is None
    with pytest.raises(EquationError, match="keep_boxes=True"):
        write_region_certificate(plain, tmp_path / "none.json")
    assert not list(tmp_path.iterdir())
    exact = lower_linear_bound(System.from_equations({"x": 2 * x}), ["x"], ONE, {"x": (0, 1)}, keep_boxes=True)
    assert exact.evidence == "proof" and exact.certificate is None  # algebra needs no boxes
    code, text = check(tmp_path / "missing.json")
    assert code == 2 and "not a certificate" in text


@pytest.mark.nightly
def test_the_two_mixture_bound_is_stored_and_rechecked(tmp_path: Path) -> None:
    """Claim E.2/region: C = 1/100, T1 = 20."""
    system = Laboratory().reduced("stage2").system.substitute({"b": HALF})
    region = growth_region(system, Fraction(1, 100), 20)
    found = lower_linear_bound(system, BLOCK, GROWTH, region, keep_boxes=True)
    path = tmp_path / "growth.json"
    write_region_certificate(found, path)
    code, text = check(path)
    assert code == 0, text
    data = json.loads(path.read_text())
    for place, value in (
        (("region", "box", "n_c", 0), "3100/10000"),
        (("region", "box", "M_cv_same", 1), "1/50"),
        (("region", "conditions", 0, "slopes", "M_cv_same"), "52/100"),
    ):
        path.write_text(json.dumps(changed(data, place, value)))
        assert check(path)[0] == 1, place
