"""The pure rules: no Django, no clock, no dice, no input or output."""
