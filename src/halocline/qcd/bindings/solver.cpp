// SPDX-License-Identifier: Apache-2.0
/// @file
/// c.h: actions, operators and solves.

#include <array>
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

void check_apart(std::span<void* const> solutions, std::span<const void* const> sources, const char* call) {
  for (std::size_t i = 0; i < solutions.size(); ++i)
    for (std::size_t j = 0; j < solutions.size(); ++j)
      if (solutions[i] == sources[j] || (i != j && solutions[i] == solutions[j]))
        throw core::InvalidArgument(
            fmt::format("{}: solution {} has the memory of {} {}; give each solution memory of its own", call, i,
                        solutions[i] == sources[j] ? "source" : "solution", j));
}

const SolveReport& report_of(const halocline_solver* solver, int column, const char* call) {
  const auto& reports = given(solver, call, "solver").reports;
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
        given(solver, call, "solver");
        gauge->present(call);
        wanted = qcd::bindings::action(action, call, digest);
        how = solver_parameters(parameters, call, digest);
      },
      [&] { *solver = new halocline_solver{gauge->context, qcd::QuarkSolver(*gauge->links, wanted, how)}; });
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
        digest(action != nullptr);
        wanted = action == nullptr ? solver->solver.action() : qcd::bindings::action(action, call, digest);
      },
      [&] { solver->solver.refresh(*gauge->links, wanted); });
}

int halocline_solver_count(const halocline_solver* solver, size_t* count, size_t* five_dimensions) {
  const char* call = __func__;
  return guarded([&] {
    const auto& geometry = *given(solver, call, "solver").context->geometry;
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
  const auto shape = shape_of(solver->solver.action(), true);
  SpinorFormat arranged{};
  return collective(
      *solver->context, call,
      [&](Digest& digest) {
        if (wanted != "D" && wanted != "D-dagger" && wanted != "schur" && wanted != "schur-dagger")
          throw core::InvalidArgument(
              fmt::format("{}: the operator is \"{}\"; give one of D, D-dagger, schur, schur-dagger", call, wanted));
        arranged = spinor_format(format, call, digest(wanted));
        given(static_cast<char*>(out), call, "out");
        given(static_cast<const char*>(in), call, "in");
        check_spinor(arranged, shape, geometry, count, call, "an array");
        if (out == in) throw core::InvalidArgument(fmt::format("{}: `out` is `in`; give it memory of its own", call));
      },
      [&] {
        const bool dagger = wanted.ends_with("-dagger");
        Passage passage(*solver->context, shape);
        const SpinorIn from(arranged, shape, geometry, passage, in);
        SpinorOut to(arranged, shape, geometry, out);
        if (wanted.starts_with("D"))
          solver->solver.apply(to.values(), from.values(), dagger);
        else
          solver->solver.apply_schur(to.values(), from.values(), dagger);
        to.finish(passage);
      });
}

int halocline_solver_solve(halocline_solver* solver, const halocline_format* format, int columns,
                           void* const* solutions, const void* const* sources, size_t count,
                           halocline_progress progress, void* data) {
  const char* call = __func__;
  if (solver == nullptr) return guarded([&] { given(solver, call, "solver"); });
  const auto& geometry = *solver->context->geometry;
  const auto shape = shape_of(solver->solver.action(), false);
  SpinorFormat arranged{};
  return collective(
      *solver->context, call,
      [&](Digest& digest) {
        if (columns < 1 || columns > 65536)
          throw core::InvalidArgument(fmt::format("{}: {} columns given; give at least 1", call, columns));
        arranged = spinor_format(format, call, digest(columns)(progress != nullptr));
        const auto to = columns_of(solutions, columns, call, "solutions");
        const auto from = columns_of(sources, columns, call, "sources");
        check_spinor(arranged, shape, geometry, count, call, "arrays");
        check_apart(to, from, call);
      },
      [&] {
        solver->reports.clear();
        Passage passage(*solver->context, shape);
        std::vector<SpinorIn> from;
        std::vector<SpinorOut> to;
        from.reserve(static_cast<std::size_t>(columns));
        to.reserve(static_cast<std::size_t>(columns));
        std::vector<std::span<const std::complex<double>>> b;
        std::vector<std::span<std::complex<double>>> x;
        for (int column = 0; column < columns; ++column) {
          b.push_back(from.emplace_back(arranged, shape, geometry, passage, sources[column]).values());
          x.push_back(to.emplace_back(arranged, shape, geometry, solutions[column]).values());
        }
        solver->reports = solver->solver.solve(x, b, progress_of(*solver->context, progress, data));
        for (const SpinorOut& one : to) one.finish(passage);
      });
}

int halocline_solver_report(const halocline_solver* solver, int column, halocline_report* report) {
  const char* call = __func__;
  return guarded([&] {
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
  return guarded([&] {
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
