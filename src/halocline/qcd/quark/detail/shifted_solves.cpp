// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/shifted_solves.hpp"

#include <fmt/format.h>

#include <array>

#include "halocline/core/error.hpp"
#include "halocline/qcd/domain_wall/domain_wall.hpp"
#include "halocline/qcd/quark/detail/quark_engine.hpp"
#include "halocline/solve/multishift_cg.hpp"

namespace halocline::qcd {
namespace {

/// M = M_divided B
class WithB final : public SpinorOperator<double> {
public:
  using SpinorOperator<double>::Field;

  /// Both are referred to. @param like  a field of the sites on which M acts
  WithB(const SpinorOperator<double>& divided, const DomainWall<double>& walls, const Field& like)
      : divided_(&divided), walls_(&walls), work_(like) {}

  void apply(Field& out, const Field& in) const override {
    walls_->from_solution(work_, in);
    divided_->apply(out, work_);
  }
  void apply_dagger(Field& out, const Field& in) const override {
    divided_->apply_dagger(work_, in);
    walls_->from_solution(out, work_, true);
  }

private:
  const SpinorOperator<double>* divided_;
  const DomainWall<double>* walls_;
  mutable Field work_;
};

}  // namespace

std::vector<solve::SolveResult> solve_shifted_on(const DiracOperator<double>& d, bool even_odd, SchurForm form,
                                                 std::span<const std::span<std::complex<double>>> x,
                                                 std::span<const double> shifts,
                                                 std::span<const std::complex<double>> b,
                                                 const solve::SolveOptions& options) {
  Level<DiracOperator<double>> level(d.with_columns(d.points()), even_odd, form);
  auto& space = level.space();
  const int points = d.points();
  const auto* walls = dynamic_cast<const DomainWall<double>*>(&level.d());
  const auto expected = static_cast<std::size_t>(d.layout()->geometry().local_volume() * d.components() * points);
  for (const std::size_t given : {b.size(), x.empty() ? expected : x[0].size()})
    if (given != expected)
      throw core::InvalidArgument(fmt::format(
          "shifted systems were asked for with arrays of {} complex numbers; give {}, the shape of the local "
          "box{}",
          given, expected, walls != nullptr ? ", [s][t][z][y][x][spin 4][colour 3]" : ""));
  // A point of the fifth dimension after the other: each is an array of four dimensions.
  const std::size_t of_point = expected / static_cast<std::size_t>(points);
  auto source = space.create();
  if (walls == nullptr)
    level.d().load_sources(source, std::array{b});
  else
    for (int s = 0; s < points; ++s)
      from_canonical<double>(source, s, b.subspan(static_cast<std::size_t>(s) * of_point, of_point));
  std::vector<SpinorField<double>> solutions;
  for (std::size_t i = 0; i < shifts.size(); ++i) solutions.push_back(space.create());
  std::vector<solve::SolveResult> results;
  if (level.a().hermitian_positive()) {
    // The Schur complement of staggered quarks is D^dagger D on the even sites, over the mass or its square.
    const double mass = level.d().diagonal(), factor = form == SchurForm::symmetric ? mass * mass : mass;
    std::vector<double> scaled(shifts.begin(), shifts.end());
    for (double& shift : scaled) shift /= factor;
    results = solve::multishift_cg(space, level.a(), scaled, std::span(solutions), source, options);
    for (auto& one : solutions) space.scale(solve::Scalars{1 / factor}, one);
  } else if (walls != nullptr) {
    const WithB whole(level.a(), *walls, source);
    solve::NormalOperator<SpinorSpace<double>, const WithB> normal(space, whole);
    results = solve::multishift_cg(space, normal, shifts, std::span(solutions), source, options);
  } else {
    solve::NormalOperator normal(space, level.a());
    results = solve::multishift_cg(space, normal, shifts, std::span(solutions), source, options);
  }
  for (std::size_t i = 0; i < shifts.size(); ++i)
    if (walls == nullptr)
      level.d().unload_quark(x[i], solutions[i], 0);
    else
      for (int s = 0; s < points; ++s)
        to_canonical<double>(x[i].subspan(static_cast<std::size_t>(s) * of_point, of_point), solutions[i], s);
  return results;
}

}  // namespace halocline::qcd
