// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "halocline/comm/group/communicator.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/core/philox.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/multigrid/detail/cholesky.hpp"
#include "halocline/qcd/multigrid/detail/galerkin.hpp"
#include "halocline/qcd/multigrid/detail/multigrid_state.hpp"
#include "halocline/qcd/multigrid/fingerprint.hpp"
#include "halocline/solve/fgmres.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// Columns that the set-up takes through the cycle together; every number of test vectors is a multiple.
constexpr int batch = 8;
/// Random numbers of the test vectors, and of the right-hand side that measures the contraction.
constexpr std::uint64_t vector_stream = 0x6d67, probe_stream = 0x6d68;
/// Smoothings of the random vectors before there is a coarse level.
constexpr int smoothings = 3;
/// Rounds that always pay, and the most of all.
constexpr int first_rounds = 2, most_rounds = 10;
/// Cycles of one column that a round costs, for each test vector: its own, and its part of the coarse operator.
constexpr double round_cost = 1.3;
/// The part of the last round's saving that the next one is expected to save.
constexpr double next_saving = 0.25;
/// A refreshed set-up with this many times the cycles gets a round of inverse iteration.
constexpr double stale = 1.2;

using HalfField = lattice::DomainField<core::Half>;
using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

schwarz::Parameters smoother_parameters(const Parameters& p, const lattice::Geometry4& geometry,
                                        const lattice::Coordinates<4>& aggregate) {
  schwarz::Parameters k;
  k.nsap = p.smoother_sweeps - 1;
  k.inner = p.smoother;
  k.steps = p.smoother_steps;
  for (int axis = 0; axis < 4; ++axis) k.blocks[axis] = geometry.local()[axis] / aggregate[axis];
  return k;
}

/// Random numbers between -1 and 1, functions of the seed, the stream, the column and the global site; `batch` columns
/// a field, or one.
std::vector<FineField> random_fields(const std::shared_ptr<const lattice::DomainLayout>& layout, int columns,
                                     std::uint64_t seed, std::uint64_t stream) {
  const core::Region region("random vectors");
  const core::Philox random(seed, stream);
  const auto& geometry = layout->geometry();
  const int lanes = layout->lanes(), width = std::min(columns, batch);
  std::vector<FineField> out;
  for (int first = 0; first < columns; first += width) out.emplace_back(layout, spinor_reals, width);
  const std::int64_t sites = geometry.local_volume();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < sites; ++i) {
    const auto x = lattice::coordinates_of<4>(i, geometry.local());
    const auto site = layout->locate(x);
    auto here = random.at(static_cast<std::uint64_t>(geometry.global_index(x)));
    for (FineField& field : out) {
      float* to = field.domain(site.domain) + site.tile * field.tile_stride() + site.lane;
      // 16 bits a number are plenty: smoothing mixes thousands of them.
      for (int n = 0; n < width * spinor_reals; n += 4) {
        const std::uint64_t bits = here.bits();
        for (int k = 0; k < 4; ++k)
          to[(n + k) * lanes] = (static_cast<float>(bits >> 16 * k & 0xffff) + 0.5f) * 0x1p-15f - 1.f;
      }
    }
  }
  return out;
}

/// A field in fp16, and the field itself rounded so.
HalfField rounded(FineField& field) {
  const core::Region region("round test vectors");
  using Numbers = core::Pack<float, 16>;
  using Halves = core::Stored<core::Half, Numbers>;
  HalfField out(field.layout_ptr(), field.components(), field.columns());
  const std::int64_t whole = field.size() / 16 * 16;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < whole; i += 16) {
    Halves::store(out.data() + i, Numbers::load(field.data() + i));
    Halves::load(out.data() + i).store(field.data() + i);
  }
  for (std::int64_t i = whole; i < field.size(); ++i) {
    out.data()[i] = core::narrow(field.data()[i]);
    field.data()[i] = core::widen(out.data()[i]);
  }
  return out;
}

/// A field in float, in a layout of the same shape.
FineField widened(const HalfField& field, const std::shared_ptr<const lattice::DomainLayout>& layout) {
  FineField out(layout, field.components(), field.columns());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < field.size(); ++i) out.data()[i] = core::widen(field.data()[i]);
  return out;
}

/// Calls body(place in canonical order, number) for each number of the test vectors.
template <class Fields, class Body>
void for_numbers(const lattice::DomainLayout& layout, Fields& fields, int vectors, const Body& body) {
  const std::int64_t sites = layout.geometry().local_volume();
  const int lanes = layout.lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < sites; ++i) {
    const auto site = layout.locate(lattice::coordinates_of<4>(i, layout.geometry().local()));
    std::int64_t place = i * vectors * spinor_reals;
    for (auto& field : fields) {
      auto* from = field.domain(site.domain) + site.tile * field.tile_stride() + site.lane;
      for (int n = 0; n < field.columns() * spinor_reals; ++n) body(place++, from[n * lanes]);
    }
  }
}

/// Cycles to the residual 1e-10: two that take the first digits, and then the same factor in each.
double cycles_to_solve(double contraction) {
  constexpr double digits = 8;
  if (!(contraction < 1)) return std::numeric_limits<double>::infinity();
  return 2 + digits / -std::log10(std::max(contraction, 1e-8));
}

}  // namespace

Setup::State::State(const GaugeField& gauge_given, const Action& action, const Parameters& given,
                    const std::string& transport_given)
    : gauge(&gauge_given),
      fingerprint(multigrid::fingerprint(gauge_given)),
      parameters((given.validate(), given)),
      transport(transport_given),
      plan(level_plan(gauge->geometry_ptr(), parameters)),
      aggregates(plan.levels.front().aggregates),
      term(wilson_part(action).has_clover() ? clover::canonical_term(*gauge, wilson_part(action))
                                            : std::vector<double>()),
      matrix((validate(action), *gauge), wilson_part(action),
             smoother_parameters(parameters, gauge->geometry(), aggregates->size()), 1, term.empty() ? nullptr : &term),
      twist(matrix, twisted_mass(action)),
      clover(std::make_shared<const DomainClover>(*matrix.layout(), term.empty() ? nullptr : &term,
                                                  wilson_part(action).diagonal())) {
  if (parameters.storage == "float") grid = CoarseGrid<float>();
}

Setup::State::State(const State& other, double mu)
    : gauge(nullptr),
      fingerprint(other.fingerprint),
      parameters(other.parameters),
      transport(other.transport),
      plan(other.plan),
      aggregates(other.aggregates),
      matrix(other.matrix.for_columns(1)),
      twist(matrix, mu),
      clover(other.clover),
      vectors(other.vectors),
      rounds(other.rounds),
      seconds(other.seconds) {
  std::vector<FineField> wide;
  for (const HalfField& field : *vectors) wide.push_back(widened(field, matrix.layout()));
  std::visit(
      [&]<class S>(const CoarseGrid<S>& from) {
        CoarseGrid<S> next;
        next.transfer = from.transfer;
        complete<S>(next, from.blocks, wide);
        grid = std::move(next);
      },
      other.grid);
  finish_coarsest();
}

void Setup::State::finish_coarsest() {
  if (parameters.coarse_eigenvectors == 0 || coarsest_finished) return;
  coarsest_finished = true;
  // A failure on the processes that hold the coarsest level is one on all.
  comm::on_every_rank(matrix.layout()->geometry().communicator(), [&] {
    std::visit(
        [&](auto& made) { deflate_by_eigenvectors(made.levels.back(), parameters.coarse_eigenvectors, transport); },
        grid);
  });
  contraction.reset();
}

template <class S>
void Setup::State::coarsen(std::span<const FineField> rounded) {
  CoarseGrid<S> next;
  next.transfer = std::make_shared<const Transfer<S>>(matrix.layout(), aggregates, rounded, parameters.vectors);
  complete<S>(next, galerkin<S, S>(*next.transfer, *gauge, matrix.action(), term.empty() ? nullptr : &term, transport),
              rounded);
  grid = std::move(next);
  contraction.reset();
  coarsest_finished = false;
}

template <class S>
void Setup::State::complete(CoarseGrid<S>& next, std::shared_ptr<const CoarseBlocks<S>> blocks,
                            std::span<const FineField> rounded) {
  if (blocks->mu() != twist.mu()) {
    auto twisted = std::make_shared<CoarseBlocks<S>>(*blocks);
    twisted->twist(twist.mu());
    blocks = std::move(twisted);
  }
  next.blocks = blocks;
  next.levels = coarse_levels(std::move(blocks), restricted(*next.transfer, rounded), plan, parameters, transport);
}

void Setup::State::build(std::span<FineField> given) {
  std::vector<HalfField> kept;
  for (FineField& field : given) kept.push_back(rounded(field));
  vectors = std::make_shared<const std::vector<HalfField>>(std::move(kept));
  std::visit([&]<class S>(const CoarseGrid<S>&) { coarsen<S>(given); }, grid);
}

/// Makes a set-up step by step.
class Setup::Construction {
public:
  Construction(const GaugeField& gauge, const Action& action, const Parameters& parameters,
               const std::string& transport, Progress progress)
      : progress_(std::move(progress)), state_(std::make_shared<State>(gauge, action, parameters, transport)) {
    const auto& p = state_->parameters;
    rounds_ = p.setup_iterations < 0 ? first_rounds : p.setup_iterations;
    begun_ = last_ = seconds();
  }

  /// From random vectors. Returns false if `progress` ended it.
  bool make() {
    const auto& p = state_->parameters;
    vectors_ = random_fields(state_->matrix.layout(), p.made_vectors(), p.seed, vector_stream);
    for (int i = 0; i < smoothings; ++i)
      if (!iterate(*smoother(), 1.0)) return false;
    orthonormalise();
    state_->build(vectors_);
    if (!advance(build_cost())) return false;
    for (int i = 0; i < rounds_; ++i) {
      if (!round()) return false;
      // The saving of the second round needs the contraction of the first.
      if (undecided() && i + 1 == rounds_ - 1) foretold_ = measured_cycles();
    }
    while (undecided() && state_->rounds < most_rounds) {
      const double before = *foretold_;
      foretold_ = measured_cycles();
      if (!(next_saving * (before - *foretold_) * p.right_hand_sides > round_cost * p.made_vectors())) break;
      if (!round()) return false;
    }
    return true;
  }

  /// From vectors that were kept in a layout of the same shape.
  void restore(std::span<const HalfField> vectors) {
    for (const HalfField& field : vectors) vectors_.push_back(widened(field, state_->matrix.layout()));
    state_->build(vectors_);
  }
  /// From vectors in canonical order. @throws InvalidArgument  for a wrong number of numbers
  void restore(const StoredVectors& stored) {
    const auto& layout = state_->matrix.layout();
    const auto wanted = static_cast<std::size_t>(layout->geometry().local_volume()) *
                        static_cast<std::size_t>(stored.vectors * spinor_reals);
    if (stored.numbers.size() != wanted)
      throw core::InvalidArgument(
          fmt::format("{} numbers of {} test vectors were given for the box of a process; give {}",
                      stored.numbers.size(), stored.vectors, wanted));
    const core::Region region("test vectors from canonical order");
    for (int first = 0; first < stored.vectors; first += batch) vectors_.emplace_back(layout, spinor_reals, batch);
    for_numbers(*layout, vectors_, stored.vectors, [&](std::int64_t place, float& number) {
      number = core::widen(stored.numbers[static_cast<std::size_t>(place)]);
    });
    state_->build(vectors_);
  }
  /// A round of inverse iteration. Returns false if `progress` ended it.
  bool round() {
    const core::Region region("round of inverse iteration");
    Multigrid cycle(Multigrid::State::make(state_, smoother(), state_->parameters.coarse_tolerance));
    if (!iterate(cycle, cycle_cost)) return false;
    orthonormalise();
    state_->build(vectors_);
    ++state_->rounds;
    return advance(build_cost());
  }

  /// Makes the coarsest level what it is in a finished set-up.
  void finish_coarsest() { state_->finish_coarsest(); }
  double measured_cycles() const { return Setup(state_).foretold_cycles(); }

  /// @param before  rounds that were made earlier
  Setup finish(int before = 0) {
    state_->gauge = nullptr;
    state_->term = {};
    state_->finish_coarsest();
    state_->rounds += before;
    state_->seconds = seconds();
    return Setup(state_);
  }

private:
  /// Costs in smoothings of all vectors.
  static constexpr double cycle_cost = 1.7;
  double build_cost() const {
    const auto& p = state_->parameters;
    return 0.9 * p.vectors / 24 * p.vectors / p.made_vectors();
  }

  /// Whether the number of rounds is open, and another one could pay. A round that saves four cycles is the best seen.
  bool undecided() const {
    const auto& p = state_->parameters;
    return p.setup_iterations < 0 && 4.0 * p.right_hand_sides > round_cost * p.made_vectors();
  }

  /// The smoother for a batch, made at the first call.
  const std::shared_ptr<schwarz::Schwarz>& smoother() {
    if (!smoother_) {
      smoother_ = std::make_shared<schwarz::Schwarz>(state_->matrix, batch, state_->transport);
      spare_ = smoother_->create();
    }
    return smoother_;
  }

  /// Replaces every vector by what the preconditioner makes of it, with mean square one.
  template <class Preconditioner>
  bool iterate(Preconditioner& inverse, double cost) {
    schwarz::DomainSpace space(state_->matrix.layout(), batch);
    const double numbers =
        static_cast<double>(spinor_reals) * static_cast<double>(state_->aggregates->fine()->global_volume());
    for (FineField& field : vectors_) {
      inverse.precondition(spare_, field);
      solve::Scalars factors;
      const auto pending = solve::reduce(space, {{&spare_, &spare_}});
      for (const solve::Scalar& norm2 : pending.wait())
        factors.emplace_back(norm2.real() > 0 ? std::sqrt(numbers / norm2.real()) : 0.0);
      solve::update(space, {solve::scale(spare_, factors)});
      std::swap(field, spare_);
      if (!advance(cost * batch / state_->parameters.made_vectors())) return false;
    }
    return true;
  }

  /// Replaces the vectors by orthonormal combinations of them, of mean square one. Inverse iteration turns all of them
  /// towards the lowest modes, and rounding to fp16 would then lose what tells them apart: at mass -0.10 five rounds
  /// took 45 cycles instead of 18. Vectors that are dependent in float stay as they are.
  void orthonormalise() {
    const core::Region region("orthonormal test vectors");
    const schwarz::DomainSpace space(state_->matrix.layout(), batch);
    const int batches = static_cast<int>(vectors_.size());
    Matrix gram(batches * batch);
    solve::Scalars block(batch * batch);
    for (int a = 0; a < batches; ++a)
      for (int b = 0; b <= a; ++b) {
        space.gram(block, vectors_[a], vectors_[b]);
        for (int i = 0; i < batch * batch; ++i) gram(a * batch + i / batch, b * batch + i % batch) = block[i];
      }
    double least = 1;
    const Matrix inverse = inverse_factor(gram, least);  // an upper triangle
    if (!(least > 1e-9)) return;
    const double length = std::sqrt(gram(0, 0).real());  // all are equally long
    // A batch needs itself and those before it, so the last one comes first.
    for (int b = batches - 1; b >= 0; --b) {
      for (int a = 0; a <= b; ++a) {
        for (int i = 0; i < batch * batch; ++i)
          block[i] = length * inverse(a * batch + i / batch, b * batch + i % batch);
        if (a == 0)
          space.multiply(spare_, vectors_[a], block);
        else
          space.multiply_add(spare_, vectors_[a], block);
      }
      std::swap(vectors_[b], spare_);
    }
  }

  double seconds() const { return Seconds(Clock::now() - start_).count(); }

  /// Counts work that is done. Returns false to end the set-up.
  bool advance(double cost) {
    done_ += cost;
    if (!progress_) return true;
    const double now = seconds();
    pace_ = std::min(pace_, (now - last_) / cost);
    last_ = now;
    // The first batch meets cold memory; a pass over all vectors foretells the rest.
    if (done_ < 1 - 1e-9) return true;
    const double all = smoothings + rounds_ * (cycle_cost + build_cost()) + build_cost();
    std::array<double, 1> slowest{pace_};
    state_->aggregates->fine()->communicator().max(slowest);
    return progress_({.part = std::min(1.0, done_ / all),
                      .seconds = begun_ + slowest[0] * all,
                      .cycle_seconds = slowest[0] * cycle_cost / state_->parameters.made_vectors()});
  }

  Clock::time_point start_ = Clock::now();
  Progress progress_;
  std::shared_ptr<State> state_;
  std::shared_ptr<schwarz::Schwarz> smoother_;
  std::vector<FineField> vectors_;
  FineField spare_;
  int rounds_ = 0;
  double begun_ = 0, last_ = 0, done_ = 0;
  double pace_ = std::numeric_limits<double>::infinity();  ///< seconds of a smoothing of all vectors
  std::optional<double> foretold_;
};

Setup::Setup(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Setup::Setup(const GaugeField& gauge, const Action& action, const Parameters& parameters, const std::string& transport)
    : Setup(*attempt(gauge, action, parameters, transport, {})) {}

Setup::Setup(const GaugeField& gauge, const Action& action, const Parameters& parameters, const StoredVectors& vectors,
             const std::string& transport) {
  const core::Region region("multigrid set-up");
  Parameters known = parameters;
  if (parameters.setup_vectors > 0) {
    known.setup_vectors = vectors.vectors;
    known.vectors = std::min(parameters.vectors, vectors.vectors);
  } else {
    known.vectors = vectors.vectors;
  }
  known.aggregate = vectors.aggregate;
  Construction construction(gauge, action, known, transport, {});
  construction.restore(vectors);
  *this = construction.finish();
}

std::optional<Setup> Setup::attempt(const GaugeField& gauge, const Action& action, const Parameters& parameters,
                                    const std::string& transport, const Progress& progress) {
  const core::Region region("multigrid set-up");
  Construction construction(gauge, action, parameters, transport, progress);
  if (!construction.make()) return std::nullopt;
  return construction.finish();
}

void Setup::require_lattice_of(const GaugeField& gauge) const {
  const auto& mine = *state_->aggregates->fine();
  const auto& theirs = gauge.geometry();
  if (theirs.global() != mine.global() || theirs.local() != mine.local())
    throw core::InvalidArgument(fmt::format(
        "links on {} sites, {} on a process, were given to a set-up of {} sites, {} on a process; make a new "
        "set-up",
        fmt::join(theirs.global(), "x"), fmt::join(theirs.local(), "x"), fmt::join(mine.global(), "x"),
        fmt::join(mine.local(), "x")));
}

Setup Setup::refreshed(const GaugeField& gauge, const Action& action) const {
  const core::Region region("multigrid set-up");
  const double before = foretold_cycles();
  require_lattice_of(gauge);
  Construction construction(gauge, action, state_->parameters, state_->transport, {});
  construction.restore(*state_->vectors);
  construction.finish_coarsest();
  if (construction.measured_cycles() > stale * before) construction.round();
  return construction.finish();
}

Setup Setup::another_round(const GaugeField& gauge, const Action& action) const {
  const core::Region region("multigrid set-up");
  require_lattice_of(gauge);
  Construction construction(gauge, action, state_->parameters, state_->transport, {});
  construction.restore(*state_->vectors);
  construction.round();
  return construction.finish(state_->rounds);
}

Setup Setup::adjoint() const {
  if (mu() == 0) return *this;
  const core::Region region("multigrid set-up");
  return Setup(std::make_shared<const State>(*state_, -mu()));
}

bool Setup::serves(const GaugeField& gauge, const Action& action, const Parameters& given) const {
  const auto& mine = *state_->aggregates->fine();
  const auto& theirs = gauge.geometry();
  Parameters wanted = given;
  wanted.right_hand_sides = parameters().right_hand_sides;
  wanted.aggregate = parameters().aggregate;
  // The same on every rank, so that all of them take the same way from here.
  if (theirs.global() != mine.global() || theirs.local() != mine.local() || wanted != parameters() ||
      lattice::Aggregates::nearest(theirs, given.aggregate) != aggregate() ||
      wilson_part(action) != state_->matrix.action() || twisted_mass(action) != mu())
    return false;
  std::array<double, 1> differ{fingerprint(gauge) == state_->fingerprint ? 0.0 : 1.0};
  mine.communicator().max(differ);
  return differ[0] == 0;
}

const Parameters& Setup::parameters() const noexcept { return state_->parameters; }
double Setup::mu() const noexcept { return state_->twist.mu(); }
const lattice::Coordinates<4>& Setup::aggregate() const noexcept { return state_->aggregates->size(); }
int Setup::levels() const noexcept { return static_cast<int>(state_->plan.shapes.size()) + 1; }
int Setup::rounds() const noexcept { return state_->rounds; }
double Setup::seconds() const noexcept { return state_->seconds; }

double Setup::contraction() const {
  if (state_->contraction) return *state_->contraction;
  const core::Region region("contraction");
  constexpr int cycles = 5, first = 2;
  Multigrid multigrid(*this, 1);
  auto& space = multigrid.state_->space;
  const auto b = random_fields(space.layout(), 1, state_->parameters.seed, probe_stream);
  auto x = space.create();
  solve::SolveOptions options;
  options.tolerance = 1e-30;
  options.max_iterations = options.restart_length = cycles;
  struct Cycle {
    Multigrid* multigrid;
    void apply(Multigrid::Field& out, const Multigrid::Field& in) { multigrid->precondition(out, in); }
  } cycle{&multigrid};
  const auto result = solve::fgmres(space, multigrid, x, b.front(), options, cycle);
  const auto& history = result.history.front();
  const bool whole = history.size() > cycles && history[first] > 0 && history[cycles] > 0;
  state_->contraction = whole ? std::pow(history[cycles] / history[first], 1.0 / (cycles - first)) : 1.0;
  return *state_->contraction;
}

double Setup::foretold_cycles() const { return cycles_to_solve(contraction()); }

StoredVectors Setup::stored() const {
  StoredVectors out{state_->parameters.made_vectors(), state_->aggregates->size(), {}};
  const auto& layout = *state_->matrix.layout();
  out.numbers.resize(static_cast<std::size_t>(layout.geometry().local_volume() * out.vectors * spinor_reals));
  for_numbers(layout, *state_->vectors, out.vectors,
              [&](std::int64_t place, core::Half number) { out.numbers[static_cast<std::size_t>(place)] = number; });
  return out;
}

std::int64_t Setup::predicted_bytes(const lattice::Geometry4& geometry, const Parameters& p, int columns) {
  const std::int64_t number = p.storage == "half" ? sizeof(core::Half) : sizeof(float);
  // Links, A, A^-1; P, and the vectors that are kept.
  const std::int64_t site = 3 * 72 * 4 + spinor_reals * (p.vectors * number + p.made_vectors() * 2);
  // FGMRES keeps about 15 pairs of fields, the cycle and the smoother eight more.
  const std::int64_t work = 38 * spinor_reals * 4 * columns;
  return (site + std::max<std::int64_t>(work, spinor_reals * 4 * (p.made_vectors() + 6 * batch))) *
             geometry.local_volume() +
         predicted_coarse_bytes(level_shapes(geometry, p), p);
}

std::int64_t Setup::bytes() const noexcept {
  const std::int64_t sites = state_->aggregates->fine()->local_volume();
  const std::int64_t clover_reals = state_->clover->blocks.size() > 0 ? 72 : 0;
  const std::int64_t site =
      (72 + 2 * clover_reals) * static_cast<std::int64_t>(sizeof(float)) +
      state_->parameters.made_vectors() * spinor_reals * static_cast<std::int64_t>(sizeof(core::Half));
  return site * sites + std::visit(
                            [](const auto& grid) {
                              std::int64_t bytes = grid.transfer->bytes();
                              if (grid.levels.front().gathering) bytes += grid.blocks->bytes();
                              for (const auto& level : grid.levels) bytes += level.bytes();
                              return bytes;
                            },
                            state_->grid);
}

}  // namespace halocline::qcd::multigrid
