from .engine import Engine as Machine, start_engine  #! Engine; start_engine
from .shapes import *

__all__ = ["Machine", "start_engine"]
