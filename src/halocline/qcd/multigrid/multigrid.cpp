// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/multigrid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/core/philox.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/multigrid/coarse_deflation.hpp"
#include "halocline/qcd/multigrid/coarse_operator.hpp"
#include "halocline/qcd/multigrid/coarse_schur.hpp"
#include "halocline/qcd/multigrid/detail/galerkin.hpp"
#include "halocline/qcd/multigrid/transfer.hpp"
#include "halocline/qcd/schwarz/domain_space.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/multigrid.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr std::array storage_names{"half", "float"};
/// Columns that the set-up takes through the cycle together.
constexpr int setup_columns = 12;
/// Random vectors of the set-up: a stream of their own.
constexpr std::uint64_t setup_stream = 0x6d67;

template <class Names>
void require_one_of(const char* what, const std::string& given, const Names& known) {
  if (std::ranges::find(known, given) == known.end())
    throw core::InvalidArgument(fmt::format("{} is \"{}\"; give one of {}", what, given, fmt::join(known, ", ")));
}

schwarz::Parameters smoother_parameters(const Parameters& p, const lattice::Geometry4& geometry,
                                        const lattice::Coordinates<4>& aggregate) {
  schwarz::Parameters k;
  k.nsap = p.smoother_sweeps - 1;
  k.inner = p.smoother;
  k.steps = p.smoother_steps;
  for (int axis = 0; axis < 4; ++axis) k.blocks[axis] = geometry.local()[axis] / aggregate[axis];
  return k;
}

/// The coarse level in one storage.
template <class S>
struct CoarseGrid {
  std::shared_ptr<const Transfer<S>> transfer;
  std::shared_ptr<const CoarseBlocks<S>> blocks;
  std::shared_ptr<const InverseBlocks<S>> inverse;   ///< null where the coarse lattice has no parities
  std::shared_ptr<const CoarseDeflation> deflation;  ///< of the Schur complement; null where there is none
};

/// The even parts of the test vectors in the basis of the aggregates, each cut to either chirality.
template <class S>
CoarseField deflation_directions(const Transfer<S>& transfer, const FineField& vectors) {
  const auto& coarse = *transfer.aggregates()->coarse();
  const int n = transfer.vectors();
  CoarseField whole(coarse.local_volume(), 2 * n, n), out(coarse.local_volume() / 2, 2 * n, 2 * n);
  transfer.restrict_to(whole, vectors, nullptr);
  std::int64_t even = 0;
  for (std::int64_t site = 0; site < whole.sites(); ++site) {
    if (coarse.parity(lattice::coordinates_of<4>(site, coarse.local())) != 0) continue;
    for (int vector = 0; vector < n; ++vector)
      for (int chirality = 0; chirality < 2; ++chirality)
        std::copy_n(whole.at(site, vector) + chirality * 2 * n, 2 * n,
                    out.at(even, 2 * vector + chirality) + chirality * 2 * n);
    ++even;
  }
  return out;
}

}  // namespace

std::span<const char* const> storages() noexcept { return storage_names; }

void Parameters::validate() const {
  if (vectors < 8 || vectors > 64 || vectors % 8 != 0)
    throw core::InvalidArgument(
        fmt::format("{} test vectors were asked for; give a multiple of 8, from 8 to 64", vectors));
  for (int axis = 0; axis < 4; ++axis)
    if (aggregate[axis] < 1)
      throw core::InvalidArgument(fmt::format("aggregates of {} sites along {} were asked for; give at least 1",
                                              aggregate[axis], lattice::axis_name[axis]));
  if (setup_iterations < 0 || setup_iterations > 100)
    throw core::InvalidArgument(
        fmt::format("{} rounds of inverse iteration were asked for; give 0 to 100", setup_iterations));
  if (smoother_sweeps < 1 || smoother_sweeps > 100)
    throw core::InvalidArgument(
        fmt::format("{} sweeps of the smoother were asked for; give 1 to 100", smoother_sweeps));
  if (smoother_steps < 1 || smoother_steps > 100)
    throw core::InvalidArgument(fmt::format("{} steps inside a domain were asked for; give 1 to 100", smoother_steps));
  require_one_of("the smoother inside a domain", smoother, schwarz::inverses());
  require_one_of("the storage of the coarse level", storage, storage_names);
  if (!(coarse_tolerance > 0) || !(coarse_tolerance < 1))
    throw core::InvalidArgument(
        fmt::format("the tolerance of coarse solves is {}; give a number between 0 and 1", coarse_tolerance));
  if (coarse_iterations < 1)
    throw core::InvalidArgument(fmt::format("coarse_iterations is {}; give at least 1", coarse_iterations));
}

struct Setup::State {
  State(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& given)
      : parameters((given.validate(), given)),
        aggregates(std::make_shared<const lattice::Aggregates>(
            gauge.geometry_ptr(), lattice::Aggregates::nearest(gauge.geometry(), given.aggregate))),
        matrix(gauge, action, smoother_parameters(parameters, gauge.geometry(), aggregates->size())) {}

  template <class S>
  void build(const GaugeField& gauge, const std::vector<double>* term, const FineField& vectors,
             const std::string& transport) {
    CoarseGrid<S> next;
    next.transfer = std::make_shared<const Transfer<S>>(matrix.layout(), aggregates, vectors);
    next.blocks = galerkin<S, S>(*next.transfer, gauge, matrix.action(), term, transport);
    if (CoarseSchur<S>::possible(*aggregates->coarse())) {
      next.inverse = std::make_shared<const InverseBlocks<S>>(*next.blocks);
      CoarseSchur<S> schur(next.blocks, next.inverse, 2 * parameters.vectors, transport);
      next.deflation = std::make_shared<const CoarseDeflation>(
          aggregates->coarse(), deflation_directions(*next.transfer, vectors),
          [&](CoarseField& out, const CoarseField& in) { schur.apply(out, in); });
    }
    grid = std::move(next);
  }

  Parameters parameters;
  std::shared_ptr<const lattice::Aggregates> aggregates;
  schwarz::Matrix matrix;
  std::optional<DomainClover> clover;
  std::variant<CoarseGrid<core::Half>, CoarseGrid<float>> grid;
  double seconds = 0;
};

struct Multigrid::State {
  State(std::shared_ptr<const Setup::State> setup_given, int columns, const std::string& transport)
      : setup(std::move(setup_given)), smoother(setup->matrix, columns, transport), space(smoother.layout(), columns) {}
  virtual ~State() = default;
  virtual void precondition(Field& out, const Field& in) = 0;
  /// Takes the coarse level that `setup` holds now.
  virtual void renew() = 0;

  std::shared_ptr<const Setup::State> setup;
  schwarz::Schwarz smoother;
  schwarz::DomainSpace space;
  std::int64_t coarse_iterations = 0;
};

namespace {

/// The fine level and its coarse one, in the words of solve/multigrid.hpp.
template <class S>
struct FineLevel {
  using Space = schwarz::DomainSpace;
  using Coarse = CoarseField;

  Space& space() { return *space_; }
  void apply(FineField& out, const FineField& in) { smoother->apply(out, in); }
  void smooth(FineField& out, const FineField& in) { smoother->precondition(out, in); }
  CoarseField create_coarse() { return coarse_space->create(); }
  void restrict_to(CoarseField& out, const FineField& in) { transfer->restrict_to(out, in, clover); }
  void prolongate(FineField& out, const CoarseField& in) { transfer->prolongate(out, in); }

  Space* space_;
  schwarz::Schwarz* smoother;
  CoarseSpace* coarse_space;
  const Transfer<S>* transfer;
  const DomainClover* clover;
};

/// Solves on the coarsest level by restarted GMRES, on one parity where the coarse lattice has parities.
template <class S>
class CoarseSolve {
public:
  CoarseSolve(const CoarseGrid<S>& grid, int columns, const std::string& transport, const Parameters& p,
              std::int64_t* iterations)
      : iterations_(iterations) {
    options_.tolerance = p.coarse_tolerance;
    options_.max_iterations = p.coarse_iterations;
    options_.restart_length = std::min(30, p.coarse_iterations);
    if (grid.inverse) {
      schur_.emplace(grid.blocks, grid.inverse, columns, transport);
      deflation_ = grid.deflation;
      space_.emplace(schur_->space());
      x_ = space_->create();
      b_ = space_->create();
    } else {
      d_.emplace(grid.blocks, columns, transport);
      space_.emplace(grid.blocks->geometry(), grid.blocks->rows(), columns);
    }
  }

  void operator()(CoarseField& x, const CoarseField& b) {
    const core::Region region("coarse solve");
    if (!schur_) {
      *iterations_ += solve::fgmres(*space_, *d_, x, b, options_).iterations;
      return;
    }
    schur_->prepare(b_, b);
    auto along = deflation_->project(b_);
    struct Deflated {
      void apply(CoarseField& out, const CoarseField& in) {
        schur->apply(out, in);
        deflation->project(out);
      }
      CoarseSchur<S>* schur;
      const CoarseDeflation* deflation;
    } deflated{&*schur_, deflation_.get()};
    *iterations_ += solve::fgmres(*space_, deflated, x_, b_, options_).iterations;
    // A x_ has a part along C, which the directions take back.
    schur_->apply(b_, x_);
    const auto back = deflation_->project(b_);
    for (std::size_t i = 0; i < along.size(); ++i) along[i] -= back[i];
    deflation_->add(x_, along);
    schur_->reconstruct(x, x_, b);
  }

private:
  std::optional<CoarseOperator<S>> d_;
  std::optional<CoarseSchur<S>> schur_;
  std::shared_ptr<const CoarseDeflation> deflation_;
  std::optional<CoarseSpace> space_;
  CoarseField x_, b_;
  solve::SolveOptions options_;
  std::int64_t* iterations_;
};

}  // namespace

namespace {

template <class S, class Base, class SetupState>
struct StateOf final : Base {
  StateOf(std::shared_ptr<const SetupState> setup_given, int columns, const std::string& transport_given)
      : Base(std::move(setup_given), columns, transport_given), transport(transport_given) {
    if (std::get<CoarseGrid<S>>(this->setup->grid).transfer) renew();
  }
  void precondition(FineField& out, const FineField& in) override { cycle->apply(out, in); }
  void renew() override {
    grid = std::get<CoarseGrid<S>>(this->setup->grid);
    const int columns = this->space.columns();
    coarse_space.emplace(grid.blocks->geometry(), grid.blocks->rows(), columns);
    level = {&this->space, &this->smoother, &*coarse_space, grid.transfer.get(), &*this->setup->clover};
    coarse_solve.emplace(grid, columns, transport, this->setup->parameters, &this->coarse_iterations);
    // A cycle made again would only allocate its vectors again.
    if (!cycle) cycle.emplace(level, *coarse_solve);
  }

  std::string transport;
  CoarseGrid<S> grid;
  std::optional<CoarseSpace> coarse_space;
  FineLevel<S> level;
  std::optional<CoarseSolve<S>> coarse_solve;
  std::optional<solve::MultigridCycle<FineLevel<S>, CoarseSolve<S>>> cycle;
};

/// Fills column c of `to` with column `from_column` of `from`.
void copy_column(FineField& to, int to_column, const FineField& from, int from_column) {
  const std::int64_t tiles = std::int64_t{from.layout().domains()} * from.layout().tiles();
  const core::Region region("copy");
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    std::copy_n(from.data() + tile * from.tile_stride() + from_column * from.column_stride(), from.column_stride(),
                to.data() + tile * to.tile_stride() + to_column * to.column_stride());
}

/// Random numbers between -1 and 1, a function of the seed, the vector and the global site.
FineField random_vectors(const std::shared_ptr<const lattice::DomainLayout>& layout, int vectors, std::uint64_t seed) {
  const core::Region region("random vectors");
  FineField out(layout, spinor_reals, vectors);
  const core::Philox random(seed, setup_stream);
  const auto& geometry = layout->geometry();
  const int lanes = layout->lanes();
  const std::int64_t sites = geometry.local_volume();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < sites; ++i) {
    const auto x = lattice::coordinates_of<4>(i, geometry.local());
    const auto site = layout->locate(x);
    auto here = random.at(static_cast<std::uint64_t>(geometry.global_index(x)));
    float* to = out.domain(site.domain) + site.tile * out.tile_stride() + site.lane;
    for (int n = 0; n < vectors * spinor_reals; ++n) to[n * lanes] = static_cast<float>(2 * here.uniform() - 1);
  }
  return out;
}

}  // namespace

Setup::Setup(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters,
             const std::string& transport) {
  const core::Region region("multigrid set-up");
  const auto begun = std::chrono::steady_clock::now();
  auto state = std::make_shared<State>(gauge, action, parameters);
  std::vector<double> term;
  if (action.has_clover()) term = clover::canonical_term(gauge, action);
  const std::vector<double>* blocks = term.empty() ? nullptr : &term;
  state->clover.emplace(*state->matrix.layout(), blocks, action.diagonal());

  const auto& p = state->parameters;
  FineField vectors = random_vectors(state->matrix.layout(), p.vectors, p.seed);
  const auto build = [&] {
    if (p.storage == "half")
      state->build<core::Half>(gauge, blocks, vectors, transport);
    else
      state->build<float>(gauge, blocks, vectors, transport);
  };
  // The cycle has its smoother only, until there is a coarse level.
  if (p.storage == "float") state->grid = CoarseGrid<float>();
  state_ = state;
  Multigrid cycle(*this, std::min(setup_columns, p.vectors), transport);
  auto& space = cycle.state_->space;
  auto in = space.create(), out = space.create();
  // Every vector is replaced by what `inverse` makes of it, with norm one.
  const auto iterate = [&](const auto& inverse) {
    for (int first = 0; first < p.vectors; first += space.columns()) {
      const int count = std::min(space.columns(), p.vectors - first);
      for (int c = 0; c < space.columns(); ++c) copy_column(in, c, vectors, first + c % count);
      inverse(out, in);
      solve::Scalars normalise;
      const auto pending = solve::reduce(space, {{&out, &out}});
      for (const solve::Scalar& norm2 : pending.wait())
        normalise.emplace_back(norm2.real() > 0 ? 1 / std::sqrt(norm2.real()) : 0.0);
      solve::update(space, {solve::scale(out, normalise)});
      for (int c = 0; c < count; ++c) copy_column(vectors, first + c, out, c);
    }
  };
  for (int i = 0; i < 3; ++i)
    iterate([&](FineField& to, const FineField& from) { cycle.smoother().precondition(to, from); });
  build();
  for (int i = 0; i < p.setup_iterations; ++i) {
    cycle.state_->renew();
    iterate([&](FineField& to, const FineField& from) { cycle.precondition(to, from); });
    build();
  }
  state->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

const Parameters& Setup::parameters() const noexcept { return state_->parameters; }
const lattice::Coordinates<4>& Setup::aggregate() const noexcept { return state_->aggregates->size(); }
double Setup::seconds() const noexcept { return state_->seconds; }

std::int64_t Setup::bytes() const noexcept {
  const std::int64_t sites = state_->aggregates->fine()->local_volume();
  const std::int64_t clover_reals = state_->clover->blocks.size() > 0 ? 72 : 0;
  const std::int64_t site = (72 + 2 * clover_reals) * static_cast<std::int64_t>(sizeof(float));
  return site * sites + std::visit(
                            [](const auto& grid) {
                              return grid.transfer->bytes() + grid.blocks->bytes() +
                                     (grid.inverse ? grid.inverse->bytes() + grid.deflation->bytes() : 0);
                            },
                            state_->grid);
}

Multigrid::Multigrid(const Setup& setup, int columns, const std::string& transport)
    : state_(std::visit(
          [&]<class S>(const CoarseGrid<S>&) -> std::unique_ptr<State> {
            return std::make_unique<StateOf<S, State, Setup::State>>(setup.state_, columns, transport);
          },
          setup.state_->grid)) {}
Multigrid::~Multigrid() = default;
Multigrid::Multigrid(Multigrid&&) noexcept = default;

int Multigrid::columns() const noexcept { return state_->space.columns(); }
schwarz::Schwarz& Multigrid::smoother() noexcept { return state_->smoother; }
const schwarz::Schwarz& Multigrid::smoother() const noexcept { return state_->smoother; }
void Multigrid::precondition(Field& out, const Field& in) {
  const core::Region region("multigrid");
  state_->precondition(out, in);
}
std::int64_t Multigrid::coarse_iterations() const noexcept { return state_->coarse_iterations; }

}  // namespace halocline::qcd::multigrid
