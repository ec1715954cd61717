"""The part of `check_enclosure.py` for sets c + Q r that turn with the flow (Lohner), sharing no code with the engine.

For every step, with S = {c + Q s : |s_i| <= r_i} and c in the tight box X: the flow of the step maps S into the next X
and into the next S, because phi(x) = phi(c) + A (x - c) with A inside the derivative of the flow over X. That is found
with dual numbers: the recurrences of the other file run over values with their slopes by the start. `growth` is for
runs without frames.
"""

from fractions import Fraction

from flint import arb, arb_mat


class Dual:
    """A ball with its slopes by the start of a step."""

    def __init__(self, value, slopes):
        self.value, self.slopes = value, slopes

    def map(self, value, slope):
        """A function of this value with its derivative here."""
        return Dual(value, [slope * s for s in self.slopes])

    def __add__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value + other.value, [a + b for a, b in zip(self.slopes, other.slopes, strict=True)])
        return Dual(self.value + other, self.slopes)

    def __neg__(self):
        return Dual(-self.value, [-s for s in self.slopes])

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if isinstance(other, Dual):
            pairs = zip(self.slopes, other.slopes, strict=True)
            return Dual(self.value * other.value, [a * other.value + self.value * b for a, b in pairs])
        return self.map(self.value * other, other)

    def __truediv__(self, other):
        if isinstance(other, Dual):
            return self * other.map(1 / other.value, -1 / (other.value * other.value))
        return self.map(self.value / other, 1 / arb(other))

    def __rtruediv__(self, other):
        return self.map(other / self.value, -other / (self.value * self.value))

    def __pow__(self, n):
        return self.map(self.value**n, n * self.value ** (n - 1)) if n != 1 else self

    def root(self, n):
        """The real root of order n of a positive value."""
        root = self.value.root(n)
        return self.map(root, root / (n * self.value)) if n > 1 else self

    def exp(self):
        """The exponential."""
        return self.map(self.value.exp(), self.value.exp())

    def __gt__(self, other):
        return self.value > other

    def __lt__(self, other):
        return self.value < other

    __radd__, __rmul__ = __add__, __mul__


def units(size, spread=None):
    """Rows of the unit matrix, each entry widened by `spread`."""
    entry = lambda i, j: arb(int(i == j)) + (arb(0, 1) * spread[i, j] if spread is not None else 0)  # noqa: E731
    return [[entry(i, j) for j in range(size)] for i in range(size)]


def slopes_of(value, size):
    """The slopes of a value that may not depend on the start."""
    return value.slopes if isinstance(value, Dual) else [arb(0)] * size


def derivative(solve, horner, data, params, boxes, times, h, order):
    """Balls around the derivative of the flow over h by the start in the tight box; the rest is over the rough one."""
    size, (tight, rough), (time, span) = len(boxes[0]), boxes, times
    duals = [Dual(x, row) for x, row in zip(rough, units(size), strict=True)]
    columns, _ = solve(data, params, duals, span, 1)
    bound = arb_mat([[abs(s).upper() * h for s in slopes_of(column[1], size)] for column in columns])
    grown = bound.exp() - arb_mat([[int(i == j) for j in range(size)] for i in range(size)])
    spread = arb_mat([[abs(grown[i, j]).upper() for j in range(size)] for i in range(size)])
    near = [Dual(x, row) for x, row in zip(tight, units(size), strict=True)]
    far = [Dual(x, row) for x, row in zip(rough, units(size, spread), strict=True)]
    first, _ = solve(data, params, near, time, order)
    last, _ = solve(data, params, far, span, order + 1)
    rows = []
    for one, other in zip(first, last, strict=True):
        terms = [slopes_of(c, size) for c in [*one[:order], other[order]]]
        rows.append([horner([term[j] for term in terms], h) for j in range(size)])
    return arb_mat(rows)


def read_frame(step, ball):
    """Centre, matrix and radii of a step of the file."""
    given = step["frame"]
    centre, radii = [ball(c) for c in given["centre"]], [ball(r) for r in given["radii"]]
    return centre, arb_mat([[ball(q) for q in row] for row in given["matrix"]]), radii


def starts_framed(step):
    """Whether the first tight box lies in the first frame, which must be one along the axes."""
    given = step["frame"]
    size = len(given["centre"])
    axes = all(given["matrix"][i][j] == str(int(i == j)) for i in range(size) for j in range(size))
    boxes = zip(map(Fraction, given["centre"]), map(Fraction, given["radii"]), step["tight"], strict=True)
    return axes and all(c - r <= Fraction(low) <= Fraction(high) <= c + r for c, r, (low, high) in boxes)


def framed_image(tools, data, params, ends, boxes, moment, order):
    """The box of the next state, from the image of a frame, which is shown to lie in the next frame."""
    solve, horner, ball, inside, require, _ = tools
    (step, after, where), (t, h) = ends, moment
    require("frame" in step, f"{where}: it has no frame")
    centre, matrix, radii = read_frame(step, ball)
    require(all(map(arb.contains, boxes[0], centre)), f"{where}: the centre of the frame is outside of its box")
    times = ball(t), ball(t, t + h)
    moved = derivative(solve, horner, data, params, boxes, times, ball(h), order) * matrix
    thin, _ = solve(data, params, centre, times[0], order)
    wide, _ = solve(data, params, boxes[1], times[1], order + 1)
    image = [horner([*a[:order], b[order]], ball(h)) for a, b in zip(thin, wide, strict=True)]
    sides = arb_mat([[arb(0, 1) * r] for r in radii])
    spread = moved * sides
    box = [x + spread[i, 0] for i, x in enumerate(image)]
    if "frame" not in after:
        return box
    centre, matrix, _ = read_frame(after, ball)
    back = matrix.inv()
    turned = (back * moved) * sides + back * arb_mat([[x - c] for x, c in zip(image, centre, strict=True)])
    for i, r in enumerate(after["frame"]["radii"]):
        require(inside(turned[i, 0], (f"-{r}", r)), f"{where}: the next frame does not hold side {i} of the image")
    around = matrix * turned
    return [b.intersection(c + around[i, 0]) for i, (b, c) in enumerate(zip(box, centre, strict=True))]


def growth(tools, data, jet, seeds, h):
    """e^(hM): forward differentiation of the table at order zero, then a Metzler bound of the Jacobian."""
    ball, power = tools[2], tools[5]
    grads = []
    for n, (op, arg) in enumerate(data["nodes"]):
        v = jet.c[n][0]
        if op in ("num", "step", "sym"):
            g = [arb(int(op == "sym" and arg == s)) for s in seeds]
        elif op == "add":
            g = [sum((ball(w) * grads[i][j] for w, i in arg), arb(0)) for j in range(len(seeds))]
        elif op == "mul":
            g = [arb(0)] * len(seeds)
            for i, e in arg:
                rest = ball(e)
                for other, f in arg:
                    f = Fraction(f) - (other == i)
                    rest *= 1 if f == 0 else power([jet.c[other][0]], [], f, 0)
                g = [x + rest * y for x, y in zip(g, grads[i], strict=True)]
        else:
            g = [(v if op == "exp" else v * (1 - v)) * y for y in grads[arg]]
        grads.append(g)
    metzler = lambda i, row: [(h * (x if i == j else abs(x))).upper() for j, x in enumerate(row)]  # noqa: E731
    rows = [metzler(i, grads[row]) for i, row in enumerate(data["equations"])]
    return arb_mat(rows + [[arb(0)] * len(seeds)] * (len(seeds) - len(rows))).exp()
