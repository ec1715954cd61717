"""Claims of the shallow vision transformer paper, a file per part of the paper; importing this package fills the book."""

from . import (  # noqa: F401
    part_1_main,
    part_beyond,
    part_c_preliminaries,
    part_d_orders,
    part_e_forces,
    part_e_softmax,
    part_f_g_lemmas,
    part_lemma_2,
    part_system,
)
from .book import ClaimBook, book
from .harmless import explain

explain(book)


def get_book() -> ClaimBook:
    """The filled claim book."""
    return book


__all__ = ["book", "get_book"]
