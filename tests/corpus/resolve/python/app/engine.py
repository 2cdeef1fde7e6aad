from __future__ import annotations

import json


class Base:
    def warm_up(self):
        return self.turn_key()  #~ Engine.turn_key

    def stop(self):
        return None


class Engine(Base):
    limit = 3

    def __init__(self, fuel: Fuel):  #! Fuel
        self.fuel = fuel
        self.gauge = Gauge()  #! Gauge

    def turn_key(self):
        self.warm_up()  #! Base.warm_up
        super().stop()  #! Base.stop
        json.stop()
        self.fuel.burn()  #! Fuel.burn
        return self.gauge.level()  #! Gauge.level

    def stop(self):
        def inner_step():
            return Engine.limit  #! Engine; Engine.limit

        return inner_step()  #! inner_step


class Fuel:
    def burn(self):
        return 1

    def level(self):
        return 2


class Gauge:
    def level(self) -> int:
        return 0

    @classmethod
    def make(cls) -> "Gauge":  #! Gauge
        return cls()


def start_engine(fuel):
    engine = Engine(fuel)  #! Engine
    engine.turn_key()  #! Engine.turn_key
    engine.stop()  #! Engine.stop
    return engine
