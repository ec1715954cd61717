"""Laws of validated enclosures: the exact solution is inside, false inequalities are never certified."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import flint
import pytest

from derivations.two_mixture.special.closed_forms import stage_one
from derivations.two_mixture.special.enclosed import enclose_stage_two, neurons_at, stage_two_sectors
from odesys import System
from odesys.certify.validated import Enclosure, _sign, enclose
from odesys.errors import EquationError, IntegrationError, ParameterError
from odesys.exact.balls import as_ball, ball_context
from odesys.expr import graph
from odesys.expr.graph import call, relu, sym
from odesys.verdicts import Evidence

CHECKER = Path(__file__).parents[3] / "tools" / "check_enclosure.py"
x, y, k = sym("x"), sym("y"), sym("k")
TINY, HALF = Fraction(1, 10**12), Fraction(1, 2)


def oscillator() -> Enclosure:
    return enclose(System.from_equations({"x": y, "y": -x}), {"x": 0, "y": 1}, 3)


def logistic(length: int = 4) -> Enclosure:
    system = System.from_equations({"x": sym("r") * x * (1 - x)}, parameters=["r"])
    return enclose(system, {"x": Fraction(1, 10)}, length, {"r": Fraction(3, 2)})


def holds(run: Enclosure, node: graph.Node, relation: str = ">0") -> str:
    verdict = run.certify(node, relation)
    assert verdict.as_stated != "holds" or verdict.evidence is Evidence.CERTIFICATE
    return verdict.as_stated


def test_oscillator_holds_the_exact_solution() -> None:
    run = oscillator()
    with ball_context(600, 2):
        boxes = [(s.t, s.tight) for s in run.steps] + [(run.end_time, run.final)]
        for t, ((low, high), (below, above)) in boxes:
            assert as_ball(low) <= as_ball(t).sin() <= as_ball(high)
            assert as_ball(below) <= as_ball(t).cos() <= as_ball(above)
        for step in run.steps:
            for part in range(9):
                value = (as_ball(step.t + step.h * part / 8)).sin()
                assert as_ball(step.rough[0][0]) <= value <= as_ball(step.rough[0][1])
    assert run.width < Fraction(1, 10**40)


def test_logistic_holds_the_exact_solution() -> None:
    run = logistic()
    with ball_context(600, 2):
        for t, (ends,) in [(s.t, s.tight) for s in run.steps] + [(run.end_time, run.final)]:
            value = 1 / (1 + 9 * (-as_ball(Fraction(3, 2)) * as_ball(t)).exp())
            assert as_ball(ends[0]) <= value <= as_ball(ends[1])
    assert run.width < Fraction(1, 10**40)


def test_uncertain_start_and_parameter_stay_inside() -> None:
    system = System.from_equations({"x": sym("r") * x * (1 - x)}, parameters=["r"])
    run = enclose(system, {"x": flint.arb("0.1", 1e-6)}, 2, {"r": flint.arb("1.5", 1e-6)})
    ((low, high),) = run.final
    with ball_context(300, 2):
        for start in (flint.arb(0.1) - flint.arb(5e-7), flint.arb(0.1) + flint.arb(5e-7)):
            for rate in (flint.arb(1.5) - flint.arb(5e-7), flint.arb(1.5) + flint.arb(5e-7)):
                value = 1 / (1 + (1 / start - 1) * (-2 * rate).exp())
                assert as_ball(low) <= value <= as_ball(high)
    assert high - low < Fraction(1, 10**4)


def test_time_powers_and_functions() -> None:
    system = System.from_equations({"x": 2 * sym("t") * call("exp", y), "y": graph.power(1 + y, Fraction(-1, 2))})
    run = enclose(system, {"x": 0, "y": 0}, 1)
    with ball_context(400, 2):
        exact = (1 + as_ball(Fraction(3, 2))).log() * as_ball(Fraction(2, 3))  # (1+y)^(3/2) = 1 + 3 t / 2
        assert as_ball(run.final[1][0]) <= exact.exp() - 1 <= as_ball(run.final[1][1])


def test_false_by_a_hair_is_never_certified() -> None:
    run = oscillator()  # x^2 + y^2 = 1, and the largest x is exactly 1
    assert holds(run, x * x + y * y - 1 + TINY) == "holds"
    assert holds(run, x * x + y * y - 1 - TINY) == "fails"
    assert holds(run, 1 - x + TINY) == "holds"
    assert holds(run, 1 - x - TINY) == "fails"
    assert holds(run, 1 - x, ">=0") == "undecided"  # touches zero: a box can not tell
    assert holds(run, 1 - x) in ("undecided", "fails")


def test_sign_from_the_start_on() -> None:
    run = oscillator()
    assert holds(run, x) == "holds"  # sin t > 0 on (0, 3]
    cubic = x - x * y  # sin t (1 - cos t) ~ t^3 / 2
    assert run.certify(cubic).details["vanishing"] == 3 and holds(run, cubic) == "holds"
    assert holds(run, -cubic) == "fails"
    assert run.crossing(x - 2) is None
    low, high = oscillator().crossing(y)
    with ball_context(200, 2):
        assert as_ball(low) < flint.arb.pi() / 2 < as_ball(high)


def test_a_gate_stops_the_run_with_a_sentence() -> None:
    system = System.from_equations({"x": -graph.step(x - Fraction(1, 2))})
    low, high = enclose(system, {"x": 1}, Fraction(1, 4)).final[0]
    assert low <= Fraction(3, 4) <= high
    with pytest.raises(IntegrationError, match="gate is undecided"):
        enclose(system, {"x": 1}, 1)
    with pytest.raises(IntegrationError, match="can be validated"):
        enclose(System.from_equations({"x": x * x}), {"x": 1}, 2, order=12, precision=128)
    with pytest.raises(ParameterError, match="not exact"):
        enclose(System.from_equations({"x": x}), {"x": 0.1}, 1)


def check(path: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-I", str(CHECKER), str(path)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout


def test_certificates_are_rechecked_and_changes_rejected(tmp_path: Path) -> None:
    path = tmp_path / "logistic.json"
    logistic(1).to_file(path, [("x > 1/10 after the start", x - Fraction(1, 10), ">0")])
    code, text = check(path)
    assert code == 0, text
    data = json.loads(path.read_text())
    low, high = (Fraction(end) for end in data["steps"][1]["tight"][0])
    lines = CHECKER.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 200 and not [line for line in lines if "import" in line and "odesys" in line]

    def changed(edit) -> int:
        copy = json.loads(json.dumps(data))
        edit(copy)
        path.write_text(json.dumps(copy))
        return check(path)[0]

    def put(step: int, box: str, end: int, value: Fraction):
        return lambda c: c["steps"][step][box][0].__setitem__(end, str(value))

    assert changed(lambda c: None) == 0
    assert changed(put(1, "tight", 0, high)) == 1
    assert changed(put(1, "tight", 1, low)) == 1
    assert changed(put(1, "tight", 0, low + (high - low) / 2)) == 1
    assert changed(put(0, "rough", 1, Fraction(data["steps"][0]["tight"][0][1]))) == 1
    assert changed(put(0, "tight", 0, Fraction(1, 11))) == 1
    assert changed(lambda c: c["parameters"].__setitem__("r", ["3/2", "1501/1000"])) == 1
    assert changed(lambda c: c["steps"][0].__setitem__("h", "1/5")) == 1
    assert changed(lambda c: c["claims"][0].__setitem__("relation", ">1")) == 1
    assert changed(lambda c: c["claims"][0].__setitem__("vanishing", 0)) == 1
    assert changed(lambda c: c["end"]["tight"][0].__setitem__(1, c["end"]["tight"][0][0])) == 1
    assert changed(lambda c: c.__setitem__("format", "other")) == 2


def accepted_with(path: Path, data: dict, vanishing: int) -> bool:
    data["claims"][0]["vanishing"] = vanishing
    path.write_text(json.dumps(data))
    code, _ = check(path)
    assert code in (0, 1)
    return code == 0


STARTS = {  # vanishes to the order given, for every value of the uncertain parameters; the checker has to see why
    "parameters": ({"x": sym("a") * y, "y": -x}, {"x": 0, "y": 1}, x, 1),
    "cancellation": (
        {"x": sym("a") * y + sym("b"), "y": sym("a") * x + 1},
        {"x": 0, "y": 0},
        x - sym("b") * y,
        2,
    ),  # x' - b y' = a (y - b x)
    "functions": (
        {"x": sym("a") + call("exp", x) * y, "y": 1 + call("sigmoid", x * x)},
        {"x": 0, "y": 0},
        x + call("exp", x) - 1 - 2 * sym("a") * y * Fraction(2, 3),
        2,
    ),
    "opaque": (
        {"x": call("sigmoid", sym("a") + x), "y": call("sigmoid", sym("a") + x) * (1 + x)},
        {"x": 0, "y": 0},
        y - x,
        2,
    ),  # sigmoid(a) is a number that is not known exactly
    "roots": (
        {"x": graph.power(4 + x, HALF), "y": graph.power(sym("a") + y, -HALF)},
        {"x": 0, "y": 0},
        y * graph.power(sym("a") + y, HALF) + x - Fraction(1, 2) * x,
        1,
    ),
    "gates": ({"x": relu(1 + x) * sym("a"), "y": graph.step(x - 1) + sym("a")}, {"x": 0, "y": 0}, x - y, 2),
}


@pytest.mark.parametrize("name", STARTS)
def test_the_order_of_vanishing_is_verified_exactly(name: str, tmp_path: Path) -> None:
    """Too high an order is rejected, and so is one that is not proved, even if all balls contain zero."""
    equations, start, node, order = STARTS[name]
    used = graph.symbols([*equations.values()]) & {"a", "b"}
    values = {p: flint.arb("0.7" if p == "a" else "0.3", 1e-12) for p in used}
    run = enclose(
        System.from_equations(equations, parameters=sorted(used)),
        start,
        Fraction(1, 4),
        values,
        order=12,
        precision=128,
    )
    assert run.certify(node).details.get("vanishing") == order
    path = tmp_path / "start.json"
    run.to_file(path, [(name, node, ">0")])
    code, text = check(path)
    assert code == 0, text
    data = json.loads(path.read_text())
    assert not accepted_with(path, data, order + 1) and not accepted_with(path, data, -1)
    assert not accepted_with(path, data, 10**6)


def test_a_start_that_is_only_nearly_zero_is_rejected(tmp_path: Path) -> None:
    """The first coefficient is a ball around zero of radius 1e-30, and not zero."""
    for a, sound in ((Fraction(1), True), (flint.arb(1, 1e-30), False)):
        run = enclose(
            System.from_equations({"x": sym("a") + 0 * x, "y": 1 + x}, parameters=["a"]),
            {"x": 0, "y": 0},
            1,
            {"a": a},
            order=12,
            precision=128,
        )
        path = tmp_path / "near.json"
        run.to_file(path, [("y - x + 1 > 0", y - x + 1, ">0")])
        data = json.loads(path.read_text())
        shifted = next(k for k, row in enumerate(data["nodes"]) if row == ["num", "1"])
        table = data["nodes"][data["claims"][0]["node"]]
        assert table[0] == "add"
        table[1] = [pair for pair in table[1] if pair[1] != shifted]  # now it says y - x > 0, which is t^2/2 + ...
        assert accepted_with(path, data, 2) is sound


SIGNS = {
    "M_cv": 1,
    "M_vv": -1,
    "M_cc": 1,
    "M_vc": -1,
    "B_cv": 1,
    "B_cc": 1,
    "B_vv": 1,
    "A_cv": -1,
    "A_cc": 1,
    "A_vv": 1,
}


@pytest.mark.nightly
def test_two_mixture_stage_two(tmp_path: Path) -> None:
    exact, approximate = neurons_at(Fraction(20), Fraction(1, 2)), stage_one().neurons(20.0, 0.5)
    for name, value in exact.items():
        assert value.rad() < 1e-20 and abs(float(value.mid()) - approximate[name]) < 1e-9
    sectors = stage_two_sectors()
    run = enclose_stage_two(sectors, Fraction(1, 10), Fraction(1, 2), Fraction(20), Fraction(902, 10))
    score = dict(sectors.scores)
    low, high = run.crossing(score["M_cv_same"] - 1)
    assert high - low < Fraction(1, 10**6)
    assert low - Fraction(5, 10**6) < Fraction("90.17591") < high + Fraction(5, 10**6)  # known to 5 digits
    for name, sign in SIGNS.items():  # Lemma E.5, strict after T1; the end of the run is after T2
        same, other = score[f"{name}_same"], score[f"{name}_other"]
        assert holds(run, same * sign) == "holds", name
        assert holds(run, other * -sign) == "holds", name
    others = [score[f"{p}_same"] * SIGNS[p] for p in ("M_vv", "M_cc", "M_vc")]
    others += [score[f"{p}_other"] * -SIGNS[p] for p in ("M_vv", "M_cc", "M_vc")]
    for least in (score["M_cv_same"], -score["M_cv_other"]):  # Lemma E.1 (11)
        for other in others:
            assert holds(run, Fraction(51, 100) * least - other) == "holds"
    assert run.certify(least / 2 - others[2], until=Fraction(1)).as_stated == "fails"  # c = 1/2 is too small


@pytest.mark.parametrize(
    "node",
    [
        graph.sqrt(x),
        graph.power(x, Fraction(2, 3)),
        1 / x,
        graph.call("log", x),
        x * graph.call("log", x),
        x * graph.sqrt(x),
        graph.call("arcsin", 1 - x),
    ],
)
def test_at_the_edge_of_a_domain_nothing_is_certified(node: graph.Node) -> None:
    """x' = sqrt(x) from 0 has more than one solution; a product of zero and nothing was once zero."""
    for field in ({"x": node}, {"x": sym("y") * node, "y": graph.ZERO}):
        with pytest.raises(IntegrationError, match="no step from t = 0"):
            enclose(System.from_equations(field), dict.fromkeys(field, 0), 1, order=6, precision=64)


def test_inside_its_domain_a_root_is_enclosed() -> None:
    ((low, high),) = enclose(System.from_equations({"x": graph.sqrt(x)}), {"x": 1}, 1).final
    assert low <= Fraction(9, 4) <= high and high - low < Fraction(1, 10**30)


def test_backwards_in_time() -> None:
    run = enclose(System.from_equations({"x": -x}), {"x": 1}, -1)
    assert float(run.final[0][0]) == pytest.approx(math.e) and run.start_time == 0 and run.end_time == 1
    forced = System.from_equations({"x": 2 * sym("t")})  # x = t^2
    ((low, high),) = enclose(forced, {"x": 4}, 1, t_start=2).final
    assert low <= 1 <= high
    there = enclose(System.from_equations({"x": y, "y": -graph.call("sin", x)}), {"x": 1, "y": 0}, 2)
    middle = [(a + b) / 2 for a, b in there.final]
    back = enclose(there.system, middle, 0, t_start=2)
    assert [float(a) for a, _ in back.final] == pytest.approx([1.0, 0.0], abs=1e-12)


def _framed(path: Path) -> dict[str, Any]:
    system = System.from_equations({"x": y - x**3 / 8, "y": graph.exp(-y) - x})
    start = {"x": flint.arb(1, 1e-4), "y": flint.arb(0, 1e-4)}
    run = enclose(system, start, 2, order=12, precision=96, frames=True)
    run.to_file(path, [("x is below 3", 3 - x, ">0")])
    data: dict[str, Any] = json.loads(path.read_text())
    return data


def test_a_run_in_frames_is_checked_again(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    data = _framed(path)
    assert len(data["steps"]) > 3 and subprocess.run([sys.executable, str(CHECKER), str(path)]).returncode == 0
    # the box alone would not do: without frames the same file is refused
    bare = json.loads(json.dumps(data))
    for step in bare["steps"]:
        del step["frame"]
    path.write_text(json.dumps(bare))
    assert subprocess.run([sys.executable, str(CHECKER), str(path)], capture_output=True).returncode == 1


@pytest.mark.parametrize("broken", ["radius", "centre", "matrix", "start", "missing", "box"])
def test_a_frame_that_is_too_small_is_rejected(broken: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    data = _framed(path)
    frame, first = data["steps"][2]["frame"], data["steps"][0]["frame"]
    if broken == "radius":
        frame["radii"][0] = str(Fraction(frame["radii"][0]) * Fraction(9, 10))
    elif broken == "centre":
        frame["centre"][1] = str(Fraction(frame["centre"][1]) + Fraction(1, 10**5))
    elif broken == "matrix":
        frame["matrix"][0], frame["matrix"][1] = frame["matrix"][1], frame["matrix"][0]
    elif broken == "start":
        first["radii"][0] = str(Fraction(first["radii"][0]) / 2)
    elif broken == "missing":
        del data["steps"][1]["frame"]
    else:
        low, high = map(Fraction, data["steps"][3]["tight"][0])
        data["steps"][3]["tight"][0] = [str(low + (high - low) / 20), str(high)]
    path.write_text(json.dumps(data))
    assert subprocess.run([sys.executable, str(CHECKER), str(path)], capture_output=True).returncode == 1


def test_frames_need_exact_parameters() -> None:
    with pytest.raises(ParameterError, match="exact parameters"):
        enclose(System.from_equations({"x": -k * x}, ["k"]), {"x": 1}, 1, {"k": flint.arb(1, 0.1)}, frames=True)


def test_frames_that_begin_on_the_way_are_checked_again(tmp_path: Path) -> None:
    """A run from a point with a system that spreads: boxes first, then frames; the checker follows the change."""
    path = tmp_path / "run.json"
    system = System.from_equations({"x": 8 * y, "y": 8 * x - x**3})
    run = enclose(system, {"x": 1, "y": Fraction(1, 3)}, 4, order=12, precision=96)
    assert run.frames and run.steps[0].frame is None
    run.to_file(path)
    assert subprocess.run([sys.executable, str(CHECKER), str(path)]).returncode == 0
    data = json.loads(path.read_text())
    first = next(step["frame"] for step in data["steps"] if "frame" in step)
    first["radii"][0] = str(Fraction(first["radii"][0]) / 2)
    path.write_text(json.dumps(data))
    assert subprocess.run([sys.executable, str(CHECKER), str(path)], capture_output=True).returncode == 1


def test_a_start_may_be_a_pair_of_ends() -> None:
    turn, wide = System.from_strings({"x": "y", "y": "-x"}), Fraction(1, 2 * 10**6)
    run = enclose(turn, {"x": (1 - wide, 1 + wide), "y": (-wide, wide)}, 30)
    for (low, high), value in zip(run.final, (math.cos(30), -math.sin(30)), strict=True):
        assert low < value < high and high - low < Fraction(1, 10**5)
    with pytest.raises(ParameterError, match="is not exact"):
        enclose(turn, {"x": (0.5, 1.5), "y": 0}, 1)
    with pytest.raises(ParameterError, match="is not an exact number"):
        enclose(turn, {"x": (1, 2, 3), "y": 0}, 1)


def test_what_vanishes_at_the_start_to_every_order_is_left_open() -> None:
    """x^2 + y^2 - 1 is zero along the whole run, which balls around it can neither hold nor refute."""
    run = oscillator()
    details = run.certify(x * x + y * y - 1).details
    assert details.get("vanishing", 6) == 6 and holds(run, x * x + y * y - 1) == "undecided"
    assert [run._vanishing(node, run.steps[0]) for node in (y, x, x * x, x * x * x, x * x + y * y - 1)] == [
        0,
        1,
        2,
        3,
        6,
    ]


def test_a_sign_is_proved_piece_by_piece_refuted_at_a_time_or_left_open() -> None:
    """Of (t - 1/2)^2 + c on [0, 1]: pieces are halved to a depth, and counted."""
    span = (Fraction(0), Fraction(1))

    def said(c: float, relation: str = ">0", depth: int = 20) -> tuple[str, int]:
        verdict, pieces = _sign([flint.arb(0.25 + c), flint.arb(-1), flint.arb(1)], Fraction(5), span, relation, depth)
        return ("certified" if verdict is None else verdict.as_stated), pieces

    assert said(0.01)[0] == "certified" and said(0.01)[1] > said(0.1)[1] > 1
    assert said(-0.01)[0] == "fails" and said(0.001, depth=2)[0] == "undecided"
    assert said(0.001, depth=2)[1] < said(0.001)[1] and said(0.001)[0] == "certified"
    open_one, _ = _sign([flint.arb(0, 1)], Fraction(5), span, ">0", 3)
    assert open_one is not None and "contains zero" in open_one.residual and "5 <= t" in open_one.residual
    for value, relation, answer in ((0, ">=0", None), (0, ">0", "fails"), (1, ">0", None), (-1, ">=0", "fails")):
        verdict, pieces = _sign([flint.arb(value)], Fraction(0), span, relation, 3)
        assert (None if verdict is None else verdict.as_stated) == answer and pieces == 1


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(4)])
def test_a_parameter_that_is_known_up_to_an_error_is_known_to_be_positive(rate: Fraction) -> None:
    """sqrt(p^2) is p where p is positive, so x' = -p x from 1 has sqrt(p^2) - p x = 0 at the start, and grows."""
    p = sym("p")
    slow = System.from_equations({"x": -p * x}, parameters=["p"])
    run = enclose(slow, {"x": 1}, Fraction(1, 2), {"p": (rate - Fraction(1, 10**6), rate)}, order=8, precision=96)
    root = graph.sqrt(p * p)
    assert run.certify(root - p * x).as_stated == "holds"
    assert run.certify(root - p * x).details["vanishing"] == 1
    assert run.certify(p * x - root).as_stated == "fails"


def clock(length: Any = 2, start: Any = 0) -> Enclosure:
    """x = t, in steps that are not the whole run."""
    system = System.from_equations({"x": graph.ONE + 0 * x})
    return enclose(system, {"x": start}, length, t_start=start, order=4, precision=64, first_step=Fraction(1, 2))


def test_a_sign_is_asked_for_between_two_times() -> None:
    """Of x = t on [0, 2]: x - 1 is positive from 1 on, and 1/3 - x before 1/3."""
    run = clock()
    assert len(run.steps) > 1 and (run.start_time, run.end_time) == (0, 2)

    def said(node: graph.Node, since: Any, until: Any, relation: str = ">0") -> str:
        ends = (None if end is None else Fraction(end) for end in (since, until))
        return run.certify(node, relation, **dict(zip(("since", "until"), ends, strict=True))).as_stated

    late, early = x - 1, Fraction(1, 3) - x
    assert said(late, "9/8", None) == "holds" and said(late, "9/8", 2) == "holds" and said(late, "7/8", None) == "fails"
    assert (
        said(early, None, "1/4") == "holds" and said(early, 0, "1/4") == "holds" and said(early, None, "1/2") == "fails"
    )
    between = (x - Fraction(1, 3)) * (Fraction(5, 3) - x)
    assert said(between, "3/8", "13/8") == "holds" and said(between, "1/4", "13/8") == "fails"
    assert said(between, "3/8", "7/4") == "fails" and said(-between, "7/4", "15/8") == "holds"


@pytest.mark.parametrize(("since", "until"), [(1, 1), (2, 3), (-1, 1), (Fraction(3, 2), 1), (2, None), (0, 0)])
def test_times_that_are_no_piece_of_the_run_are_refused(since: Any, until: Any) -> None:
    run = clock()
    with pytest.raises(ParameterError, match="is not a piece of the run from 0 to 2"):
        run.certify(x, since=Fraction(since), until=until)


def test_what_is_no_relation_and_what_is_no_state_is_refused() -> None:
    run = clock()
    with pytest.raises(EquationError, match="the relation '<0' is not one of"):
        run.certify(x, "<0")
    with pytest.raises(EquationError, match="q is neither a state nor a parameter"):
        run.certify(x + sym("q"))
    assert run.certify(sym("t") - x + 1).as_stated == "holds"


def test_several_signs_at_once_are_those_asked_for_one_by_one() -> None:
    run = oscillator()
    nodes = {
        "sine": x,
        "cosine": y,
        "sum": x * x + y * y - HALF,
        "late": x - y - 2,
        "one": 1 + 0 * x,
        "cubic": x - x * y,
    }
    together = run.certify_all(nodes)
    alone = {name: run.certify(node) for name, node in nodes.items()}
    assert {n: v.as_stated for n, v in together.items()} == {n: v.as_stated for n, v in alone.items()}
    assert [together[n].as_stated for n in nodes] == ["holds", "fails", "holds", "fails", "holds", "holds"]
    for name in ("sine", "cubic", "sum"):
        assert together[name].details == alone[name].details and together[name].details["until"] == "3"
    assert together["one"].details["pieces"] == len(run.steps) and together["one"].details["vanishing"] == 0
    assert together["sine"].details["vanishing"] == 1


def test_values_at_a_time_and_times_of_values() -> None:
    run = oscillator()
    for time in (Fraction(0), Fraction(1, 3), run.steps[1].t, Fraction(2), Fraction(3)):
        low, high = run.value(2 * x - y, time)
        assert float(low) == pytest.approx(2 * math.sin(time) - math.cos(time), abs=1e-14) and high - low < TINY
        assert low <= high
    for time in (Fraction(-1, 10), Fraction(31, 10)):
        with pytest.raises(ParameterError, match="is not in the enclosed run from 0 to 3"):
            run.value(x, time)
    for node, exact in ((HALF - x, math.pi / 6), (y + HALF, 2 * math.pi / 3), (x - y - 1, None), (x + y - HALF, 2.2)):
        if exact is None:
            continue
        found = run.crossing(node)
        assert found is not None
        wanted = exact if exact != 2.2 else 3 * math.pi / 4 - math.asin(1 / math.sqrt(8))
        assert float(found[0]) <= wanted + 1e-15 <= float(found[1]) + 2e-15
        assert 0 < found[1] - found[0] < Fraction(1, 10**8)
    coarse = run.crossing(y, Fraction(1, 100))
    assert coarse is not None and coarse[0] < Fraction(157079632679, 10**11) < coarse[1]
    assert Fraction(1, 10**4) < coarse[1] - coarse[0] < 1


def test_a_crossing_that_is_not_known_is_said() -> None:
    run = oscillator()
    with pytest.raises(IntegrationError, match="the sign at the start is not known"):
        run.crossing(x)
    with pytest.raises(IntegrationError, match=r"near t = 1\.57079.* the sign is not known; use more precision"):
        run.crossing(1 - x)
    assert run.crossing(x - 2) is None and run.crossing(x + 2) is None and run.crossing(y + 2) is None


def test_what_is_not_certified_is_not_written(tmp_path: Path) -> None:
    run = clock()
    with pytest.raises(EquationError, match="the claim x is large is not certified: fails"):
        run.to_file(tmp_path / "run.json", [("x is large", x - 1, ">0")])
    assert not list(tmp_path.iterdir())


def test_a_certificate_has_the_run_and_its_claims_with_their_times(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    run = clock()
    window = (Fraction(5, 4), Fraction(7, 4))
    claims = [("late", x - 1, ">0", window), ("x", x, ">0"), ("x again", x, ">=0", (None, Fraction(1)))]
    run.to_file(path, claims)
    assert check(path)[0] == 0
    data = json.loads(path.read_text())
    assert (data["order"], data["precision"], data["states"]) == (4, 64, ["x"])
    assert [(c["text"], c["relation"], c["vanishing"]) for c in data["claims"]] == [
        ("late", ">0", 0),
        ("x", ">0", 1),
        ("x again", ">=0", 1),
    ]
    times = [{k: c[k] for k in ("from", "until") if k in c} for c in data["claims"]]
    assert times == [{"from": "5/4", "until": "7/4"}, {}, {"until": "1"}]
    assert [(s["t"], s["h"]) for s in data["steps"]] == [(str(s.t), str(s.h)) for s in run.steps]
    assert data["steps"][0]["tight"] == [["0", "0"]] and data["end"]["t"] == "2"
    for step, plain in zip(run.steps[1:], data["steps"][1:], strict=True):
        assert plain["tight"] == [[str(end) for end in pair] for pair in step.tight]
        assert plain["rough"] == [[str(end) for end in pair] for pair in step.rough]
    assert sum(s.h for s in run.steps) == 2 and all(a.t + a.h == b.t for a, b in pairwise(run.steps))


def test_an_exact_number_that_is_no_ball_is_written_as_it_is(tmp_path: Path) -> None:
    system = System.from_equations({"x": -sym("r") * x}, ["r"])
    run = enclose(system, {"x": Fraction(1, 3)}, Fraction(1, 4), {"r": Fraction(1, 5)}, order=6, precision=64)
    path = tmp_path / "run.json"
    run.to_file(path)
    data = json.loads(path.read_text())
    assert data["steps"][0]["tight"] == [["1/3", "1/3"]] and data["parameters"] == {"r": ["1/5", "1/5"]}
    assert run.exact == {"x": Fraction(1, 3), "r": Fraction(1, 5)}
    wide = enclose(
        system, {"x": (Fraction(1, 4), Fraction(1, 2))}, Fraction(1, 4), {"r": (0, 1)}, order=6, precision=64
    )
    first, last = wide.steps[0].tight[0]
    assert wide.exact == {} and abs(first - Fraction(1, 4)) < Fraction(1, 10**8) > abs(last - Fraction(1, 2))
    ((low, high),) = wide.final
    assert low <= Fraction(1, 4) * Fraction(math.exp(-0.25)) and Fraction(1, 2) <= high < Fraction(5, 8)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [({}, "r has no value"), ({"r": 1, "q": 2}, "q is not a parameter of the system")],
)
def test_parameters_are_those_of_the_system(parameters: dict[str, int], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        enclose(System.from_equations({"x": -sym("r") * x}, ["r"]), {"x": 1}, 1, parameters)


def test_runs_of_no_length_and_maps_are_refused() -> None:
    decay = System.from_equations({"x": -x})
    for end, step in ((0, Fraction(1, 4)), (1, 0), (1, -1)):
        with pytest.raises(ParameterError, match="is empty"):
            enclose(decay, {"x": 1}, end, first_step=step)
    with pytest.raises(EquationError, match="only a flow"):
        enclose(System.from_equations({"x": -x}, kind="map"), {"x": 1}, 1)


def test_a_run_that_begins_later_counts_its_own_times() -> None:
    run = clock(3, 1)
    assert (run.start_time, run.end_time) == (1, 3) and run.final[0][0] <= 3 <= run.final[0][1]
    low, high = run.value(x - sym("t"), Fraction(9, 4))
    assert abs(low) < TINY and abs(high) < TINY
    found = run.crossing(2 - x)
    assert found is not None and found[0] <= 2 <= found[1]
    with pytest.raises(ParameterError, match="from 0 to 3 is not a piece of the run from 1 to 3"):
        run.certify(x, since=Fraction(0))
    back = enclose(System.from_equations({"x": sym("t") * x}), {"x": 1}, 1, t_start=2, order=8, precision=64)
    (pair,) = back.final
    assert float(pair[0]) == pytest.approx(math.exp(-1.5)) and back.start_time == -2 and back.end_time == -1


@pytest.mark.parametrize("order", [4, 8])
def test_a_remainder_stays_below_the_tolerance(order: int) -> None:
    """A smaller one takes more steps to a narrower box; a step is at most half as long again as the one before."""
    system, widths, counts = System.from_equations({"x": x * (1 - x)}), [], []
    for tolerance in (Fraction(1, 10**4), Fraction(1, 10**8)):
        run = enclose(system, {"x": Fraction(1, 10)}, 2, order=order, precision=128, tolerance=tolerance)
        exact = 1 / (1 + 9 * math.exp(-2))
        low, high = (float(end) for end in run.final[0])
        assert low - 1e-15 <= exact <= high + 1e-15
        widths.append(high - low)
        counts.append(len(run.steps))
        for step in run.steps:
            rest = max(abs(end) for end in (c[order].abs_upper() for c in step.at_rough))
            assert float(rest) * float(step.h) ** order <= float(tolerance) * (1 + 1e-6)
        assert all(b.h <= Fraction(3, 2) * a.h for a, b in pairwise(run.steps))
    assert counts[0] <= counts[1] and widths[1] < widths[0] < 1e-2


def test_a_step_that_leaves_the_domain_is_halved_and_at_its_end_refused() -> None:
    """x' = -1 with sqrt(x) as a second rate: x = 1 - t, whose root ends at t = 1."""
    falls = System.from_equations({"x": -graph.ONE + 0 * x, "y": graph.sqrt(x)})
    run = enclose(falls, {"x": 1, "y": 0}, Fraction(3, 4), order=8, precision=64, first_step=2)
    low, high = run.final[1]
    exact = Fraction(2, 3) * (1 - Fraction(1, 8))
    assert low <= exact <= high and len(run.steps) > 1
    with pytest.raises(IntegrationError, match=r"no step from t = 0\.99.* can be validated"):
        enclose(falls, {"x": 1, "y": 0}, 2, order=8, precision=64)


def test_frames_begin_where_the_start_is_wide_and_parameters_and_states_allow_it() -> None:
    turn = System.from_equations({"x": y, "y": -x})
    pair = {"x": (Fraction(99, 100), Fraction(101, 100)), "y": 0}
    assert enclose(turn, pair, HALF, order=8, precision=64).frames
    assert not enclose(turn, {"x": 1, "y": 0}, HALF, order=8, precision=64).frames
    assert not enclose(turn, pair, HALF, order=8, precision=64, frames=False).frames
    assert enclose(turn, {"x": 1, "y": 0}, HALF, order=8, precision=64, frames=True).steps[0].frame is not None
    loose = System.from_equations({"x": sym("r") * y, "y": -x}, ["r"])
    assert not enclose(loose, pair, HALF, {"r": flint.arb(1, 1e-3)}, order=8, precision=64).frames
    for count, framed in ((8, True), (9, False)):
        names = [f"s{k}" for k in range(count)]
        still = System.from_equations({name: 0 * sym(name) - sym(name) for name in names})
        start = {name: (0, Fraction(1, 100)) for name in names}
        assert enclose(still, start, Fraction(1, 16), order=4, precision=64).frames is framed


@pytest.mark.parametrize("order", [3, 9, 10])
def test_a_frame_may_have_a_series_that_is_longer_than_that_of_the_run(order: int, tmp_path: Path) -> None:
    turn, wide = System.from_strings({"x": "y", "y": "-x"}), Fraction(1, 100)
    run = enclose(turn, {"x": (1 - wide, 1 + wide), "y": 0}, 1, order=order, precision=64, tolerance=Fraction(1, 10**4))
    assert run.frames
    for (low, high), value in zip(run.final, (math.cos(1), -math.sin(1)), strict=True):
        assert low < value < high and high - low < Fraction(1, 20)
    run.to_file(tmp_path / "run.json", [("y < 1", 1 - y, ">0")])
    assert check(tmp_path / "run.json")[0] == 0


def test_steps_are_as_long_as_they_were_asked_to_be_where_that_is_allowed() -> None:
    """Of x' = 1 nothing limits a step but the first one, half as long again each time, and the end."""
    run = clock(4)
    lengths = [step.h for step in run.steps]
    assert lengths[0] == HALF and lengths[1] == Fraction(3, 4) and sum(lengths) == 4
    assert all(b == Fraction(3, 2) * a for a, b in pairwise(lengths[:-1]))
    whole = enclose(System.from_equations({"x": graph.ONE + 0 * x}), {"x": 0}, Fraction(1, 3), order=4, precision=64)
    assert len(whole.steps) == 2 and whole.steps[0].h == Fraction(1, 4) and whole.end_time == Fraction(1, 3)


def test_the_tolerance_of_a_step_is_half_the_bits_by_default() -> None:
    """The remainder of each step is below 2^-(bits/2), and not far below it where that limits the step."""
    for precision in (64, 128):
        run = enclose(System.from_equations({"x": -x}), {"x": 1}, 2, order=8, precision=precision)
        rests = [float(abs(step.at_rough[0][8]).upper()) * float(step.h) ** 8 for step in run.steps]
        assert max(rests) <= 2.0 ** -(precision // 2) * (1 + 1e-9)
        assert max(rests[1:-1]) > 2.0 ** -(precision // 2) / 50
        assert float(run.width) < 40 * len(run.steps) * 2.0 ** -(precision // 2)


@pytest.mark.parametrize(("mean", "radius"), [(Fraction(3, 2), Fraction(1, 1000)), (Fraction(-1), Fraction(1, 100))])
def test_an_uncertain_parameter_spreads_solutions_as_far_as_it_must_and_little_more(
    mean: Fraction, radius: Fraction
) -> None:
    """x' = r x from 1: the end is e^r over the range of r; the box is at most three times as wide as that."""
    system = System.from_equations({"x": sym("r") * x}, ["r"])
    run = enclose(system, {"x": 1}, 1, {"r": (mean - radius, mean + radius)}, order=10, precision=96)
    ((low, high),) = run.final
    ends = [math.exp(mean - radius), math.exp(mean + radius)]
    assert float(low) <= ends[0] and ends[1] <= float(high)
    assert float(high - low) <= 3 * (ends[1] - ends[0])


def test_a_state_that_is_known_up_to_an_error_stays_as_wide_as_its_flow() -> None:
    """Without frames: x' = -x narrows by e^-t, up to the quarter that is left for a checker, y' = y widens by e^t."""
    wide = Fraction(1, 1000)
    system = System.from_equations({"x": -x, "y": y})
    run = enclose(system, {"x": (1 - wide, 1 + wide), "y": (-wide, wide)}, 1, order=10, precision=96, frames=False)
    (a, b), (c, d) = run.final
    assert not run.frames and a <= (1 - wide) * Fraction(math.exp(-1)) and b >= (1 + wide) * Fraction(math.exp(-1))
    assert 2e-3 * math.exp(-1) <= float(b - a) <= 2e-3 * math.exp(-0.5)
    assert 2e-3 * math.exp(1) <= float(d - c) <= 2e-3 * math.exp(1.6)


def test_balls_and_pairs_are_read_as_starts_and_parameters() -> None:
    system = System.from_equations({"x": sym("r") * x}, ["r"])
    for given in ((Fraction(1, 2), Fraction(3, 4)), [Fraction(1, 2), Fraction(3, 4)], flint.arb(0.625, 0.125)):
        run = enclose(system, {"x": given}, Fraction(1, 8), {"r": given}, order=6, precision=64)
        low, high = run.steps[0].tight[0]
        assert float(low) == pytest.approx(0.5, abs=1e-7) and float(high) == pytest.approx(0.75, abs=1e-7)
        assert low <= HALF and high >= Fraction(3, 4) and run.exact == {}
        ball = run.parameters["r"]
        assert float(ball.lower()) == pytest.approx(0.5, abs=1e-7) and float(ball.upper()) == pytest.approx(
            0.75, abs=1e-7
        )
    greek = System.from_equations({"x": sym("r") * x}, ["r"])
    assert enclose(greek, [1], Fraction(1, 8), {"r": Fraction(1, 3)}, order=6, precision=64).exact["x"] == 1


def test_a_claim_over_several_steps_counts_its_pieces() -> None:
    run = clock(4)
    sure = run.certify(x + 1)
    assert sure.details == {"pieces": len(run.steps), "vanishing": 0, "until": "4"}
    assert run.certify(x + 1, until=Fraction(1, 4)).details["pieces"] == 1
    assert run.certify(x + 1, since=HALF).details["pieces"] == len(run.steps) - 1
    assert run.certify(Fraction(10, 3) - x).as_stated == "fails"
    assert run.certify(graph.ZERO, ">=0").as_stated == "holds" and run.certify(graph.ZERO).as_stated != "holds"
