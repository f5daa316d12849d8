"""A small host site for tests: a few tables, a value and an error of a user's own."""
