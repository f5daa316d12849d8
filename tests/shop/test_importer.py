"""Files of other shops: read as they are meant, or refused with file and line."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from project.shop import importer
from project.shop.models import Order, Product, StockMovement
from project.soak.__main__ import SAMPLE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the sample, to be spoilt."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "orders"))


def spoil(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_the_sample_is_read_whole() -> None:
    goods, wishes = importer.read(SAMPLE)
    assert len(goods) == 10
    assert [wish.number for wish in wishes] == [str(number) for number in range(1217, 1237)]
    assert sum(len(wish.lines) for wish in wishes) == 42


def test_names_keep_their_letters_and_quotes() -> None:
    goods, wishes = importer.read(SAMPLE)
    assert {"Crème de Marrons", '"Old Mill" Oatmeal', "Señor Rojas' Chili Oil"} <= {item.name for item in goods}
    assert {"Bäckerei Löwe", "Épicerie d'Hélène"} <= {wish.customer for wish in wishes}


def test_an_unquoted_comma_stays_in_the_address() -> None:
    wish = importer.read(SAMPLE)[1][2]
    assert wish.address == "Calle Mayor, 31, 50001, Zaragoza, Spain"


def test_null_is_no_text() -> None:
    assert importer.read(SAMPLE)[1][0].address == "14 Quay Street, Galway, Ireland"


def test_moments_have_milliseconds_and_are_utc() -> None:
    assert importer.read(SAMPLE)[1][1].placed_at == datetime(2024, 3, 3, 9, 1, 0, 37000, tzinfo=UTC)


def test_a_discount_written_as_a_float_is_a_discount_in_cents() -> None:
    discounts = {line[3] for wish in importer.read(SAMPLE)[1] for line in wish.lines}
    assert discounts == {Decimal(text) for text in ("0.00", "0.05", "0.10", "0.15", "0.20", "0.25")}


@pytest.mark.django_db
def test_totals_are_exact_to_the_cent() -> None:
    importer.enter(*importer.read(SAMPLE))
    order = Order.objects.get(number="1217")  # 5 × 4.20 less 5 %, 12 × 7.35, freight 25.51
    assert order.total == Decimal("19.95") + Decimal("88.20") + Decimal("25.51")


@pytest.mark.django_db
def test_stock_is_what_was_delivered() -> None:
    importer.enter(*importer.read(SAMPLE), deliveries=3)
    product = Product.objects.get(name="Crème de Marrons")
    assert product.stock == 9
    assert [(m.kind, m.quantity) for m in StockMovement.objects.filter(product=product)] == [("delivery", 9)]


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("order-details.csv", "1217,11,4.20,5,0.05", "1217,11,4.20,0,0.05", "line 2: quantity is '0'"),
        ("order-details.csv", "1217,11,4.20,5,0.05", "1217,11,4.20,many,0.05", "line 2: quantity is 'many'"),
        ("order-details.csv", "1217,11,4.20,5,0.05", "1217,11,NaN,5,0.05", "line 2: unitPrice is 'NaN'"),
        ("order-details.csv", "1217,11,4.20,5,0.05", "1217,11,4.20,5,1.5", "line 2: a discount of 1.50"),
        ("order-details.csv", "1217,11,4.20,5,0.05", "1217,99,4.20,5,0.05", "line 2: no order 1217 or no product 99"),
        ("order-details.csv", "1217,16,7.35,12,0", "1217,11,7.35,12,0", "line 3: order 1217 has product 11 twice"),
        ("order-details.csv", "1217,11,4.20,5,0.05", "1217,11,4.20,5", "line 2: 4 values for 5 columns"),
        ("order-details.csv", "1217,11,4.20,5,0.05", "1217,11,4.20,5,0.05,9", "line 2: 6 values for 5 columns"),
        ("orders.csv", "2024-03-02 09:00:00.000", "the second", "line 2: orderDate is 'the second', not a date"),
        ("products.csv", "4.20,6", "4.20,-6", "line 2: unitsInStock is '-6'; at least 0 is needed"),
        ("products.csv", "unitPrice", "price", "products.csv has no column unitPrice"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(folder: Path, file: str, old: str, new: str, says: str) -> None:
    spoil(folder / file, old, new)
    with pytest.raises(importer.ImportProblem) as problem:
        importer.read(folder)
    assert says in str(problem.value)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "orders.csv").unlink()
    with pytest.raises(importer.ImportProblem, match=r"orders\.csv cannot be read: No such file"):
        importer.read(folder)


def test_a_file_in_another_encoding_is_refused(folder: Path) -> None:
    (folder / "orders.csv").write_bytes(
        (folder / "orders.csv").read_text(encoding="utf-8").encode("latin-1", "replace")
    )
    with pytest.raises(importer.ImportProblem, match="not UTF-8"):
        importer.read(folder)


def test_an_order_without_a_line_is_refused(folder: Path) -> None:
    spoil(folder / "order-details.csv", "1234,18,1.95,3,0.05\n", "")
    with pytest.raises(importer.ImportProblem, match="no line for order 1234"):
        importer.read(folder)
