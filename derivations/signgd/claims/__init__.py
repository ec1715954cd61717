"""Claims of the sign-descent paper, a file per part of the paper; importing this package fills the book."""

from . import (
    part_3_main,
    part_b_experiments,
    part_c_probability,
    part_c_small_values,
    part_d_gradients,
    part_d_recursion,
    part_e_bounds,
    part_e_i_ii,
    part_e_iii,
    part_e_induction,
    part_e_iv_a,
    part_e_iv_b_c,
    part_e_later,
    part_e_logic,
    part_e_pairs,
    part_e_settling,
    part_e_softmax,
    part_e_sums,
    part_e_values,
    part_e_votes,
    part_e_voting,
    part_f_extensions,
)
from .book import book
from .unaffected import REASONS

for reason in REASONS:
    book.unaffected(*reason)
