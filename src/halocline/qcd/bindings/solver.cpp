// SPDX-License-Identifier: Apache-2.0
/// @file
/// c.h: actions, operators and solves.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/bindings/c.h"
#include "halocline/qcd/bindings/handles.hpp"
#include "halocline/qcd/bindings/parameters.hpp"
#include "halocline/qcd/bindings/progress.hpp"
#include "halocline/qcd/bindings/spinors.hpp"

namespace halocline::qcd::bindings {
namespace {

/// The arrays of the columns of a solve.
template <class Void>
std::span<Void* const> columns_of(Void* const* arrays, int columns, const char* call, const char* name) {
  given(arrays, call, name);
  const std::span<Void* const> all(arrays, static_cast<std::size_t>(columns));
  for (std::size_t column = 0; column < all.size(); ++column)
    if (all[column] == nullptr)
      throw core::InvalidArgument(
          fmt::format("{}: NULL given for `{}[{}]`, expected an array for each column", call, name, column));
  return all;
}

/// @param bytes  of each array
/// @throws InvalidArgument  where a solution shares memory with another array. Sources may be the same.
void check_apart(std::span<void* const> solutions, std::span<const void* const> sources, std::size_t bytes,
                 const char* call) {
  struct Place {
    std::uintptr_t begin;
    bool solution;
    std::size_t column;
  };
  std::vector<Place> places;
  places.reserve(2 * solutions.size());
  for (std::size_t i = 0; i < solutions.size(); ++i) {
    places.push_back({std::bit_cast<std::uintptr_t>(solutions[i]), true, i});
    places.push_back({std::bit_cast<std::uintptr_t>(sources[i]), false, i});
  }
  std::ranges::sort(places, {}, &Place::begin);
  const Place* last_solution = nullptr;
  const Place* last = nullptr;  // all arrays have one length, so the last one that began ends last
  for (const Place& one : places) {
    const Place* const before = one.solution ? last : last_solution;
    if (before != nullptr && one.begin - before->begin < bytes) {
      const Place& to = one.solution ? one : *before;
      const Place& other = one.solution ? *before : one;
      throw core::InvalidArgument(fmt::format("{}: solution {} has the memory of {} {}, or a part of it; give each "
                                              "solution memory of its own",
                                              call, to.column, other.solution ? "solution" : "source", other.column));
    }
    last = &one;
    if (one.solution) last_solution = &one;
  }
}

const SolveReport& report_of(const halocline_solver* solver, int column, const char* call) {
  const auto& reports = solver->reports;
  if (column < 0 || static_cast<std::size_t>(column) >= reports.size())
    throw core::InvalidArgument(
        fmt::format("{}: column {} given, but the last solve had {}; count from 0", call, column, reports.size()));
  return reports[static_cast<std::size_t>(column)];
}

}  // namespace

QuarkSolver::Progress progress_of(const Context& context, halocline_progress progress, void* data) {
  if (progress == nullptr) return {};
  return [&context, progress, data](int iterations, double residual) {
    return !context.group().any(progress(data, iterations, residual) != 0);
  };
}

}  // namespace halocline::qcd::bindings

using namespace halocline;
using namespace halocline::qcd::bindings;

int halocline_format_init(halocline_format* format, size_t struct_size) {
  return init(format, struct_size, first_format, __func__, "format");
}
int halocline_action_init(halocline_action* action, size_t struct_size) {
  return init(action, struct_size, first_action, __func__, "action");
}
int halocline_solver_parameters_init(halocline_solver_parameters* parameters, size_t struct_size) {
  return init(parameters, struct_size, first_parameters, __func__, "parameters");
}
int halocline_report_init(halocline_report* report, size_t struct_size) {
  return init(report, struct_size, first_report, __func__, "report");
}

int halocline_mass_from_kappa(double kappa, double* mass) {
  const char* call = __func__;
  return guarded([&] { given(mass, call, "mass") = qcd::mass_from_kappa(kappa); });
}

int halocline_solver_create(const halocline_gauge* gauge, const halocline_action* action,
                            const halocline_solver_parameters* parameters, halocline_solver** solver) {
  const char* call = __func__;
  if (solver != nullptr) *solver = nullptr;
  if (gauge == nullptr) return guarded([&] { given(gauge, call, "gauge"); });
  qcd::Action wanted;
  qcd::SolverParameters how;
  return collective(
      *gauge->context, call,
      [&](Digest& digest) {
        digest(gauge->number);
        given(solver, call, "solver");
        gauge->present(call);
        wanted = qcd::bindings::action(action, call, digest);
        how = solver_parameters(parameters, call, digest);
      },
      [&] {
        *solver = new halocline_solver{gauge->context, gauge->context->next_object(),
                                       qcd::QuarkSolver(*gauge->links, wanted, how)};
      });
}

int halocline_solver_refresh(halocline_solver* solver, const halocline_gauge* gauge, const halocline_action* action) {
  const char* call = __func__;
  if (solver == nullptr) return guarded([&] { given(solver, call, "solver"); });
  qcd::Action wanted;
  return collective(
      *solver->context, call,
      [&](Digest& digest) {
        same_lattice(solver->context, given(gauge, call, "gauge").context, call);
        gauge->present(call);
        digest(solver->number)(gauge->number)(action != nullptr);
        wanted = action == nullptr ? solver->solver.action() : qcd::bindings::action(action, call, digest);
        solver->solver.check_refresh(wanted);
      },
      [&] { solver->solver.refresh(*gauge->links, wanted); });
}

int halocline_solver_count(const halocline_solver* solver, size_t* count, size_t* five_dimensions) {
  const char* call = __func__;
  if (solver == nullptr) return guarded([&] { given(solver, call, "solver"); });
  return alone(*solver->context, call, [&] {
    const auto& geometry = *solver->context->geometry;
    if (count != nullptr) *count = shape_of(solver->solver.action(), false).count(geometry);
    if (five_dimensions != nullptr) *five_dimensions = shape_of(solver->solver.action(), true).count(geometry);
  });
}

int halocline_solver_apply(halocline_solver* solver, const char* name, const halocline_format* format, void* out,
                           const void* in, size_t count) {
  const char* call = __func__;
  if (solver == nullptr) return guarded([&] { given(solver, call, "solver"); });
  const auto& geometry = *solver->context->geometry;
  const std::string_view wanted = text(name);
  std::optional<SpinorTransfer> arrays;
  return collective(
      *solver->context, call,
      [&](Digest& digest) {
        if (wanted != "D" && wanted != "D-dagger" && wanted != "schur" && wanted != "schur-dagger")
          throw core::InvalidArgument(
              fmt::format("{}: the operator is \"{}\"; give one of D, D-dagger, schur, schur-dagger", call, wanted));
        const SpinorFormat arranged = spinor_format(format, call, digest(solver->number)(wanted));
        given(static_cast<char*>(out), call, "out");
        given(static_cast<const char*>(in), call, "in");
        const SpinorShape shape = shape_of(solver->solver.action(), true);
        check_spinor(arranged, shape, geometry, count, call, "an array");
        if (share_memory(out, in, arranged.bytes(count)))
          throw core::InvalidArgument(
              fmt::format("{}: `out` is `in`, or shares memory with it; give it memory of its own", call));
        arrays.emplace(geometry, arranged, shape, std::span(&out, 1), std::span(&in, 1));
      },
      [&] {
        const bool dagger = wanted.ends_with("-dagger");
        if (wanted.starts_with("D"))
          solver->solver.apply(arrays->to()[0], arrays->from()[0], dagger);
        else
          solver->solver.apply_schur(arrays->to()[0], arrays->from()[0], dagger);
        arrays->finish();
      });
}

int halocline_solver_solve(halocline_solver* solver, const halocline_format* format, int columns,
                           void* const* solutions, const void* const* sources, size_t count,
                           halocline_progress progress, void* data) {
  const char* call = __func__;
  if (solver == nullptr) return guarded([&] { given(solver, call, "solver"); });
  const auto& geometry = *solver->context->geometry;
  std::optional<SpinorTransfer> arrays;
  return collective(
      *solver->context, call,
      [&](Digest& digest) {
        if (columns < 1 || columns > 65536)
          throw core::InvalidArgument(fmt::format("{}: {} columns given; give 1 to 65536", call, columns));
        const SpinorFormat arranged = spinor_format(format, call, digest(solver->number)(columns)(progress != nullptr));
        const auto to = columns_of(solutions, columns, call, "solutions");
        const auto from = columns_of(sources, columns, call, "sources");
        const SpinorShape shape = shape_of(solver->solver.action(), false);
        check_spinor(arranged, shape, geometry, count, call, "arrays");
        check_apart(to, from, arranged.bytes(count), call);
        arrays.emplace(geometry, arranged, shape, to, from);
      },
      [&] {
        solver->reports.clear();
        solver->reports =
            solver->solver.solve(arrays->to(), arrays->from(), progress_of(*solver->context, progress, data));
        arrays->finish();
      });
}

int halocline_solver_report(const halocline_solver* solver, int column, halocline_report* report) {
  const char* call = __func__;
  if (solver == nullptr) return guarded([&] { given(solver, call, "solver"); });
  return alone(*solver->context, call, [&] {
    const qcd::SolveReport& from = report_of(solver, column, call);
    // The caller's struct is as long as the caller says.
    halocline_report made = taken(&given(report, call, "report"), first_report, call, "report");
    const std::size_t size = made.struct_size;
    made.converged = from.converged;
    made.iterations = from.iterations;
    made.residual = from.residual;
    made.seconds = from.seconds;
    made.columns = from.columns;
    made.notes = static_cast<int>(from.notes.size());
    made.reason = from.reason.c_str();
    made.method = from.method.c_str();
    made.device = from.device.c_str();
    std::memcpy(static_cast<void*>(report), &made, std::min(size, sizeof made));
  });
}

int halocline_solver_note(const halocline_solver* solver, int column, int index, const char** sentence) {
  const char* call = __func__;
  if (solver == nullptr) return guarded([&] { given(solver, call, "solver"); });
  return alone(*solver->context, call, [&] {
    const auto& notes = report_of(solver, column, call).notes;
    given(sentence, call, "sentence");
    if (index < 0 || static_cast<std::size_t>(index) >= notes.size())
      throw core::InvalidArgument(
          fmt::format("{}: note {} given, but the column has {}; count from 0", call, index, notes.size()));
    *sentence = notes[static_cast<std::size_t>(index)].text.c_str();
  });
}

int halocline_solver_destroy(halocline_solver* solver) {
  return guarded([&] { delete solver; });
}
