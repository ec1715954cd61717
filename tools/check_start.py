"""Which Taylor coefficients vanish at the start of an enclosed run, decided exactly; shares no code with the engine.

Coefficients are polynomials with rational coefficients in what is only known up to an error at the start (parameters
and states with a range, the values of functions and roots, divisors): a coefficient that is the zero polynomial is zero
whatever those values are. Only e^0 = 1, 1/(1 + e^0) = 1/2, exact roots of rational numbers and the rules of arithmetic
are used, so that "not the zero polynomial" may also mean "not known to be zero".
"""

from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpz


class Start:
    """Taylor coefficients of all rows of a table along the solution, one order at a time."""

    def __init__(self, nodes, known, loose, gates):
        """`known` numbers and `loose` names are the values of the symbols at the start, `gates` those of gate rows."""
        atoms = [f"{kind}{n}" for n in range(len(nodes)) for kind in ("at", "over")]
        atoms += sorted({f"root{i}_{fmpq(e).q}" for op, arg in nodes if op == "mul" for i, e in arg if fmpq(e).q != 1})
        names = [f"loose{k}" for k in range(len(loose))]
        self.ring = fmpq_mpoly_ctx.get([*names, *atoms], Ordering.lex)
        gens = dict(zip([*names, *atoms], self.ring.gens(), strict=True))
        self.atom, self.nodes, self.gates = gens.__getitem__, nodes, gates
        self.env = {name: [self.number(value)] for name, value in known.items()}
        self.env |= {name: [gens[place]] for name, place in zip(loose, names, strict=True)}
        self.rows = [[] for _ in nodes]
        self.aux = [{} for _ in nodes]  # powers of the factors of a product; y (1 - y) of a sigmoid

    def number(self, value):
        return self.ring.constant(fmpq(value))

    def advance(self, states, equations):
        """One more coefficient of every row, and of the states."""
        k = len(self.rows[0])
        for n, (op, arg) in enumerate(self.nodes):
            self.rows[n].append(self.coefficient(n, op, arg, k))
        for state, row in zip(states, equations, strict=True):
            self.env[state].append(self.rows[row][k] / (k + 1))

    def coefficient(self, n, op, arg, k):
        zero, rows = self.number(0), self.rows
        if op == "num":
            return self.number(arg) if k == 0 else zero
        if op == "sym":
            return self.env[arg][k] if k < len(self.env[arg]) else zero
        if op == "add":
            return sum((fmpq(c) * rows[i][k] for c, i in arg), zero)
        if op == "step":
            return self.number(self.gates[n]) if k == 0 else zero
        if op == "mul":
            total = [self.number(1)] + [zero] * k
            for place, (i, e) in enumerate(arg):
                powers = self.aux[n].setdefault(place, [])
                powers.append(self.power(i, rows[i], powers, fmpq(e), k))
                total = [convolve(total, powers, j) for j in range(k + 1)]
            return total[k]
        a, first = rows[arg], {"exp": 1, "sigmoid": fmpq(1, 2)}[op]
        slope = self.aux[n].setdefault(op, [])  # y' = slope(y) a'
        if k == 0:
            y = self.number(first) if a[0] == 0 else self.atom(f"at{n}")
        else:
            y = sum((a[j] * slope[k - j] * j for j in range(1, k + 1)), zero) / k
        ys = [*rows[n], y]
        slope.append(y if op == "exp" else y - convolve(ys, ys, k))
        return y

    def power(self, i, a, y, e, k):
        """Coefficient k of a^e, where a is row i and y holds the coefficients before."""
        if e.q == 1 and e > 0:
            total = a
            for _ in range(int(e) - 1):
                total = [convolve(total, a, j) for j in range(k + 1)]
            return total[k]
        if k == 0:
            return self.first_power(i, a[0], e)
        terms = (a[j] * y[k - j] * (e * j - (k - j)) for j in range(1, k + 1))  # a y' = e y a'
        return sum(terms, self.number(0)) * self.first_power(i, a[0], fmpq(-1)) / k

    def first_power(self, i, base, e):
        """base^e with a whole part, which may divide, and a root of what is left."""
        whole = int(e.p) // int(e.q)
        value = base.leading_coefficient() if base.is_constant() and not base.is_zero() else None
        over = self.atom(f"over{i}") if value is None else self.number(1 / value)
        total = base**whole if whole >= 0 else over ** (-whole)
        if e.q != 1:
            total *= self.root(i, value, int(e.q)) ** (int(e.p) - whole * int(e.q))
        return total

    def root(self, i, value, q):
        """The q-th root of a row at the start: a number where it is rational."""
        if value is not None and value > 0:
            parts = [fmpz(part).root(q) for part in (value.p, value.q)]
            if parts[0] ** q == value.p and parts[1] ** q == value.q:
                return self.number(fmpq(*parts))
        return self.atom(f"root{i}_{q}")


def convolve(a, b, k):
    return sum((a[j] * b[k - j] for j in range(1, k + 1)), a[0] * b[k])


def vanishing(data, balls, orders, most):
    """Per claim of a certificate: whether its first coefficients at the start, `most` or fewer, are zero polynomials.

    `balls` holds the Taylor coefficients of every row at the start, for the gates.
    """
    if not any(orders):
        return [True] * len(orders)
    first = data["steps"][0]
    gates = {n: int(balls[n][0] > 0) for n, (op, _) in enumerate(data["nodes"]) if op == "step"}
    ranges = {**data["parameters"], **dict(zip(data["states"], first["tight"], strict=True)), "t": [first["t"]] * 2}
    exact = {name: fmpq(low) for name, (low, high) in ranges.items() if fmpq(low) == fmpq(high)}
    start = Start(data["nodes"], exact, [name for name in ranges if name not in exact], gates)
    start.env["t"].append(start.number(1))
    for _ in range(min(max(orders), most)):
        start.advance(data["states"], data["equations"])
    claims = zip(data["claims"], orders, strict=True)
    return [0 <= k <= most and all(c == 0 for c in start.rows[claim["node"]][:k]) for claim, k in claims]
