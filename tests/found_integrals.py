"""The one integral a complete search finds, and whether it is the known one."""

from __future__ import annotations

from typing import Any

import sympy as sp

from odesys.analysis.first_integrals import first_integrals
from odesys.expr import graph
from odesys.expr.sympy_bridge import to_sympy
from odesys.expr.system import System


def only(system: System, degree: int = 2) -> graph.Node:
    found = first_integrals(system, degree)
    assert found.complete
    (integral,) = found
    return integral.node


def same_up_to_factor(node: graph.Node, wanted: Any) -> bool:
    ratio = to_sympy(node) / to_sympy(graph.as_node(wanted))
    return bool(sp.cancel(ratio).is_Rational)
