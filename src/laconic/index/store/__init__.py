"""The SQLite file of one workspace. Only this package speaks SQL to it; a test checks that."""

from laconic.index.store.database import lock_of, remove
from laconic.index.store.rows import File, Symbol
from laconic.index.store.store import Store

__all__ = ["File", "Store", "Symbol", "lock_of", "remove"]
