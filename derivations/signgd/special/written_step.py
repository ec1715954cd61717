r"""The derived step as a person writes it: softmax weights, slopes and drivers by name; here because of their indices.

Names are those of the paper, with the number of the sample last: s_{11,i}, ..., g_i, w_i, A_{ri}, B_{ri}. Nothing is
typed in: the parts are those of the derived system, which are given names, and put in again they give the system back.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from odesys import (
    Node,
    OpaqueSoftmax,
    SignDescent,
    SignForm,
    System,
    WrittenEquations,
    from_sympy,
    graph,
    sym,
    to_sympy,
)

Names = dict[Node, Node]


def atom_names(opaque: OpaqueSoftmax, rows: dict[str, Node]) -> Names:
    """Symbols of softmax weights and loss slopes by sample; `rows` has s11_i and s21_i as functions of the state."""
    out: Names = {}
    arguments = {to_sympy(node.args[0]): name for name, node in rows.items()}
    for atom, meaning in opaque.meaning.items():
        if atom in opaque.slopes:
            continue
        logit = to_sympy(meaning.args[0])
        for known, name in arguments.items():
            if sp.expand(logit - known) == 0:
                out[atom] = sym(name)
            elif sp.expand(logit + known) == 0:
                out[atom] = sym(name.replace("s11", "s12").replace("s21", "s22"))
    for slope in opaque.slopes:
        inside = graph.symbols([opaque.meaning[slope]])
        (sample,) = [name.removeprefix("v_z") for name in inside if name.startswith("v_z")]
        out[slope] = sym(f"g_{sample}")
    return out


def written(
    system: System, made: SignDescent, opaque: OpaqueSoftmax, form: SignForm, rows: dict[str, Node]
) -> WrittenEquations:
    """How a system of two samples or more is printed; `rows` as in `atom_names`."""
    names = atom_names(opaque, rows)

    def renamed(node: Node) -> Node:
        return graph.substitute([node], names)[0]

    definitions = {str(new.args[0]): renamed(opaque.meaning[atom]) for atom, new in names.items()}
    definitions = dict(sorted(definitions.items(), key=lambda item: (item[0].split("_")[::-1], item[0])))
    signs: dict[str, Node] = {}
    directions: dict[Node, Node] = {}
    states = {node: name for leaf, table in made.names.items() for name, node in _pairs(table, made.gradients[leaf])}
    for node, state in states.items():
        front, factors = form.factors(opaque(node))
        direction = graph.num(front)
        for factor, _ in factors:
            name, sign, driver = _driver(state, from_sympy(form.write(factor)))
            definitions.setdefault(name, renamed(driver))
            signs.setdefault(f"sgn_{name}", graph.call("step", sym(name)) - graph.call("step", -sym(name)))
            direction = direction * sign * sym(f"sgn_{name}")
        directions[node] = direction
    known = {definitions[name]: sym(name) for name in definitions if name[0] in "wAB"}
    known |= {-node: -name for node, name in known.items()}
    for name in [name for name in definitions if name[0] == "G"]:
        definitions[name] = graph.substitute([definitions[name]], known)[0]
    moved = made.system(directions.__getitem__, system.kind)
    return WrittenEquations(system.field, {**definitions, **signs}, tuple(moved.nodes))


def _pairs(names: np.ndarray, gradients: np.ndarray) -> list[tuple[str, Node]]:
    return list(zip(names.ravel(), gradients.ravel(), strict=True))


def tex(definitions: Mapping[str, Node]) -> dict[str, str]:
    """How the names are set: s_{1,11}, g_1, w_1, A_{1,2}, G^q_1, and signs of them."""
    out = {}
    for name in definitions:
        sign, plain = name.startswith("sgn_"), name.removeprefix("sgn_")
        letter, *places = plain.split("_")
        if letter[0] == "s":
            shown = f"s_{{{places[0]},{letter[1:]}}}"
        elif letter[0] == "G":
            shown = f"G^{{{letter[1]}}}_{{{places[0]}}}"
        else:
            shown = f"{letter}_{{{','.join(places)}}}"
        out[name] = rf"\mathrm{{sgn}}({shown})" if sign else shown
    return out


def _driver(state: str, driver: Node) -> tuple[str, int, Node]:
    """The name of a factor of the gradient by a state, its sign, and what is named: it grows with noise and v."""
    parts = state.split("_")
    letter, other = {"q": ("B", "k"), "k": ("A", "q")}[parts[0]]
    if parts[-1] == "mu":
        name, grows = f"G{parts[0]}_{parts[1]}", [f"{other}_{parts[1]}_z1", "v_z1"]
    elif "v_mu" in graph.symbols([driver]):
        name, grows = f"w_{parts[-1].removeprefix('z')}", [f"v_{parts[-1]}"]
    else:
        name, grows = f"{letter}_{parts[1]}_{parts[-1].removeprefix('z')}", [f"{other}_{parts[1]}_{parts[-1]}"]
    slope = driver
    for state in grows:
        slope = graph.gradient(slope, [sym(state)])[0]
    down = to_sympy(slope).could_extract_minus_sign()
    return (name, -1, -driver) if down else (name, 1, driver)
