"""The users of that site."""

from __future__ import annotations

from uuid import uuid4

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models


class EmailUser(AbstractBaseUser):
    """Everybody may do everything."""

    id = models.UUIDField(primary_key=True, default=uuid4)
    email = models.EmailField(unique=True)

    USERNAME_FIELD = "email"
    is_staff = True

    objects = BaseUserManager["EmailUser"]()

    class Meta:
        app_label = "own_users"

    def __str__(self) -> str:
        return self.email

    def has_perm(self, permission: str, thing: object = None) -> bool:
        return True

    def has_module_perms(self, app: str) -> bool:
        return True
