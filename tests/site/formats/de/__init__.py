"""German, with numbers that no program could read."""
