// SPDX-License-Identifier: Apache-2.0
/// @file
/// Steps of real-time propagation on a simulated machine: the library's division of processes, its exchanges and sums,
/// with sleep in place of computation.
///
/// A step is that of tddft/propagate/propagator.cpp. For each run of up to eight blocks of four
/// orbitals, as the library takes blocks that fit into no cache:
///
///   four times   an application of H: the sums of the projections begin; the halo exchange of one block overlaps with
///                the interior of another; the faces follow; the sums end
///   then         density, and the current with an exchange and sums of its own
///
/// The sum of the density over the processes of the same box begins before the current of the last run and is driven
/// between interiors and faces, as threads of the library do it that share the tiles of a block. After all runs: the
/// end of this sum, the exchanges of the Fourier transforms
/// (tddft/hartree/pencils.hpp; each space group by itself, or all processes together), exchange and correlation on
/// shares of the points that the processes of the same box exchange (tddft/model/grid_xc.cpp), and one small sum over
/// all.
/// Moving atoms, energies and checkpoints are not part of a step here.
///
/// The sums of projections are those of atoms whose spheres reach over one or two faces of a box: groups of two and of
/// four neighbours, with as many numbers as `face_doubles` says for each block.
///
/// All messages are `scale` times shorter than they are, and the platform's links as many times slower, because the
/// simulator keeps the memory of all processes. Messages of a few bytes cannot be shortened,
/// so that the small sum at the end of a step is overrated.
///
/// The printed times are the longest over the ranks, in simulated seconds, but for parts that several ranks do together
/// (density, Hartree, xc, sums). There the rank of a group counts that came last, which waits for nobody, in the
/// slowest group.
///
///   electrons extent=128,128,162 states=2592 orbitals=192 space=1,4,6 steps=1 shared=0 transport=mpi_persistent
///             scale=32 stencil=9e-4 nonlocal=4e-4 density=2e-5 current=3e-4 hartree=1e-4 xc=1e-3
///             face_doubles=0,300,300 edge_doubles=60 posting=5e-6 latency=5e-7

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bench/simulated/program.hpp"
#include "halocline/comm/sums/field_sum.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/hartree/pencils.hpp"

namespace {

using namespace halocline;
using namespace halocline::bench::simulated;
using tddft::doubles_per_point;
using tddft::Range;

constexpr std::int64_t reach = 4;          ///< planes of a halo
constexpr std::int64_t run_of_blocks = 8;  ///< that go through the series together (propagate/detail/exponential.cpp)
constexpr int applications = 4;            ///< of H in a step
constexpr std::int64_t numbers_of_a_step = 18;  ///< summed over all processes at its end

struct Case {
  explicit Case(const Arguments& given)
      : space(given.list<int>("space")),
        extent(given.list<std::int64_t>("extent")),
        face_doubles(given.list<std::int64_t>("face_doubles")),
        transport(given.text("transport")),
        states(given.count("states")),
        orbitals(given.count("orbitals")),
        steps(given.count("steps")),
        scale(given.count("scale")),
        edge_doubles(given.count("edge_doubles")),
        shared(given.count("shared") != 0),
        stencil(given.number("stencil")),
        nonlocal(given.number("nonlocal")),
        density(given.number("density")),
        current(given.number("current")),
        hartree(given.number("hartree")),
        xc(given.number("xc")),
        posting(given.number("posting")),
        latency(given.number("latency")) {
    if (space.size() != 3 || extent.size() != 3 || face_doubles.size() != 3)
      throw core::InvalidArgument("give space, extent and face_doubles for three axes");
  }

  std::vector<int> space;
  std::vector<std::int64_t> extent, face_doubles;
  std::string transport;
  int states, orbitals, steps, scale, edge_doubles;
  bool shared;
  double stencil, nonlocal, density, current;  // of one block [s]; stencil and nonlocal in one application
  double hartree, xc, posting, latency;        // xc: of all points of a box
};

tddft::System system_of(const Case& c) {
  tddft::System system;
  system.grid = {{c.extent[0], c.extent[1], c.extent[2]}, {1, 1, 1}, tddft::Boundary::periodic};
  system.states = c.states;
  return system;
}

std::size_t scaled(std::int64_t bytes, int scale) {
  return static_cast<std::size_t>(std::max<std::int64_t>(8, bytes / scale / 8 * 8));
}

/// Sums among neighbours: groups of the ranks that share a face, or an edge of four boxes.
class Neighbours {
public:
  /// @param along  the axes on which the members of a group differ. Collective over the space of the division.
  Neighbours(const tddft::Decomposition& division, const std::vector<int>& along, std::size_t doubles)
      : values_(doubles, 1.0) {
    const comm::ProcessGrid& grid = division.space_grid();
    const std::span<const int> dims = grid.dims();
    // Two layers an axis: pairs (0 1)(2 3)... and (1 2)(3 4)...(last 0).
    for (int layer = 0; layer < 1 << along.size(); ++layer) {
      int colour = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        int place = grid.coords()[a], parts = dims[a];
        for (std::size_t i = 0; i < along.size(); ++i)
          if (along[i] == axis) {
            place = (place + ((layer >> i) & 1)) % dims[a] / 2;
            parts = (dims[a] + 1) / 2;
          }
        colour = colour * parts + place;
      }
      groups_.push_back(division.space().split(colour, division.space().rank()));
    }
  }

  void begin() {
    if (values_.empty()) return;
    for (const comm::Communicator& group : groups_) {
      std::vector<double>& own = own_.emplace_back(values_);
      pending_.push_back(group.begin_sum(own));
    }
  }
  void wait() {
    for (comm::PendingSum& sum : pending_) sum.wait();
    pending_.clear();
    own_.clear();
  }

private:
  std::vector<double> values_;
  std::vector<comm::Communicator> groups_;
  std::vector<comm::PendingSum> pending_;
  std::vector<std::vector<double>> own_;
};

/// An exchange of blocks among the processes of a transform, there and back.
class Transpose {
public:
  Transpose(comm::Communicator group, std::int64_t doubles_a_block, int scale)
      : group_(std::move(group)),
        near_(scaled(8 * doubles_a_block, scale) * static_cast<std::size_t>(group_.size())),
        far_(near_.size()) {}
  void run() {
    if (group_.size() > 1) group_.all_to_all(near_, far_);
  }

private:
  comm::Communicator group_;
  std::vector<std::byte> near_, far_;
};

std::int64_t largest(const std::vector<Range>& parts) {
  std::int64_t most = 0;
  for (const Range& part : parts) most = std::max(most, part.size());
  return most;
}

struct Spent {
  double total = 0, hamiltonian = 0, halo = 0, projections = 0, density = 0, hartree = 0, xc = 0, current = 0, sums = 0;
};

class Step {
public:
  Step(const Case& c, const comm::Communicator& world)
      : case_(c),
        system_(system_of(c)),
        division_(world, system_, {1, c.orbitals, {c.space[0], c.space[1], c.space[2]}}),
        pencils_(division_, c.shared, system_.grid.extent),
        density_(scaled(8 * division_.box().points(), c.scale) / 8, 1.0),
        density_sum_(division_.box_mates(), density_.size()),
        sums_(world, sums_options()) {
    const tddft::Box& box = division_.box();
    std::vector<std::size_t> bytes(3, 0);
    std::int64_t inner = 1;
    std::vector<int> divided;
    for (std::size_t a = 0; a < 3; ++a) {
      const bool split = c.space[a] > 1;
      if (split) divided.push_back(static_cast<int>(a));
      inner *= split ? std::max<std::int64_t>(0, box.extent[a] - 2 * reach) : box.extent[a];
      // A block of four complex orbitals.
      const std::int64_t face = reach * (box.points() / box.extent[a]) * doubles_per_point * 8;
      if (split) bytes[a] = scaled(face, c.scale);
      const auto numbers = scaled(8 * c.face_doubles[a] * run_of_blocks, c.scale) / 8;
      if (split && c.face_doubles[a] > 0)
        neighbours_.emplace_back(division_, std::vector{static_cast<int>(a)}, numbers);
    }
    if (divided.size() > 1 && c.edge_doubles > 0)
      neighbours_.emplace_back(division_, std::vector{divided[divided.size() - 2], divided.back()},
                               scaled(8 * c.edge_doubles * run_of_blocks, c.scale) / 8);
    interior_ = static_cast<double>(inner) / static_cast<double>(box.points());
    if (!divided.empty())
      for (int i = 0; i < 2; ++i) halos_.push_back(&make_exchange(division_.space_grid(), bytes, c.transport));
    const Range kx = pencils_.kx();
    const tddft::Rectangle rows = pencils_.rows();
    transposes_.emplace_back(pencils_.among_y(),
                             2 * rows.z.size() * largest(pencils_.y_parts()) * largest(pencils_.kx_parts()), c.scale);
    transposes_.emplace_back(pencils_.among_z(),
                             2 * largest(pencils_.z_parts()) * largest(pencils_.ky_parts()) * kx.size(), c.scale);
  }

  void run(Spent& spent) {
    const std::int64_t blocks = division_.blocks().size();
    for (std::int64_t first = 0; first < blocks; first += run_of_blocks) {
      const std::int64_t together = std::min(run_of_blocks, blocks - first);
      const double begin = MPI_Wtime();
      for (int n = 0; n < applications; ++n) apply(together, case_.stencil, case_.nonlocal, spent);
      spent.hamiltonian += MPI_Wtime() - begin;
      sg_actor_sleep_for(case_.density * static_cast<double>(together));
      if (first + together == blocks) density_sum_.begin(density_);
      const double measured = MPI_Wtime();
      apply(together, case_.current, 0.0, spent);
      spent.current += MPI_Wtime() - measured;
    }
    if (blocks == 0) density_sum_.begin(density_);
    const double summed = MPI_Wtime();
    density_sum_.wait(density_);
    for (const double sum : density_)
      if (sum != division_.box_mates().size()) throw core::Error("the sum of the density is wrong");
    std::ranges::fill(density_, 1.0);
    const double solved = MPI_Wtime();
    spent.density += solved - summed;
    for (Transpose& transpose : transposes_) transpose.run();
    sg_actor_sleep_for(case_.hartree);
    for (auto transpose = transposes_.rbegin(); transpose != transposes_.rend(); ++transpose) transpose->run();
    const double shared = MPI_Wtime();
    spent.hartree += shared - solved;
    const comm::Communicator& mates = division_.box_mates();
    sg_actor_sleep_for(case_.xc / mates.size());
    if (mates.size() > 1)
      static_cast<void>(mates.allgather(std::as_bytes(std::span(density_).first(density_.size() / mates.size() + 1))));
    const double last = MPI_Wtime();
    spent.xc += last - shared;
    std::vector<double> numbers(scaled(8 * numbers_of_a_step, case_.scale) / 8, 1.0);
    sums_.sum(std::span<double>(numbers));
    spent.sums += MPI_Wtime() - last;
  }

  const tddft::Decomposition& division() const noexcept { return division_; }

private:
  static comm::ReductionOptions sums_options() {
    comm::ReductionOptions options;
    options.time_limit = no_limit;
    options.longest = static_cast<std::size_t>(numbers_of_a_step);
    return options;
  }

  /// The stencil on some blocks, the halo of one beside the interior of another, within the sums of the projections.
  void apply(std::int64_t blocks, double stencil, double nonlocal, Spent& spent) {
    sg_actor_sleep_for(0.5 * nonlocal * static_cast<double>(blocks));
    for (Neighbours& some : neighbours_) some.begin();
    for (std::int64_t b = 0; b < blocks; ++b) {
      if (halos_.empty()) {
        sg_actor_sleep_for(stencil);
        continue;
      }
      if (under_way_ == 0) post();
      if (b + 1 < blocks && under_way_ == 1) post();
      sg_actor_sleep_for(interior_ * stencil);
      density_sum_.advance();
      const double begin = MPI_Wtime();
      comm::HaloExchange& halo = *halos_[static_cast<std::size_t>(finished_ % 2)];
      halo.wait_all();
      verify(halo, comm::all_faces, finished_++);
      --under_way_;
      spent.halo += MPI_Wtime() - begin;
      sg_actor_sleep_for((1 - interior_) * stencil);
      density_sum_.advance();
    }
    const double begin = MPI_Wtime();
    for (Neighbours& some : neighbours_) some.wait();
    spent.projections += MPI_Wtime() - begin;
    sg_actor_sleep_for(0.5 * nonlocal * static_cast<double>(blocks));
  }

  void post() {
    comm::HaloExchange& halo = *halos_[static_cast<std::size_t>(posted_ % 2)];
    fill(halo, comm::all_faces, posted_++);
    sg_actor_sleep_for(case_.posting + case_.latency);
    halo.post(comm::all_faces);
    ++under_way_;
  }

  Case case_;
  tddft::System system_;
  tddft::Decomposition division_;
  tddft::Pencils pencils_;
  std::vector<double> density_;
  comm::FieldSum density_sum_;
  comm::Reduction sums_;
  double interior_ = 1;
  std::vector<comm::HaloExchange*> halos_;
  std::vector<Neighbours> neighbours_;
  std::vector<Transpose> transposes_;
  int under_way_ = 0, posted_ = 0, finished_ = 0;
};

void report(const Case& c, const comm::Communicator& group, const tddft::Decomposition& division, const Spent& spent) {
  std::array<double, 5> longest{spent.total, spent.hamiltonian, spent.halo, spent.projections, spent.current};
  group.max(longest);
  const auto slowest = [&group](const comm::Communicator& part, double seconds) {
    part.min(std::span(&seconds, 1));
    group.max(std::span(&seconds, 1));
    return seconds;
  };
  std::array<double, 4> shortest{slowest(division.box_mates(), spent.density),
                                 slowest(c.shared ? group : division.space(), spent.hartree),
                                 slowest(division.box_mates(), spent.xc), slowest(group, spent.sums)};
  if (group.rank() != 0) return;
  for (double& seconds : longest) seconds /= c.steps;
  for (double& seconds : shortest) seconds /= c.steps;
  std::printf("{\"processes\": %d, \"step\": %.9e, \"hamiltonian\": %.9e, \"halo_wait\": %.9e, \"projection_wait\": "
              "%.9e, \"current\": %.9e, \"density\": %.9e, \"hartree\": %.9e, \"xc\": %.9e, \"sums\": %.9e}\n",
              group.size(), longest[0], longest[1], longest[2], longest[3], longest[4], shortest[0], shortest[1],
              shortest[2], shortest[3]);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  return run_program(count, arguments, [](const Arguments& given, const comm::Communicator& group) {
    const Case c(given);
    Step step(c, group);
    Spent spent;
    const double begin = common_start(group);
    for (int i = 0; i < c.steps; ++i) step.run(spent);
    spent.total = MPI_Wtime() - begin;
    report(c, group, step.division(), spent);
  });
}
