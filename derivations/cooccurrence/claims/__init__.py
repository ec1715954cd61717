"""Claims of the co-occurrence paper, a file per part of the paper; importing this package fills the book."""

from .book import ClaimBook, book


def get_book() -> ClaimBook:
    """The filled claim book."""
    return book


__all__ = ["book", "get_book"]
