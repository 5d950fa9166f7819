"""The commands of pgs, by subject; ``cli/app.py`` lists them and imports each when it is used."""
