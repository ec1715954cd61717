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
