r"""The slope of a softmax by pairs, which loses no digit where one weight is almost 1:

.. math::
    \bar z_a = s_a\sum_b s_b\,(\bar s_a - \bar s_b), \qquad\text{not}\qquad s_a\Big(\bar s_a - \sum_b s_b\bar s_b\Big) .
"""

from __future__ import annotations

from odesys.expr import blocks
from odesys.expr.blocks import Block

SHORT = 4  # rows of up to so many entries: pairs cost their square


class SoftmaxPairs:
    """The rule for `blocks.gradient`; rows that are longer than `longest` are left to the rules of their parts."""

    def __init__(self, longest: int = SHORT) -> None:
        self.longest = longest

    def __call__(self, block: Block, bar: Block) -> list[tuple[Block, Block]] | None:
        """The slope of the scores, if the block is a softmax of them, as `batch.softmax` writes it."""
        if block.op != "multiply" or block.shape[-1] > self.longest:
            return None
        own, over = block.args
        if over.op != "apply" or over.data is not blocks.RECIPROCAL or over.args[0].op != "sum":
            return None
        total = over.args[0]
        (whole,), axis = total.args, total.data
        (up, mine), (down, all_) = _factors(own), _factors(whole)
        if up is None or up is not down or axis != len(whole.shape) - 1 or own.shape != whole.shape:
            return None
        share = blocks.multiply(up, over)
        slope = bar
        for factor in mine:
            slope = blocks.multiply(factor, slope)
        slope_row, slope_column = _row(slope), _column(slope)
        for factor in all_:
            slope_row = blocks.multiply(slope_row, _column(factor))
            slope_column = blocks.multiply(slope_column, _row(factor))
        gaps = blocks.add(slope_row, blocks.multiply(blocks.constant([-1]), slope_column))
        sums = blocks.sum_axis(blocks.multiply(gaps, _column(share)), -1)
        return [(up.args[0], blocks.multiply(share, blocks.reshape(sums, sums.shape[:-1])))]


def _factors(block: Block) -> tuple[Block | None, list[Block]]:
    """Shifted exponentials times factors that no weight enters, or None."""
    found: list[Block] = []
    while block.op == "multiply":
        factor, block = block.args
        if any(part.op == "leaf" for part in blocks.topological([factor])):
            return None, []
        found.append(factor)
    return (block, found) if block.op == "shifted_exp" else (None, [])


def _row(block: Block) -> Block:
    """Entry a of the pair (a, b)."""
    return blocks.reshape(block, (*block.shape, 1))


def _column(block: Block) -> Block:
    """Entry b of the pair (a, b)."""
    return blocks.reshape(block, (*block.shape[:-1], 1, block.shape[-1]))
