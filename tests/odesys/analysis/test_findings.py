"""Findings about known systems against what is known of them, and what is said where nothing is decided."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys import analyse as findings
from odesys.analysis import findings as room
from odesys.analysis.finding import Finding
from odesys.analysis.findings import Analysis, _conserved, _structure, _symmetries
from odesys.analysis.rest_sets import EVERYWHERE, Continuum, Equilibria, Equilibrium, Undecided
from odesys.errors import EquationError, ParameterError
from tests.found_lines import texts


def test_lorenz() -> None:
    lorenz = System.from_strings({"x": "s*(y - x)", "y": "x*(r - z) - y", "z": "x*y - b*z"})
    found = findings(lorenz, {"s": 10, "r": 28, "b": Fraction(8, 3)})
    assert found.sentence == (
        "3 states: no conserved quantity up to degree 3, 2 signed permutations, 3 equilibria (0 stable). "
        "Nothing is left open."
    )
    assert "(x = 0, y = 0, z = 0) is an equilibrium: saddle, unstable" in texts(found, "equilibria")
    calm = findings(lorenz, {"s": 10, "r": Fraction(1, 2), "b": 1})
    assert texts(calm, "equilibria")[0].endswith("node, asymptotically stable")
    assert {line.evidence for line in found.findings} == {"proof"}


def test_the_headline_names_the_box_outside_of_which_nothing_was_searched() -> None:
    """A pendulum rests at every multiple of pi, so that a bare number of equilibria is false."""
    pendulum = System.from_strings({"x": "y", "y": "-sin(x) - y/10"})
    assert findings(pendulum).sentence.endswith(
        "7 equilibria with x in [-10, 10] (3 stable). Equilibria outside were not searched. Nothing else is left open."
    )
    asked = findings(System.from_strings({"x": "x - x^3", "y": "-y"}), box={"x": (0, 5), "y": (0, 5)})
    assert "2 equilibria with x, y in [0, 5] (1 stable). Equilibria outside were not searched. " in asked.sentence
    assert texts(asked, "equilibria")[-1] == "There are no others with x, y in [0, 5]"


def test_an_epidemic() -> None:
    found = findings(System.from_strings({"S": "-b*S*I", "I": "b*S*I - g*I", "R": "g*I"}))
    assert "I + R + S is conserved" in texts(found, "conserved") and found.counts["conserved"] == 2
    assert "These sets are invariant: S = 0, I = 0" in texts(found, "invariant sets")
    assert any("not negative stay so" in line for line in texts(found, "invariant sets"))
    assert any("leaves none" in line for line in texts(found, "symmetries"))
    assert any("dimension 2: I = 0" in line for line in texts(found, "equilibria"))
    assert "no isolated equilibrium found, 1 family of equilibria. " in found.sentence
    closed = findings(System.from_strings({"x": "y - x", "y": "x - y"}))
    assert "0 isolated equilibria, 1 family of equilibria. Nothing is left open." in closed.sentence


def test_what_is_left_open_is_said_with_what_would_decide_it() -> None:
    open_type = findings(System.from_strings({"x": "x^2 + y^2", "y": "x^2 + y^2"}))
    assert open_type.open_questions and "1 question is left open" in open_type.sentence
    forced = findings(System.from_strings({"x": "cos(t)*x"}))
    assert [line.text for line in forced.open_questions] == [
        "Conserved quantities were not searched",
        "Equilibria were not searched: the equations depend on t",
    ]
    assert forced.rests is None
    many = findings(System.from_strings({f"x{k}": f"-x{k}**3" for k in range(14)}))
    assert any("Equilibria were not searched" in line.text and line.further for line in many.open_questions)


@pytest.mark.parametrize("text", ["-sign(x)", "x/(1 + x**2)", "exp(-x) - x", "sqrt(x)"])
def test_no_kind_of_equation_breaks_it(text: str) -> None:
    assert findings(System.from_strings({"x": text})).sentence


def test_what_a_notebook_shows() -> None:
    found = findings(System.from_strings({"x": "y", "y": "-x"}))
    assert len(repr(found)) < 300 and found.sentence in repr(found)
    assert "x**2 + y**2 is conserved" in found._repr_html_()


def test_a_conserved_quantity_is_listed_once() -> None:
    for equations in ({"x": "0"}, {"x": "y", "y": "0"}, {"x": "(x^2 + y^2 - 1)*y", "y": "-(x^2 + y^2 - 1)*x"}):
        found = findings(System.from_strings(equations))
        assert found.counts["conserved"] == found.counts["independent"] == 1
    kepler = {"x": "u", "y": "v", "u": "-x/(x^2 + y^2)^(3/2)", "v": "-y/(x^2 + y^2)^(3/2)"}
    found = findings(System.from_strings(kepler), box={name: (1, 2) for name in kepler})
    assert "4 conserved quantities, 3 of them independent, up to degree 3" in found.sentence


def test_the_step_of_a_symmetry_has_a_name_of_its_own() -> None:
    lines = texts(findings(System.from_strings({"s": "-s*i", "i": "s*i - i", "r": "i"})), "symmetries")
    assert any("r -> r + eps*(i + r + s)" in line for line in lines)


def test_a_symmetry_must_keep_the_surfaces_where_the_field_switches() -> None:
    """Between gates V = (y, -2 y) commutes with the field, but it moves the surface x = 0."""
    found = findings(System.from_strings("x' = -sign(x) + y/2; y' = -y"))
    assert not [line for line in found.findings if "moved in the direction" in line.text]
    turn = findings(System.from_strings("x' = y*sign(x^2 + y^2 - 1); y' = -x*sign(x^2 + y^2 - 1)"))
    assert [line for line in turn.findings if "moved in the direction" in line.text]


def test_numbers_of_any_size_go_through() -> None:
    for equations in ("x' = 1e-20*(1 - x); y' = 1e20*(x - y)", "x' = 123456789012*x - x^3; y' = -y/1e12"):
        assert not [line for line in findings(System.from_strings(equations)).findings if "could not" in line.text]


def test_a_lumped_system_is_told() -> None:
    found = findings(System.from_strings("a' = b + c; b' = -b*(1 + a); c' = -c*(1 + a); d' = b - c"))
    (line,) = (one for one in found.findings if one.searched == "exact lumping")
    assert line.text == "2 combinations of the states move by themselves and contain a: a, b + c"
    alone = findings(System.from_strings("a' = b*c; b' = -b; c' = -2*c - a"))
    assert not [one for one in alone.findings if one.searched == "exact lumping"]


def test_a_model_of_infection_in_symbols_is_told_in_seconds() -> None:
    """A. S. Perelson, P. W. Nelson, SIAM Rev. 41 (1999) 3; Cardano's roots in six letters took minutes."""
    virus = System.from_strings({"T": "s - d*T - k*T*V", "I": "k*T*V - e*I", "V": "N*e*I - c*V"})
    found = findings(virus)
    free, *_ = texts(found, "equilibria")
    assert free.startswith("(T = s/d, I = 0, V = 0) is an equilibrium where") and "-e*(N*k*s - c*d) > 0" in free
    shown = [text for text in texts(found, "equilibria") if "more points and families" in text]
    assert shown == [
        f"{len(found.rests.special) - 8} more points and families rest where parameters satisfy more equations"
    ]


def test_values_are_found_by_symbols_and_by_words_of_python() -> None:
    decay = System.from_strings({"x": "1 - lambda*x"})
    for key in ("lambda", sp.Symbol("lambda")):
        assert texts(findings(decay, {key: 2}), "equilibria")[0].startswith("(x = 1/2)")
    with pytest.raises(ParameterError, match="mu is not a parameter"):
        findings(decay, {"mu": 2})


def test_states_at_rest_are_not_lumped(recwarn: pytest.WarningsRecorder) -> None:
    findings(System.from_strings("a' = b*c; b' = -a*c; c' = 0"))
    assert not list(recwarn)


def test_powers_beyond_all_numbers_are_left_undecided() -> None:
    """Their balls are finite, and can not be written out: the process ended."""
    found = findings(System.from_strings({"x": "(x + 1)**(2**62)"}))
    assert "no symmetry" in found.sentence and found.rests is not None


def test_what_is_not_searched_in_large_systems_is_said() -> None:
    found = findings(System.from_strings({f"x{k}": f"-x{k}" for k in range(301)}))
    assert any("not searched" in line.text for line in found.open_questions if line.section == "symmetries")
    assert "symmetr" not in found.sentence
    with pytest.raises(EquationError, match="has 2,001 states, and at most 2,000 are analysed"):
        findings(System.from_strings({f"x{k}": f"-x{k}" for k in range(2001)}))


def test_long_switching_surfaces_are_counted_and_not_written_out() -> None:
    """The surfaces of a maximum of many states double at each step: ten states made lines of some thousand letters."""
    names = [f"x{i}" for i in range(10)]
    equations = {"x0": f"max({', '.join(names)}) - x0"} | {n: f"-{n}" for n in names[1:]}
    found = findings(System.from_strings(equations))
    (line,) = [each.text for each in found.findings if "switches where" in each.text]
    assert line.startswith("The field switches where -x0 + x1 = 0, ") and line.endswith("longer formulas vanish")
    assert len(line) < 400
    three = findings(System.from_strings({"x": "-abs(x)", "y": "-step(y - 1)"}))
    (line,) = [each.text for each in three.findings if "switches where" in each.text]
    assert line == "The field switches where x = 0, y - 1 = 0"


def test_progress_is_told_what_is_searched() -> None:
    told: list[tuple[str, float]] = []
    findings(System.from_strings({"x": "y", "y": "-x"}), progress=lambda step, fraction: told.append((step, fraction)))
    steps, fractions = zip(*told, strict=True)
    assert steps == ("structure", "conserved quantities", "symmetries", "invariant sets", "equilibria")
    assert sorted(fractions) == list(fractions) and fractions[0] >= 0 and fractions[-1] < 1


PLANE = System.from_strings({"x": "y", "y": "-x"})


def said(
    kind: str, stable: str = "", condition: bool = False, families: int = 0, left: int = 0, low: float = 0.0
) -> str:
    """What a headline says of rests in a box, with a stability for each point and some lines that are undecided."""
    enclosure = {name: (Fraction(0), Fraction(0)) for name in "xy"} if kind != "symbols" else {}
    words = {"s": "stable", "a": "asymptotically stable", "u": "unstable", "?": "undecided"}
    one = Equilibrium({"x": 0, "y": 0}, "proof", enclosure, 1, (sp.Symbol("k") > 0,) if condition else ())
    box = {"x": (low, 1.0) if low else EVERYWHERE, "y": EVERYWHERE}
    undecided = (Undecided("why"),) if kind == "open" else ()
    family = Continuum({"x": 0, "y": sp.Symbol("y")}, ("y",), 1)
    rests = Equilibria((one,) * len(stable), (family,) * families, undecided, box)
    types: Any = tuple(SimpleNamespace(stability=words[s]) for s in stable)
    lines = tuple(Finding("equilibria", "?", "undecided" if k < left else "proof") for k in range(3))
    counts = {"conserved": 0, "independent": 0, "degree": 3, "symmetries": 1}
    return Analysis(PLANE, {}, {}, lines, rests, types, counts).sentence.partition("permutations, ")[2]


def test_the_headline_counts_points_families_and_questions() -> None:
    done = " Nothing is left open."
    assert said("all") == "0 equilibria." + done and said("all", "u") == "1 equilibrium (0 stable)." + done
    assert said("all", "sau") == "3 equilibria (2 stable)." + done
    assert said("all", "sa?") == "3 equilibria (2 shown to be stable)." + done
    assert said("open", "ss") == "at least 2 equilibria (2 stable)." + done
    assert said("open") == "no isolated equilibrium found." + done
    assert said("all", families=1) == "0 isolated equilibria, 1 family of equilibria." + done
    assert said("all", "s", families=2) == "1 isolated equilibrium (1 stable), 2 families of equilibria." + done
    assert said("open", families=2) == "no isolated equilibrium found, 2 families of equilibria." + done
    assert said("symbols", "s") == "1 equilibrium in symbols." + done
    assert said("symbols", "ss", condition=True) == "2 equilibria in symbols, where their conditions hold." + done
    assert said("all", left=1) == "0 equilibria. 1 question is left open."
    assert said("all", left=2) == "0 equilibria. 2 questions are left open."
    outside = " Equilibria outside were not searched. "
    assert (
        said("all", "u", low=-1.0) == f"1 equilibrium with x in [-1, 1] (0 stable).{outside}Nothing else is left open."
    )
    assert (
        said("open", low=-1.0) == f"no isolated equilibrium found with x in [-1, 1].{outside}Nothing else is left open."
    )
    assert said("all", low=-1.0, left=2) == f"0 equilibria with x in [-1, 1].{outside}2 questions are left open."


def test_the_headline_counts_conserved_quantities_and_symmetries() -> None:
    def words(**counts: int) -> str:
        return Analysis(PLANE, counts=counts).sentence

    assert words() == "2 states: conserved quantities not searched. Nothing is left open."
    assert words(conserved=0, independent=0, degree=4) == (
        "2 states: no conserved quantity up to degree 4. Nothing is left open."
    )
    assert words(conserved=1, independent=1, degree=1, symmetries=1) == (
        "2 states: 1 conserved quantity up to degree 1, no symmetry by signed permutations. Nothing is left open."
    )
    assert words(conserved=3, independent=2, degree=2, symmetries=2) == (
        "2 states: 3 conserved quantities, 2 of them independent, up to degree 2, 2 signed permutations. "
        "Nothing is left open."
    )
    assert Analysis(System.from_strings({"x": "1"})).sentence.startswith("1 state: ")


def test_lines_are_printed_by_sections_with_what_was_searched_below() -> None:
    lines = (
        Finding("conserved", "first", "proof", "among these", "call that"),
        Finding("structure", "second", "undecided"),
        Finding("equilibria", "third", "proof", "", "more"),
    )
    found = Analysis(System.from_strings({"x": "x/2"}, kind="map"), findings=lines, notes=("a", "b"))
    assert found.open_questions == lines[1:2]
    assert str(found).splitlines()[1:] == [
        "", "STRUCTURE", "  [undecided] second",
        "", "CONSERVED", "  [proof] first", "      among these", "      call that",
        "", "FIXED POINTS", "  [proof] third", "      more",
        "", "LEFT OUT", "  a", "  b",
    ]  # fmt: skip
    assert str(Analysis(PLANE)) == Analysis(PLANE).sentence and repr(found) == f"<Analysis: {found.sentence}>"


def test_everything_by_name_for_other_programs() -> None:
    system = System.from_strings({"x": "-k*x + j"})
    table = Analysis(
        system, {"k": Fraction(1, 2)}, {"x": 3}, (Finding("structure", "a", "proof"),), notes=("n",)
    ).as_json()
    assert table["kind"] == "flow" and table["states"] == ["x"] and table["start"] == {"x": "3"}
    assert table["parameters"] == {"j": "", "k": "1/2"} and table["notes"] == ["n"]
    assert sp.sympify(table["equations"]["x"]) == sp.sympify("-k*x + j")
    assert table["findings"] == [
        {"section": "structure", "text": "a", "evidence": "proof", "searched": "", "further": ""}
    ]
    assert table["sentence"] == "1 state: conserved quantities not searched. Nothing is left open."


def structure(equations: Any, kind: str = "flow") -> list[str]:
    return [line.text for line in _structure(System.from_strings(equations, kind=kind))]


def test_lines_about_structure() -> None:
    assert structure("x' = y; y' = -x") == []
    assert structure("x' = y; y' = 1 - z; z' = 0") == [
        "The states form 3 blocks, each driven by earlier ones only: {z} -> {y} -> {x}",
        "These states never move: z",
    ]
    chain = {f"x{k}": f"x{k - 1}" if k else "-x0" for k in range(7)}
    (line,) = structure(chain)
    assert line.endswith(
        "blocks, each driven by earlier ones only: " + " -> ".join(f"{{x{k}}}" for k in range(6)) + " -> ..."
    )
    assert structure({name: chain[name] for name in list(chain)[:6]})[0].endswith(" -> {x5}")
    assert structure("x' = t*x") == ["The equations depend on time t"]
    assert structure({"x": "step(x)"}, "map") == ["The map switches where x = 0"]
    still = {f"x{k}": "0" for k in range(13)}
    assert structure(still)[-1] == f"These states never move: {', '.join([*still][:12])}"


def test_formulas_that_are_too_long_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_WRITTEN", 1)
    one, two = "x' = -step(x) - step(x + y + 1)", "x' = -step(x - y) - step(x + y + 1)"
    assert structure(f"{one}; y' = -x")[-1] == "The field switches where x = 0, or 1 longer formula vanishes"
    assert structure(f"{two}; y' = -x")[-1] == "The field switches where 2 longer formulas vanish"


def test_lumps_are_looked_for_up_to_a_number_of_states(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "a' = b + c; b' = -b*(1 + a); c' = -c*(1 + a); d' = b - c"
    told = [line for line in _structure(System.from_strings(chain)) if line.searched == "exact lumping"]
    assert [(line.text, line.evidence) for line in told] == [
        ("2 combinations of the states move by themselves and contain a: a, b + c", "proof")
    ]
    assert "exact lumping" not in [
        line.searched for line in _structure(System.from_strings(f"{chain} + 0.1*sqrt(2.5e-1*d)*step(d)"))
    ]
    monkeypatch.setattr(room, "MOST_LUMPED", 3)
    assert "exact lumping" not in [line.searched for line in _structure(System.from_strings(chain))]
    monkeypatch.setattr(room, "MOST_LUMPED", 4)
    assert "exact lumping" in [line.searched for line in _structure(System.from_strings(chain))]


def conserved(equations: Any, **more: Any) -> tuple[list[Finding], dict[str, int], list[Any]]:
    counts: dict[str, int] = {}
    nodes: list[Any] = []
    return list(_conserved(System.from_strings(equations, **more), counts, 0, nodes)), counts, nodes


def test_lines_about_conserved_quantities(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,), counts, nodes = conserved("x' = y; y' = -x")
    assert (line.text, line.evidence) == ("x**2 + y**2 is conserved", "proof") and len(nodes) == 1
    assert line.searched == "among polynomials of degree at most 4 in x, y these are all"
    assert counts == {"conserved": 1, "independent": 1, "degree": 4}
    (line,), counts, nodes = conserved("x' = x*t")
    assert line == Finding(
        "conserved", "Conserved quantities were not searched", "undecided", "the equations depend on t",
        "check_integral(system, ...)",
    )  # fmt: skip
    assert counts == {} and nodes == []
    (none,), counts, nodes = conserved("x' = 1 - x")
    assert none.text.startswith("There is no conserved quantity among polynomials of degree at most 4 in x, ")
    assert (none.evidence, none.searched, none.further) == ("proof", "", "") and counts["conserved"] == 0
    (_, factor), _, _ = conserved("x' = x - y; y' = x + y")
    assert factor.text == "1/(x**2 + y**2) is an integrating factor" and factor.searched.startswith(
        "times it the field"
    )
    assert [conserved({f"x{k}": f"-x{k}^2 - {k + 1}" for k in range(n)})[1]["degree"] for n in (3, 5)] == [3, 2]
    assert conserved("x' = a*x + b; y' = c*y")[1]["degree"] == 3 and conserved("x' = a*x + b")[1]["degree"] == 4
    monkeypatch.setattr(room, "MOST_LINEAR", 1)
    (line,), counts, _ = conserved("x' = y; y' = -x")
    assert line.searched == "there are more than 1 states" and not counts
    assert conserved("x' = -x")[1]


def test_the_degree_falls_with_the_number_of_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_SQUARE", 5)
    found = SimpleNamespace(ansatz="these", complete=False, independent=0, degree=0, factor=None)
    nothing: Any = type("Nothing", (list,), vars(found))()
    asked: list[int] = []

    def search(degree: int, seed: int) -> Any:
        asked.append(degree)
        return nothing

    for states, degree in ((1, 4), (2, 4), (3, 3), (4, 3), (5, 2), (6, 1)):
        system: Any = SimpleNamespace(dimension=states, nodes=(), parameters=(), first_integrals=search)
        (line,) = _conserved(system, {}, 0, [])
        assert asked.pop() == degree and line.evidence == "undecided" and line.text == "No conserved quantity was found"
        assert line.searched == "among these" and line.further == f"system.first_integrals(degree={degree + 1})"


def symmetries(equations: Any, **more: Any) -> tuple[list[str], dict[str, int]]:
    counts: dict[str, int] = {}
    return [line.text for line in _symmetries(System.from_strings(equations, **more), counts, 0)], counts


def test_lines_about_symmetries(monkeypatch: pytest.MonkeyPatch) -> None:
    assert symmetries("x' = 1 - x") == (["No signed permutation of the states is a symmetry"], {"symmetries": 1})
    assert symmetries("x' = a*x - b*x^2; y' = -y")[0] == [
        "A group of 2 signed permutations of the states, generated by y -> -y",
        "Solutions may be scaled, for every k > 0: y -> k^(1) y",
        "1 unit can be chosen so that a parameter becomes 1 or -1, which leaves at most 1 parameter",
    ]
    assert symmetries("x' = r*x")[0][-1] == (
        "1 unit can be chosen so that a parameter becomes 1 or -1, which leaves none"
    )
    assert symmetries("x' = a*x - b*y; y' = -c*y + d*x")[0][-1].endswith("which leaves at most 2 parameters")
    lines, counts = symmetries("x' = y; y' = -x")
    assert (
        counts == {"symmetries": 4}
        and lines[-1] == "Solutions may be moved in the direction x -> x + s*(y), y -> y + s*(-x)"
    )
    assert [line for line in lines if "scaled" in line] == [
        "Solutions may be scaled, for every k > 0: x -> k^(1) x, y -> k^(1) y"
    ]
    for equations, kind in (("x' = -x^3", "map"), ("x' = x*t", "flow")):
        assert symmetries(equations, kind=kind)[0] == [
            "A group of 2 signed permutations of the states, generated by x -> -x"
        ]
    monkeypatch.setattr(room, "MOST_SQUARE", 1)
    assert not any("moved" in line for line in symmetries("x' = y; y' = -x")[0])
    monkeypatch.setattr(room, "MOST_MOVED", 1)
    assert symmetries("x' = y; y' = -x") == (
        ["Signed permutations of the states were not searched, for there are more than 1 states"],
        {},
    )
    assert symmetries("x' = 1 - x")[1]


def test_names_that_a_system_does_not_have_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"^q is not a parameter of the system; it has k$"):
        findings(System.from_strings({"x": "-k*x"}), {"q": 1})
    with pytest.raises(ParameterError, match=r"^k is not a state of the system; it has x$"):
        findings(System.from_strings({"x": "-k*x"}), {"k": 1}, {"k": 1})


def test_what_was_given_is_kept() -> None:
    found = findings(System.from_strings({"x": "-k*x"}), {"k": 2}, {"x": 1}, notes=("n",))
    assert (found.values, found.start, found.notes) == ({"k": 2}, {"x": 1}, ("n",)) and found.t_end == 10.0
    assert found.rests is not None and len(found.types) == len(found.rests) == 1 and found.integrals == ()


def test_the_largest_system_that_is_analysed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_STATES", 2)
    assert findings(PLANE).system is PLANE
    with pytest.raises(EquationError) as caught:
        findings(System.from_strings("x' = 1; y' = 1; z' = 1"))
    assert str(caught.value) == "the system has 3 states, and at most 2 are analysed; give a part of it"
