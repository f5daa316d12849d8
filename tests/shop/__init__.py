"""The demo shop, its importer, its demo and its soak."""
