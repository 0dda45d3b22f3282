// SPDX-License-Identifier: Apache-2.0
/// @file
/// c.h: propagators and correlators.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/bindings/c.h"
#include "halocline/qcd/bindings/handles.hpp"
#include "halocline/qcd/bindings/progress.hpp"
#include "halocline/qcd/bindings/spinors.hpp"
#include "halocline/qcd/measure/meson.hpp"
#include "halocline/qcd/measure/nucleon.hpp"
#include "halocline/qcd/measure/source.hpp"

namespace halocline::qcd::bindings {
namespace {

using Quarks = halocline_propagator::Quarks;

std::array<std::int64_t, 4> position_of(const Context& context, const std::int64_t* source, const char* call,
                                        Digest& digest) {
  given(source, call, "source");
  std::array<std::int64_t, 4> position{};
  std::copy_n(source, 4, position.begin());
  for (const auto x : position) digest(x);
  measure::check_position(*context.geometry, position);
  return position;
}

measure::Momentum momentum_of(const int* momentum, Digest& digest) {
  measure::Momentum out{0, 0, 0};
  if (momentum != nullptr) std::copy_n(momentum, 3, out.begin());
  for (const int n : out) digest(n);
  return out;
}

SpinorShape shape_of(const halocline_propagator& p) { return {.spins = p.staggered() ? 1 : 4}; }

std::span<std::complex<double>> column_of(Quarks& quarks, int column) {
  if (auto* spinors = std::get_if<0>(&quarks)) return spinors->column(column / 3, column % 3);
  return std::get<1>(quarks).column(column);
}
std::span<const std::complex<double>> column_of(const Quarks& quarks, int column) {
  if (const auto* spinors = std::get_if<0>(&quarks)) return spinors->column(column / 3, column % 3);
  return std::get<1>(quarks).column(column);
}

/// The checks of a call that sets or gets all columns.
template <class Void>
SpinorFormat columns_format(const halocline_propagator& p, const halocline_format* format, Void* const* columns,
                            std::size_t count, const char* call, Digest& digest) {
  const SpinorFormat arranged = spinor_format(format, call, digest(p.number));
  given(columns, call, "columns");
  for (int column = 0; column < p.columns(); ++column)
    if (columns[column] == nullptr)
      throw core::InvalidArgument(
          fmt::format("{}: NULL given for `columns[{}]`, expected {} arrays", call, column, p.columns()));
  check_spinor(arranged, shape_of(p), *p.context->geometry, count, call, "columns");
  return arranged;
}

/// The spins of the sources between DeGrand-Rossi and another basis: with S_B = V S V^dagger, column k of S_B is
/// sum_s V_ks times column s of V S, as V is real, and back by the transpose.
/// @param column  the numbers of a column by its index, 3 spin + colour
template <class Column>
void rotate_sources(const SpinBasis& basis, bool into, std::size_t numbers, const Column& column) {
  if (basis.gamma == spin_bases::degrand_rossi.gamma) return;
  const double scale = 1 / std::sqrt(static_cast<double>(basis.norm));
  for (int colour = 0; colour < colours; ++colour) {
    std::array<std::complex<double>*, 4> spins{};
    for (int s = 0; s < 4; ++s) spins[static_cast<std::size_t>(s)] = column(3 * s + colour).data();
    for (std::size_t i = 0; i < numbers; ++i) {
      std::array<std::complex<double>, 4> rotated{};
      for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t s = 0; s < 4; ++s)
          rotated[k] += scale * (into ? basis.numerators[k][s] : basis.numerators[s][k]) * spins[s][i];
      for (std::size_t k = 0; k < 4; ++k) spins[k][i] = rotated[k];
    }
  }
}

void check_correlator(const Context& context, const double* values, std::size_t count, const char* call) {
  given(values, call, "values");
  const auto expected = static_cast<std::size_t>(2 * context.geometry->global()[3]);
  if (count != expected)
    throw core::InvalidArgument(fmt::format("{}: room for {} real numbers given, expected {}: re and im for each of {} "
                                            "times",
                                            call, count, expected, expected / 2));
}

void give(std::span<const std::complex<double>> correlator, double* values) {
  for (std::size_t t = 0; t < correlator.size(); ++t) {
    values[2 * t] = correlator[t].real();
    values[2 * t + 1] = correlator[t].imag();
  }
}

Quarks zero_quarks(const Context& context, const std::array<std::int64_t, 4>& source, bool staggered) {
  if (staggered) return measure::StaggeredPropagator(context.geometry, source);
  return measure::Propagator(context.geometry, source);
}

}  // namespace
}  // namespace halocline::qcd::bindings

using namespace halocline;
using namespace halocline::qcd::bindings;

int halocline_propagator_create(const halocline_lattice* lattice, const int64_t* source, int staggered,
                                halocline_propagator** propagator) {
  const char* call = __func__;
  if (propagator != nullptr) *propagator = nullptr;
  if (lattice == nullptr) return guarded([&] { given(lattice, call, "lattice"); });
  Context& context = *lattice->context;
  std::unique_ptr<halocline_propagator> made;
  return collective(
      context, call,
      [&](Digest& digest) {
        given(propagator, call, "propagator");
        const auto position = position_of(context, source, call, digest(staggered != 0));
        made = std::make_unique<halocline_propagator>(
            halocline_propagator{lattice->context, 0, zero_quarks(context, position, staggered != 0)});
      },
      [&] {
        made->number = context.next_object();
        *propagator = made.release();
      });
}

int halocline_propagator_solve(halocline_solver* solver, const int64_t* source, halocline_progress progress, void* data,
                               halocline_propagator** propagator) {
  const char* call = __func__;
  if (propagator != nullptr) *propagator = nullptr;
  if (solver == nullptr) return guarded([&] { given(solver, call, "solver"); });
  Context& context = *solver->context;
  std::unique_ptr<halocline_propagator> made;
  std::vector<std::vector<std::complex<double>>> sources;
  std::vector<std::span<const std::complex<double>>> b;
  std::vector<std::span<std::complex<double>>> x;
  return collective(
      context, call,
      [&](Digest& digest) {
        given(propagator, call, "propagator");
        const auto position = position_of(context, source, call, digest(solver->number)(progress != nullptr));
        const qcd::Action& action = solver->solver.action();
        if (qcd::flavours(action) == 2)
          throw core::InvalidArgument(fmt::format(
              "{}: a solver of a doublet given, whose quarks change their flavour; solve column by column", call));
        const bool staggered = qcd::is_staggered(action);
        made = std::make_unique<halocline_propagator>(
            halocline_propagator{solver->context, 0, zero_quarks(context, position, staggered)});
        for (int column = 0; column < made->columns(); ++column) {
          sources.push_back(staggered
                                ? qcd::measure::staggered_point_source(*context.geometry, position, column)
                                : qcd::measure::point_source(*context.geometry, position, column / 3, column % 3));
          b.emplace_back(sources.back());
          x.push_back(column_of(made->quarks, column));
        }
      },
      [&] {
        solver->reports.clear();
        solver->reports = solver->solver.solve(x, b, progress_of(context, progress, data));
        made->number = context.next_object();
        *propagator = made.release();
      });
}

int halocline_propagator_count(const halocline_propagator* propagator, int* columns, size_t* count) {
  const char* call = __func__;
  return guarded([&] {
    const auto& geometry = *given(propagator, call, "propagator").context->geometry;
    if (columns != nullptr) *columns = propagator->columns();
    if (count != nullptr) *count = shape_of(*propagator).count(geometry);
  });
}

int halocline_propagator_set(halocline_propagator* propagator, const halocline_format* format,
                             const void* const* columns, size_t count) {
  const char* call = __func__;
  if (propagator == nullptr) return guarded([&] { given(propagator, call, "propagator"); });
  const auto& geometry = *propagator->context->geometry;
  std::optional<Quarks> made;
  return collective(
      *propagator->context, call,
      [&](Digest& digest) {
        const SpinorFormat arranged = columns_format(*propagator, format, columns, count, call, digest);
        made = propagator->quarks;
        for (int column = 0; column < propagator->columns(); ++column) {
          const SpinorIn from(arranged, shape_of(*propagator), geometry, columns[column]);
          std::ranges::copy(from.values(), column_of(*made, column).begin());
        }
        if (!propagator->staggered())
          rotate_sources(*arranged.order.basis, false, count / 2, [&](int column) { return column_of(*made, column); });
      },
      [&] { propagator->quarks = std::move(*made); });
}

int halocline_propagator_get(const halocline_propagator* propagator, const halocline_format* format,
                             void* const* columns, size_t count) {
  const char* call = __func__;
  if (propagator == nullptr) return guarded([&] { given(propagator, call, "propagator"); });
  const auto& geometry = *propagator->context->geometry;
  std::optional<Quarks> copy;
  std::optional<SpinorFormat> arranged;
  std::vector<std::complex<double>> room;
  return collective(
      *propagator->context, call,
      [&](Digest& digest) {
        arranged = columns_format(*propagator, format, columns, count, call, digest);
        copy = propagator->quarks;
        if (!propagator->staggered())
          rotate_sources(*arranged->order.basis, true, count / 2, [&](int column) { return column_of(*copy, column); });
        room.resize(count / 2);
      },
      [&] {
        for (int column = 0; column < propagator->columns(); ++column) {
          SpinorOut to(*arranged, shape_of(*propagator), geometry, columns[column], std::move(room));
          std::ranges::copy(column_of(std::as_const(*copy), column), to.values().begin());
          to.finish();
          room = std::move(to).room();
        }
      });
}

int halocline_meson(const halocline_propagator* quark, const halocline_propagator* antiquark, const char* channel,
                    const int* momentum, double* values, size_t count) {
  const char* call = __func__;
  if (quark == nullptr) return guarded([&] { given(quark, call, "quark"); });
  qcd::measure::Momentum p{};
  std::vector<qcd::measure::MesonChannel> channels;
  return collective(
      *quark->context, call,
      [&](Digest& digest) {
        same_lattice(quark->context, given(antiquark, call, "antiquark").context, call);
        digest(quark->number)(antiquark->number);
        check_correlator(*quark->context, values, count, call);
        if (quark->staggered() != antiquark->staggered())
          throw core::InvalidArgument(
              fmt::format("{}: a staggered propagator and one of another action given; give two of one kind", call));
        p = momentum_of(momentum, digest(std::string_view(&given(channel, call, "channel"))));
        if (!quark->staggered()) channels.push_back(qcd::measure::meson_channel(channel));
      },
      [&] {
        const std::array<qcd::measure::Momentum, 1> momenta{p};
        const std::array<std::string, 1> names{channel};
        const auto correlators =
            quark->staggered()
                ? qcd::measure::staggered_mesons(std::get<1>(quark->quarks), std::get<1>(antiquark->quarks), names,
                                                 momenta)
                : qcd::measure::mesons(std::get<0>(quark->quarks), std::get<0>(antiquark->quarks), channels, momenta);
        give(correlators[0].values, values);
      });
}

int halocline_nucleon(const halocline_propagator* up, const halocline_propagator* down, const double* boundary_t,
                      int parity, const int* momentum, double* values, size_t count) {
  const char* call = __func__;
  if (up == nullptr) return guarded([&] { given(up, call, "up"); });
  qcd::measure::Momentum p{};
  return collective(
      *up->context, call,
      [&](Digest& digest) {
        same_lattice(up->context, given(down, call, "down").context, call);
        digest(up->number)(down->number);
        check_correlator(*up->context, values, count, call);
        given(boundary_t, call, "boundary_t");
        if (up->staggered() || down->staggered())
          throw core::InvalidArgument(
              fmt::format("{}: a staggered propagator given; nucleons are made of quarks with four spins", call));
        if (parity != 1 && parity != -1)
          throw core::InvalidArgument(fmt::format("{}: parity {} given; give 1 or -1", call, parity));
        p = momentum_of(momentum, digest(parity)(boundary_t[0])(boundary_t[1]));
      },
      [&] {
        const std::array<qcd::measure::Momentum, 1> momenta{p};
        const auto made = qcd::measure::nucleon(std::get<0>(up->quarks), std::get<0>(down->quarks),
                                                {boundary_t[0], boundary_t[1]}, momenta);
        give(made[0].project(parity), values);
      });
}

int halocline_propagator_destroy(halocline_propagator* propagator) {
  return guarded([&] { delete propagator; });
}
