"""Claims of the two-mixture paper, a file per part of the paper; importing this package fills the book."""

from . import (
    part_2_setting,
    part_5_2_display,
    part_5_6_observations,
    part_5_d_stage_one,
    part_6_construction,
    part_b_c_symmetry,
    part_b_derivation,
    part_beyond_k,
    part_beyond_k_enclosed,
    part_beyond_k_trajectories,
    part_e_comparison,
    part_e_enclosed,
    part_e_expanded,
    part_e_growth,
    part_e_near_symmetry,
    part_e_sign_proof,
    part_e_stage_two,
    part_e_sums_trajectories,
    part_e_trajectories,
    part_f_neurons,
    part_f_stage_three,
    part_g_h_probability,
)
from .book import book
from .unaffected import REASONS

for reason in REASONS:
    book.unaffected(*reason)
