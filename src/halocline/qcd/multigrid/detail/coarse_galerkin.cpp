// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/detail/coarse_galerkin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <span>
#include <utility>
#include <vector>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/neighbours.hpp"

namespace halocline::qcd::multigrid {
namespace {

using Row8 = core::Pack<float, row_group>;

/// Complex rows `[row][re, im][column]` that begin at `data`.
template <class T>
struct RowsOf {
  T* data;
  std::int64_t columns;  ///< of a whole row
  T* re(std::int64_t row) const { return data + 2 * row * columns; }
  T* im(std::int64_t row) const { return data + (2 * row + 1) * columns; }
};

/// c += a b for `rows` rows of c, a multiple of four, `inner` rows of b, and `columns` columns, a multiple of eight.
/// @param a  callable (row, inner row): the entry
template <class Entry>
void add_product(RowsOf<float> c, int rows, const Entry& a, int inner, RowsOf<const float> b, int columns) {
  constexpr int block = 4;
  for (int row = 0; row < rows; row += block)
    for (int column = 0; column < columns; column += row_group) {
      Row8 re[block], im[block];
      for (int r = 0; r < block; ++r) {
        re[r] = Row8::load(c.re(row + r) + column);
        im[r] = Row8::load(c.im(row + r) + column);
      }
      for (int k = 0; k < inner; ++k) {
        const Row8 b_re = Row8::load(b.re(k) + column), b_im = Row8::load(b.im(k) + column);
#pragma GCC unroll 4
        for (int r = 0; r < block; ++r) {
          const std::complex<float> entry = a(row + r, k);
          const Row8 a_re(entry.real()), a_im(entry.imag());
          re[r] += a_re * b_re;
          im[r] += a_re * b_im;
          re[r] -= a_im * b_im;
          im[r] += a_im * b_re;
        }
      }
      for (int r = 0; r < block; ++r) {
        re[r].store(c.re(row + r) + column);
        im[r].store(c.im(row + r) + column);
      }
    }
}

/// A block in float, `[row][column][re, im]`.
template <class S>
void widen(std::vector<float>& to, const S* block, int rows) {
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < rows; ++column) {
      const S* from = block + CoarseBlocks<S>::place(row, column, rows);
      float* at = to.data() + 2 * (std::int64_t{row} * rows + column);
      at[0] = core::widen(from[0]);
      at[1] = core::widen(from[16]);
    }
}

/// T(x) += M p for the columns of each chirality of p = P(x'). T has 2 N' columns.
void add_image(float* t, const std::vector<float>& matrix, const float* p, int rows, int vectors) {
  for (int chirality = 0; chirality < 2; ++chirality) {
    const int first = chirality * rows / 2;
    const auto entry = [&](int row, int k) {
      const float* at = matrix.data() + 2 * (std::int64_t{row} * rows + first + k);
      return std::complex<float>(at[0], at[1]);
    };
    add_product({t + chirality * vectors, 2 * vectors}, rows, entry, rows / 2,
                {p + 2 * std::int64_t{first} * vectors, vectors}, vectors);
  }
}

/// out += P(x)^dagger T(x), 2 N' rows and columns.
void add_projection(float* out, const float* p, const float* t, int rows, int vectors) {
  for (int chirality = 0; chirality < 2; ++chirality) {
    const std::int64_t first = chirality * rows / 2;
    const RowsOf<const float> phi{p + 2 * first * vectors, vectors};
    const auto entry = [&](int vector, int k) { return std::complex<float>(phi.re(k)[vector], -phi.im(k)[vector]); };
    add_product({out + 4 * std::int64_t{chirality} * vectors * vectors, 2 * vectors}, vectors, entry, rows / 2,
                {t + 4 * first * vectors, 2 * vectors}, 2 * vectors);
  }
}

/// Test vectors of the sites behind the upper faces of this process, in the order of SiteNeighbours and of
/// CoarseTransfer::at().
template <class S>
std::array<std::vector<float>, 4> fetch_ghosts(const CoarseTransfer<S>& transfer,
                                               const lattice::SiteNeighbours& neighbours,
                                               const std::string& transport) {
  const auto& geometry = neighbours.geometry();
  const std::int64_t numbers = 2 * std::int64_t{transfer.rows()} * transfer.vectors();
  std::array<std::vector<float>, 4> ghosts;
  std::array<std::size_t, 4> bytes{};
  for (int mu = 0; mu < 4; ++mu)
    bytes[mu] = neighbours.face(mu).size() * static_cast<std::size_t>(numbers) * sizeof(float);
  if (std::ranges::all_of(bytes, [](std::size_t b) { return b == 0; })) return ghosts;
  comm::HaloExchange halo = comm::solver_exchange(geometry.grid(), bytes, transport);
  for (int mu = 0; mu < 4; ++mu) {
    if (bytes[mu] == 0) continue;
    static_cast<void>(halo.send_buffer({mu, 1}));  // every link of an exchange is used both ways
    float* to = reinterpret_cast<float*>(halo.send_buffer({mu, -1}).data());
    for (const auto site : neighbours.face(4 + mu)) {
      transfer.at(site, to);
      to += numbers;
    }
  }
  halo.post();
  halo.wait_all();
  for (int mu = 0; mu < 4; ++mu) {
    if (bytes[mu] == 0) continue;
    const float* from = reinterpret_cast<const float*>(halo.recv_buffer({mu, 1}).data());
    ghosts[mu].assign(from, from + bytes[mu] / sizeof(float));
  }
  halo.close();
  return ghosts;
}

}  // namespace

template <class S>
std::shared_ptr<const CoarseBlocks<S>> galerkin(const CoarseBlocks<S>& blocks, const CoarseTransfer<S>& transfer,
                                                const std::string& transport) {
  const core::Region region("coarse operator set-up");
  const auto& aggregates = *transfer.aggregates();
  const auto& fine = *aggregates.fine();
  const int rows = blocks.rows(), vectors = transfer.vectors(), new_rows = 2 * vectors;
  if (rows != transfer.rows() || blocks.geometry()->local() != fine.local())
    throw core::InvalidArgument(fmt::format("a transfer from {} sites of {} rows was given blocks of {} sites and {} "
                                            "rows",
                                            fine.local_volume(), transfer.rows(), blocks.geometry()->local_volume(),
                                            rows));
  const lattice::SiteNeighbours neighbours(aggregates.fine());
  const auto ghosts = fetch_ghosts(transfer, neighbours, transport);
  auto out = std::make_shared<CoarseBlocks<S>>(aggregates.coarse(), new_rows);
  const std::int64_t count = aggregates.count(), within = aggregates.sites();
  const std::int64_t p_numbers = 2 * std::int64_t{rows} * vectors, t_numbers = 2 * p_numbers;
#pragma omp parallel
  {
    std::vector<float> p(static_cast<std::size_t>(within * p_numbers)), beyond(static_cast<std::size_t>(p_numbers)),
        t(static_cast<std::size_t>(t_numbers)), matrix(static_cast<std::size_t>(2 * rows * rows)),
        self(static_cast<std::size_t>(2 * new_rows * new_rows)), link = self;
    const auto entry = [&](const std::vector<float>& product, int row, int column) {
      return std::complex<float>(product[static_cast<std::size_t>(2 * row * new_rows + column)],
                                 product[static_cast<std::size_t>((2 * row + 1) * new_rows + column)]);
    };
    /// sum += P(x)^dagger M(x) P', at the i-th site of an aggregate.
    const auto add = [&](std::vector<float>& sum, std::int64_t i, std::int64_t site, int which, const float* other) {
      widen(matrix, blocks.matrix(site, which), rows);
      std::ranges::fill(t, 0.f);
      add_image(t.data(), matrix, other, rows, vectors);
      add_projection(sum.data(), p.data() + i * p_numbers, t.data(), rows, vectors);
    };
#pragma omp for schedule(static)
    for (std::int64_t aggregate = 0; aggregate < count; ++aggregate) {
      const auto& sites = transfer.sites(aggregate);
      for (std::int64_t i = 0; i < within; ++i)
        transfer.at(sites[static_cast<std::size_t>(i)], p.data() + i * p_numbers);

      std::ranges::fill(self, 0.f);
      std::ranges::fill(link, 0.f);
      for (std::int64_t i = 0; i < within; ++i) {
        const std::int64_t site = sites[static_cast<std::size_t>(i)];
        add(self, i, site, 0, p.data() + i * p_numbers);
        for (int mu = 0; mu < 4; ++mu) {
          auto next = lattice::coordinates_of<4>(i, aggregates.size());
          if (++next[mu] == aggregates.size()[mu]) continue;
          add(link, i, site, 1 + mu, p.data() + lattice::linear_index<4>(next, aggregates.size()) * p_numbers);
        }
      }
      for (int row = 0; row < new_rows; ++row)
        for (int column = 0; column < new_rows; ++column) {
          const float sign = (row < vectors) == (column < vectors) ? 1.f : -1.f;
          out->set(aggregate, 0, row, column,
                   entry(self, row, column) + entry(link, row, column) + sign * std::conj(entry(link, column, row)));
        }

      for (int mu = 0; mu < 4; ++mu) {
        std::ranges::fill(link, 0.f);
        for (std::int64_t i = 0; i < within; ++i) {
          if (lattice::coordinates_of<4>(i, aggregates.size())[mu] != aggregates.size()[mu] - 1) continue;
          const std::int64_t site = sites[static_cast<std::size_t>(i)], next = neighbours.of(site, mu);
          if (next >= 0) transfer.at(next, beyond.data());
          add(link, i, site, 1 + mu, next >= 0 ? beyond.data() : ghosts[mu].data() + (-1 - next) * p_numbers);
        }
        for (int row = 0; row < new_rows; ++row)
          for (int column = 0; column < new_rows; ++column)
            out->set(aggregate, 1 + mu, row, column, entry(link, row, column));
      }
    }
  }
  if (blocks.mu() != 0) out->twist(blocks.mu());  // exact, where the sums above have roundings
  return out;
}

template std::shared_ptr<const CoarseBlocks<float>> galerkin(const CoarseBlocks<float>&, const CoarseTransfer<float>&,
                                                             const std::string&);
template std::shared_ptr<const CoarseBlocks<core::Half>>
galerkin(const CoarseBlocks<core::Half>&, const CoarseTransfer<core::Half>&, const std::string&);

}  // namespace halocline::qcd::multigrid
