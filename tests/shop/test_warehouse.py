"""The warehouse sends one parcel per order."""

from __future__ import annotations

import pytest

from project.shop import outside, warehouse


def test_an_order_has_one_parcel_however_often_it_is_asked_for() -> None:
    assert warehouse.ship(7) == warehouse.ship(7)
    assert [parcel.order_id for parcel in warehouse.parcels()] == [7]


def test_it_may_fail_once() -> None:
    outside.tell(outside.parcel_of(7), "fail", times=1)
    with pytest.raises(warehouse.WarehouseError):
        warehouse.ship(7)
    assert warehouse.parcels(7) == []
    assert warehouse.ship(7) == warehouse.parcels(7)[0].code


def test_a_closed_warehouse_says_when_it_opens() -> None:
    outside.tell(outside.parcel_of(7), "closed", times=outside.ALWAYS)
    with pytest.raises(warehouse.WarehouseClosed, match="60 minutes") as closed:
        warehouse.ship(7)
    assert closed.value.opens_in == 3600
