"""The door for shells: `manage.py saga`."""
