#!/usr/bin/env python
"""Re-check a certificate written by `Enclosure.to_file`, sharing no code with the engine.

For every step, with X the tight and B the rough box of the file: Picard's test X + [0, h] F(B) inside B; the solution
from the middle of X by Taylor coefficients (recurrences of this file's own), remainder over B, widened by the growth
e^(hM) of the radii (M bounds the Jacobian over B, found by forward differentiation), lies inside the next X; where the
file has frames, by the derivative of the flow instead (`check_frames.py`). Claims:
the sign of an expression on all steps, or from .. until, by halving time; at the start it is divided by a power of time
where its leading coefficients are zero, exactly (`check_start.py`). Taken from the file: that its table is the model.

usage: check_enclosure.py FILE      exit code 0: all checks passed, 1: something failed, 2: not a certificate
"""

import json
import sys
from fractions import Fraction as Q
from functools import reduce
from itertools import pairwise
from pathlib import Path

from flint import arb, arb_mat, ctx, fmpq

Failure = type("Failure", (Exception,), {})


def require(true, text):
    if not true:
        raise Failure(text)


def ball(low, high=None):
    ends = Q(low), Q(low if high is None else high)
    require(ends[0] <= ends[1], f"the interval [{low}, {high}] is empty")
    return arb(fmpq(*ends[0].as_integer_ratio())).union(arb(fmpq(*ends[1].as_integer_ratio())))


def inside(value, ends):
    """Is the ball inside the interval of two rational strings, compared exactly?"""
    if not value.is_finite():
        return False
    mid, rad = value.mid().fmpq(), value.rad().fmpq()
    low, high = (fmpq(Q(e).numerator, Q(e).denominator) for e in ends)
    return low <= mid - rad <= mid + rad <= high


class Jet:
    """Taylor coefficients of every row of the table, one order at a time."""

    def __init__(self, rows, env):
        self.env, self.c, self.aux = env, [[] for _ in rows], [[] for _ in rows]  # aux: partial products, or y (1 - y)

    def coefficient(self, n, op, arg, k):
        c = self.c
        if op in ("num", "sym"):
            column = [ball(arg)] if op == "num" else self.env[arg]
            return column[k] if k < len(column) else arb(0)
        if op == "add":
            return sum((ball(w) * c[i][k] for w, i in arg), arb(0))
        if op == "mul":
            self.aux[n] = self.aux[n] or [([], []) for _ in arg]  # per factor: its power, the product up to it
            for (i, e), (power, product), before in zip(arg, self.aux[n], [None, *self.aux[n][:-1]], strict=True):
                power.append(self.power(c[i], power, Q(e), k))
                product.append(power[k] if before is None else conv(before[1], power, k))
            return self.aux[n][-1][1][k]
        a = c[arg]
        if op == "step":
            require(a[0] > 0 or a[0] < 0, f"a gate is undecided on {a[0].str(5)}")
            return arb(int(a[0] > 0)) if k == 0 else arb(0)
        if op in ("exp", "sigmoid"):  # y' = y a' and y' = y (1 - y) a'
            if k == 0:
                y = a[0].exp() if op == "exp" else 1 / (1 + (-a[0]).exp())
                self.aux[n].append(y if op == "exp" else y * (1 - y))
                return y
            y = sum((j * a[j] * self.aux[n][k - j] for j in range(1, k + 1)), arb(0)) / k
            self.aux[n].append(y if op == "exp" else y - conv([*c[n], y], [*c[n], y], k))
            return y
        raise Failure(f"this checker does not know the function {op}")

    @staticmethod
    def power(a, y, e, k):  # a y' = e y a'
        if e == 1:
            return a[k]
        if (e.denominator == 1 and 2 <= e <= 4) or not (a[0] > 0 or a[0] < 0 or e.denominator > 1 or e < 0):
            return conv(whole(a[: k + 1], int(e) - 1), a, k)
        if k == 0:
            return a[0].root(e.denominator) ** e.numerator if a[0] > 0 or e.denominator == 1 else arb.nan()
        return sum(((ball(e) * j - (k - j)) * a[j] * y[k - j] for j in range(1, k + 1)), arb(0)) / (k * a[0])


def conv(a, b, k):
    return sum((a[j] * b[k - j] for j in range(k + 1)), arb(0))


def whole(a, e):
    return a if e == 1 else [conv(whole(a, e - 1), a, k) for k in range(len(a))]


def solve(data, params, box, time, length):
    """Coefficients of the solution from `box`, and of all rows of the table along it."""
    env = {"t": [time, arb(1)], **{p: [v] for p, v in params.items()}}
    env |= {s: [x] for s, x in zip(data["states"], box, strict=True)}
    jet = Jet(data["nodes"], env)
    for k in range(length):
        for n, (op, arg) in enumerate(data["nodes"]):
            jet.c[n].append(jet.coefficient(n, op, arg, k))
        for s, row in zip(data["states"], data["equations"], strict=True):
            env[s].append(jet.c[row][k] / (k + 1))
    return [env[s] for s in data["states"]], jet


def horner(cs, x):
    return reduce(lambda total, c: total * x + c, reversed(cs), arb(0))


def positive(model, a, b, relation, depth=24):
    whole_, mid, c = ball(a, b), ball((a + b) / 2), (a + b) / 2
    slope = horner([k * x for k, x in enumerate(model)][1:], whole_)
    for value in (horner(model, whole_), horner(model, mid) + slope * (whole_ - mid)):
        if value > 0 or (relation == ">=0" and value >= 0):
            return True
    return depth > 0 and all(positive(model, *half, relation, depth - 1) for half in ((a, c), (c, b)))


def check(data):
    sys.path.insert(0, str(Path(__file__).parent))  # python may run isolated
    from check_frames import framed_image, growth, starts_framed
    from check_start import vanishing

    if data.get("format") != "odesys-enclosure" or data.get("version") != 1:
        raise ValueError("not an odesys enclosure")
    ctx.prec, order, names, claims = int(data["precision"]), int(data["order"]), data["states"], data["claims"]
    params, steps = {p: ball(*ends) for p, ends in data["parameters"].items()}, [*data["steps"], data["end"]]
    windows = [[Q(c.get(key, steps[k]["t"])) for key, k in (("from", 0), ("until", -1))] for c in claims]
    within = all(Q(steps[0]["t"]) <= low < high <= Q(steps[-1]["t"]) for low, high in windows)
    known = {claim["relation"] for claim in claims} <= {">0", ">=0"}
    require(within and known, "a claim is about times that are not in the run, or has another relation than >0 or >=0")
    tools, framed = (solve, horner, ball, inside, require, Jet.power), False
    for number, (step, after) in enumerate(pairwise(steps)):
        framed, before = "frame" in step, framed
        require(before or not framed or starts_framed(step), f"step {number}: the first frame does not hold its box")
        where, t, h = f"step {number} (t = {float(Q(step['t'])):.6g})", Q(step["t"]), Q(step["h"])
        require(h > 0 and t + h == Q(after["t"]), f"{where}: steps do not join")
        require(len(step["tight"]) == len(step["rough"]) == len(names), f"{where}: boxes of other states")
        X, B = ([ball(*ends) for ends in step[key]] for key in ("tight", "rough"))
        wide, _ = solve(data, params, B, ball(t, t + h), 1)
        image = [x + ball(0, h) * column[1] for x, column in zip(X, wide, strict=True)]
        for name, value, ends in zip(names, image, step["rough"], strict=True):
            require(inside(value, ends), f"{where}: Picard's test fails for {name}")
        wide, jet = solve(data, params, image, ball(t, t + h), order + 1)  # the solution stays in the image, too
        thin, _ = solve(data, {p: v.mid() for p, v in params.items()}, [x.mid() for x in X], ball(t), order)
        if framed:
            value_of = framed_image(tools, data, params, (step, after, where), (X, image), (t, h), order)
        else:
            radii = arb_mat([[v.rad()] for v in [*X, *params.values()]])
            spread = growth(tools, data, jet, [*names, *params], ball(h)) * radii
            rows = zip(thin, wide, strict=True)
            value_of = [horner([*a[:order], b[order]], ball(h)) for a, b in rows]
            value_of = [v + arb(0, 1) * spread[i, 0].upper() for i, v in enumerate(value_of)]
        for name, value, ends in zip(names, value_of, after["tight"], strict=True):
            require(inside(value, ends), f"{where}: the next box does not hold the image of {name}")
        _, fine = solve(data, params, X, ball(t), order) if claims else ([], None)
        skip = [int(claim["vanishing"]) if number == 0 else 0 for claim in claims]
        zeros = vanishing(data, fine and fine.c, skip, order)
        for claim, k, zero, (low, high) in zip(claims, skip, zeros, windows, strict=True):
            a, b, row = max(low - t, Q(0)), min(high - t, h), claim["node"]
            shown = zero and (a >= b or positive([*fine.c[row], jet.c[row][order]][k:], a, b, claim["relation"]))
            require(shown, f"{where}: the claim {claim['text']} is not confirmed")


def main():
    try:
        file = Path(sys.argv[1])
        if not file.is_file() or file.stat().st_size > 2**30:
            raise ValueError("it is no regular file of at most 1024 MB")
        data = json.loads(file.read_text(encoding="utf-8"))
        check(data)
    except Failure as failure:
        print(f"REJECTED: {failure}")
        return 1
    except Exception as problem:  # whatever is in the file
        print(f"REJECTED, not a certificate: {problem!r}")
        return 2
    print(f"accepted: {len(data['steps'])} steps, {len(data['claims'])} claims; trusted: the table is the model")
    return 0


if __name__ == "__main__":
    sys.exit(main())
