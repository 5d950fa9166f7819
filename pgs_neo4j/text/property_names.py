"""Decides by a property's name whether it contains a node's name, a text, or something else.

The last words show the kind of value: ``productName`` is a name, and ``nameId`` is not. The words
before them show the owner: a ``shipName`` on an order is not the name of the order.
"""

from __future__ import annotations

import re

from pgs_neo4j.text.accents import strip_accents

# Best first: if two properties cover equally many nodes, the earlier word wins.
TITLE_WORDS = (
    "title",
    "name",
    "label",
    "headline",
    "heading",
    "subject",
    "caption",
    "username",
    "fullname",
    "displayname",
    "screenname",
    "nickname",
    "handle",
    "surname",
    "lastname",
    "nachname",
    "familienname",
    "apellido",
    "apellidos",
    "cognome",
    "titel",
    "titre",
    "titulo",
    "titolo",
    "nom",
    "nome",
    "nombre",
    "naam",
    "bezeichnung",
)
TEXT_WORDS = (
    "text",
    "content",
    "body",
    "description",
    "summary",
    "abstract",
    "concept",
    "definition",
    "comment",
    "note",
    "notes",
    "comments",
    "overview",
    "plot",
    "synopsis",
    "tagline",
    "motto",
    "slogan",
    "bio",
    "biography",
    "about",
    "markdown",
    "message",
    "review",
    "question",
    "answer",
    "quote",
    "lyrics",
    "story",
    "narrative",
    "transcript",
    "excerpt",
    "snippet",
    "paragraph",
    "remarks",
    "details",
    "explanation",
    "doc",
    "docstring",
    "documentation",
    "beschreibung",
    "descripcion",
    "texte",
    "texto",
    "contenu",
)
KEY_WORDS = ("id", "uuid", "guid", "key", "identifier", "uri", "iri", "doi", "isbn", "slug", "code")
NUMBER_WORDS = ("number", "no", "nr", "num", "serial", "sku", "accession", "codigo", "kennung")
"""Words of keys that may also number lines or places. They are keys only if values are unique."""

# Words before a title word: for the node itself, for the thing it stands for, and for other things.
_OWN_WORDS = """
display full screen user nick common preferred short official legal proper main english
"""
_ENTITY_WORDS = """
company organization organisation org business firm institution person entity item object thing
concept topic term resource record node
"""
_FOREIGN_WORDS = """
contact ship shipping shipped bill billing delivery sender recipient receiver site host domain bank
owner author parent father mother manager supervisor spouse partner agent first middle given maiden
original former previous old alt alternate alternative job work position role academic courtesy file
column table field class type category group source channel
"""
# Words of values that contain only one fact. The last word decides, or any word if it is unknown.
_OTHER_WORDS = """
address addr street city town state region province country countries county continent district zip
zipcode postcode postalcode postal location place lat lng lon latitude longitude coordinates coord
timezone tz geo office phone telephone tel mobile fax email mail url urls uri iri link links href
homepage website site domain web image img picture photo poster avatar logo icon thumbnail path
filename file backdrop banner video audio id ids uuid guid key code codes iso isbn issn doi sku ean
upc hash md5 sha checksum digest token slug tld iban bic swift vat ssn ruc number num nr serial
reference ref etag str hex version status type types kind category class level grade gender sex role
roles language languages lang locale currency color colour format method mode priority severity unit
units mimetype encoding rating sentiment jurisdiction nationality religion courtesy salutation
position rank provider platform license licence visibility access until valid quantity qty amount
size weight height width length count price cost freight budget revenue duration runtime age score
votes date time datetime timestamp day month year created updated modified at on since begin end
start born died birth birthday dob expires expiry deadline period author authors creator owner
editor publisher beneficiary originator
"""
_OWN = frozenset(_OWN_WORDS.split())
_ENTITY = frozenset(_ENTITY_WORDS.split())
_FOREIGN = frozenset(_FOREIGN_WORDS.split())
_OTHER = frozenset(_OTHER_WORDS.split())
_PERSONAL = frozenset(("last", "family", "sur"))
_FAMILY = frozenset(
    ("surname", "lastname", "nachname", "familienname", "apellido", "apellidos", "cognome")
)

# Runs of lower-case letters with the capital before them, or capitals.
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
_WORD_OR_NUMBER = re.compile(rf"{_WORD.pattern}|\d+")


def split_words(name: str, *, numbers: bool = False) -> tuple[str, ...]:
    """Return the words of a name in lower case, without accents, and its ``numbers`` if wanted.

    ``displayName`` and ``display_name`` have two.
    """
    pattern = _WORD_OR_NUMBER if numbers else _WORD
    return tuple(word.lower() for word in pattern.findall(strip_accents(name[:200])))


def rank_name(name: str, vocabulary: tuple[str, ...]) -> int | None:
    """Return the index in ``vocabulary`` of a name's last two words joined, or its last word.

    None if neither is in it.
    """
    parts = split_words(name)
    ends = ("".join(parts[-2:]), *parts[-1:])
    return next((vocabulary.index(end) for end in ends if end in vocabulary), None)


def rank_title(label: str, name: str) -> int | None:
    """Return how directly a property names the nodes of a label; None if it does not.

    0: ``name``. 1: ``productName`` on a product, ``displayName``, or ``keyword`` on a keyword.
    2: ``companyName`` on anything. 3: ``lastName``. 4: the name of something unknown, which may be
    the node. A ``shipName`` is never the name of an order, and a ``jobTitle`` never the name of a
    person.
    """
    parts = split_words(name)
    if rank_name(name, TITLE_WORDS) is None:
        return 1 if is_part(parts, label) else None
    before = parts[:-1]
    if parts[-1] in _FAMILY or (before and before[-1] in _PERSONAL):
        return 3
    if not before:
        return 0
    if is_part(before, label) or set(before) <= _OWN:
        return 1
    if set(before) & _FOREIGN:
        return None
    return 2 if set(before) <= _ENTITY | _OWN else 4


def is_part(words: tuple[str, ...], label: str) -> bool:
    """Return whether words are a label or its end, such as ``company`` in ``ProductionCompany``."""
    own = split_words(label)
    return bool(words) and (own[-len(words) :] == words or "".join(words) == "".join(own))


def names_another(label: str, name: str) -> bool:
    """Return whether a property with this name names something other than the nodes of a label."""
    rank = rank_title(label, name)
    return rank_name(name, TITLE_WORDS) is not None and (rank is None or rank >= 2)


def names_text(name: str) -> bool:
    """Return whether a property with this name contains a text to read."""
    return rank_name(name, TEXT_WORDS) is not None


def names_fact(name: str) -> bool:
    """Return whether a property with this name contains one fact: a code, a date, a place."""
    parts = split_words(name)
    if not parts or names_text(name) or rank_name(name, TITLE_WORDS) is not None:
        return False
    if parts[-1] in _OTHER or "".join(parts[-2:]) in _OTHER:
        return True
    return any(part in _OTHER for part in parts)
