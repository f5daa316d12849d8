"""The commands, as Django looks for them."""
