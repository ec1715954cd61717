from . import part_c_preliminaries  # noqa: F401
from .book import ClaimBook, book


def get_book() -> ClaimBook:
    return book
