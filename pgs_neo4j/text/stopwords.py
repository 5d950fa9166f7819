"""Words that reveal nothing about the subject of a text.

English function words, and what markup and graph exports leave in text. All are casefolded and
have three letters or more, as shorter words are never counted.
"""

_ENGLISH = """
able about above according across actual actually after afterwards again against ago ain all
almost alone along already also although always among amongst and another any anybody anyhow
anyone anything anyway anywhere apart are aren around aside ask asked asking away back became
because become becomes becoming been before beforehand began begin behind being below beside
besides best better between beyond both brief briefly but came can cannot case cases cause causes
certain certainly clear clearly come comes consequently consider considered considering contain
contained containing contains corresponding could couldn currently definitely described despite
did didn different does doesn doing don done down due during each either else elsewhere enough
entirely especially etc even eventually ever every everybody everyone everything everywhere
exactly example examples except far few fewer finally find finds first five follow followed
following follows for form former forms forth found four from full fully further furthermore gave
general generally get gets getting give given gives giving goes going gone got great had hadn
happen happened happens hardly has hasn have haven having hence her here hereby herein hers
herself high higher highly him himself his how however important include included includes
including indeed inside instead into isn its itself just keep keeps kept kind knew know known
knows large larger last late later latter least less let lets like likely little long longer look
looking looks lot low lower made main mainly make makes making many may maybe mean meaning means
meant meanwhile merely might mightn mine more moreover most mostly much must mustn myself namely
near nearly necessary need needed needn needs neither never nevertheless new next nine nobody non
none nor not nothing now nowhere obviously off often okay old once one ones only onto opposite
other others otherwise ought our ours ourselves out outside over overall own part particular
particularly past per perhaps place please plus possible possibly present presumably previous
previously probably provide provided provides providing put quite rather really recent recently
regarding regardless relatively respect respective respectively right said same saw say saying
says see seem seemed seeming seems seen self selves sent several shall shan she should shouldn
show showed showing shown shows similar similarly simple simply since six small smaller some
somebody somehow someone something sometime sometimes somewhat somewhere soon specific
specifically specified specify still such suggest suggested suggests sure take taken takes taking
tell ten tend tends than thank thanks that the their theirs them themselves then thence there
thereafter thereby therefore therein thereof these they thing things think third this thorough
thoroughly those though three through throughout thru thus till together too took toward towards
tried tries truly try trying turn twice two under unless unlike unlikely until upon use used
useful uses using usual usually various very via want wanted wants was wasn way ways well went
were weren what whatever when whence whenever where whereas whereby wherein wherever whether which
whichever while whilst who whoever whole whom whose why wide will willing wish with within without
won wonder work worked working works would wouldn yes yet you your yours yourself yourselves
"""

_NOISE = """
amp apos com edu false ftp gov href http https img jpeg jpg laquo ldquo lsquo mailto nan nbsp net
none null org png quot raquo rdquo rsquo src svg true undefined url utf www xmlns
"""

_GRAMMATICAL = """
a about above after again against all am an and any are aren as at be because been before being
below between both but by can cannot could couldn did didn do does doesn doing don down during each
either few for from further had hadn has hasn have haven having he her here hers herself him himself
his how i if in into is isn it its itself just ll me more most must my myself neither no nor not now
of off on once only or other our ours ourselves out over own per re same shall she should shouldn so
some such than that the their theirs them themselves then there these they this those through to
too under until up upon us ve very was wasn we were weren what when where whether which while who
whom whose why will with within without won would wouldn you your yours yourself yourselves
"""

GRAMMATICAL_WORDS = frozenset(_GRAMMATICAL.split())
"""Words that hold a sentence together, casefolded. The other function words, such as "high" or
"use", may belong to a subject: "high voltage"."""

FUNCTION_WORDS = frozenset(_ENGLISH.split())
"""English function words, casefolded."""

KEYWORD_STOP_WORDS = FUNCTION_WORDS.union(_NOISE.split())
"""Left out of keywords, casefolded."""
