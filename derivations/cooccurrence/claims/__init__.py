"""Claims of the co-occurrence paper, a file per part of the paper; importing this package fills the book."""

from . import (  # noqa: F401
    part_2_setting,
    part_b_c_system,
    part_d_start,
    part_e_phase_one,
    part_f_algebra,
    part_f_phase_two,
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
