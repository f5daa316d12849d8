"""A site whose users have a UUID key and an e-mail address instead of a name."""
