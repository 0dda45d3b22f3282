// SPDX-License-Identifier: Apache-2.0
//
// The methods of a solve, one after the other. A column of the batch here is a number, and D is one in all of them.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "halocline/qcd/quark/detail/column_solves.hpp"

namespace halocline::qcd {
namespace {

using solve::Reason;
using Numbers = std::vector<double>;

/// What a method does to a column: the part of its residual that is left, and why it ended.
struct Act {
  double left;
  Reason reason;
};

/// Methods that do what a script says.
class Scripted final : public BatchEngine {
public:
  using Script = std::function<Act(const std::string& method, int call, int column, int renewals)>;

  Scripted(int columns, Script script) : script_(std::move(script)), x_(columns), b_(columns), r_(columns) {}

  int columns() const override { return static_cast<int>(x_.size()); }
  std::string describe(const std::string& method) const override { return "the " + method; }
  std::vector<double> load(std::span<const std::span<const std::complex<double>>> sources) override {
    for (std::size_t c = 0; c < sources.size(); ++c) b_[c] = sources[c][0].real();
    return b_;
  }
  void clear(int column) override { b_[static_cast<std::size_t>(column)] = 0; }
  void start(std::span<const solve::Scalar> factor) override {
    for (std::size_t c = 0; c < b_.size(); ++c) r_[c] = b_[c] *= factor[c].real();
  }
  void scale_residual(std::span<const solve::Scalar> factor) override {
    for (std::size_t c = 0; c < r_.size(); ++c) r_[c] *= factor[c].real();
  }
  solve::SolveResult correct(const std::string& method, std::span<const double>, double,
                             const solve::SolveOptions& limits) override {
    calls.push_back(method);
    solve::SolveResult out;
    e_.assign(r_.size(), 0.0);
    for (std::size_t c = 0; c < r_.size(); ++c) {
      const Act act = r_[c] == 0 ? Act{0, Reason::converged}
                                 : script_(method, static_cast<int>(calls.size()), static_cast<int>(c), renewals);
      e_[c] = r_[c] * (1 - act.left);
      out.residual.push_back(act.left);
      out.reasons.push_back(act.reason);
      out.column_iterations.push_back(act.reason == Reason::iteration_limit ? limits.max_iterations : 5);
      out.history.push_back({1.0, act.left});
    }
    return out;
  }
  Renewal renew(const std::string& method) override {
    if (method != "multigrid" || !may_renew) return {};
    ++renewals;
    return {std::exchange(may_renew, false), "it was renewed"};
  }
  std::vector<double> shrinking() override { return Numbers(x_.size(), shrunk); }
  std::vector<double> add_correction(std::span<const solve::Scalar> weight) override {
    for (std::size_t c = 0; c < x_.size(); ++c) {
      if (weight[c] != 0.0) x_[c] += e_[c];
      r_[c] = b_[c] - x_[c];
    }
    Numbers lengths;
    for (const double r : r_) lengths.push_back(std::abs(r));
    return lengths;
  }
  void unload(std::span<std::complex<double>> solution, int column) override {
    solution[0] = x_[static_cast<std::size_t>(column)];
  }

  std::vector<std::string> calls;
  int renewals = 0;
  bool may_renew = true;
  double shrunk = 1;

private:
  Script script_;
  Numbers x_, b_, r_, e_;
};

const std::vector<std::string> plan{"multigrid", "multigrid", ColumnSolves::renewal, "cg"};

struct Outcome {
  std::vector<SolveReport> reports;
  std::vector<std::vector<std::complex<double>>> x;
};

/// Solves for right-hand sides 1, 2, ...
Outcome run(Scripted& batch) {
  std::vector<std::vector<std::complex<double>>> b;
  for (int c = 0; c < batch.columns(); ++c) b.push_back({1.0 + c});
  Outcome out{{}, b};
  const std::vector<std::span<const std::complex<double>>> sources(b.begin(), b.end());
  const QuarkSolver::Progress none;
  const SolverParameters parameters;
  ColumnSolves solves(batch, comm::Communicator::self(), parameters, sources, none);
  solves.run(plan);
  const std::vector<std::span<std::complex<double>>> solutions(out.x.begin(), out.x.end());
  out.reports = solves.finish(solutions, 1);
  return out;
}

bool says(const SolveReport& report, std::size_t note, const char* words) {
  return report.notes.size() > note && report.notes[note].text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("column solves: multigrid restarts, is renewed, and leaves its columns to conjugate gradients") {
  // Column 1 converges at once; column 0 only with the last method.
  Scripted batch(2, [](const std::string& method, int, int column, int) {
    return method == "cg" || column == 1 ? Act{1e-11, Reason::converged} : Act{0.9, Reason::stagnation};
  });
  const auto out = run(batch);
  CHECK(batch.calls == std::vector<std::string>{"multigrid", "multigrid", "multigrid", "cg"});
  CHECK(batch.renewals == 1);
  for (std::size_t c = 0; c < 2; ++c) {
    CHECK(out.reports[c].converged);
    CHECK(out.reports[c].residual <= 1e-10);
    CHECK(std::abs(out.x[c][0] - (1.0 + static_cast<double>(c))) < 1e-10 * (1.0 + static_cast<double>(c)));
    CHECK(out.reports[c].notes.size() == 3);
  }
  CHECK(out.reports[0].method == "the cg");
  CHECK(out.reports[1].method == "the multigrid");
  CHECK(out.reports[1].iterations == 5);
  CHECK(
      says(out.reports[0], 0, "the multigrid: stagnation at |b - D x|/|b| = 9.00e-01, after 5 iterations; starting "));
  CHECK(says(out.reports[0], 0, "starting again from the true residual"));
  CHECK(says(out.reports[0], 1, "it was renewed"));
  CHECK(says(out.reports[0], 2, "going on with the cg"));
}

TEST_CASE("column solves: a renewed set-up that works ends the search, and is made once") {
  Scripted batch(1, [](const std::string&, int, int, int renewals) {
    return renewals > 0 ? Act{1e-11, Reason::converged} : Act{0.9, Reason::stagnation};
  });
  const auto out = run(batch);
  CHECK(batch.calls.size() == 3);
  CHECK(out.reports[0].converged);
  CHECK(out.reports[0].method == "the multigrid");
  CHECK(out.reports[0].notes.size() == 2);
  // The next solve has nothing to renew.
  Scripted again(1, [](const std::string& method, int, int, int) {
    return method == "cg" ? Act{1e-11, Reason::converged} : Act{0.9, Reason::breakdown};
  });
  again.may_renew = false;
  const auto second = run(again);
  CHECK(again.calls == std::vector<std::string>{"multigrid", "multigrid", "cg"});
  CHECK(second.reports[0].converged);
  CHECK(says(second.reports[0], 1, "breakdown"));
  CHECK(says(second.reports[0], 1, "iterations; going on with the cg"));
}

TEST_CASE("column solves: cycles that gain a digit go on, slower ones end") {
  for (const double left : {0.05, 0.3}) {
    CAPTURE(left);
    Scripted batch(1, [&](const std::string& method, int, int, int) {
      return method == "cg" ? Act{1e-11, Reason::converged} : Act{left, Reason::iteration_limit};
    });
    const auto out = run(batch);
    CHECK(out.reports[0].converged);
    CHECK((out.reports[0].method == "the multigrid") == (left < 0.1));
    CHECK(out.reports[0].notes.empty() == (left < 0.1));
    if (left > 0.1) CHECK(says(out.reports[0], 0, "the multigrid: stagnation at |b - D x|/|b| = 3.00e-01, after 40"));
  }
}

TEST_CASE("column solves: where nothing converges, the reason, the residual and a low eigenvalue are named") {
  Scripted batch(1, [](const std::string&, int, int, int) { return Act{0.9, Reason::stagnation}; });
  batch.shrunk = 3e-6;
  const auto out = run(batch);
  CHECK(batch.calls.size() == 4);
  CHECK(!out.reports[0].converged);
  CHECK(out.reports[0].reason == "stagnation");
  CHECK(out.reports[0].residual == doctest::Approx(0.9 * 0.9 * 0.9 * 0.9));
  REQUIRE(out.reports[0].notes.size() == 4);
  CHECK(says(out.reports[0], 3, "gamma5 D has an eigenvalue between -3.0e-06 and 3.0e-06"));
  // Numbers that are not finite are never added.
  Scripted worse(1, [](const std::string&, int, int, int) { return Act{std::nan(""), Reason::not_finite}; });
  const auto nothing = run(worse);
  CHECK(nothing.reports[0].reason == "not_finite");
  CHECK(nothing.reports[0].residual == 1);
  CHECK(nothing.x[0][0] == 0.0);
}

}  // namespace halocline::qcd
