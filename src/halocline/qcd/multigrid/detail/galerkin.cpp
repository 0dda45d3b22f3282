// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/detail/galerkin.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <span>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/field/gamma.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/multigrid/detail/block_kernels.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::multigrid {
namespace {

using lattice::Coordinates;

/// Test vectors or images of them at some sites: `[site][6 chirality + 3 (spin mod 2) + colour][re, im][column]`.
struct Columns {
  int columns;
  core::AlignedArray<float> data;

  Columns(std::int64_t sites, int columns_given) : columns(columns_given), data(sites * spinor_reals * columns_given) {}
  float* at(std::int64_t site, int component) { return data.data() + (site * 12 + component) * 2 * columns; }
  const float* at(std::int64_t site, int component) const {
    return data.data() + (site * 12 + component) * 2 * columns;
  }
};

/// Component of a spin and colour in this order.
constexpr int component(int spin, int colour) { return 3 * spin + colour; }

/// Reads the test vectors of a fine site.
template <class S>
void fetch(Columns& to, std::int64_t place, const Transfer<S>& transfer, const Coordinates<4>& x) {
  const auto site = transfer.layout()->locate(x);
  std::array<float, spinor_reals> numbers;
  for (int n = 0; n < transfer.vectors(); ++n) {
    transfer.at(site, n, numbers.data());
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        float* at = to.at(place, component(spin, colour));
        at[n] = numbers[static_cast<std::size_t>(2 * (4 * colour + spin))];
        at[to.columns + n] = numbers[static_cast<std::size_t>(2 * (4 * colour + spin) + 1)];
      }
  }
}

/// Writes i^power z, n numbers of re and im each.
void turned(float* to_re, float* to_im, const float* re, const float* im, int n, int power) {
  for (int i = 0; i < n; ++i) {
    const float a = re[i], b = im[i];
    to_re[i] = power == 0 ? a : power == 1 ? -b : power == 2 ? -a : b;
    to_im[i] = power == 0 ? b : power == 1 ? a : power == 2 ? -b : -a;
  }
}

/// The half spinors E_mu phi of all 2 N columns at one site: `[3 spin + colour][re, im][2 N]`.
void project(float* half, const Columns& p, std::int64_t place, int mu) {
  const int n = p.columns, rows = 2 * n;
  for (int spin = 0; spin < 2; ++spin)
    for (int colour = 0; colour < 3; ++colour) {
      float* to = half + component(spin, colour) * 2 * rows;
      const float* upper = p.at(place, component(spin, colour));
      const float* lower = p.at(place, component(gamma[mu].column[spin], colour));
      std::copy_n(upper, n, to);
      std::copy_n(upper + n, n, to + rows);
      turned(to + n, to + rows + n, lower, lower + n, n, (gamma[mu].power[spin] + 2) % 4);
    }
}

/// T(x) += E_mu^dagger factor U half. T has 2 N columns.
void add_hop(Columns& t, std::int64_t place, int mu, const float* half, const Su3<double>& link,
             std::complex<double> factor) {
  const int rows = t.columns;
  for (int spin = 0; spin < 2; ++spin) {
    // The lower spin that belongs to this upper one, and its power of i: gamma_mu phi = -phi.
    const int below = gamma[mu].column[2] == spin ? 2 : 3;
    const int power = (gamma[mu].power[below] + 2) % 4;
    for (int row = 0; row < 3; ++row) {
      float* up = t.at(place, component(spin, row));
      float* down = t.at(place, component(below, row));
      for (int first = 0; first < rows; first += 16) {
        Rows re(0.f), im(0.f);
        for (int column = 0; column < 3; ++column) {
          const std::complex<float> u(factor * std::complex<double>(link.e[row][column].re, link.e[row][column].im));
          const float* from = half + component(spin, column) * 2 * rows + first;
          const Rows h_re = Rows::load(from), h_im = Rows::load(from + rows), u_re(u.real()), u_im(u.imag());
          re += u_re * h_re;
          im += u_re * h_im;
          re -= u_im * h_im;
          im += u_im * h_re;
        }
        (Rows::load(up + first) + re).store(up + first);
        (Rows::load(up + rows + first) + im).store(up + rows + first);
        const Rows a = power == 0 ? re : power == 1 ? -im : power == 2 ? -re : im;
        const Rows b = power == 0 ? im : power == 1 ? re : power == 2 ? -im : -re;
        (Rows::load(down + first) + a).store(down + first);
        (Rows::load(down + rows + first) + b).store(down + rows + first);
      }
    }
  }
}

/// T(x) -= A phi for the columns of each chirality. @param reals  the 72 of the site, or null for the number
void subtract_clover(Columns& t, const Columns& p, std::int64_t place, const double* reals, double number) {
  const int n = p.columns, rows = t.columns;
  for (int chirality = 0; chirality < 2; ++chirality)
    for (int row = 0; row < 6; ++row)
      for (int column = 0; column < 6; ++column) {
        std::complex<double> a = row == column ? number : 0.0;
        if (reals != nullptr) {
          const double* block = reals + 36 * chirality;
          if (row == column) {
            a = block[row];
          } else {
            const double* e = block + clover::below_diagonal(std::max(row, column), std::min(row, column));
            a = {e[0], row > column ? e[1] : -e[1]};
          }
        }
        if (a == 0.0) continue;
        const auto re = static_cast<float>(a.real()), im = static_cast<float>(a.imag());
        const float* from = p.at(place, 6 * chirality + column);
        float* to = t.at(place, 6 * chirality + row) + chirality * n;
#pragma omp simd
        for (int i = 0; i < n; ++i) {
          to[i] -= re * from[i] - im * from[n + i];
          to[rows + i] -= re * from[n + i] + im * from[i];
        }
      }
}

/// The matrix sum_i phi(sites[i])^dagger T(i), row (chirality, n), `[row][re, im][2 N]`.
void multiply(std::vector<float>& out, const Columns& p, std::span<const std::int64_t> sites, const Columns& t) {
  const int n = p.columns, rows = t.columns;
  constexpr int block = 8;
  for (int chirality = 0; chirality < 2; ++chirality)
    for (int first_row = 0; first_row < n; first_row += block)
      for (int first = 0; first < rows; first += 16) {
        Rows re[block], im[block];
        for (int r = 0; r < block; ++r) re[r] = im[r] = Rows(0.f);
        for (std::size_t i = 0; i < sites.size(); ++i)
          for (int k = 0; k < 6; ++k) {
            const float* a = p.at(sites[i], 6 * chirality + k) + first_row;
            const float* b = t.at(static_cast<std::int64_t>(i), 6 * chirality + k) + first;
            const Rows b_re = Rows::load(b), b_im = Rows::load(b + rows);
#pragma GCC unroll 8
            for (int r = 0; r < block; ++r) {
              const Rows a_re(a[r]), a_im(a[n + r]);
              re[r] += a_re * b_re;
              im[r] += a_re * b_im;
              re[r] += a_im * b_im;
              im[r] -= a_im * b_re;
            }
          }
        for (int r = 0; r < block; ++r) {
          float* to = out.data() + (chirality * n + first_row + r) * 2 * rows + first;
          re[r].store(to);
          im[r].store(to + rows);
        }
      }
}

/// Test vectors of the sites behind the upper faces of this process, in the order of SiteNeighbours.
template <class S>
std::array<Columns, 4> fetch_ghosts(const Transfer<S>& transfer, const lattice::SiteNeighbours& neighbours,
                                    const std::string& transport) {
  const auto& geometry = neighbours.geometry();
  const int n = transfer.vectors();
  const auto sites = [&](int mu) { return static_cast<std::int64_t>(neighbours.face(mu).size()); };
  std::array<Columns, 4> ghosts{Columns(sites(0), n), Columns(sites(1), n), Columns(sites(2), n), Columns(sites(3), n)};
  std::array<std::size_t, 4> bytes{};
  for (int mu = 0; mu < 4; ++mu) bytes[mu] = neighbours.face(mu).size() * spinor_reals * sizeof(float);
  if (std::ranges::all_of(bytes, [](std::size_t b) { return b == 0; })) return ghosts;
  comm::HaloExchange halo = comm::solver_exchange(geometry.grid(), bytes, transport);
  // One message a vector, so that the buffers stay small. What travels forwards is not used: every link of an exchange
  // is used both ways.
  for (int vector = 0; vector < n; ++vector) {
    for (int mu = 0; mu < 4; ++mu) {
      if (bytes[mu] == 0) continue;
      static_cast<void>(halo.send_buffer({mu, 1}));
      float* to = reinterpret_cast<float*>(halo.send_buffer({mu, -1}).data());
      for (const auto site : neighbours.face(4 + mu)) {
        transfer.at(transfer.layout()->locate(lattice::coordinates_of<4>(site, geometry.local())), vector, to);
        to += spinor_reals;
      }
    }
    halo.post();
    halo.wait_all();
    for (int mu = 0; mu < 4; ++mu) {
      if (bytes[mu] == 0) continue;
      const float* from = reinterpret_cast<const float*>(halo.recv_buffer({mu, 1}).data());
      for (std::int64_t slot = 0; slot < sites(mu); ++slot)
        for (int colour = 0; colour < 3; ++colour)
          for (int spin = 0; spin < 4; ++spin) {
            float* at = ghosts[mu].at(slot, component(spin, colour));
            at[vector] = from[slot * spinor_reals + 2 * (4 * colour + spin)];
            at[n + vector] = from[slot * spinor_reals + 2 * (4 * colour + spin) + 1];
          }
    }
  }
  halo.close();
  return ghosts;
}

}  // namespace

template <class S, class C>
std::shared_ptr<const CoarseBlocks<C>> galerkin(const Transfer<S>& transfer, const GaugeField& gauge,
                                                const WilsonCloverAction& action, const std::vector<double>* clover,
                                                const std::string& transport) {
  const core::Region region("coarse operator set-up");
  const auto& aggregates = *transfer.aggregates();
  const auto& fine = *aggregates.fine();
  const lattice::SiteNeighbours neighbours(aggregates.fine());
  const auto ghosts = fetch_ghosts(transfer, neighbours, transport);
  const int n = transfer.vectors(), rows = 2 * n;
  auto blocks = std::make_shared<CoarseBlocks<C>>(aggregates.coarse(), rows);

  // The sites of an aggregate, and those whose forward neighbour in direction mu is in another one.
  std::vector<std::int64_t> all;
  std::array<std::vector<std::int64_t>, 4> edge;
  for (std::int64_t i = 0; i < aggregates.sites(); ++i) {
    all.push_back(i);
    const auto x = lattice::coordinates_of<4>(i, aggregates.size());
    for (int mu = 0; mu < 4; ++mu)
      if (x[mu] == aggregates.size()[mu] - 1) edge[mu].push_back(i);
  }

  const std::int64_t count = aggregates.count();
#pragma omp parallel
  {
    Columns p(aggregates.sites(), n), t(aggregates.sites(), rows), beyond(1, n);
    std::vector<float> product(static_cast<std::size_t>(2 * rows * rows)), half(static_cast<std::size_t>(12 * rows));
    const auto entry = [&](int row, int column) {
      return std::complex<float>(product[static_cast<std::size_t>(row * 2 * rows + column)],
                                 product[static_cast<std::size_t>(row * 2 * rows + rows + column)]);
    };
    const auto factor = [&](const Coordinates<4>& x, int mu) {
      const bool over = x[mu] + fine.offset()[mu] == fine.global()[mu] - 1;
      return action.hopping(mu) * (over ? action.boundary[mu] : 1.0);
    };
#pragma omp for schedule(static)
    for (std::int64_t aggregate = 0; aggregate < count; ++aggregate) {
      for (const auto i : all) fetch(p, i, transfer, aggregates.site(aggregate, i));

      std::ranges::fill(t.data.span(), 0.f);
      for (const auto i : all) {
        const auto x = aggregates.site(aggregate, i);
        for (int mu = 0; mu < 4; ++mu) {
          auto within = lattice::coordinates_of<4>(i, aggregates.size());
          if (++within[mu] == aggregates.size()[mu]) continue;
          project(half.data(), p, lattice::linear_index<4>(within, aggregates.size()), mu);
          add_hop(t, i, mu, half.data(), gauge.link(x, mu), factor(x, mu));
        }
        const double* reals = clover != nullptr
                                  ? clover->data() + lattice::linear_index<4>(x, fine.local()) * clover::block_reals
                                  : nullptr;
        subtract_clover(t, p, i, reals, action.diagonal());
      }
      multiply(product, p, all, t);
      for (int row = 0; row < rows; ++row)
        for (int column = 0; column < rows; ++column) {
          const float sign = (row < n) == (column < n) ? 1.f : -1.f;
          blocks->set(aggregate, 0, row, column, -0.5f * (entry(row, column) + sign * std::conj(entry(column, row))));
        }

      for (int mu = 0; mu < 4; ++mu) {
        std::ranges::fill(t.data.span(), 0.f);
        for (std::size_t i = 0; i < edge[mu].size(); ++i) {
          const auto x = aggregates.site(aggregate, edge[mu][i]);
          const std::int64_t next = neighbours.of(lattice::linear_index<4>(x, fine.local()), mu);
          if (next >= 0) {
            fetch(beyond, 0, transfer, lattice::coordinates_of<4>(next, fine.local()));
            project(half.data(), beyond, 0, mu);
          } else {
            project(half.data(), ghosts[mu], -1 - next, mu);
          }
          add_hop(t, static_cast<std::int64_t>(i), mu, half.data(), gauge.link(x, mu), factor(x, mu));
        }
        multiply(product, p, edge[mu], t);
        for (int row = 0; row < rows; ++row)
          for (int column = 0; column < rows; ++column)
            blocks->set(aggregate, 1 + mu, row, column, -0.5f * entry(row, column));
      }
    }
  }
  return blocks;
}

template std::shared_ptr<const CoarseBlocks<float>> galerkin(const Transfer<float>&, const GaugeField&,
                                                             const WilsonCloverAction&, const std::vector<double>*,
                                                             const std::string&);
template std::shared_ptr<const CoarseBlocks<core::Half>> galerkin(const Transfer<core::Half>&, const GaugeField&,
                                                                  const WilsonCloverAction&, const std::vector<double>*,
                                                                  const std::string&);
template std::shared_ptr<const CoarseBlocks<float>> galerkin(const Transfer<core::Half>&, const GaugeField&,
                                                             const WilsonCloverAction&, const std::vector<double>*,
                                                             const std::string&);

}  // namespace halocline::qcd::multigrid
