// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/twisted/twisted_clover.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd {

TwistedSetup::TwistedSetup(const GaugeField& gauge, const TwistedCloverAction& action, int lanes, std::string transport)
    : HoppingSetup(gauge, (action.validate(), action.wilson), twisted_square(action), lanes, std::move(transport)),
      mu_(action.mu) {}

std::unique_ptr<DiracOperator<float>> TwistedSetup::in_float(int columns, int stored_reals) const {
  return std::make_unique<TwistedClover<float>>(*this, columns, stored_reals);
}
std::unique_ptr<DiracOperator<double>> TwistedSetup::in_double(int columns, int stored_reals) const {
  return std::make_unique<TwistedClover<double>>(*this, columns, stored_reals);
}

namespace {

/// Entry (row, column) of a hermitian block of 36 reals.
std::complex<double> entry(const double* block, int lanes, int row, int column) {
  if (row == column) return block[row * lanes];
  const double* at = block + clover::below_diagonal(std::max(row, column), std::min(row, column)) * lanes;
  return {at[0], row > column ? at[lanes] : -at[lanes]};
}

/// (A - i mu gamma5) (A^2 + mu^2)^-1 on one parity, from A and (A^2 + mu^2)^-1: [tile][144][lane of `layout`]
template <class T>
core::AlignedArray<T> full_inverse(const clover::Blocks<double>& a, const clover::Blocks<double>& b, double mu,
                                   int parity, const lattice::TileLayout& layout) {
  const int lanes = a.layout->lanes();
  core::AlignedArray<double> inverse(a.layout->tiles() * clover::full_block_reals * lanes);
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < a.layout->tiles(); ++tile)
    for (int lane = 0; lane < lanes; ++lane)
      for (int chirality = 0; chirality < 2; ++chirality) {
        const std::int64_t from = (tile * clover::block_reals + 36 * chirality) * lanes + lane;
        double* to = inverse.data() + (tile * clover::full_block_reals + 72 * chirality) * lanes + lane;
        const std::complex<double> twist(0, chirality == 0 ? -mu : mu);  // gamma5 is diag(1, 1, -1, -1)
        for (int row = 0; row < 6; ++row)
          for (int column = 0; column < 6; ++column) {
            std::complex<double> sum = twist * entry(b.parity(parity) + from, lanes, row, column);
            for (int k = 0; k < 6; ++k)
              sum += entry(a.parity(parity) + from, lanes, row, k) * entry(b.parity(parity) + from, lanes, k, column);
            to[clover::full_entry(row, column) * lanes] = sum.real();
            to[(clover::full_entry(row, column) + 1) * lanes] = sum.imag();
          }
      }
  core::AlignedArray<T> out(inverse.size());
  lattice::copy_tiles(out.data(), layout.lanes(), inverse.data(), lanes, clover::full_block_reals, inverse.size());
  return out;
}

}  // namespace

template <class T>
TwistedClover<T>::TwistedClover(const TwistedSetup& setup, int columns, int stored_reals)
    : wilson::HoppingOperator<T>(setup, columns, stored_reals, setup.mu() == 0), mu_(setup.mu()) {
  if (mu_ == 0) return;
  const double d = this->diagonal(), square = d * d + mu_ * mu_;
  for (int parity = 0; parity < 2; ++parity) {
    const T* a = this->blocks(parity);
    if (a != nullptr)
      inverse_[parity] = std::make_shared<const core::AlignedArray<T>>(
          full_inverse<T>(*setup.blocks(), *setup.inverse_blocks(), mu_, parity, *this->layout()));
    for (const bool dagger : {false, true}) {
      const double mu = dagger ? -mu_ : mu_;
      if (a != nullptr)
        this->set_terms(parity, dagger, {.second = a, .twist = static_cast<T>(mu)},
                        {.full = inverse_[parity]->data(), .adjoint = dagger});
      else
        this->set_terms(parity, dagger, {.constant = static_cast<T>(d), .twist = static_cast<T>(mu)},
                        {.constant = static_cast<T>(d / square), .twist = static_cast<T>(-mu / square)});
    }
  }
}

template <class T>
std::unique_ptr<DiracOperator<T>> TwistedClover<T>::with_columns(int columns) const {
  return std::make_unique<TwistedClover>(*this, columns);
}

template <class T>
std::unique_ptr<TwistedClover<T>> TwistedClover<T>::opposite() const {
  auto other = std::make_unique<TwistedClover>(*this, this->columns());
  other->mu_ = -mu_;
  if (mu_ == 0) return other;
  for (int parity = 0; parity < 2; ++parity)
    for (const bool dagger : {false, true})
      other->set_terms(parity, dagger, *this->site(parity, !dagger), *this->inverse_site(parity, !dagger));
  return other;
}

template class TwistedClover<float>;
template class TwistedClover<double>;

}  // namespace halocline::qcd
