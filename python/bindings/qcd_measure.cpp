// SPDX-License-Identifier: Apache-2.0
/// @file
/// qcd: propagators, their smearing and their contractions.
#include "bindings.hpp"
#include "halocline/qcd/measure/channels.hpp"
#include "halocline/qcd/measure/meson.hpp"
#include "halocline/qcd/measure/noise.hpp"
#include "halocline/qcd/measure/nucleon.hpp"
#include "halocline/qcd/measure/propagator.hpp"
#include "halocline/qcd/measure/smear.hpp"
#include "halocline/qcd/measure/source.hpp"
#include "halocline/qcd/measure/staggered.hpp"

namespace halocline::bindings {
namespace {

namespace measure = qcd::measure;
using Position = measure::Coordinates4;

/// A column as an array that shares the propagator's memory and keeps it alive.
nb::ndarray<nb::numpy, complex, nb::c_contig> column_view(nb::handle self, int spin, int colour) {
  auto& propagator = nb::cast<measure::Propagator&>(self);
  if (spin < 0 || spin > 3 || colour < 0 || colour > 2) throw nb::index_error("spin is 0 to 3 and colour 0 to 2");
  const auto shape = canonical_shape(propagator.geometry(), {4, 3});
  return {propagator.column(spin, colour).data(), shape.size(), shape.data(), self};
}

/// [t][z][y][x][sink spin][sink colour][source spin][source colour]
ArrayOut<complex> propagator_array(const measure::Propagator& s) {
  std::vector<complex> values(static_cast<std::size_t>(144 * s.geometry().local_volume()));
  for (int spin = 0; spin < 4; ++spin)
    for (int colour = 0; colour < 3; ++colour) {
      const auto column = s.column(spin, colour);
      const std::size_t at = static_cast<std::size_t>(3 * spin + colour);
      for (std::size_t i = 0; i < column.size(); ++i) values[12 * i + at] = column[i];
    }
  return to_numpy(std::move(values), canonical_shape(s.geometry(), {4, 3, 4, 3}));
}

void bind_propagator(nb::module_& m) {
  nb::class_<measure::Propagator>(m, "Propagator", nb::dynamic_attr(),
                                  "Twelve solutions, one for each spin and colour of one source.")
      .def(nb::init<GeometryPtr, const Position&>(), "geometry"_a, "source"_a,
           "Zeros. source: global position x, y, z, t, whose time becomes index 0 of every correlator.")
      .def_prop_ro("geometry", &measure::Propagator::geometry_ptr)
      .def_prop_ro("source", &measure::Propagator::source)
      .def(
          "column",
          [](nb::handle_t<measure::Propagator> self, int spin, int colour) { return column_view(self, spin, colour); },
          "spin"_a, "colour"_a, "The local solution [t][z][y][x][spin][colour]; a view, writable.")
      .def("array", &propagator_array,
           "A copy: [t][z][y][x][sink spin][sink colour][source spin][source colour], complex128.");
}

/// A column of staggered quarks, as column_view().
nb::ndarray<nb::numpy, complex, nb::c_contig> staggered_view(nb::handle self, int colour) {
  auto& propagator = nb::cast<measure::StaggeredPropagator&>(self);
  if (colour < 0 || colour > 2) throw nb::index_error("colour is 0 to 2");
  const auto shape = canonical_shape(propagator.geometry(), {3});
  return {propagator.column(colour).data(), shape.size(), shape.data(), self};
}

/// [t][z][y][x][sink colour][source colour]
ArrayOut<complex> staggered_array(const measure::StaggeredPropagator& s) {
  std::vector<complex> values(static_cast<std::size_t>(9 * s.geometry().local_volume()));
  for (int colour = 0; colour < 3; ++colour) {
    const auto column = s.column(colour);
    for (std::size_t i = 0; i < column.size(); ++i) values[3 * i + static_cast<std::size_t>(colour)] = column[i];
  }
  return to_numpy(std::move(values), canonical_shape(s.geometry(), {3, 3}));
}

void bind_staggered_propagator(nb::module_& m) {
  nb::class_<measure::StaggeredPropagator>(m, "StaggeredPropagator", nb::dynamic_attr(),
                                           "Three solutions of staggered quarks, one for each colour of one source.")
      .def(nb::init<GeometryPtr, const Position&>(), "geometry"_a, "source"_a,
           "Zeros. source: global position x, y, z, t, whose time becomes index 0 of every correlator.")
      .def_prop_ro("geometry", &measure::StaggeredPropagator::geometry_ptr)
      .def_prop_ro("source", &measure::StaggeredPropagator::source)
      .def(
          "column",
          [](nb::handle_t<measure::StaggeredPropagator> self, int colour) { return staggered_view(self, colour); },
          "colour"_a, "The local solution [t][z][y][x][colour]; a view, writable.")
      .def("array", &staggered_array, "A copy: [t][z][y][x][sink colour][source colour], complex128.");
}

/// Correlators by name: rows of momenta times T.
nb::dict by_name(const std::vector<std::string>& names, std::size_t momenta,
                 const std::vector<measure::Correlator>& correlators) {
  nb::dict result;
  for (std::size_t c = 0; c < names.size(); ++c) {
    std::vector<complex> rows;
    for (std::size_t p = 0; p < momenta; ++p) {
      const auto& values = correlators[c * momenta + p].values;
      rows.insert(rows.end(), values.begin(), values.end());
    }
    const std::size_t extent = rows.size() / momenta;
    result[names[c].c_str()] = to_numpy(std::move(rows), {momenta, extent});
  }
  return result;
}

nb::dict staggered_mesons(const measure::StaggeredPropagator& quark, const measure::StaggeredPropagator& antiquark,
                          const std::vector<std::string>& names, const std::vector<measure::Momentum>& momenta) {
  std::vector<measure::Correlator> correlators;
  {
    nb::gil_scoped_release unlocked;
    correlators = measure::staggered_mesons(quark, antiquark, names, momenta);
  }
  return by_name(names, momenta.size(), correlators);
}

nb::dict mesons(const measure::Propagator& quark, const measure::Propagator& antiquark,
                const std::vector<std::string>& names, const std::vector<measure::Momentum>& momenta) {
  std::vector<measure::Correlator> correlators;
  {
    nb::gil_scoped_release unlocked;
    std::vector<measure::MesonChannel> channels;
    for (const auto& name : names) channels.push_back(measure::meson_channel(name));
    correlators = measure::mesons(quark, antiquark, channels, momenta);
  }
  return by_name(names, momenta.size(), correlators);
}

ArrayOut<complex> nucleon(const measure::Propagator& up, const measure::Propagator& down, complex boundary_t,
                          int parity, const std::vector<measure::Momentum>& momenta) {
  std::vector<complex> rows;
  std::size_t extent = 0;
  {
    nb::gil_scoped_release unlocked;
    for (const auto& correlator : measure::nucleon(up, down, boundary_t, momenta)) {
      const auto values = correlator.project(parity);
      extent = values.size();
      rows.insert(rows.end(), values.begin(), values.end());
    }
  }
  return to_numpy(std::move(rows), {momenta.size(), extent});
}

ArrayOut<complex> spinor(measure::Spinor&& values, const lattice::Geometry4& geometry) {
  return to_numpy(std::move(values), canonical_shape(geometry, {4, 3}));
}

void bind_sources(nb::module_& m) {
  m.def(
      "point_source",
      [](const lattice::Geometry4& g, const Position& position, int spin, int colour) {
        return spinor(measure::point_source(g, position, spin, colour), g);
      },
      "geometry"_a, "position"_a, "spin"_a, "colour"_a);
  m.def(
      "staggered_point_source",
      [](const lattice::Geometry4& g, const Position& position, int colour) {
        return to_numpy(measure::staggered_point_source(g, position, colour), canonical_shape(g, {3}));
      },
      "geometry"_a, "position"_a, "colour"_a);
  m.def("check_position", &measure::check_position, "geometry"_a, "position"_a);
  m.def(
      "staggered_wall_source",
      [](const lattice::Geometry4& g, const Position& position, int colour) {
        return to_numpy(measure::staggered_wall_source(g, position, colour), canonical_shape(g, {3}));
      },
      "geometry"_a, "position"_a, "colour"_a);
  m.def(
      "wall_source",
      [](const lattice::Geometry4& g, std::int64_t time, int spin, int colour, const measure::Momentum& momentum) {
        return spinor(measure::wall_source(g, time, spin, colour, momentum), g);
      },
      "geometry"_a, "time"_a, "spin"_a, "colour"_a, "momentum"_a);
  m.def(
      "noise_sources",
      [](const lattice::Geometry4& g, std::int64_t time, std::uint64_t seed, std::uint64_t sample) {
        nb::list columns;
        for (auto& column :
             measure::noise_source(g, {measure::Noise::z2, measure::Dilution::spin_colour, time, seed, sample}))
          columns.append(spinor(std::move(column), g));
        return columns;
      },
      "geometry"_a, "time"_a, "seed"_a, "sample"_a, "Twelve columns of Z2 noise, diluted in spin and colour.");
  m.def(
      "sequential_sources",
      [](const measure::Propagator& s, std::int64_t time, int gamma, const measure::Momentum& momentum) {
        nb::list columns;
        for (auto& column : measure::sequential_source(s, time, measure::gamma_product(gamma), momentum))
          columns.append(spinor(std::move(column), s.geometry()));
        return columns;
      },
      "propagator"_a, "time"_a, "gamma"_a, "momentum"_a,
      "Twelve columns; gamma counts the products gx^1 gy^2 gz^4 gt^8.");
  m.def(
      "smear_gaussian",
      [](const ComplexIn& source, const qcd::GaugeField& links, double width, int iterations,
         const std::array<complex, 3>& boundary) {
        const auto given = canonical_values(source, links.geometry(), {4, 3}, "the spinor");
        measure::Spinor smeared(given.begin(), given.end());
        {
          nb::gil_scoped_release unlocked;
          auto parameters = measure::GaussianSmearing::of_width(width, iterations);
          parameters.boundary = boundary;
          measure::GaussianSmearer(links, parameters).apply(smeared);
        }
        return spinor(std::move(smeared), links.geometry());
      },
      "spinor"_a, "links"_a, "width"_a, "iterations"_a, "boundary"_a, "Collective.");
}

std::vector<std::string> names_of(const std::vector<measure::MesonChannel>& channels) {
  std::vector<std::string> names;
  for (const auto& channel : channels) names.push_back(channel.name);
  return names;
}

}  // namespace

void bind_qcd_measure(nb::module_& m) {
  bind_propagator(m);
  bind_staggered_propagator(m);
  bind_sources(m);
  m.def("named_channels", [] { return names_of(measure::named_channels()); });
  m.def("sixteen_channels", [] { return names_of(measure::sixteen_channels()); });
  m.def("mesons", &mesons, "quark"_a, "antiquark"_a, "channels"_a, "momenta"_a);
  nb::list staggered;
  for (const char* name : measure::staggered_channels()) staggered.append(name);
  m.attr("STAGGERED_CHANNELS") = nb::tuple(staggered);
  m.def("staggered_mesons", &staggered_mesons, "quark"_a, "antiquark"_a, "channels"_a, "momenta"_a);
  m.def("nucleon", &nucleon, "up"_a, "down"_a, "boundary_t"_a, "parity"_a, "momenta"_a);
  m.def(
      "smear_sink",
      [](measure::Propagator& s, const qcd::GaugeField& links, double width, int iterations,
         const std::array<complex, 3>& boundary) {
        auto parameters = measure::GaussianSmearing::of_width(width, iterations);
        parameters.boundary = boundary;
        measure::smear_sink(s, links, parameters);
      },
      "propagator"_a, "links"_a, "width"_a, "iterations"_a, "boundary"_a, nb::call_guard<nb::gil_scoped_release>(),
      "Gaussian smearing of all twelve columns, in place. Collective.");
}

}  // namespace halocline::bindings
