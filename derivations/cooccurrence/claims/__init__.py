"""Claims of the co-occurrence paper, a file per part of the paper; importing this package fills the book."""

from . import (
    part_2_setting,
    part_b_c_system,
    part_c2_sub_network,
    part_c3_ours,
    part_d_start,
    part_e1_start,
    part_e2_terms,
    part_e3_half_way,
    part_e4_classes,
    part_e5_theorem,
    part_f1_algebra,
    part_f1_balancing,
    part_f1_signs,
    part_f2_classes,
    part_f3_values,
    part_f4_scores,
    part_f5_attention,
    part_f6_loss,
    part_g_h_tools,
    part_planar,
    part_theorems,
)
from .book import book
from .unaffected import REASONS

for reason in REASONS:
    book.unaffected(*reason)
