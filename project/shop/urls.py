"""Where the shop's pages are."""

from __future__ import annotations

from django.urls import path

from project.shop import views

urlpatterns = [
    path("", views.counter, name="counter"),
    path("mend/", views.mend_everything, name="mend-everything"),
    path("live/", views.counter_live, name="counter-live"),
    path("orders/<str:number>/", views.order_page, name="order"),
    path("orders/<str:number>/live/", views.order_live, name="order-live"),
    path("orders/<str:number>/mend/", views.mend, name="mend"),
]
