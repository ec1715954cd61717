"""Claims of the sign-descent paper, a file per part of the paper; importing this package fills the book."""

from . import (  # noqa: F401
    part_c_probability,
    part_c_small_values,
    part_d_gradients,
    part_d_recursion,
    part_e_logic,
    part_e_stage_four,
    part_e_stages,
    part_e_votes,
)
from .book import ClaimBook, book


def get_book() -> ClaimBook:
    """The filled claim book."""
    return book


__all__ = ["book", "get_book"]
