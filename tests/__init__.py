"""The proof. Folders follow the rooms of the package; what several of them use lies beside this file."""
