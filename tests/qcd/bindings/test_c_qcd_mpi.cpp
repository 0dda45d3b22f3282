// SPDX-License-Identifier: Apache-2.0
//
// The C interface computes what the library computes, from arrays in any order.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "halocline/qcd/bindings/handles.hpp"
#include "halocline/qcd/measure/meson.hpp"
#include "halocline/qcd/measure/nucleon.hpp"
#include "qcd/bindings/c_lattice.hpp"

using namespace halocline;
using test::CLattice;
using test::CSolver;
using test::last_error_says;

namespace {

using complex = std::complex<double>;

std::span<const complex> as_complex(const std::vector<double>& reals) {
  return {reinterpret_cast<const complex*>(reals.data()), reals.size() / 2};
}

/// The largest difference of two arrays over all ranks.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  comm::world().max(std::span(&most, 1));
  return most;
}

double norm(const std::vector<double>& a) {
  double sum = 0;
  for (const double one : a) sum += one * one;
  comm::world().sum(std::span(&sum, 1));
  return std::sqrt(sum);
}

/// The names of a list of the interface.
std::vector<std::string> names_in(const char* list) {
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    names.push_back(name);
  }
  return names;
}

std::vector<double> applied(halocline_solver* solver, const char* name, const std::vector<double>& in) {
  std::vector<double> out(in.size());
  REQUIRE_MESSAGE(halocline_solver_apply(solver, name, nullptr, out.data(), in.data(), in.size()) == HALOCLINE_OK,
                  halocline_last_error());
  return out;
}

int solve_one(halocline_solver* solver, const halocline_format* format, void* x, const void* b, std::size_t count) {
  return halocline_solver_solve(solver, format, 1, &x, &b, count, nullptr, nullptr);
}

}  // namespace

TEST_CASE("c qcd: a solve has the bits and the report of the C++ solver") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action());
  const auto b = on.numbers(24, 1), b2 = on.numbers(24, 2);
  std::vector<double> x(b.size()), x2(b.size());
  void* const solutions[] = {x.data(), x2.data()};
  const void* const sources[] = {b.data(), b2.data()};
  std::size_t count = 0;
  REQUIRE(halocline_solver_count(solver, &count, nullptr) == HALOCLINE_OK);
  CHECK(count == b.size());
  REQUIRE(halocline_solver_solve(solver, nullptr, 2, solutions, sources, count, nullptr, nullptr) == HALOCLINE_OK);

  qcd::SolverParameters parameters;
  parameters.kind = "bicgstab";
  qcd::QuarkSolver twin(*on.gauge->links, qcd::WilsonCloverAction{.mass = 0.3, .csw = 1}, parameters);
  std::vector<complex> y(b.size() / 2), y2(b.size() / 2);
  const std::array<std::span<complex>, 2> room{y, y2};
  const std::array<std::span<const complex>, 2> from{as_complex(b), as_complex(b2)};
  const auto reports = twin.solve(room, from);
  CHECK(std::ranges::equal(as_complex(x), y));
  CHECK(std::ranges::equal(as_complex(x2), y2));
  for (int column = 0; column < 2; ++column) {
    halocline_report report;
    REQUIRE(halocline_report_init(&report, sizeof report) == HALOCLINE_OK);
    REQUIRE(halocline_solver_report(solver, column, &report) == HALOCLINE_OK);
    const auto& expected = reports[static_cast<std::size_t>(column)];
    CHECK(report.converged == 1);
    CHECK(report.iterations == expected.iterations);
    CHECK(report.residual == expected.residual);
    CHECK(report.residual < 1e-10);
    CHECK(report.columns == 2);
    CHECK(std::string(report.reason) == "converged");
    CHECK(report.method == expected.method);
    CHECK(report.seconds > 0);
  }
}

TEST_CASE("c qcd: links return unchanged from every order that the lattice can have") {
  const CLattice on(comm::world());
  std::vector<double> canonical(72 * on.sites), back(canonical.size());
  REQUIRE(halocline_gauge_get(on.gauge, nullptr, canonical.data(), canonical.size()) == HALOCLINE_OK);
  double plaquette = 0, again = 0;
  REQUIRE(halocline_gauge_plaquette(on.gauge, &plaquette) == HALOCLINE_OK);
  CHECK(plaquette < 0.95);
  int tried = 0;
  for (const std::string& order : names_in(halocline_orders()))
    for (const int bits : {64, 32}) {
      CAPTURE(order);
      CAPTURE(bits);
      auto format = CLattice::format(order.c_str(), bits);
      format.link_boundary[3] = -1;
      std::vector<float> narrow(canonical.size());
      std::vector<double> wide(canonical.size());
      void* const array = bits == 32 ? static_cast<void*>(narrow.data()) : wide.data();
      const int status = halocline_gauge_get(on.gauge, &format, array, canonical.size());
      if (status == HALOCLINE_INVALID_ARGUMENT) continue;  // lanes or blocks that do not fit into 4 sites
      REQUIRE_MESSAGE(status == HALOCLINE_OK, halocline_last_error());
      ++tried;
      REQUIRE(halocline_gauge_start(on.gauge, "unit", 0, 0) == HALOCLINE_OK);
      REQUIRE(halocline_gauge_set(on.gauge, &format, array, canonical.size()) == HALOCLINE_OK);
      REQUIRE(halocline_gauge_get(on.gauge, nullptr, back.data(), back.size()) == HALOCLINE_OK);
      CHECK(difference(canonical, back) <= (bits == 64 ? 0 : 6e-8));  // half a rounding of float
      REQUIRE(halocline_gauge_set(on.gauge, nullptr, canonical.data(), canonical.size()) == HALOCLINE_OK);
    }
  CHECK(tried >= 8);
  REQUIRE(halocline_gauge_plaquette(on.gauge, &again) == HALOCLINE_OK);
  CHECK(again == plaquette);
}

TEST_CASE("c qcd: four arrays of directions are one array in QUDA's order") {
  const CLattice on(comm::world());
  const auto quda = CLattice::format("quda");
  std::vector<double> one(72 * on.sites), canonical(one.size()), back(one.size());
  REQUIRE(halocline_gauge_get(on.gauge, nullptr, canonical.data(), canonical.size()) == HALOCLINE_OK);
  REQUIRE(halocline_gauge_get(on.gauge, &quda, one.data(), one.size()) == HALOCLINE_OK);
  std::array<const void*, 4> four{};
  for (std::size_t mu = 0; mu < 4; ++mu) four[mu] = one.data() + mu * 18 * on.sites;
  REQUIRE(halocline_gauge_start(on.gauge, "unit", 0, 0) == HALOCLINE_OK);
  REQUIRE(halocline_gauge_set_directions(on.gauge, &quda, four.data(), 18 * on.sites) == HALOCLINE_OK);
  REQUIRE(halocline_gauge_get(on.gauge, nullptr, back.data(), back.size()) == HALOCLINE_OK);
  CHECK(difference(canonical, back) == 0);
}

TEST_CASE("c qcd: D (M^-1 b) = b in another order, basis and precision") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action());
  for (const char* order : {"quda", "even-odd", "lexicographic"})
    for (const char* basis : {"Dirac-Pauli", "UKQCD", "DeGrand-Rossi", "Chiral"})
      for (const char* indices : {"colour-spin", "spin-colour"}) {
        auto format = CLattice::format(order, 64, basis);
        format.indices = indices;
        const auto b = on.numbers(24, 3);
        std::vector<double> x(b.size()), back(b.size());
        REQUIRE_MESSAGE(solve_one(solver, &format, x.data(), b.data(), b.size()) == HALOCLINE_OK,
                        halocline_last_error());
        REQUIRE(halocline_solver_apply(solver, "D", &format, back.data(), x.data(), x.size()) == HALOCLINE_OK);
        std::ranges::transform(back, b, back.begin(), std::minus<>());
        CHECK(norm(back) < 2e-10 * norm(b));  // the tolerance, and the roundings of the rotations
      }
  const auto narrow = CLattice::format("quda", 32);
  const auto wide = on.numbers(24, 4);
  const std::vector<float> b(wide.begin(), wide.end());
  std::vector<float> x(b.size()), back(b.size());
  REQUIRE(solve_one(solver, &narrow, x.data(), b.data(), b.size()) == HALOCLINE_OK);
  REQUIRE(halocline_solver_apply(solver, "D", &narrow, back.data(), x.data(), x.size()) == HALOCLINE_OK);
  double worst = 0;
  for (std::size_t i = 0; i < b.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(back[i] - b[i])));
  CHECK(worst < 1e-5);  // x was rounded to float: 8 |x| 6e-8 and the next rounding
}

TEST_CASE("c qcd: staggered quarks in MILC's order, with links that contain the phases") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action("one-link", 0.4, 0), CLattice::parameters("auto"));
  auto phased = CLattice::format("milc", 64), plain = phased;
  phased.staggered_phases = 1;
  phased.link_boundary[3] = -1;
  plain.staggered_phases = 0;
  std::vector<double> with(72 * on.sites), without(with.size()), back(with.size());
  REQUIRE(halocline_gauge_get(on.gauge, &phased, with.data(), with.size()) == HALOCLINE_OK);
  REQUIRE(halocline_gauge_get(on.gauge, &plain, without.data(), without.size()) == HALOCLINE_OK);
  CHECK(difference(with, without) > 0.5);  // links that changed their sign
  REQUIRE(halocline_gauge_set(on.gauge, &phased, with.data(), with.size()) == HALOCLINE_OK);
  REQUIRE(halocline_gauge_get(on.gauge, &plain, back.data(), back.size()) == HALOCLINE_OK);
  CHECK(difference(back, without) == 0);
  const auto b = on.numbers(6, 3);
  std::vector<double> x(b.size()), again(b.size());
  REQUIRE_MESSAGE(solve_one(solver, &plain, x.data(), b.data(), b.size()) == HALOCLINE_OK, halocline_last_error());
  REQUIRE(halocline_solver_apply(solver, "D", &plain, again.data(), x.data(), x.size()) == HALOCLINE_OK);
  std::ranges::transform(again, b, again.begin(), std::minus<>());
  CHECK(norm(again) < 2e-10 * norm(b));
}

TEST_CASE("c qcd: every action is inverted, and D-dagger is the adjoint of D") {
  const CLattice on(comm::world());
  std::array<std::int64_t, 4> local{};
  REQUIRE(halocline_lattice_geometry(on.lattice, nullptr, local.data(), nullptr, nullptr) == HALOCLINE_OK);
  const bool thin = *std::ranges::min_element(local) < 3;
  std::vector<double> mobius(16);
  for (std::size_t s = 0; s < 8; ++s) mobius[2 * s] = 1.5;
  for (const char* kind : {"wilson", "wilson-clover", "twisted-clover", "twisted-doublet", "domain-wall", "mobius",
                           "one-link", "asqtad", "hisq"}) {
    const std::string name = kind;
    CAPTURE(name);
    if (comm::world().size() > 3 && name != "twisted-clover" && name != "one-link") continue;  // as tested on fewer
    if ((name == "asqtad" || name == "hisq") && thin) continue;  // their steps of three sites leave the neighbour's box
    auto action = on.action(kind, 0.3, name == "wilson-clover" || name.starts_with("twisted") ? 1 : 0);
    if (name.starts_with("twisted")) action.mu = 0.2;
    if (name == "twisted-doublet") action.epsilon = 0.1;
    if (name == "mobius") {
      action.b_list = mobius.data();
      action.c = 0.5;
    }
    const CSolver solver(on, action, CLattice::parameters("auto"));
    std::size_t count = 0, whole = 0;
    REQUIRE(halocline_solver_count(solver, &count, &whole) == HALOCLINE_OK);
    const auto b = on.numbers(count / on.sites, 6);
    std::vector<double> x(count);
    REQUIRE_MESSAGE(solve_one(solver, nullptr, x.data(), b.data(), count) == HALOCLINE_OK, halocline_last_error());
    halocline_report report;
    REQUIRE(halocline_report_init(&report, sizeof report) == HALOCLINE_OK);
    REQUIRE(halocline_solver_report(solver, 0, &report) == HALOCLINE_OK);
    CHECK(report.converged == 1);
    if (count == whole) {
      auto back = applied(solver, "D", x);
      std::ranges::transform(back, b, back.begin(), std::minus<>());
      CHECK(norm(back) < 2e-10 * norm(b));
    }
    const auto u = on.numbers(whole / on.sites, 7), v = on.numbers(whole / on.sites, 8);
    const auto du = applied(solver, "D", u), dv = applied(solver, "D-dagger", v);
    std::array<double, 2> products{};
    for (std::size_t i = 0; i < u.size(); ++i) {
      products[0] += v[i] * du[i];
      products[1] += dv[i] * u[i];
    }
    comm::world().sum(products);
    CHECK(products[0] == doctest::Approx(products[1]).epsilon(1e-10));
  }
}

TEST_CASE("c qcd: the Schur complement of Wilson quarks is 1 - H H / d^2") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action("wilson", 0.3, 0));
  // Even sites of the canonical local box, by global parity.
  std::array<std::int64_t, 4> local{};
  REQUIRE(halocline_lattice_geometry(on.lattice, nullptr, local.data(), nullptr, nullptr) == HALOCLINE_OK);
  const auto even = [&](std::size_t number) {
    auto site = static_cast<std::int64_t>(number / 24);
    std::int64_t sum = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      sum += site % local[axis] + on.offset[axis];
      site /= local[axis];
    }
    return sum % 2 == 0;
  };
  const auto keep = [&](std::vector<double> values, bool which) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (even(i) != which) values[i] = 0;
    return values;
  };
  const auto x = on.numbers(24, 9);
  const auto half = keep(x, true);
  const auto odd = keep(applied(solver, "D", half), false);   // H_oe x
  const auto second = keep(applied(solver, "D", odd), true);  // H_eo H_oe x
  const double diagonal = 4.3;
  auto expected = half;
  for (std::size_t i = 0; i < half.size(); ++i) expected[i] -= second[i] / (diagonal * diagonal);
  CHECK(difference(applied(solver, "schur", x), expected) < 1e-13);
}

TEST_CASE("c qcd: correlators are those of the library, from C columns in any basis") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action());
  const std::array<std::int64_t, 4> source{1, 2, 3, 5};
  halocline_propagator* propagator = nullptr;
  REQUIRE_MESSAGE(halocline_propagator_solve(solver, source.data(), nullptr, nullptr, &propagator) == HALOCLINE_OK,
                  halocline_last_error());
  const std::size_t length = 2 * static_cast<std::size_t>(CLattice::extents[3]);
  const auto correlator = [&](halocline_propagator* from, const char* channel) {
    std::vector<double> values(length);
    REQUIRE(halocline_meson(from, from, channel, nullptr, values.data(), length) == HALOCLINE_OK);
    return values;
  };
  const auto& quark = std::get<0>(propagator->quarks);
  const auto pion = correlator(propagator, "pion"), rho = correlator(propagator, "rho");
  const std::array channels{qcd::measure::meson_channel("pion")};
  CHECK(std::ranges::equal(as_complex(pion), qcd::measure::mesons(quark, quark, channels)[0].values));
  for (std::size_t t = 0; t < length / 2; ++t) CHECK(pion[2 * t] > 0);
  std::vector<double> nucleon(length);
  const std::array<double, 2> boundary{-1, 0};
  REQUIRE(halocline_nucleon(propagator, propagator, boundary.data(), 1, nullptr, nucleon.data(), length) ==
          HALOCLINE_OK);
  CHECK(std::ranges::equal(as_complex(nucleon), qcd::measure::nucleon(quark, quark, -1.0).project(1)));

  // A host that computes in another basis: sources and solutions are columns of that basis.
  for (const char* basis : {"Dirac-Pauli", "UKQCD"}) {
    const auto format = CLattice::format("even-odd", 64, basis);
    std::vector<std::vector<double>> columns(12, std::vector<double>(24 * on.sites));
    std::vector<void*> places;
    for (auto& column : columns) places.push_back(column.data());
    REQUIRE(halocline_propagator_get(propagator, &format, places.data(), 24 * on.sites) == HALOCLINE_OK);
    // D of a column is the source: one number, 1, in the column's own spin and colour.
    for (std::size_t column = 0; column < 12; ++column) {
      std::vector<double> b(24 * on.sites);
      REQUIRE(halocline_solver_apply(solver, "D", &format, b.data(), columns[column].data(), b.size()) == HALOCLINE_OK);
      double ones = 0;
      for (std::size_t i = 0; i < b.size(); ++i)
        if (std::abs(b[i] - 1) < 1e-8 && i % 24 == 2 * column) ++ones;
      comm::world().sum(std::span(&ones, 1));
      CHECK(ones == 1);
      CHECK(norm(b) == doctest::Approx(1).epsilon(1e-9));
    }
    halocline_propagator* other = nullptr;
    REQUIRE(halocline_propagator_create(on.lattice, source.data(), 0, &other) == HALOCLINE_OK);
    REQUIRE(halocline_propagator_set(other, &format, places.data(), 24 * on.sites) == HALOCLINE_OK);
    for (std::size_t t = 0; t < length; ++t)
      CHECK(correlator(other, "rho")[t] == doctest::Approx(rho[t]).epsilon(1e-12).scale(1));
    halocline_propagator_destroy(other);
  }
  halocline_propagator_destroy(propagator);
}

TEST_CASE("c qcd: staggered pions are positive and symmetric in time") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action("one-link", 0.4, 0), CLattice::parameters("auto"));
  const std::array<std::int64_t, 4> source{0, 0, 0, 0};
  REQUIRE(halocline_gauge_start(on.gauge, "unit", 0, 0) == HALOCLINE_OK);
  REQUIRE(halocline_solver_refresh(solver, on.gauge, nullptr) == HALOCLINE_OK);
  halocline_propagator* propagator = nullptr;
  REQUIRE(halocline_propagator_solve(solver, source.data(), nullptr, nullptr, &propagator) == HALOCLINE_OK);
  std::vector<double> pion(24);
  REQUIRE_MESSAGE(halocline_meson(propagator, propagator, "pion", nullptr, pion.data(), 24) == HALOCLINE_OK,
                  halocline_last_error());
  for (std::size_t t = 0; t < 12; ++t) {
    CHECK(pion[2 * t] > 0);
    CHECK(pion[2 * t] == doctest::Approx(pion[2 * ((12 - t) % 12)]).epsilon(1e-8));
  }
  halocline_propagator_destroy(propagator);
}

TEST_CASE("c qcd: a gauge field survives its file, and a wrong file is a status that leaves the lattice usable") {
  const CLattice on(comm::world());
  const std::string path = "build/c_qcd_" + std::to_string(comm::world().size()) + ".lime";
  double before = 0, after = 0;
  REQUIRE(halocline_gauge_plaquette(on.gauge, &before) == HALOCLINE_OK);
  REQUIRE_MESSAGE(halocline_gauge_save(on.gauge, path.c_str(), nullptr) == HALOCLINE_OK, halocline_last_error());
  std::array<std::int64_t, 4> extents{};
  REQUIRE(halocline_gauge_file_extents(path.c_str(), extents.data()) == HALOCLINE_OK);
  CHECK(extents == CLattice::extents);
  REQUIRE(halocline_gauge_start(on.gauge, "unit", 0, 0) == HALOCLINE_OK);
  REQUIRE(halocline_gauge_load(on.gauge, path.c_str()) == HALOCLINE_OK);
  REQUIRE(halocline_gauge_plaquette(on.gauge, &after) == HALOCLINE_OK);
  CHECK(after == doctest::Approx(before).epsilon(1e-14));
  CHECK(halocline_gauge_load(on.gauge, "build/no_such_file") == HALOCLINE_BAD_FILE);
  CHECK(last_error_says("build/no_such_file"));
  REQUIRE(halocline_gauge_plaquette(on.gauge, &after) == HALOCLINE_OK);
  comm::world().barrier();
  if (comm::world().rank() == 0) std::remove(path.c_str());
}
