"""Settings of Sphinx for the manual as a site; see build.py."""

from pgs_neo4j import __version__

project = "pgs_neo4j"
author = "pgs_neo4j maintainers"
release = __version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"pgs_neo4j {__version__}"
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 4
# The pages also show programs that are not whole, and output that is no language.
suppress_warnings = ["misc.highlighting_failure"]
