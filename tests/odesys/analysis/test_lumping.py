"""Exact lumping: the law by proof, the size by floating-point rank, runs of both systems, refusals."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import flint
import numpy as np
import pytest

from odesys import System, graph, integrate, lump, sym
from odesys.analysis import lumping
from odesys.errors import EquationError
from odesys.expr.field import ScalarField


def binding(sites: int) -> System:
    """A receptor with equal sites, a ligand that binds to each and decays, and a drug that takes the ligand away."""
    on, off, decay, ligand, drug = (sym(name) for name in ("k_on", "k_off", "k_d", "L", "D"))
    rates: dict[str, list[graph.Node]] = {"r" + "".join(bits): [] for bits in product("01", repeat=sites)}
    taken = []
    for name in list(rates):
        for i in (i for i in range(sites) if name[i + 1] == "0"):
            bound = f"{name[: i + 1]}1{name[i + 2 :]}"
            rate = on * ligand * sym(name) - off * sym(bound)
            rates[name].append(-rate)
            rates[bound].append(rate)
            taken.append(-rate)
    equations = {name: graph.add(terms) for name, terms in rates.items()}
    equations["L"] = graph.add(taken) - decay * ligand * drug
    equations["D"] = -decay * ligand * drug
    return System.from_equations(equations, parameters=["k_on", "k_off", "k_d"])


def smallest_rank(system: System, rows: np.ndarray, rng: np.random.Generator) -> int:
    """The size of the invariant row space by floats and difference quotients, another route to it."""
    field = system.compile({name: rng.uniform(0.5, 2) for name in system.parameters})
    n = system.dimension
    while True:
        grown = [rows]
        for _ in range(4):
            x, step = rng.uniform(0.5, 1.5, n), 1e-6
            slopes = np.array([(field(0, x + step * e) - field(0, x - step * e)) / (2 * step) for e in np.eye(n)]).T
            grown.append(rows @ slopes)
        _, values, basis = np.linalg.svd(np.vstack(grown))
        rank = int((values > 1e-6 * values[0]).sum())
        if rank == len(rows):
            return rank
        rows = basis[:rank]


def test_the_combinations_run_like_the_states_they_combine() -> None:
    system = binding(4)
    small = lump(system, ["L", "D"])
    assert small.system.dimension == 4 and small.minimal and small.law().evidence.name == "PROOF"
    values, rng = {"k_on": 0.7, "k_off": 0.3, "k_d": 0.2}, np.random.default_rng(3)
    start = rng.uniform(0, 1, system.dimension)
    full = integrate(system, start, (0.0, 3.0), values)
    less = integrate(small.system, small.project(start), (0.0, 3.0), values)
    assert np.abs(small.project(full.states[-1]) - less.states[-1]).max() < 1e-8


@pytest.mark.parametrize(("keep", "size"), [(["L", "D"], 4), (["r1111"], 7), (["r1000 - r0100"], None)])
def test_no_smaller_space_contains_what_is_kept(keep: list[str], size: int | None) -> None:
    system, rng = binding(4), np.random.default_rng(5)
    found = lump(system, keep)
    place = {name: k for k, name in enumerate(system.names)}
    chosen = np.zeros((len(keep), system.dimension))
    for k, one in enumerate(keep):
        for sign, part in enumerate(one.split(" - ")):
            chosen[k, place[part]] = (-1) ** sign
    assert found.system.dimension == smallest_rank(system, chosen, rng)
    assert size is None or found.system.dimension == size
    combinations = found.system.observables["kept_1"]
    rows = {sym(n): graph.combine((c, sym(s)) for s, c in row.items()) for n, row in found.rows.items()}
    expected = graph.add((-1) ** i * sym(p) for i, p in enumerate(keep[0].split(" - ")))
    assert graph.substitute([combinations], rows)[0] is expected


def test_rational_functions_and_maps_lump_too() -> None:
    enzyme = System.from_strings({"a": "-v*a/(1 + a + b)", "b": "-v*b/(1 + a + b)", "p": "v*(a + b)/(1 + a + b)"})
    assert lump(enzyme, "p").system.dimension == 2
    steps = System.from_strings({"a": "b**2 + a", "b": "a - b**2", "c": "c*a"}, kind="map")
    assert lump(steps, "a").system.names == ("a", "b")


def test_large_coefficients_are_lifted() -> None:
    big = 10**12 + 39
    system = System.from_strings({"a": f"-a - {big}*b + c", "b": "-b", "c": "-c"})
    found = lump(system, "a")
    assert found.system.dimension == 2 and found.law().as_stated == "holds"
    assert any(big in (abs(c.numerator), c.denominator) for row in found.rows.values() for c in row.values())


def test_a_broken_law_is_noticed() -> None:
    found = lump(binding(3), ["L", "D"])
    nodes = list(found.system.nodes)
    wrong = replace(found, system=replace(found.system, field=ScalarField((nodes[0] * 2, *nodes[1:]), {})))
    assert wrong.law().as_stated == "fails"
    short = dict(list(found.rows.items())[1:])
    fewer = replace(
        found,
        rows=short,
        system=replace(found.system, names=found.system.names[1:], field=ScalarField(tuple(nodes[1:]), {})),
    )
    assert fewer.law().as_stated != "holds"


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        ([], "keep nothing"),
        ("x*y", "no linear combination"),
        ("q", "no linear combination"),
        ("x", "only all 2 states together contain x"),
    ],
)
def test_what_can_not_be_lumped_gets_a_sentence(keep: object, words: str) -> None:
    with pytest.raises(EquationError, match=words):
        lump(System.from_strings({"x": "y", "y": "-x"}), keep)


def test_switches_are_refused() -> None:
    # the Jacobian does not see that a depends on b here
    with pytest.raises(EquationError, match="these switch where b = 0"):
        lump(System.from_strings({"a": "sign(b)", "b": "a"}), "a")


def test_there_is_no_way_back() -> None:
    with pytest.raises(EquationError, match="no way back"):
        lump(binding(2), "L").lift([1.0] * lump(binding(2), "L").system.dimension)


def phosphorylation(sites: int) -> System:
    """A protein with independent sites, each free, bound to a kinase E, phosphorylated, or bound to a phosphatase F.

    4^sites + 2 states; M. W. Sneddon, J. R. Faeder, T. Emonet, Nature Methods 8 (2011), 177-183, as the example of
    constrained lumping in A. Ovchinnikov et al., Bioinformatics 37 (2021), 1732-1738.
    """
    kinase, phosphatase = sym("E"), sym("F")
    rates = [sym(f"k{j}") for j in range(1, 7)]
    # from, to, rate, enzyme taken up (-1) or set free (+1)
    moves = [(0, 1, 0, "E", -1), (1, 0, 1, "E", 1), (1, 2, 2, "E", 1)]
    moves += [(2, 3, 3, "F", -1), (3, 2, 4, "F", 1), (3, 0, 5, "F", 1)]
    names = {s: "s" + "".join(map(str, s)) for s in product(range(4), repeat=sites)}
    change: dict[str, list[tuple[int, graph.Node]]] = {name: [] for name in (*names.values(), "E", "F")}
    for state, name in names.items():
        for place, (old, new, rate, enzyme, sign) in product(range(sites), moves):
            if state[place] != old:
                continue
            speed = rates[rate] * sym(name) * ((kinase if enzyme == "E" else phosphatase) if sign < 0 else 1)
            other = names[(*state[:place], new, *state[place + 1 :])]
            change[name].append((-1, speed))
            change[other].append((1, speed))
            change[enzyme].append((sign, speed))
    equations = {name: graph.combine(parts) for name, parts in change.items()}
    return System(tuple(equations), ScalarField(tuple(equations.values()), {}), tuple(f"k{j}" for j in range(1, 7)))


@pytest.mark.parametrize("sites", [2, 3])
def test_independent_sites_lump_to_six(sites: int) -> None:
    """The two enzymes, and how many sites are in each of the four conditions."""
    found = lump(phosphorylation(sites), "E")
    assert found.system.dimension == 6 and phosphorylation(sites).dimension == 4**sites + 2
    assert found.law().as_stated == "holds"


def receptor() -> System:
    """A receptor of three domains and the cascade behind it: 18 forms, ligand, drug, and two proteins in two forms.

    The first domain is free or has the ligand, the second is phosphorylated up to twice and faster with the ligand, the
    third takes one of two adaptors whatever the others do; the kinase counts the forms with two phosphates. Of this
    kind are the networks in H. Conzelmann, D. Fey, E. D. Gilles, BMC Systems Biology 2 (2008), 78.
    """
    names = {s: "r" + "".join(map(str, s)) for s in product(range(2), range(3), range(3))}
    change: dict[str, list[tuple[int, graph.Node]]] = {n: [] for n in (*names.values(), "L", "D", "A", "Ap", "B", "Bp")}

    def move(old: list[str], new: list[str], rate: graph.Node) -> None:
        for name in old:
            change[name].append((-1, rate))
        for name in new:
            change[name].append((1, rate))

    for (i, j, k), name in names.items():
        one = sym(name)
        if i == 0:
            move([name, "L"], [names[1, j, k]], sym("k1") * sym("L") * one)
            move([names[1, j, k]], [name, "L"], sym("k2") * sym(names[1, j, k]))
        if j < 2:
            move([name], [names[i, j + 1, k]], (sym("k3") + i * sym("k4")) * one)
            move([names[i, j + 1, k]], [name], sym("k5") * sym(names[i, j + 1, k]))
        if k == 0:
            for other, on, off in ((1, "k6", "k7"), (2, "k8", "k9")):
                move([name], [names[i, j, other]], sym(on) * one)
                move([names[i, j, other]], [name], sym(off) * sym(names[i, j, other]))
    active = graph.add(sym(names[i, 2, k]) for i in range(2) for k in range(3))
    move(["L", "D"], [], sym("k10") * sym("L") * sym("D"))
    move(["A"], ["Ap"], sym("k11") * active * sym("A"))
    move(["Ap"], ["A"], sym("k12") * sym("Ap"))
    move(["B"], ["Bp"], sym("k13") * sym("Ap") * sym("B"))
    move(["Bp"], ["B"], sym("k14") * sym("Bp"))
    nodes = tuple(graph.combine(parts) for parts in change.values())
    return System(tuple(change), ScalarField(nodes, {}), tuple(f"k{j}" for j in range(1, 15)))


def test_a_receptor_of_24_states_lumps_to_twelve() -> None:
    """The six forms of the first two domains, summed over the third, and the six others."""
    system = receptor()
    found = lump(system, "Bp")
    assert repr(found) == "<Lumping: 24 -> 12 states, from every start>" and found.law().as_stated == "holds"
    kept = np.zeros((1, 24))
    kept[0, system.names.index("Bp")] = 1
    assert smallest_rank(system, kept, np.random.default_rng(2)) == 12
    with pytest.raises(EquationError, match="only all 24 states together"):  # a form of its own is no such sum
        lump(system, ["Bp", "r121", "r122"])


@pytest.mark.slow
def test_a_binding_model_of_1026_states_lumps_to_six() -> None:
    assert repr(lump(phosphorylation(5), "E")) == "<Lumping: 1026 -> 6 states, from every start>"


@pytest.mark.parametrize("unlucky", [0, 1, 2])
def test_a_prime_that_loses_rows_is_passed_over(unlucky: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of three it is; the coefficient needs two of them."""
    big = 10**12 + 39
    system = System.from_strings({"a": f"-a - {big}*b + c", "b": "-b", "c": "-c"})
    grow, calls = lumping._grow, list[int]()

    def worse(*given: object) -> list[list[int]]:
        calls.append(1)
        rows = grow(*given)  # type: ignore[arg-type]
        return rows[:-1] if len(calls) == unlucky + 1 else rows

    monkeypatch.setattr(lumping, "_grow", worse)
    found = lumping._closed_rows(system, [{0: Fraction(1)}], 3, 0)
    assert found == [{0: 1}, {1: 1, 2: Fraction(-1, big)}] and len(calls) == 4


@pytest.mark.parametrize("seed", range(4))
def test_random_linear_systems_lump_to_their_krylov_spaces(seed: int) -> None:
    """x' = A x and a row c: the smallest space is that of c, c A, c A^2, ...; its rows are in echelon form."""
    rng = random.Random(seed)
    size = 6
    blocks = [[rng.randint(-3, 3) if i // 3 == j // 3 else 0 for j in range(size)] for i in range(size)]
    names = [f"s{k}" for k in range(size)]
    system = System.from_equations(
        {
            n: graph.combine((Fraction(c), sym(m)) for c, m in zip(row, names, strict=True))
            for n, row in zip(names, blocks, strict=True)
        }
    )
    matrix = flint.fmpq_mat(size, size, [c for row in blocks for c in row])
    for keep in ("s0", "s1 - 2*s2", "s3/2 + s4"):
        row = lumping._row(system, keep)
        chain = [
            flint.fmpq_mat(
                1,
                size,
                [
                    flint.fmpq(row.get(k, Fraction(0)).numerator, row.get(k, Fraction(0)).denominator)
                    for k in range(size)
                ],
            )
        ]
        for _ in range(size - 1):
            chain.append(chain[-1] * matrix)
        whole = flint.fmpq_mat(size, size, [step[0, k] for step in chain for k in range(size)])
        reduced, rank = whole.rref()
        wanted = [
            {k: Fraction(int(reduced[i, k].p), int(reduced[i, k].q)) for k in range(size) if reduced[i, k]}
            for i in range(rank)
        ]
        assert lumping._closed_rows(system, [row], 1, seed) == wanted
        assert lumping._maps_into_itself(system, wanted)
        if rank > 1:
            assert not lumping._maps_into_itself(system, [{0: Fraction(1), 5: Fraction(7)}])


def test_a_projection_and_what_was_kept_are_combinations_of_states() -> None:
    system = System.from_strings({"a": "b + c", "b": "-b", "c": "-c", "d": "a*d"})
    small = lump(system, ["a", "2*b + 2*c - a/3"])
    assert small.rows == {"a": {"a": 1}, "y2": {"b": 1, "c": 1}} and small.system.names == ("a", "y2")
    points = np.random.default_rng(0).normal(size=(5, 4))
    assert np.allclose(small.project(points), np.column_stack([points[:, 0], points[:, 1] + points[:, 2]]))
    assert small.lifted is None and list(small.system.observables) == ["kept_1", "kept_2"]
    seen = graph.evaluate(list(small.system.observables.values()), {"a": Fraction(3), "y2": Fraction(5)}, {}, Fraction)
    assert seen == [3, 9]
    assert all(node is graph.ZERO for node in small.defects().values())
    wrong = replace(small, rows={"a": {"a": Fraction(1)}, "y2": {"b": Fraction(1), "c": Fraction(2)}})
    assert any(node is not graph.ZERO for node in wrong.defects().values()) and wrong.law().as_stated == "fails"


def test_sums_are_numbered_without_names_that_are_taken() -> None:
    system = System.from_strings({"y1": "-y1", "b": "-k*b - y2", "c": "-k*c + y2", "y2": "b - c", "y3": "b"})
    small = lump(system, ["b + c", "y1"])
    assert small.system.names == ("y1", "y4") or small.system.names == ("y4", "y1") or "y1" in small.system.names
    assert not {n for n, row in small.rows.items() if len(row) > 1} & {*system.names, *system.parameters, "t"}
    rows = [{0: Fraction(1), 1: Fraction(1)}, {1: Fraction(2)}, {2: Fraction(1), 3: Fraction(1)}]
    plain = System.from_strings({"a": "y1*b", "b": "a", "c": "a", "d": "a"})
    assert lumping._names(plain, rows) == ("y2", "b", "y3")


def test_vectors_are_inside_a_space_or_not() -> None:
    rng = random.Random(1)
    reduced = {0: {0: Fraction(1), 2: Fraction(3)}, 1: {1: Fraction(1), 2: Fraction(-1), 3: Fraction(1, 2)}}
    for _ in range(30):
        a, b = Fraction(rng.randint(-3, 3), 2), Fraction(rng.randint(-3, 3))
        vector = {0: a, 1: b, 2: 3 * a - b, 3: b / 2}
        assert lumping._inside(vector, reduced)
        place = rng.randrange(5)
        assert not lumping._inside({**vector, place: vector.get(place, Fraction(0)) + 1}, reduced)
    assert lumping._inside({}, reduced) and not lumping._inside({2: Fraction(1)}, reduced)


def test_functions_of_states_are_taken_as_independent() -> None:
    """Of exp(a + b) and exp(a) exp(b) nothing is known in common; the law is proved where it holds all the same."""
    system = System.from_strings({"a": "exp(a + b)", "b": "exp(a + b)", "c": "c*a"})
    small = lump(system, "a + b")
    assert not small.minimal and small.system.dimension == 1 and small.law().as_stated == "holds"
    assert lump(System.from_strings({"a": "-a", "b": "a*b"}), "a").minimal


def test_a_combination_is_read_with_its_coefficients() -> None:
    system = System.from_strings({"x": "y", "y": "-x", "z": "0"})
    assert lumping._row(system, "x - 3*z/2") == {0: 1, 2: Fraction(-3, 2)} and lumping._row(system, sym("y")) == {1: 1}
    for wrong in ("x + 1", "x^2", "exp(y)", "0.5*x + p"):
        with pytest.raises(EquationError, match="is no linear combination of states"):
            lumping._row(system, wrong)
