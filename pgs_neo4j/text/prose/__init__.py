"""What of a reply is Markdown: a small grammar that leaves quoted text alone.

A model writes headings, lists, tables, bold words, and code, and it quotes a graph in between. The
graph's text must look as it is in the graph, so few marks have a meaning, and only where a writer
of prose would put them. All else is text: links, images, HTML, entities, backslashes, underscores,
and whatever stands in quotation marks. Reading takes time in proportion to the text.
"""
