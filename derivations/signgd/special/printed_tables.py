"""Tables 2 and 4 to 11 as printed; here because they are data of the paper, compared with each other and with runs.

Rows are the signs (key, query) of a pair at the start, columns those at t = 10, in the order ++, +-, -+, --. The
captions of tables 4 to 11 stand above or below: numbers are by order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Printed(NamedTuple):
    """Counts of pairs, and the printed sums of the columns."""

    counts: np.ndarray
    columns: tuple[int, int, int, int]


def _table(rows: str, *columns: int) -> Printed:
    counts = np.array([[int(x) for x in row.split()] for row in rows.split(",")])
    first, second, third, fourth = columns
    return Printed(counts, (first, second, third, fourth))


PRINTED = {
    "2": _table("486 1 0 25, 244 4 9 250, 223 10 4 221, 37 2 3 481", 990, 17, 16, 977),
    "4": _table("483 2 1 26, 242 3 9 253, 224 10 3 221, 37 3 3 480", 986, 18, 16, 980),
    "5": _table("482 2 0 28, 243 4 7 253, 222 12 3 221, 39 1 3 480", 986, 19, 13, 982),
    "6": _table("479 4 0 29, 241 14 6 246, 217 9 11 221, 39 3 2 479", 976, 30, 19, 975),
    "7": _table("481 3 1 27, 232 25 16 234, 213 9 20 216, 36 3 1 483", 962, 40, 38, 960),
    "8": _table("486 2 0 24, 249 4 4 250, 224 7 4 223, 33 2 1 487", 992, 15, 9, 984),
    "9": _table("483 1 2 26, 238 9 13 247, 222 8 9 219, 34 4 5 480", 977, 22, 29, 972),
    "10": _table("484 1 0 27, 245 5 12 245, 213 12 5 228, 41 0 2 480", 983, 18, 19, 980),
    "11": _table("473 4 3 32, 233 12 14 248, 211 14 9 224, 36 2 6 479", 953, 32, 32, 983),
}
