// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "halocline/core/error.hpp"

namespace halocline::qcd::order {
namespace {

/// A code: where its sites, links, spinors and propagators are.
struct Code {
  std::string_view name;
  std::string_view shown;  ///< in sentences
  SiteOrder sites;
  Directions directions;
  bool transposed;
  Inside inside;
  const SpinBasis* basis;
  bool has_propagators;
  PropagatorIndices propagator;
};

constexpr const SpinBasis* degrand_rossi = &spin_bases::degrand_rossi;
constexpr SiteOrder lexicographic{Sites::lexicographic};
constexpr SiteOrder even_odd{Sites::even_odd};
constexpr SiteOrder even_odd_of_the_box{Sites::even_odd, 1, true};
constexpr auto spin_colour = Inside::spin_colour;
constexpr auto colour_spin = Inside::colour_spin;

constexpr std::array<Code, 9> codes{{
    {"lexicographic", "lexicographic", lexicographic, Directions::inside, false, spin_colour, degrand_rossi, true,
     PropagatorIndices::sink_source},
    {"even-odd", "even-odd", even_odd, Directions::inside, false, spin_colour, degrand_rossi, true,
     PropagatorIndices::sink_source},
    {"qdp++", "QDP++", even_odd, Directions::outside, false, spin_colour, degrand_rossi, true,
     PropagatorIndices::spins_colours},
    {"quda", "QUDA", even_odd_of_the_box, Directions::outside, false, spin_colour, degrand_rossi, true,
     PropagatorIndices::source_outside},
    {"pyquda", "PyQUDA", even_odd_of_the_box, Directions::outside, false, spin_colour, degrand_rossi, true,
     PropagatorIndices::spins_colours},
    {"milc", "MILC", even_odd, Directions::inside, false, spin_colour, degrand_rossi, false,
     PropagatorIndices::sink_source},
    {"qws",
     "QWS",
     {Sites::halves_of_x, 0},
     Directions::in_each_half,
     true,
     colour_spin,
     &spin_bases::ukqcd,
     true,
     PropagatorIndices::source_outside},
    {"qws-even-odd",
     "QWS",
     {Sites::even_odd, 0, true},
     Directions::in_each_half,
     true,
     colour_spin,
     &spin_bases::ukqcd,
     true,
     PropagatorIndices::source_outside},
    {"openqcd",
     "openQCD",
     {Sites::cache_blocks, 1, true},
     Directions::around_odd_sites,
     false,
     spin_colour,
     &spin_bases::openqcd,
     true,
     PropagatorIndices::source_outside},
}};

constexpr auto code_names = [] {
  std::array<std::string_view, codes.size()> all;
  std::ranges::transform(codes, all.begin(), &Code::name);
  return all;
}();

std::string small(std::string_view text) {
  std::string letters(text);
  std::ranges::transform(letters, letters.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return letters;
}

const Code& code(std::string_view name) {
  std::string wanted = small(name);
  if (wanted == "canonical") wanted = "lexicographic";
  if (wanted == "chroma") wanted = "qdp++";
  const auto found = std::ranges::find(codes, wanted, &Code::name);
  if (found == codes.end())
    throw core::InvalidArgument(
        fmt::format("the order \"{}\" is unknown; give one of {}", name, fmt::join(code_names, ", ")));
  return *found;
}

bool distinguishes_parities(const SiteOrder& order) {
  return order.sites == Sites::even_odd || order.sites == Sites::cache_blocks;
}

std::string sizes(const lattice::Coordinates<4>& extents) { return fmt::format("{}", fmt::join(extents, " x ")); }

}  // namespace

std::span<const std::string_view> names() noexcept { return code_names; }

GaugeOrder gauge_order(std::string_view name) {
  const Code& c = code(name);
  return {.sites = c.sites, .directions = c.directions, .transposed = c.transposed};
}

SpinorOrder spinor_order(std::string_view name) {
  const Code& c = code(name);
  return {c.sites, c.inside, c.basis};
}

PropagatorOrder propagator_order(std::string_view name) {
  const Code& c = code(name);
  if (!c.has_propagators)
    throw core::InvalidArgument(fmt::format(
        "there is no order of {}'s propagators here; convert their columns one by one, as spinors", c.shown));
  return {c.sites, c.propagator, c.inside, c.basis};
}

const SpinBasis& basis(std::string_view name) {
  using namespace spin_bases;
  const std::string wanted = small(name);
  for (const SpinBasis* known : {&spin_bases::degrand_rossi, &dirac_pauli, &ukqcd, &openqcd})
    if (small(known->name) == wanted) return *known;
  if (wanted == "chiral") return openqcd;
  std::vector<std::string_view> known;
  for (const SpinBasis& one : all) known.emplace_back(one.name);
  throw core::InvalidArgument(
      fmt::format("the spin basis \"{}\" is unknown; give one of {}, Chiral", name, fmt::join(known, ", ")));
}

void check(const SiteOrder& order, const lattice::Geometry4& geometry, std::size_t number_bytes) {
  const auto& local = geometry.local();
  const int side_by_side = lanes(order, number_bytes);
  const bool halved = order.sites != Sites::lexicographic;
  if (halved && local[0] % 2 != 0)
    throw core::InvalidArgument(fmt::format(
        "the local box of {} sites has an odd extent along x; an order that halves x needs an even one: use "
        "fewer processes along x",
        sizes(local)));
  if (side_by_side < 1 || (side_by_side > 1 && order.sites == Sites::cache_blocks))
    throw core::InvalidArgument(
        fmt::format("{} sites side by side were asked for; give 1 or more, and 1 for openQCD's order", side_by_side));
  if (const auto row = halved ? local[0] / 2 : local[0]; row % side_by_side != 0)
    throw core::InvalidArgument(fmt::format(
        "the local box of {} sites has {} in {} of x, which {} sites side by side do not divide; use a local "
        "extent of x that is a multiple of {}, or fewer lanes",
        sizes(local), row, halved ? "half a row" : "a row", side_by_side, side_by_side * (halved ? 2 : 1)));
  if (order.sites == Sites::cache_blocks && std::ranges::any_of(local, [](std::int64_t n) { return n % 2 != 0; }))
    throw core::InvalidArgument(
        fmt::format("the local box of {} sites has an odd extent; openQCD's order needs even ones", sizes(local)));
  if (!distinguishes_parities(order) || !order.local_parity) return;
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (geometry.grid().dims()[axis] > 1 && local[axis] % 2 != 0)
      throw core::InvalidArgument(fmt::format(
          "the local box of {} sites is odd along {}, which is divided between processes: half of them begin "
          "at an odd site, where this order's parities, counted from the box, are not those of the "
          "lattice; use a process grid with even local extents",
          sizes(local), lattice::axis_name[axis]));
}

void check(const GaugeOrder& order, const lattice::Geometry4& geometry, std::size_t number_bytes) {
  check(order.sites, geometry, number_bytes);
  const auto usable = [](double factor) { return std::isfinite(factor) && factor != 0; };
  if (!std::ranges::all_of(order.scale, usable) || !std::ranges::all_of(order.boundary, usable))
    throw core::InvalidArgument(
        fmt::format("the factors of links are [{}], at the boundary [{}]; give finite numbers other than 0",
                    fmt::join(order.scale, ", "), fmt::join(order.boundary, ", ")));
  if ((order.directions == Directions::around_odd_sites) != (order.sites.sites == Sites::cache_blocks))
    throw core::InvalidArgument(
        "links around odd sites and openQCD's order of sites go together; give both or neither of them");
  if (order.directions == Directions::in_each_half && order.sites.sites == Sites::lexicographic)
    throw core::InvalidArgument(
        "directions in each half of the sites were asked for in lexicographic order; give an order with two halves");
}

}  // namespace halocline::qcd::order
