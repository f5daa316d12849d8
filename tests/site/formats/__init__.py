"""How numbers are written on the test site, where a test asks for it."""
