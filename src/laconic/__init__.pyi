from laconic.errors import LaconicError as LaconicError
from laconic.library.conversation import Conversation as Conversation
from laconic.library.conversation import ShortenedRequest as ShortenedRequest
from laconic.library.text import ShortenedText as ShortenedText
from laconic.library.text import count_tokens as count_tokens
from laconic.library.text import shorten as shorten
from laconic.library.workspace import CodeAnswer as CodeAnswer
from laconic.library.workspace import Workspace as Workspace

__version__: str
__all__ = [
    "CodeAnswer",
    "Conversation",
    "LaconicError",
    "ShortenedRequest",
    "ShortenedText",
    "Workspace",
    "count_tokens",
    "shorten",
]
