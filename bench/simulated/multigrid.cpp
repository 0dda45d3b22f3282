// SPDX-License-Identifier: Apache-2.0
/// @file
/// Cycles of the multigrid solver on a simulated machine: the exchanges, sums and gatherings of the library, with sleep
/// in place of computation.
///
/// One iteration of the outer FGMRES, in the order of solve/fgmres.hpp and solve/multigrid.hpp:
///
///   restriction; a coarse solve; prolongation; D x; the Schwarz smoother; D of the new direction; sums of Gram-Schmidt
///
/// The smoother has an exchange of half spinors for each half-sweep but the last, D one for each colour of domains
/// (qcd/schwarz/detail/sweeps.cpp). The coarse levels are those of lattice/coarsening.hpp, and their solves those of
/// qcd/multigrid/detail/coarse_solver.cpp with a given number of iterations:
///
///   level between   solve/inner_gmres.hpp, preconditioned by a cycle: restriction, a solve of the next level,
///                   prolongation, an application, steps of solve/gcr_steps.hpp
///   coarsest level  solve/inner_gmres.hpp with deflation, or a dense inverse
///
/// An application on one parity has two exchanges, and one otherwise. An iteration of either solver has one sum. Where
/// a level is gathered on fewer processes (lattice/gathering.hpp), the others wait until it is solved. Sums of a second
/// round of Gram-Schmidt are left out, and no computation overlaps with a message.
///
/// Every rank counts the time of each part from its first call to its last, so that waiting for others counts where it
/// happens. The printed times are means over the ranks that hold the coarsest level, in simulated seconds: these take
/// part in everything. The time of a level is without that of the levels below.
///
///   multigrid grid=6,12,6,4 local=8,8,8,8 aggregate=4,4,4,4 coarse_aggregate=2,2,2,2 levels=0 gather_below=16 rows=48
///             columns=1 cycles=1 sweeps=4 coarse_cycles=3 coarse_steps=4 coarse_iterations=20 restart=30
///             fine_bytes=24576,24576,24576,24576 transport=mpi_persistent posting=5e-6 latency=5e-7 half_sweep=4e-5
///             fine_operator=2e-5 transfer=3e-5 outer_vectors=1e-5 coarse_operator=5e-7 coarse_projection=5e-8
///             coarse_vectors=1e-9 coarse_transfer=3e-8 dense_row=1e-11

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/simulated/program.hpp"
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/lattice/coarsening.hpp"
#include "halocline/lattice/gathering.hpp"

namespace {

using namespace halocline;
using namespace halocline::bench::simulated;

/// A cycle of FGMRES ends when the residual fell by four digits: after about as many steps.
constexpr int outer_steps = 8;

/// Rows of a system that is inverted (qcd/multigrid/detail/hierarchy.cpp).
constexpr std::int64_t most_dense_rows = 1024;

lattice::Coordinates<4> coordinates(const std::vector<std::int64_t>& numbers) {
  if (numbers.size() != 4) throw core::InvalidArgument("give local, aggregate and coarse_aggregate for four axes");
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

struct Case {
  explicit Case(const Arguments& given)
      : grid(given.list<int>("grid")),
        fine_bytes(given.list<std::size_t>("fine_bytes")),
        local(coordinates(given.list<std::int64_t>("local"))),
        rules{.first = coordinates(given.list<std::int64_t>("aggregate")),
              .next = coordinates(given.list<std::int64_t>("coarse_aggregate")),
              .levels = given.count("levels"),
              .gather_below = given.count("gather_below")},
        transport(given.text("transport")),
        rows(given.count("rows")),
        columns(given.count("columns")),
        cycles(given.count("cycles")),
        sweeps(given.count("sweeps")),
        coarse_cycles(given.count("coarse_cycles")),
        coarse_steps(given.count("coarse_steps")),
        coarse_iterations(given.count("coarse_iterations")),
        restart(given.count("restart")),
        posting(given.number("posting")),
        latency(given.number("latency")),
        half_sweep(given.number("half_sweep")),
        fine_operator(given.number("fine_operator")),
        transfer(given.number("transfer")),
        outer_vectors(given.number("outer_vectors")),
        coarse_operator(given.number("coarse_operator")),
        coarse_projection(given.number("coarse_projection")),
        coarse_vectors(given.number("coarse_vectors")),
        coarse_transfer(given.number("coarse_transfer")),
        dense_row(given.number("dense_row")) {
    if (grid.size() != 4 || fine_bytes.size() != 4)
      throw core::InvalidArgument("give grid and fine_bytes for four axes");
    shapes = lattice::level_shapes(grid, local, rules);
  }

  std::vector<int> grid;
  std::vector<std::size_t> fine_bytes;  ///< of a face in a half-sweep
  lattice::Coordinates<4> local;        ///< fine sites of a process
  lattice::CoarseningRules rules;
  std::vector<lattice::LevelShape> shapes;
  std::string transport;
  int rows, columns, cycles, sweeps, coarse_cycles, coarse_steps, coarse_iterations, restart;
  double posting, latency;                                    ///< of an exchange [s]
  double half_sweep, fine_operator, transfer, outer_vectors;  ///< computation of a process [s]
  /// Of a coarse site, the third for each basis vector; and of an entry of the dense inverse [s].
  double coarse_operator, coarse_projection, coarse_vectors, coarse_transfer, dense_row;

  std::size_t site_bytes() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * 2 * sizeof(float);
  }
  /// Doubles that travel together (qcd/field/detail/linear_algebra.cpp).
  std::size_t longest_sum() const { return static_cast<std::size_t>(std::min(2048, 192 * columns)); }
};

enum Part { smoother, fine_operator, transfer, outer, parts };
enum CoarsePart { gathering, computing, exchanging, summing, coarse_parts };

/// Adds the simulated time of its life to a number.
class Timed {
public:
  explicit Timed(double& sum) : sum_(sum), begin_(MPI_Wtime()) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { sum_ += MPI_Wtime() - begin_; }

private:
  double& sum_;
  double begin_;
};

/// Exchanges and sums of the processes that hold one lattice.
class Network {
public:
  Network(const Case& c, const comm::ProcessGrid& grid, const std::vector<std::size_t>& bytes)
      : case_(c), group_(grid.communicator()), sum_(group_, options(c)) {
    for (const std::size_t b : bytes)
      if (b > 0 && halo_ == nullptr) halo_ = &make_exchange(grid, bytes, c.transport);
  }

  void exchange() {
    if (halo_ == nullptr) return;
    fill(*halo_, comm::all_faces, number_);
    sg_actor_sleep_for(case_.posting + case_.latency);
    halo_->post();
    halo_->wait_all();
    verify(*halo_, comm::all_faces, number_++);
  }

  /// The sum of so many doubles, as the vector spaces make it (qcd/field/detail/linear_algebra.cpp).
  void sum(int elements) {
    std::vector<double> values(static_cast<std::size_t>(elements), 1.0);
    for (std::size_t begin = 0; begin < values.size(); begin += sum_.longest())
      sum_.sum(std::span(values).subspan(begin, std::min(sum_.longest(), values.size() - begin)));
    if (values.front() != group_.size() || values.back() != group_.size())
      throw core::Error("a sum over all ranks is " + std::to_string(values.back()));
  }
  /// All vectors on every process, as a dense inverse has them.
  void gather(std::size_t bytes) {
    if (group_.size() == 1) return;
    const std::vector<std::byte> mine(bytes);
    if (group_.allgather(mine).size() != bytes * static_cast<std::size_t>(group_.size()))
      throw core::Error("a gathered vector has another length");
  }

private:
  static comm::ReductionOptions options(const Case& c) {
    comm::ReductionOptions options;
    options.time_limit = no_limit;
    options.longest = c.longest_sum();
    return options;
  }

  const Case& case_;
  comm::Communicator group_;
  comm::HaloExchange* halo_ = nullptr;
  comm::Reduction sum_;
  int number_ = 0;
};

/// A coarse level and its solves.
class Level {
public:
  /// @param spread  the lattice on the processes of the level above
  Level(const Case& c, std::size_t index, std::shared_ptr<const lattice::Geometry4> spread)
      : case_(c),
        shape_(c.shapes[index]),
        gathering_(spread, c.rules.gather_below, std::numeric_limits<double>::infinity()) {
    b_.resize(static_cast<std::size_t>(spread->local_volume()) * c.site_bytes());
    if (!holds()) return;
    const auto& here = *gathering_.gathered();
    there_.resize(static_cast<std::size_t>(here.local_volume()) * c.site_bytes());
    std::vector<std::size_t> faces(4);
    for (int axis = 0; axis < 4; ++axis)
      if (here.is_split(axis))
        faces[static_cast<std::size_t>(axis)] =
            static_cast<std::size_t>(here.local_volume() / here.local()[axis]) * c.site_bytes();
    network_ = std::make_unique<Network>(c, here.grid(), faces);
    if (index + 1 == c.shapes.size()) return;
    lattice::Coordinates<4> global = here.global();
    for (int axis = 0; axis < 4; ++axis) global[axis] /= c.shapes[index + 1].aggregate[axis];
    below_ = std::make_unique<Level>(
        c, index + 1,
        std::make_shared<const lattice::Geometry4>(global, here.grid(), lattice::Coordinates<4>{1, 1, 1, 1}));
  }

  bool holds() const { return gathering_.keeps(); }
  const Level* below() const { return below_.get(); }

  void solve(int number) {
    const Timed timed(all);
    b_.front() = b_.back() = static_cast<std::byte>(number + 1);
    {
      const Timed part(spent[gathering]);
      if (gathering_.gathers()) gathering_.gather(there_, b_, case_.site_bytes());
    }
    if (holds()) {
      if (gathering_.gathers() && there_.front() != b_.front())
        throw core::Error("a gathered field is not what was sent");
      half_hop();  // the right-hand side of the even sites
      if (below_)
        cycles(number);
      else if (rows() <= most_dense_rows)
        multiply_inverse();
      else
        deflated();
      half_hop();  // the odd sites
    }
    const Timed part(spent[gathering]);
    if (gathering_.gathers()) gathering_.scatter(b_, there_, case_.site_bytes());
  }

  double all = 0;  ///< of the level and those below it
  std::array<double, coarse_parts> spent{};

private:
  bool parities() const { return lattice::has_parities(shape_.global, shape_.local); }
  std::int64_t rows() const { return shape_.sites() * case_.rows / (parities() ? 2 : 1); }
  std::int64_t sites() const { return lattice::product<4>(shape_.local); }

  void compute(double seconds_a_site) {
    const Timed timed(spent[computing]);
    sg_actor_sleep_for(seconds_a_site * static_cast<double>(sites()));
  }
  void exchange() {
    const Timed timed(spent[exchanging]);
    network_->exchange();
  }
  /// Half of an application on one parity. The system without parities needs none before and after a solve.
  void half_hop() {
    if (!parities()) return;
    compute(case_.coarse_operator / 2);
    exchange();
  }
  void apply() {
    half_hop();
    half_hop();
    if (parities()) return;
    compute(case_.coarse_operator);
    exchange();
  }
  /// Arithmetic of so many vectors of the system.
  void vectors(double count) { compute(count * case_.coarse_vectors * (parities() ? 1 : 2)); }
  void sum(int elements) {
    const Timed timed(spent[summing]);
    network_->sum(elements * case_.columns);
  }

  void cycles(int number) {
    sum(1);
    for (int step = 0; step < case_.coarse_cycles; ++step) {
      compute(case_.coarse_transfer);
      below_->solve(number);
      compute(case_.coarse_transfer);
      apply();
      for (int k = 0; k < case_.coarse_steps; ++k) {
        apply();
        vectors(k + 2);
        sum(2 * k + 3);
      }
      apply();
      vectors(step % case_.restart + 1);
      sum(2 * (step % case_.restart + 1) + 1);
    }
  }
  void deflated() {
    const int directions = 2 * case_.rows;  // doubles
    project();
    sum(1 + directions);
    for (int step = 0; step < case_.coarse_iterations; ++step) {
      apply();
      project();
      vectors(step % case_.restart + 1);
      sum(2 * (step % case_.restart + 1) + 1 + directions);
    }
    compute(case_.coarse_projection / 2);
  }
  void project() { compute(case_.coarse_projection * (parities() ? 1 : 2)); }
  void multiply_inverse() {
    {
      const Timed timed(spent[exchanging]);
      network_->gather(static_cast<std::size_t>(sites()) * case_.site_bytes() / (parities() ? 2 : 1));
    }
    const auto entries = static_cast<double>(rows()) * static_cast<double>(rows());
    compute(case_.dense_row * entries / static_cast<double>(shape_.sites()));
  }

  const Case& case_;
  const lattice::LevelShape& shape_;
  lattice::Gathering gathering_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Level> below_;
  std::vector<std::byte> b_, there_;
};

class Solver {
public:
  Solver(const Case& c, const comm::Communicator& group)
      : case_(c), coarse_(c, 0, spread(c, group)), fine_(c, comm::ProcessGrid(group, c.grid), fine_faces()) {}

  /// The coarse levels, the first of them on the processes of the fine lattice.
  const Level& coarse() const { return coarse_; }

  void iterate(int number) {
    work(transfer, case_.transfer / 2);
    coarse_.solve(number);
    work(transfer, case_.transfer / 2);
    apply_fine();
    for (int half = 0; half < 2 * case_.sweeps; ++half) {
      const Timed timed(spent[smoother]);
      sg_actor_sleep_for(case_.half_sweep);
      if (half + 1 < 2 * case_.sweeps) fine_.exchange();
    }
    apply_fine();
    const Timed timed(spent[outer]);
    sg_actor_sleep_for(case_.outer_vectors);
    // One round against a basis of `step` + 1 vectors.
    const int step = number % outer_steps;
    fine_.sum((2 * (step + 1) + 1) * case_.columns);
    fine_.sum(case_.columns);
  }

  std::array<double, parts> spent{};

private:
  static std::shared_ptr<const lattice::Geometry4> spread(const Case& c, const comm::Communicator& group) {
    return std::make_shared<const lattice::Geometry4>(c.shapes.front().global, comm::ProcessGrid(group, c.grid),
                                                      lattice::Coordinates<4>{1, 1, 1, 1});
  }
  std::vector<std::size_t> fine_faces() const {
    std::vector<std::size_t> bytes(4);
    for (std::size_t axis = 0; axis < 4; ++axis)
      if (case_.grid[axis] > 1) bytes[axis] = case_.fine_bytes[axis];
    return bytes;
  }
  void work(Part part, double seconds) {
    const Timed timed(spent[part]);
    sg_actor_sleep_for(seconds);
  }
  void apply_fine() {
    const Timed timed(spent[fine_operator]);
    for (int colour = 0; colour < 2; ++colour) fine_.exchange();
    sg_actor_sleep_for(case_.fine_operator);
  }

  const Case& case_;
  Level coarse_;
  Network fine_;
};

void report(const Case& c, const comm::Communicator& group, const Solver& solver, double total) {
  constexpr std::array<const char*, parts> names{"smoother", "fine_operator", "transfer", "outer"};
  constexpr std::array<const char*, coarse_parts> coarse_names{"gathering", "computing", "exchanging", "summing"};
  // Of a rank that holds all levels; the last number counts these ranks.
  std::vector<double> sums(solver.spent.begin(), solver.spent.end());
  const Level* level = &solver.coarse();
  std::size_t held = 0;
  for (; level != nullptr; level = level->below()) {
    sums.push_back(level->all - (level->below() != nullptr ? level->below()->all : 0));
    sums.insert(sums.end(), level->spent.begin(), level->spent.end());
    if (level->holds()) ++held;
  }
  sums.resize(parts + c.shapes.size() * (1 + coarse_parts));
  sums.push_back(1);
  if (held < c.shapes.size()) std::ranges::fill(sums, 0.0);
  group.sum(sums);
  std::array<double, 1> longest{total};
  group.max(longest);
  if (group.rank() != 0) return;
  const double share = sums.back() * c.cycles;
  std::printf("{\"processes\": %d, \"cycle\": %.9e", group.size(), longest[0] / c.cycles);
  for (std::size_t i = 0; i < parts; ++i) std::printf(", \"%s\": %.9e", names[i], sums[i] / share);
  std::printf(", \"levels\": [");
  for (std::size_t i = 0; i < c.shapes.size(); ++i) {
    const auto& shape = c.shapes[i];
    const double* at = sums.data() + parts + i * (1 + coarse_parts);
    std::printf("%s{\"sites\": [%lld, %lld, %lld, %lld], \"processes\": %d, \"sites_of_a_process\": %lld, "
                "\"seconds\": %.9e",
                i == 0 ? "" : ", ", static_cast<long long>(shape.global[0]), static_cast<long long>(shape.global[1]),
                static_cast<long long>(shape.global[2]), static_cast<long long>(shape.global[3]),
                shape.processes[0] * shape.processes[1] * shape.processes[2] * shape.processes[3],
                static_cast<long long>(lattice::product<4>(shape.local)), at[0] / share);
    for (std::size_t k = 0; k < coarse_parts; ++k) std::printf(", \"%s\": %.9e", coarse_names[k], at[1 + k] / share);
    std::printf("}");
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  return run_program(count, arguments, [](const Arguments& given, const comm::Communicator& group) {
    const Case c(given);
    // Never destroyed: see make_exchange.
    Solver& solver = *std::make_unique<Solver>(c, group).release();
    const double begin = common_start(group);
    for (int cycle = 0; cycle < c.cycles; ++cycle) solver.iterate(cycle);
    report(c, group, solver, MPI_Wtime() - begin);
  });
}
