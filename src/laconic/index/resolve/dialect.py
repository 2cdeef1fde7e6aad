"""What the resolver has to know about a language, as data: how names are found, which ones everybody uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final


@dataclass(frozen=True, slots=True)
class LanguageDialect:
    """One language as the resolver sees it."""

    family: str  # languages that can refer to each other's definitions
    me: frozenset[str] = frozenset({"this"})  # the object that a method runs on
    above: frozenset[str] = frozenset({"super"})  # the same, but members of its bases
    bare_members: bool = False  # a member of the own class is used without a receiver
    shared: str = ""  # who sees names without importing them: folder, package, all
    structural: bool = False  # a type is used as another without saying so in its bases
    types_stand_out: bool = True  # only types begin with a capital
    open_types: bool = False  # types of others may be given members of ours
    two_spaces: bool = False  # a field and a method of one type may have the same name
    shorthand: bool = False  # a bare name may stand for a property
    builtin: frozenset[str] = frozenset()  # types that are never ours


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Members that so many types have that a repository with only one of them proves nothing.
_MANY: Final = _words(
    "__bool__ __call__ __contains__ __delitem__ __enter__ __eq__ __exit__ __get__ __getattr__ __getitem__ "
    "__hash__ __init__ __iter__ __len__ __lt__ __new__ __next__ __repr__ __set__ __setattr__ __setitem__ __str__ "
    "add Add addEventListener all any append appendChild apply As as_bytes as_deref as_mut as_ref as_slice as_str "
    "assert_called_once assert_called_once_with assert_called_with assert_not_called await_ready bind build call "
    "cancel catch check clear Clone clone Close close cmp code collect commit compare compare_to compareTo concat "
    "connect constructor contains containsKey containsValue copy count create createElement debug decode default "
    "delete deref destroy dispose done drop each emit encode end ends_with endsWith entries entry entrySet eq "
    "Equal equals err error Error Errorf escape eval every exec execute exists expect extend fail Fatal Fatalf "
    "fetch fileno fill filter find find_all findAll findIndex finish first flat flat_map flatMap flatten flush "
    "fmt fold for_each forEach Format format from from_bytes from_iter from_str fromJson get Get get_logger "
    "get_mut get_or_insert_with get_type getAttribute getBytes getClass getContext getElementById "
    "getElementsByClassName getElementsByTagName getItem getKey getLogger getMessage getName getOrDefault getSize "
    "getType getValue group groupBy groups handle has has_next hash hashCode hasNext hasOwnProperty head hex id "
    "includes index indexOf info init initialize insert intern into into_iter invoke Is is_alive is_dir is_empty "
    "is_err is_file is_none is_ok is_some isArray isDir isDirectory isEmpty isFile isInstance isPresent item "
    "items iter iter_mut iterator join key keys keySet kind last lastIndexOf len Len length Less list listen load "
    "Lock lock log lower lstrip main map map_err match matches max merge message min mkdir Name name new New next "
    "Next next_token nextToken none now ok ok_or ok_or_else on once Open open optional or_default or_else "
    "or_insert or_insert_with ordinal parse Parse parse_args parseInt partition path peek pop popitem position "
    "post prefix preventDefault print Print Printf println Println process push push_back push_str pushBack put "
    "Put putAll query querySelector querySelectorAll quote raise_for_status range Read read read_line read_text "
    "read_to_string ReadAll readFile ReadFile readLine readlines readString receive recv reduce register release "
    "reload remove remove_dir removeAll removeEventListener removeItem render repeat replace replaceAll request "
    "require reset Reset resolve result rev reverse rfind round row rows rstrip run Run save Scan scan search "
    "select send serialize set Set set_default setAttribute setdefault setItem setName setState setUp setup "
    "setValue shift shutdown Size size skip sleep slice some sort sorted source splice split splitlines start "
    "Start starts_with startsWith stat status Stop stop stopPropagation store stream String strip Sub sub submit "
    "subscribe substring sum Swap swap tail take tearDown teardown tell test text then throw title to_bytes "
    "to_dict to_json to_lowercase to_owned to_str to_string to_uppercase to_vec toArray toJson toList "
    "toLocaleString toLowerCase toString toUpperCase trim trim_end trim_start truncate try_from try_into try_lock "
    "Type type Unlock unlock Unwrap unwrap unwrap_err unwrap_or unwrap_or_default unwrap_or_else update upper url "
    "use validate value Value valueOf values version view visit wait warn warn_once warning watch with "
    "with_capacity wrap write Write write_all write_fmt write_str write_text WriteFile writeFile writeln "
    "WriteString writeString zip "
)
_SCRIPT_TYPES: Final = _words(
    "string number boolean any unknown void never object bigint symbol Array Map Set WeakMap WeakSet Promise Date "
    "RegExp Record Partial Readonly Pick Omit Error TypeError JSON Math Object String Number Boolean console "
    "window document process Buffer globalThis localStorage sessionStorage navigator URL URLSearchParams Response "
    "Request Headers FormData Symbol Reflect Proxy Intl performance crypto HTMLElement Element Node Event "
)
_JVM_TYPES: Final = _words(
    "int long short byte char float double boolean void String Object Integer Long Short Byte Character Float "
    "Double Boolean Number List ArrayList LinkedList Map HashMap LinkedHashMap TreeMap ConcurrentHashMap Set "
    "HashSet TreeSet LinkedHashSet Collection Collections Iterator Iterable Optional Stream Class StringBuilder "
    "Thread Runnable System Math Arrays Objects Exception RuntimeException Throwable Any Unit Int Array Sequence "
    "MutableList MutableMap "
)
_GO_TYPES: Final = _words(
    "string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64 "
    "complex64 complex128 bool error any map chan func "
)
_RUST_TYPES: Final = _words(
    "str String bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 Vec HashMap HashSet "
    "BTreeMap BTreeSet VecDeque Duration Instant PathBuf Path OsString OsStr "
)
_PYTHON_TYPES: Final = _words(
    "str int float bool bytes bytearray list dict set frozenset tuple complex range slice memoryview object type "
    "List Dict Set FrozenSet Tuple Mapping Sequence Iterable Iterator Callable Generator AsyncIterator Exception "
    "ValueError TypeError KeyError "
)
_C_TYPES: Final = _words("int char short long float double void bool size_t unsigned signed auto FILE")
_SHARP_TYPES: Final = _words(
    "string int long short byte char float double decimal bool object void dynamic var List Dictionary HashSet "
    "IEnumerable IList IDictionary Task String Int32 DateTime TimeSpan Guid StringBuilder Exception Type "
)

_SCRIPT: Final = LanguageDialect("script", structural=True, shorthand=True, builtin=_SCRIPT_TYPES)
_JVM: Final = LanguageDialect("jvm", bare_members=True, shared="package", two_spaces=True, builtin=_JVM_TYPES)
_C: Final = LanguageDialect("c", bare_members=True, shared="all", builtin=_C_TYPES)

_DIALECTS: Final = {
    "python": LanguageDialect(
        "python", me=_words("self cls"), above=_words("super()"), structural=True, builtin=_PYTHON_TYPES
    ),
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "javascript": _SCRIPT,
    "vue": _SCRIPT,
    "svelte": _SCRIPT,
    "java": _JVM,
    "kotlin": _JVM,
    "scala": _JVM,
    "groovy": _JVM,
    "go": LanguageDialect(
        "go",
        me=frozenset(),
        above=frozenset(),
        shared="folder",
        structural=True,
        types_stand_out=False,
        builtin=_GO_TYPES,
    ),
    "rust": LanguageDialect(
        "rust", me=_words("self Self"), above=frozenset(), open_types=True, two_spaces=True, builtin=_RUST_TYPES
    ),
    "c": _C,
    "cpp": _C,
    "objc": _C,
    "csharp": LanguageDialect(
        "csharp",
        above=_words("base"),
        bare_members=True,
        shared="all",
        types_stand_out=False,
        open_types=True,
        builtin=_SHARP_TYPES,
    ),
    "ruby": LanguageDialect("ruby", me=_words("self"), bare_members=True, shared="all", structural=True),
    "php": LanguageDialect("php", me=_words("$this self static"), above=_words("parent"), shared="all"),
    "swift": LanguageDialect("swift", me=_words("self Self"), bare_members=True, shared="all", open_types=True),
    "dart": LanguageDialect("dart", bare_members=True, shared="all"),
}


@lru_cache(maxsize=256)
def dialect_of(language: str) -> LanguageDialect:
    """The facts of a language; one that we know nothing of shares names with its own files only."""
    return _DIALECTS.get(language) or LanguageDialect(language, bare_members=True, shared="all")


def distinctive(name: str) -> bool:
    """Whether a name is likely to be nobody else's: several words, and not one that every library has."""
    bare = name.strip("_")
    if name in _MANY or (name.startswith("__") and name.endswith("__")):
        return False
    return "_" in bare or any(small.islower() and large.isupper() for small, large in pairwise(bare))
