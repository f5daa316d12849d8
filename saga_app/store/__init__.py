"""THE ONLY WRITER: every row of ours is written in this package, and nowhere else."""
