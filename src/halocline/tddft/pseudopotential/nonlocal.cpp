// SPDX-License-Identifier: Apache-2.0
/// @file
/// The nonlocal part: its steps, the sums over processes, and the quantities derived from the projections.
///
/// Let S_j = sum over points p_j exp(i q d) psi, where d = r - R is counted across the faces of the cell (exp(i q R) is
/// common to an atom's projectors and drops out), dV the volume of a point, and c = h S. Then
///   V psi    = dV exp(-i q d) sum_j p_j c_j
///   <V>      = dV^2 sum_j Re conj(c_j) S_j
///   velocity = i <[V, r]>. With b_j = <p_j exp(-i q d)| d psi>, and d for r since R commutes,
///              i sum h_ij (conj(a_i) b_j - conj(b_i) a_j) = -2 Im sum_j conj(c_j) b_j, a = dV S
///              = -2 dV^2 sum_points d Im conj(sum_j p_j c_j) (exp(i q d) psi).
///              It is d<V>/dq at fixed psi, because da_j/dq = i b_j.
///   force    = -d<V>/dR. Moving an atom against the orbitals is equivalent to moving the orbitals against the atom.
///              So the derivative is taken from the orbitals, which the grid resolves better than the projectors:
///              = -2 dV^2 sum_j Re conj(c_j) T_j with T_j = sum over points p_j exp(i q d) grad psi. (The orbital is
///              exp(i q r) psi, whose gradient has the additional term i q psi; it gives i q <V>, which has no real
///              part.)
/// So the velocity needs the projections that V needs, and one more pass over the points; forces need only projections.
///
/// If a sphere is split, S is the sum over the ranks that hold points of it. Atoms with the same ranks share a group,
/// and all their sums, for all blocks of a call, are one message. All ranks wait for the groups in the same order.

#include "halocline/tddft/pseudopotential/nonlocal.hpp"

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/detail/local_potential.hpp"
#include "halocline/tddft/pseudopotential/detail/nonlocal_kernels.hpp"
#include "halocline/tddft/pseudopotential/detail/projector_spheres.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <omp.h>
#include <set>
#include <type_traits>

namespace halocline::tddft {
namespace {

using detail::Lines;
using detail::Shape;
using detail::Sphere;

using Ranks = std::vector<int>;

/// The atoms that the same ranks share. On this process they are consecutive spheres, hence consecutive sums.
struct Team {
  comm::Communicator group;
  std::size_t begin = 0, end = 0;  ///< spheres
  comm::PendingSum pending;
};

/// Points times blocks above which waking threads pays: some hundred microseconds of work, twice the time to wake a
/// sleeping thread on a virtual machine.
constexpr std::int64_t work_for_threads = 4096;

}  // namespace

struct Nonlocal::State {
  State(const System& system, const Decomposition& decomposition);

  void place(const System& system, const Decomposition& decomposition);
  void make_groups();
  void make_teams();
  template <class T>
  void begin(std::int64_t channel, const T* in, std::int64_t blocks);
  template <class T>
  void project(std::int64_t channel, const T* in, std::int64_t blocks);
  void begin_sums();
  void wait();
  /// c = factor h S for spheres [from, to), all blocks.
  void couple(std::size_t from, std::size_t to, std::complex<double> factor);
  void couple_one(std::size_t s, std::int64_t block, std::complex<double> factor);
  template <class T>
  void add(T* out, std::size_t from, std::size_t to) const;
  void prepare_floats(std::size_t channel);

  const Shape& shape_of(std::size_t s) const { return all.shapes[at(all.spheres[s].shape)]; }
  /// The sums or coefficients of a sphere and block, shape (projectors, lanes, 2).
  std::int64_t line(std::size_t s, std::int64_t block) const {
    return numbers * (first[s] * blocks_under_way + block * shape_of(s).count);
  }
  template <class T>
  detail::SphereView<T> view(std::size_t s) const {
    const Shape& shape = shape_of(s);
    const auto with = [&](const core::AlignedArray<T>& values, const std::vector<core::AlignedArray<T>>& of_channels) {
      const bool turned = phased[at(channel_under_way)] != 0;
      const std::int64_t first_point = local ? local_first[s] : shape.first_point;
      const T* phase = turned ? of_channels[at(channel_under_way)].data() + 2 * first_point : nullptr;
      return detail::SphereView<T>{all.spheres[s].index.data(), values.data(), shape.count, phase};
    };
    if constexpr (std::is_same_v<T, float>)
      return with(float_values[at(all.spheres[s].shape)], float_phases);
    else
      return with(shape.values, phases);
  }
  /// Runs action(n, phased, first, view) for the projectors of a sphere, at most eight at a time.
  template <class T, class Action>
  void for_projectors(std::size_t s, Action&& action) const {
    const detail::SphereView<T> all_of = view<T>(s);
    detail::for_projectors(shape_of(s).count, all_of.phases != nullptr, [&](int first_here, auto n, auto with_phase) {
      detail::SphereView<T> part = all_of;
      part.values += first_here;
      action(n, with_phase, first_here, part);
    });
  }
  template <class T>
  const T* block_of(std::int64_t block) const {
    assert(numbers == numbers_per_point<T>);
    return static_cast<const T*>(in_under_way) + block * points * numbers_per_point<T>;
  }

  Grid grid;
  comm::Communicator space;
  std::int64_t points, planes;
  bool empty = true;
  detail::ProjectorSpheres all;
  std::set<Ranks> known;                       ///< sets of ranks that have shared an atom; the same on all ranks
  std::map<Ranks, comm::Communicator> groups;  ///< of those sets with this rank
  std::vector<std::int64_t> first;             ///< number of projectors of the spheres before each sphere
  std::int64_t points_near_atoms = 0;          ///< sum over all spheres
  std::vector<Range> near_rows;                ///< see Nonlocal::near_rows()
  std::vector<Vec3> positions;                 ///< of the atoms [bohr]
  std::size_t whole = 0;                       ///< spheres before this index are entirely on this process
  std::vector<char> counted_here;              ///< whether this rank is the first of those that share the sphere

  std::vector<Vec3> q;                             ///< of each local channel
  std::vector<char> phased;                        ///< q is not zero
  std::vector<core::AlignedArray<double>> phases;  ///< of each local channel, (phase_points, 2)
  /// For orbitals in float, made when they are first given: the projectors of each shape, the phases of each channel,
  /// and whether these are those of its q.
  std::vector<core::AlignedArray<float>> float_values, float_phases;
  std::vector<char> float_phased;
  /// A vector potential that depends on the place: every sphere has phases of its own, from these points on.
  bool local = false;
  std::vector<std::int64_t> local_first;
  std::vector<detail::LinearFit> fits;  ///< of each atom; made when first needed

  std::int64_t channel_under_way = 0, blocks_under_way = 0;
  const void* in_under_way = nullptr;
  int numbers = doubles_per_point;  ///< of a point of the blocks in progress
  core::AlignedArray<double> sums, coefficients;
  core::AlignedArray<double> complete;  ///< forces: coefficients of the orbitals, while the slopes are projected
  std::vector<Team> teams;  ///< declared after `sums`, so that an unfinished sum ends before its memory is freed
};

Nonlocal::State::State(const System& system, const Decomposition& decomposition)
    : grid(decomposition.grid()),
      space(decomposition.space()),
      points(decomposition.box().points()),
      planes(decomposition.box().extent[2]) {
  const auto channels = at(decomposition.channels().size());
  q.resize(channels);
  phased.resize(channels);
  phases.resize(channels);
  float_phases.resize(channels);
  float_phased.resize(channels);
  place(system, decomposition);
}

/// Makes the spheres of all atoms where they are now.
void Nonlocal::State::place(const System& system, const Decomposition& decomposition) {
  all = detail::make_spheres(system, decomposition);
  float_values.clear();
  fits.clear();
  local = false;
  empty = true;
  positions.clear();
  for (const Atom& atom : system.atoms) {
    empty = empty && all.species[at(atom.species)].count == 0;
    positions.push_back(atom.position);
  }
  make_groups();
  make_teams();
  first.clear();
  points_near_atoms = 0;
  for (std::size_t s = 0; s < all.spheres.size(); ++s) {
    first.push_back(s == 0 ? 0 : first[s - 1] + shape_of(s - 1).count);
    points_near_atoms += shape_of(s).points;
  }
  const auto nx = static_cast<std::int32_t>(decomposition.box().extent[0]);
  near_rows.assign(at(decomposition.box().extent[1] * planes), Range{});
  for (const Sphere& sphere : all.spheres)
    for (const std::int32_t index : sphere.index) {
      Range& row = near_rows[at(index / nx)];
      const std::int64_t x = index % nx;  // in 32 bits, because division is slow
      row = row.size() == 0 ? Range{x, x + 1} : Range{std::min(row.begin, x), std::max(row.end, x + 1)};
    }
  std::ranges::fill(q, Vec3{});
  std::ranges::fill(phased, char{0});
  std::ranges::fill(float_phased, char{0});
}

/// A communicator for each new set of ranks that share an atom.
void Nonlocal::State::make_groups() {
  // In an order that is the same on all ranks.
  std::set<Ranks> fresh;
  for (const Ranks& ranks : all.ranks_of_atom)
    if (ranks.size() > 1 && known.insert(ranks).second) fresh.insert(ranks);

  // Sets without a common rank share one call of split.
  std::vector<std::vector<const Ranks*>> rounds;
  for (const Ranks& ranks : fresh) {
    const auto disjoint = [&own = ranks](const auto& round) {
      return std::ranges::none_of(
          round, [&](const Ranks* other) { return std::ranges::find_first_of(*other, own) != other->end(); });
    };
    auto round = std::ranges::find_if(rounds, disjoint);
    if (round == rounds.end()) round = rounds.insert(round, std::vector<const Ranks*>{});
    round->push_back(&ranks);
  }
  for (const auto& round : rounds) {
    int colour = 0;
    for (std::size_t i = 0; i < round.size(); ++i)
      if (std::ranges::binary_search(*round[i], space.rank())) colour = static_cast<int>(i) + 1;
    const comm::Communicator group = space.split(colour, space.rank());
    if (colour > 0) groups.emplace(*round[at(colour - 1)], group);
  }
}

/// Orders the spheres: those that are entirely on this process first, then those of each set of ranks.
void Nonlocal::State::make_teams() {
  std::vector<Sphere> ordered;
  for (Sphere& sphere : all.spheres)
    if (all.ranks_of_atom[at(sphere.atom)].size() == 1) ordered.push_back(std::move(sphere));
  whole = ordered.size();
  counted_here.assign(whole, 1);
  teams.clear();
  for (const auto& [ranks, group] : groups) {
    Team team{group, ordered.size(), ordered.size(), {}};
    for (Sphere& sphere : all.spheres)
      if (all.ranks_of_atom[at(sphere.atom)] == ranks) ordered.push_back(std::move(sphere));
    team.end = ordered.size();
    counted_here.resize(team.end, group.rank() == 0 ? 1 : 0);
    if (team.end > team.begin) teams.push_back(std::move(team));
  }
  all.spheres = std::move(ordered);
}

/// Makes projectors and phases in float.
void Nonlocal::State::prepare_floats(std::size_t channel) {
  const auto convert = [](core::AlignedArray<float>& to, const core::AlignedArray<double>& from) {
    if (to.size() != from.size()) to = core::AlignedArray<float>(from.size());
    std::ranges::transform(from.span(), to.span().begin(), [](double x) { return static_cast<float>(x); });
  };
  if (float_values.empty()) {
    float_values.resize(all.shapes.size());
    for (std::size_t shape = 0; shape < all.shapes.size(); ++shape)
      convert(float_values[shape], all.shapes[shape].values);
  }
  if (phased[channel] == 0 || float_phased[channel] != 0) return;
  convert(float_phases[channel], phases[channel]);
  float_phased[channel] = 1;
}

template <class T>
void Nonlocal::State::begin(std::int64_t channel, const T* in, std::int64_t blocks) {
  project(channel, in, blocks);
  begin_sums();
}

/// Sums over the points of this process.
template <class T>
void Nonlocal::State::project(std::int64_t channel, const T* in, std::int64_t blocks) {
  numbers = numbers_per_point<T>;
  channel_under_way = channel;
  blocks_under_way = blocks;
  in_under_way = in;
  const std::size_t spheres = all.spheres.size();
  if (spheres == 0) return;
  if constexpr (std::is_same_v<T, float>) prepare_floats(at(channel));
  const std::int64_t lines = numbers_per_point<T> * blocks * (first.back() + shape_of(spheres - 1).count);
  if (sums.size() < lines) sums = core::AlignedArray<double>(lines);
  if (coefficients.size() < lines) coefficients = core::AlignedArray<double>(lines);
  const auto work = static_cast<std::int64_t>(spheres) * blocks;
#pragma omp parallel for schedule(static) if (points_near_atoms * blocks >= work_for_threads)
  for (std::int64_t i = 0; i < work; ++i) {
    // All spheres of a block before the next block, because the caller has just written the block: it is in the cache.
    const std::size_t s = at(i) % spheres;
    const std::int64_t block = i / static_cast<std::int64_t>(spheres);
    for_projectors<T>(s, [&](auto n, auto with_phase, int first_here, const detail::SphereView<T>& part) {
      detail::project_some<n, with_phase, T>(sums.data() + line(s, block) + numbers_per_point<T> * first_here,
                                             block_of<T>(block), part, shape_of(s).padded);
    });
  }
}

void Nonlocal::State::begin_sums() {
  for (Team& team : teams) {
    const std::int64_t from = line(team.begin, 0),
                       to = line(team.end - 1, blocks_under_way - 1) + numbers * shape_of(team.end - 1).count;
    team.pending = team.group.begin_sum({sums.data() + from, at(to - from)});
  }
}

void Nonlocal::State::wait() {
  for (Team& team : teams) team.pending.wait();
}

void Nonlocal::State::couple_one(std::size_t s, std::int64_t block, std::complex<double> factor) {
  const double* from = sums.data() + line(s, block);
  double* to = coefficients.data() + line(s, block);
  for (const detail::Shell& shell : all.species[at(shape_of(s).species)].shells) {
    const int width = 2 * shell.l + 1;
    for (int i = 0; i < shell.radial; ++i)
      for (int m = 0; m < width; ++m)
        for (int part = 0; part < numbers; part += Lines::lanes) {
          Lines c(0.0);
          for (int j = 0; j < shell.radial; ++j)
            c += Lines(shell.coupling[at(i * shell.radial + j)]) *
                 Lines::load(from + numbers * (shell.first + j * width + m) + part);
          c = c * Lines(factor.real()) + detail::times_i(c) * Lines(factor.imag());
          c.store(to + numbers * (shell.first + i * width + m) + part);
        }
  }
}

void Nonlocal::State::couple(std::size_t from, std::size_t to, std::complex<double> factor) {
  for (std::size_t s = from; s < to; ++s)
    for (std::int64_t block = 0; block < blocks_under_way; ++block) couple_one(s, block, factor);
}

template <class T>
void Nonlocal::State::add(T* out, std::size_t from, std::size_t to) const {
  // Spheres overlap, so a thread takes whole blocks, or a slab of the box if there are fewer blocks than threads. In
  // both cases the additions at a point are in the order of the atoms.
  const std::int64_t threads = omp_get_max_threads();
  const std::int64_t slabs =
      std::min(planes, std::max<std::int64_t>(1, threads / std::max<std::int64_t>(1, blocks_under_way)));
  const std::int64_t work = blocks_under_way * slabs;
#pragma omp parallel for schedule(static) if (points_near_atoms * blocks_under_way >= work_for_threads)
  for (std::int64_t i = 0; i < work; ++i) {
    const std::int64_t block = i / slabs;
    const Range slab = part_of(planes, static_cast<int>(slabs), static_cast<int>(i % slabs));
    T* to_block = out + block * points * numbers_per_point<T>;
    for (std::size_t s = from; s < to; ++s)
      for_projectors<T>(s, [&](auto n, auto with_phase, int first_here, const detail::SphereView<T>& part) {
        const double* c = coefficients.data() + line(s, block) + numbers_per_point<T> * first_here;
        if (slabs == 1) return detail::add_some<n, with_phase, T>(to_block, c, part, 0, shape_of(s).points);
        for (const detail::PlaneRun& run : all.spheres[s].planes)
          if (run.z >= slab.begin && run.z < slab.end)
            detail::add_some<n, with_phase, T>(to_block, c, part, run.begin, run.end);
      });
  }
}

Nonlocal::Nonlocal(const System& system, const Decomposition& decomposition)
    : state_(std::make_unique<State>(system, decomposition)) {}
Nonlocal::Nonlocal(Nonlocal&&) noexcept = default;
Nonlocal::~Nonlocal() = default;

void Nonlocal::move(const System& system, const Decomposition& decomposition) {
  assert(state_->in_under_way == nullptr);
  state_->place(system, decomposition);
}

bool Nonlocal::empty() const noexcept { return state_->empty; }

void Nonlocal::set_phases(std::span<const Vec3> q) {
  State& state = *state_;
  assert(q.size() == state.q.size());
  const auto channels = static_cast<std::int64_t>(q.size());
#pragma omp parallel for schedule(static) if (state.all.phase_points * channels >= 4 * work_for_threads)
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const std::size_t c = at(channel);
    if (!state.local && state.q[c] == q[c]) continue;
    state.q[c] = q[c];
    state.phased[c] = q[c] != Vec3{} ? 1 : 0;
    state.float_phased[c] = 0;
    if (state.phased[c] == 0) continue;
    if (state.phases[c].size() < 2 * state.all.phase_points)
      state.phases[c] = core::AlignedArray<double>(2 * state.all.phase_points);
    for (const Shape& shape : state.all.shapes)
      detail::fill_phases(shape, state.grid, q[c], state.phases[c].data() + 2 * shape.first_point);
  }
  state.local = false;
}

void Nonlocal::set_local_phases(std::span<const Vec3> k, std::span<const double> a) {
  State& state = *state_;
  assert(k.size() == state.q.size() && a.size() == 3 * at(state.points) && state.in_under_way == nullptr);
  if (state.empty) return;
  if (state.fits.empty()) state.fits = detail::make_fits(state.all, state.positions.size(), state.space);
  const std::vector<detail::LinearPotential> around = detail::fitted(state.all, state.fits, a, state.space);
  state.local_first.clear();
  std::int64_t points = 0;
  for (std::size_t s = 0; s < state.all.spheres.size(); ++s) {
    state.local_first.push_back(points);
    points += state.shape_of(s).padded;
  }
  for (std::size_t c = 0; c < k.size(); ++c) {
    state.phased[c] = 1;
    state.float_phased[c] = 0;
    if (state.phases[c].size() < 2 * points) state.phases[c] = core::AlignedArray<double>(2 * points);
  }
  const auto spheres = static_cast<std::int64_t>(state.all.spheres.size());
  const std::int64_t work = spheres * static_cast<std::int64_t>(k.size());
#pragma omp parallel for schedule(static) if (points * static_cast<std::int64_t>(k.size()) >= 4 * work_for_threads)
  for (std::int64_t i = 0; i < work; ++i) {
    const std::size_t c = at(i / spheres), s = at(i % spheres);
    const detail::LinearPotential& here = around[at(state.all.spheres[s].atom)];
    const Vec3 q{k[c][0] + here.value[0], k[c][1] + here.value[1], k[c][2] + here.value[2]};
    detail::fill_curved_phases(state.shape_of(s), state.grid, q, here.slope,
                               state.phases[c].data() + 2 * state.local_first[s]);
  }
  state.local = true;
}

void Nonlocal::add_phase_moments(std::span<const double> weights, std::span<PhaseMoments> moments) {
  State& state = *state_;
  assert(state.in_under_way != nullptr && state.numbers == doubles_per_point);
  assert(weights.size() == at(state.blocks_under_way) * orbital_lanes && moments.size() == state.positions.size());
  state.wait();
  state.couple(0, state.all.spheres.size(), -2 * state.grid.point_volume() * state.grid.point_volume());
  const auto spheres = static_cast<std::int64_t>(state.all.spheres.size());
  // Each atom has at most one sphere here.
#pragma omp parallel for schedule(static) if (state.points_near_atoms * state.blocks_under_way >= work_for_threads)
  for (std::int64_t i = 0; i < spheres; ++i) {
    const std::size_t s = at(i);
    PhaseMoments& sum = moments[at(state.all.spheres[s].atom)];
    for (std::int64_t block = 0; block < state.blocks_under_way; ++block)
      state.for_projectors<double>(s, [&](auto n, auto with_phase, int first_here,
                                          const detail::SphereView<double>& part) {
        detail::add_phase_moments<n, with_phase>(
            sum.data(), state.block_of<double>(block),
            state.coefficients.data() + state.line(s, block) + doubles_per_point * first_here, part,
            weights.data() + block * orbital_lanes, state.shape_of(s).displacements.data(), state.shape_of(s).points);
      });
  }
  state.in_under_way = nullptr;
}

void Nonlocal::add_current_density(std::span<double> current, std::span<const PhaseMoments> moments) const {
  const State& state = *state_;
  assert(current.size() == 3 * at(state.points) && moments.size() == state.positions.size());
  for (std::size_t s = 0; s < state.all.spheres.size(); ++s) {
    const detail::Sphere& sphere = state.all.spheres[s];
    detail::add_adjoint(current, state.shape_of(s), sphere.index, state.fits[at(sphere.atom)], moments[at(sphere.atom)],
                        state.grid.point_volume());
  }
}

template <class T>
void Nonlocal::begin(std::int64_t channel, const T* in, std::int64_t blocks) {
  assert(state_->in_under_way == nullptr);
  state_->begin(channel, in, blocks);
}

template <class T>
void Nonlocal::finish(T* out, std::complex<double> factor) {
  State& state = *state_;
  assert(state.in_under_way != nullptr && state.numbers == numbers_per_point<T>);
  factor *= state.grid.point_volume();
  state.couple(0, state.whole, factor);
  state.add(out, 0, state.whole);
  state.wait();
  state.couple(state.whole, state.all.spheres.size(), factor);
  state.add(out, state.whole, state.all.spheres.size());
  state.in_under_way = nullptr;
}

template <class T>
void Nonlocal::apply(std::int64_t channel, T* out, const T* in, std::int64_t blocks, std::complex<double> factor) {
  begin(channel, in, blocks);
  finish(out, factor);
}

void Nonlocal::energy(std::int64_t channel, const double* in, std::int64_t blocks, std::span<double> energy) {
  State& state = *state_;
  assert(energy.size() == at(blocks) * orbital_lanes);
  std::ranges::fill(energy, 0.0);
  if (state.empty) return;
  begin(channel, in, blocks);
  state.wait();
  state.couple(0, state.all.spheres.size(), state.grid.point_volume() * state.grid.point_volume());
  for (std::size_t s = 0; s < state.all.spheres.size(); ++s) {
    if (state.counted_here[s] == 0) continue;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const double* a = state.sums.data() + state.line(s, block);
      const double* c = state.coefficients.data() + state.line(s, block);
      for (std::int64_t i = 0; i < doubles_per_point * state.shape_of(s).count; ++i)
        energy[at(block * orbital_lanes + i % doubles_per_point / 2)] += a[i] * c[i];
    }
  }
  state.in_under_way = nullptr;
  state.space.sum(energy);
}

template <class T>
void Nonlocal::finish_velocity(std::span<double> velocity, std::span<double> turning) {
  constexpr int lanes = lanes_of<T>, line = numbers_per_point<T>;
  State& state = *state_;
  assert(state.in_under_way != nullptr && state.numbers == line);
  const std::int64_t blocks = state.blocks_under_way;
  assert(velocity.size() == at(blocks) * lanes * 3);
  assert(turning.empty() || turning.size() == velocity.size());
  std::ranges::fill(turning, 0.0);
  state.wait();
  state.couple(0, state.all.spheres.size(), -2 * state.grid.point_volume() * state.grid.point_volume());
#pragma omp parallel for schedule(static) if (state.points_near_atoms * blocks >= work_for_threads)
  for (std::int64_t block = 0; block < blocks; ++block) {
    alignas(64) std::array<double, at(3 * line)> moments{};
    for (std::size_t s = 0; s < state.all.spheres.size(); ++s) {
      std::array<double, at(3 * line)> before{};
      if (!turning.empty()) before = moments;
      state.for_projectors<T>(s, [&](auto n, auto with_phase, int first_here, const detail::SphereView<T>& part) {
        detail::moments_some<n, with_phase, T>(moments.data(), state.block_of<T>(block),
                                               state.coefficients.data() + state.line(s, block) + line * first_here,
                                               part, state.shape_of(s).displacements.data(), state.shape_of(s).points);
      });
      if (turning.empty()) continue;
      const Vec3& r = state.positions[at(state.all.spheres[s].atom)];
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        Vec3 v{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const std::size_t re = axis * at(line) + at(2 * lane);
          v[axis] = moments[re] - before[re] - (moments[re + 1] - before[re + 1]);
        }
        const Vec3 turned = cross(r, v);
        for (std::size_t axis = 0; axis < 3; ++axis) turning[at(block * lanes + lane) * 3 + axis] += turned[axis];
      }
    }
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      for (std::int64_t axis = 0; axis < 3; ++axis)
        velocity[at((block * lanes + lane) * 3 + axis)] =
            moments[at(axis * line + 2 * lane)] - moments[at(axis * line + 2 * lane + 1)];
  }
  state.in_under_way = nullptr;
}

std::span<const Range> Nonlocal::near_rows() const noexcept { return state_->near_rows; }

void Nonlocal::add_forces(std::int64_t channel, const double* in, const double* slopes,
                          std::span<const double, orbital_lanes> factors, std::span<Vec3> force) {
  State& state = *state_;
  assert(force.size() == state.all.ranks_of_atom.size());
  if (state.empty) return;
  begin(channel, in, 1);
  state.wait();
  state.couple(0, state.all.spheres.size(), -2 * state.grid.point_volume() * state.grid.point_volume());
  state.in_under_way = nullptr;
  if (state.all.spheres.empty()) return;
  // The force is linear in the projections of the slopes: every process adds the part of its points, with the complete
  // coefficients of the orbitals.
  std::swap(state.coefficients, state.complete);
  state.project(channel, slopes, 3);
  state.in_under_way = nullptr;
  for (std::size_t s = 0; s < state.all.spheres.size(); ++s) {
    const double* c = state.complete.data() + doubles_per_point * state.first[s];
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      const double* slope = state.sums.data() + state.line(s, axis);
      double sum = 0;
      for (std::int64_t i = 0; i < doubles_per_point * state.shape_of(s).count; ++i)
        sum += factors[at(i % doubles_per_point / 2)] * c[i] * slope[i];
      force[at(state.all.spheres[s].atom)][at(axis)] += sum;
    }
  }
}

template void Nonlocal::begin(std::int64_t, const double*, std::int64_t);
template void Nonlocal::finish(double*, std::complex<double>);
template void Nonlocal::apply(std::int64_t, double*, const double*, std::int64_t, std::complex<double>);
template void Nonlocal::finish_velocity<double>(std::span<double>, std::span<double>);
template void Nonlocal::begin(std::int64_t, const float*, std::int64_t);
template void Nonlocal::finish(float*, std::complex<double>);
template void Nonlocal::apply(std::int64_t, float*, const float*, std::int64_t, std::complex<double>);
template void Nonlocal::finish_velocity<float>(std::span<double>, std::span<double>);

}  // namespace halocline::tddft
