"""Self-scores of programs eliminated: the same systems as those of models, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derivations.two_mixture.dynamics import full_flow
from odesys import gradient_descent, integrate
from odesys.errors import SlavingError
from tests.toy_programs import pair, two_mixture


def test_two_mixture_slaves_as_its_model():
    new, old = two_mixture().quotient().slaved(), full_flow().quotient().slaved()
    assert new.system.names == old.system.names
    assert all(a is b for a, b in zip(new.system.nodes, old.system.nodes, strict=True))
    assert new.needs == old.needs == ("omega",)


def test_the_full_flow_slaves_numerically():
    flow = pair()
    slaved = flow.slaved()
    assert slaved.system.dimension == 12
    start = slaved.initial_state(omega=0.5)
    run = integrate(slaved.system, start, (0.0, 2.0), parameters={"omega": 0.5})
    full = integrate(flow.system, flow.initial_state(omega=0.5), (0.0, 2.0))
    assert np.abs(slaved.bind(omega=0.5).lift(run.states[-1]) - full.states[-1]).max() < 1e-7


def test_programs_without_a_pair_are_refused():
    with pytest.raises(SlavingError, match="gradient steps"):
        pair(gradient_descent).slaved()
    for more in ({"rates": {"W_K": 2}}, {"decay": Fraction(1, 10)}, {"train": "w W_K"}):
        with pytest.raises(SlavingError, match="there is none here"):
            pair(**more).slaved()
