"""Decides whether one use of a name means a given symbol: surely, possibly, or not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from laconic.index.name_meaning import Meaning, NamePlace, of
from laconic.index.resolve import classes, import_reach, names, receivers
from laconic.index.resolve.code import Code, SourceFile
from laconic.index.resolve.common_names import is_common
from laconic.index.resolve.expression import steps
from laconic.index.resolve.modules import locate
from laconic.index.resolve.target import TargetSymbol
from laconic.index.resolve.values import Values
from laconic.index.schema import file_of
from laconic.index.symbol_kinds import ABSTRACT, CALLABLES
from laconic.records import Reference

TIERS: Final = ("scip", "scope", "file", "import", "package", "member", "unique", "override", "name")


class Verdict(NamedTuple):
    """How a use was tied to a symbol."""

    tier: str
    sure: bool


_MANY: Final = 8
_BY_NAME: Final = Verdict("name", False)
_OVERRIDE: Final = Verdict("override", False)


def _folder_below(source: SourceFile) -> str:
    """Where the modules inside of a file's module are."""
    name = source.path.rpartition("/")[2]
    if name in {"mod.rs", "lib.rs", "main.rs"}:
        return f"{source.folder}/"
    return f"{source.path.rpartition('.')[0]}/"


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges uses in one index."""

    code: Code
    values: Values

    def judge(self, wanted: TargetSymbol, file: int, ref: Reference, *, quick: bool = False) -> Verdict | None:
        """The verdict on one reference; nothing when it certainly means something else."""
        source = self.code.sources[file]
        if source.dialect.family != wanted.dialect.family:
            return None
        if not self._can_see(wanted, source):
            return None
        place = NamePlace(file, ref.scope, ref.line, ref.column)
        if ref.kind == "import":
            return self._judge_imported(wanted, place, ref)
        if not ref.receiver:
            return self._bare(wanted, place, ref)
        if quick:
            if wanted.is_member:
                return _BY_NAME
            return None
        return self._member(wanted, place, ref)

    def _can_see(self, wanted: TargetSymbol, source: SourceFile) -> bool:
        """Whether a file can use a symbol at all, by its visibility and by what the file's project needs."""
        key = ("sees", wanted.symbol.id, source.id)
        kept = self.code.derived.get(key)
        if not isinstance(kept, bool):
            kept = self.code.derived[key] = self._is_within_reach(wanted, source)
        return kept

    def _is_within_reach(self, wanted: TargetSymbol, source: SourceFile) -> bool:
        home = self.code.sources[wanted.symbol.file]
        if home.id == source.id:
            return True
        if not self.code.may_use(source, home):
            return False
        if wanted.dialect.can_use is not None and not wanted.dialect.can_use(self.code, source, home):
            return False
        owners = [self.code.symbol(number) for number in wanted.owners]
        for each in (wanted.symbol, *owners):
            if each is not None:
                reach = wanted.dialect.reach.get(each.visibility, "")
            else:
                reach = ""
            if reach == "file":
                return False
            if reach == "below" and not source.path.startswith(_folder_below(home)):
                return False
            if reach == "home" and not classes.is_same_home(self.code, home, source):
                return False
        return True

    def _judge_imported(self, wanted: TargetSymbol, place: NamePlace, ref: Reference) -> Verdict | None:
        source = self.code.sources[place.file]
        found = []
        for e in self.code.imports(place.file):
            if e.line == ref.line and e.name == ref.name:
                found.append(e)
        if not found:
            if wanted.is_member:
                return None
            return _BY_NAME
        for each in found:
            if each.module == "self" and locate(self.code, source, f"self::{each.name}").kind == "module":
                continue  # `mod name;` of Rust brings in a file
            meant = names.follow_import(self.code, source, each)
            if verdict := self._compare(wanted, meant, "import"):
                return verdict
            if meant.kind == "unknown" and not wanted.is_member:
                return _BY_NAME
        return None

    def _bare(self, wanted: TargetSymbol, place: NamePlace, ref: Reference) -> Verdict | None:
        dialect = wanted.dialect
        if dialect.bare_members and (inherited := self._implicit(wanted, place)):
            return inherited[0]
        meant = names.lookup(self.code, place, ref.name)
        if meant.kind == "symbol":
            return self._compare(wanted, self._by_use(meant, ref), self._tier(wanted, place))
        if meant.kind == "module" and dialect.default_exports:  # `const run = require("./run")`
            return self._compare(wanted, names.member(self.code, meant, "default"), "import")
        if meant.kind != "unknown":
            return None
        if not wanted.is_member:
            if wanted.unique and (dialect.shared == "all" or wanted.symbol.kind == "macro"):
                return Verdict("unique", True)
            return _BY_NAME
        if dialect.bare_members:
            if self._may_inherit_bare(place):
                return _BY_NAME
            return None
        if dialect.shorthand or wanted.symbol.kind in {"field", "constant", "class"}:
            return _BY_NAME
        return None

    def _may_inherit_bare(self, place: NamePlace) -> bool:
        """Whether a bare name may be a member that a type around inherits from something that is not known."""
        around = classes.enclosing_types(self.code, place)
        return any(not classes.is_whole(self.code, type_) for type_ in around)

    def _implicit(self, wanted: TargetSymbol, place: NamePlace) -> list[Verdict | None]:
        """A bare name as a member of the types around it; empty when none of them has such a member."""
        for type_ in classes.enclosing_types(self.code, place):
            found = []
            for e in classes.members(self.code, type_, wanted.name):
                if e.kind != "constructor":
                    found.append(e)
            if found:
                meant = Meaning("symbol", tuple(each.id for each in found))
                return [self._compare(wanted, meant, "member")]
        return []

    def _member(self, wanted: TargetSymbol, place: NamePlace, ref: Reference) -> Verdict | None:
        whole = self.values.receiver(place, ref.receiver)
        if whole.kind in {"container", "callable"}:
            return None  # members of lists, maps and functions are those of the language
        if whole.kind in {"foreign", "alien"}:
            if self._fits_foreign_interface(wanted, whole.name) and self._knows_type(wanted, place.file):
                return Verdict("override", True)
            if wanted.extends:
                return _BY_NAME
            return None
        if whole.kind == "unknown":
            return self._untold(wanted, place, ref)
        found = self.values.members(whole, ref.name)
        if found.kind == "symbol":
            tier = "import" if whole.kind == "module" else "member"
            found = self._by_use(found, ref)
            verdict = self._compare(wanted, found, tier)
            if verdict is None and not set(found.symbols) & (wanted.up | wanted.down):
                verdict = self._judge_mixed(wanted, whole, ref)
            if verdict == _OVERRIDE and ref.receiver in wanted.dialect.above and wanted.up & set(found.symbols):
                return None  # `super` never leads down
            if verdict is None and wanted.is_member and self.values.may_hold_more(place, ref.receiver):
                return self._guess(wanted, place, ref)
            return verdict
        if whole.kind == "module":
            if wanted.is_member or found.kind == "foreign":
                return None
            return _BY_NAME
        if wanted.is_member and self._may_be_heir(wanted, whole):
            return _BY_NAME
        return None

    def _fits_foreign_interface(self, wanted: TargetSymbol, name: str) -> bool:
        """Whether a type of the language's library is an interface that the owner of a method fits."""
        methods = wanted.dialect.foreign_interfaces.get(name, frozenset())
        if wanted.name not in methods:
            return False
        return any(all(classes.members(self.code, owner, each) for each in methods) for owner in wanted.owners)

    def _may_be_heir(self, wanted: TargetSymbol, whole: Meaning) -> bool:
        """Whether a value of a type that has no such member may be one of a type below it that has."""
        below = set()
        for type_ in whole.symbols:
            for heir in classes.descendants(self.code, type_):
                below.add(heir)
        if below & set(wanted.owners):
            return True
        dynamic = wanted.dialect.structural and wanted.dialect.find_implicit_bases is None
        return dynamic and any(not classes.is_whole(self.code, type_) for type_ in whole.symbols)

    def _by_use(self, found: Meaning, ref: Reference) -> Meaning:
        """Where a type has a field and a method of one name, a call means the method; a type and a value, likewise."""
        if len(found.symbols) > 1 and self.code.sources[file_of(found.symbols[0])].dialect.merges:
            return self._choose_space(found, ref)
        if len(found.symbols) < 2 or not self.code.sources[file_of(found.symbols[0])].dialect.two_spaces:
            return found
        kinds = {number: symbol.kind for number in found.symbols if (symbol := self.code.symbol(number))}
        wanted = []
        for number, kind in kinds.items():
            if (kind in CALLABLES) == (ref.kind == "call"):
                wanted.append(number)
        if wanted:
            return of(wanted)
        return found

    def _choose_space(self, found: Meaning, ref: Reference) -> Meaning:
        """Of an interface and a value of one name, the one that a use can mean; an import brings both."""
        types = [n for n in found.symbols if (each := self.code.symbol(n)) and each.kind in {"interface", "type"}]
        values = []
        for number in found.symbols:
            if number not in types:
                values.append(number)
        if not types or not values or ref.kind == "import":
            return found
        return of(types if ref.kind in {"type", "inherit"} else values)

    def _untold(self, wanted: TargetSymbol, place: NamePlace, ref: Reference) -> Verdict | None:
        """A receiver of which nothing is known."""
        if wanted.owners and not (self._knows_type(wanted, place.file) and self._fits_uses(wanted, place, ref)):
            return None
        if wanted.is_member and is_common(wanted.name) and not self._knows_owner(wanted, place.file):
            return None
        if wanted.is_member:
            if wanted.is_telling:
                return Verdict("unique", True)
            if wanted.dialect.open_types and self._is_one_of_many(wanted):
                return None
            return _BY_NAME
        if wanted.dialect.shorthand:
            if self._is_put_into_object(wanted):
                return _BY_NAME
            return None
        parts = steps(ref.receiver)
        head = parts[0].text if parts else ""
        if head and names.imports_of(self.code, place, head):
            return _BY_NAME
        return None

    def _guess(self, wanted: TargetSymbol, place: NamePlace, ref: Reference) -> Verdict | None:
        """The same where something else is known as well: at most possible."""
        if self._untold(wanted, place, ref) is None:
            return None
        return _BY_NAME

    def _is_one_of_many(self, wanted: TargetSymbol) -> bool:
        """Whether so many types have a method of a trait that a use of it says nothing about any of them."""
        if wanted.symbol.parent is None:
            return False
        block = self.code.symbol(wanted.symbol.parent)
        if block is None or block.kind != "impl":
            return False
        return any(classes.count_impl_blocks(self.code, base) > _MANY for base in block.bases.split("\n"))

    def _knows_type(self, wanted: TargetSymbol, file: int) -> bool:
        """Whether a value in a file can be of the symbol's type, in a language where types come by imports alone."""
        if not self.code.sources[file].dialect.types_by_import:
            return True
        return any(import_reach.can_reach(self.code, file, file_of(owner)) for owner in wanted.owners)

    def _fits_uses(self, wanted: TargetSymbol, place: NamePlace, ref: Reference) -> bool:
        """Whether a receiver is used as a value of the symbol's type can be."""
        if self.code.sources[place.file].dialect.dynamic:
            return True
        used = receivers.find_members_used(self.code, place, ref.receiver)
        return any(receivers.has_members(self.code, owner, used) for owner in wanted.owners)

    def _is_put_into_object(self, wanted: TargetSymbol) -> bool:
        """Whether the file of a function or variable writes it into an object by its bare name: `{ run }`."""
        key = ("object", wanted.symbol.id)
        kept = self.code.derived.get(key)
        if not isinstance(kept, bool):
            name = re.escape(wanted.name)
            pattern = re.compile(rf"[{{,]\s*{name}\s*(?=[,}}])|^\s*{name},?\s*$", re.MULTILINE)
            kept = pattern.search("\n".join(self.code.lines(wanted.symbol.file))) is not None
            self.code.derived[key] = kept
        return kept

    def _knows_owner(self, wanted: TargetSymbol, file: int) -> bool:
        """Whether a file names the owner of a member, or is in its folder; else common names are of a library."""
        home, source = self.code.sources[wanted.symbol.file], self.code.sources[file]
        if home.id == file or home.folder == source.folder:
            return True
        named = {classes.owner_name(self.code, wanted.symbol)}
        for owner in wanted.owners:
            for number in (owner, *classes.descendants(self.code, owner)):
                symbol = self.code.symbol(number)
                named.add(symbol.name if symbol else "")
        return any(self.code.mentions_in(file, name) for name in named if name)

    def _compare(self, wanted: TargetSymbol, meant: Meaning, tier: str) -> Verdict | None:
        """A use that was resolved, against the symbol."""
        if meant.kind != "symbol":
            return None
        found = set(meant.symbols)
        if found & wanted.same:
            rivals = found - wanted.same - wanted.up - wanted.down
            if wanted.dialect.merges:
                rivals = {number for number in rivals if file_of(number) != wanted.symbol.file}
            return Verdict(tier, not rivals or tier == "member")
        if found & (wanted.up | wanted.down) and wanted.dialect.dispatch == "both":
            return Verdict("override", True)
        if wanted.up and wanted.dialect.shorthand and self._share_base(wanted, found):
            return _OVERRIDE
        if found & wanted.down and wanted.dialect.dispatch == "down":
            return Verdict("override", True)
        if found & wanted.up and wanted.dialect.dispatch == "up":
            return _OVERRIDE
        if any(self._is_of_constant(wanted, number) for number in found & wanted.down):
            return Verdict(tier, True)
        guessed = wanted.dialect.structural and wanted.dialect.find_implicit_bases is None
        if guessed and wanted.owners and not wanted.abstract and self._structural(wanted, found):
            return _OVERRIDE
        return None

    def _is_of_constant(self, wanted: TargetSymbol, number: int) -> bool:
        """Whether a member is that of one constant of an enum: the constant is declared as a value of the enum."""
        symbol = self.code.symbol(number)
        for owner in classes.owners(self.code, symbol) if symbol else ():
            constant = self.code.symbol(owner)
            if constant is None or constant.parent is None or constant.parent not in wanted.owners:
                continue
            around = self.code.symbol(constant.parent)
            if around is not None and around.kind == "enum":
                return True
        return False

    def _share_base(self, wanted: TargetSymbol, found: set[int]) -> bool:
        """Whether a use names a member that overrides what the symbol overrides."""
        for number in found:
            symbol = self.code.symbol(number)
            if symbol and any(each.id in wanted.up for each in classes.overridden(self.code, symbol)):
                return True
        return False

    def _structural(self, wanted: TargetSymbol, found: set[int]) -> bool:
        """Whether a use names an interface that the symbol's type fits without saying so."""
        for number in found:
            symbol = self.code.symbol(number)
            for owner in classes.owners(self.code, symbol) if symbol else ():
                if self._is_abstract(owner) and any(receivers.fits(self.code, own, owner) for own in wanted.owners):
                    return True
        return False

    def _is_abstract(self, type_: int) -> bool:
        symbol = self.code.symbol(type_)
        return symbol is not None and symbol.kind in ABSTRACT

    def _judge_mixed(self, wanted: TargetSymbol, whole: Meaning, ref: Reference) -> Verdict | None:
        """`self` in a class that some subclass combines with the owner of the symbol."""
        if whole.kind != "instance" or ref.receiver not in wanted.dialect.me | wanted.dialect.above:
            return None
        kin = {type_ for owner in wanted.owners for type_ in classes.kin(self.code, owner)}
        if kin & set(whole.symbols):
            return _OVERRIDE
        return None

    def _tier(self, wanted: TargetSymbol, place: NamePlace) -> str:
        if wanted.symbol.file != place.file:
            if names.imports_of(self.code, place, wanted.name):
                return "import"
            return "package"
        if wanted.symbol.parent is None:
            return "file"
        return "scope"
