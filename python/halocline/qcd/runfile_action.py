# SPDX-License-Identifier: Apache-2.0
"""The section [action] of run files: the quark action and its parameters."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from halocline.errors import InvalidArgument
from halocline.schema import Section, Unfit, array, choice, integer, key, number, phase, pythonic

ACTIONS = (
    "wilson-clover", "wilson", "twisted-clover", "twisted-doublet",
    "domain-wall", "mobius", "one-link", "asqtad", "hisq",
)  # fmt: skip
WALLS = ("domain-wall", "mobius")
"""Actions with a fifth dimension."""
STAGGERED = ("one-link", "asqtad", "hisq")
"""Actions of staggered quarks, with one spin."""
TWISTED = ("twisted-clover", "twisted-doublet")
"""Actions with a twisted mass."""


def coefficients(value: Any) -> tuple:
    """b or c of the Moebius action: one number or a list, each real or a pair [re, im]; as a tuple."""
    expected = "a number, or a list of Ls numbers, each real or a pair [re, im]"
    one = number()

    def entry(given: Any) -> Any:
        given = pythonic(given)
        if isinstance(given, complex):
            given = [given.real, given.imag]
        if isinstance(given, (list, tuple)):
            if len(given) != 2:
                raise Unfit(expected)
            re, im = one(given[0]), one(given[1])
            return (re, im) if im else re
        return one(given)

    value = pythonic(value)
    try:
        return tuple(entry(v) for v in value) if isinstance(value, (list, tuple)) else (entry(value),)
    except Unfit:
        raise Unfit(expected) from None


@dataclasses.dataclass(frozen=True)
class Action(Section):
    title: ClassVar[str] = "[action]"
    kind: str = key("wilson-clover", choice(*ACTIONS), "one of " + ", ".join(f'"{name}"' for name in ACTIONS))
    mass: float | None = key(
        None,
        number(),
        "bare quark mass m0, or kappa = 1/(8 + 2 m0); of walls and staggered quarks the quark mass m",
        example="mass = -0.5",
    )
    kappa: float | None = key(None, number(above=0.0), "instead of mass", example="kappa = 0.1429")
    csw: float | None = key(None, number(), "clover coefficient; 1 at tree level", example="csw = 1.0")
    boundary: tuple = key(
        (1, 1, 1, -1),
        array(phase, "four boundary factors x, y, z, t", length=4),
        "factor of the quark field across each boundary: 1, -1 or { phase = p } for exp(i pi p)",
    )
    anisotropy: float = key(1.0, number(above=0.0), "bare anisotropy a_s/a_t of the hopping term")
    nu: float = key(1.0, number(above=0.0), "ratio of the bare speeds of light, spatial hopping over temporal")
    csw_t: float | None = key(
        None, number(), "clover coefficient of the planes with t; csw when absent", example="csw_t = 1.0"
    )
    mu: float | None = key(
        None,
        number(),
        "twisted-clover: twisted mass; -mu is the other flavour; twisted-doublet: mu_sigma",
        example="mu = 0.01",
    )
    epsilon: float | None = key(
        None, number(), "twisted-doublet: splitting of the masses, mu_delta", example="epsilon = 0.19"
    )
    M5: float | None = key(
        None, number(above=0.0, below=2.0), "domain-wall, mobius: height of the wall, positive; else 1.8",
        example="M5 = 1.8",
    )  # fmt: skip
    Ls: int | None = key(
        None, integer(at_least=4, at_most=64), "domain-wall, mobius: points of the fifth dimension, even; else 8",
        example="Ls = 8",
    )  # fmt: skip
    b: tuple | None = key(None, coefficients, "mobius: b_s, one number or a list of Ls", example="b = 1.5")
    c: tuple | None = key(None, coefficients, "mobius: c_s, one number or a list of Ls", example="c = 0.5")

    naik_epsilon: float | None = key(
        None, number(), "hisq: correction of the long links for heavy quarks; else 0", example="naik_epsilon = -0.12"
    )
    u0: float | None = key(
        None, number(above=0.0), "asqtad: tadpole factor, the fourth root of the plaquette; else 1", example="u0 = 0.87"
    )

    def check_together(self) -> None:
        for name, kind in (("naik_epsilon", "hisq"), ("u0", "asqtad"), ("epsilon", "twisted-doublet")):
            if getattr(self, name) is not None and self.kind != kind:
                raise InvalidArgument(
                    f'[action] {name} is set but kind = "{self.kind}" does not have it; use "{kind}".'
                )
        if self.kind in STAGGERED:
            return self._check_staggered()
        if self.kind in WALLS:
            return self._check_walls()
        for name in ("M5", "Ls", "b", "c"):
            if getattr(self, name) is not None:
                raise InvalidArgument(
                    f'[action] {name} is set but kind = "{self.kind}" has no fifth dimension; use "domain-wall" or '
                    '"mobius".'
                )
        if self.mass is None and self.kappa is None:
            raise InvalidArgument("[action] needs 'mass' or 'kappa'.")
        if self.mass is not None and self.kappa is not None:
            raise InvalidArgument(
                f"[action] has mass = {self.mass:g} and kappa = {self.kappa:g}; keep one of them "
                f"(kappa = {self.kappa:g} is mass = {0.5 / self.kappa - 4.0:.10g})."
            )
        if self.kind == "wilson" and (self.csw or self.csw_t):
            raise InvalidArgument('[action] csw is set but kind = "wilson" has no clover term; use "wilson-clover".')
        if self.kind == "wilson-clover" and self.csw is None:
            raise InvalidArgument('[action] kind = "wilson-clover" needs csw (1.0 at tree level).')
        if self.kind == "twisted-clover" and self.mu is None:
            raise InvalidArgument('[action] kind = "twisted-clover" needs mu, the twisted mass.')
        if self.kind == "twisted-doublet" and (self.mu is None or self.epsilon is None):
            raise InvalidArgument(
                '[action] kind = "twisted-doublet" needs mu, the twisted mass, and epsilon, the splitting of masses.'
            )
        if self.kind not in TWISTED and self.mu is not None:
            raise InvalidArgument(
                f'[action] mu is set but kind = "{self.kind}" has no twisted mass; use "twisted-clover".'
            )

    def _check_no_wilson(self, foreign: tuple[str, ...], keys: str) -> None:
        """Refuses keys of other actions; for those that have a mass alone, on isotropic lattices."""
        for name in foreign:
            if getattr(self, name) is not None:
                raise InvalidArgument(
                    f'[action] {name} is set but kind = "{self.kind}" does not have it; its keys are {keys}.'
                )
        if self.anisotropy != 1.0 or self.nu != 1.0:
            raise InvalidArgument(
                f'[action] kind = "{self.kind}" is for isotropic lattices; leave out anisotropy and nu.'
            )
        if self.mass is None:
            raise InvalidArgument(f'[action] kind = "{self.kind}" needs mass, the quark mass m.')

    def _check_walls(self) -> None:
        self._check_no_wilson(("kappa", "csw", "csw_t", "mu"), "mass, M5, Ls and boundary, with mobius also b and c")
        if self.kind == "mobius" and (self.b is None or self.c is None):
            raise InvalidArgument('[action] kind = "mobius" needs b and c; b = 1.5 and c = 0.5 are usual.')
        if self.kind == "domain-wall" and (self.b is not None or self.c is not None):
            raise InvalidArgument(
                '[action] b or c is set but kind = "domain-wall" is the action of Shamir, b = 1 and c = 0; use '
                '"mobius".'
            )
        if self.points % 2:
            raise InvalidArgument(f"[action] Ls = {self.points}: expected an even number.")
        for name, given in (("b", self.b), ("c", self.c)):
            if given is not None and len(given) not in (1, self.points):
                raise InvalidArgument(
                    f"[action] {name} has {len(given)} numbers for Ls = {self.points}; give one number, or one for "
                    "each s."
                )

    def _check_staggered(self) -> None:
        self._check_no_wilson(
            ("kappa", "csw", "csw_t", "mu", "M5", "Ls", "b", "c"),
            "mass and boundary, with asqtad also u0, with hisq naik_epsilon",
        )
        if self.mass <= 0.0:
            raise InvalidArgument(f'[action] mass = {self.mass:g}: kind = "{self.kind}" needs a positive mass.')
        if self.u0 is not None and self.u0 > 1.0:
            raise InvalidArgument(f"[action] u0 = {self.u0:g}: a tadpole factor is at most 1.")

    @property
    def columns(self) -> int:
        """Columns of a propagator: 12, the 3 colours of staggered quarks, or 24 of a doublet."""
        return 3 if self.kind in STAGGERED else 12 * self.flavours

    @property
    def flavours(self) -> int:
        """Flavours of a quark's array: 2 of a doublet, else 1."""
        return 2 if self.kind == "twisted-doublet" else 1

    @property
    def staggered(self) -> dict[str, Any] | None:
        """What the library takes of an action of staggered quarks; None for others."""
        if self.kind not in STAGGERED:
            return None
        return {"mass": self.mass, "kind": self.kind, "naik_epsilon": self.naik_epsilon or 0.0, "u0": self.u0 or 1.0}

    @property
    def points(self) -> int:
        """Points of a fifth dimension, Ls; 1 without one."""
        return (self.Ls or 8) if self.kind in WALLS else 1

    @property
    def walls(self) -> dict[str, Any] | None:
        """What the library takes of an action with a fifth dimension; None without one."""
        if self.kind not in WALLS:
            return None
        numbers = {
            name: [complex(*z) if isinstance(z, tuple) else complex(z) for z in given]
            for name, given in (("b", self.b or (1.0,)), ("c", self.c or (0.0,)))
        }
        return {"mass": self.mass, "M5": self.M5 or 1.8, "Ls": self.points} | numbers

    @property
    def m0(self) -> float:
        """The bare mass of the Wilson operator, from mass or kappa; -M5 with walls; the mass of staggered quarks."""
        if self.kind in WALLS:
            return -(self.M5 or 1.8)
        return self.mass if self.mass is not None else 0.5 / self.kappa - 4.0

    @property
    def clover(self) -> float:
        """csw, 0 without a clover term."""
        return self.csw or 0.0

    @property
    def clover_t(self) -> float:
        return self.clover if self.csw_t is None else self.csw_t
