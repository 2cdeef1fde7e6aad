"""Which names tell one definition from all others, and which every library has."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from laconic.index.dialect import split_words

# Members that so many types have that a repository with only one of them proves nothing.
_MANY: Final = split_words(
    "__bool__ __call__ __contains__ __delitem__ __enter__ __eq__ __exit__ __get__ __getattr__ __getitem__ "
    "__hash__ __init__ __iter__ __len__ __lt__ __new__ __next__ __repr__ __set__ __setattr__ __setitem__ __str__ "
    "add Add addEventListener all any append appendChild apply As as_bytes as_deref as_mut as_ref as_slice "
    "as_str assert_called_once assert_called_once_with assert_called_with assert_not_called await_ready bind "
    "build call cancel catch check clear Clone clone Close close cmp code collect commit compare compare_to "
    "compareTo concat connect constructor contains containsKey containsValue copy count create createElement "
    "debug decode default delete deref destroy dispose done drop each emit encode end ends_with endsWith entries "
    "entry entrySet eq Equal equals err error Error Errorf escape eval every exec execute exists expect extend "
    "fail Fatal Fatalf fetch fileno fill filter find find_all findAll findIndex finish first flat flat_map "
    "flatMap flatten flush fmt fold for_each forEach Format format from from_bytes from_iter from_str fromJson "
    "get Get get_logger get_mut get_or_insert_with get_type getAttribute getBytes getClass getContext "
    "getElementById getElementsByClassName getElementsByTagName getItem getKey getLogger getMessage getName "
    "getOrDefault getSize getType getValue group groupBy groups handle has has_next hash hashCode hasNext "
    "hasOwnProperty head hex id includes index indexOf info init initialize insert intern into into_iter invoke "
    "Is is_alive is_dir is_empty is_err is_file is_none is_ok is_some isArray isDir isDirectory isEmpty isFile "
    "isInstance isPresent item items iter iter_mut iterator join key keys keySet kind last lastIndexOf len Len "
    "length Less list listen load Lock lock log lower lstrip main map map_err match matches max merge message "
    "min mkdir Name name new New next Next next_token nextToken none now ok ok_or ok_or_else on once Open open "
    "optional or_default or_else or_insert or_insert_with ordinal parse Parse parse_args parseInt partition path "
    "peek pop popitem position post prefix preventDefault print Print Printf println Println process push "
    "push_back push_str pushBack put Put putAll query querySelector querySelectorAll quote raise_for_status "
    "range Read read read_line read_text read_to_string ReadAll readFile ReadFile readLine readlines readString "
    "receive recv reduce register release reload remove remove_dir removeAll removeEventListener removeItem "
    "render repeat replace replaceAll request require reset Reset resolve result rev reverse rfind round row "
    "rows rstrip run Run save Scan scan search select send serialize set Set set_default setAttribute setdefault "
    "setItem setName setState setUp setup setValue shift shutdown Size size skip sleep slice some sort sorted "
    "source splice split splitlines start Start starts_with startsWith stat status Stop stop stopPropagation "
    "store stream String strip Sub sub submit subscribe substring sum Swap swap tail take tearDown teardown tell "
    "test text then throw title to_bytes to_dict to_json to_lowercase to_owned to_str to_string to_uppercase "
    "to_vec toArray toJson toList toLocaleString toLowerCase toString toUpperCase trim trim_end trim_start "
    "truncate try_from try_into try_lock Type type Unlock unlock Unwrap unwrap unwrap_err unwrap_or "
    "unwrap_or_default unwrap_or_else update upper url use validate value Value valueOf values version view "
    "visit wait warn warn_once warning watch with with_capacity wrap write Write write_all write_fmt write_str "
    "write_text WriteFile writeFile writeln WriteString writeString zip "
)


def is_common(name: str) -> bool:
    """Whether every library has members of this name."""
    return name in _MANY


def is_distinctive(name: str) -> bool:
    """Whether a name is likely to be nobody else's: several words, and not one that every library has."""
    bare = name.strip("_")
    if name in _MANY or (name.startswith("__") and name.endswith("__")):
        return False
    return "_" in bare or any(small.islower() and large.isupper() for small, large in pairwise(bare))
