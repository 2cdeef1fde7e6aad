"""A module."""

import os.path as osp  #? import os.path as osp; no osp
import json, re  #? import json; import re
from .near import (
    thing as renamed,  #? import .near thing as renamed; import-ref thing on .near
    other,  #? import .near other
)
from ..far.away import *  #? import ..far.away *
from . import sibling  #? import . sibling

#? exports Shape, area, LIMIT
__all__ = ["Shape", "area"]  #? variable __all__
__all__ += ["LIMIT"]

LIMIT: int = 3  #? constant LIMIT; type int
first, second = pair()  #? variable first; variable second; call pair in second
_hidden = None  #? variable _hidden private

if LIMIT:
    fallback = json.loads  #? variable fallback; read loads on json


# What a shape is.
@register("shape")  #? decorator register in Shape
class Shape(Base, near.Other[int], metaclass=Meta):  #? class Shape bases=Base,near.Other span=24-62 sig="class Shape(Base, near.Other[int], metaclass=Meta)" doc="A shape in the plane."; inherit Base; inherit Other on near
    """A shape
    in the plane.

    It has an area.
    """

    sides: int = 0  #? field Shape.sides
    __slots__ = ("a",)  #? field Shape.__slots__

    def __init__(self, size, *, unit: "Unit" = None, **rest):  #? method Shape.__init__ span=36-42; type Unit
        self.size = size  #? field Shape.size; no size
        local = compute(size, unit)  #? call compute in Shape.__init__; no local; no unit
        local.adjust(rest)  #? call adjust on local
        if rest:
            self.late = local  #? field Shape.late
        self.size = 2  #? write size on self

    @property
    def area(self) -> float:  #? method Shape.area property span=44-47; type float
        """Twice the sides."""
        return super().area * self.sides  #? read area on super(); read sides on self

    @staticmethod
    async def _build(cls_name):  #? method Shape._build private async static sig="async def _build(cls_name)"
        def inner(x):  #? function Shape._build.inner
            return x + LIMIT  #? read LIMIT in Shape._build.inner; no x

        return await inner(Shape(1).area)  #? call inner; call Shape; read area on Shape()

    def walk(self):  #? method Shape.walk
        return [
            node.name.lower()  #? call lower on node.name
            for node in self.children()  #? call children on self; no node
        ]

    def __eq__(self, other): return self.sides == other.sides  #? method Shape.__eq__; read sides on self


def area(shape: Shape, factor: list[Factor] = DEFAULT) -> None:  #? function area; type Shape; type Factor; read DEFAULT
    global _hidden
    _hidden = shape  #? write _hidden
    with open(osp.join("a")) as handle:  #? call join on osp; no handle
        print(handle, key=lambda item: item.weight)  #? no key; no item; read weight on item
    try:
        renamed.run(other=1)  #? call run on renamed; no other
    except (ValueError, near.Oops) as error:  #? read Oops on near
        raise Wrapped from error  #? read Wrapped; no error


class TestShape(unittest.TestCase):  #? class TestShape bases=unittest.TestCase test
    def test_area(self):  #? method TestShape.test_area test
        self.assertEqual(area(Shape()), 1)  #? call area in TestShape.test_area; call assertEqual on self


def test_plain():  #? function test_plain test
    assert area
