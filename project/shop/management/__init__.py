"""The commands of the host site."""
