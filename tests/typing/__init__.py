"""Programs for type checkers to read; only test_typing.py runs anything."""
