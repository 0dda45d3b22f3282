// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which rank goes on, and when.

#include "halocline/comm/simulation/simulator.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <limits>

namespace halocline::comm::detail {
namespace {

constexpr double shortest_step = 1e-5, longest_step = 1e-3;  // [s] between polls of idle ranks
constexpr int most_looks = 256;  // polls in one turn; a wait for many faces polls each, and idles by itself

}  // namespace

Simulator::Simulator(int ranks, const SimulationOptions& options)
    : options_(options),
      random_(options.seed),
      thread_(std::this_thread::get_id()),
      ranks_(static_cast<std::size_t>(ranks)),
      left_(ranks),
      step_(shortest_step) {
  for (int r = 0; r < ranks; ++r) {
    rank(r).simulator = this;
    rank(r).number = r;
    ready_.push_back(r);
  }
  idle_.reserve(ready_.size());
  if (options.stalled_rank >= 0) {
    add({options.stalled_after, 0, nullptr, stop_rank, static_cast<std::uint64_t>(options.stalled_rank)});
  }
  if (options.dead_rank >= 0) {
    add({options.dead_after, 0, nullptr, stop_rank, static_cast<std::uint64_t>(options.dead_rank)});
  }
}

void Simulator::run(const std::function<void(int)>& program) {
  program_ = &program;
  for (Rank& r : ranks_) r.fiber = std::make_unique<Fiber>(&Simulator::enter_fiber, &r);
  const auto go_on = [this](int number) {
    running_ = number;
    rank(number).started = true;
    rank(number).state = State::running;
    caller_.switch_to(*rank(number).fiber);
    running_ = -1;
  };
  if (const int first = next(); first >= 0) go_on(first);
  const bool thrown = std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.thrown != nullptr; });
  const bool waiting =
      std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.state == State::blocked; });
  const std::string sentence = waiting && !thrown ? deadlock() : "";
  report.seconds = now_;
  unwinding_ = true;
  for (Rank& r : ranks_) {
    if (r.started && r.state != State::ended) go_on(r.number);
  }
  handlers_.clear();
  for (Rank& r : ranks_) {
    r.fiber.reset();
    if (r.thrown != nullptr) std::rethrow_exception(r.thrown);
  }
  if (!sentence.empty()) throw core::Error(sentence);
}

void Simulator::enter_fiber(void* argument) {
  Rank& me = *static_cast<Rank*>(argument);
  Simulator& self = *me.simulator;
  try {
    (*self.program_)(me.number);
  } catch (const Unwound&) {
    // A stopped rank reports no error.
  } catch (...) {
    if (!self.unwinding_) me.thrown = std::current_exception();
  }
  me.state = State::ended;
  --self.left_;
  const int next = self.unwinding_ ? -1 : self.next();
  if (next < 0) me.fiber->leave_for(self.caller_);
  Rank& other = self.rank(next);
  self.running_ = next;
  self.looks_ = 0;
  other.started = true;
  other.state = State::running;
  ++self.report.switches;
  me.fiber->leave_for(*other.fiber);
}

// ---- turns ----------------------------------------------------------------------------------------------------------

/// Draws the next rank to run, and moves the clock when none can run; -1 when none ever will.
int Simulator::next() {
  for (;;) {
    while (!events_.empty() && events_.front().time <= now_) happen();
    if (!ready_.empty()) {
      const auto at = static_cast<std::size_t>(below(ready_.size()));
      const int chosen = ready_[at];
      ready_[at] = ready_.back();
      ready_.pop_back();
      return chosen;
    }
    if (left_ == 0 || (idle_.empty() && events_.empty())) return -1;
    if (look_at_ <= now_) look_at_ = now_ + step_;
    const double limit = idle_.empty() ? std::numeric_limits<double>::infinity() : look_at_;
    if (!events_.empty() && events_.front().time < limit) {
      now_ = events_.front().time;
    } else {
      now_ = limit;
      step_ = std::min(2 * step_, longest_step);
      everybody_looks();
    }
  }
}

void Simulator::everybody_looks() {
  for (const int r : idle_) rank(r).state = State::ready;
  ready_.insert(ready_.end(), idle_.begin(), idle_.end());
  idle_.clear();
}

bool Simulator::suspend(State state, Manner manner) {
  if (unwinding_here(manner)) return false;
  Rank& me = rank(running_);
  me.state = state;
  if (state == State::idle) idle_.push_back(running_);
  const int next = this->next();
  looks_ = 0;
  if (next == me.number) {
    me.state = State::running;
    return true;
  }
  running_ = next;
  if (next < 0) {
    me.fiber->switch_to(caller_);
  } else {
    Rank& other = rank(next);
    other.started = true;
    other.state = State::running;
    ++report.switches;
    me.fiber->switch_to(*other.fiber);
  }
  return !unwinding_here(manner);
}

/// In an unwound simulation: throws where that is possible, and returns true where it is not.
bool Simulator::unwinding_here(Manner manner) const {
  if (!unwinding_) return false;
  if (running_ >= 0 && manner == Manner::throwing && std::uncaught_exceptions() == 0) throw Unwound{};
  return true;
}

void Simulator::check_turn(int number) const {
  if (number == running_ && std::this_thread::get_id() == thread_) return;
  throw core::Error("the group of rank " + std::to_string(number) +
                        " of a simulation is used where this rank does not run: by another rank or thread, or after "
                        "the end of the simulation",
                    number);
}

bool Simulator::enter(int number) {
  check_turn(number);
  if (unwinding_here(Manner::throwing)) return false;
  if (options_.pause_probability > 0.0 && uniform() < options_.pause_probability) {
    return sleep_until(now_ + options_.pause * uniform(), "a pause");
  }
  return true;
}

bool Simulator::block(const char* what, int partner, Manner manner) {
  if (unwinding_here(manner)) return false;
  rank(running_).waits_in = what;
  rank(running_).partner = partner;
  return suspend(State::blocked, manner);
}

bool Simulator::sleep_until(double time, const char* what, Manner manner) {
  if (unwinding_here(manner)) return false;
  wake_at(time, running_);
  while (now_ < time) {
    if (!block(what, -1, manner)) return false;
  }
  return true;
}

bool Simulator::idle(int number) {
  check_turn(number);
  if (unwinding_) now_ += 1.0;  // so that a time limit ends a poll while an exception is in flight
  return suspend(State::idle, Manner::throwing);
}

void Simulator::looked() {
  if (running_ >= 0 && ++looks_ > most_looks) suspend(State::idle, Manner::throwing);
}

// ---- events ---------------------------------------------------------------------------------------------------------

void Simulator::add(const Event& event) {
  events_.push_back(event);
  events_.back().order = order_++;
  std::push_heap(events_.begin(), events_.end(), later);
}

void Simulator::wake_at(double time, int number) {
  add({time, 0, nullptr, wake_rank, static_cast<std::uint64_t>(number)});
}

void Simulator::happen_at(double time, Handler& handler, std::uint64_t what, std::uint64_t value) {
  add({time, 0, &handler, what, value});
}

void Simulator::happen() {
  std::pop_heap(events_.begin(), events_.end(), later);
  const Event event = events_.back();
  events_.pop_back();
  step_ = shortest_step;
  look_at_ = std::min(look_at_, now_ + step_);
  if (event.handler != nullptr) {
    const int sees = event.handler->happen(event.what, event.value);
    if (sees < 0 || rank(sees).state != State::idle) return;
    std::erase(idle_, sees);
    rank(sees).state = State::ready;
    ready_.push_back(sees);
    return;
  }
  const int number = static_cast<int>(event.value);
  if (event.what == stop_rank) return stop(number);
  if (rank(number).state != State::blocked) return;
  rank(number).state = State::ready;
  ready_.push_back(number);
}

void Simulator::stop(int number) {
  if (rank(number).state == State::ended || rank(number).state == State::stopped) return;
  --left_;
  std::erase(ready_, number);
  std::erase(idle_, number);
  rank(number).state = State::stopped;
}

void Simulator::adopt(std::shared_ptr<Handler> handler) {
  std::erase_if(handlers_, [](const auto& old) { return old.use_count() == 1 && !old->busy(); });
  handlers_.push_back(std::move(handler));
}

bool Simulator::alive(int number) const noexcept {
  const Rank& r = rank(number);
  return r.thrown == nullptr && !(number == options_.dead_rank && r.state == State::stopped);
}

std::string Simulator::deadlock() const {
  std::string text = "simulation: every rank waits and nothing is under way";
  for (const Rank& r : ranks_) {
    if (r.state == State::ended) continue;
    text += "; rank " + std::to_string(r.number);
    if (r.state == State::stopped) {
      text += r.number == options_.dead_rank ? " has died" : " has stalled";
      continue;
    }
    text += std::string(" in ") + r.waits_in;
    if (r.partner >= 0) text += " from rank " + std::to_string(r.partner);
  }
  return text;
}

}  // namespace halocline::comm::detail
