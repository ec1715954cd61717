"""Fields and layouts: where states sit in the matrices they are made of."""

from __future__ import annotations

import numpy as np

from odesys.expr import graph
from odesys.expr.field import Layout, Segment


def test_symbols_sit_where_their_states_do() -> None:
    symmetric = Segment("A", np.array([[0, 1], [1, 2]]))
    signed = Segment("w", np.array([[3, 3, 0]]), np.array([[1, -1, 0]]))
    layout = Layout(("a", "b", "c", "x"), (("A", 0, 0), ("A", 0, 1), ("A", 1, 1), ("w", 0, 0)), (symmetric, signed))
    a, b, c, x = map(graph.sym, layout.names)
    assert layout.symbols["A"].tolist() == [[a, b], [b, c]]
    assert layout.symbols["w"].tolist() == [[x, -x, graph.ZERO]]
    assert layout.pack(layout.symbols).tolist() == [a, b, c, x]
