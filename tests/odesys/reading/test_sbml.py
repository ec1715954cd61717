"""SBML and Antimony: equations by hand, refusals by name, and the sentence where a package is missing."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from odesys import graph
from odesys.errors import EquationError
from odesys.reading.grammar import Grammar
from odesys.reading.sbml import graph_value, system_from_antimony, system_from_sbml

ENZYME = """
model enzyme
  compartment C; C = 2;
  species S in C, E in C, ES in C, P in C;
  S = 10; E = 1; ES = 0; P = k2*2;
  bind: S + E -> ES; C*(k1*S*E - k2*ES);
  make: ES -> E + 2 P; C*k3*ES;
  k1 = 1; k2 = 0.5; k3 = 0.1;
  total := S + ES;
  X' = total - X; X = 3
end
"""


@pytest.fixture(autouse=True)
def packages() -> None:
    pytest.importorskip("libsbml", reason="the extra import is not installed")
    pytest.importorskip("antimony", reason="the extra import is not installed")


def test_reactions_become_equations_of_motion() -> None:
    reading = system_from_antimony(ENZYME)
    grammar = Grammar()
    for name, text in {
        "S": "-k1*S*E + k2*ES",
        "E": "-k1*S*E + k2*ES + k3*ES",
        "ES": "k1*S*E - k2*ES - k3*ES",
        "P": "2*k3*ES",
        "X": "S + ES - X",
    }.items():
        assert graph.add([reading.system.equations[name], -grammar.read(text)]) is graph.ZERO
    assert reading.start == {"S": 10, "E": 1, "ES": 0, "P": 1, "X": 3}  # P from an initial assignment
    assert reading.values["k2"] == Fraction(1, 2) and "total" in reading.system.observables


def test_sizes_of_compartments_and_amounts() -> None:
    one = system_from_antimony("compartment C = 4; substanceOnly species A in C; A = 8; r: A -> ; k*A; k = 3")
    assert one.system.equations["A"] is Grammar().read("-k*A") and one.start == {"A": 8}
    two = system_from_antimony("compartment C = 4; species B in C; B = 8; r: B -> ; k*B; k = 3")
    assert two.system.equations["B"] is Grammar().read("-k*B/C") and two.values["C"] == 4


TWO_DECAYS = """<sbml xmlns="http://www.sbml.org/sbml/level2" level="2" version="1"><model>
<listOfCompartments><compartment id="C" size="1"/></listOfCompartments>
<listOfSpecies><species id="A" compartment="C" initialConcentration="5"/></listOfSpecies>
<listOfReactions>{}</listOfReactions></model></sbml>"""
DECAY = """<reaction id="{}" reversible="false"><listOfReactants><speciesReference species="A"/></listOfReactants>
<kineticLaw><math xmlns="http://www.w3.org/1998/Math/MathML"><apply><times/><ci>k</ci><ci>A</ci></apply></math>
<listOfParameters><parameter id="k" value="{}"/></listOfParameters></kineticLaw></reaction>"""


def test_one_name_in_two_reactions_stands_for_two_numbers() -> None:
    reading = system_from_sbml(TWO_DECAYS.format(DECAY.format("slow", 1) + DECAY.format("fast", 8)))
    assert reading.system.equations["A"] is Grammar().read("-slow_k*A - fast_k*A")
    assert reading.values == {"slow_k": 1, "fast_k": 8} and reading.start == {"A": 5}


def test_a_compartment_of_size_one_is_left_out_and_said() -> None:
    reading = system_from_antimony("compartment C = 1; species B in C; B = 8; r: B -> ; C*k*B; k = 3")
    assert reading.system.equations["B"] is Grammar().read("-k*B") and any("size 1" in note for note in reading.notes)


def test_boundary_species_stay() -> None:
    reading = system_from_antimony("species $A, B; A = 2; B = 0; r: A -> B; k*A; k = 1")
    assert reading.system.names == ("B",) and reading.values["A"] == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("species A; A = 1; r: A -> ; k*A; k = 1; at (time > 5): A = 2", "event .* jump of the state"),
        ("k = 1", "nothing moves"),
        ("compartment C; C = 1; C' = 1; species A in C; A = 1; r: A -> ; A", "changes its size"),
        ("species A; A = 1; r: A -> ; floor(A)", "floor"),
        ("species A; A = 1; r: A -> ; delay(A, 3)", "delays are not read"),
        ("species A -> -> B", "this is not Antimony"),
    ],
)
def test_what_can_not_be_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(EquationError, match=said):
        system_from_antimony(text)


def test_what_is_not_sbml_is_refused_with_a_line() -> None:
    with pytest.raises(EquationError, match="this is not SBML"):
        system_from_sbml("<sbml")


def test_a_file_that_is_nested_without_end_is_refused() -> None:
    """In a process of its own: the reader behind this one ends its process on such a file."""
    file = """<?xml version='1.0' encoding='UTF-8'?><sbml xmlns='http://www.sbml.org/sbml/level3/version1/core'
    level='3' version='1'><model id='m'><listOfParameters><parameter id='x' value='1' constant='false'/>
    </listOfParameters><listOfRules><rateRule variable='x'><math xmlns='http://www.w3.org/1998/Math/MathML'>{}</math>
    </rateRule></listOfRules></model></sbml>"""
    program = f"""
from odesys.errors import EquationError
from odesys.reading.sbml import system_from_sbml
file = {file!r}
deep = lambda n: file.format("<apply><sin/>" * n + "<ci>x</ci>" + "</apply>" * n)
assert system_from_sbml(deep(100)).system.dimension == 1
for text in (deep(20_000), file.format("<a>" * 20_000)):
    try:
        system_from_sbml(text)
    except EquationError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("nested more deeply than they can be read") == 2


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libsbml", None)
    monkeypatch.setitem(sys.modules, "antimony", None)
    with pytest.raises(EquationError, match=r"reading Antimony needs the package antimony; install it with"):
        system_from_antimony("x = 1")
    with pytest.raises(
        EquationError,
        match=r"reading SBML needs the package python-libsbml; install it with: pip install python-libsbml",
    ):
        system_from_sbml("<sbml/>")


def test_numbers_of_expressions() -> None:
    assert float(graph_value("x", graph.call("exp", graph.ONE))) == pytest.approx(2.718281828459045)
    for node, said in (
        (graph.call("log", graph.num(-1)), "assignment of x has no value that is a real number"),
        (graph.call("exp", graph.call("exp", graph.num(10))), "assignment of x is infinite"),
    ):
        with pytest.raises(EquationError, match=said):
            graph_value("x", node)


MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML">{}</math>'
PARTS = {
    "functions": "",
    "size": 'size="2"',
    "place": "C",
    "start": 'initialAmount="3"',
    "value": 'value="2"',
    "given": "",
    "changed": "A",
    "count": 'stoichiometry="1"',
    "law": MATH.format("<apply><times/><ci>k</ci><ci>A</ci></apply>"),
}
FILE = """<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1"><model id="m">{functions}
<listOfCompartments><compartment id="C" {size} constant="true"/></listOfCompartments><listOfSpecies><species id="A"
compartment="{place}" {start} hasOnlySubstanceUnits="false" boundaryCondition="false" constant="false"/></listOfSpecies>
<listOfParameters><parameter id="k" {value} constant="true"/></listOfParameters>{given}<listOfReactions>
<reaction id="r" reversible="false" fast="false"><listOfReactants><speciesReference species="{changed}" {count}
constant="true"/></listOfReactants><kineticLaw>{law}</kineticLaw></reaction></listOfReactions></model></sbml>"""
FUNCTION = '<listOfFunctionDefinitions><functionDefinition id="f">{}</functionDefinition></listOfFunctionDefinitions>'
GIVEN = '<listOfInitialAssignments><initialAssignment symbol="A">{}</initialAssignment></listOfInitialAssignments>'


@pytest.mark.parametrize(
    ("part", "text", "said"),
    [
        ("size", 'size="0"', "A has no concentration in C, whose size is 0"),
        ("size", 'size="INF"', "the size of C is infinite"),
        ("place", "nowhere", "A is in nowhere, which is no compartment"),
        ("start", 'initialAmount="-INF"', "the start of A is infinite"),
        ("value", 'value="INF"', "the value of k is infinite"),
        ("changed", "B", "r changes B, which is no species"),
        ("count", "", "the stoichiometry of A has no value"),
        ("count", 'stoichiometry="NaN"', "the stoichiometry of A has no value"),
        ("law", MATH.format(""), "<math> of MathML has fewer parts"),
        ("functions", FUNCTION.format(""), "the function f has no formula"),
        ("functions", FUNCTION.format(MATH.format("")), "<math> of MathML has fewer parts"),
        ("given", GIVEN.format(""), "the initial assignment of A has no formula"),
        ("given", GIVEN.format(MATH.format("<apply><ln/><cn>-1</cn></apply>")), "no value that is a real number"),
        (
            "given",
            GIVEN.format(MATH.format("<apply><divide/><cn>1</cn><apply><minus/><ci>k</ci><cn>2</cn></apply></apply>")),
            "divides by zero",
        ),
    ],
)
def test_parts_that_are_missing_or_no_numbers_are_refused(part: str, text: str, said: str) -> None:
    """The reader behind this one lets them through."""
    with pytest.raises(EquationError, match=said):
        system_from_sbml(FILE.format(**{**PARTS, part: text}))


def test_what_is_not_a_number_is_a_value_that_is_not_given() -> None:
    whole = system_from_sbml(FILE.format(**PARTS))
    assert whole.start == {"A": Fraction(3, 2)} and whole.values == {"C": 2, "k": 2}
    for part in ("start", "value"):
        name = {"start": "A", "value": "k"}[part]
        empty = system_from_sbml(FILE.format(**{**PARTS, part: PARTS[part].partition("=")[0] + '="NaN"'}))
        assert f"no value in the file: {name}" in empty.notes and name not in {**empty.start, **empty.values}


@pytest.mark.parametrize(
    ("start", "amounts", "value"),
    [
        ('initialAmount="3"', False, Fraction(3, 5)),
        ('initialAmount="3"', True, 3),
        ('initialConcentration="3"', False, 3),
        ('initialConcentration="3"', True, 15),
    ],
)
def test_starts_are_concentrations_or_amounts_as_the_species_is(start: str, amounts: bool, value: Fraction) -> None:
    text = FILE.format(**{**PARTS, "size": 'size="5"', "start": start})
    text = text.replace('hasOnlySubstanceUnits="false"', f'hasOnlySubstanceUnits="{str(amounts).lower()}"')
    assert system_from_sbml(text).start == {"A": value}


FRAME = '<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1">{}</sbml>'
LEVEL_2 = """<sbml xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4"><model>
<listOfCompartments><compartment id="C" size="1"/></listOfCompartments><listOfSpecies><species id="A" compartment="C"
initialAmount="1"/></listOfSpecies><listOfReactions><reaction id="r" reversible="false"><listOfReactants>
<speciesReference species="A"><stoichiometryMath>{}</stoichiometryMath></speciesReference></listOfReactants>
<kineticLaw>{}</kineticLaw></reaction></listOfReactions></model></sbml>"""


def moving(rules: str, more: str = "", model: str = "") -> str:
    """A model in which x and y begin at 1 and 2, with some rules."""
    given = "".join(f'<parameter id="{name}" value="{k}" constant="false"/>' for name, k in (("x", 1), ("y", 2)))
    return FRAME.format(
        f"<model {model}><listOfParameters>{given}</listOfParameters><listOfRules>{rules}</listOfRules>{more}</model>"
    )


def rule(kind: str, name: str, formula: str) -> str:
    return f'<{kind}Rule variable="{name}">{MATH.format(formula)}</{kind}Rule>'


GROWING = rule("rate", "x", "<ci>y</ci>")
TWICE = "<apply><times/><cn>2</cn><ci>{}</ci></apply>"
#: parts of a model that no System has, with the whole sentence
REFUSED = [
    (
        '<sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" level="3" version="2"/>',
        "the SBML file has no model",
    ),
    (
        moving(f"<algebraicRule>{MATH.format('<ci>x</ci>')}</algebraicRule>"),
        "the SBML file has an algebraic rule, which is no equation of motion",
    ),
    (
        moving(GROWING, model='conversionFactor="y"'),
        "conversion factors of species are not read; write the amounts in one unit",
    ),
    (
        FILE.format(**PARTS).replace("hasOnly", 'conversionFactor="k" hasOnly'),
        "conversion factors of species are not read; write the amounts in one unit",
    ),
    (
        FILE.format(**PARTS).replace('fast="false"', 'fast="true"'),
        "the reaction r is fast, which stands for an algebraic equation",
    ),
    (moving(GROWING + rule("assignment", "y", TWICE.format("y"))), "the assignment of y needs itself"),
    (moving(rule("rate", "x", "<ci>z</ci>")), "z has neither an equation nor a place in the SBML file"),
    (
        moving("").replace("<listOfRules></listOfRules>", ""),
        "nothing moves in this SBML file: it has no reaction and no rate rule",
    ),
    (FILE.format(**PARTS).replace(f"<kineticLaw>{PARTS['law']}</kineticLaw>", ""), "the reaction r has no kinetic law"),
    (
        FILE.format(**PARTS).replace(
            "<listOfReactions>", f"<listOfRules>{rule('rate', 'A', '<ci>k</ci>')}</listOfRules><listOfReactions>"
        ),
        "A is moved by reactions and by a rule",
    ),
    (
        LEVEL_2.format(MATH.format("<ci>A</ci>"), MATH.format("<ci>A</ci>")),
        "the stoichiometry of A is a formula, which is not read",
    ),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_the_sentence_says_what_a_system_can_not_be(text: str, said: str) -> None:
    with pytest.raises(EquationError) as caught:
        system_from_sbml(text)
    assert str(caught.value) == said


def test_an_error_of_the_reader_is_told_with_its_line() -> None:
    with pytest.raises(EquationError, match=r"(?s)this is not SBML: .*<model>.* \(line 2\)$"):
        system_from_sbml(FRAME.format(""))


def test_what_is_assigned_is_seen_and_replaced_and_constraints_are_left_out() -> None:
    rules = rule("rate", "x", "<ci>y</ci>") + rule("assignment", "y", TWICE.format("x"))
    limit = f"<listOfConstraints><constraint>{MATH.format('<true/>')}</constraint></listOfConstraints>"
    reading = system_from_sbml(moving(rules, limit))
    assert reading.system.nodes == (Grammar().read("2*x"),) and reading.start == {"x": 1} and reading.values == {}
    assert dict(reading.system.observables) == {"y": Grammar().read("2*x")}
    assert reading.notes == ("left out: constraints, which only stop a simulation",)
    assert system_from_sbml(moving(rules)).notes == ()


def test_a_reaction_is_its_rate_and_functions_have_arguments() -> None:
    text = "function f(a, b)\n a^2 - b\nend\nspecies A; A = 1; r: 2 A -> ; f(A, k); k = 3; x' = r; x = 0"
    reading = system_from_antimony(text)
    assert reading.system.equations == {"A": Grammar().read("2*k - 2*A^2"), "x": Grammar().read("A^2 - k")}
    assert reading.notes == ("compartments of size 1 are not in the equations: default_compartment",)


@pytest.mark.parametrize("change", ["n' = 1; n = 1", "n := 2*k"])
def test_a_stoichiometry_that_changes_is_refused(change: str) -> None:
    with pytest.raises(EquationError, match="the stoichiometry of A changes by a rule, which is not read"):
        system_from_antimony(f"species A, B; A = 1; B = 2; r: n A -> B; k*A; k = 1; {change}")


def test_initial_assignments_follow_each_other_from_time_zero() -> None:
    reading = system_from_antimony("x' = -k*x; k = 2*b; b = 3*c; c = 4; x = time + b + exp(0)")
    assert reading.values == {"k": 24} and reading.start == {"x": 13} and reading.notes == ()
    open_ended = system_from_antimony("x' = -k*x; k = 2*b; x = 1")
    assert open_ended.values == {} and open_ended.start == {"x": 1}
    assert open_ended.notes == ("no number for the initial assignment of k", "no value in the file: k")


def test_states_come_in_the_order_of_the_file_and_no_more_than_twelve_names_are_listed() -> None:
    rates = "".join(f"{name}' = -{name};" for name in "cabd")
    assert system_from_antimony(f"{rates} d = 1; b = 2").system.names == tuple("cabd")
    many = system_from_antimony("".join(f"x{k}' = -k{k}*x{k};" for k in range(8)))
    assert many.notes == (
        f"no value in the file: {', '.join([*(f'x{k}' for k in range(8)), *(f'k{k}' for k in range(4))])}",
    )
    species = system_from_antimony("species B, A; A = 1; B = 2; r: A -> B; k*A; k = 1; x' = 1; x = 0")
    assert species.system.names == ("B", "A", "x")


def test_parameters_of_one_reaction_hide_those_of_the_model() -> None:
    law = f"{PARTS['law']}<listOfLocalParameters><localParameter id='k' value='7'/></listOfLocalParameters>"
    reading = system_from_sbml(FILE.format(**{**PARTS, "law": law, "size": 'size="1"'}))
    assert reading.system.nodes == (Grammar().read("-r_k*A"),) and reading.values == {"r_k": 7}


def test_a_compartment_without_a_size_is_a_parameter_that_is_one() -> None:
    reading = system_from_sbml(FILE.format(**{**PARTS, "size": ""}))
    assert reading.system.nodes == (Grammar().read("-k*A/C"),) and reading.values == {"C": 1, "k": 2}
    assert reading.start == {"A": 3} and reading.notes == ("no size in the file, taken as 1: C",)


def test_events_are_named() -> None:
    for name, said in (("jump: ", "the event jump is a jump"), ("", "the event _E0 is a jump")):
        with pytest.raises(EquationError, match=f"{said} of the state, which is no part of a System"):
            system_from_antimony(f"x' = -x; x = 1; {name}at x > 3: x = 1")


SIZED = '<listOfInitialAssignments><initialAssignment symbol="C">{}</initialAssignment></listOfInitialAssignments>'


@pytest.mark.parametrize("size", ['size="1"', 'size="3"', ""])
@pytest.mark.parametrize(
    ("start", "amounts", "value"),
    [
        ('initialAmount="4"', False, 2),
        ('initialAmount="4"', True, 4),
        ('initialConcentration="4"', False, 4),
        ('initialConcentration="4"', True, 8),
    ],
)
def test_an_assigned_size_of_a_compartment_is_its_size(size: str, start: str, amounts: bool, value: int) -> None:
    text = FILE.format(**{**PARTS, "size": size, "start": start, "given": SIZED.format(MATH.format("<ci>k</ci>"))})
    text = text.replace('hasOnlySubstanceUnits="false"', f'hasOnlySubstanceUnits="{str(amounts).lower()}"')
    reading = system_from_sbml(text)
    law = "-k*A" if amounts else "-k*A/C"
    assert reading.system.nodes == (Grammar().read(law),) and reading.start == {"A": value} and reading.notes == ()
    assert amounts or reading.values == {"C": 2, "k": 2}


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("<apply><times/><ci>k</ci><ci>A</ci></apply>", "the size of C has an initial assignment that is no number"),
        ("<cn>0</cn>", "divides by zero"),
    ],
)
def test_an_assigned_size_that_is_no_number_is_refused(formula: str, said: str) -> None:
    with pytest.raises(EquationError, match=said):
        system_from_sbml(FILE.format(**{**PARTS, "given": SIZED.format(MATH.format(formula))}))


def test_a_parameter_of_a_reaction_never_takes_the_name_of_another() -> None:
    own = '<listOfLocalParameters><localParameter id="k" value="7"/></listOfLocalParameters></kineticLaw>'
    text = FILE.format(**PARTS).replace('"k"', '"r_k"').replace("</kineticLaw>", own)
    more = text.replace("<ci>A</ci>", "<ci>A</ci><ci>r_k</ci>")
    reading = system_from_sbml(more)
    assert reading.values == {"C": 2, "r_k": 2, "r_k_2": 7} and any("k of r is r_k_2" in n for n in reading.notes)
    assert reading.system.nodes == (Grammar().read("-r_k*r_k_2*A/C"),)


def test_t_is_time_and_what_is_called_so_has_another_name() -> None:
    reading = system_from_antimony("x' = -t*x + time; t = 3; x = 1")
    assert reading.system.nodes == (Grammar().read("-t_2*x + t"),) and reading.values == {"t_2": 3}
    assert any("t is t_2" in note for note in reading.notes)
    assert system_from_antimony("species t; t = 3; r: t -> ; k*t; k = 2").start == {"t_2": 3}


def test_names_of_species_stay_apart() -> None:
    reading = system_from_antimony("species lambda, lambda_; lambda = 1; lambda_ = 2; r: lambda -> ; k*lambda_; k = 2")
    assert reading.system.equations == {"lambda__2": Grammar().read("-k*lambda_")}
    assert reading.start == {"lambda__2": 1} and reading.values == {"lambda_": 2, "k": 2}


def test_what_is_there_twice_or_is_not_read_is_refused() -> None:
    package = 'xmlns:comp="http://www.sbml.org/sbml/level3/version1/comp/version1" comp:required="true" level="3"'
    for text, said in (
        (moving(GROWING + GROWING), "x has two rules"),
        (moving(GROWING + rule("assignment", "x", "<ci>y</ci>")), "x has two rules"),
        (moving(GROWING).replace('level="3"', package), "needs the package comp of SBML"),
    ):
        with pytest.raises(EquationError, match=said):
            system_from_sbml(text)
    with pytest.raises(EquationError, match="the stoichiometry of A has an initial assignment"):
        system_from_antimony("species A, B; A = 1; B = 2; n = 2*k; r: n A -> B; k*A; k = 2")


def test_a_stoichiometry_of_level_1_may_be_a_fraction() -> None:
    half = """<sbml xmlns="http://www.sbml.org/sbml/level1" level="1" version="2"><model name="m"><listOfCompartments>
    <compartment name="C" volume="1"/></listOfCompartments><listOfSpecies><species name="A" compartment="C"
    initialAmount="1"/></listOfSpecies><listOfReactions><reaction name="r" reversible="false"><listOfReactants>
    <speciesReference species="A" stoichiometry="1" denominator="2"/></listOfReactants><kineticLaw formula="A*2"/>
    </reaction></listOfReactions></model></sbml>"""
    assert system_from_sbml(half).system.nodes == (Grammar().read("-A"),)


def test_rules_in_each_other_without_end_are_refused() -> None:
    chain = "".join(f"y{k} := y{k + 1} + 1; " for k in range(300))
    with pytest.raises(EquationError, match="use each other more deeply than they can be read"):
        system_from_antimony(f"x' = -y0*x; x = 1; {chain} y300 = 2")
