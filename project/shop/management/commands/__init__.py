"""`manage.py demo` and `manage.py soak`."""
