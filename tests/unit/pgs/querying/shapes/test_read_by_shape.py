"""Questions and the shapes that they have; what is not clear has none."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.shapes.names import Found, Place
from pgs_neo4j.pgs.querying.shapes.parts import Link, Shape
from pgs_neo4j.pgs.querying.shapes.question_words import ENGLISH
from pgs_neo4j.pgs.querying.shapes.read_by_shape import choose_shape, recognize
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords, find_titles


def make_label(label: str, **types: str) -> SchemaLabel:
    properties = (SchemaProperty(name=name, types=(type_,)) for name, type_ in types.items())
    return SchemaLabel(label=label, count=10, properties=tuple(properties))


def make_type(name: str, *ends: tuple[str, str], **types: str) -> SchemaType:
    properties = (SchemaProperty(name=one, types=(type_,)) for one, type_ in types.items())
    return SchemaType(type=name, count=10, properties=tuple(properties), ends=ends)


PAPERS = GraphSchema(
    labels=(
        make_label(
            "Paper",
            title="STRING",
            year="INTEGER",
            pages="INTEGER",
            status="STRING",
            isOpen="BOOLEAN",
        ),
        make_label("Author", name="STRING", born="INTEGER", country="STRING"),
        make_label("Topic", name="STRING"),
        make_label("ResearchGroup", name="STRING", founded="DATE", budget="FLOAT"),
    ),
    types=(
        make_type("WROTE", ("Author", "Paper")),
        make_type("CITES", ("Paper", "Paper")),
        make_type("ABOUT", ("Paper", "Topic")),
        make_type("MEMBER_OF", ("Author", "ResearchGroup")),
        make_type("FUNDED_BY", ("Paper", "ResearchGroup")),
    ),
)
MOVIES = GraphSchema(
    labels=(
        make_label(
            "Movie",
            title="STRING",
            released="ZONED DATETIME",
            imdbRating="FLOAT",
            revenue="INTEGER",
        ),
        make_label("Person", name="STRING", born="INTEGER"),
        make_label("Genre", name="STRING"),
        make_label("User", name="STRING", reputation="INTEGER", createdAt="ZONED DATETIME"),
        make_label("Review", reviewId="STRING", stars="INTEGER"),
        make_label("Quiz", name="STRING", question_count="INTEGER"),
        make_label("Question", title="STRING"),
    ),
    types=(
        make_type("ACTED_IN", ("Person", "Movie")),
        make_type("DIRECTED", ("Person", "Movie"), ("User", "Movie")),
        make_type("IN_GENRE", ("Movie", "Genre")),
        make_type("RATED", ("User", "Movie"), rating="FLOAT"),
        make_type("WROTE", ("User", "Review")),
        make_type("REVIEWS", ("Review", "Movie")),
        make_type("HAS_QUESTION", ("Quiz", "Question")),
    ),
)
NAMES = {
    ("Author", "name"): ("Ann Smith", "Bob", "Bob Marley"),
    ("Author", "country"): ("France",),
    ("Paper", "title"): ("Kiln Design", "On Glazes", "Kilns in 2020"),
    ("Paper", "status"): ("draft", "final"),
    ("Topic", "name"): ("Kilns", "glazes"),
    ("ResearchGroup", "name"): ("Clay Lab", "France"),
    ("Person", "name"): ("Tom Hanks", "Meg Ryan"),
    ("Movie", "title"): ("Jaws", "You've Got Mail", "Meg Ryan"),
    ("Genre", "name"): ("Horror", "Comedy"),
    ("User", "name"): ("Ann Smith",),
}


def make_words(schema: GraphSchema) -> SchemaWords:
    return SchemaWords(schema, find_titles(schema, GraphMapping()), ENGLISH)


def read(schema: GraphSchema, question: str) -> Shape | str:
    """Return the shape of a question, whose names are found among NAMES."""
    words = make_words(schema)
    recognized = recognize(words, question)
    texts = {
        (Place(*place), name.lower()): [Found(name, 1, f"{place[0]} {name}")]
        for place, names in NAMES.items()
        for name in names
    }
    if not recognized.shapes:
        return recognized.reason
    return choose_shape(words, recognized.shapes, texts)


def outline(shape: Shape | str) -> str:
    """Return a shape on one line."""
    assert isinstance(shape, Shape), shape

    def show(link: Link) -> str:
        (route,) = link.routes[:1]
        arrow = f"-{route.type}>" if route.outgoing else f"<{route.type}-"
        return f"{arrow}{route.label}" + (f"({link.property}={link.name})" if link.name else "")

    parts = [shape.kind, *([shape.function] if shape.function else ()), "/".join(shape.labels)]
    parts += map(show, shape.links)
    for one in shape.conditions:
        year = ".year" if one.of_year else ""
        parts.append(f"{one.properties[0]}{year}{one.sign}{one.value}")
    parts += [f"shows {shape.shown}"] if shape.shown else []
    if shape.measure or shape.counted:
        order = "" if shape.descending else "-"
        parts.append(f"by {order}{show(shape.counted) if shape.counted else shape.measure}")
    if shape.group:
        year = ".year" if shape.group.of_year else ""
        by = show(shape.group.link) if shape.group.link else shape.group.property + year
        parts.append(f"per {by}")
    parts += [f"at most {shape.limit}"] if shape.limit else []
    parts += [f"{end.label}({end.property}={end.name})" for end in shape.ends]
    return " ".join(filter(None, parts))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many papers are there?", "count Paper"),
        ("number of authors", "count Author"),
        ("Count the topics.", "count Topic"),
        ("What is the total number of research groups?", "count ResearchGroup"),
        ("how many papres are there", "count Paper"),
        ("How many papers did Ann Smith write?", "count Paper <WROTE-Author(name=Ann Smith)"),
        ("How many papers has ann smith written?", "count Paper <WROTE-Author(name=Ann Smith)"),
        ("How many papers were written by Bob?", "count Paper <WROTE-Author(name=Bob)"),
        ("How many papers are about the topic Kilns?", "count Paper -ABOUT>Topic(name=Kilns)"),
        ("How many papers of 2020 are there?", "count Paper year=2020"),
        ("How many papers were published after 2010?", "count Paper year>2010"),
        ("How many papers were published before 2010?", "count Paper year<2010"),
        (
            "How many papers were published between 2010 and 2015?",
            "count Paper year>=2010 year<=2015",
        ),
        ("How many papers with more than 20 pages are there?", "count Paper pages>20"),
        ("How many papers have at least 20 pages?", "count Paper pages>=20"),
        (
            "How many papers did Ann Smith write in 2020?",
            "count Paper <WROTE-Author(name=Ann Smith) year=2020",
        ),
        ("How many papers are open?", "count Paper isOpen=True"),
        ("How many authors wrote a paper?", "count Author -WROTE>Paper"),
        ("How many papers whose status is 'draft'?", "count Paper status=draft"),
        ("How many research groups were founded in 1999?", "count ResearchGroup founded.year=1999"),
        ("How many authors were born in 1980?", "count Author born=1980"),
    ],
)
def test_counts(question: str, expected: str) -> None:
    assert outline(read(PAPERS, question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("List all topics", "list Topic"),
        ("Please list the names of all authors.", "list Author shows name"),
        ("What are the pages of papers by Bob?", "list Paper <WROTE-Author(name=Bob) shows pages"),
        ("Which papers cite Kiln Design?", "list Paper -CITES>Paper(title=Kiln Design)"),
        ("Which papers are cited by Kiln Design?", "list Paper <CITES-Paper(title=Kiln Design)"),
        ("Which papers does 'Kiln Design' cite?", "list Paper <CITES-Paper(title=Kiln Design)"),
        ("Which papers have cited On Glazes?", "list Paper -CITES>Paper(title=On Glazes)"),
        (
            "Which papers were cited by \u201cOn Glazes\u201d?",
            "list Paper <CITES-Paper(title=On Glazes)",
        ),
        ("Who wrote On Glazes?", "list Author -WROTE>Paper(title=On Glazes)"),
        ("Who wrote the paper 'On Glazes'?", "list Author -WROTE>Paper(title=On Glazes)"),
        ("What did Ann Smith write?", "list Paper <WROTE-Author(name=Ann Smith)"),
        ("Show the papers of Bob Marley", "list Paper <WROTE-Author(name=Bob Marley)"),
        ("Show three papers by Bob", "list Paper <WROTE-Author(name=Bob) at most 3"),
        (
            "Which papers were funded by Clay Lab?",
            "list Paper -FUNDED_BY>ResearchGroup(name=Clay Lab)",
        ),
        (
            "Find authors that are members of the research group Clay Lab",
            "list Author -MEMBER_OF>ResearchGroup(name=Clay Lab)",
        ),
        (
            "Which papers by Bob cite Kiln Design?",
            "list Paper <WROTE-Author(name=Bob) -CITES>Paper(title=Kiln Design)",
        ),
        (
            "Find papers with a status of 'FINAL' and with more than 10 pages",
            "list Paper status=final pages>10",
        ),
        (
            "List the papers in the topic glazes published since 2019",
            "list Paper -ABOUT>Topic(name=glazes) year>=2019",
        ),
        ("List the papers called Kiln Design", "list Paper title=Kiln Design"),
        ("Which paper cites a paper?", "list Paper -CITES>Paper"),
        ("Papers by Bob in 2020", "list Paper <WROTE-Author(name=Bob) year=2020"),
        ("List papers with year over 2000, by Bob", "list Paper <WROTE-Author(name=Bob) year>2000"),
        (
            "papers by the author Bob Marley about Kilns",
            "list Paper <WROTE-Author(name=Bob Marley) -ABOUT>Topic(name=Kilns)",
        ),
        (
            "List authors of the paper Kiln Design born after 1980",
            "list Author -WROTE>Paper(title=Kiln Design) born>1980",
        ),
        ("Which topics does Kiln Design have?", "list Topic <ABOUT-Paper(title=Kiln Design)"),
        ("What is the year of the paper Kiln Design?", "list Paper title=Kiln Design shows year"),
        ("papers with between 10 and 20 pages", "list Paper pages>=10 pages<=20"),
        ("Which papers have 20 or more pages?", "list Paper pages>=20"),
        ("List the first 3 topics", "list Topic at most 3"),
        ("Find papers that Kiln Design cites", "list Paper <CITES-Paper(title=Kiln Design)"),
        (
            "Which papers that Bob wrote cite Kiln Design?",
            "list Paper <WROTE-Author(name=Bob) -CITES>Paper(title=Kiln Design)",
        ),
    ],
)
def test_lists(question: str, expected: str) -> None:
    assert outline(read(PAPERS, question)) == expected


@pytest.mark.parametrize(
    ("schema", "question", "expected"),
    [
        (PAPERS, "Which author has the most papers?", "top Author by -WROTE>Paper"),
        (PAPERS, "Which authors have written the most papers?", "top Author by -WROTE>Paper"),
        (PAPERS, "Top 3 authors by number of papers", "top Author by -WROTE>Paper at most 3"),
        (PAPERS, "Which topic has the most papers?", "top Topic by <ABOUT-Paper"),
        (PAPERS, "Top 5 papers by pages", "top Paper by pages at most 5"),
        (PAPERS, "Which two papers have the least pages?", "top Paper by -pages at most 2"),
        (
            PAPERS,
            "the 10 research groups with the highest budget",
            "top ResearchGroup by budget at most 10",
        ),
        (PAPERS, "Which is the oldest paper?", "top Paper by -year"),
        (
            PAPERS,
            "Show the latest paper by Ann Smith",
            "top Paper <WROTE-Author(name=Ann Smith) by year",
        ),
        (MOVIES, "the 3 movies with the lowest IMDb rating", "top Movie by -imdbRating at most 3"),
        (
            MOVIES,
            "Which user with a reputation above 100 wrote the most reviews?",
            "top User reputation>100 by -WROTE>Review",
        ),
        (
            MOVIES,
            "What are the titles of the top 5 movies by revenue released before 2000?",
            "top Movie released.year<2000 shows title by revenue at most 5",
        ),
        (MOVIES, "Who are the youngest persons?", "top Person by born"),
    ],
)
def test_tops(schema: GraphSchema, question: str, expected: str) -> None:
    assert outline(read(schema, question)) == expected


@pytest.mark.parametrize(
    ("schema", "question", "expected"),
    [
        (PAPERS, "How many papers per year?", "count Paper per year"),
        (PAPERS, "Number of papers by topic", "count Paper per -ABOUT>Topic"),
        (PAPERS, "How many papers did each author write?", "count Paper per <WROTE-Author"),
        (
            PAPERS,
            "How many papers by Bob per year?",
            "count Paper <WROTE-Author(name=Bob) per year",
        ),
        (PAPERS, "How many authors are there in each country?", "count Author per country"),
        (PAPERS, "How many research groups per year?", "count ResearchGroup per founded.year"),
        (PAPERS, "average pages of papers", "aggregate avg Paper by pages"),
        (
            PAPERS,
            "What is the average number of pages of papers per year?",
            "aggregate avg Paper by pages per year",
        ),
        (
            PAPERS,
            "total pages of papers by Bob",
            "aggregate sum Paper <WROTE-Author(name=Bob) by pages",
        ),
        (
            MOVIES,
            "average IMDb rating for each genre",
            "aggregate avg Movie by imdbRating per -IN_GENRE>Genre",
        ),
        (
            MOVIES,
            "What is the highest revenue of movies in the genre Horror?",
            "aggregate max Movie -IN_GENRE>Genre(name=Horror) by revenue",
        ),
    ],
)
def test_groups(schema: GraphSchema, question: str, expected: str) -> None:
    assert outline(read(schema, question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How are Ann Smith and Bob connected?", "paths Author(name=Ann Smith) Author(name=Bob)"),
        (
            "How is Ann Smith related to 'On Glazes'?",
            "paths Author(name=Ann Smith) Paper(title=On Glazes)",
        ),
        (
            "What connects Ann Smith with Kiln Design?",
            "paths Author(name=Ann Smith) Paper(title=Kiln Design)",
        ),
        (
            "Find the shortest path between Bob and the topic Kilns",
            "paths Author(name=Bob) Topic(name=Kilns)",
        ),
    ],
)
def test_paths(question: str, expected: str) -> None:
    assert outline(read(PAPERS, question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which movies did Tom Hanks act in?", "list Movie <ACTED_IN-Person(name=Tom Hanks)"),
        ("Which movies has Meg Ryan acted in?", "list Movie <ACTED_IN-Person(name=Meg Ryan)"),
        ('Who acted in "You\'ve Got Mail"?', "list Person -ACTED_IN>Movie(title=You've Got Mail)"),
        ("Who directed Jaws?", "list Person/User -DIRECTED>Movie(title=Jaws)"),
        ("How many movies are in the genre horror?", "count Movie -IN_GENRE>Genre(name=Horror)"),
        (
            "How many movies released after 2010 are in the Comedy genre?",
            "count Movie -IN_GENRE>Genre(name=Comedy) released.year>2010",
        ),
        (
            "Which users created in 2020 rated Jaws?",
            "list User -RATED>Movie(title=Jaws) createdAt.year=2020",
        ),
    ],
)
def test_movies(question: str, expected: str) -> None:
    assert outline(read(MOVIES, question)) == expected


@pytest.mark.parametrize(
    ("schema", "question", "reason"),
    [
        (PAPERS, "How many papers did Ann Smith not write?", "“not” excludes something"),
        (PAPERS, "Which papers don't cite Kiln Design?", "“don't” excludes"),
        (PAPERS, "papers without a topic", "“without” excludes"),
        (PAPERS, "Which papers cite Kiln Design except On Glazes?", "“except” excludes"),
        (PAPERS, "Which papers only cite Kiln Design?", "“only” excludes"),
        (PAPERS, "Which papers were written by Ann Smith or Bob?", "no node"),
        (PAPERS, "Which papers are by Ann Smith and Bob?", "no node"),
        (PAPERS, "Which papers cite papers by Bob?", "no node"),
        (PAPERS, "How many papers did Charles write?", "is called “Charles”"),
        (PAPERS, "How many films are there?", "label of the graph"),
        (PAPERS, "How many genes are there?", "label of the graph"),
        (PAPERS, "Which authors cite Kiln Design?", "“cite Kiln Design” has no place"),
        (PAPERS, "Which papers did Kiln Design write?", "no node"),
        (PAPERS, "Which authors were written by Kiln Design?", "has no place"),
        (PAPERS, "Which papers by Clay Lab?", "no node"),
        (PAPERS, "Show the authors of France", "a value of Author.country"),
        (PAPERS, "Which papers were written for Bob?", "“were written for Bob” has no place"),
        (PAPERS, "papers written about Bob", "“written about Bob” has no place"),
        (PAPERS, "authors who wrote about Kiln Design", "“who wrote about Kiln Design”"),
        (PAPERS, "What did Ann Smith write about?", "no node"),
        (PAPERS, "Which papers did Bob write for?", "“for” has no place"),
        (PAPERS, "papers to Bob", "“to Bob” has no place"),
        (PAPERS, "papers on Bob", "no node"),
        (PAPERS, "papers cited in Kiln Design", "“cited in Kiln Design” has no place"),
        (PAPERS, "papers by 'Kiln Design'", "no node"),
        (PAPERS, "papers by ' '", "has no place"),
        (PAPERS, "Which authors wrote papers in 2020?", "no node|has no place"),
        (PAPERS, "Which author has the most papers in 2020?", "“in 2020” has no place"),
        (PAPERS, "Which author has the fewest papers?", "may or may not mean"),
        (PAPERS, "Which papers cite Kiln Design in 2020?", "no node|may be about"),
        (PAPERS, "List the first 3 papers", "the earliest or any of the nodes Paper"),
        (PAPERS, "List the top 3 papers", "by which number"),
        (PAPERS, "How many papers per year and topic?", "“and topic” has no place"),
        (PAPERS, "How many papers are in 2020 or 2021?", "“or 2021” has no place"),
        (PAPERS, "How many papers were published in May 2020?", "has no place"),
        (PAPERS, "How many papers were published on 2020-05-01?", "has no place"),
        (PAPERS, "How many papers were published in the 1990s?", "has no place"),
        (PAPERS, "How many papers have the word kiln in the title?", "no node"),
        (PAPERS, "How many papers are there in German?", "no node"),
        (PAPERS, "How many distinct papers are there?", "label of the graph"),
        (PAPERS, "How many papers and authors are there?", "has no place"),
        (PAPERS, "Which authors wrote more than 3 papers?", "has no place"),
        (PAPERS, "papers longer than 10 pages", "has no place"),
        (PAPERS, "How are Bob and Ann Smith and Kilns connected?", "no node"),
        (PAPERS, "How are Bob and Ann Smith connected by papers?", "known way|no node"),
        (PAPERS, "Why did Bob write Kiln Design?", "label of the graph"),
        (PAPERS, "Does Bob cite Kiln Design?", "label of the graph"),
        (PAPERS, "Kilns", "label of the graph"),
        (PAPERS, "papers", "no known way"),
        (PAPERS, "?", "no word"),
        (PAPERS, "x" * 501, "no word or over 500 characters"),
        (MOVIES, "Show the movies of Tom Hanks", "ACTED_IN .Person. or by DIRECTED .Person."),
        (MOVIES, "What is the average rating of movies?", "of nodes or of relationships"),
        (MOVIES, "Which quiz has the most questions?", "may hold the number of Question"),
        (MOVIES, "Which users reviewed Jaws?", "has no place"),
        (MOVIES, "Which users rated Jaws above 4?", "no node"),
        (MOVIES, "How many movies did Tom Hanks and Meg Ryan act in?", "no node"),
        (MOVIES, "Which user has the most reviews in 2020?", "has no place"),
        (MOVIES, "count movies by genre with imdb rating above 4", "no node|has no place"),
        (MOVIES, "Which movies star Tom Hanks?", "“star Tom Hanks” has no place"),
    ],
)
def test_refusals(schema: GraphSchema, question: str, reason: str) -> None:
    read_as = read(schema, question)
    assert isinstance(read_as, str), outline(read_as)
    assert re.search(reason, read_as)


@pytest.mark.parametrize(
    "question",
    [
        "papers " + "by Bob about Kilns and " * 20,
        "papers with 10 pages " + "and with 10 pages " * 25,
        "papers of " + "Bob in 2020 by " * 30,
    ],
)
def test_a_question_with_too_many_readings_is_refused(question: str) -> None:
    assert "in too many ways" in str(read(PAPERS, question[:500]))


def test_a_name_of_several_nodes_is_refused() -> None:
    words = make_words(PAPERS)
    shapes = recognize(words, "Which papers were written by Bob?").shapes
    place = Place("Author", "name")
    twice = choose_shape(words, shapes, {(place, "bob"): [Found("Bob", 2, "1")]})
    assert twice == "several nodes Author are called “Bob”"
    spelled = {(place, "bob"): [Found("BOB", 1, "1"), Found("boB", 1, "2")]}
    refused = str(choose_shape(words, shapes, spelled))
    assert "may be Author “BOB” or Author “boB”" in refused


def test_the_spelling_of_the_question_decides() -> None:
    words = make_words(PAPERS)
    shapes = recognize(words, "Which papers were written by Bob?").shapes
    texts = {(Place("Author", "name"), "bob"): [Found("BOB", 1, "1"), Found("Bob", 1, "2")]}
    assert "(name=Bob)" in outline(choose_shape(words, shapes, texts))


def test_two_readings_are_named() -> None:
    schema = replace(PAPERS, types=(*PAPERS.types, make_type("WRITES", ("Author", "Paper"))))
    refused = read(schema, "Which papers were written by Bob?")
    assert "WRITES (Author) or by WROTE (Author)" in str(refused)


def test_the_mapping_names_the_titles() -> None:
    schema = GraphSchema(labels=(make_label("Part", code="STRING", name="STRING"),))
    assert find_titles(schema, GraphMapping()) == {"Part": ("name",)}
    assert find_titles(schema, GraphMapping(title="code")) == {"Part": ("code", "name")}
    view = GraphMapping(labels=("Part",), titles=("Part.code",))
    assert find_titles(schema, view) == {"Part": ("code", "name")}
