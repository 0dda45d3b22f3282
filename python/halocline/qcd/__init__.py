# SPDX-License-Identifier: Apache-2.0
"""Lattice QCD: a gauge configuration goes in, quark propagators and hadron correlators come out."""

from halocline.comm import check_machine
from halocline.qcd import analysis, measure
from halocline.qcd.doublet import DoubletPropagator
from halocline.qcd.fields import covariant_derivative, shift
from halocline.qcd.gauge import (
    GaugeField,
    Geometry,
    coulomb_theta,
    fix_gauge,
    gather,
    geometry,
    heatbath,
    inspect_gauge,
    link_trace,
    local_part,
    plaquette,
    plaquette_planes,
    polyakov,
    random_gauge,
    random_links,
    read_gauge,
    rectangle,
    smear_ape,
    smear_stout,
    topological_charge,
    unit_links,
    weak_links,
    wilson_flow,
    write_gauge,
)
from halocline.qcd.measure import (
    mesons,
    nucleon,
    point_source,
    sequential_sources,
    smear_gaussian,
    staggered_point_source,
    staggered_wall_source,
    wall_source,
)
from halocline.qcd.orders import (
    gauge_from_array,
    gauge_to_array,
    propagator_from_array,
    propagator_to_array,
    spinor_from_array,
    spinor_to_array,
)
from halocline.qcd.propagators import Propagator, StaggeredPropagator, read_propagator, write_propagator
from halocline.qcd.quark import (
    DiracOperator,
    DomainWall,
    Staggered,
    TwistedDoublet,
    TwistedMass,
    WilsonClover,
    kappa_from_mass,
    mass_from_kappa,
    propagator,
    residual_mass,
)
from halocline.qcd.quark_solver import QuarkSolver, forget_trials
from halocline.qcd.runfile import Run, Solver, Source, example_run_file, parse_run_file, read_run_file
from halocline.qcd.spectrum import spectrum

__all__ = [
    "DiracOperator", "DomainWall", "DoubletPropagator", "GaugeField", "Geometry", "Propagator", "QuarkSolver", "Run",
    "Solver", "Source", "Staggered", "StaggeredPropagator", "TwistedDoublet", "TwistedMass", "WilsonClover",
    "analysis", "coulomb_theta", "covariant_derivative", "example_run_file", "fix_gauge", "forget_trials", "gather",
    "gauge_from_array", "gauge_to_array", "geometry", "heatbath", "inspect_gauge", "kappa_from_mass", "link_trace",
    "local_part", "mass_from_kappa", "measure", "mesons", "nucleon", "parse_run_file", "plaquette", "plaquette_planes",
    "point_source", "polyakov", "propagator", "propagator_from_array", "propagator_to_array", "random_gauge",
    "random_links", "read_gauge", "read_propagator", "read_run_file", "rectangle", "residual_mass",
    "sequential_sources", "shift", "smear_ape", "smear_gaussian", "smear_stout", "spectrum", "spinor_from_array",
    "spinor_to_array", "staggered_point_source", "staggered_wall_source", "topological_charge", "unit_links",
    "wall_source", "weak_links", "wilson_flow", "write_gauge", "write_propagator",
]  # fmt: skip

check_machine()  # before anything is computed
