"""Proof of Lemma D.8, (116)-(131): the change of the key matrix, order by order, given the propositions of both stages."""

from __future__ import annotations

import sympy as sp

from odesys import Verdict, always_positive, decided, equal, sym

from ..laboratory import Laboratory
from .book import NUMBERS, book
from .common_hypotheses import ENOUGH, STAGES_BENIGN, UNLIKELY, WIDE_FOR_EPSILON, given

#: |mu|, sigma_p d^(1/2), N, d_h^(1/4), log(6N^2M^2/delta), log O(1/eps), sigma_h, eps, eta, tokens
MU, SIGMA, N, R, L, LG, SH, EPS, ETA, M = sp.symbols("mu sigma N R L lg sigma_h eps eta M", positive=True)
LONG = sp.Symbol("long", positive=True)  # max{|mu|, sigma_p d^(1/2)}
SNR = MU / SIGMA


X, Y, Z = sp.symbols("x y z", positive=True)  # sizes and times that are put into a product


def same(left: sp.Expr, right: sp.Expr, at: dict[sp.Symbol, sp.Expr], *steps: str) -> Verdict:
    """Two sizes are equal, with these sizes put in."""
    found = sp.powsimp(sp.expand_power_base(left.subs(at, simultaneous=True) / right, force=True), force=True)
    gap = sp.cancel(found - 1)
    verdict = decided(gap == 0, {"difference": str(gap)}).stating({str(right): (left, "=", right)}, at=at)
    return verdict.proving(*steps)


def step(signal: sp.Expr, noise: sp.Expr) -> sp.Expr:
    """(117): eta/(NM) times N max|X| times (force of the signal's row |q_+| + force of the M - 1 noise rows |q_n,i|)."""
    norms = SH * R**2
    return ETA / M * LONG * (signal * MU * norms + (M - 1) * noise * SIGMA * norms)


def largest_quotient() -> Verdict:
    """(h + ax)/(1 + r^2 x^2) <= h + a/(2r): the inequality ax + b/x >= 2 (ab)^(1/2) that is quoted for (256)."""
    h, a, r, x = (sym(name) for name in ("h", "a", "r", "x"))
    left = (h + a / (2 * r)) * (1 + r**2 * x**2) - (h + a * x)
    return equal(
        {"room": (left, h * r**2 * x**2 + a / (2 * r) * (1 - r * x) ** 2)}, positive=("h", "a", "r", "x")
    ).proving(
        "(h + ax)/(1 + r^2 x^2) <= h + a/(2r): the room is h r^2 x^2 + a (1 - rx)^2/(2r)",
        "x (x - 1) >= x^2/2 for x >= 2 steps; at x <= 1 the quotient is at most h + a, and a <= d_h^(-1/2) by (6)",
    )


def jacobian_size() -> Verdict:
    """Sum of the sizes of all entries of diag(p) - p'p, 2 sum p_i(1 - p_i), is at most 4 (1 - p_1)."""
    p = sym("p")
    found = equal({"signal": ((1 - p) - p * (1 - p), (1 - p) ** 2), "noise": (p - p * (1 - p), p**2)})
    return found.proving(
        "entries p_i(1 - p_i) and p_i p_j add up to 2 sum p_i(1 - p_i); the signal's term is at most 1 - p_1, each other at most p_j",
        "together 4 (1 - p_1), and 1 - p_1 is the attention on noise, (64) and (65)",
        M="every",
    )


def last_step() -> Verdict:
    """(130): the three terms over sigma_h d_h^(1/2), at d_h^(1/2) = x^2 N L^4/eps, x = max{SNR, 1/SNR}, log O(1/eps) <= L."""
    x, l, e, n = (1 + sym(name) for name in ("x", "l", "e", "n"))  # L = 1 + l, 1/eps = 1 + e, N = 1 + n
    root = x**2 * n * l**4 * e
    squares = {
        "first": root - n,
        "second, squared": root - n * l**2 * x**2,  # N (1 + 1/SNR)^2 L^2 <= 4 N x^2 L^2
        "third": root - x * n * l**4 * e,
    }
    return always_positive(squares, positive=["x", "l", "e", "n"]).proving(
        "N, N^(1/2) x L d_h^(1/4) and x N L^3 log O(1/eps)/eps are at most d_h^(1/2), up to constants, where (1) has the eighth power of the logarithm"
    )


@book.claim(
    "Eq.116-130",
    "Change of the key matrix",
    kind="order",
    uses=["D.4", "Prop.B-E", "Prop.F-I", "Eq.62-71"],
    insensitive=NUMBERS,
    origin="proof",
    source="damaged",
    where="Proof of Lemma D.8, (116), (122)-(131); (117)-(121) are not legible, of (129) only its place in (130)",
    parts=("(122)", "(123)", "(124)", "(125)", "(126), (127)", "(128)", "(130)", "(131)"),
    hypotheses=(
        *STAGES_BENIGN,
        ENOUGH,
        UNLIKELY,
        WIDE_FOR_EPSILON,
        given("B(t), C(t), D(t), F(t), G(t), (64) and (65)"),
    ),
    statement=r"\|J_{n,1}\|_F\|X_nW_Vw_O\|_F=O(N^{1/2}d_h^{-1/4}\mathcal L),\ \|J_{n,i}\|_F\|X_nW_Vw_O\|_F=O(\mathrm{SNR}\,N^{1/2}d_h^{-1/4}\mathcal L),\ \|W_K^{(T_2)}-W_K^{(T_1)}\|_F\le O(N^{1/2}(1+\mathrm{SNR}^{-1})\sigma_hd_h^{1/4}\mathcal L),\ \ldots,\ \|W_K^{(T_3)}-W_K^{(0)}\|_F=O(N\sigma_h)+\ldots=O(\sigma_hd_h^{1/2}),\quad\mathcal L=\log(6N^2M^2/\delta),\ J_{n,i}=\mathrm{diag}(\varphi_{n,i})-\varphi_{n,i}^\top\varphi_{n,i}",
    reading="Given B(t), D(t), F(t), norms of C(t), G(t), and (64), (65); the sum of (116), every printed order from the one before.",
)
def change_of_keys(lab: Laboratory) -> dict[str, Verdict]:
    """Sizes as monomials; where two differ, their difference is positive in both cases of the maximum."""
    quotient = largest_quotient()
    a, w = ETA * MU**2, sp.Integer(1)  # |w_O| is a constant
    speed = {"(122)": ETA * MU**2 * R / (sp.sqrt(N) * L), "(123)": ETA * MU * SIGMA * R / (sp.sqrt(N) * L)}
    size = {"(122)": sp.sqrt(N) * L / R * w, "(123)": SNR * sp.sqrt(N) * L / R * w}
    out = {
        part: quotient
        & same(
            X / Y,
            size[part],
            {X: a, Y: speed[part]},
            "a over r, the root of the factor in B(t) and D(t), is the printed order",
        )
        for part in speed
    }
    out["(123)"] = out["(123)"].proving("d_h^(-1/4) alone is smaller, as N SNR^2 and the logarithm are at least 1")
    two = ETA * LONG * sp.sqrt(N) * MU * SH * R * L
    forces = {X: size["(122)"], Y: size["(123)"]}
    out["(124)"] = same(step(X, Y), two, forces, "both rows give the same, and M/M = 1")
    z, x = sym("z"), sym("x")  # the smaller of the two lengths, and by how much the other is longer
    over = always_positive(
        {"|mu| longer": 1 + z / (z + x) - 1, "noise longer": 1 + (z + x) / z - (z + x) / z}, positive=["z", "x"]
    )
    out["(125)"] = over & same(
        two * X,
        LONG / MU * sp.sqrt(N) * SH * R * L,
        {X: 1 / (ETA * MU**2)},
        "(124) times 1/(eta mu^2), |w_O| a constant; max{1, 1/SNR} <= 1 + 1/SNR",
    )
    out["(126), (127)"] = jacobian_size()
    late = {X: N * L**3 / R**2, Y: N * SNR**2 * L**3 / R**2}
    three = ETA * LONG**2 * N * MU * L**3 * LG * SH / SIGMA
    bound = same(
        step(X, Y) * LG * M,
        three * (SIGMA + (M - 1) * MU) / LONG,
        late,
        "the quotient is (sigma_p d^(1/2) + (M - 1)|mu|)/(M max), at most 1",
    )
    out["(128)"] = out["(126), (127)"] & bound
    summed = same(
        three * X,
        LONG**2 * N * L**3 * LG * SH / (EPS * MU * SIGMA),
        {X: 1 / (ETA * EPS * MU**2)},
        "(128) times T_3 is the third term of (130)",
    )
    first = same(
        step(X, Y) * Z,
        LONG * (MU + (M - 1) * SIGMA) / (M * MU**2) * SH,
        {X: 1 / R, Y: 1 / R, Z: 1 / (R * ETA * MU**2)},
        "stage 1: forces of the size d_h^(-1/4) of V, T_1 = O(d_h^(-1/4)/(eta mu^2)): max{1, SNR^-2} sigma_h, which is O(N sigma_h) by N SNR^2 >= 1",
    )
    out["(130)"] = out["(125)"] & summed & first & last_step()
    norm, keys = MU * SH * R**2, SH * R**2
    out["(131)"] = same(X * Y, MU * SH**2 * R**4, {X: norm, Y: keys}, "|q_+| of G(t) times (130)")
    return {
        part: verdict.arguing("argues in words: from one printed order to the next") for part, verdict in out.items()
    }
