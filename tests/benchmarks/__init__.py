"""How fast it is, as ratios to a floor measured in the same run: times alone say more about the machine."""
