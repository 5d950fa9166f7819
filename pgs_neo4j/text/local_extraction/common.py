"""Words of everyday English that are rarely names of anything, though they carry meaning."""

from __future__ import annotations

from pgs_neo4j.text.gist import GENERIC
from pgs_neo4j.text.matching import root

_VERBS = """
accept achieve act add affect agree allow answer appear apply argue arrive assume attempt attend
avoid base believe belong bring build buy call carry catch change check choose claim close collect
combine compare complete confirm connect contribute control copy correct cover create cut deal
decide declare decrease define delete deliver demand depend derive describe design destroy determine
develop die divide draw drop earn eat elect enable encourage end ensure enter establish estimate
exist expand expect experience explain express extend face fail fall feel fight fill fix focus force
gain grow guess handle hang hear help hit hold hope identify ignore imagine implement improve
increase indicate inform install intend introduce invite involve join kill lack last lay lead learn
leave lie listen live load lose love maintain manage mark match measure meet mention miss modify
move notice observe obtain occupy offer open operate order organize own pass pay perform permit pick
plan play point prefer prepare press prevent print produce promise propose protect prove publish
pull push raise reach react read realize receive recognize record reduce refuse reject release rely
remain remember remove repeat replace reply represent require resolve respond rest return reveal
ride rise run save search sell send separate serve set share shift shoot sing sit sleep solve speak
spend spread stand start stay stop store struggle study succeed suffer supply support suppose
surround survive switch talk teach tend test throw touch train travel treat turn understand update
visit vote wait walk warn wash watch wear win wonder write
"""
_OTHERS = """
able active actual additional advanced amount area aspect available average bad basic beginning big
bit body broad capable century certain character choice class clean clear closed cold color common
community condition contrast cost country course current custom daily dark date day dead death deep
default degree detail difficult direct direction distance early easy edge effective element empty
entire equal error event evidence exact existing extra fact fast father field figure final fine free
frequent friend fully future good ground half hand happy hard head heavy home hot hour house huge
human idea image important individual initial interest internal job key kind land language latter
law leader left length letter life light line list living local location lot main major man manner
map matter member memory middle mind minor minute modern moment money month morning mother movement
natural nature necessary need normal note object old open opinion option page pair parent past
people period person piece popular position power private program project public purpose quality
quick quiet range ready real reason region regular report response rich right room rule science
season sense series service shape short side sign significant simple single situation size social
society sort sound source space stage standard state story street strong style success sun surface
table team text thing title today tomorrow tool top total town traditional true type understanding
unique unit user usual value version view voice war water weak week weight wide wife woman word
world wrong year yesterday young
"""
COMMON = frozenset(map(root, (*_VERBS.split(), *_OTHERS.split(), *GENERIC)))
"""The roots of these words."""
