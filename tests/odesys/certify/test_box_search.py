"""Minima over boxes: certified, narrow, and rational numbers below them."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from odesys.certify.box_search import Objective, _over, ends, minimise, prove_at_least, rational_below, value_at
from odesys.certify.region import Region
from odesys.errors import EquationError
from odesys.exact.balls import as_ball
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.tape import ARRAYS, Tape
from tests.known_systems import X, Y


@pytest.mark.parametrize(
    "expression",
    [
        (X - sp.Rational(1, 3)) ** 2 + sp.cos(3 * Y) / 2,
        sp.exp(X * Y) - X - Y,
        sp.sin(4 * X) * sp.cos(3 * Y) + X**3,
        sp.Heaviside(X - Y) * (1 - X) - Y / 3,
        sp.sqrt(X**2 + Y**2 + sp.Rational(1, 10)),
    ],
)
def test_minima_are_certified_and_narrow(expression: sp.Expr) -> None:
    objective = Objective(graph.as_node(expression), dict.fromkeys(("x", "y"), (Fraction(-1), Fraction(1))))
    found = minimise([objective], None, Fraction(1, 100), 4000)
    grid = np.linspace(-1, 1, 401)
    xs, ys = np.meshgrid(grid, grid)
    values = sp.lambdify((X, Y), expression, [{"Heaviside": lambda z, _=0: 1.0 * (z > 0)}, "numpy"])(xs, ys)
    assert found.low is not None and float(found.low) <= values.min() + 1e-12
    assert float(found.low) >= values.min() - 0.03 * max(1.0, abs(values.min()))


def test_rational_below_is_below_and_short() -> None:
    for value in (sp.sqrt(2), -sp.pi, sp.Rational(10**20 + 1, 3 * 10**20), sp.exp(-40)):
        short = rational_below(value)
        assert sp.Rational(short) <= value and short.denominator < 10**40
        assert float(short) == pytest.approx(float(value), rel=1e-10)
    assert rational_below(Fraction(3, 7)) == Fraction(3, 7)


UNIT = (Fraction(-1), Fraction(1))


def test_ends_are_exact_and_hold_the_value() -> None:
    assert ends(as_ball(Fraction(3, 4))) == (Fraction(3, 4), Fraction(3, 4))
    low, high = ends(as_ball(Fraction(1, 3)))  # type: ignore[misc]
    assert low < Fraction(1, 3) < high and high - low < Fraction(1, 2**40)
    assert ends(1 / as_ball(0)) is None
    x, y = sym("x"), sym("y")
    point = {"x": Fraction(1, 3), "y": Fraction(-2, 7)}
    found = value_at(x**2 - x * y, point)
    exact = Fraction(1, 9) + Fraction(2, 21)
    assert found is not None and found[0] <= exact <= found[1] and found[1] - found[0] < Fraction(1, 2**40)
    assert value_at(1 / (x - Fraction(1, 2)), {"x": Fraction(1, 2)}) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_level_is_proved_below_the_least_value_and_not_above(seed: int) -> None:
    """Of random quadratic forms, whose least value on the box is looked for on a fine grid."""
    rng = random.Random(seed)
    a, b, c, d, e = (rng.randint(-3, 3) for _ in range(5))
    x, y = sym("x"), sym("y")
    objective = Objective(a * x**2 + b * x * y + c * y**2 + d * x + e * y, {"x": UNIT, "y": UNIT})
    grid = np.linspace(-1, 1, 801)
    xs, ys = np.meshgrid(grid, grid)
    least = Fraction(float((a * xs**2 + b * xs * ys + c * ys**2 + d * xs + e * ys).min())).limit_denominator(10**6)
    assert prove_at_least(objective, least - Fraction(1, 20), None, 2000)
    assert not prove_at_least(objective, least + Fraction(1, 20), None, 2000)
    found = minimise([objective], None, Fraction(1, 100), 4000)
    room = max(1, abs(least)) / 50
    assert found.low is not None and found.seen is not None and least - room < found.low <= found.seen <= least + room
    assert set(found.point) == set(objective.start) and all(-1 <= v <= 1 for v in found.point.values())


def test_a_trail_has_every_box_with_what_was_done_there() -> None:
    x, y = sym("x"), sym("y")
    objective = Objective(x**2 + y**2 - x * y, {"x": UNIT, "y": UNIT})
    trail: list[dict[str, object]] = []
    leaned: list[dict[str, Fraction]] = []
    assert prove_at_least(objective, Fraction(-1, 4), None, 500, lambda _, p: leaned.append(dict(p)), trail)
    open_ones = [entry for entry in trail if "split" in entry]
    assert len(open_ones) == len(leaned) and len(trail) == 2 * len(open_ones) + 1
    assert all(entry["hidden"] == {} for entry in trail if "split" not in entry)
    for entry in open_ones:
        low, high = entry["box"][entry["split"]]  # type: ignore[index]
        assert entry["at"] == (low + high) / 2
    assert not prove_at_least(objective, Fraction(-1, 10**6), None, 3)


def test_conditions_of_a_region_leave_boxes_out() -> None:
    """x - y is at least 1/2 where x >= y + 1/2, and nowhere else that is asked about."""
    x, y = sym("x"), sym("y")
    region = Region({"x": (-1, 1), "y": (-1, 1)}, [x - y - Fraction(1, 2)])
    objective = Objective(x - y, {"x": UNIT, "y": UNIT})
    trail: list[dict[str, object]] = []
    assert prove_at_least(objective, Fraction(1, 4), region, 4000, trail=trail)
    assert not prove_at_least(objective, Fraction(1, 4), None, 4000)
    assert any(entry["box"] is None for entry in trail) or len(trail) > 1
    found = minimise([objective], region, Fraction(1, 50), 4000)
    assert found.low is not None and Fraction(2, 5) <= found.low <= Fraction(1, 2)


@pytest.mark.parametrize("seed", range(12))
def test_a_bound_is_below_every_value_in_its_box_and_near_in_a_small_one(seed: int) -> None:
    """Of random cubics and exponentials: the gap falls with the square of the width."""
    rng = random.Random(seed)
    x, y, z = names = sym("x"), sym("y"), sym("z")
    terms = [a * b * c for a, b, c in product((1, *names), repeat=3)]
    node = sum((rng.randint(-3, 3) * term for term in rng.sample(terms, 6)), x * y - z) + graph.exp(
        x * rng.randint(-1, 1)
    )
    objective = Objective(graph.as_node(node), dict.fromkeys("xyz", (Fraction(-2), Fraction(2))))
    tape = Tape.of([graph.as_node(node)]).over(ARRAYS)
    for width in (Fraction(1), Fraction(1, 8), Fraction(1, 64)) * 4:
        middle = {name: Fraction(rng.randint(-100, 100), 100) for name in "xyz"}
        box = {name: (m - width / 2, m + width / 2 * rng.randint(1, 2)) for name, m in middle.items()}
        grid = np.meshgrid(*(np.linspace(float(low), float(high), 9) for low, high in box.values()))
        (values,) = tape(dict(zip("xyz", grid, strict=True)))
        found = objective.bound(box)
        least = float(np.min(values))
        assert found.low is not None and found.split in box
        assert float(found.low) <= least + 1e-12
        assert least - float(found.low) <= 500 * float(width) ** 2
        assert set(found.point) == set("xyz") and all(box[n][0] <= v <= box[n][1] for n, v in found.point.items())


def test_a_variable_without_width_is_a_number() -> None:
    x, y = sym("x"), sym("y")
    thin = (Fraction(1, 3), Fraction(1, 3))
    found = minimise([Objective((x - y) ** 2 + x, {"x": UNIT, "y": thin})], None, Fraction(1, 1000), 4000)
    alone = minimise([Objective((x - Fraction(1, 3)) ** 2 + x, {"x": UNIT})], None, Fraction(1, 1000), 4000)
    assert found.point == {**alone.point, "y": thin[0]} and found.boxes == alone.boxes
    assert abs(found.low - alone.low) < Fraction(1, 10**15)
    exact = Fraction(1, 12)  # at x = -1/6
    assert found.low <= exact <= found.seen < found.low + Fraction(1, 1000)
    assert found.objective.at(found.point)[0] <= found.seen


def test_what_leans_on_a_hidden_sum_is_put_back_into_its_variables() -> None:
    """Eight variables that enter through two sums only: the search is over the sums, its points are in all eight."""
    names = [f"a{k}" for k in range(4)] + [f"b{k}" for k in range(4)]
    rng = random.Random(3)
    sums = [
        sum((rng.randint(1, 5) * sym(n) ** 3 + sym(n) for n in part), graph.ZERO) for part in (names[:4], names[4:])
    ]
    node = (sums[0] - 2) ** 2 + graph.exp(sums[1] / 10) - sums[0] * sums[1] / 50
    objective = Objective(node, dict.fromkeys(names, UNIT))
    found = minimise([objective], None, Fraction(1, 20), 40)
    assert found.low is not None and found.boxes <= 41 and set(found.point) == set(names)
    assert all(-1 <= v <= 1 for v in found.point.values())
    numbers = np.random.default_rng(1).uniform(-1, 1, (8, 20000))
    (values,) = Tape.of([node]).over(ARRAYS)(dict(zip(names, numbers, strict=True)))
    assert found.low is not None and float(found.low) <= values.min()
    places: list[dict[str, Fraction]] = []
    again = minimise([objective], None, Fraction(1, 20), 40, lambda _, place: places.append(dict(place)))
    assert again.seen == min(objective.at(place)[1] for place in places) and again.low <= again.seen


@pytest.mark.parametrize("digits", [4, 12])
def test_rational_below_is_below_by_less_than_its_last_digit(digits: int) -> None:
    rng = random.Random(digits)
    tiny = sp.sqrt(2) / 10**30
    values = [sp.sqrt(rng.randint(2, 99)) * 10 ** rng.randint(-9, 9) * rng.choice([1, -1]) for _ in range(20)]
    for value in [*values, 1 + tiny, 1 - tiny, -1 - tiny, -1 + tiny, -1000 - tiny, sp.Rational(2, 3) ** 60]:
        short = rational_below(value, digits)
        gap = (value - sp.Rational(short.numerator, short.denominator)).evalf(60)
        assert 0 <= gap <= abs(value) * (10 ** (1 - digits) + 10 ** (4 - 2 * digits)) * (1 + 1e-9)
    assert rational_below(0, digits) == 0 and rational_below(sp.Rational(-5, 7), digits) == Fraction(-5, 7)
    long = Fraction(10**30 + 1, 10**30)
    assert rational_below(long, digits) == 1 and rational_below(-long, digits) == -1 - Fraction(1, 10 ** (digits - 1))


def quadratic(rng: random.Random, size: int) -> tuple[graph.Node, np.ndarray, np.ndarray]:
    """A random quadratic form as a node, its matrix of second derivatives and its slope at zero."""
    names = "xyz"[:size]
    upper = np.array([[rng.randint(-4, 4) if j <= k else 0 for k in range(size)] for j in range(size)])
    slope = np.array([rng.randint(-6, 6) for _ in range(size)])
    terms = [int(upper[j, k]) * sym(names[j]) * sym(names[k]) for j in range(size) for k in range(size) if j <= k]
    return graph.add([*terms, *(int(s) * sym(n) for s, n in zip(slope, names, strict=True))]), upper + upper.T, slope


@pytest.mark.parametrize("seed", range(40))
def test_a_bound_of_a_quadratic_form_is_its_taylor_form_where_slopes_with_a_sign_are_pinned(seed: int) -> None:
    """Slopes of a quadratic form over a box are known exactly: who is pinned, the middle, who is split."""
    rng = random.Random(seed)
    node, bends, slope = quadratic(rng, 3)
    used = [name for name in "xyz" if name in graph.symbols([node])]
    index = ["xyz".index(name) for name in used]
    bends, slope = bends[np.ix_(index, index)].astype(float), slope[index].astype(float)
    divisor = rng.choice([1, 2, 3])
    start = dict.fromkeys("xyz", (Fraction(-9), Fraction(9)))
    objective = Objective(node, start, Fraction(divisor), hiding=(node, {}))
    assert objective.variables == used
    middle = np.array([rng.randint(-16, 16) / 8 for _ in used])
    radius = np.array([rng.choice([1, 2, 3, 5]) / 8 for _ in used])
    box = {n: (Fraction(m - r), Fraction(m + r)) for n, m, r in zip(used, middle, radius, strict=True)}
    at = slope + bends @ middle
    reach = np.abs(bends) @ radius
    low, high = at - reach, at + reach
    if np.any(np.isclose(low, 0) | np.isclose(high, 0)):
        return  # which of the two a slope that is zero at an end is depends on rounding
    pinned = (low > 0) | (high < 0)
    centre = np.where(low > 0, middle - radius, np.where(high < 0, middle + radius, middle))
    open_radius = np.where(pinned, 0, radius)
    value = slope @ centre + centre @ bends @ centre / 2
    first = value - np.maximum(np.abs(low), np.abs(high)) @ open_radius
    second = value - np.abs(slope + bends @ centre) @ open_radius - open_radius @ np.abs(bends) @ open_radius / 2
    found = objective.bound(box)
    corners = np.array(list(product(*([-1, -0.5, 0, 0.5, 1] for _ in used)))) * radius + middle
    least = min(slope @ c + c @ bends @ c / 2 for c in corners)
    assert found.low is not None
    assert max(first, second) / divisor - 1e-6 <= float(found.low) <= least / divisor + 1e-9
    assert [float(found.point[n]) for n in used] == pytest.approx(centre.tolist())
    cost = {n: max(abs(a), abs(b)) * r for n, a, b, r in zip(used, low, high, radius, strict=True)}
    choice = [n for n, p in zip(used, pinned, strict=True) if not p] or used
    assert cost[found.split] == pytest.approx(max(cost[n] for n in choice))
    assert found.split in choice
    if pinned.all():
        assert float(found.low) * divisor == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_slopes_over_a_box_are_sharper_by_second_derivatives_and_still_hold(seed: int) -> None:
    """Of x^2 y - x y^2 and random companions: balls of slopes over the box, and those from the middle of it."""
    rng = random.Random(seed)
    x, y = sym("x"), sym("y")
    node = graph.exp(x / 2) * y + rng.randint(-3, 3) * x**2 * y - x * y**2 + rng.randint(-3, 3) * x**3
    objective = Objective(node, {"x": UNIT, "y": UNIT})
    box = {n: (m, m + Fraction(1, 16)) for n, m in zip("xy", (Fraction(rng.randint(-8, 8), 16),) * 2, strict=True)}
    exact = {n: (as_ball(low) + as_ball(high)) / 2 for n, (low, high) in box.items()}
    assert set(exact) == set(objective.variables)
    direct = _over(objective._slopes, box)
    curves = dict(zip(objective._bends, _over(list(objective._bends.values()), box), strict=True))
    sharp = objective._sharper(direct, curves, box, {})
    assert all(float(a.rad()) <= float(b.rad()) + 1e-7 for a, b in zip(sharp, direct, strict=True))
    for u, v in product(range(5), repeat=2):
        place = {n: low + (high - low) * k / 4 for (n, (low, high)), k in zip(box.items(), (u, v), strict=True)}
        for ball, slope in zip(sharp, objective._slopes, strict=True):
            ends_here = value_at(slope, place)
            assert ends_here is not None and ball.overlaps(as_ball(ends_here[0]).union(as_ball(ends_here[1])))
    for j, ball in enumerate(sharp):
        reach = sum(float(abs(curve).upper()) / 32 for pair, curve in curves.items() if j in pair)
        assert float(ball.rad()) <= reach + 1e-7
    assert objective._sharper(direct, {}, box, {}) == direct


def test_a_corner_where_all_slopes_have_a_sign_is_the_exact_minimum() -> None:
    x, y = sym("x"), sym("y")
    objective = Objective(graph.exp(x) - 3 * y + x * y / 4, {"x": UNIT, "y": UNIT})
    found = minimise([objective], None, Fraction(1, 100), 100)
    assert found.attained and found.boxes == 1 and found.point == {"x": -1, "y": 1}
    exact = np.exp(-1) - 3 - 1 / 4
    assert float(found.low) == pytest.approx(exact, abs=1e-15) and found.low <= found.seen
    inside = minimise([Objective((x - Fraction(1, 3)) ** 2 + 1, {"x": UNIT})], None, Fraction(1, 100), 400)
    assert not inside.attained and abs(float(inside.point["x"]) - 1 / 3) < 0.1


def test_a_divisor_divides_bounds_and_values() -> None:
    x = sym("x")
    plain, third = (Objective(x**2 + x, {"x": UNIT}, Fraction(d)) for d in (1, 3))
    box = {"x": (Fraction(-1, 4), Fraction(1, 2))}
    assert third.bound(box).low == plain.bound(box).low / 3
    assert third.at({"x": Fraction(1, 2)}) == (Fraction(1, 4), Fraction(1, 4))
    assert Objective(1 / x, {"x": UNIT}).at({"x": Fraction(0)}) is None


def test_a_jump_is_bounded_without_slopes_and_split_where_the_box_is_widest() -> None:
    """Of step(x - y) + x over parts of [0, 4] x [0, 1]: the widest is that by its share of the whole."""
    x, y = sym("x"), sym("y")
    objective = Objective(
        graph.step(x - y) + x, {"x": (Fraction(0), Fraction(4)), "y": (Fraction(0), Fraction(1))}, Fraction(2)
    )
    box = {"x": (Fraction(0), Fraction(1)), "y": (Fraction(1, 4), Fraction(3, 4))}
    found = objective.bound(box)
    assert found.split == "y" and found.point == {"x": Fraction(1, 2), "y": Fraction(1, 2)}
    assert found.low == 0 or -Fraction(1, 10**9) < found.low <= 0
    wide = objective.bound({**box, "x": (Fraction(0), Fraction(3))})
    assert wide.split == "x"
    narrow = {"x": (Fraction(1, 2), Fraction(1, 2)), "y": (Fraction(1, 2) - Fraction(1, 10**9), Fraction(1, 2))}
    assert objective.bound(narrow).split is None
    pole = Objective(1 / x, {"x": UNIT}).bound({"x": UNIT})
    assert pole.low is None and pole.split == "x" and pole.point == {"x": 0}
    smooth = objective.bound({"x": (Fraction(2), Fraction(3)), "y": (Fraction(0), Fraction(1))})
    assert smooth.low == Fraction(3, 2) and smooth.point["x"] == 2


@pytest.mark.parametrize("seed", range(4))
def test_the_range_of_an_expression_holds_its_values_and_the_points_where_it_is_least_and_largest(seed: int) -> None:
    rng = random.Random(seed)
    x, y = sym("x"), sym("y")
    node = rng.randint(1, 3) * x * y + graph.exp(x) * rng.randint(-2, 2) + y**3
    objective = Objective(node, {"x": UNIT, "y": UNIT})
    box = {"x": (Fraction(-1), Fraction(0)), "y": (Fraction(-1, 2), Fraction(1))}
    (low, high), least, most = objective.range(box)
    xs, ys = np.meshgrid(np.linspace(-1, 0, 101), np.linspace(-0.5, 1, 101))
    (values,) = Tape.of([node]).over(ARRAYS)({"x": xs, "y": ys})
    wide = values.max() - values.min()
    assert values.min() - 0.15 * wide <= low <= values.min() + 1e-12
    assert values.max() - 1e-12 <= high <= values.max() + 0.15 * wide
    ends_of = [float(objective.at(point)[0]) for point in (least, most)]
    assert ends_of == pytest.approx([values.min(), values.max()], abs=0.3 * wide)
    assert objective.range(box)[0] == (low, high)
    with pytest.raises(EquationError, match="no finite range"):
        Objective(1 / x, {"x": UNIT}).range({"x": UNIT})


def test_a_search_ends_with_its_boxes_at_what_is_enough_or_in_an_empty_region() -> None:
    x, y = sym("x"), sym("y")
    objective = Objective((x - y) ** 2 * (x + y) ** 2 + x * y / 7, {"x": UNIT, "y": UNIT})
    for boxes in (1, 9, 30):
        found = minimise([objective], None, Fraction(1, 10**9), boxes)
        assert boxes <= found.boxes <= boxes + 1
    asked: list[Fraction | None] = []
    early = minimise([objective], None, Fraction(1, 10**9), 500, enough=lambda low: asked.append(low) is None)
    assert early.boxes < 20 and asked[-1] == early.low
    half = {"x": (Fraction(0), Fraction(1)), "y": (Fraction(1, 2), Fraction(1))}
    part = minimise([objective], None, Fraction(1, 100), 300, start=half)
    assert (
        part.low is not None
        and float(part.low) > -1e-3
        and all(half[n][0] <= v <= half[n][1] for n, v in part.point.items())
    )
    with pytest.raises(EquationError, match="the region is empty"):
        minimise([objective], Region({"x": (-1, 1), "y": (-1, 1)}, [x + y - 3]), Fraction(1, 10), 10)


def test_the_least_of_several_expressions_is_found_with_the_one_it_belongs_to() -> None:
    x, y = sym("x"), sym("y")
    objectives = [Objective(node, {"x": UNIT}) for node in (x**2 - x, x**2 + x - Fraction(1, 2), 3 + x)]
    found = minimise(objectives, None, Fraction(1, 100), 500)
    assert found.objective is objectives[1] and abs(found.point["x"] + Fraction(1, 2)) < Fraction(1, 10)
    assert found.low <= Fraction(-3, 4) <= found.seen <= found.low + Fraction(3, 400) + Fraction(1, 10**9)
    visited: list[graph.Node] = []
    minimise(objectives, None, Fraction(1, 100), 500, lambda objective, _: visited.append(objective.node))
    assert set(visited) == {o.node for o in objectives} and y not in visited


def test_points_seen_in_a_region_are_inside_it() -> None:
    """The least value of x + 2 y where x + y >= 1 is 1, at the corner (1, 0); points outside are not counted."""
    x, y = sym("x"), sym("y")
    region = Region({"x": (0, 1), "y": (0, 1)}, [x + y - 1])
    seen: list[dict[str, Fraction]] = []
    box = dict.fromkeys("xy", (Fraction(0), Fraction(1)))
    found = minimise([Objective(x + 2 * y, box)], region, Fraction(1, 50), 2000, lambda _, p: seen.append(dict(p)))
    assert found.low is not None and Fraction(49, 50) <= found.low <= 1 <= found.seen <= Fraction(51, 50)
    assert any(region.contains(p) for p in seen)


def test_a_level_that_is_the_least_value_itself_is_proved_where_balls_are_exact() -> None:
    x, y = sym("x"), sym("y")
    unit = (Fraction(0), Fraction(1))
    objective = Objective(2 * x + y, {"x": unit, "y": unit})
    assert prove_at_least(objective, Fraction(0), None, 1)
    assert not prove_at_least(objective, Fraction(1, 10**6), None, 10)
    bent = Objective((x - Fraction(1, 2)) ** 2, {"x": unit})
    needed: list[dict[str, object]] = []
    assert prove_at_least(bent, Fraction(-1, 1000), None, 1000, trail=needed)
    assert prove_at_least(bent, Fraction(-1, 1000), None, len(needed))
    assert not prove_at_least(bent, Fraction(-1, 1000), None, len(needed) // 2)


def test_the_first_box_is_seen_without_what_can_be_hidden() -> None:
    """x e^(x + s) with s = y z + z hidden: over the whole box nothing but the coarse form is looked at."""
    x, y, z = sym("x"), sym("y"), sym("z")
    objective = Objective(x * graph.exp(x + y * z + z), dict.fromkeys("xyz", UNIT))
    assert objective.parts.keys() == {"hidden_1"} and objective.variables == ["hidden_1", "x"]
    whole = objective.bound(dict.fromkeys("xyz", UNIT))
    assert whole.low == objective._blurred.bound(dict.fromkeys("xyz", UNIT)).low
    assert float(whole.low) <= -np.exp(-1) + 1e-12
    small = {n: (Fraction(1, 4), Fraction(3, 8)) for n in "xyz"}
    found = objective.bound(small)
    least = 0.25 * np.exp(0.25 + 0.25 * 0.25 + 0.25)
    assert 0.9 * least <= float(found.low) <= least
    assert found.point == dict.fromkeys("xyz", Fraction(1, 4)), "its slopes are positive: least at the lower ends"
    falling = Objective(-x * graph.exp(x + y * z + z), dict.fromkeys("xyz", UNIT))
    assert falling.bound(small).point == dict.fromkeys("xyz", Fraction(3, 8))


def test_what_was_chosen_to_be_hidden_is_hidden_in_the_first_box_too() -> None:
    """With x - y hidden by choice the whole box is bounded by the chosen form, as any other box is."""
    x, y, s = sym("x"), sym("y"), sym("sum_1")
    start = {"x": UNIT, "y": UNIT}
    objective = Objective(graph.exp(x - y) + (x - y), start, hiding=(graph.exp(s) + s, {"sum_1": x - y}))
    assert objective.variables == ["sum_1"]
    found = objective.bound(start)
    assert float(found.low) == pytest.approx(np.exp(-2) - 2, abs=1e-12) and found.point == {"x": -1, "y": 1}
    assert found.split in ("x", "y")


def test_short_numbers_keep_their_last_digit() -> None:
    """A denominator of as many digits is left alone; one more digit is cut."""
    assert rational_below(Fraction(10**5 + 1, 10**3 - 1), 3) == Fraction(10**5 + 1, 10**3 - 1)
    assert rational_below(Fraction(12345, 10**4), 3) == Fraction(123, 100)
    assert rational_below(Fraction(-12345, 10**4), 3) == Fraction(-124, 100)
    assert rational_below(Fraction(7, 10**3), 3) == Fraction(7, 1000) and rational_below(
        Fraction(1, 3001), 3
    ) == Fraction(333, 10**6)


def test_many_variables_are_bounded_by_first_derivatives_alone() -> None:
    """Of the sum of (x_k - 1/4)^2 over 20 variables: f(m) - sum of the largest slope times the radius."""
    names = [f"x{k}" for k in range(20)]
    node = graph.add((sym(n) - Fraction(1, 4)) ** 2 for n in names)
    objective = Objective(node, dict.fromkeys(names, UNIT), hiding=(node, {}))
    assert objective._bends == {}
    box = dict.fromkeys(names, (Fraction(0), Fraction(1, 2)))
    found = objective.bound(box)
    assert -20 * 0.5 * 0.25 - 1e-6 <= float(found.low) <= 0 and set(found.point.values()) == {Fraction(1, 4)}
    away = objective.bound(dict.fromkeys(names, (Fraction(1, 2), Fraction(3, 4))))
    assert float(away.low) == pytest.approx(20 / 16) and set(away.point.values()) == {Fraction(1, 2)}
