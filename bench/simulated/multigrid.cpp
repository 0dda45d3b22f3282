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
/// (qcd/schwarz/detail/sweeps.cpp). A coarse solve is deflated GMRES on one parity (qcd/multigrid/multigrid.cpp): two
/// exchanges and one sum of all projections for an application, and the sums of Gram-Schmidt. Where a process has few
/// coarse sites they are gathered on fewer processes first (lattice/gathering.hpp), and the others wait. Sums of a
/// second round of Gram-Schmidt are left out, and no computation overlaps with a message.
///
/// Every rank counts the time of each part from its first call to its last, so that waiting for others counts where it
/// happens. The printed times are means over the ranks, in simulated seconds; those inside the coarse solve are means
/// over the ranks that take part in it.
///
///   multigrid grid=6,12,6,4 coarse=2,2,2,2 rows=48 columns=1 cycles=1 sweeps=4 coarse_iterations=20 restart=30
///             gather_below=16 fine_bytes=24576,24576,24576,24576 transport=mpi_persistent posting=5e-6 latency=5e-7
///             half_sweep=4e-5 fine_operator=2e-5 transfer=3e-5 outer_vectors=1e-5 coarse_operator=5e-7
///             coarse_projection=5e-8 coarse_vectors=1e-9

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
#include "halocline/lattice/gathering.hpp"

namespace {

using namespace halocline;
using namespace halocline::bench::simulated;

/// A cycle of FGMRES ends when the residual fell by four digits: after about as many steps.
constexpr int outer_steps = 8;

struct Case {
  explicit Case(const Arguments& given)
      : grid(given.list<int>("grid")),
        fine_bytes(given.list<std::size_t>("fine_bytes")),
        coarse(given.list<std::int64_t>("coarse")),
        transport(given.text("transport")),
        rows(given.count("rows")),
        columns(given.count("columns")),
        cycles(given.count("cycles")),
        sweeps(given.count("sweeps")),
        coarse_iterations(given.count("coarse_iterations")),
        restart(given.count("restart")),
        gather_below(given.count("gather_below")),
        posting(given.number("posting")),
        latency(given.number("latency")),
        half_sweep(given.number("half_sweep")),
        fine_operator(given.number("fine_operator")),
        transfer(given.number("transfer")),
        outer_vectors(given.number("outer_vectors")),
        coarse_operator(given.number("coarse_operator")),
        coarse_projection(given.number("coarse_projection")),
        coarse_vectors(given.number("coarse_vectors")) {
    if (grid.size() != 4 || coarse.size() != 4 || fine_bytes.size() != 4)
      throw core::InvalidArgument("give grid, coarse and fine_bytes for four axes");
  }

  std::vector<int> grid;
  std::vector<std::size_t> fine_bytes;  ///< of a face in a half-sweep
  std::vector<std::int64_t> coarse;     ///< coarse sites of a process
  std::string transport;
  int rows, columns, cycles, sweeps, coarse_iterations, restart, gather_below;
  double posting, latency;                                    ///< of an exchange [s]
  double half_sweep, fine_operator, transfer, outer_vectors;  ///< computation of a process [s]
  double coarse_operator, coarse_projection, coarse_vectors;  ///< of a coarse site; the last for each basis vector [s]
};

enum Part { smoother, fine_operator, transfer, outer, coarsest, parts };
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
class Level {
public:
  Level(const Case& c, const comm::ProcessGrid& grid, const std::vector<std::size_t>& bytes)
      : case_(c), group_(grid.communicator()), sum_(group_, unlimited()) {
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
    for (; elements > 0; elements -= static_cast<int>(comm::Reduction::most)) {
      std::array<double, comm::Reduction::most> values{};
      values.fill(1.0);
      sum_.sum(std::span(values).first(std::min(comm::Reduction::most, static_cast<std::size_t>(elements))));
      if (values[0] != group_.size()) throw core::Error("a sum over all ranks is " + std::to_string(values[0]));
    }
  }
  /// The same by one call of the group, as the deflation makes it.
  void sum_together(int elements) {
    std::vector<double> values(static_cast<std::size_t>(elements), 1.0);
    group_.sum(values);
    if (values[0] != group_.size()) throw core::Error("a sum over all ranks is " + std::to_string(values[0]));
  }

private:
  static comm::ReductionOptions unlimited() {
    comm::ReductionOptions options;
    options.time_limit = no_limit;
    return options;
  }

  const Case& case_;
  comm::Communicator group_;
  comm::HaloExchange* halo_ = nullptr;
  comm::Reduction sum_;
  int number_ = 0;
};

class Solver {
public:
  Solver(const Case& c, const comm::Communicator& group)
      : case_(c),
        spread_(spread(c, group)),
        gathering_(spread_, c.gather_below, std::numeric_limits<double>::infinity()),
        fine_(c, spread_->grid(), fine_faces()) {
    const std::size_t numbers = site_bytes();
    b_.resize(static_cast<std::size_t>(spread_->local_volume()) * numbers);
    if (!gathering_.keeps()) return;
    const auto& gathered = *gathering_.gathered();
    there_.resize(static_cast<std::size_t>(gathered.local_volume()) * numbers);
    std::vector<std::size_t> faces(4);
    for (int axis = 0; axis < 4; ++axis)
      if (gathered.is_split(axis))
        faces[static_cast<std::size_t>(axis)] =
            static_cast<std::size_t>(gathered.local_volume() / gathered.local()[axis]) * numbers;
    coarse_ = std::make_unique<Level>(c, gathered.grid(), faces);
  }

  const lattice::Gathering& gathered() const { return gathering_; }

  void iterate(int number) {
    work(transfer, case_.transfer / 2);
    {
      const Timed timed(spent[coarsest]);
      solve_coarse(number);
    }
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
    gram_schmidt(fine_, number % outer_steps);
  }

  std::array<double, parts> spent{};
  std::array<double, coarse_parts> coarse_spent{};

private:
  static std::shared_ptr<const lattice::Geometry4> spread(const Case& c, const comm::Communicator& group) {
    lattice::Coordinates<4> global{};
    for (std::size_t axis = 0; axis < 4; ++axis) global[axis] = c.coarse[axis] * c.grid[axis];
    return std::make_shared<const lattice::Geometry4>(global, comm::ProcessGrid(group, c.grid),
                                                      lattice::Coordinates<4>{1, 1, 1, 1});
  }
  std::vector<std::size_t> fine_faces() const {
    std::vector<std::size_t> bytes(4);
    for (std::size_t axis = 0; axis < 4; ++axis)
      if (case_.grid[axis] > 1) bytes[axis] = case_.fine_bytes[axis];
    return bytes;
  }
  std::size_t site_bytes() const {
    return static_cast<std::size_t>(case_.rows) * static_cast<std::size_t>(case_.columns) * 2 * sizeof(float);
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
  /// One round against a basis of `step` + 1 vectors.
  void gram_schmidt(Level& level, int step) {
    level.sum((2 * (step + 1) + 1) * case_.columns);
    level.sum(case_.columns);
  }

  void solve_coarse(int number) {
    b_.front() = b_.back() = static_cast<std::byte>(number + 1);
    {
      const Timed timed(coarse_spent[gathering]);
      if (gathering_.gathers()) gathering_.gather(there_, b_, site_bytes());
    }
    if (gathering_.keeps()) {
      if (gathering_.gathers() && there_.front() != b_.front())
        throw core::Error("a gathered field is not what was sent");
      half_hops(1);
      project();
      for (int step = 0; step < case_.coarse_iterations; ++step) {
        half_hops(2);
        project();
        compute(case_.coarse_vectors * (step % case_.restart + 1));
        const Timed timed(coarse_spent[summing]);
        gram_schmidt(*coarse_, step % case_.restart);
      }
      // The true residual; then the part along the deflated directions, and the other parity.
      half_hops(2);
      project();
      {
        const Timed timed(coarse_spent[summing]);
        coarse_->sum(case_.columns);
      }
      half_hops(2);
      project();
      half_hops(1);
    }
    const Timed timed(coarse_spent[gathering]);
    if (gathering_.gathers()) gathering_.scatter(b_, there_, site_bytes());
  }
  void compute(double seconds_a_site) {
    const Timed timed(coarse_spent[computing]);
    sg_actor_sleep_for(seconds_a_site * static_cast<double>(gathering_.gathered()->local_volume()));
  }
  void half_hops(int count) {
    for (int i = 0; i < count; ++i) {
      compute(case_.coarse_operator / 2);
      const Timed timed(coarse_spent[exchanging]);
      coarse_->exchange();
    }
  }
  /// Products with 2 N directions, complex.
  void project() {
    compute(case_.coarse_projection);
    const Timed timed(coarse_spent[summing]);
    coarse_->sum_together(2 * case_.rows * case_.columns);
  }

  const Case& case_;
  std::shared_ptr<const lattice::Geometry4> spread_;
  lattice::Gathering gathering_;
  Level fine_;
  std::unique_ptr<Level> coarse_;
  std::vector<std::byte> b_, there_;
};

void report(const Case& c, const comm::Communicator& group, const Solver& solver, double total) {
  const bool takes_part = solver.gathered().keeps();
  std::vector<double> sums(solver.spent.begin(), solver.spent.end());
  for (const double seconds : solver.coarse_spent) sums.push_back(takes_part ? seconds : 0);
  group.sum(sums);
  std::array<double, 1> longest{total};
  group.max(longest);
  if (group.rank() != 0) return;
  constexpr std::array<const char*, parts + coarse_parts> names{
      "smoother", "fine_operator", "transfer", "outer", "coarsest", "gathering", "computing", "exchanging", "summing"};
  std::printf("{\"processes\": %d, \"keepers\": %d, \"coarse_sites\": %lld, \"cycle\": %.9e", group.size(),
              solver.gathered().keepers(), static_cast<long long>(solver.gathered().gathered()->local_volume()),
              longest[0] / c.cycles);
  for (std::size_t i = 0; i < sums.size(); ++i)
    std::printf(", \"%s\": %.9e", names[i],
                sums[i] / c.cycles / (i < parts ? group.size() : solver.gathered().keepers()));
  std::printf("}\n");
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
