"""Every digit is set apart from the next: what is wrong with one thousand is then seen at ten."""

THOUSAND_SEPARATOR = "~"
NUMBER_GROUPING = 1
DECIMAL_SEPARATOR = "~"
