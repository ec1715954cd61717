"""Claims of the benign-overfitting paper, a file per part of the paper; importing this package fills the book."""

# in the paper's order, which is that of the book
from . import part_b_system, part_b_attention, part_b_products, part_c_start, part_d_e_stage_one  # noqa: I001
from . import part_f_coefficients, part_f_lower_order, part_magnitude, part_closed_forms, part_orders, part_stages
from . import part_stage_displays, part_late_displays, part_key_change, part_sums, part_fresh, part_theorems
from . import part_experiments
from .book import book
from .unaffected import REASONS

for reason in REASONS:
    book.unaffected(*reason)
