// SPDX-License-Identifier: Apache-2.0
/// @file
/// The fast stencil: rows of points through the kernels of detail/kernels.hpp, tile by tile, block by block.
#include "halocline/tddft/stencil/stencil.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/stencil/tiles.hpp"
#include "halocline/tddft/stencil/walk.hpp"

namespace halocline::tddft {

struct Stencil::State {
  Grid grid;
  HaloRows halo;
  std::vector<Box> tiles;    ///< tiles of the interior, then of the faces
  std::size_t interior = 0;  ///< number of interior tiles
  std::vector<Scratch> scratch;
  std::array<const double*, 2> begun{};  ///< blocks whose halo exchanges are in progress, the older first

  State(const Decomposition& decomposition, const std::string& transport)
      : grid(decomposition.grid()), halo(decomposition, transport) {
    const auto& whole = halo.box().extent;
    tiles = tiles_of(halo.interior(), whole);
    interior = tiles.size();
    for (const Box& face : halo.faces())
      for (const Box& tile : tiles_of(face, whole)) tiles.push_back(tile);
    reserve(1);
  }

  std::int64_t block_doubles() const { return halo.box().points() * doubles_per_point; }

  /// Provides scratch for `threads` threads. Allocates only if there are more than ever before.
  void reserve(int threads) {
    while (static_cast<int>(scratch.size()) < threads) {
      scratch.emplace_back(halo.box(), tiles, needs_window(halo.box().extent));
      halo.fill(scratch.back().near, nullptr);
    }
  }

  /// Computes the tiles [begin, end) of a block with several threads. With `gradient`, leaves their products in scratch
  /// 0.
  void compute(const Pass& pass, std::size_t begin, std::size_t end, int threads) {
    const auto count = static_cast<std::int64_t>(end - begin);
    if (threads == 1 || count < 2) {
      for (std::size_t t = begin; t < end; ++t)
        walk(pass, scratch[0].near, halo.box(), tiles[t], scratch[0], scratch[0].products_of(t));
      return;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t t = begin + static_cast<std::size_t>(i);
      Scratch& mine = scratch[static_cast<std::size_t>(omp_get_thread_num())];
      walk(pass, scratch[0].near, halo.box(), tiles[t], mine, scratch[0].products_of(t));
    }
  }

  /// Sums over the tiles in a fixed order.
  void reduce(std::span<double> gradient, std::int64_t block, Scratch& from) const {
    if (gradient.empty()) return;
    for (int lane = 0; lane < orbital_lanes; ++lane)
      for (int a = 0; a < 3; ++a) {
        double sum = 0;
        for (std::size_t t = 0; t < tiles.size(); ++t) {
          const double* product = from.products_of(t) + a * doubles_per_point + 2 * lane;
          sum += product[0] - product[1];
        }
        gradient[static_cast<std::size_t>((block * orbital_lanes + lane) * 3 + a)] =
            sum / grid.spacing[static_cast<std::size_t>(a)];
      }
  }

  static void clear(const Pass& pass, Scratch& one) {
    if (!pass.gradient.empty()) std::ranges::fill(one.products.span(), 0.0);
  }

  /// Computes blocks that need no other process: one for each thread if there are several.
  void run_alone(const Pass& pass, std::int64_t blocks, int threads) {
    if (threads == 1 || blocks < 2) {
      for (std::int64_t b = 0; b < blocks; ++b) {
        const Pass block = pass.at(b * block_doubles());
        clear(pass, scratch[0]);
        halo.fill(scratch[0].near, block.in);
        compute(block, 0, tiles.size(), threads);
        reduce(pass.gradient, b, scratch[0]);
      }
      return;
    }
    // Dynamic: on a busy machine a thread may get less of its core than the others.
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (std::int64_t b = 0; b < blocks; ++b) {
      Scratch& mine = scratch[static_cast<std::size_t>(omp_get_thread_num())];
      const Pass block = pass.at(b * block_doubles());
      clear(pass, mine);
      halo.fill(mine.near, block.in);
      for (std::size_t t = 0; t < tiles.size(); ++t)
        walk(block, mine.near, halo.box(), tiles[t], mine, mine.products_of(t));
      reduce(pass.gradient, b, mine);
    }
  }

  void begin(const double* in) {
    if (!halo.split()) return;
    if (halo.under_way() == 2)
      throw core::InvalidArgument("the halos of two blocks are under way; apply() one of them before the next begin()");
    begun[static_cast<std::size_t>(halo.under_way())] = in;
    halo.begin(in);
  }

  /// Computes the interior of a block while its halo exchange and that of the next block are in progress.
  void run_split(const Pass& pass, std::int64_t blocks, int threads) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Pass block = pass.at(b * block_doubles());
      if (halo.under_way() == 0) begin(block.in);
      if (begun[0] != block.in)
        throw core::InvalidArgument("the halo of another block was begun; apply() blocks in the order of begin()");
      if (b + 1 < blocks && halo.under_way() == 1) begin(block.in + block_doubles());
      clear(pass, scratch[0]);
      halo.fill(scratch[0].near, block.in);
      compute(block, 0, interior, threads);
      {
        const core::Region region("stencil/wait for halo");
        halo.finish();
      }
      begun[0] = begun[1];
      halo.fill(scratch[0].near, block.in);
      compute(block, interior, tiles.size(), threads);
      reduce(pass.gradient, b, scratch[0]);
    }
  }

  void run(const Pass& pass, std::int64_t blocks) {
    // Points times blocks above which waking threads pays: some hundred microseconds of work, twice the time to wake a
    // sleeping thread on a virtual machine.
    constexpr std::int64_t work_for_threads = 4096;
    const bool little = halo.box().points() * blocks < work_for_threads;
    const int threads = little || omp_in_parallel() ? 1 : omp_get_max_threads();
    reserve(threads);
    if (halo.split())
      run_split(pass, blocks, threads);
    else
      run_alone(pass, blocks, threads);
  }

  void check_gradient(std::span<double> gradient, std::int64_t blocks) const {
    if (static_cast<std::int64_t>(gradient.size()) != blocks * orbital_lanes * 3)
      throw core::InvalidArgument(fmt::format("the gradient of {} blocks has {} numbers, not {}; give (blocks, 4, 3)",
                                              blocks, blocks * orbital_lanes * 3, gradient.size()));
  }

  void apply(double* out, const double* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
             const Combination& what, std::span<double> gradient = {}) {
    const bool current = !gradient.empty();
    const bool imaginary = what.factor.imag() != 0;
    if (imaginary && what.factor.real() != 0)
      throw core::InvalidArgument(fmt::format("the factor is {} + {} i; give a real or an imaginary one",
                                              what.factor.real(), what.factor.imag()));
    if (static_cast<std::int64_t>(v.size()) != halo.box().points())
      throw core::InvalidArgument(
          fmt::format("the potential has {} values where this process has {} points; give one a point", v.size(),
                      halo.box().points()));
    if (out == in && blocks > 0)
      throw core::InvalidArgument("the result was to go where the orbitals stand; give other memory");
    const double f = imaginary ? what.factor.imag() : what.factor.real();
    Pass pass;
    pass.out = out;
    pass.in = in;
    pass.base = what.base;
    pass.v = v.data();
    detail::Form form{0, imaginary, what.base != nullptr, current};
    detail::Weights& w = pass.weights;
    w.potential = f;
    w.centre = f * (kinetic_centre(grid, q) - what.shift);
    w.slope = slope_weights;
    w.base = what.base_factor;
    for (std::size_t a = 0; a < 3; ++a) {
      const double h = grid.spacing[a];
      for (std::size_t j = 0; j < stencil_reach; ++j) w.curvature[a][j] = -0.5 * f * curvature_weights[j] / (h * h);
      w.q[a] = f * q[a] / h;
      if (q[a] != 0 || current) form.slopes |= 1 << a;
    }
    pass.kernel = detail::kernel_for(form);
    pass.gradient = gradient;
    run(pass, blocks);
  }

  /// A pass of a kernel of slopes. @param component  see detail::Row
  Pass slopes_pass(const double* in, std::int64_t component, detail::RowKernel kernel) const {
    Pass pass;
    pass.in = in;
    pass.component = component;
    pass.weights.slope = slope_weights;
    for (std::size_t a = 0; a < 3; ++a) pass.weights.q[a] = 1 / grid.spacing[a];
    pass.kernel = kernel;
    return pass;
  }

  /// A pass over scalar fields. @param each  scalars of `out` for each field
  void run_fields(std::span<double> out, const double* in, int fields, int each,
                  const std::array<detail::RowKernel, 2>& kernels) {
    const std::int64_t points = halo.box().points();
    if (fields < 1 || fields > 2 || static_cast<std::int64_t>(out.size()) != fields * each * points)
      throw core::InvalidArgument(fmt::format(
          "derivatives of {} fields on {} points were to fill {} numbers; give 1 or 2 fields and {} numbers "
          "for each and each point",
          fields, points, out.size(), each));
    Pass pass = slopes_pass(in, points, kernels[static_cast<std::size_t>(fields - 1)]);
    pass.field = out.data();
    run(pass, 1);
  }
};

Stencil::Stencil(const Decomposition& decomposition, const std::string& transport)
    : state_(std::make_unique<State>(decomposition, transport)) {}
Stencil::Stencil(Stencil&&) noexcept = default;
Stencil::~Stencil() = default;

void Stencil::begin(const double* in) { state_->begin(in); }

void Stencil::apply(double* out, const double* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
                    const Combination& what) {
  const core::Region region("stencil");
  state_->apply(out, in, blocks, v, q, what);
}

void Stencil::apply_with_current(double* out, const double* in, std::int64_t blocks, std::span<const double> v,
                                 const Vec3& q, const Combination& what, std::span<double> gradient) {
  const core::Region region("stencil with current");
  state_->check_gradient(gradient, blocks);
  state_->apply(out, in, blocks, v, q, what, gradient);
}

void Stencil::current(const double* in, std::int64_t blocks, std::span<double> gradient) {
  const core::Region region("stencil current");
  state_->check_gradient(gradient, blocks);
  Pass pass;
  pass.in = in;
  pass.weights.slope = slope_weights;
  pass.kernel = &detail::current_row;
  pass.gradient = gradient;
  state_->run(pass, blocks);
}

void Stencil::add_density_gradient(std::span<double> gradient, double* slopes, const double* in,
                                   std::span<const double, orbital_lanes> factors, std::span<const Range> kept) {
  const core::Region region("stencil density gradient");
  if (slopes == in) throw core::InvalidArgument("the slopes were to go where the orbitals stand; give other memory");
  const Box& box = state_->halo.box();
  if (static_cast<std::int64_t>(gradient.size()) != 3 * box.points() ||
      static_cast<std::int64_t>(kept.size()) != box.extent[1] * box.extent[2])
    throw core::InvalidArgument(
        fmt::format("a gradient of {} numbers and {} rows given for {} x {} x {} points; give three numbers for each "
                    "point, and the rows along x",
                    gradient.size(), kept.size(), box.extent[0], box.extent[1], box.extent[2]));
  std::array<double, doubles_per_point> twice{};
  for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = 2 * factors[i / 2];
  Pass pass = state_->slopes_pass(in, state_->block_doubles(), &detail::density_gradient_row);
  pass.out = slopes;
  pass.field = gradient.data();
  pass.factors = twice.data();
  pass.kept = kept.data();
  state_->run(pass, 1);
}

void Stencil::gradient(std::span<double> out, const double* in, int fields) {
  const core::Region region("stencil fields");
  state_->run_fields(out, in, fields, 3, {&detail::gradient_row<1>, &detail::gradient_row<2>});
}

void Stencil::divergence(std::span<double> out, const double* in, int fields) {
  const core::Region region("stencil fields");
  state_->run_fields(out, in, fields, 1, {&detail::divergence_row<1>, &detail::divergence_row<2>});
}

}  // namespace halocline::tddft
