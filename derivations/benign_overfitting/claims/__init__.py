"""Claims of the benign-overfitting paper, a file per part of the paper; importing this package fills the book."""

from . import part_b_system, part_c_start, part_d_e_stage_one, part_mean_field, part_runs  # noqa: F401
from .book import ClaimBook, book
from .harmless import explain

explain(book)


def get_book() -> ClaimBook:
    """The filled claim book."""
    return book


__all__ = ["book", "get_book"]
