#!/usr/bin/env python
"""Re-check a certificate written by `odesys.certify.region_certificate`, sharing no code with the engine.

It states F_i(x) >= rate (A x)_i for all i of the block and all x of the region, a box with linear conditions. Checked:
each F_i is affine in the states marked as linear (homogeneous where rays are listed); all vertices of the region, found
here again, are listed as values of those states (up to a factor, for rays), with the level rate (A v)_i; its boxes
cover the region: each is exactly what the split and three rounds of the conditions leave of its parent; on each the
level holds, by second-order bounds in ball arithmetic and halving, as do ranges of sums and signs of constant gates.
Taken from the file: that its table with its parameters is the model (marks and names of sums aside; gates 1 above 0).
usage: check_region.py FILE      exit code 0: all checks passed, 1: something failed, 2: not a certificate
"""

import json
import sys
from itertools import product
from pathlib import Path

from flint import arb, ctx, fmpq

Failure, Q, PRECISION, LIMIT = type("Failure", (Exception,), {}), fmpq, 128, 2000  # bits; boxes of its own per leaf


def require(true, text):
    if not true:
        raise Failure(text)


def plus(pairs):  # of Taylor polynomials {names: coefficient}; exact numbers, or balls that hold for a box of points
    out = {}
    for m, x in ((m, c * x) for c, p in pairs for m, x in p.items()):
        out[m] = out[m] + x if m in out else x
    return {m: x for m, x in out.items() if not x == 0}  # noqa: SIM201 (a ball is != 0 only if zero is not in it)


class Checker:
    def __init__(self, data):
        self.nodes, self.gates, region = data["nodes"], {}, data["region"]
        self.sums = dict(arg for op, arg in self.nodes if op == "sum")
        self.box = {s: (Q(low), Q(high)) for s, (low, high) in region["box"].items()}
        self.conditions = [({s: Q(a) for s, a in c["slopes"].items()}, Q(c["constant"])) for c in region["conditions"]]
        self.values = {name: {(): Q(value)} for name, value in data["parameters"].items()}
        used = [*self.values, *self.box, *(f"role {s}" for s in self.box), *(a[0] for f, a in self.nodes if f == "sum")]
        require(len({*used}) == len(used), "a name has two meanings")
        self.group = {s: (s,) for s in self.box}
        for slopes, _ in self.conditions:
            self.group |= dict.fromkeys(merged := tuple(sorted({n for s in slopes for n in self.group[s]})), merged)
        self.vertices = {group: self.corners(group) for group in {self.group[s] for s in data["block"]}}
        start = self.box | {s: (min(x := [v[s] for v in c]), max(x)) for g, c in self.vertices.items() for s in g}
        self.start = start | {f"role {s}": ends for s, ends in start.items()}

    def narrow(self, box):
        """What three rounds of the conditions leave of a box; None if nothing."""
        whole = {**self.box, **box}
        for slopes, constant in [c for c in self.conditions if c[0].keys() & box.keys()] * 3:
            room = constant + sum(a * whole[s][a > 0] for s, a in slopes.items())
            if room < 0:
                return None
            for s, a, (low, high) in [(s, a, whole[s]) for s, a in slopes.items()]:
                whole[s] = (max(low, high - room / a), high) if a > 0 else (low, min(high, low - room / a))
        return {s: whole[s] for s in box}

    def corners(self, names):  # all vertices over a group of states: its box, cut by one condition after the other
        sides = [({s: x}, -x * end) for s in names for x, end in zip((1, -1), self.box[s], strict=True)]
        height = lambda p, side: side[1] + sum(a * p[names.index(s)] for s, a in side[0].items())  # noqa: E731
        facets = lambda p: {k for k, side in enumerate(sides) if height(p, side) == 0}  # noqa: E731
        on = {p: facets(p) for p in product(*map(self.box.get, names))}
        for cut in [cut for cut in self.conditions if cut[0].keys() & {*names}]:
            h, sides = {p: height(p, cut) for p in on}, [*sides, cut]
            found = [p for p in on if h[p] >= 0]
            for p, q in product([p for p in h if h[p] > 0], [q for q in h if h[q] < 0]):
                if len(c := on[p] & on[q]) >= len(names) - 1 and sum(c <= f for f in on.values()) == 2:  # an edge
                    found.append(tuple(a + (b - a) * h[p] / (h[p] - h[q]) for a, b in zip(p, q, strict=True)))
            on = {p: facets(p) for p in found}
        return [dict(zip(names, p, strict=True)) for p in on]

    def jet(self, root, box, order, roles, sign=1):
        """Taylor coefficients over a box, by its names, of sign times a row; and whether every gate is decided."""

        def times(p, q):
            terms = product(p.items(), q.items())
            return plus((1, {tuple(sorted(m + n)): x * y}) for (m, x), (n, y) in terms if len(m + n) <= order)

        def chain(p, value, slope, curve):
            rest = {m: x for m, x in p.items() if m}
            return plus([(value, {(): 1}), (slope, rest), (curve / 2, times(rest, rest))])

        env = {s: {(): arb(low).union(arb(high))} for s, (low, high) in {**self.start, **box}.items()}
        env |= {s: {**env[s], (s,): 1} for s in (box if order else ())} | self.values | roles
        out, smooth = [], True
        for n, (op, arg) in enumerate(self.nodes[: root + 1]):
            if n in self.gates or op == "num":
                p = {(): Q(self.gates.get(n, arg))}
            elif op in ("sym", "role", "sum"):
                p = env[f"role {arg}"] if op == "role" else env[arg] if op == "sym" else env.get(arg[0], out[arg[1]])
            elif op == "add":
                p = plus([(Q(c), out[i]) for c, i in arg])
            elif op == "mul":
                p = {(): Q(1)}
                for i, e in arg:
                    require(Q(e).q == 1, "this checker does not know roots")
                    base = out[i] if Q(e) >= 0 else chain(out[i], x := 1 / out[i].get((), Q(0)), -x * x, 2 * x * x * x)
                    for _ in range(abs(int(Q(e)))):
                        p = times(p, base)
            else:
                require(op in ("exp", "sigmoid", "step"), f"this checker does not know the function {op}")
                x = arb(out[arg].get((), 0))
                y = x.exp() if op == "exp" else 1 / (1 + (-x).exp())
                p = chain(out[arg], y, *((y, y) if op == "exp" else (y * (1 - y), y * (1 - y) * (1 - 2 * y))))
                if op == "step":
                    p = {(): Q(int(x > 0)) if x > 0 or x <= 0 else arb(0).union(arb(1))}
                    smooth &= x > 0 or x <= 0 or out[arg].keys() <= {()}
            out.append(plus([(1, p)]))
        return plus([(sign, out[root])]), smooth

    def proved(self, root, box, level, roles, sign=1):
        """Is sign times a row >= level on a box? Pinned where a derivative has a sign, and halved where needed."""
        middle, radius = lambda box: {s: (sum(e) / 2,) * 2 for s, e in box.items()}, lambda a, b: arb(0, (b - a) / 2)
        todo, used = [box], 0
        while todo and used < LIMIT:
            box, used = todo.pop(), used + 1
            (wide, smooth), (thin, _) = (self.jet(root, *at, roles, sign) for at in ((box, 2), (middle(box), 1)))
            lows, cost = [wide.get((), 0)], {s: b - a for s, (a, b) in box.items() if a < b}
            if smooth and not lows[0] >= level:
                slopes = {s: arb(thin.get((s,), 0)) for s in box}
                for pair, s, t in [(m, *order) for m in wide if len(m) == 2 for order in (m, m[::-1])]:
                    slopes[s] += wide[pair] * radius(*box[t])
                pin = {s: e[1:] * 2 if slopes[s] <= 0 else e[:1] * 2 if slopes[s] >= 0 else e for s, e in box.items()}
                lows += [self.jet(root, at, 0, roles, sign)[0].get((), 0) for at in (pin, middle(pin))]
                lows[-1] += sum(slopes[s] * radius(*pin[s]) for s in box)
                cost = {s: float(w) * min(1e99, float(abs(slopes[s]).upper())) for s, w in cost.items()}  # 1e99 for nan
            if not any(low >= level for low in lows):
                if thin.get((), 0) < level or not cost:
                    return False
                (low, high), s = box[max(cost, key=cost.get)], max(cost, key=cost.get)
                todo += [{**box, s: (low, (low + high) / 2)}, {**box, s: ((low + high) / 2, high)}]
        return not todo

    def covers(self, where, proof, root, roles, sign=1):
        """Do the boxes of a proof cover the region, and is sign times a row >= its level on each of them?"""
        todo = [{s: self.start[s] for s in proof["boxes"][0]["box"]}]
        for entry in proof["boxes"]:
            box = self.narrow(todo.pop()) if todo else {}
            stored = entry["box"] and {s: (Q(low), Q(high)) for s, (low, high) in entry["box"].items()}
            require(box == stored, f"{where}: a box is not what the split and the conditions leave")
            if "split" in entry:
                (low, high), at = box[entry["split"]], Q(entry["at"])
                todo += [{**box, entry["split"]: ends} for ends in ((low, at), (at, high))]
            elif box is not None:
                ranges = {name: (Q(low), Q(high)) for name, (low, high) in entry["hidden"].items()}
                jobs = [(self.sums[name], box, x * ranges[name][x < 0], roles, x) for name in ranges for x in (1, -1)]
                for job in [*jobs, (root, box | ranges, Q(proof["level"]), roles, sign)]:
                    require(self.proved(*job), f"{where}: a bound of row {job[0]} on a box is not confirmed")
        require(not todo, f"{where}: the boxes do not cover the region")

    def row(self, state, weights, rate, root, rays, proofs):
        """Is the right-hand side of a state at least rate times its row of A x?"""
        p, smooth = self.jet(root, {f"role {s}": self.start[s] for s in self.box}, 2, {})
        constant, _ = self.jet(root, {}, 0, {f"role {s}": {} for s in self.box})
        require(smooth and all(len(m) < 2 for m in p) and not (rays and constant), f"{state}: not linear as marked")
        used = sorted({m[0].removeprefix("role ") for m in p if m} | {*weights})

        def seen(*vertices):  # as far as the row sees it; None: nothing at all
            point = [sum(v.get(s, 0) for v in vertices) for s in used]
            size = max(map(abs, point), default=0) if rays else 1
            return tuple(x / size for x in point) if size else None

        listed = [{s: Q(x) for s, x in proof["generator"].items()} for proof in proofs]
        groups = [self.vertices[group] for group in {self.group[s] for s in used}]
        needed = {seen(*vs) for vs in ([[v] for group in groups for v in group] if rays else product(*groups))}
        require(needed <= {None, *map(seen, listed)}, f"{state}: a vertex of the region is not listed")
        for v, proof in zip(listed, proofs, strict=True):
            require(Q(proof["level"]) == rate * sum(a * v[s] for s, a in weights.items()), f"{state}: a wrong level")
            self.covers(state, proof, root, {f"role {s}": {(): v.get(s, Q(0))} for s in self.box})


def check(data):
    if data.get("format") != "odesys-region-bound" or data.get("version") != 1:
        raise ValueError("not a bound on a region")
    ctx.prec, checker = PRECISION, Checker(data)
    for gate in data["gates"]:
        (op, arg), sign = checker.nodes[gate["row"]], gate["sign"]
        require(op == "step" and sign in (1, -1) and Q(gate["level"]) > 0, f"row {gate['row']} is no gate with a sign")
        checker.covers(f"gate {gate['row']}", gate, arg, {}, sign)
        checker.gates[gate["row"]] = int(sign > 0)
    for state, weights, row in zip(data["block"], data["matrix"], data["rows"], strict=True):
        weights = {s: Q(a) for s, a in zip(data["block"], weights, strict=True) if Q(a)}
        checker.row(state, weights, Q(data["rate"]), row["root"], row["rays"], row["proofs"])
    print(f"accepted: F >= {data['rate']} A x on the region, for {', '.join(data['block'])}")
    print("taken from the file: that its table of rows, with its parameters, is the model")


if __name__ == "__main__":
    try:
        if not (file := Path(sys.argv[1])).is_file() or file.stat().st_size > 2**30:
            raise ValueError("it is no regular file of at most 1024 MB")
        check(json.loads(file.read_text(encoding="utf-8")))
    except Exception as problem:  # whatever is in the file
        print(f"REJECTED: {problem}" if isinstance(problem, Failure) else f"REJECTED, not a certificate: {problem!r}")
        sys.exit(1 if isinstance(problem, Failure) else 2)
