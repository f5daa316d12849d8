"""A host site for saga_app: a small shop, its demo and its soak run."""
