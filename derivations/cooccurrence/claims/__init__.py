"""Claims of the co-occurrence paper, a file per part of the paper; importing this package fills the book."""

from . import (  # noqa: F401
    part_2_setting,
    part_3_theorems,
    part_b_c_system,
    part_d_start,
    part_e_end,
    part_e_start,
    part_e_terms,
    part_f_algebra,
    part_f_attention,
    part_f_classes,
    part_f_values,
    part_g_h_tools,
    part_planar,
)
from .book import ClaimBook, book
from .harmless import explain

explain(book)


def get_book() -> ClaimBook:
    """The filled claim book."""
    return book


__all__ = ["book", "get_book"]
