"""How a language resolves names, as data and a few small rules. Each language holds its own; nothing here decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from laconic.index.declared_types import (
    DeclaredValue,
    bind_last_part,
    read_result_before_name,
    read_type_after_equals,
    read_type_before_name,
    take_whole,
)

if TYPE_CHECKING:
    from laconic.index.name_meaning import Meaning
    from laconic.index.resolve.code import Code, SourceFile
    from laconic.records import Import

Locate = Callable[["Code", "SourceFile", str], "Meaning"]
FindPart = Callable[["Code", "Meaning", str], "Meaning"]
MakeAbsolute = Callable[["Code", "SourceFile", "Import"], str]


@dataclass(frozen=True, slots=True)
class LanguageDialect:
    """One language as the resolver sees it."""

    family: str  # languages that can refer to each other's definitions
    me: frozenset[str] = frozenset({"this"})  # the object that a method runs on
    above: frozenset[str] = frozenset({"super"})  # the same, but members of its bases
    bare_members: bool = False  # a member of the own class is used without a receiver
    shared: str = ""  # who sees names without importing them: folder, package, all
    home: str = "package"  # where the parts of one type may be: file, folder, package, all
    find_home: Callable[[Code, SourceFile], str] | None = None  # the same for two files that may share a type
    can_use: Callable[[Code, SourceFile, SourceFile], bool] | None = None  # whether a file may use what is in another
    reach: Mapping[str, str] = field(
        default_factory=dict
    )  # where something is seen, by its visibility: file, below, home
    closed_types: bool = False  # all members of a type are in its body
    structural: bool = False  # a type is used as another without saying so in its bases
    dispatch: str = ""  # a use of a member is one of what overrides it: `up`, of what it overrides: `down`, or `both`
    find_implicit_bases: Callable[[Code, int], list[int]] | None = None  # interfaces whose shape a type has
    find_implicit_heirs: Callable[[Code, int], list[int]] | None = None  # types that have the shape of an interface
    foreign_interfaces: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # of its library, with their methods
    types_stand_out: bool = True  # only types begin with a capital
    open_types: bool = False  # types of others may be given members of ours
    two_spaces: bool = False  # a field and a method of one type may have the same name
    field_value: re.Pattern[str] | None = (
        None  # a line that gives a field of its own class a value: its name, the value
    )
    dynamic: bool = False  # a name may hold values of types that have nothing in common
    types_by_import: bool = False  # a file knows the types of another only through a chain of imports
    callbacks: bool = False  # functions without a name get the types of their parameters from where they are passed
    overloads: bool = False  # a function may say several times how it can be called
    by_parameters: bool = False  # functions of one name with other parameters are other functions
    shorthand: bool = False  # a bare name may stand for a property
    merges: bool = False  # a type and a value of one name are one thing
    declared_apart: bool = False  # a declaration may be in one file and the definition behind it in another
    namespaces: bool = False  # modules inside files are spaces that many files add to, and names in them are shared
    open_modules: bool = False  # what a module imports, importers may take from it
    default_exports: bool = False  # a module may export one thing without a name
    implicit_modules: bool = False  # a bare name may be a module that nothing imports
    binds_head: bool = False  # `import a.b` binds `a`
    modules_by_file: bool = False  # the same import means different modules in two files of a folder
    passing: frozenset[str] = frozenset()  # members of wrappers that give what is in them: `unwrap`
    foreign_stays: bool = False  # what functions of others give is never of a type of ours
    read_builtin: Callable[[str], DeclaredValue] | None = (
        None  # what a function of the language itself gives, as written
    )
    is_left_out: Callable[[Code, SourceFile], bool] | None = None  # a file that is not built unless asked for
    read_underlying: Callable[[str, str], str] | None = None  # the list or map that a type with a name is
    typed_lists: re.Pattern[str] | None = None  # a literal that says what it is: group 1 is the type
    lists: re.Pattern[str] | None = None  # how a literal begins that is a list or a map of the language
    fixtures: str = ""  # the file whose functions give tests what their parameters are named after
    builtin: frozenset[str] = frozenset()  # types that are never ours
    locate: Locate | None = None  # the files that an import means
    publish: Callable[[Code], Iterable[str]] | None = None  # the names under which others import code of a workspace
    find_part: FindPart | None = None  # a module inside a module
    make_absolute: MakeAbsolute | None = None  # the module of an import, seen from where it stands
    bind: Callable[[str], str] = bind_last_part  # the name under which a file knows a whole module
    read_result: Callable[[str, str], str] = read_result_before_name  # of a function, by its name and signature
    split_results: Callable[[str], list[str]] = take_whole  # several results of one function
    read_returned: Callable[[list[str]], list[tuple[int, str]]] | None = None  # lines and texts of what is returned
    read_alias: Callable[[str, str], str] = read_type_after_equals  # the type that a name is another name for
    read_type: Callable[[str, str], DeclaredValue] = read_type_before_name  # of a variable or field, by the same


def split_words(text: str) -> frozenset[str]:
    """A set of words that are written in one text."""
    return frozenset(text.split())
