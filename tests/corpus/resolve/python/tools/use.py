"""Scripts outside of the package."""
from app import Machine, Square, start_engine  #! Engine; Square; start_engine
from app.engine import Gauge  #! Gauge
import other_library
from other_library import Fuel


def main():
    machine = Machine(None)  #! Engine
    machine.stop()  #! Engine.stop
    gauge = Gauge.make()  #! Gauge; Gauge.make
    gauge.level()  #! Gauge.level
    Fuel().burn()
    other_library.level()
    Square().area()  #! Square; Square.area
    start_engine = 3
    return start_engine


def read(start_engine):
    return start_engine
