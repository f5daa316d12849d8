"""Cases from real users, each told as a test with real processes."""
