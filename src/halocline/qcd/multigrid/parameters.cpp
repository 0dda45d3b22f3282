// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr std::array storage_names{"half", "float"};
constexpr std::array cycle_names{"K", "V"};
constexpr int most_levels = 8, most_eigenvectors = 256;

template <class Names>
void require_one_of(const char* what, const std::string& given, const Names& known) {
  if (std::ranges::find(known, given) == known.end())
    throw core::InvalidArgument(fmt::format("{} is \"{}\"; give one of {}", what, given, fmt::join(known, ", ")));
}

}  // namespace

std::span<const char* const> storages() noexcept { return storage_names; }
std::span<const char* const> cycles() noexcept { return cycle_names; }

void Parameters::validate() const {
  if (vectors < 8 || vectors > 64 || vectors % 8 != 0)
    throw core::InvalidArgument(
        fmt::format("{} test vectors were asked for; give a multiple of 8, from 8 to 64", vectors));
  if (setup_vectors != 0 && (setup_vectors < vectors || setup_vectors > 64 || setup_vectors % 8 != 0))
    throw core::InvalidArgument(
        fmt::format("a set-up of {} vectors was asked for; give a multiple of 8 from the {} test vectors up to 64, or "
                    "0 for as many as these",
                    setup_vectors, vectors));
  for (int axis = 0; axis < 4; ++axis)
    for (const auto& [kind, size] :
         {std::pair("aggregates", aggregate[axis]), std::pair("coarse aggregates", coarse_aggregate[axis])})
      if (size < 1)
        throw core::InvalidArgument(fmt::format("{} of {} sites along {} were asked for; give at least 1", kind, size,
                                                lattice::axis_name[axis]));
  if (levels != 0 && (levels < 2 || levels > most_levels))
    throw core::InvalidArgument(fmt::format(
        "{} levels were asked for; give 2 to {}, or 0 for as many as the lattice needs", levels, most_levels));
  require_one_of("the cycle", cycle, cycle_names);
  if (coarse_vectors != 0 && (coarse_vectors < 8 || coarse_vectors > vectors || coarse_vectors % 8 != 0))
    throw core::InvalidArgument(
        fmt::format("{} test vectors on coarse levels were asked for; give a multiple of 8 up to the {} test vectors, "
                    "or 0 for as many",
                    coarse_vectors, vectors));
  if (coarse_smoother_steps < 1 || coarse_smoother_steps > 100)
    throw core::InvalidArgument(
        fmt::format("{} steps of the coarse smoother were asked for; give 1 to 100", coarse_smoother_steps));
  if (setup_iterations < -1 || setup_iterations > 100)
    throw core::InvalidArgument(fmt::format(
        "{} rounds of inverse iteration were asked for; give 0 to 100, or -1 for as many as pay", setup_iterations));
  if (right_hand_sides < 1)
    throw core::InvalidArgument(
        fmt::format("a set-up for {} right-hand sides was asked for; give at least 1", right_hand_sides));
  if (smoother_sweeps < 1 || smoother_sweeps > 100)
    throw core::InvalidArgument(
        fmt::format("{} sweeps of the smoother were asked for; give 1 to 100", smoother_sweeps));
  if (smoother_steps < 1 || smoother_steps > 100)
    throw core::InvalidArgument(fmt::format("{} steps inside a domain were asked for; give 1 to 100", smoother_steps));
  require_one_of("the smoother inside a domain", smoother, schwarz::inverses());
  require_one_of("the storage of the coarse level", storage, storage_names);
  if (!(coarse_tolerance > 0) || !(coarse_tolerance < 1))
    throw core::InvalidArgument(
        fmt::format("the tolerance of coarse solves is {}; give a number between 0 and 1", coarse_tolerance));
  if (coarse_iterations < 1)
    throw core::InvalidArgument(fmt::format("coarse_iterations is {}; give at least 1", coarse_iterations));
  if (gather_below < 1)
    throw core::InvalidArgument(fmt::format(
        "gather_below is {}; give a number of coarse sites of a process, or 1 to gather none", gather_below));
  if (coarse_eigenvectors < 0 || coarse_eigenvectors > most_eigenvectors)
    throw core::InvalidArgument(
        fmt::format("{} eigenvectors of the coarsest level were asked for; give 0 for the test vectors, or up to {}",
                    coarse_eigenvectors, most_eigenvectors));
}

}  // namespace halocline::qcd::multigrid
