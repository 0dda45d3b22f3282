// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/site/clover_block.hpp"
#include "halocline/qcd/wilson/plain_accessor.hpp"

namespace halocline::qcd::schwarz {
namespace {

using Complex = std::complex<double>;

/// out = A in at one site; spinors are [spin][colour], a block is 72 reals.
void multiply_block(Complex* out, const double* block, const Complex* in) {
  wilson::Spinor<double> psi;
  for (int spin = 0; spin < 4; ++spin)
    for (int colour = 0; colour < 3; ++colour)
      psi.at[colour][spin] = {in[3 * spin + colour].real(), in[3 * spin + colour].imag()};
  const auto product = clover::multiply_block<double>([&](int i) { return block[i]; }, psi);
  for (int spin = 0; spin < 4; ++spin)
    for (int colour = 0; colour < 3; ++colour)
      out[3 * spin + colour] = {product.at[colour][spin].re, product.at[colour][spin].im};
}

}  // namespace

/// x and r of the iteration.
struct Reference::Sweeps {
  Vector x, r;
};

/// The neighbours of one site; excluded neighbours count as zero.
struct Reference::CutAccessor : wilson::PlainAccessor {
  const lattice::Coordinates<4>& block;
  Steps steps;

  template <int d, int sign>
  wilson::HalfSpinor<double> half() const {
    // A process begins where a block begins, so the place within the block needs no global coordinates.
    const auto within = x[d % 4] % block[d % 4] + (d < 4 ? 1 : -1);
    const bool inside = within >= 0 && within < block[d % 4];
    if (steps == Steps::all || inside == (steps == Steps::inside)) return PlainAccessor::half<d, sign>();
    return {};
  }
};

Reference::Reference(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters)
    : gauge_(&gauge), action_(action), parameters_(parameters) {
  action_.validate();
  if (std::ranges::find(inverses(), parameters_.inner) == inverses().end())
    throw core::InvalidArgument(fmt::format("the inverse inside a domain was called \"{}\"; give one of {}",
                                            parameters_.inner, fmt::join(inverses(), ", ")));
  const auto& local = gauge.geometry().local();
  for (int axis = 0; axis < 4; ++axis) {
    const auto blocks = parameters_.blocks[axis];
    if (blocks < 1 || local[axis] % blocks != 0)
      throw core::InvalidArgument(fmt::format(
          "{} domains along axis {} were asked for, but a process holds {} sites there; give a number that divides {}",
          blocks, axis, local[axis], local[axis]));
    block_[axis] = local[axis] / blocks;
  }
  inverse_clover_ = clover::canonical_inverse(gauge, action_);
}

void Reference::check(View in) const {
  const auto expected = static_cast<std::size_t>(12 * gauge_->geometry().local_volume());
  if (in.size() != expected)
    throw core::InvalidArgument(
        fmt::format("a spinor array of {} complex numbers was given; give [t][z][y][x][spin][colour] of the local "
                    "box, {} numbers",
                    in.size(), expected));
}

std::int64_t Reference::domain(const lattice::Coordinates<4>& x) const noexcept {
  lattice::Coordinates<4> b{};
  for (int axis = 0; axis < 4; ++axis) b[axis] = x[axis] / block_[axis];
  return lattice::linear_index<4>(b, parameters_.blocks);
}

int Reference::colour(const lattice::Coordinates<4>& x) const noexcept {
  std::int64_t sum = 0;
  for (int axis = 0; axis < 4; ++axis) sum += (gauge_->geometry().offset()[axis] + x[axis]) / block_[axis];
  return static_cast<int>(sum % 2);
}

Reference::Vector Reference::scaled_hop(View in, Steps steps) const {
  check(in);
  const auto psi = wilson::with_ghosts(gauge_->geometry_ptr(), in);
  Vector out(in.size());
  for (std::int64_t site = 0; site < gauge_->geometry().local_volume(); ++site) {
    const auto x = lattice::coordinates_of<4>(site, gauge_->geometry().local());
    const CutAccessor accessor{{psi, *gauge_, action_, x}, block_, steps};
    wilson::Spinor<double> sum;
    wilson::hop<false>(sum, accessor);
    std::array<Complex, 12> half{};
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour)
        half[3 * spin + colour] = 0.5 * Complex(sum.at[colour][spin].re, sum.at[colour][spin].im);
    multiply_block(&out[12 * site], &inverse_clover_[72 * site], half.data());
  }
  return out;
}

Reference::Vector Reference::apply(View in) const {
  Vector out = scaled_hop(in, Steps::all);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = in[i] - out[i];
  return out;
}

Reference::Vector Reference::apply_inside(View in) const {
  Vector out = scaled_hop(in, Steps::inside);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = in[i] - out[i];
  return out;
}

Reference::Vector Reference::apply_outside(View in) const {
  Vector out = scaled_hop(in, Steps::outside);
  for (auto& z : out) z = -z;
  return out;
}

Reference::Vector Reference::multiply_inverse_clover(View in) const {
  check(in);
  Vector out(in.size());
  for (std::size_t site = 0; site < in.size() / 12; ++site)
    multiply_block(&out[12 * site], &inverse_clover_[72 * site], &in[12 * site]);
  return out;
}

Reference::Vector Reference::on_colour(View in, int which) const {
  check(in);
  Vector out(in.size());
  for (std::int64_t site = 0; site < gauge_->geometry().local_volume(); ++site)
    if (colour(lattice::coordinates_of<4>(site, gauge_->geometry().local())) == which)
      for (std::int64_t i = 12 * site; i < 12 * site + 12; ++i) out[i] = in[i];
  return out;
}

Reference::Vector Reference::jacobi(View r) const {
  Vector x(r.begin(), r.end());
  for (int step = 0; step < parameters_.steps; ++step) {
    const Vector dx = apply_inside(x);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = r[i] + (x[i] - dx[i]);
  }
  return x;
}

Reference::Vector Reference::even_odd(View r) const {
  Vector x(r.begin(), r.end());
  for (int pass = 1; pass <= 2 * parameters_.steps; ++pass) {
    const Vector dx = apply_inside(x);
    for (std::size_t site = 0; site < x.size() / 12; ++site) {
      const auto at = lattice::coordinates_of<4>(static_cast<std::int64_t>(site), gauge_->geometry().local());
      std::int64_t within = 0;
      for (int axis = 0; axis < 4; ++axis) within += at[axis] % block_[axis];
      if (within % 2 != pass % 2) continue;
      for (std::size_t i = 12 * site; i < 12 * site + 12; ++i) x[i] = r[i] + (x[i] - dx[i]);
    }
  }
  return x;
}

Reference::Vector Reference::minimal_residual(View r) const {
  const auto domains = static_cast<std::size_t>(lattice::product<4>(parameters_.blocks));
  std::vector<std::size_t> domain_of(r.size() / 12);
  for (std::size_t site = 0; site < domain_of.size(); ++site)
    domain_of[site] = static_cast<std::size_t>(
        domain(lattice::coordinates_of<4>(static_cast<std::int64_t>(site), gauge_->geometry().local())));
  Vector x(r.size()), rest(r.begin(), r.end());
  for (int step = 0; step < parameters_.steps; ++step) {
    const Vector q = apply_inside(rest);
    std::vector<Complex> product(domains), weight(domains);
    std::vector<double> size(domains);
    for (std::size_t i = 0; i < q.size(); ++i) {
      product[domain_of[i / 12]] += std::conj(q[i]) * rest[i];
      size[domain_of[i / 12]] += std::norm(q[i]);
    }
    for (std::size_t d = 0; d < domains; ++d)
      if (size[d] > 0) weight[d] = product[d] / size[d];
    for (std::size_t i = 0; i < q.size(); ++i) {
      x[i] += weight[domain_of[i / 12]] * rest[i];
      rest[i] -= weight[domain_of[i / 12]] * q[i];
    }
  }
  return x;
}

Reference::Vector Reference::invert_inside(View in) const {
  check(in);
  if (parameters_.inner == "even-odd") return even_odd(in);
  return parameters_.inner == "jacobi" ? jacobi(in) : minimal_residual(in);
}

Reference::Sweeps Reference::sweep(View b) const {
  check(b);
  Sweeps s{Vector(b.size()), Vector(b.begin(), b.end())};
  for (int power = 0; power <= parameters_.nsap; ++power)
    for (int c = 0; c < 2; ++c) {
      const Vector z = on_colour(invert_inside(s.r), c);
      const Vector dz = apply(z);
      for (std::size_t i = 0; i < z.size(); ++i) {
        s.x[i] += z[i];
        s.r[i] -= dz[i];
      }
    }
  return s;
}

Reference::Vector Reference::precondition(View in) const { return sweep(in).x; }

Reference::Vector Reference::apply_preconditioned(View in) const {
  Vector out = sweep(in).r;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = in[i] - out[i];
  return out;
}

}  // namespace halocline::qcd::schwarz
