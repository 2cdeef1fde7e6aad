from ..engine import Engine  #! Engine
from ..engine import start_engine as go  #! start_engine
from .. import shapes
import app.engine as motor


class Loud(Engine):  #! Engine
    def stop(self):
        value = super().stop()  #! Engine.stop
        self.turn_key()  #! Engine.turn_key
        return value


def run(engine, square: shapes.Square):  #! Square
    go(None)  #! start_engine
    motor.start_engine(None)  #! start_engine
    engine.stop()  #~ Engine.stop; Base.stop; Loud.stop
    engine.level()  #~ Gauge.level; Fuel.level
    square.area()  #! Square.area
    shapes.helper_of_shapes()  #! helper_of_shapes
    for engine in []:
        engine.turn_key()  #! Engine.turn_key
    return Gauge  #~ Gauge


def level():
    return level
