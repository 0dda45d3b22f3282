// SPDX-License-Identifier: Apache-2.0
/// @file
/// The fast stencil: rows of points through the kernels of detail/kernels.hpp, tile by tile, block by block.
#include "halocline/tddft/stencil/stencil.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/stencil/tiles.hpp"
#include "halocline/tddft/stencil/walk.hpp"

namespace halocline::tddft {
namespace {

/// Blocks as the lines that a pass moves.
template <class T>
double* lines(T* block) {
  return reinterpret_cast<double*>(block);
}
template <class T>
const double* lines(const T* block) {
  return reinterpret_cast<const double*>(block);
}

}  // namespace

struct Stencil::State {
  Grid grid;
  std::vector<Direction> directions;  ///< axes and diagonals
  std::array<Vec3, 6> gradients{};    ///< the gradient is the sum over directions of these times the slope
  detail::SlopeKernels slopes;
  Box box;
  std::optional<HaloRows> halo;        ///< orthogonal axes
  std::optional<PaddedBlocks> padded;  ///< others
  /// Tiles of the interior, then of the faces; and the number of the former.
  struct Tiling {
    std::vector<Box> tiles;
    std::size_t interior = 0;
  };
  Tiling uniform, local;  ///< for a momentum that depends on the place, with room for its links in the cache
  std::vector<Scratch> scratch;
  core::AlignedArray<double> momenta;    ///< a block for set_momentum()
  std::array<const double*, 2> begun{};  ///< blocks whose halo exchanges are in progress, the older first

  State(const Decomposition& decomposition, const std::string& transport)
      : grid(decomposition.grid()), directions(laplacian_directions(grid)), box(decomposition.box()) {
    const std::array<Vec3, 3> steps = grid.steps();
    for (std::size_t d = 0; d < directions.size(); ++d) {
      const auto& n = directions[d].steps;
      gradients[d] = combined({double(n[0]), double(n[1]), double(n[2])}, steps);
      for (double& component : gradients[d]) component *= directions[d].weight;
    }
    if (grid.skew()) {
      padded.emplace(decomposition, transport);
      uniform.tiles = tiles_of(Box{{}, box.extent}, box.extent);
      uniform.interior = uniform.tiles.size();
    } else {
      halo.emplace(decomposition, transport);
      uniform = tiling(0);
      // The links along all axes of a plane, and those along z of the four planes before it.
      local = needs_window(box.extent) ? tiling(7.0 * links_per_axis / doubles_per_point) : uniform;
    }
    slopes = detail::slope_kernels(grid.skew());
    reserve(1);
  }

  Tiling tiling(double beside) const {
    Tiling result{tiles_of(halo->interior(), box.extent, beside), 0};
    result.interior = result.tiles.size();
    for (const Box& face : halo->faces())
      for (const Box& tile : tiles_of(face, box.extent, beside)) result.tiles.push_back(tile);
    return result;
  }
  const Tiling& tiling_of(const Pass& pass) const { return pass.local != nullptr ? local : uniform; }

  std::int64_t block_doubles() const { return box.points() * doubles_per_point; }

  /// Provides scratch for `threads` threads. Allocates only if there are more than ever before.
  void reserve(int threads) {
    while (static_cast<int>(scratch.size()) < threads) {
      if (padded) {
        scratch.emplace_back(padded->rows(), uniform.tiles);
      } else {
        scratch.emplace_back(box, uniform.tiles, needs_window(box.extent));
        halo->fill(scratch.back().near, nullptr);
      }
    }
  }

  /// Computes one tile. @param from  the scratch with the tables or the copy of the block
  void compute_tile(const Pass& pass, std::size_t tile, const Scratch& from, Scratch& mine, double* products) {
    if (padded)
      walk(pass, padded->rows(), from.copy.data(), directions, uniform.tiles[tile], products);
    else
      walk(pass, from.near, box, tiling_of(pass).tiles[tile], mine, products);
  }

  /// Makes a block of one process ready for its tiles.
  void prepare(Scratch& one, const double* in) {
    if (padded)
      padded->fill(one.copy.data(), in);
    else
      halo->fill(one.near, in);
  }

  /// Computes the tiles [begin, end) of a block with several threads. With `gradient`, leaves their products in scratch
  /// 0.
  void compute(const Pass& pass, std::size_t begin, std::size_t end, int threads) {
    const auto count = static_cast<std::int64_t>(end - begin);
    if (threads == 1 || count < 2) {
      for (std::size_t t = begin; t < end; ++t) {
        compute_tile(pass, t, scratch[0], scratch[0], products_of(pass, scratch[0], t));
        if (pass.between != nullptr) (*pass.between)();
      }
      return;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t t = begin + static_cast<std::size_t>(i);
      Scratch& mine = scratch[static_cast<std::size_t>(omp_get_thread_num())];
      compute_tile(pass, t, scratch[0], mine, products_of(pass, scratch[0], t));
    }
    if (pass.between != nullptr) (*pass.between)();
  }

  /// Sums over the tiles in a fixed order.
  void reduce(const Pass& pass, std::int64_t block, Scratch& from) const {
    if (pass.gradient.empty()) return;
    for (int lane = 0; lane < pass.lanes; ++lane) {
      Vec3 sum{};
      for (std::size_t d = 0; d < directions.size(); ++d) {
        double along = 0;
        for (std::size_t t = 0; t < uniform.tiles.size(); ++t) {
          const double* product =
              from.products_of(t) + static_cast<std::int64_t>(d) * detail::most_products + std::ptrdiff_t{2} * lane;
          along += product[0] - product[1];
        }
        for (std::size_t c = 0; c < 3; ++c) sum[c] += along * gradients[d][c];
      }
      std::ranges::copy(sum, pass.gradient.begin() + (block * pass.lanes + lane) * 3);
    }
  }

  /// Where a tile's sums go; kernels of a local momentum have none.
  static double* products_of(const Pass& pass, Scratch& one, std::size_t tile) {
    return pass.local != nullptr ? nullptr : one.products_of(tile);
  }

  static void clear(const Pass& pass, Scratch& one) {
    if (!pass.gradient.empty()) std::ranges::fill(one.products.span(), 0.0);
  }

  /// Computes blocks whose halo is not exchanged meanwhile: one for each thread if there are several and no process
  /// waits for another.
  void run_alone(const Pass& pass, std::int64_t blocks, int threads) {
    if (threads == 1 || blocks < 2 || (padded && padded->split())) {
      for (std::int64_t b = 0; b < blocks; ++b) {
        const Pass block = pass.at(b * block_doubles());
        clear(pass, scratch[0]);
        prepare(scratch[0], block.in);
        compute(block, 0, tiling_of(pass).tiles.size(), threads);
        reduce(pass, b, scratch[0]);
      }
      return;
    }
    // Dynamic: on a busy machine a thread may get less of its core than the others.
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (std::int64_t b = 0; b < blocks; ++b) {
      Scratch& mine = scratch[static_cast<std::size_t>(omp_get_thread_num())];
      const Pass block = pass.at(b * block_doubles());
      clear(pass, mine);
      prepare(mine, block.in);
      for (std::size_t t = 0; t < tiling_of(pass).tiles.size(); ++t)
        compute_tile(block, t, mine, mine, products_of(pass, mine, t));
      reduce(pass, b, mine);
    }
    if (pass.between != nullptr) (*pass.between)();
  }

  void begin(const double* in) {
    if (!halo || !halo->split()) return;
    if (halo->under_way() == 2)
      throw core::InvalidArgument("the halos of two blocks are under way; apply() one of them before the next begin()");
    begun[static_cast<std::size_t>(halo->under_way())] = in;
    halo->begin(in);
  }

  /// Computes the interior of a block while its halo exchange and that of the next block are in progress.
  void run_split(const Pass& pass, std::int64_t blocks, int threads) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Pass block = pass.at(b * block_doubles());
      if (halo->under_way() == 0) begin(block.in);
      if (begun[0] != block.in)
        throw core::InvalidArgument("the halo of another block was begun; apply() blocks in the order of begin()");
      if (b + 1 < blocks && halo->under_way() == 1) begin(block.in + block_doubles());
      clear(pass, scratch[0]);
      halo->fill(scratch[0].near, block.in);
      compute(block, 0, tiling_of(pass).interior, threads);
      {
        const core::Region region("stencil/wait for halo");
        halo->finish();
      }
      begun[0] = begun[1];
      halo->fill(scratch[0].near, block.in);
      compute(block, tiling_of(pass).interior, tiling_of(pass).tiles.size(), threads);
      reduce(pass, b, scratch[0]);
    }
  }

  void run(const Pass& pass, std::int64_t blocks) {
    // Points times blocks above which waking threads pays: some hundred microseconds of work, twice the time to wake a
    // sleeping thread on a virtual machine.
    constexpr std::int64_t work_for_threads = 4096;
    const bool little = box.points() * blocks < work_for_threads;
    const int threads = little || omp_in_parallel() ? 1 : omp_get_max_threads();
    reserve(threads);
    if (halo && halo->split())
      run_split(pass, blocks, threads);
    else
      run_alone(pass, blocks, threads);
  }

  static void check_gradient(std::span<double> gradient, std::int64_t blocks, int lanes) {
    if (static_cast<std::int64_t>(gradient.size()) != blocks * lanes * 3)
      throw core::InvalidArgument(fmt::format("the gradient of {} blocks has {} numbers, not {}; give (blocks, {}, 3)",
                                              blocks, blocks * lanes * 3, gradient.size(), lanes));
  }

  void check_fields(std::size_t numbers, std::size_t fields) const {
    if (numbers != fields * static_cast<std::size_t>(box.points()))
      throw core::InvalidArgument(fmt::format("{} numbers of fields given where {} fields on {} points are expected",
                                              numbers, fields, box.points()));
  }

  /// The part of a factor that is not zero.
  static double part_of_factor(std::complex<double> factor) {
    if (factor.imag() != 0 && factor.real() != 0)
      throw core::InvalidArgument(
          fmt::format("the factor is {} + {} i; give a real or an imaginary one", factor.real(), factor.imag()));
    return factor.imag() != 0 ? factor.imag() : factor.real();
  }

  template <class T>
  void apply(T* out, const T* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
             const CombinationOf<T>& what, std::span<double> gradient = {}) {
    const bool current = !gradient.empty();
    const bool imaginary = what.factor.imag() != 0;
    const double f = part_of_factor(what.factor);
    if (static_cast<std::int64_t>(v.size()) != box.points())
      throw core::InvalidArgument(fmt::format(
          "the potential has {} values where this process has {} points; give one a point", v.size(), box.points()));
    if (out == in && blocks > 0)
      throw core::InvalidArgument("the result was to go where the orbitals stand; give other memory");
    Pass pass;
    pass.out = lines(out);
    pass.in = lines(in);
    pass.base = lines(what.base);
    pass.v = v.data();
    pass.lanes = lanes_of<T>;
    detail::Form form{0, imaginary, what.base != nullptr, current, grid.skew(), std::is_same_v<T, float>};
    detail::Weights& w = pass.weights;
    w.potential = f;
    w.centre = f * (kinetic_centre(directions, q) - what.shift);
    w.slope = slope_weights;
    w.base = what.base_factor;
    w.directions = static_cast<int>(directions.size());
    for (std::size_t d = 0; d < directions.size(); ++d) {
      for (std::size_t j = 0; j < stencil_reach; ++j)
        w.curvature[d][j] = -0.5 * f * directions[d].weight * curvature_weights[j];
      w.q[d] = f * dot(q, gradients[d]);
      if (d < 3 && (w.q[d] != 0 || current)) form.slopes |= 1 << d;
    }
    if (form.skew && q != Vec3{}) form.slopes = 7;
    pass.kernel = detail::kernel_for(form);
    pass.gradient = gradient;
    run(pass, blocks);
  }

  void check_local() const {
    if (grid.skew())
      throw core::InvalidArgument(
          "a vector potential that depends on the place was given on axes that are not orthogonal; take an orthogonal "
          "cell");
  }

  void set_momentum(LocalMomentum& to, std::span<const double> q) {
    check_local();
    check_fields(q.size(), 3);
    check_fields(to.energies().size(), 1);
    const std::int64_t points = box.points();
    if (momenta.size() != block_doubles()) momenta = core::AlignedArray<double>(block_doubles());
    double* block = momenta.data();
#pragma omp parallel for schedule(static) if (points > 4096)
    for (std::int64_t i = 0; i < points; ++i)
      for (std::int64_t a = 0; a < 3; ++a)
        block[i * doubles_per_point + a] = q[static_cast<std::size_t>(a * points + i)];
    if (halo->under_way() != 0)
      throw core::InvalidArgument("the halo of a block is under way; apply() it before set_momentum()");
    halo->begin(block);
    halo->finish();
    Neighbourhood near;
    halo->fill(near, block);
    to.set(block, near);
  }

  void apply_local(double* out, const double* in, std::int64_t blocks, std::span<const double> v,
                   const LocalMomentum& q, const Combination& what) {
    check_local();
    check_fields(v.size(), 1);
    check_fields(q.energies().size(), 1);
    if (out == in && blocks > 0)
      throw core::InvalidArgument("the result was to go where the orbitals stand; give other memory");
    const double f = part_of_factor(what.factor);
    Pass pass;
    pass.out = out;
    pass.in = in;
    pass.base = what.base;
    pass.v = v.data();
    pass.local = &q;
    detail::Weights& w = pass.weights;
    w.potential = f;
    w.centre = f * (kinetic_centre(directions, {}) - what.shift);
    w.base = what.base_factor;
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t j = 0; j < stencil_reach; ++j)
        w.curvature[d][j] = -0.5 * f * directions[d].weight * curvature_weights[j];
    pass.kernel = detail::local_kernel(what.factor.imag() != 0, what.base != nullptr);
    run(pass, blocks);
  }

  /// A pass of a kernel of slopes. @param component  see detail::Row
  Pass slopes_pass(const double* in, std::int64_t component, detail::RowKernel kernel) const {
    Pass pass;
    pass.in = in;
    pass.component = component;
    pass.weights.slope = slope_weights;
    pass.weights.gradient = gradients;
    pass.weights.directions = static_cast<int>(directions.size());
    pass.kernel = kernel;
    return pass;
  }

  /// A pass over scalar fields. @param each  scalars of `out` for each field
  void run_fields(std::span<double> out, const double* in, int fields, int each,
                  const std::array<detail::RowKernel, 2>& kernels) {
    const std::int64_t points = box.points();
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

template <class T>
void Stencil::begin(const T* in) {
  state_->begin(lines(in));
}

template <class T>
void Stencil::apply(T* out, const T* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
                    const CombinationOf<T>& what) {
  const core::Region region("stencil");
  state_->apply(out, in, blocks, v, q, what);
}

template <class T>
void Stencil::apply_with_current(T* out, const T* in, std::int64_t blocks, std::span<const double> v, const Vec3& q,
                                 const CombinationOf<T>& what, std::span<double> gradient) {
  const core::Region region("stencil with current");
  State::check_gradient(gradient, blocks, lanes_of<T>);
  state_->apply(out, in, blocks, v, q, what, gradient);
}

template <class T>
void Stencil::current(const T* in, std::int64_t blocks, std::span<double> gradient,
                      const std::function<void()>& between) {
  const core::Region region("stencil current");
  State::check_gradient(gradient, blocks, lanes_of<T>);
  Pass pass;
  pass.in = lines(in);
  pass.lanes = lanes_of<T>;
  pass.weights.slope = slope_weights;
  pass.weights.directions = static_cast<int>(state_->directions.size());
  pass.kernel = state_->slopes.current[std::is_same_v<T, float> ? 1 : 0];
  pass.gradient = gradient;
  if (between) pass.between = &between;
  state_->run(pass, blocks);
}

LocalMomentum Stencil::local_momentum(std::span<const double> q) {
  state_->check_local();
  LocalMomentum momentum(state_->grid, state_->box);
  set_momentum(momentum, q);
  return momentum;
}

void Stencil::set_momentum(LocalMomentum& momentum, std::span<const double> q) {
  const core::Region region("stencil local momentum");
  state_->set_momentum(momentum, q);
}

void Stencil::apply_local(double* out, const double* in, std::int64_t blocks, std::span<const double> v,
                          const LocalMomentum& q, const Combination& what) {
  const core::Region region("stencil");
  state_->apply_local(out, in, blocks, v, q, what);
}

void Stencil::add_current_density(std::span<double> current, const double* in,
                                  std::span<const double, orbital_lanes> factors, const Vec3& k) {
  const core::Region region("stencil current density");
  state_->check_local();
  state_->check_fields(current.size(), 3);
  std::array<double, doubles_per_point> twice{};
  for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = factors[i / 2];
  Pass pass = state_->slopes_pass(in, state_->block_doubles(), detail::current_density_kernel());
  pass.field = current.data();
  pass.factors = twice.data();
  pass.weights.momentum = k;
  state_->run(pass, 1);
}

void Stencil::add_density_gradient(std::span<double> gradient, double* slopes, const double* in,
                                   std::span<const double, orbital_lanes> factors, std::span<const Range> kept,
                                   std::span<double> current) {
  const core::Region region("stencil density gradient");
  if (!current.empty()) State::check_gradient(current, 1, orbital_lanes);
  if (slopes == in) throw core::InvalidArgument("the slopes were to go where the orbitals stand; give other memory");
  const Box& box = state_->box;
  if (static_cast<std::int64_t>(gradient.size()) != 3 * box.points() ||
      static_cast<std::int64_t>(kept.size()) != box.extent[1] * box.extent[2])
    throw core::InvalidArgument(
        fmt::format("a gradient of {} numbers and {} rows given for {} x {} x {} points; give three numbers for each "
                    "point, and the rows along x",
                    gradient.size(), kept.size(), box.extent[0], box.extent[1], box.extent[2]));
  std::array<double, doubles_per_point> twice{};
  for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = 2 * factors[i / 2];
  Pass pass = state_->slopes_pass(in, state_->block_doubles(), state_->slopes.density_gradient);
  pass.out = slopes;
  pass.field = gradient.data();
  pass.factors = twice.data();
  pass.kept = kept.data();
  pass.gradient = current;
  pass.lanes = orbital_lanes;
  state_->run(pass, 1);
}

void Stencil::add_kinetic(std::span<double> fields, const double* in, std::span<const double, orbital_lanes> factors) {
  const core::Region region("stencil kinetic energy density");
  state_->check_fields(fields.size(), kinetic_sums);
  std::array<double, doubles_per_point> twice{};
  for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = factors[i / 2];
  Pass pass = state_->slopes_pass(in, state_->block_doubles(), state_->slopes.kinetic);
  pass.field = fields.data();
  pass.factors = twice.data();
  state_->run(pass, 1);
}

void Stencil::add_kinetic_operator(double* out, const double* in, std::span<const double> fields, const Vec3& q,
                                   std::complex<double> factor, double* scratch) {
  const core::Region region("stencil kinetic operator");
  state_->check_fields(fields.size(), kinetic_fields);
  const double f = State::part_of_factor(factor);
  if (out == in) throw core::InvalidArgument("the result was to go where the orbitals stand; give other memory");
  const std::int64_t block = state_->block_doubles();
  Pass inner = state_->slopes_pass(in, block, state_->slopes.kinetic_inner);
  inner.out = scratch;
  inner.v = fields.data();
  inner.weights.momentum = q;
  state_->run(inner, 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Pass outer = state_->slopes_pass(scratch + static_cast<std::int64_t>(axis) * block, block,
                                     state_->slopes.kinetic_outer[factor.imag() != 0 ? 1 : 0][axis]);
    outer.out = out;
    outer.v = fields.data();
    outer.weights.momentum = q;
    outer.weights.potential = f;
    if (axis == 0) outer.base = scratch + 3 * block;
    state_->run(outer, 1);
  }
}

void Stencil::gradient(std::span<double> out, const double* in, int fields) {
  const core::Region region("stencil fields");
  state_->run_fields(out, in, fields, 3, state_->slopes.gradient);
}

void Stencil::divergence(std::span<double> out, const double* in, int fields) {
  const core::Region region("stencil fields");
  state_->run_fields(out, in, fields, 1, state_->slopes.divergence);
}

template void Stencil::begin(const double*);
template void Stencil::begin(const float*);
template void Stencil::apply(double*, const double*, std::int64_t, std::span<const double>, const Vec3&,
                             const CombinationOf<double>&);
template void Stencil::apply(float*, const float*, std::int64_t, std::span<const double>, const Vec3&,
                             const CombinationOf<float>&);
template void Stencil::apply_with_current(double*, const double*, std::int64_t, std::span<const double>, const Vec3&,
                                          const CombinationOf<double>&, std::span<double>);
template void Stencil::apply_with_current(float*, const float*, std::int64_t, std::span<const double>, const Vec3&,
                                          const CombinationOf<float>&, std::span<double>);
template void Stencil::current(const double*, std::int64_t, std::span<double>, const std::function<void()>&);
template void Stencil::current(const float*, std::int64_t, std::span<double>, const std::function<void()>&);

}  // namespace halocline::tddft
