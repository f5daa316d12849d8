"""What the audit asks of goods: on the shelf, on their way, at the customer's, at the supplier's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from project.shop.outside import Entry
from project.soak.accounts import accounts
from project.soak.books import Books


def stock(books: Books) -> Iterator[str]:
    """What is on the shelf is what the stock book adds up to, and it is not negative."""
    moved: Counter[int] = Counter()
    for movement in books.movements:
        moved[movement.product] += movement.quantity
    for shelf in books.shelves:
        if shelf.stock != moved[shelf.product]:
            yield f"product {shelf.product}: {shelf.stock} on the shelf, {moved[shelf.product]} in the stock book"
        if shelf.stock < 0:
            yield f"product {shelf.product}: {shelf.stock} on the shelf"


def sold(books: Books) -> Iterator[str]:
    """A completed order has taken exactly what it wants; any other has taken nothing or put it all back."""
    taken = _moved(books, "reserve", "release")
    for one in accounts(books):
        due = {product: -pieces for product, pieces in one.order.wants.items()} if one.sold else {}
        if taken[one.order.id] != due:
            yield f"order {one.order.number} is {one.run.status} and has moved {taken[one.order.id]}, not {due}"


def bought(books: Books) -> Iterator[str]:
    """A completed special order had all it wants delivered; any other sent back what came."""
    came = _moved(books, "supply", "send_back")
    for one in accounts(books):
        due = one.order.wants if one.purchases else {}
        if came[one.order.id] != due:
            yield f"order {one.order.number} is {one.run.status} and had {came[one.order.id]} delivered, not {due}"


def restocked(books: Books) -> Iterator[str]:
    """What came back and can be sold is on the shelf again, and nothing else is."""
    came = _moved(books, "return")
    for one in accounts(books):
        due = one.order.wants if one.restocked else {}
        if came[one.order.id] != due:
            yield f"order {one.order.number} had {came[one.order.id]} put back on the shelf, not {due}"


def parcels(books: Books) -> Iterator[str]:
    """A completed order has its parcels, any other none, and no parcel goes nowhere."""
    sent = Counter(parcel.order_id for parcel in books.parcels)
    for one in accounts(books):
        count = sent.pop(one.order.id, 0)
        if count != one.parcels:
            yield f"order {one.order.number} is {one.run.status} and has {count} parcels, not {one.parcels}"
    for order_id in sent:
        yield f"a parcel was sent for {order_id}, which is no order"


def boxes(books: Books) -> Iterator[str]:
    """Each box that has left was packed once, and no other is packed."""
    return _standing(books, "boxes", books.boxes)


def labels(books: Books) -> Iterator[str]:
    """There is one good label for each box that has left and for each return that was settled, and no other."""
    return _standing(books, "labels", books.labels)


def purchases(books: Books) -> Iterator[str]:
    """The suppliers have one order for each line of a completed special order, and no other."""
    return _standing(books, "purchases", books.purchases)


def _standing(books: Books, book: str, entries: list[Entry]) -> Iterator[str]:
    found: dict[int, list[str]] = defaultdict(list)
    for entry in entries:
        if not entry.struck:
            found[entry.order_id].append(entry.text)
    for one in accounts(books):
        texts, due = found.pop(one.order.id, []), getattr(one, book)
        if len(texts) != due or len(set(texts)) != due:
            yield f"order {one.order.number} is {one.run.status} and its {book} are {texts}, not {due}"
    for order_id, texts in found.items():
        yield f"{texts} stand in the book of {book} for {order_id}, which is no order"


def _moved(books: Books, *kinds: str) -> dict[int, dict[int, int]]:
    """Order → product → pieces, where the sum is not nothing."""
    moved: dict[int, Counter[int]] = defaultdict(Counter)
    for movement in books.movements:
        if movement.order is not None and movement.kind in kinds:
            moved[movement.order][movement.product] += movement.quantity
    left = {order: {product: sum_ for product, sum_ in one.items() if sum_} for order, one in moved.items()}
    return defaultdict(dict, left)


CHECKS = (stock, sold, bought, restocked, parcels, boxes, labels, purchases)
