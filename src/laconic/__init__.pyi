from laconic.errors import LaconicError as LaconicError
from laconic.library.conversation import Conversation as Conversation
from laconic.library.conversation import Prepared as Prepared
from laconic.library.text import Shortened as Shortened
from laconic.library.text import count_tokens as count_tokens
from laconic.library.text import shorten as shorten
from laconic.library.workspace import CodeAnswer as CodeAnswer
from laconic.library.workspace import Workspace as Workspace

__version__: str
__all__ = [
    "CodeAnswer",
    "Conversation",
    "LaconicError",
    "Prepared",
    "Shortened",
    "Workspace",
    "count_tokens",
    "shorten",
]
