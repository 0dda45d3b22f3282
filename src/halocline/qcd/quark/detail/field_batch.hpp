// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The fields of a BatchEngine and the operations on them, written once for the CPU and for devices.

#include <cstdint>
#include <utility>

#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/quark/detail/batch_engine.hpp"

namespace halocline::qcd {

/// @tparam Base   BatchEngine or a class derived from it
/// @tparam Space  vector space of the full fields in double
template <class Base, class Space>
class FieldBatch : public Base {
public:
  using Field = typename Space::Vector;

  int columns() const override { return full_.columns(); }

  std::vector<double> load(std::span<const std::span<const std::complex<double>>> sources) override {
    fill(b_, sources);
    return norms(full_, b_);
  }
  void clear(int column) override {
    const std::vector<std::complex<double>> zero(static_cast<std::size_t>(column_length_));
    for (int point = 0; point < points_; ++point)
      from_canonical(b_, column * points_ + point, std::span<const std::complex<double>>(zero));
  }
  void start(std::span<const solve::Scalar> factor) override {
    solve::update(full_, {solve::scale(b_, factor)});
    full_.set_zero(x_);
    full_.copy(r_, b_);
  }
  void scale_residual(std::span<const solve::Scalar> factor) override {
    solve::update(full_, {solve::scale(r_, factor)});
  }
  std::vector<double> add_correction(std::span<const solve::Scalar> weight) override {
    solve::update(full_, {solve::add(x_, weight, e_)});
    apply(r_, x_);
    const solve::Scalars minus(static_cast<std::size_t>(columns()), solve::Scalar(-1.0));
    solve::update(full_, {solve::scale_add(r_, minus, {}, b_)});
    std::vector<double> lengths = norms(full_, r_);
    check();
    return lengths;
  }
  std::vector<double> shrinking() override {
    solve::Scalars one, without_x;
    for (const double length : norms(full_, x_)) {
      one.emplace_back(1.0);
      without_x.emplace_back(length == 0 ? 1.0 : 0.0);
    }
    solve::update(full_, {solve::scale_add(e_, without_x, one, x_)});
    apply(r_, e_);
    std::vector<double> quotients = norms(full_, r_);
    const std::vector<double> lengths = norms(full_, e_);
    for (std::size_t c = 0; c < lengths.size(); ++c) quotients[c] = lengths[c] > 0 ? quotients[c] / lengths[c] : 0.0;
    return quotients;
  }
  void unload(std::span<std::complex<double>> solution, int column) override { to_canonical(solution, x_, column); }

  /// b - D x of each column, for the scaled sources; zero in columns without a source.
  const Field& residual() const noexcept { return r_; }

protected:
  /// @param column_length  number of complex numbers in one column of the local box
  /// @param points         columns of a right-hand side
  FieldBatch(Space full, std::int64_t column_length, int points = 1)
      : full_(std::move(full)),
        column_length_(column_length),
        points_(points),
        b_(full_.create()),
        x_(full_.create()),
        r_(full_.create()),
        e_(full_.create()) {}

  /// b = the sources, and zero in other columns
  virtual void fill(Field& b, std::span<const std::span<const std::complex<double>>> sources) {
    full_.set_zero(b);
    for (std::size_t c = 0; c < sources.size(); ++c) from_canonical(b, static_cast<int>(c), sources[c]);
  }
  /// out = D in
  virtual void apply(Field& out, const Field& in) = 0;
  /// Throws if a failure occurred that the results do not reveal, such as a missing halo message.
  virtual void check() {}

  Space full_;
  std::int64_t column_length_;
  int points_;
  Field b_, x_, r_, e_;
};

}  // namespace halocline::qcd
