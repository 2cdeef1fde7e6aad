"""What the bytes of one file say, wherever the file lies: a self-contained record, and the key under which it is found.

A record is made once for equal bytes in one language by one parser; it knows nothing of a path, a checkout or a
machine, so it can be kept, sent and taken over. What depends on the path is added by `prepared_file.assemble`.
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from laconic.index.parse.detect import HEAD, language_of
from laconic.index.parse.extract import parse
from laconic.index.reference_blobs import pack
from laconic.index.schema import PARSER, SHIFT
from laconic.index.search_words import ContentWords, describe_content
from laconic.records import Definition, Import, ParsedFile
from laconic.workspace.read_file import as_text


class ContentRecord(msgspec.Struct, frozen=True, array_like=True):
    """Everything that equal bytes have in common."""

    language: str
    lines: int
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...]
    exports: tuple[str, ...]
    package: str
    faults: int
    refs: bytes  # see `reference_blobs`
    mentioned: str  # the names in `refs`, separated by spaces
    words: ContentWords
    reason: str = ""  # why it could not be parsed


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(ContentRecord)


def digest(data: bytes) -> bytes:
    """The content hash of a file."""
    return blake2b(data, digest_size=16).digest()


def content_key(path: str, data: bytes) -> bytes:
    """The key of a record: the bytes, the language, the parser's number, and what of the name the language looks at."""
    language = language_of(path, data[:HEAD])
    name = ending = ""
    if language is not None:
        name = language.name
        ending = next((each for each in language.telling_endings if path.endswith(each)), "")
    return blake2b(data, digest_size=16, person=PARSER.to_bytes(4, "big"), key=f"{name} {ending}".encode()).digest()


def read_content(path: str, data: bytes) -> ContentRecord:
    """Parse a file in this process; nothing guards against a grammar that hangs."""
    return make_record(parse(path, data), data)


def describe_unparsed(data: bytes, reason: str = "") -> ContentRecord:
    """The record of a file that has only text, because its language is unknown or for a reason."""
    return make_record(ParsedFile("", 0), data, reason)


def make_record(found: ParsedFile, data: bytes, reason: str = "") -> ContentRecord:
    """The record of a file that was parsed."""
    text = as_text(data)
    definitions = found.definitions[: (1 << SHIFT) - 2]
    refs = b""
    mentioned = ""
    if found.references:
        refs = pack(found.references)
        mentioned = " ".join(sorted({ref.name for ref in found.references}))
    return ContentRecord(
        language=found.language,
        lines=text.count("\n") + bool(text and not text.endswith("\n")),
        definitions=definitions,
        imports=found.imports,
        exports=found.exports,
        package=found.package,
        faults=found.faults,
        refs=refs,
        mentioned=mentioned,
        words=describe_content(text, definitions),
        reason=reason,
    )


def encode(record: ContentRecord) -> bytes:
    """A record as bytes."""
    return _ENCODER.encode(record)


def decode(data: bytes) -> ContentRecord:
    """The record that was encoded; `msgspec.MsgspecError` when these are no such bytes."""
    return _DECODER.decode(data)
