"""The steps by which the shop's tables came to be."""
