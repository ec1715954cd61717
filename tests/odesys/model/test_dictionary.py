"""Dictionaries: kinds of Gram matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp

from odesys import Dictionary


def test_gram_matrix_kinds() -> None:
    assert Dictionary(["a", "b"]).orthonormal and Dictionary(["a", "b"], np.eye(2)).orthonormal
    exact = Dictionary(["a", "b"], [[2, sp.Rational(1, 2)], [Fraction(1, 2), 1]])
    assert exact.gram == ((2, Fraction(1, 2)), (Fraction(1, 2), 1)) and not exact.orthonormal
    assert isinstance(Dictionary(["a"], [[1.5]]).gram[0][0], float)
    mixed = Dictionary(["a", "b"], [[1, 0.5], [0.5, 1.0]])
    assert all(isinstance(value, float) for row in mixed.gram for value in row), "one float makes the matrix float"


def test_inner_products_that_are_fractions_stay_exact() -> None:
    assert Dictionary(["a"], [[Fraction(1, 3)]]).gram == ((Fraction(1, 3),),), "no float is a third"
