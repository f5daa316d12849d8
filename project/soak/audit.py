"""The audit: every book against every other. Looks only at its argument, and names each difference it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from project.soak import goods, money, runs
from project.soak.books import Books


@dataclass(frozen=True)
class Difference:
    """Two books that do not agree, or a promise that was not kept."""

    check: str
    text: str

    def __str__(self) -> str:
        return f"{self.check}: {self.text}"


CHECKS: dict[str, Callable[[Books], Iterator[str]]] = {
    check.__name__: check for check in (*goods.CHECKS, *money.CHECKS, *runs.CHECKS)
}


def audit(books: Books) -> list[Difference]:
    """Every difference; none means that the books balance."""
    return [Difference(name, text) for name, check in CHECKS.items() for text in check(books)]
