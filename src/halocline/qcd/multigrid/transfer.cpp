// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/multigrid/detail/orthonormalise.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::multigrid {
namespace {

using core::Complex;
using lattice::DomainLayout;

/// The domains of each aggregate.
std::vector<std::vector<std::int32_t>> domains_of(const DomainLayout& layout, const lattice::Aggregates& aggregates) {
  for (int axis = 0; axis < 4; ++axis)
    if (layout.block()[axis] == 0 || aggregates.size()[axis] % layout.block()[axis] != 0)
      throw core::InvalidArgument(
          fmt::format("aggregates of {} sites along {} would cut domains of {} sites; give a multiple of {}",
                      aggregates.size()[axis], lattice::axis_name[axis], layout.block()[axis], layout.block()[axis]));
  std::vector<std::vector<std::int32_t>> domains(static_cast<std::size_t>(aggregates.count()));
  for (std::int32_t domain = 0; domain < layout.domains(); ++domain)
    domains[static_cast<std::size_t>(aggregates.of(layout.coordinates({domain, 0, 0})))].push_back(domain);
  return domains;
}

}  // namespace

DomainClover::DomainClover(const DomainLayout& layout, const std::vector<double>* canonical, double diagonal)
    : number(static_cast<float>(diagonal)) {
  if (canonical == nullptr) return;
  const int lanes = layout.lanes();
  const std::int64_t all_tiles = std::int64_t{layout.domains()} * layout.tiles();
  blocks = core::AlignedArray<float>(all_tiles * clover::block_reals * lanes);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < all_tiles; ++i)
    for (int lane = 0; lane < lanes; ++lane) {
      const auto x = layout.coordinates(
          {static_cast<std::int32_t>(i / layout.tiles()), static_cast<std::int32_t>(i % layout.tiles()), lane});
      const double* from =
          canonical->data() + lattice::linear_index<4>(x, layout.geometry().local()) * clover::block_reals;
      for (int n = 0; n < clover::block_reals; ++n)
        blocks[(i * clover::block_reals + n) * lanes + lane] = static_cast<float>(from[n]);
    }
}

template <class S>
Transfer<S>::Transfer(std::shared_ptr<const DomainLayout> layout, std::shared_ptr<const lattice::Aggregates> aggregates,
                      std::span<const FineField> vectors, int kept)
    : layout_(std::move(layout)),
      aggregates_(std::move(aggregates)),
      vectors_(kept > 0 || vectors.empty() ? kept : static_cast<int>(vectors.size()) * vectors.front().columns()),
      domains_(domains_of(*layout_, *aggregates_)) {
  if (vectors_ < row_group || vectors_ % row_group != 0)
    throw core::InvalidArgument(fmt::format("{} test vectors were given; give a multiple of {}", vectors_, row_group));
  const core::Region region("orthonormalise");
  // The numbers of a normalised column are about 1 / sqrt(6 sites): far from the least normal number of fp16 after
  // this.
  int exponent = 0;
  std::frexp(std::sqrt(6.0 * static_cast<double>(aggregates_->sites())), &exponent);
  const float up = std::is_same_v<S, core::Half> ? std::ldexp(1.f, exponent - 1) : 1.f;
  scale_ = 1 / up;
  const std::int64_t count = aggregates_->count(), tiles = layout_->tiles();
  const std::int64_t some = vectors.front().tile_stride(), given = some * static_cast<std::int64_t>(vectors.size());
  const std::int64_t all = vectors_ * std::int64_t{spinor_reals} * layout_->lanes();  // numbers of a tile
  const int given_vectors = static_cast<int>(vectors.size()) * vectors.front().columns();
  if (given_vectors < vectors_)
    throw core::InvalidArgument(fmt::format("{} test vectors were given, and {} are to be kept; give at least as many",
                                            given_vectors, vectors_));
  data_ = core::AlignedArray<S>(all * tiles * layout_->domains());
  double worst = 1;
#pragma omp parallel reduction(min : worst)
  {
    core::AlignedArray<float> work(given * tiles * static_cast<std::int64_t>(domains_.front().size()));
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < count; ++i) {
      const auto& domains = domains_[static_cast<std::size_t>(i)];
      float* gathered = work.data();
      for (const auto domain : domains)
        for (std::int64_t tile = 0; tile < tiles; ++tile)
          for (const FineField& field : vectors)
            gathered = std::copy_n(field.domain(domain) + tile * some, some, gathered);
      AggregateVectors columns{work.data(), static_cast<std::int64_t>(domains.size()) * tiles, given_vectors,
                               layout_->lanes()};
      if (given_vectors > vectors_ && !reduce(columns, vectors_)) worst = 0;
      worst = std::min(worst, orthonormalise(columns));
      for (std::size_t n = 0; n < domains.size(); ++n) {
        const float* from = work.data() + static_cast<std::int64_t>(n) * all * tiles;
        S* to = data_.data() + domains[n] * all * tiles;
        std::int64_t k = 0;
        for (; k + 16 <= all * tiles; k += 16)
          core::Stored<S, core::Pack<float, 16>>::store(to + k, core::Pack<float, 16>(up) *
                                                                    core::Pack<float, 16>::load(from + k));
        for (; k < all * tiles; ++k) to[k] = core::narrow_to<S>(up * from[k]);
      }
    }
  }
  std::array<double, 1> everywhere{worst};
  layout_->geometry().communicator().min(everywhere);
  if (!(everywhere[0] > 1e-6))
    throw core::Error(
        fmt::format("the test vectors of an aggregate are linearly dependent to {:.1e}; use larger aggregates or fewer "
                    "test vectors",
                    everywhere[0]));
}

template <class S>
void Transfer<S>::at(const lattice::DomainSite& site, int vector, float* numbers) const {
  const int lanes = layout_->lanes();
  const std::int64_t tile = std::int64_t{site.domain} * layout_->tiles() + site.tile;
  const S* from = data_.data() + (tile * vectors_ + vector) * spinor_reals * lanes + site.lane;
  for (int n = 0; n < spinor_reals; ++n) numbers[n] = scale_ * core::widen(from[n * lanes]);
}

template <class S>
void Transfer<S>::require(const FineField& fine, const CoarseField& coarse) const {
  if (fine.layout_ptr() != layout_ || coarse.sites() != aggregates_->count() || coarse.rows() != 2 * vectors_ ||
      coarse.columns() != fine.columns())
    throw core::InvalidArgument("a transfer between lattices was given fields of other layouts or numbers of columns");
}

/// The sums of one aggregate and column are kept for all lanes in first-level cache, while its tiles pass by.
template <class S>
template <int V>
void Transfer<S>::restrict_lanes(CoarseField& out, const FineField& in, const DomainClover* clover) const {
  using Real = core::Number<float, V>;
  using L = core::Lanes<Real>;
  using Memory = core::Stored<S, Real>;
  using C = Complex<Real>;
  const std::int64_t count = aggregates_->count();
  const std::int64_t vector_stride = spinor_reals * V, tile_stride = vectors_ * vector_stride;
  const bool blocks = clover != nullptr && clover->blocks.size() > 0;
  const Real factor(scale_ * (clover != nullptr && !blocks ? clover->number : 1.f));
#pragma omp parallel
  {
    std::vector<C> sums(static_cast<std::size_t>(2 * vectors_ * in.columns()));
#pragma omp for schedule(static)
    for (std::int64_t aggregate = 0; aggregate < count; ++aggregate) {
      std::ranges::fill(sums, C{Real(0.f), Real(0.f)});
      for (const auto domain : domains_[static_cast<std::size_t>(aggregate)])
        for (std::int32_t tile = 0; tile < layout_->tiles(); ++tile) {
          const std::int64_t place = std::int64_t{domain} * layout_->tiles() + tile;
          const S* p = data_.data() + place * tile_stride;
          for (int column = 0; column < in.columns(); ++column) {
            const float* v = in.data() + place * in.tile_stride() + column * in.column_stride();
            wilson::Spinor<Real> r;
            for (int colour = 0; colour < 3; ++colour)
              for (int spin = 0; spin < 4; ++spin) {
                const float* at = v + 2 * (4 * colour + spin) * V;
                r.at[colour][spin] = {L::load(at), L::load(at + V)};
              }
            if (blocks) {
              const float* a = clover->blocks.data() + place * clover::block_reals * V;
              r = clover::multiply_block<Real>([&](int n) { return L::load(a + n * V); }, r);
            }
            C* sum = sums.data() + column * 2 * vectors_;
            for (int n = 0; n < vectors_; ++n)
#pragma GCC unroll 2
              for (int chirality = 0; chirality < 2; ++chirality) {
                C total = sum[chirality * vectors_ + n];
#pragma GCC unroll 6
                for (int k = 0; k < 6; ++k) {
                  const int colour = k / 2, spin = 2 * chirality + k % 2;
                  const S* phi = p + n * vector_stride + 2 * (4 * colour + spin) * V;
                  core::conj_multiply_add(total, C{Memory::load(phi), Memory::load(phi + V)}, r.at[colour][spin]);
                }
                sum[chirality * vectors_ + n] = total;
              }
          }
        }
      for (int column = 0; column < in.columns(); ++column) {
        float* to = out.at(aggregate, column);
        for (int row = 0; row < 2 * vectors_; ++row) {
          const C& sum = sums[static_cast<std::size_t>(column * 2 * vectors_ + row)];
          const C scaled{factor * sum.re, factor * sum.im};
          if constexpr (V == 1) {
            to[CoarseField::place(row)] = scaled.re;
            to[CoarseField::place(row) + row_group] = scaled.im;
          } else {
            to[CoarseField::place(row)] = core::horizontal_sum(scaled.re);
            to[CoarseField::place(row) + row_group] = core::horizontal_sum(scaled.im);
          }
        }
      }
    }
  }
}

template <class S>
template <int V>
void Transfer<S>::prolongate_lanes(FineField& out, const CoarseField& in, bool add) const {
  using Real = core::Number<float, V>;
  using L = core::Lanes<Real>;
  using Memory = core::Stored<S, Real>;
  using C = Complex<Real>;
  const std::int64_t count = aggregates_->count();
  const std::int64_t vector_stride = spinor_reals * V, tile_stride = vectors_ * vector_stride;
#pragma omp parallel for schedule(static)
  for (std::int64_t aggregate = 0; aggregate < count; ++aggregate)
    for (const auto domain : domains_[static_cast<std::size_t>(aggregate)])
      for (std::int32_t tile = 0; tile < layout_->tiles(); ++tile) {
        const std::int64_t place = std::int64_t{domain} * layout_->tiles() + tile;
        const S* p = data_.data() + place * tile_stride;
        for (int column = 0; column < out.columns(); ++column) {
          const float* from = in.at(aggregate, column);
          float* v = out.data() + place * out.tile_stride() + column * out.column_stride();
#pragma GCC unroll 2
          for (int chirality = 0; chirality < 2; ++chirality) {
            C sum[6];
#pragma GCC unroll 6
            for (int k = 0; k < 6; ++k) sum[k] = {Real(0.f), Real(0.f)};
            for (int n = 0; n < vectors_; ++n) {
              const int at = CoarseField::place(chirality * vectors_ + n);
              const C c{Real(scale_ * from[at]), Real(scale_ * from[at + row_group])};
#pragma GCC unroll 6
              for (int k = 0; k < 6; ++k) {
                const S* phi = p + n * vector_stride + 2 * (4 * (k / 2) + 2 * chirality + k % 2) * V;
                core::multiply_add(sum[k], C{Memory::load(phi), Memory::load(phi + V)}, c);
              }
            }
#pragma GCC unroll 6
            for (int k = 0; k < 6; ++k) {
              float* to = v + 2 * (4 * (k / 2) + 2 * chirality + k % 2) * V;
              if (add) sum[k] += C{L::load(to), L::load(to + V)};
              L::store(to, sum[k].re);
              L::store(to + V, sum[k].im);
            }
          }
        }
      }
}

template <class S>
void Transfer<S>::restrict_to(CoarseField& out, const FineField& in, const DomainClover* clover) const {
  const core::Region region("restrict");
  require(in, out);
  lattice::with_lanes(layout_->lanes(), [&]<int V>() { restrict_lanes<V>(out, in, clover); });
}

template <class S>
void Transfer<S>::prolongate(FineField& out, const CoarseField& in, bool add) const {
  const core::Region region("prolongate");
  require(out, in);
  lattice::with_lanes(layout_->lanes(), [&]<int V>() { prolongate_lanes<V>(out, in, add); });
}

template class Transfer<float>;
template class Transfer<core::Half>;

}  // namespace halocline::qcd::multigrid
