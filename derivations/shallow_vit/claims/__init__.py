"""Claims of the shallow vision transformer paper, a file per part of the paper; importing this package fills the book."""

from . import (
    part_1_main,
    part_1_setting,
    part_2_remarks,
    part_3_samples,
    part_c_gradients,
    part_c_keys,
    part_c_preliminaries,
    part_c_structure,
    part_d_growth,
    part_d_orders,
    part_e_1_neurons,
    part_e_1_values,
    part_e_2_growth,
    part_e_2_softmax,
    part_e_3_forces,
    part_f_lemmas,
    part_g_extensions,
    part_x_beyond,
    part_x_variants,
    part_y_training,
)
from .book import book
from .unaffected import REASONS

for reason in REASONS:
    book.unaffected(*reason)
