"""The commands of pgs, by subject; ``cli/app.py`` lists them and imports each on first use."""
