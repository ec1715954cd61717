"""Measurements: bands, orders and probabilities, each with a twin that fails or decides nothing."""

from __future__ import annotations

import numpy as np
import pytest

from odesys.errors import OdesysError
from odesys.papers.draw import Draw
from odesys.papers.measurement import (
    Measurement,
    _halves,
    _reach,
    calibrated,
    measure,
    over_seeds,
    success_interval,
    with_high_probability,
)
from odesys.verdicts import measured, undecided


def powers(exponent: float, decades: float, noise: float = 0.0, count: int = 9) -> Measurement:
    rng = np.random.default_rng(0)
    points = tuple({"m": float(m)} for m in np.geomspace(1.0, 10.0**decades, count))
    return Measurement("gap", points, [p["m"] ** exponent * np.exp(noise * rng.normal()) for p in points])


def test_between() -> None:
    seen = measure("ratio", [{"x": 1.0}, {"x": 2.0}], lambda p: p["x"] / 4)
    inside = seen.between(0.0, 0.5, "twice the first")
    assert inside.as_stated == "holds" and inside.scope == {"x": [1.0, 2.0]}
    assert inside.tolerance is not None and inside.tolerance.because == "twice the first"
    outside = seen.between(0.0, 0.4, "less")
    assert outside.as_stated == "fails" and outside.witness.point == {"x": 2.0}
    assert outside.witness.sentence == "at x = 2 (all hypotheses hold) ratio is 0.5, which is not in 0 .. 0.4"
    assert measure("ratio", [{"x": 1.0}], lambda p: float("nan")).between(0, 1, "").as_stated == "fails"


@pytest.mark.parametrize(
    ("exponent", "claimed", "kind", "towards", "answer"),
    [
        (-0.5, -0.5, "Theta", "infinity", "holds"),
        (-0.5, -0.4, "Theta", "infinity", "fails"),
        (-0.5, -0.4, "O", "infinity", "holds"),  # smaller than claimed
        (-0.5, -0.7, "O", "infinity", "fails"),
        (-0.5, -0.7, "Omega", "infinity", "holds"),
        (-0.5, -0.3, "Omega", "infinity", "fails"),
        (2.0, 1.0, "O", "zero", "holds"),  # m^2 = O(m) as m -> 0
        (1.0, 2.0, "O", "zero", "fails"),
    ],
)
def test_orders(exponent: float, claimed: float, kind: str, towards: str, answer: str) -> None:
    verdict = powers(exponent, 2.0).order("m", claimed, kind, towards)
    assert verdict.as_stated == answer
    if answer == "fails":  # over one decade nothing is refuted
        assert powers(exponent, 1.0).order("m", claimed, kind, towards).as_stated == "undecided"


def test_a_refuted_order_is_seen_at_the_end_of_the_path() -> None:
    witness = powers(-0.5, 2.0).order("m", 1.0).witness
    assert witness.point == {"m": 100.0}
    assert witness.sentence.startswith("as m goes from 1 to 100 (all hypotheses hold) gap has the exponent -0.5")


def test_a_wide_interval_decides_nothing() -> None:
    seen = powers(-0.5, 2.0, noise=0.8)
    assert seen.exponent("m").width > 0.2
    assert seen.order("m", -0.5).as_stated == "undecided"
    assert powers(-0.5, 0.5).order("m", -0.5).as_stated == "undecided"  # less than a decade


def test_an_exponent_needs_points_and_positive_values() -> None:
    with pytest.raises(OdesysError, match="four points or more"):
        powers(1.0, 2.0, count=3).exponent("m")
    with pytest.raises(OdesysError, match="positive values"):
        Measurement("gap", tuple({"m": m} for m in range(1, 6)), [1.0, 1.0, -1.0, 1.0, 1.0]).exponent("m")


def test_shapes_are_checked() -> None:
    with pytest.raises(OdesysError, match="values for 2 points"):
        Measurement("gap", ({"m": 1}, {"m": 2}), [1.0])
    seen = over_seeds("gap", [{"m": 1}, {"m": 2}], lambda p, seeds: [p["m"] + s for s in seeds], (0, 2))
    assert seen.values.tolist() == [[1.0, 3.0], [2.0, 4.0]] and seen.means.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("share", "answer", "count"),
    [(1.0, "holds", 40), (0.0, "fails", 20), (0.8, "undecided", 640), (0.5, "fails", 40)],
)
def test_seeds_are_doubled_until_it_is_decided(share: float, answer: str, count: int) -> None:
    asked: list[int] = []

    def trial(seeds: tuple[int, ...]) -> list[bool]:
        asked.extend(seeds)
        return [(k * 7) % 10 < 10 * share for k in range(len(seeds))]

    verdict = with_high_probability("it is right", {"m": 3}, trial, Draw())
    assert verdict.as_stated == answer and verdict.seeds is not None and verdict.seeds.count == count
    assert asked == list(range(count))
    low, high = success_interval(verdict.seeds.passed, count)
    assert (low, high) == (verdict.seeds.low, verdict.seeds.high)


def test_the_printed_probability_counts() -> None:
    rare = lambda seeds: [s % 20 != 0 for s in seeds]  # noqa: E731
    assert with_high_probability("it is right", {}, rare, Draw()).as_stated == "holds"
    assert with_high_probability("it is right", {}, rare, Draw(), printed=0.9999).as_stated == "fails"


def test_what_can_not_fail_or_be_told_is_refused() -> None:
    seen = measure("ratio", [{"x": 1.0}], lambda p: 1.0)
    for low, high in ((-np.inf, np.inf), (2.0, 1.0)):
        with pytest.raises(OdesysError, match="which no value, or every value, is"):
            seen.between(low, high, "no limit")
    assert seen.between(-np.inf, 2.0, "one end").as_stated == "holds"
    both = tuple({"m": 10.0**k, "omega": 0.1**k} for k in range(5))
    assert Measurement("gap", both, [p["m"] for p in both]).order("m", 1).details["moving along"] == ["omega"]
    with pytest.raises(OdesysError, match="a trial of 20 seeds answers for 3"):
        with_high_probability("it is right", {}, lambda seeds: [True] * 3, Draw())


def test_a_mean_keeps_its_seeds() -> None:
    points = [{"m": 10.0**k} for k in range(5)]
    mean = lambda count: over_seeds("gap", points, lambda p, seeds: [p["m"]] * len(seeds), range(count))  # noqa: E731
    verdict = mean(20).order("m", 1)
    assert verdict.as_stated == "holds" and verdict.seeds is not None and verdict.seeds.used == tuple(range(20))
    with pytest.raises(OdesysError, match="over 19 seeds"):
        mean(19).order("m", 1)


def test_of_a_band_it_is_said_how_many_seeds_are_in_it() -> None:
    rows = [[0.5] * 40, [0.4] * 39 + [2.0]]
    seen = Measurement("share", [{"m": 1.0}, {"m": 2.0}], rows, tuple(range(40)))
    seeds = seen.between(0, 3, "a reason").seeds
    assert seeds is not None and (seeds.passed, round(seeds.low or 0, 3), seeds.high) == (40, 0.827, 1.0)
    few = seen.between(0, 1, "a reason").seeds
    assert few is not None and few.passed == 39


def test_a_calibrated_limit_names_where_it_is_from() -> None:
    first, second = (measure("gap", [{"x": x}], lambda p: p["x"]) for x in (1.0, 1.1))
    verdict = calibrated(first, 1.2, lambda top: second.between(0, top, ""), "20 percent above x = 1")
    assert verdict.as_stated == "holds" and verdict.tolerance is not None
    assert verdict.tolerance.calibrated_on == ({"x": 1.0},)
    with pytest.raises(OdesysError, match=r"calibrated on .*, on which it is judged too"):
        second.between(0, 2, "a part of more, whose limit would not be seen", calibrated_on=[{"x": 1.1}])
    assert calibrated(first, 1.05, lambda top: second.between(0, top, ""), "5 percent").as_stated == "fails"


def test_a_run_that_converges_is_no_power() -> None:
    points = tuple({"omega": 10.0**-k} for k in range(1, 6))
    settling = Measurement("Q", points, [0.86 + 0.3 * p["omega"] for p in points])
    assert settling.order("omega", 0, towards="zero").as_stated == "holds"
    many = tuple({"omega": float(omega)} for omega in np.geomspace(1e-8, 1e-4, 17))
    slowly = Measurement("Q", many, [1 + 0.3 / np.log(1 / p["omega"]) for p in many])
    verdict = slowly.order("omega", 0, towards="zero")  # the fit has no scatter and misses 0; the reader is told
    assert verdict.as_stated == "holds" and "exponent of omega, fit alone" in verdict.details
    assert "exponent of omega, fit alone" not in powers(-0.5, 2.0).order("m", -0.5).details
    assert Measurement("Q", points, [0.4] * 5).order("omega", 0, towards="zero").as_stated == "holds"
    slow = Measurement("log", points, [-np.log(p["omega"]) for p in points])  # unbounded: no Theta(1)
    assert slow.order("omega", 0, towards="zero").as_stated != "holds"


def test_a_small_power_is_a_power() -> None:
    assert powers(0.015, 2.0).order("m", 0).as_stated == "fails", "it does not change on the way, so it is no settling"
    assert powers(0.015, 2.0).order("m", 0, "Omega").as_stated == "holds"
    assert powers(1e-9, 2.0).order("m", 0).as_stated == "holds", "that is solver error"


@pytest.mark.parametrize("first", [2, 3, 4, 6, 9])
def test_a_logarithm_is_told_from_a_correction_of_one_over_it(first: int) -> None:
    points = tuple({"omega": 10.0 ** -(first + k / 2)} for k in range(7))
    unbounded, settling = ([1 + c * np.log(1 / p["omega"]) ** s for p in points] for c, s in ((1e3, 1), (0.3, -1)))
    assert Measurement("log", points, unbounded).order("omega", 0, towards="zero").as_stated != "holds"
    assert Measurement("Q", points, settling).order("omega", 0, towards="zero").as_stated == "holds"
    assert Measurement("Q", points, [1 / v for v in settling]).order("omega", 0, towards="zero").as_stated == "holds"


def test_a_wide_interval_on_the_allowed_side_decides() -> None:
    points = tuple({"omega": 10.0**-k} for k in range(1, 6))
    bent = Measurement("r", points, [p["omega"] ** (3 + 0.1 * k) for k, p in enumerate(points)])
    assert bent.exponent("omega").width > 0.2
    assert bent.order("omega", 1, "O", "zero").as_stated == "holds"
    assert bent.order("omega", 3, "Omega", "zero").as_stated != "holds"


def test_certainty_is_refuted_by_one_seed_and_not_before() -> None:
    """What is printed as certain holds while no seed fails."""
    always, mostly = (lambda seeds: [True] * len(seeds)), (lambda seeds: [s != 30 for s in seeds])
    assert with_high_probability("it is right", {}, always, Draw(), printed=1.0).as_stated == "holds"
    assert with_high_probability("it is right", {}, mostly, Draw(), printed=1.0).as_stated != "holds"


def test_the_interval_of_an_exponent_has_it_as_often_as_it_says() -> None:
    """999 times of 1000, also with few points; an interval a third as long misses it often."""
    rng, missed, short = np.random.default_rng(5), 0, 0
    points = tuple({"m": 10.0 ** (k / 4)} for k in range(5))
    for _ in range(400):
        found = Measurement("gap", points, [p["m"] ** -0.5 * np.exp(0.1 * rng.normal()) for p in points]).exponent("m")
        missed += not found.low <= -0.5 <= found.high
        short += abs(found.value + 0.5) > found.width / 6
        assert found.high - found.value == pytest.approx(found.value - found.low)
        assert found.decades == pytest.approx(1.0)
    assert missed <= 3 and 4 <= short <= 40


def test_the_ends_of_a_band_belong_to_it() -> None:
    seen = measure("ratio", [{"x": 1.0}, {"x": 2.0}], lambda p: p["x"])
    assert seen.between(1.0, 2.0, "both").as_stated == "holds"
    single = measure("ratio", [{"x": 1.0}], lambda p: p["x"])
    assert single.between(1.0, 1.0, "one number").as_stated == "holds"
    for low, high in ((1.0 + 1e-12, 2.0), (1.0, 2.0 - 1e-12)):
        assert seen.between(low, high, "less").as_stated == "fails"


@pytest.mark.parametrize("count", [4, 5, 9])
@pytest.mark.parametrize("level", [0.0, 0.2])
def test_the_interval_of_a_fit_is_students(count: int, level: float) -> None:
    """On both sides of the slope, by the deviations from the line with two degrees of freedom less than points."""
    seen = powers(-0.5, 2.0, noise=level, count=count)
    found = seen.exponent("m")
    x, y = np.log([p["m"] for p in seen.points]), np.log(seen.means)
    slope, shift = np.polyfit(x, y, 1)
    error = np.sqrt(((y - slope * x - shift) ** 2).sum() / (count - 2) / ((x - x.mean()) ** 2).sum())
    margin = {4: 31.5991, 5: 12.9240, 9: 5.4079}[count] * error  # quantiles at 0.9995 with 2, 3 and 7 degrees
    assert (found.low, found.value, found.high) == pytest.approx((slope - margin, slope, slope + margin), rel=1e-4)
    assert found.decades == pytest.approx(2.0) and found.width == pytest.approx(2 * margin, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("value", [2.0, 0.1, 1 / 3, 7e-9])
def test_of_equal_values_the_exponent_is_zero_and_known(value: float) -> None:
    points = [{"m": float(m)} for m in (1, 3, 11, 37, 100)]
    seen = Measurement("Q", points, [value] * 5)
    line, found = seen.exponent("m"), seen.exponent("m", "infinity")
    assert (line.low, line.value, line.high) == (0.0, 0.0, 0.0)
    assert max(abs(found.low), abs(found.high)) < 1e-12


def test_an_exponent_of_the_size_of_solver_error_is_none() -> None:
    """Up to 1e-6, whichever way the parameter goes; twice that is a power."""
    for way, towards in ((1, "infinity"), (-1, "zero")):
        for exponent, theta, upper, lower in (
            (9e-7, "holds", "holds", "holds"),
            (-9e-7, "holds", "holds", "holds"),
            (2e-6, "fails", "fails", "holds"),
            (-2e-6, "fails", "holds", "fails"),
        ):
            points = tuple({"m": 10.0 ** (way * k)} for k in range(5))
            seen = Measurement("gap", points, [p["m"] ** (way * exponent) for p in points])
            answers = [seen.order("m", 0, kind, towards).as_stated for kind in ("Theta", "O", "Omega")]
            assert answers == [theta, upper, lower]


def test_a_wide_interval_with_the_claim_inside_decides_nothing() -> None:
    points = tuple({"omega": 10.0**-k} for k in range(1, 6))
    bent = Measurement("r", points, [p["omega"] ** (3 + 0.1 * k) for k, p in enumerate(points)])
    found = bent.exponent("omega", "zero")
    for part in (0.2, 0.5, 0.8):
        claimed = found.low + part * found.width
        for kind in ("Theta", "O", "Omega"):
            ends = [*(bent.exponent("omega").low, bent.exponent("omega").high), bent.slopes("omega", "zero")[1]]
            clear = {"Theta": False, "O": min(ends) >= claimed, "Omega": max(ends) <= claimed}[kind]
            assert bent.order("omega", claimed, kind, "zero").as_stated == ("holds" if clear else "undecided")


def test_an_order_is_one_of_three_as_a_parameter_goes_to_one_of_two_ends() -> None:
    for kind, towards in (("theta", "infinity"), ("Theta", "one"), ("o", "0")):
        with pytest.raises(OdesysError, match="an order is Theta, O, Omega as a parameter goes to infinity or zero"):
            powers(1.0, 2.0).order("m", 1.0, kind, towards)


def test_a_decade_is_enough_to_confirm() -> None:
    assert powers(-0.5, 1.0).order("m", -0.5).as_stated == "holds"
    assert powers(-0.5, 0.999).order("m", -0.5).as_stated == "undecided"
    assert powers(-0.5, 2.0).order("m", 0.0).as_stated == "fails"
    assert powers(-0.5, 1.999).order("m", 0.0).as_stated == "undecided"


def test_beyond_a_wide_interval_a_claim_on_the_allowed_side_holds_up_to_solver_error() -> None:
    points = tuple({"omega": 10.0**-k} for k in range(1, 6))
    bent = Measurement("r", points, [p["omega"] ** (3 + 0.1 * k) for k, p in enumerate(points)])
    line = bent.exponent("omega")
    ends = [line.low, line.high, bent.slopes("omega", "zero")[1]]
    for room, answer in ((5e-7, "holds"), (-2e-6, "undecided"), (2e-6, "holds"), (-5e-7, "holds")):
        assert bent.order("omega", max(ends) + room, "Omega", "zero").as_stated == answer
        assert bent.order("omega", min(ends) - room, "O", "zero").as_stated == answer


def test_of_a_path_it_is_said_what_else_moves_and_where_only_the_wider_interval_covers() -> None:
    points = tuple({"omega": 10.0**-k, "m": 7.0, "n": float(k)} for k in range(1, 6))
    settling = Measurement("Q", points, [0.86 + 0.3 * p["omega"] for p in points])
    verdict = settling.order("omega", 0, towards="zero")
    assert verdict.details["moving along"] == ["n"]
    line, alone = settling.exponent("omega"), "exponent of omega, fit alone"
    assert not line.low <= 0 <= line.high or alone not in verdict.details
    many = tuple({"omega": float(omega)} for omega in np.geomspace(1e-8, 1e-4, 17))
    slowly = Measurement("Q", many, [1 + 0.3 / np.log(1 / p["omega"]) for p in many])
    line = slowly.exponent("omega")
    assert alone in slowly.order("omega", 0, towards="zero").details and not line.low <= 0 <= line.high
    assert alone not in slowly.order("omega", line.value, towards="zero").details  # the fit covers it
    assert alone not in slowly.order("omega", 3, towards="zero").details  # refuted by both
    assert alone not in slowly.order("omega", -1, "O", towards="zero").details  # clear by both


def test_a_single_seed_decides_nothing() -> None:
    points = [{"m": 10.0**k} for k in range(5)]
    one = over_seeds("gap", points, lambda p, seeds: [p["m"]] * len(seeds), (4,))
    with pytest.raises(OdesysError, match="over 1 seeds"):
        one.order("m", 1)


@pytest.mark.parametrize(("count", "shared"), [(4, 0), (5, 1), (8, 0), (9, 1)])
def test_halves_are_of_the_same_size_and_the_near_one_is_at_the_limit(count: int, shared: int) -> None:
    x = np.random.default_rng(count).permutation(np.arange(count, dtype=float))
    for towards, sign in (("infinity", 1), ("zero", -1)):
        far, near = (np.sort(sign * x[part]).tolist() for part in _halves(x, towards))
        every = np.sort(sign * x).tolist()
        assert len(far) == len(near) == (count + shared) // 2
        assert far == every[: len(far)] and near == every[-len(near) :]


def test_the_reach_of_a_change_brings_a_correction_of_one_over_the_logarithm_to_its_constant() -> None:
    """With r the quotient of the mean logarithms of the halves: sqrt 2 times r^2 / (1 - r^2); 1 where none grows."""
    for x, towards in ((np.arange(2.0, 8), "infinity"), (-np.arange(2.0, 9), "zero")):
        far, near = (np.abs(x[part].mean()) for part in _halves(x, towards))
        r = far / near
        assert _reach(x, towards) == pytest.approx(2**0.5 * r**2 / (1 - r**2))
        slope = lambda mean: 1.0 / mean**2  # noqa: E731  # of 1 + 1/L, by the logarithm itself
        exact = slope(near) + (slope(near) - slope(far)) * _reach(x, towards) / 2**0.5
        assert exact == pytest.approx(0.0, abs=1e-12)
    assert _reach(np.array([-2.0, -1.0, 1.0, 2.0]), "infinity") == _reach(np.arange(2.0, 8), "zero") == 1.0


def test_a_probability_is_decided_beyond_its_threshold_and_not_at_it() -> None:
    always, never = (lambda seeds: [True] * len(seeds)), (lambda seeds: [False] * len(seeds))
    least, largest = success_interval(20, 20)[0], success_interval(0, 20)[1]
    for trial, at, beyond, answer in ((always, least, -1e-9, "holds"), (never, largest, 1e-9, "fails")):
        for threshold, most, wanted, count in (
            (at, 20, "undecided", 20),
            (at, 640, answer, 40),
            (at + beyond, 20, answer, 20),
            (at + beyond, 640, answer, 20),
        ):
            verdict = with_high_probability("it is right", {}, trial, Draw(), threshold, most=most)
            assert (verdict.as_stated, verdict.seeds.count) == (wanted, count)
    high = success_interval(19, 20)[1]
    mostly = lambda seeds: [k != 3 for k in range(len(seeds))]  # noqa: E731
    for printed, answer in ((high, "undecided"), (high + 1e-9, "fails")):
        verdict = with_high_probability("it is right", {}, mostly, Draw(), 0.7, printed, 20)
        assert verdict.as_stated == answer


def test_what_was_calibrated_is_marked_where_it_holds_or_has_a_limit() -> None:
    first = measure("gap", [{"x": 1.0}, {"x": 3.0}], lambda p: p["x"])
    limits: list[float] = []
    plain = calibrated(first, 1.5, lambda top: (limits.append(top), measured(True))[1], "half as much again")
    assert limits == [4.5] and plain.tolerance is not None and plain.tolerance.because == "half as much again"
    assert plain.tolerance.calibrated_on == ({"x": 1.0}, {"x": 3.0})
    bare = undecided("nothing was seen")
    assert calibrated(first, 1.5, lambda top: bare, "half as much again") is bare
    limited = measure("gap", [{"x": 5.0}], lambda p: p["x"]).between(0, 1, "of its own")
    assert calibrated(first, 1.5, lambda top: limited, "half as much again").tolerance.calibrated_on == (
        {"x": 1.0},
        {"x": 3.0},
    )
