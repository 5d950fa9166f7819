"""Progress on stderr and the answer on stdout, while a command runs."""
