"""The garbage collector is as it was after every function that pauses it."""

import gc

import pytest

from odesys.expr import gc_pause, graph


def test_the_collector_comes_back_as_it_was() -> None:
    x = graph.sym("x")
    assert gc.isenabled()
    with gc_pause.paused():
        assert not gc.isenabled()
        assert graph.jacobian([x * x], [x])[0][0] is 2 * x  # paused inside, and not switched on by it
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), gc_pause.paused():
        graph.substitute([1 / x], {x: graph.num(0)})
    assert gc.isenabled()
