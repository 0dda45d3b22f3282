// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The clock, the events and the turns of a simulation.
///
/// Ranks are fibers. A rank runs until it cannot go on. It then blocks until it is woken, or it is idle, which means
/// that it will look again. The next rank is drawn from those that can run. Time stands still while any rank can run.
/// When none can, time moves to the next event (a part of a message leaves or arrives, a rank wakes up). If an idle
/// rank can see the effect of the event, it looks again. Idle ranks may also wait for memory that another rank
/// writes, and there is no event for that. So all idle ranks look again after a step of time in any case. This step
/// grows from 10 us to 1 ms while there are no events.
///
/// When no rank is idle, none can run and there is no event, the remaining ranks wait for each other, and run() ends.
/// It also ends when all ranks have ended or been stopped. The remaining ranks are then unwound, so that everything
/// on their stacks is destroyed: each goes on once more, and its next wait throws `Unwound`. Where an exception is in
/// flight already, or the caller is a destructor, the wait returns at once and says so instead.

#include "halocline/comm/simulation/detail/fiber.hpp"
#include "halocline/comm/simulation/simulation.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace halocline::comm::detail {

class Simulator {
public:
  /// Thrown in a rank that is stopped before its end. Not a std::exception, so that no handler takes it for an error.
  struct Unwound {};

  /// A receiver of events. Once adopted it lives at least as long as it is busy().
  class Handler {
  public:
    Handler() = default;
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    virtual ~Handler() = default;
    /// @return the rank that may see a difference when it polls; -1 for none
    virtual int happen(std::uint64_t what, std::uint64_t value) = 0;
    /// True when events are under way.
    virtual bool busy() const noexcept = 0;
  };

  /// How a wait ends in an unwound simulation: it throws, or returns quietly, for destructors.
  enum class Manner { throwing, quiet };

  Simulator(int ranks, const SimulationOptions& options);

  /// Runs `program(rank)` for every rank. Returns when all have ended, been stopped or wait for each other, and all
  /// stacks are empty. @throws core::Error  for a deadlock; otherwise throws what the program threw on the lowest
  /// rank
  void run(const std::function<void(int)>& program);

  // ---- for the running rank -------------------------------------------------------------------------------------

  /// Every operation of a rank calls this first. It may pause the rank, as the options say.
  /// @return false in an unwound simulation (when it does not throw): the operation must then do nothing
  /// @throws core::Error  when another rank, or another thread, runs
  bool enter(int rank);
  /// Lets other ranks run until wake_at() for this rank is due; perhaps returns earlier. @param what  for the report
  /// of a deadlock
  bool block(const char* what, int partner = -1, Manner manner = Manner::throwing);
  bool sleep_until(double time, const char* what, Manner manner = Manner::throwing);
  /// Lets other ranks run once. @throws core::Error  as enter()
  bool idle(int rank);
  /// Counts a poll. A rank that polls very often in one turn is made idle, because a caller may poll without waiting.
  void looked();

  // ---- for all callers --------------------------------------------------------------------------------------------

  double now() const noexcept { return now_; }
  bool alive(int rank) const noexcept;
  /// From now on the rank abandons pending communications instead of completing them.
  void give_up(int number) noexcept { rank(number).given_up = true; }
  bool given_up(int number) const noexcept { return rank(number).given_up; }
  int node(int rank) const noexcept { return options_.ranks_per_node > 0 ? rank / options_.ranks_per_node : 0; }
  const SimulationOptions& options() const noexcept { return options_; }

  void wake_at(double time, int rank);
  void happen_at(double time, Handler& handler, std::uint64_t what, std::uint64_t value);
  void adopt(std::shared_ptr<Handler> handler);

  /// The generator of everything random: SplitMix64 (Steele, Lea, Flood 2014).
  std::uint64_t random_bits() noexcept {
    std::uint64_t z = (random_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double uniform() noexcept { return static_cast<double>(random_bits() >> 11) * 0x1p-53; }   ///< in [0, 1)
  std::uint64_t below(std::uint64_t n) noexcept { return (random_bits() >> 32) * n >> 32; }  ///< n < 2^32
  /// Draws the time that a message of this length travels.
  double delay(std::size_t bytes) noexcept {
    return options_.latency + options_.jitter * uniform() + static_cast<double>(bytes) / options_.bytes_per_second;
  }

  SimulationReport report;

private:
  enum class State { ready, running, idle, blocked, stopped, ended };
  struct Rank {
    Simulator* simulator = nullptr;
    int number = 0;
    State state = State::ready;
    bool started = false, given_up = false;
    std::unique_ptr<Fiber> fiber;
    std::exception_ptr thrown;
    const char* waits_in = "";
    int partner = -1;
  };
  struct Event {
    double time;
    std::uint64_t order;  ///< order among events of the same time
    Handler* handler;     ///< nullptr: wake or stop rank `value`
    std::uint64_t what, value;
  };
  enum : std::uint64_t { wake_rank, stop_rank };

  static bool later(const Event& a, const Event& b) noexcept {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
  static void enter_fiber(void* rank);
  void add(const Event& event);
  void happen();
  void stop(int rank);
  void everybody_looks();
  int next();
  bool suspend(State state, Manner manner);
  void check_turn(int rank) const;
  bool unwinding_here(Manner manner) const;
  std::string deadlock() const;
  Rank& rank(int number) noexcept { return ranks_[static_cast<std::size_t>(number)]; }
  const Rank& rank(int number) const noexcept { return ranks_[static_cast<std::size_t>(number)]; }

  SimulationOptions options_;
  std::uint64_t random_;
  std::thread::id thread_;
  Fiber caller_;
  const std::function<void(int)>* program_ = nullptr;
  std::vector<Rank> ranks_;
  std::vector<int> ready_, idle_;
  int running_ = -1;
  int left_;  ///< ranks that have neither ended nor been stopped
  int looks_ = 0;
  bool unwinding_ = false;
  double now_ = 0.0, step_, look_at_ = 0.0;  ///< look_at_: when all idle ranks look again
  std::uint64_t order_ = 0;
  std::vector<Event> events_;  ///< a heap, the earliest first
  std::vector<std::shared_ptr<Handler>> handlers_;
};

}  // namespace halocline::comm::detail
