"""Words that mean nearly the same in code, so that a question finds what shares no word with it.

One line a meaning. A word may stand in several lines. Only words that programmers use for each other are here: a
thesaurus of the language would find everything.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from laconic.index.search.terms import stem

_MEANINGS: Final = """
delete remove drop erase discard unlink destroy purge clear
delete erase forget prune wipe evict expire trash cleanup
create make build construct new generate produce instantiate
get fetch load retrieve obtain read lookup find
set assign store put save write update
save store persist write dump
error exception failure fault fail
raise throw abort panic
login authenticate authentication auth signin credential password
logout signout
permission authorization authorize access allow grant privilege role
user account member principal identity
start begin launch run boot init initialize open
stop end halt shutdown terminate close finish kill
pause suspend wait sleep
resume continue restart
retry again repeat attempt backoff
timeout deadline expire expiry ttl
cache memo memoize remember lru
check validate verify ensure assert test
parse read decode deserialize load unmarshal
serialize encode marshal dump stringify format
convert transform cast coerce translate map
compare equal equals match diff cmp
sort order rank arrange
filter select choose pick
merge combine join concat append unite
split separate divide partition chunk
copy clone duplicate replicate
backup snapshot archive dump copy
restore recover
old stale outdated obsolete previous legacy expired former
unique distinct dedupe deduplicate duplicate
send emit dispatch publish post transmit deliver
receive accept consume listen subscribe
request query call invoke ask
response reply answer result
message event notification signal
notify alert inform trigger fire
handler callback listener hook observer subscriber
middleware interceptor filter plugin
route path url endpoint uri
router dispatcher multiplexer mux
header field metadata
body payload content data
config configuration setting option preference property
parameter argument param arg
default fallback
environment env variable
list array collection sequence
dictionary map dict hash table mapping object
key name identifier id
queue buffer backlog
stack push pop
lock mutex synchronize guard latch semaphore
thread worker task job coroutine goroutine
async concurrent parallel nonblocking
schedule cron timer delay interval
log logger logging trace record
print output display show render
render draw paint display
template view layout
file document path
directory folder dir
stream pipe reader writer
socket connection conn channel
connect dial attach link
disconnect detach close
server listener host
client consumer session
session cookie token
encrypt cipher encode crypto
decrypt decipher decode
hash digest checksum fingerprint
sign signature
compress zip deflate gzip pack
decompress unzip inflate unpack
escape quote sanitize
hide mask conceal redact obscure suppress omit
reveal expose show unmask
password passphrase secret
unescape unquote
trim strip
replace substitute swap
insert add append put
count number size length total
limit maximum max cap bound quota throttle
minimum min least
rate throttle speed
speed bandwidth throughput rate performance limiter
slow throttle limit limiter lag latency
network connection remote bandwidth transfer upload download
increase increment grow raise
decrease decrement shrink reduce
resize scale
enable activate turn
disable deactivate
register add install subscribe
unregister remove uninstall unsubscribe
import include require load
export expose publish
dependency inject require
resolve lookup find
inherit extend derive subclass
override replace
wrap decorate enclose
proxy delegate forward
redirect forward move
migrate upgrade
version revision release
commit save
rollback undo revert
transaction atomic
database db storage store
space disk size capacity
memory heap allocation
table relation model entity
column field attribute
row record entry
query select search find
index catalog
iterate loop walk traverse visit
recursive nested
node element vertex
tree hierarchy
parent ancestor owner
child descendant
root top base
generate produce yield
random shuffle
date time timestamp clock
duration interval period
text string
character char rune letter
number numeric integer
boolean bool flag
null nil none missing empty undefined
type class kind
interface protocol trait contract
method function procedure routine
command cmd action
shell terminal console prompt
completion autocomplete suggestion
help usage documentation
color colour style
warn warning deprecate
debug inspect
test spec
mock fake stub
measure metric stat
monitor watch observe
crash panic abort fatal
broken corrupt damaged invalid malformed
repair fix heal recover
guess infer deduce detect
rename move
link symlink alias reference
picture image photo
mail email
pay payment charge bill invoice
money price amount currency cost
buy purchase order checkout
language locale translation
big large huge
whole full entire complete
part partial fragment piece
health status state
state status phase
context scope environment
error code status
upload send
download fetch
paginate page
security csrf cors
"""


@cache
def _by_stem() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _MEANINGS.strip().split("\n"):
        words = [stem(word) for word in line.split()]
        for word in words:
            found.setdefault(word, set()).update(words)
    made: dict[str, frozenset[str]] = {}
    for word, others in found.items():
        made[word] = frozenset(others - {word})
    return made


def related_stems(word: str) -> frozenset[str]:
    """The stems of words that mean nearly what this one does."""
    return _by_stem().get(stem(word), frozenset())


@cache
def related_words(word: str) -> tuple[str, ...]:
    """Whole words that mean nearly what this one does."""
    wanted = stem(word)
    found: dict[str, None] = {}
    for line in _MEANINGS.strip().split("\n"):
        words = line.split()
        if any(stem(each) == wanted for each in words):
            found.update(dict.fromkeys(each for each in words if stem(each) != wanted))
    return tuple(found)
