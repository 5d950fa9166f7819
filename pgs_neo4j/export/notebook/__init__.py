"""Values as notebook cells: HTML fragments without scripts, in the notebook's colors."""
