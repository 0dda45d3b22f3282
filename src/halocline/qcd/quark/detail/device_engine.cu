// SPDX-License-Identifier: Apache-2.0
//
// Host code only. In nvcc's pass for a GPU architecture this file is empty and costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/quark/detail/device_engine.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "halocline/comm/group/time_limit.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/binding.hpp"
#include "halocline/gpu/condition.hpp"
#include "halocline/qcd/device/staging.cuh"
#include "halocline/qcd/quark/detail/device_solver_batch.cuh"

namespace halocline::qcd::device {
namespace {

constexpr int most_columns = 32;

std::string gigabytes(std::int64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g GB", static_cast<double>(bytes) / 1e9);
  return text.data();
}

/// A sentence for an error if `bytes` exceed the free memory of the device, otherwise nothing. The host executor uses
/// the memory of the process, which is not checked.
std::optional<std::string> shortage(const gpu::Device& device, std::int64_t bytes, const std::string& what) {
  if (!device.on_gpu()) return std::nullopt;
  const auto memory = device.memory();
  if (bytes <= memory.free) return std::nullopt;
  return what + " would take " + gigabytes(bytes) + " on " + device.describe() + ", where " + gigabytes(memory.free) +
         " of " + gigabytes(memory.total) +
         " are free; solve fewer right-hand sides together (rhs_batch), take more processes, or a smaller lattice";
}

/// The note of gpu::shared_while_others_are_free(). Collective: yes.
std::string crowding(const gpu::Device& device, const comm::Communicator& group) {
  constexpr std::size_t most = 32, length = 64;           // GPUs that a process sees; of a UUID
  std::array<std::array<char, length>, 1 + most> mine{};  // its own first
  const auto put = [](std::array<char, length>& place, const gpu::Properties& of) {
    of.uuid.copy(place.data(), length - 1);  // slices of one GPU differ
  };
  put(mine[0], device.properties());
  try {
    const auto seen = device.on_gpu() ? gpu::gpus() : std::vector<gpu::Properties>();
    for (std::size_t i = 0; i < std::min(most, seen.size()); ++i) put(mine[1 + i], seen[i]);
  } catch (const core::Error&) {
    // A GPU that another process will use does not answer. Only a note is lost, and the others wait in allgather().
  }
  const auto gathered = group.split_by_node().allgather(std::as_bytes(std::span(mine)));
  std::vector<std::string> used, there;
  for (std::size_t at = 0; at < gathered.size(); at += length)
    (at % sizeof mine == 0 ? used : there).emplace_back(reinterpret_cast<const char*>(gathered.data()) + at);
  return gpu::shared_while_others_are_free(mine[0].data(), used, there);
}

/// Reals of an inner link if the options leave them open.
int automatic_reals(double unitarity_violation) { return unitarity_violation <= 1e-5 ? 12 : 18; }

/// @tparam S  the inner storage; double without mixed precision
template <class S>
class Engine : public Backend {
public:
  static constexpr bool mixed = !std::is_same_v<S, double>;

  Engine(ContextPtr context, const ReadGauge& read, const Action& action, const BackendOptions& options)
      : context_(std::move(context)),
        options_(options),
        has_clover_(!is_staggered(action) && hopping_part(action).has_clover()),
        shape_{qcd::points(action), components(action)} {
    if (const auto* staggered = std::get_if<StaggeredAction>(&action)) {
      steps_ = staggered->has_long_links() ? 16 : 8;
      options_.link_reals = 18;
    }
    const auto& group = context_->geometry->communicator();
    crowded_ = crowding(context_->device, group);
    if (options_.link_reals == 0) options_.link_reals = mixed ? 12 : 18;
    comm::raise_everywhere(group, shortage(context_->device, data_bytes(), "links and clover blocks"));
    const HostData host = read(context_->box);
    if (options_.link_reals != 18 && options.link_reals == 0)
      options_.link_reals = automatic_reals(host.links.unitarity_violation);
    comm::on_every_rank(group, [&] {
      precise_ = action_data<double>(host, action, mixed ? 18 : options_.link_reals);
      if constexpr (mixed) inner_ = action_data<S>(host, action, options_.link_reals);
      context_->stream.synchronize();
    });
  }
  ~Engine() override {
    try {
      context_->stream.synchronize();
    } catch (...) {
      // A destructor cannot report a failure. A caller who waits for results gets it there.
    }
  }

  std::string device() const override { return context_->device.describe(); }
  std::string storage() const override {
    return std::string(Storage<S>::name) + ", " + std::to_string(options_.link_reals) + " reals a link";
  }
  std::int64_t predicted_bytes(int columns, std::span<const std::string> methods) const override {
    // Staging has two pieces on the device.
    return data_bytes() + 2 * detail::Staging::piece_bytes +
           Batch::bytes(context_->box, options_, columns, shape_, methods);
  }
  Memory memory() const override {
    const auto use = context_->device.memory();
    return {.free = use.free,
            .total = use.total,
            .ours = use.ours,
            .most_ours = use.most_ours,
            .allocations = use.allocations};
  }

  std::vector<std::string> take_notes() override {
    auto notes = context_->tuner.cache().take_warnings();
    if (std::exchange(others_noted_, true) || !context_->device.on_gpu()) return notes;
    const auto use = context_->device.memory();
    for (const std::string& note :
         {gpu::far_from(gpu::binding_of(context_->device.properties().pci_address), gpu::allowed_cpus()), crowded_})
      if (!note.empty()) notes.push_back(context_->device.describe() + ": " + note);
    const std::string held = gpu::held_by_others(use.total - use.free - use.ours, use.total);
    if (!held.empty()) notes.push_back(context_->device.describe() + ": " + held);
    return notes;
  }
  int fitting_columns(int wanted, std::span<const std::string> methods) const override {
    int columns = 1;
    // Idle memory of the pool goes back to the driver when the batch is replaced.
    const std::int64_t room =
        context_->device.on_gpu() ? (context_->device.memory().free + context_->vectors.idle_bytes()) / 10 * 9 : 0;
    for (int candidate = 2; candidate <= std::min(wanted, most_columns); ++candidate) {
      // Only divisors, so that the right-hand sides of a propagator make equal batches.
      if (wanted % candidate != 0) continue;
      if (!context_->device.on_gpu() || Batch::bytes(context_->box, options_, candidate, shape_, methods) <= room)
        columns = candidate;
    }
    std::array<double, 1> least{static_cast<double>(columns)};
    context_->geometry->communicator().min(least);
    return static_cast<int>(least[0]);
  }

  DeviceBatch& batch(int columns, std::span<const std::string> methods) override {
    if (columns < 1 || columns > most_columns)
      throw core::InvalidArgument(std::to_string(columns) +
                                  " right-hand sides were to be solved together on a device; give 1 to 32");
    if (batch_ && batch_->columns() == columns) return *batch_;
    context_->stream.synchronize();
    batch_.reset();
    context_->vectors.trim();  // vectors of another number of columns have other sizes
    comm::raise_everywhere(
        context_->geometry->communicator(),
        shortage(context_->device, Batch::bytes(context_->box, options_, columns, shape_, methods),
                 "a solve of " + std::to_string(columns) + (columns == 1 ? " right-hand side" : " right-hand sides")));
    batch_ = std::make_unique<Batch>(precise_, inner(), options_, columns);
    return *batch_;
  }

  void apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger) override {
    if (!single_) single_ = detail::device_dirac(precise_, 1);
    DeviceSpinor<double> from(context_, lattice::Subset::full, 1, shape_.components),
        to(context_, lattice::Subset::full, 1, shape_.components);
    from_canonical(from, 0, in);
    if (dagger)
      single_->apply_dagger(to, from);
    else
      single_->apply(to, from);
    to_canonical(out, to);
    single_->check();
  }

  std::vector<solve::SolveResult> multishift(std::span<const std::span<std::complex<double>>> x,
                                             std::span<const double> shifts, std::span<const std::complex<double>> b,
                                             const solve::SolveOptions& options) override {
    if (x.size() != shifts.size())
      throw core::InvalidArgument(std::to_string(shifts.size()) + " shifts and room for " + std::to_string(x.size()) +
                                  " solutions were given; give as many of each");
    if (!shifted_) shifted_ = std::make_unique<detail::DeviceLevel<double>>(precise_, options_, 1);
    detail::DeviceLevel<double>& level = *shifted_;
    const auto points = static_cast<std::size_t>(shape_.points);
    for (const std::size_t given : {b.size(), x.empty() ? b.size() : x[0].size()})
      if (given % points != 0)
        throw core::InvalidArgument(
            "shifted systems were asked for with arrays of " + std::to_string(given) +
            " complex numbers; give [s][t][z][y][x][spin 4][colour 3] of Ls = " + std::to_string(points));
    // A point of the fifth dimension after the other: each is an array of four dimensions.
    const std::size_t each = b.size() / points;
    auto source = level.space().create();
    for (std::size_t s = 0; s < points; ++s) from_canonical(source, static_cast<int>(s), b.subspan(s * each, each));
    std::vector<DeviceSpinor<double>> solutions;
    for (std::size_t i = 0; i < shifts.size(); ++i) solutions.push_back(level.space().create());
    std::vector<solve::SolveResult> results;
    if (auto* walls = dynamic_cast<DeviceDomainWall<double>*>(&level.d())) {
      if (!whole_) whole_.emplace(level.a(), *walls);
      results = solve_shifted(level.space(), *whole_, shifts, solutions, source, options);
    } else if (shape_.components == spinor_components) {
      results = solve_shifted(level.space(), level.a(), shifts, solutions, source, options);
    } else {
      results = solve_shifted_staggered(level, shifts, solutions, source, options);
    }
    for (std::size_t i = 0; i < shifts.size(); ++i)
      for (std::size_t s = 0; s < points; ++s)
        to_canonical(x[i].subspan(s * each, each), solutions[i], static_cast<int>(s));
    level.d().check();
    return results;
  }

private:
  using Batch = detail::SolverBatch<S>;

  /// (D^dagger D + shift) x = b. On the even sites D^dagger D is the Schur complement times the mass, or its square.
  std::vector<solve::SolveResult> solve_shifted_staggered(detail::DeviceLevel<double>& level,
                                                          std::span<const double> shifts,
                                                          std::span<DeviceSpinor<double>> x,
                                                          const DeviceSpinor<double>& b,
                                                          const solve::SolveOptions& options) const {
    if (!level.a().hermitian_positive()) return solve_shifted(level.space(), level.a(), shifts, x, b, options);
    const double mass = level.d().diagonal(), factor = options_.symmetric ? mass * mass : mass;
    std::vector<double> scaled(shifts.begin(), shifts.end());
    for (double& shift : scaled) shift /= factor;
    auto results = solve_shifted_positive(level.space(), level.a(), scaled, x, b, options);
    for (auto& one : x) level.space().scale(solve::Scalars{1 / factor}, one);
    return results;
  }

  template <class T>
  detail::ActionData<T> action_data(const HostData& host, const Action& action, int link_reals) const {
    detail::ActionData<T> data;
    if (const auto* staggered = std::get_if<StaggeredAction>(&action)) {
      using Links = detail::StaggeredLinksOf<T>;
      if (Storage<T>::scaled)
        throw core::InvalidArgument(std::string("staggered quarks were asked for in ") + Storage<T>::name +
                                    ", which fat links do not fit; give \"float\", or double precision");
      data.staggered = std::make_shared<const Links>(context_, host.staggered, staggered->mass);
      return data;
    }
    data.wilson = wilson_data<T>(context_, host.links, host.clover, action, link_reals);
    if (const auto* walls = std::get_if<DomainWallAction>(&action))
      data.walls = std::make_shared<const DeviceWallMatrices<T>>(*context_, *walls);
    return data;
  }
  const detail::ActionData<S>* inner() const noexcept {
    if constexpr (mixed)
      return &inner_;
    else
      return nullptr;
  }
  /// Bytes of links, clover blocks and matrices of a fifth dimension on the device.
  std::int64_t data_bytes() const {
    const Box& box = context_->box;
    if (steps_ > 0)
      return DeviceStaggeredLinks<double>::bytes(box, steps_) +
             (mixed ? detail::StaggeredLinksOf<S>::bytes(box, steps_) : 0);
    std::int64_t bytes = wilson_bytes<double>(box, has_clover_, mixed ? 18 : options_.link_reals);
    if (mixed) bytes += wilson_bytes<S>(box, has_clover_, options_.link_reals);
    if (shape_.points > 1) bytes += DeviceWallMatrices<double>::bytes(shape_.points);
    if (shape_.points > 1 && mixed) bytes += DeviceWallMatrices<S>::bytes(shape_.points);
    return bytes;
  }

  ContextPtr context_;
  BackendOptions options_;
  bool has_clover_;
  detail::FieldShape shape_;
  int steps_ = 0;  ///< of staggered quarks, else 0
  detail::ActionData<double> precise_;
  detail::ActionData<S> inner_;  ///< empty without mixed precision
  std::unique_ptr<Batch> batch_;
  std::unique_ptr<DeviceDirac<double>> single_;           ///< for apply()
  std::unique_ptr<detail::DeviceLevel<double>> shifted_;  ///< for multishift()
  std::optional<DeviceWholeWalls<double>> whole_;         ///< of domain walls, over shifted_
  bool others_noted_ = false;
  std::string crowded_;  ///< a note, or empty
};

}  // namespace

bool has_kernels() noexcept { return true; }

std::unique_ptr<Backend> make_backend(std::shared_ptr<const lattice::Geometry4> geometry, const ReadGauge& read,
                                      const Action& action, const BackendOptions& options) {
  validate(action);
  const auto& group = geometry->communicator();
  const int node_rank = group.split_by_node().rank();
  ContextPtr context;
  comm::on_every_rank(group, [&] {
    const auto device = gpu::Device::open(options.device, node_rank);
    context =
        std::make_shared<Context>(device, geometry, options.emulated,
                                  HaloChoice{.policy = options.halo, .time_limit = comm::solve_time_limit(group)});
  });
  if (options.inner == "double") return std::make_unique<Engine<double>>(context, read, action, options);
  if (options.inner == "float") return std::make_unique<Engine<float>>(context, read, action, options);
  if (options.inner == "fixed16") return std::make_unique<Engine<Fixed16>>(context, read, action, options);
  if (options.inner == "fixed8") return std::make_unique<Engine<Fixed8>>(context, read, action, options);
  throw core::InvalidArgument("the storage inside the iteration is \"" + options.inner +
                              "\"; give double, float, fixed16 or fixed8");
}

}  // namespace halocline::qcd::device

#endif
