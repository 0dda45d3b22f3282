// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rules of detail/link.hpp in every order in which two or three ranks can run.
///
/// A state is where each rank stands in a program, its counts, what lies in each inbox, and what is under way. All
/// states that can follow are visited once (breadth first), for every program of a family:
/// sequences of posts of lower, upper or both faces, that wait at once or only when they must, with and without a
/// reduction after any of them. Programs that go one way twice, odd counts and one-way steps in turn are all among
/// them.
///
/// Two kinds of transport. A *direct* one: packing writes the neighbour's inbox, begins and ends at two moments, and
/// the flag becomes visible some time after the put. An *asynchronous* one: at any time after the put the outbox is
/// read, at any later time the inbox begins to be written, and later the flag is there. A receiver may read a message
/// from its arrival on until it gives it free, and is taken to be reading all that time.
///
/// What must never happen is in enum Fault; the two moments of packing matter to a direct transport alone. With one
/// buffer and no rule the search must find it, which shows that it looks.

#include "halocline/comm/exchange/detail/link.hpp"
#include "sampled.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

using namespace halocline::comm::detail;

namespace {

using Byte = std::uint8_t;

struct Setting {
  int ranks;
  bool periodic;
  bool direct;
  int buffers = 2;
  bool rules = true;  ///< may_fill is asked; with one buffer, the acknowledgement is waited for
};

struct Step {
  int faces;  ///< bit 0 the lower, bit 1 the upper
  bool waits = true, reduces = false;
};
using Program = std::vector<Step>;

enum class Fault {
  none,
  overwritten,          ///< an inbox is written while its message may still be read, or has not been
  refilled,             ///< an outbox is packed before it was read, or put while its last message is under way
  wrong_message,        ///< a flag or an inbox does not hold the message that is awaited
  deadlock,             ///< a program that was not refused, and nothing can happen
  refused_differently,  ///< the first refusal is not that of every rank with a neighbour there
};

struct Outcome {
  Fault fault = Fault::none;
  bool refused = false;
  std::uint64_t states = 0;
};

/// A message under way, by the slot it uses: posted, its source read, its inbox being written, gone.
enum : Byte { gone, posted, source_read, being_written };

struct Side {
  Byte posted = 0, arrived = 0, freed = 0, proven = 0;  ///< the Link
  Byte inbox[2] = {0, 0};                               ///< number of the message that lies there, from 1
  Byte flag[2] = {0, 0}, flag_freed[2] = {0, 0};        ///< what can be seen behind it
  Byte outbox[2] = {0, 0};                              ///< number of the message packed there
  Byte flight[2] = {0, 0}, flight_freed[2] = {0, 0};    ///< of the message that left through this face
  Byte acknowledged = 0, seen = 0;                      ///< told to the neighbour; known from the neighbour
};

/// Where a rank stands in its step; what does not apply is passed over.
enum Place : Byte { begin, pack_lower, packing_lower, pack_upper, packing_upper, post_lower, post_upper, wait, reduce };

struct Rank {
  Byte step = 0, place = begin;
  Byte awaited = 0;  ///< faces
  Byte refused = 0;  ///< faces for which the step was refused; the rank then stands still
  Side sides[2];
};

struct State {
  Rank ranks[3];
};
static_assert(sizeof(State) == 3 * (4 + 2 * 18) && sizeof(State) % 8 == 0);  // no padding: compared as bytes

/// All states seen, in the order of their discovery, and where to find each: a table of indices, probed one by one.
class Visited {
public:
  void clear() {
    states_.clear();
    table_.assign(4096, 0);
  }
  std::size_t size() const noexcept { return states_.size(); }
  const State& operator[](std::size_t i) const noexcept { return states_[i]; }

  void add(const State& state) {
    const std::size_t at = place_of(state);
    if (table_[at] != 0) return;
    states_.push_back(state);
    table_[at] = static_cast<std::uint32_t>(states_.size());
    if (2 * states_.size() > table_.size()) grow();
  }

private:
  static std::size_t hash(const State& state) noexcept {
    std::uint64_t words[sizeof(State) / 8], h = 0;
    std::memcpy(words, &state, sizeof(State));
    for (const std::uint64_t word : words) {
      h = (h ^ word) * 0x9E3779B97F4A7C15u;
      h ^= h >> 32;
    }
    return h;
  }
  /// Of this state, or where it belongs.
  std::size_t place_of(const State& state) const noexcept {
    std::size_t at = hash(state) & (table_.size() - 1);
    while (table_[at] != 0 && std::memcmp(&states_[table_[at] - 1], &state, sizeof(State)) != 0) {
      at = (at + 1) & (table_.size() - 1);
    }
    return at;
  }
  void grow() {
    table_.assign(4 * table_.size(), 0);
    for (std::size_t i = 0; i < states_.size(); ++i) table_[place_of(states_[i])] = static_cast<std::uint32_t>(i + 1);
  }

  std::vector<State> states_;
  std::vector<std::uint32_t> table_;  ///< index + 1; 0: free
};

Link link_of(const Side& s) noexcept { return {s.posted, s.arrived, s.freed, s.proven}; }
void store(Side& s, const Link& link) noexcept {
  s.posted = static_cast<Byte>(link.posted);
  s.arrived = static_cast<Byte>(link.arrived);
  s.freed = static_cast<Byte>(link.freed);
  s.proven = static_cast<Byte>(link.proven);
}

class Search {
public:
  Search(const Setting& setting, const Program& program, Visited& visited)
      : setting_(setting), program_(program), visited_(visited) {}

  Outcome run() {
    State first{};
    for (int r = 0; r < setting_.ranks; ++r) settle(first, r);
    visited_.clear();
    visited_.add(first);
    for (std::size_t next = 0; next < visited_.size() && outcome_.fault == Fault::none; ++next) {
      const State state = visited_[next];
      if (!expand(state)) finish(state);
    }
    outcome_.states = visited_.size();
    return outcome_;
  }

private:
  int neighbour(int rank, int face) const noexcept {
    const int other = rank + (face == 0 ? -1 : 1);
    if (setting_.periodic) return (other + setting_.ranks) % setting_.ranks;
    return other < setting_.ranks ? other : -1;
  }
  bool active(int rank, int face) const noexcept { return neighbour(rank, face) >= 0; }
  const Step& step(const Rank& r) const { return program_[r.step]; }
  bool done(const Rank& r) const noexcept { return r.step == program_.size(); }
  int slot(Byte message) const noexcept { return slot_of(message, setting_.buffers); }

  void fault(Fault what) {
    if (outcome_.fault == Fault::none) outcome_.fault = what;
  }

  /// Nothing follows: all have ended, or the program was refused, or they wait for each other.
  void finish(const State& state) {
    bool ended = true;
    for (int r = 0; r < setting_.ranks; ++r) ended = ended && done(state.ranks[r]) && state.ranks[r].awaited == 0;
    int first = 256;
    for (int r = 0; r < setting_.ranks; ++r) {
      if (state.ranks[r].refused != 0 && state.ranks[r].step < first) first = state.ranks[r].step;
    }
    if (first == 256) {
      if (!ended) fault(Fault::deadlock);
      return;
    }
    // The first refusal is everybody's who has a neighbour on that side.
    outcome_.refused = true;
    for (int face = 0; face < 2; ++face) {
      int having = 0, refusing = 0;
      for (int r = 0; r < setting_.ranks; ++r) {
        if (!active(r, face)) continue;
        ++having;
        if (state.ranks[r].step == first && (state.ranks[r].refused >> face & 1) != 0) ++refusing;
      }
      if (refusing != 0 && refusing != having) fault(Fault::refused_differently);
    }
  }

  /// Faces that must be waited for before these can be posted, or at the end.
  int due(const State& state, int rank, int faces) const {
    int due = 0;
    for (int face = 0; face < 2; ++face) {
      const Rank& r = state.ranks[rank];
      if ((faces >> face & 1) == 0 || !active(rank, face ^ 1)) continue;
      if (awaits(link_of(r.sides[face ^ 1]), link_of(r.sides[face]))) due |= 1 << (face ^ 1);
    }
    return due;
  }

  /// Moves a rank on over everything that concerns nobody else, to where it acts next or waits.
  void settle(State& state, int rank) {
    Rank& r = state.ranks[rank];
    for (;;) {
      if (r.awaited != 0 || r.refused != 0) return;
      if (done(r)) {
        r.awaited = static_cast<Byte>(due(state, rank, 3));
        return;
      }
      const Step& s = step(r);
      switch (r.place) {
      case begin:
        r.awaited = static_cast<Byte>(due(state, rank, s.faces));
        if (r.awaited != 0) return;
        if (setting_.buffers == 1) release(r, rank);
        for (int face = 0; face < 2; ++face) {
          const bool asked = setting_.rules && setting_.buffers == 2 && (s.faces >> face & 1) != 0;
          if (asked && active(rank, face) && !may_fill(link_of(r.sides[face]), 2)) {
            r.refused = static_cast<Byte>(r.refused | 1 << face);
          }
        }
        if (r.refused != 0) return;
        break;
      case pack_lower:
      case packing_lower:
      case pack_upper:
      case packing_upper: {
        const int face = r.place >= pack_upper ? 1 : 0;
        const bool ends = r.place == packing_lower || r.place == packing_upper;
        // Into an outbox of one's own nobody looks meanwhile, so that is one moment.
        if ((s.faces >> face & 1) != 0 && active(rank, face) && (setting_.direct || !ends)) return;
        break;
      }
      case post_lower:
      case post_upper: {
        const int face = r.place == post_upper ? 1 : 0;
        if ((s.faces >> face & 1) != 0) {
          if (active(rank, face)) return;
          ++r.sides[face].posted;
        }
        break;
      }
      case wait:
        if (s.waits) r.awaited = static_cast<Byte>(due(state, rank, s.faces));
        break;
      default:
        if (s.reduces) return;
        break;
      }
      if (r.place == reduce) {
        ++r.step;
        r.place = begin;
      } else {
        ++r.place;
      }
    }
  }

  /// With one buffer: gives free all that has arrived, and says so.
  void release(Rank& r, int rank) {
    for (int face = 0; face < 2; ++face) {
      if (!active(rank, face)) continue;
      Link link = link_of(r.sides[face]);
      free_arrived(link);
      store(r.sides[face], link);
      r.sides[face].acknowledged = r.sides[face].freed;
    }
  }

  /// The neighbour's inbox begins to be written.
  void overwrite(State& state, int rank, int face, int at, Byte message) {
    Side& to = state.ranks[neighbour(rank, face)].sides[face ^ 1];
    if (to.inbox[at] > to.freed) fault(Fault::overwritten);
    to.inbox[at] = message;
  }

  /// With one buffer: the neighbour is known to have given free the last message.
  bool acknowledged(Side& s) const {
    if (setting_.buffers == 2 || !setting_.rules) return true;
    Link link = link_of(s);
    prove(link, s.seen);
    store(s, link);
    return may_fill(link, 1);
  }

  /// All that can happen next. @return false when nothing can
  bool expand(const State& state) {
    bool some = false;
    const auto follow = [&](State next, int rank) {
      some = true;
      if (rank >= 0) settle(next, rank);
      visited_.add(next);
    };
    for (int r = 0; r < setting_.ranks; ++r) {
      act(state, r, follow);
      for (int face = 0; face < 2; ++face) {
        if (!active(r, face)) continue;
        for (int at = 0; at < setting_.buffers; ++at) {
          if (state.ranks[r].sides[face].flight[at] != gone) follow(moved(state, r, face, at), -1);
        }
        const Side& there = state.ranks[neighbour(r, face)].sides[face ^ 1];
        if (state.ranks[r].sides[face].seen != there.acknowledged) {
          State next = state;
          next.ranks[r].sides[face].seen = there.acknowledged;
          follow(next, -1);
        }
      }
    }
    return some;
  }

  /// A message gets further by itself.
  State moved(const State& state, int rank, int face, int at) {
    State next = state;
    Side& from = next.ranks[rank].sides[face];
    Side& to = next.ranks[neighbour(rank, face)].sides[face ^ 1];
    const Byte message = number_under_way(from, at);
    switch (from.flight[at]) {
    case posted:
      if (from.outbox[at] != message) fault(Fault::refilled);
      from.flight[at] = source_read;
      break;
    case source_read:
      overwrite(next, rank, face, at, message);
      from.flight[at] = being_written;
      break;
    default:
      from.flight[at] = gone;
      to.flag[at] = message;
      to.flag_freed[at] = from.flight_freed[at];
      break;
    }
    return next;
  }

  /// The last message posted that uses this slot.
  Byte number_under_way(const Side& s, int at) const noexcept {
    Byte number = s.posted;
    while (slot(static_cast<Byte>(number - 1)) != at) --number;
    return number;
  }

  template <class Follow>
  void act(const State& state, int rank, Follow&& follow) {
    const Rank& now = state.ranks[rank];
    if (now.refused != 0) return;
    for (int face = 0; face < 2; ++face) {
      if ((now.awaited >> face & 1) != 0) arrive_at(state, rank, face, follow);
    }
    if (now.awaited != 0 || done(now)) return;
    State next = state;
    Rank& r = next.ranks[rank];
    switch (now.place) {
    case pack_lower:
    case pack_upper: {
      const int face = now.place == pack_upper ? 1 : 0;
      Side& s = r.sides[face];
      const int at = slot(s.posted);
      if (setting_.direct && !acknowledged(s)) return;
      if (s.flight[at] == posted) return;  // not sent yet: the outbox is waited for
      s.outbox[at] = static_cast<Byte>(s.posted + 1);
      if (setting_.direct) overwrite(next, rank, face, at, s.outbox[at]);
      ++r.place;
      return follow(next, rank);
    }
    case packing_lower:
    case packing_upper:
      ++r.place;
      return follow(next, rank);
    case post_lower:
    case post_upper: {
      const int face = now.place == post_upper ? 1 : 0;
      Side& s = r.sides[face];
      const int at = slot(s.posted);
      if (!acknowledged(s)) return;
      if (s.flight[at] != gone) fault(Fault::refilled);
      Link link = link_of(s);
      free_arrived(link);
      const std::uint64_t flag = halocline::comm::detail::post(link);
      store(s, link);
      s.flight[at] = setting_.direct ? being_written : posted;
      s.flight_freed[at] = static_cast<Byte>(flag >> flag::shift);
      if (flag::number(flag) != s.outbox[at]) fault(Fault::wrong_message);
      ++r.place;
      return follow(next, rank);
    }
    case reduce: {
      for (int other = 0; other < setting_.ranks; ++other) {
        const Rank& o = state.ranks[other];
        if (o.step < now.step || (o.step == now.step && (o.place < reduce || o.awaited != 0))) return;
      }
      ++r.step;
      r.place = begin;
      return follow(next, rank);
    }
    default:
      return;
    }
  }

  /// A wait that can end.
  template <class Follow>
  void arrive_at(const State& state, int rank, int face, Follow&& follow) {
    const Side& s = state.ranks[rank].sides[face];
    const int at = slot(s.arrived);
    const Byte expected = static_cast<Byte>(s.arrived + 1);
    const Byte before = s.arrived < setting_.buffers ? Byte{0} : static_cast<Byte>(expected - setting_.buffers);
    if (s.flag[at] == before) return;
    if (s.flag[at] != expected || s.inbox[at] != expected) fault(Fault::wrong_message);
    State next = state;
    Rank& r = next.ranks[rank];
    Link link = link_of(s);
    arrive(link, flag::make(s.flag[at] - std::uint64_t{1}, s.flag_freed[at]));
    store(r.sides[face], link);
    r.awaited = static_cast<Byte>(r.awaited & ~(1 << face));
    follow(next, rank);
  }

  Setting setting_;
  const Program& program_;
  Outcome outcome_;
  Visited& visited_;
};

/// Calls with every program of so many steps.
template <class Use>
void every_program(int length, bool lazy, bool reducing, Program& head, Use&& use) {
  if (length == 0) return use(head);
  for (int faces = 1; faces <= 3; ++faces) {
    for (int waits = lazy ? 0 : 1; waits < 2; ++waits) {
      for (int reduces = 0; reduces < (reducing ? 2 : 1); ++reduces) {
        head.push_back({faces, waits != 0, reduces != 0});
        every_program(length - 1, lazy, reducing, head, use);
        head.pop_back();
      }
    }
  }
}

struct Tally {
  std::uint64_t programs = 0, accepted = 0, refused = 0, states = 0, faults[6] = {};

  std::uint64_t of(Fault fault) const noexcept { return faults[static_cast<int>(fault)]; }

  void add(const Setting& setting, int length, bool lazy, bool reducing) {
    Program head;
    Visited visited;
    every_program(length, lazy, reducing, head, [&](const Program& program) {
      const Outcome outcome = Search(setting, program, visited).run();
      ++programs;
      ++(outcome.refused ? refused : accepted);
      ++faults[static_cast<int>(outcome.fault)];
      states += outcome.states;
    });
  }
};

Outcome explore(const Setting& setting, const Program& program) {
  Visited visited;
  return Search(setting, program, visited).run();
}

/// A message was written over another that was unread or under way.
bool loses(const Outcome& outcome) noexcept {
  return outcome.fault == Fault::overwritten || outcome.fault == Fault::refilled;
}

/// All programs that a setting is tried with.
Tally tally_of(const Setting& setting) {
  struct Family {
    int ranks, length;
    bool lazy, reducing;
  };
  Tally tally;
  for (const Family& f :
       {Family{2, setting.buffers == 2 ? 5 : 4, false, false}, Family{2, 3, true, true}, Family{3, 2, false, false}}) {
    Setting with = setting;
    with.ranks = f.ranks;
    tally.add(with, f.length, f.lazy, f.reducing);
  }
  return tally;
}

}  // namespace

TEST_CASE("link model: no order breaks the rules with two buffers, or with one and an acknowledgement") {
  for (const int buffers : {2, 1}) {
    for (const bool direct : {true, false}) {
      for (const bool periodic : {true, false}) {
        if (halocline::test::takes_samples && direct != periodic) continue;
        CAPTURE(buffers);
        CAPTURE(direct);
        CAPTURE(periodic);
        const Tally tally = tally_of({2, periodic, direct, buffers});
        CHECK(tally.of(Fault::overwritten) == 0);
        CHECK(tally.of(Fault::refilled) == 0);
        CHECK(tally.of(Fault::wrong_message) == 0);
        CHECK(tally.of(Fault::deadlock) == 0);
        CHECK(tally.of(Fault::refused_differently) == 0);
        CHECK(tally.programs > 1800);
        CHECK(tally.states > 50000);
        CHECK(tally.accepted > 1000);
        // A third message one way is refused with two buffers; with one it waits for the acknowledgement.
        CHECK((tally.refused > 100) == (buffers == 2));
      }
    }
  }
}

TEST_CASE("link model: three ranks, longer programs") {
  const Step up{2}, down{1}, both{3}, both_and_reduce{3, true, true}, late{3, false};
  struct Case {
    Program program;
    bool refused;
  };
  // The last two leave a face with two messages that nothing has come back for.
  const std::vector<Case> cases{{{both, both, both, both}, false},
                                {{up, down, up, down, up}, false},
                                {{up, up, down, up}, false},
                                {{both, up, down, both}, false},
                                {{late, both_and_reduce, late, both}, false},
                                {{up, both_and_reduce, down, both}, true},
                                {{late, both_and_reduce, late, up}, true}};
  for (const bool direct : {true, false}) {
    for (const bool periodic : {true, false}) {
      for (const auto& [program, refused] : cases) {
        const Outcome outcome = explore({3, periodic, direct}, program);
        CHECK(outcome.fault == Fault::none);
        CHECK(outcome.refused == refused);
        CHECK(outcome.states > 300);
      }
    }
  }
}

TEST_CASE("link model: one buffer without acknowledgement loses messages, and the search finds it") {
  for (const bool direct : {true, false}) {
    for (const bool periodic : {true, false}) {
      for (const int ranks : {2, 3}) {
        const Setting careless{ranks, periodic, direct, 1, false}, careful{ranks, periodic, direct, 1, true};
        const Program once{{3}}, twice{{3}, {3}};
        CHECK(explore(careless, once).fault == Fault::none);
        CHECK(loses(explore(careless, twice)));
        CHECK(explore(careful, twice).fault == Fault::none);
      }
    }
  }
}

TEST_CASE("link model: two buffers need no rule for symmetric use, and need it for one-way use") {
  const Program both{{3}, {3}, {3}, {3}, {3}}, one_way{{2}, {2}, {2}}, turn_about{{2}, {1}, {2}, {1}, {2}, {1}};
  for (const bool direct : {true, false}) {
    for (const bool periodic : {true, false}) {
      const Setting careless{2, periodic, direct, 2, false}, careful{2, periodic, direct};
      CHECK(explore(careless, both).fault == Fault::none);
      CHECK(explore(careless, turn_about).fault == Fault::none);
      CHECK(loses(explore(careless, one_way)));
      CHECK_FALSE(explore(careful, both).refused);
      CHECK_FALSE(explore(careful, turn_about).refused);
      CHECK(explore(careful, one_way).refused);
    }
  }
}
