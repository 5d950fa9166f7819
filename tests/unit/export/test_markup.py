"""Whatever is not markup is escaped, in texts and in attributes."""

from __future__ import annotations

from pgs_neo4j.export.markup import Html, element, escaped, joined


def test_what_is_not_markup_is_escaped() -> None:
    assert escaped('a < b & "c"\'') == "a &lt; b &amp; &quot;c&quot;&#x27;"
    assert element("p", "<b>", Html("<b></b>"), class_="x", hidden=True, id=None) == (
        '<p class="x" hidden>&lt;b&gt;<b></b></p>'
    )
    assert element("i", title="\"'><b\x1b[0m>") == ('<i title="&quot;&#x27;&gt;&lt;b&gt;"></i>')
    assert element("meta", http_equiv="x") == '<meta http-equiv="x">'
    assert element("rect", x=1 / 3, viewBox="0") == '<rect x="0.33" viewBox="0"></rect>'
    assert joined(("<", Html("<br>")), ">") == "&lt;&gt;<br>"


def test_markup_that_is_added_to_text_is_text() -> None:
    assert escaped("a" + Html("<b>")) == "a&lt;b&gt;"
    assert escaped(Html("<b>") + "a") == "&lt;b&gt;a"
