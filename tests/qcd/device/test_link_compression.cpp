// SPDX-License-Identifier: Apache-2.0
//
// What it costs to read a compressed link, counted by a number type that counts.

#include <doctest/doctest.h>

#include "halocline/qcd/device/detail/link_compression.cuh"

namespace halocline::qcd::device {
namespace {
/// A number that counts what is done with it.
struct Counted {
  double value;
  static int operations;
  Counted() = default;
  Counted(double v) : value(v) {}
  friend Counted operator+(Counted a, Counted b) { return ++operations, Counted(a.value + b.value); }
  friend Counted operator-(Counted a, Counted b) { return ++operations, Counted(a.value - b.value); }
  friend Counted operator*(Counted a, Counted b) { return ++operations, Counted(a.value * b.value); }
  Counted operator-() const { return Counted(-value); }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
};
int Counted::operations = 0;
Counted reciprocal(Counted a) { return ++Counted::operations, Counted(1 / a.value); }
}  // namespace

TEST_CASE("device links: flops of reading a matrix are those that the header states") {
  Su3<Counted> u;
  for (auto& row : u.e)
    for (auto& z : row) z = {0.5, 0.25};
  Counted::operations = 0;
  reconstruct_third_row(u);
  CHECK(Counted::operations == 42);
  const Counted y[8] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.1, 0.2, 0.3};
  Counted::operations = 0;
  u = detail::decode_eight(y, false, true);
  CHECK(Counted::operations == 118);
  const double z[8] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.1, 0.2, 0.3};
  const Su3<double> v = detail::decode_eight(z, false, true);
  for (int i = 0; i < 9; ++i) CHECK(u.e[i / 3][i % 3].re.value == doctest::Approx(v.e[i / 3][i % 3].re));
}

}  // namespace halocline::qcd::device
