// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks arguments, chooses a policy, counts steps, and keeps failures.

#include "halocline/gpu/face_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/await_faces.hpp"
#include "halocline/gpu/detail/halo_policy.hpp"

namespace halocline::gpu {
namespace {

using detail::HaloPlan;

constexpr std::size_t index_of(int face) { return static_cast<std::size_t>(face); }

std::string face_name(int face) { return fmt::format("{}{}", face % 2 == 0 ? '-' : '+', "xyzt"[face / 2]); }

const PolicyInfo* find(const std::vector<PolicyInfo>& policies, std::string_view name) {
  const auto found = std::find_if(policies.begin(), policies.end(), [&](const auto& p) { return p.name == name; });
  return found == policies.end() ? nullptr : &*found;
}

std::string choose(const std::vector<PolicyInfo>& policies, std::string_view wanted) {
  if (wanted.empty())
    for (const char* name : {"remote-write", "copy-engine", "mixed", "staged"})
      if (find(policies, name)->available) return name;
  const PolicyInfo* found = find(policies, wanted);
  if (found != nullptr && found->available) return found->name;
  std::string others;
  for (const PolicyInfo& p : policies)
    if (p.available) others += (others.empty() ? "" : ", ") + p.name;
  throw core::InvalidArgument(fmt::format("halo policy \"{}\" is not available: {}; choose one of {}", wanted,
                                          found == nullptr ? "there is none of that name" : found->reason, others));
}

void check_arguments(const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                     const FaceExchangeOptions& options) {
  if (2 * grid.ndim() > most_faces)
    throw core::InvalidArgument(
        fmt::format("a process grid of {} axes was given to an exchange between devices; give at most {}", grid.ndim(),
                    most_faces / 2));
  if (face_bytes.size() != static_cast<std::size_t>(grid.ndim()))
    throw core::InvalidArgument(fmt::format("{} sizes of messages were given for a process grid of {} axes; give one "
                                            "for each axis",
                                            face_bytes.size(), grid.ndim()));
  for (int axis = 0; axis < 32; ++axis) {
    if ((options.emulated >> axis & 1u) == 0) continue;
    if (axis >= grid.ndim() || grid.dims()[index_of(axis)] != 1)
      throw core::InvalidArgument(
          fmt::format("axis {} was asked to be emulated, and {}; emulate axes of one process", axis,
                      axis >= grid.ndim() ? "the grid has no such axis" : "several processes share it already"));
  }
  if (options.ranks_per_node < 0)
    throw core::InvalidArgument(
        fmt::format("{} ranks a machine were given for a halo; give 0 or more", options.ranks_per_node));
  if (!(options.time_limit > 0))
    throw core::InvalidArgument(
        fmt::format("a time limit of {} s was given for a halo; give a positive one", options.time_limit));
}

std::unique_ptr<detail::HaloPolicy> make_policy(const HaloPlan& plan) {
  if (plan.policy == "staged") return detail::make_staged_halo(plan);
  if (plan.policy == "zero-copy") return detail::make_message_halo(plan, detail::MessageMemory::pinned);
  if (plan.policy == "gpu-aware-mpi") return detail::make_message_halo(plan, detail::MessageMemory::device);
  if (plan.policy == "mixed") return detail::make_mixed_halo(plan);
  if (plan.policy == "nvshmem") return detail::make_nvshmem_halo(plan);
  return detail::make_mapped_halo(plan, plan);
}

/// The request of one rank. Ranks that share a face compare their requests.
struct Ask {
  std::uint64_t bytes[most_faces];
  double time_limit;
  unsigned emulated;
  int ranks_per_node;
  char policy[20];
};

void compare(const HaloPlan& plan, const std::vector<std::byte>& all, const Ask& mine) {
  const auto of = [&](int rank) {
    Ask ask;
    std::memcpy(&ask, all.data() + sizeof(Ask) * static_cast<std::size_t>(rank), sizeof(Ask));
    return ask;
  };
  for (int rank = 0; rank < plan.grid.size(); ++rank) {
    const Ask theirs = of(rank);
    if (std::strncmp(theirs.policy, mine.policy, sizeof(mine.policy)) != 0 || theirs.emulated != mine.emulated)
      throw core::InvalidArgument(
          fmt::format("halo policy \"{}\" with emulated axes {:#x} was asked for here, \"{}\" with {:#x} on rank {}; "
                      "give all ranks the same",
                      mine.policy, mine.emulated, theirs.policy, theirs.emulated, rank));
  }
  for (int rank = 0; rank < plan.grid.size(); ++rank)
    if (const int theirs = of(rank).ranks_per_node; theirs != mine.ranks_per_node)
      throw core::InvalidArgument(
          fmt::format("{} ranks a machine were given here, {} on rank {}; give all ranks the same", mine.ranks_per_node,
                      theirs, rank));
  for (int face = 0; face < 2 * plan.grid.ndim(); ++face) {
    const int rank = plan.neighbour[index_of(face)];
    if (rank < 0) continue;
    const Ask theirs = of(rank);
    if (theirs.bytes[face ^ 1] != mine.bytes[face])
      throw core::InvalidArgument(fmt::format(
          "messages of {} bytes were asked for at face {}, and rank {} beyond it asks for {}; neighbours must agree",
          mine.bytes[face], face_name(face), rank, theirs.bytes[face ^ 1]));
  }
}

}  // namespace

namespace detail {

std::vector<std::size_t> HaloPlan::axis_bytes() const {
  std::vector<std::size_t> out(static_cast<std::size_t>(grid.ndim()));
  for (std::size_t axis = 0; axis < out.size(); ++axis) out[axis] = std::max(bytes[2 * axis], bytes[2 * axis + 1]);
  return out;
}

std::string HaloPlan::where(int face, std::uint64_t step) const {
  return fmt::format("rank {}, halo policy {}: face {} (from rank {}), step {}", grid.rank(), policy, face_name(face),
                     neighbour[index_of(face)], step);
}

FacePlaces::FacePlaces(const HaloPlan& plan) {
  for (int face = 0; face < most_faces; ++face) {
    begin[index_of(face)] = bytes;
    bytes += (plan.bytes[index_of(face)] + 255) / 256 * 256;
  }
}

}  // namespace detail

std::span<const char* const> halo_policy_names() noexcept {
  static constexpr std::array names{"staged",       "zero-copy",   "gpu-aware-mpi", "mixed",  "copy-engine",
                                    "remote-write", "merged-pack", "one-kernel",    "nvshmem"};
  return names;
}

std::vector<PolicyInfo> halo_policies(const Device& device, const comm::ProcessGrid& grid, int ranks_per_node) {
  const std::string message = detail::message_halo_unavailable_reason(device, grid);
  const std::string mapped = detail::mapped_halo_unavailable_reason(device, grid);
  const std::string mixed =
      mapped.empty() && ranks_per_node == 0 ? "all processes are on one machine, where copy-engine does the same" : "";
  const std::string nvshmem = detail::nvshmem_halo_unavailable_reason(device);
  std::vector<PolicyInfo> out;
  for (const std::string name : halo_policy_names()) {
    const std::string reason = name == "staged" || name == "zero-copy" ? std::string()
                               : name == "gpu-aware-mpi"               ? message
                               : name == "mixed"                       ? mixed
                               : name == "nvshmem"                     ? nvshmem
                                                                       : mapped;
    out.push_back({name, reason.empty(), reason});
  }
  return out;
}

struct FaceExchange::State {
  enum class Stage { idle, begun, posted };

  ~State() {
    if (policy == nullptr) return;
    try {
      plan.device.synchronize();  // kernels and copies may still use the policy's memory
    } catch (const core::Error&) {
      // The error shows when the caller waits for results.
    }
  }

  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  HaloPlan plan;
  FaceExchangeOptions options;
  std::unique_ptr<detail::HaloPolicy> policy;  ///< null if no face is active on any rank
  std::uint64_t step = 0;
  Stage stage = Stage::idle;
  std::string failure{};
  std::uint64_t number = next_number();
  std::optional<std::uint64_t> recorded_from{};  ///< during a recording: the steps made before
  DeviceArray<std::uint64_t> base{};             ///< of the recorded steps of a graph that runs

  void require(Stage expected, const char* call) const {
    if (!failure.empty()) throw core::Error("this halo exchange has failed before: " + failure, plan.grid.rank());
    if (stage != expected)
      throw core::Error(fmt::format("rank {}: {} of a halo exchange was called out of turn (begin, post, wait)",
                                    plan.grid.rank(), call),
                        plan.grid.rank());
  }
  /// Runs a step of the policy; an exception ends the exchange for good.
  template <class Action>
  void guarded(Action&& action) {
    try {
      action();
      check();
    } catch (const std::exception& error) {
      if (failure.empty()) failure = error.what();
      throw;
    }
  }
  void check() {
    if (policy == nullptr) return;
    const std::uint64_t failed = policy->failed();
    if (failed == 0) return;
    failure = fmt::format("{}: no message within {} s",
                          plan.where(static_cast<int>(failed % failure_number) - 1, failed / failure_number),
                          plan.time_limit);
    throw core::Error(failure, plan.grid.rank());
  }
};

FaceExchange::FaceExchange(const Device& device, const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                           std::string_view policy, const FaceExchangeOptions& options) {
  const std::vector<PolicyInfo> policies = halo_policies(device, grid, options.ranks_per_node);
  HaloPlan plan{.device = device,
                .grid = grid,
                .policy = {},
                .time_limit = options.time_limit,
                .ranks_per_node = options.ranks_per_node};
  plan.neighbour.fill(-1);
  Ask ask{};
  comm::on_every_rank(grid.communicator(), [&] {
    check_arguments(grid, face_bytes, options);
    plan.policy = choose(policies, policy);
    for (int face = 0; face < 2 * grid.ndim(); ++face) {
      const auto axis = index_of(face / 2);
      const bool split = grid.dims()[axis] > 1 || (options.emulated >> axis & 1u) != 0;
      const int neighbour = grid.neighbour(comm::Face::from_index(face));
      if (!split || neighbour < 0) continue;
      ask.bytes[face] = face_bytes[axis];
      plan.neighbour[index_of(face)] = neighbour;
    }
    ask.time_limit = options.time_limit;
    ask.emulated = options.emulated;
    ask.ranks_per_node = options.ranks_per_node;
    plan.policy.copy(ask.policy, sizeof(ask.policy) - 1);
  });
  const std::vector<std::byte> all = grid.communicator().allgather(std::as_bytes(std::span(&ask, 1)));
  comm::on_every_rank(grid.communicator(), [&] { compare(plan, all, ask); });
  for (int face = 0; face < most_faces; ++face) {
    plan.bytes[index_of(face)] = ask.bytes[face];
    if (ask.bytes[face] == 0) plan.neighbour[index_of(face)] = -1;
  }
  const bool idle = std::all_of(plan.bytes.begin(), plan.bytes.end(), [](std::size_t bytes) { return bytes == 0; });
  state_.reset(new State{.plan = plan, .options = options, .policy = nullptr});
  if (grid.communicator().all(idle)) return;
  try {
    state_->policy = make_policy(plan);
    if (records()) state_->base = DeviceArray<std::uint64_t>(device, 1);
  } catch (const core::Error&) {  // on all ranks together: mapping a neighbour's memory can fail only when it is tried
    if (comm::gave_up_waiting() || !policy.empty() || plan.policy == "staged") throw;
    state_->plan.policy = plan.policy = "staged";
    state_->policy = make_policy(plan);
  }
}

FaceExchange::~FaceExchange() = default;
FaceExchange::FaceExchange(FaceExchange&&) noexcept = default;
FaceExchange& FaceExchange::operator=(FaceExchange&&) noexcept = default;

const std::string& FaceExchange::policy() const noexcept { return state_->plan.policy; }
std::uint64_t FaceExchange::number() const noexcept { return 2 * state_->number + state_->step % 2; }
const FaceExchangeOptions& FaceExchange::options() const noexcept { return state_->options; }
bool FaceExchange::active(comm::Face face) const noexcept { return state_->plan.active(face.index()); }
bool FaceExchange::packs_remotely() const noexcept {
  return policy() == "remote-write" || policy() == "nvshmem" || merges_packing();
}
bool FaceExchange::merges_packing() const noexcept { return policy() == "merged-pack" || one_kernel(); }
bool FaceExchange::waits_in_kernel() const noexcept {
  return policy() == "remote-write" || policy() == "merged-pack" || one_kernel();
}
bool FaceExchange::one_kernel() const noexcept {
  return policy() == "one-kernel" || (policy() == "nvshmem" && state_->policy != nullptr && state_->policy->direct());
}

void FaceExchange::begin(Stream& stream) {
  State& s = *state_;
  s.require(State::Stage::idle, "begin()");
  if (stream.capturing() && !s.recorded_from)
    throw core::Error("a halo exchange was captured in a graph outside of a recording; call begin_recording() first");
  s.guarded([&] {
    s.check();  // a failure left by a kernel of an earlier step
    ++s.step;
    if (s.policy != nullptr) s.policy->begin(stream, s.step);
  });
  s.stage = State::Stage::begun;
}

std::byte* FaceExchange::outbox(comm::Face face) const noexcept {
  return active(face) ? state_->policy->outbox(face.index(), state_->step) : nullptr;
}
const std::byte* FaceExchange::inbox(comm::Face face) const noexcept {
  return active(face) ? state_->policy->inbox(face.index(), state_->step) : nullptr;
}
FaceSignals FaceExchange::signals() const noexcept {
  if (state_->policy == nullptr) return {};
  FaceSignals out = state_->policy->signals(state_->step);
  if (state_->recorded_from) {
    out.base = state_->base.data();
    out.step -= *state_->recorded_from;
  }
  return out;
}

bool FaceExchange::records() const noexcept {
  return state_->policy == nullptr || policy() == "remote-write" || policy() == "merged-pack" ||
         policy() == "one-kernel";
}

void FaceExchange::begin_recording() {
  State& s = *state_;
  s.require(State::Stage::idle, "begin_recording()");
  if (!records())
    throw core::Error(
        fmt::format("halo policy \"{}\" cannot be recorded in a graph; launch what needs it without", policy()));
  s.recorded_from = s.step;
}

RecordedSteps FaceExchange::end_recording() {
  State& s = *state_;
  const RecordedSteps steps{*s.recorded_from, s.step - *s.recorded_from};
  s.step = steps.before;
  s.stage = State::Stage::idle;
  s.recorded_from.reset();
  return steps;
}

bool FaceExchange::replay(Stream& stream, const RecordedSteps& steps) {
  State& s = *state_;
  s.require(State::Stage::idle, "replay()");
  if ((s.step - steps.before) % 2 != 0) return false;
  s.guarded([&] { stream.write_value(s.base.data(), s.step); });
  s.step += steps.count;
  return true;
}

void FaceExchange::post(Stream& stream) {
  State& s = *state_;
  s.require(State::Stage::begun, "post()");
  s.guarded([&] {
    if (s.policy != nullptr) s.policy->post(stream, s.step);
  });
  s.stage = State::Stage::posted;
}

void FaceExchange::wait(Stream& stream) {
  State& s = *state_;
  s.require(State::Stage::posted, "wait()");
  s.guarded([&] {
    if (s.policy == nullptr) return;
    if (s.recorded_from)
      detail::await_faces(stream, signals());
    else
      s.policy->wait(stream, s.step);
  });
  s.stage = State::Stage::idle;
}

void FaceExchange::wait_in_kernel() {
  State& s = *state_;
  s.require(State::Stage::posted, "wait_in_kernel()");
  s.stage = State::Stage::idle;
}

void FaceExchange::check() {
  if (!state_->failure.empty()) throw core::Error(state_->failure, state_->plan.grid.rank());
  state_->check();
}

}  // namespace halocline::gpu
