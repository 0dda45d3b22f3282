// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/coarse_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/multigrid/detail/orthonormalise.hpp"

namespace halocline::qcd::multigrid {
namespace {

using Row8 = core::Pack<float, row_group>;

/// The columns of an aggregate in the order that orthonormalise() wants: the numbers of a chirality fill tiles of 6
/// components and `lanes` lanes one after the other, and zeros fill the last tile.
class Tiles {
public:
  Tiles(std::int64_t sites, int rows, int vectors)
      : half_(rows / 2),
        vectors_(vectors),
        tiles_((sites * half_ + numbers - 1) / numbers),
        data_(tiles_ * vectors * spinor_reals * lanes) {}

  /// The real part of row `row` at the i-th site of the aggregate; the imaginary part follows `lanes` numbers later.
  float* at(std::int64_t i, int row, int vector) {
    const std::int64_t k = i * half_ + row % half_, component = k % numbers / lanes;
    return data_.data() +
           ((k / numbers * vectors_ + vector) * spinor_reals +
            2 * (4 * (component / 2) + 2 * (row / half_) + component % 2)) *
               lanes +
           k % lanes;
  }
  AggregateVectors view() { return {data_.data(), tiles_, vectors_, lanes}; }
  static constexpr int lanes = 8;

private:
  static constexpr std::int64_t numbers = 6 * lanes;
  int half_, vectors_;
  std::int64_t tiles_;
  core::AlignedArray<float> data_;
};

int checked_vectors(const lattice::Aggregates& aggregates, const CoarseField& vectors) {
  if (vectors.columns() % row_group != 0 || vectors.columns() < row_group)
    throw core::InvalidArgument(
        fmt::format("{} test vectors were given; give a multiple of {}", vectors.columns(), row_group));
  if (vectors.sites() != aggregates.fine()->local_volume())
    throw core::InvalidArgument(fmt::format("test vectors on {} sites were given for aggregates of {} sites",
                                            vectors.sites(), aggregates.fine()->local_volume()));
  return vectors.columns();
}

}  // namespace

template <class S>
CoarseTransfer<S>::CoarseTransfer(std::shared_ptr<const lattice::Aggregates> aggregates, const CoarseField& vectors)
    : aggregates_(std::move(aggregates)),
      rows_(vectors.rows()),
      vectors_(checked_vectors(*aggregates_, vectors)),
      data_(vectors.sites() * 2 * rows_ * vectors_) {
  const core::Region region("orthonormalise");
  const auto& fine = *aggregates_->fine();
  const std::int64_t count = aggregates_->count(), within = aggregates_->sites();
  for (std::int64_t aggregate = 0; aggregate < count; ++aggregate) {
    auto& sites = sites_.emplace_back();
    for (std::int64_t i = 0; i < within; ++i)
      sites.push_back(lattice::linear_index<4>(aggregates_->site(aggregate, i), fine.local()));
  }
  // The numbers of a normalised column are about 1 / sqrt(N sites): far from the least normal number of fp16 after
  // this.
  int exponent = 0;
  std::frexp(std::sqrt(0.5 * rows_ * static_cast<double>(within)), &exponent);
  const float up = std::is_same_v<S, core::Half> ? std::ldexp(1.f, exponent - 1) : 1.f;
  scale_ = 1 / up;
  double worst = 1;
#pragma omp parallel reduction(min : worst)
  {
    Tiles tiles(within, rows_, vectors_);
#pragma omp for schedule(static)
    for (std::int64_t aggregate = 0; aggregate < count; ++aggregate) {
      const auto& sites = sites_[static_cast<std::size_t>(aggregate)];
      for (std::int64_t i = 0; i < within; ++i)
        for (int vector = 0; vector < vectors_; ++vector) {
          const float* from = vectors.at(sites[static_cast<std::size_t>(i)], vector);
          for (int row = 0; row < rows_; ++row) {
            float* to = tiles.at(i, row, vector);
            to[0] = from[CoarseField::place(row)];
            to[Tiles::lanes] = from[CoarseField::place(row) + row_group];
          }
        }
      worst = std::min(worst, orthonormalise(tiles.view()));
      for (std::int64_t i = 0; i < within; ++i)
        for (int row = 0; row < rows_; ++row)
          for (int vector = 0; vector < vectors_; ++vector) {
            const float* from = tiles.at(i, row, vector);
            S* to = data_.data() + place(sites[static_cast<std::size_t>(i)], row / row_group, vector) + row % row_group;
            to[0] = core::narrow_to<S>(up * from[0]);
            to[row_group] = core::narrow_to<S>(up * from[Tiles::lanes]);
          }
    }
  }
  std::array<double, 1> everywhere{worst};
  fine.communicator().min(everywhere);
  if (!(everywhere[0] > 1e-6))
    throw core::Error(
        fmt::format("the test vectors of an aggregate of {} coarse sites are linearly dependent to {:.1e}; use larger "
                    "coarse aggregates, fewer test vectors or fewer levels",
                    within, everywhere[0]));
}

template <class S>
void CoarseTransfer<S>::at(std::int64_t site, float* numbers) const {
  for (int row = 0; row < rows_; ++row)
    for (int vector = 0; vector < vectors_; ++vector) {
      const S* from = data_.data() + place(site, row / row_group, vector) + row % row_group;
      numbers[2 * row * vectors_ + vector] = scale_ * core::widen(from[0]);
      numbers[(2 * row + 1) * vectors_ + vector] = scale_ * core::widen(from[row_group]);
    }
}

template <class S>
void CoarseTransfer<S>::require(const CoarseField& fine, const CoarseField& coarse) const {
  if (fine.sites() != aggregates_->fine()->local_volume() || fine.rows() != rows_ ||
      coarse.sites() != aggregates_->count() || coarse.rows() != 2 * vectors_ || coarse.columns() != fine.columns())
    throw core::InvalidArgument(fmt::format(
        "a transfer between {} sites of {} rows and {} sites of {} rows was given fields of {} sites, {} rows and {} "
        "columns, and of {} sites, {} rows and {} columns",
        aggregates_->fine()->local_volume(), rows_, aggregates_->count(), 2 * vectors_, fine.sites(), fine.rows(),
        fine.columns(), coarse.sites(), coarse.rows(), coarse.columns()));
}

/// Lanes are summed once an aggregate, so the sums of all columns and vectors wait in the first-level cache.
template <class S>
void CoarseTransfer<S>::restrict_to(CoarseField& out, const CoarseField& in) const {
  const core::Region region("restrict");
  require(in, out);
  using Memory = core::Stored<S, Row8>;
  const std::int64_t count = aggregates_->count();
  const int columns = in.columns(), groups = rows_ / row_group;
#pragma omp parallel
  {
    std::vector<Row8> sums(static_cast<std::size_t>(columns * 4 * vectors_));  // [column][chirality][vector][re, im]
#pragma omp for schedule(static)
    for (std::int64_t aggregate = 0; aggregate < count; ++aggregate) {
      std::ranges::fill(sums, Row8(0.f));
      for (const auto site : sites_[static_cast<std::size_t>(aggregate)])
        for (int group = 0; group < groups; ++group)
          for (int column = 0; column < columns; ++column) {
            const float* v = in.at(site, column) + group * 2 * row_group;
            const Row8 v_re = Row8::load(v), v_im = Row8::load(v + row_group);
            Row8* sum = sums.data() + (2 * column + (2 * group >= groups ? 1 : 0)) * 2 * vectors_;
            const S* phi = data_.data() + place(site, group, 0);
            for (int n = 0; n < vectors_; ++n, phi += 2 * row_group) {
              const Row8 re = Memory::load(phi), im = Memory::load(phi + row_group);
              sum[2 * n] += re * v_re + im * v_im;
              sum[2 * n + 1] += re * v_im - im * v_re;
            }
          }
      for (int column = 0; column < columns; ++column) {
        float* to = out.at(aggregate, column);
        for (int row = 0; row < 2 * vectors_; ++row) {
          const Row8* sum = sums.data() + (column * 2 * vectors_ + row) * 2;
          to[CoarseField::place(row)] = scale_ * core::horizontal_sum(sum[0]);
          to[CoarseField::place(row) + row_group] = scale_ * core::horizontal_sum(sum[1]);
        }
      }
    }
  }
}

template <class S>
void CoarseTransfer<S>::prolongate(CoarseField& out, const CoarseField& in) const {
  const core::Region region("prolongate");
  require(out, in);
  using Memory = core::Stored<S, Row8>;
  const std::int64_t count = aggregates_->count();
  const int columns = in.columns(), groups = rows_ / row_group;
#pragma omp parallel for schedule(static)
  for (std::int64_t aggregate = 0; aggregate < count; ++aggregate)
    for (const auto site : sites_[static_cast<std::size_t>(aggregate)])
      for (int group = 0; group < groups; ++group)
        for (int column = 0; column < columns; ++column) {
          const float* v = in.at(aggregate, column);
          const int first = 2 * group >= groups ? vectors_ : 0;
          const S* phi = data_.data() + place(site, group, 0);
          Row8 re(0.f), im(0.f);
          for (int n = 0; n < vectors_; ++n, phi += 2 * row_group) {
            const int at = CoarseField::place(first + n);
            const Row8 v_re(scale_ * v[at]), v_im(scale_ * v[at + row_group]);
            const Row8 phi_re = Memory::load(phi), phi_im = Memory::load(phi + row_group);
            re += phi_re * v_re;
            im += phi_re * v_im;
            re -= phi_im * v_im;
            im += phi_im * v_re;
          }
          float* to = out.at(site, column) + group * 2 * row_group;
          re.store(to);
          im.store(to + row_group);
        }
}

template class CoarseTransfer<float>;
template class CoarseTransfer<core::Half>;

}  // namespace halocline::qcd::multigrid
