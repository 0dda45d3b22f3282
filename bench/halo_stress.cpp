// SPDX-License-Identifier: Apache-2.0
#include "bench/halo_stress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/simulation/simulation.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/error.hpp"

namespace halocline::bench {
namespace {

using comm::Face;
using comm::FaceMask;
using comm::HaloExchange;

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
constexpr std::int64_t leg_steps = 5'000;
constexpr std::size_t sizes_of_a_leg = 3;

/// Mixes the bits of a counter (splitmix64); the only source of random numbers.
constexpr std::uint64_t scrambled(std::uint64_t n) noexcept {
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
  return n ^ (n >> 31);
}

/// Random numbers determined by the keys given at construction.
class Draws {
public:
  template <class... Keys>
  explicit Draws(std::uint64_t seed, Keys... keys) noexcept : state_(scrambled(seed + golden)) {
    ((state_ = scrambled(state_ + golden * (static_cast<std::uint64_t>(keys) + 1))), ...);
  }
  std::uint64_t next() noexcept { return scrambled(state_ += golden); }
  std::uint64_t below(std::uint64_t n) noexcept { return next() % n; }
  bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }

private:
  std::uint64_t state_;
};

/// The first word of the message that is sent through a face. Successive words differ by `golden`.
std::uint64_t first_word(std::uint64_t seed, std::int64_t step, int sender, Face face) noexcept {
  Draws draws(seed, step, sender, face.index());
  return draws.next();
}

void write_words(std::span<std::byte> message, std::uint64_t word) noexcept {
  auto* words = reinterpret_cast<std::uint64_t*>(message.data());
  const std::size_t whole = message.size() / sizeof(word);
  for (std::size_t i = 0; i < whole; ++i) words[i] = word + i * golden;
  const std::uint64_t last = word + whole * golden;
  std::memcpy(message.data() + whole * sizeof(word), &last, message.size() % sizeof(word));
}

/// Index of the first byte that differs from the output of write_words().
std::optional<std::size_t> wrong_byte(std::span<const std::byte> message, std::uint64_t word) noexcept {
  const auto* words = reinterpret_cast<const std::uint64_t*>(message.data());
  const std::size_t whole = message.size() / sizeof(word), rest = message.size() % sizeof(word);
  std::uint64_t difference = 0, last = 0;
  for (std::size_t i = 0; i < whole; ++i) difference |= words[i] ^ (word + i * golden);
  const std::uint64_t expected = word + whole * golden;
  std::memcpy(&last, message.data() + whole * sizeof(word), rest);
  if (difference == 0 && std::memcmp(&last, &expected, rest) == 0) return std::nullopt;
  for (std::size_t at = 0; at < message.size(); ++at) {
    const std::uint64_t right = word + at / 8 * golden;
    if (message[at] != reinterpret_cast<const std::byte*>(&right)[at % 8]) return at;
  }
  return std::nullopt;
}

/// The parameters of a leg, the same on every rank.
struct Leg {
  std::uint64_t seed;
  std::int64_t number, first, steps;
  int ranks;
  std::vector<int> dims;
  std::vector<bool> periodic;
  std::array<std::vector<std::size_t>, sizes_of_a_leg> face_bytes;  ///< the first has the longest on every axis
};

Leg drawn(const HaloStressCase& c, std::int64_t number, int ranks, bool fewer_allowed) {
  Draws draws(c.seed, 1, number);
  Leg leg{.seed = draws.next(), .number = number, .first = number * leg_steps};
  leg.steps = std::min(leg_steps, c.exchanges - leg.first);
  leg.ranks = fewer_allowed ? 2 + static_cast<int>(draws.below(static_cast<std::uint64_t>(ranks - 1))) : ranks;
  const std::size_t axes = 1 + draws.below(4);
  leg.dims.assign(axes, 1);
  int left = leg.ranks;
  for (int p = 2; left > 1; ++p)
    for (; left % p == 0; left /= p) leg.dims[draws.below(axes)] *= p;
  // Log-uniform lengths, so that most messages are short; lengths that are no multiple of a word occur too.
  const auto length = [&](double longest) {
    const double u = static_cast<double>(draws.next() >> 11) * 0x1p-53;
    return static_cast<std::size_t>(std::pow(longest, u));
  };
  for (std::size_t axis = 0; axis < axes; ++axis) {
    leg.periodic.push_back(!draws.one_in(3));
    const std::size_t longest = length(static_cast<double>(c.longest));
    leg.face_bytes[0].push_back(longest);
    for (std::size_t i = 1; i < sizes_of_a_leg; ++i) leg.face_bytes[i].push_back(length(static_cast<double>(longest)));
    if (draws.one_in(4)) leg.face_bytes[1][axis] = 0;
  }
  return leg;
}

/// Selects the faces that may be posted: no link may get a third message in one direction without a message coming
/// back.
class Balance {
public:
  explicit Balance(std::size_t faces) : posted_(faces, 0), proven_(faces, 0) {}

  /// The requested faces that are allowed; if none is, all faces that are.
  FaceMask allowed(FaceMask wish, FaceMask possible) const noexcept {
    FaceMask free = 0;
    for (std::size_t face = 0; face < posted_.size(); ++face)
      if (posted_[face] - proven_[face] < 2) free |= FaceMask{1} << face;
    const FaceMask granted = wish & possible & free;
    return granted != 0 ? granted : possible & free;
  }
  /// All messages of earlier steps have been waited for, so a message in the opposite direction now confirms them.
  void post(FaceMask mask) noexcept {
    const auto before = posted_;
    for (std::size_t face = 0; face < posted_.size(); ++face) {
      if ((mask >> (face ^ 1) & 1u) != 0) proven_[face] = before[face];
      if ((mask >> face & 1u) != 0) ++posted_[face];
    }
  }

private:
  std::vector<std::uint64_t> posted_, proven_;
};

/// The counts of one rank, and its first error.
struct Tally {
  std::uint64_t messages = 0, bytes = 0, reductions = 0;
  std::optional<std::string> wrong;
};

/// Runs one rank through a leg.
class Walker {
public:
  Walker(const comm::Communicator& group, const HaloStressCase& c, const Leg& leg, Tally& tally)
      : leg_(leg),
        tally_(tally),
        pauses_(c.carrier.transport != "simulated"),
        grid_(group, leg.dims, leg.periodic),
        balance_(2 * leg.dims.size()),
        sum_(group) {
    comm::HaloOptions options = c.carrier.options();
    options.time_limit = c.time_limit;
    exchanges_.emplace_back(grid_, leg.face_bytes[0], c.carrier.transport, options);
    for (std::size_t i = 1; i < sizes_of_a_leg; ++i)
      exchanges_.push_back(exchanges_[0].sharing_buffers(leg.face_bytes[i]));
  }

  void walk() {
    for (std::int64_t step = leg_.first; step < leg_.first + leg_.steps; ++step) one_step(step);
  }

private:
  void one_step(std::int64_t step) {
    Draws common(leg_.seed, step), own(leg_.seed, step, grid_.rank() + 1000);
    const std::size_t which = common.below(2) == 0 ? 0 : common.below(sizes_of_a_leg);
    HaloExchange& exchange = exchanges_[which];
    FaceMask possible = 0;
    for (std::size_t face = 0; face < 2 * leg_.dims.size(); ++face)
      if (leg_.face_bytes[which][face / 2] > 0) possible |= FaceMask{1} << face;
    const FaceMask wish = common.one_in(2) ? comm::all_faces : static_cast<FaceMask>(common.next());
    const FaceMask mask = balance_.allowed(wish, possible);
    balance_.post(mask);
    const bool reduces = common.one_in(16);
    const bool ahead = common.one_in(2);
    const FaceMask part = static_cast<FaceMask>(common.next()) & mask;
    const bool in_two = common.one_in(3), one_after_the_other = common.one_in(2);

    pause(own);
    std::array<double, comm::Reduction::most> values{};
    const std::size_t count = 1 + common.below(values.size());
    const std::span<double> some = std::span<double>(values).first(count);
    const double base = static_cast<double>(common.below(1000));
    for (std::size_t i = 0; i < count; ++i) values[i] = (base + static_cast<double>(i)) * (grid_.rank() + 1);
    if (reduces && ahead) sum_.begin(some);
    if (in_two && one_after_the_other) {
      move(exchange, part, step, own);
      move(exchange, mask & ~part, step, own);
    } else if (in_two) {
      pack_and_post(exchange, part, step, own);
      pack_and_post(exchange, mask & ~part, step, own);
      wait_and_check(exchange, mask, step, own);
    } else {
      move(exchange, mask, step, own);
    }
    if (reduces) {
      if (ahead)
        sum_.wait();
      else
        sum_.sum(some);
      check_sums(some, base, step);
    }
  }

  void move(HaloExchange& exchange, FaceMask mask, std::int64_t step, Draws& own) {
    pack_and_post(exchange, mask, step, own);
    wait_and_check(exchange, mask, step, own);
  }

  void pack_and_post(HaloExchange& exchange, FaceMask mask, std::int64_t step, Draws& own) {
    for (std::size_t index = 0; index < 2 * leg_.dims.size(); ++index) {
      const Face face = Face::from_index(static_cast<int>(index));
      if ((mask & comm::mask_of(face)) == 0 || !exchange.active(face)) continue;
      write_words(exchange.send_buffer(face), first_word(leg_.seed, step, grid_.rank(), face));
    }
    pause(own);
    exchange.post(mask);
    pause(own);
  }

  /// The faces at which a message of this mask arrives, in an order of this rank's own.
  std::vector<Face>& arrivals(const HaloExchange& exchange, FaceMask mask, Draws& own) {
    order_.clear();
    for (std::size_t index = 0; index < 2 * leg_.dims.size(); ++index) {
      const Face face = Face::from_index(static_cast<int>(index));
      if ((mask & comm::mask_of(face.opposite())) != 0 && exchange.active(face)) order_.push_back(face);
    }
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[own.below(i)]);
    return order_;
  }

  void wait_and_check(HaloExchange& exchange, FaceMask mask, std::int64_t step, Draws& own) {
    const auto& faces = arrivals(exchange, mask, own);
    const bool read_late = own.one_in(2);
    switch (own.below(4)) {
    case 0:
      exchange.wait_all();
      break;
    case 1:
      while (const auto face = exchange.wait_any()) {
        if (!read_late) check(exchange, *face, step);
        pause(own);
      }
      break;
    case 2:
      for (const Face face : faces) {
        for (int look = 0; look < 20 && !exchange.arrived(face);) ++look;
        exchange.wait(face);
        if (!read_late) check(exchange, face, step);
      }
      break;
    default:
      for (const Face face : faces) exchange.wait(face);
    }
    if (read_late) pause(own);
    for (const Face face : faces) {
      check(exchange, face, step);
      ++tally_.messages;
      tally_.bytes += exchange.recv_buffer(face).size();
    }
    if (own.one_in(4)) exchange.release(own.one_in(2) ? comm::all_faces : static_cast<FaceMask>(own.next()));
    if (own.one_in(8)) exchange.wait_sent();
  }

  void check(const HaloExchange& exchange, Face face, std::int64_t step) {
    const auto message = exchange.recv_buffer(face);
    const std::uint64_t word = first_word(leg_.seed, step, grid_.neighbour(face), face.opposite());
    const std::size_t length =
        leg_.face_bytes[static_cast<std::size_t>(&exchange - exchanges_.data())][static_cast<std::size_t>(face.axis)];
    if (message.size() != length) {
      report(step, fmt::format("face {} got {} bytes instead of {}", name(face), message.size(), length));
    } else if (const auto at = wrong_byte(message, word)) {
      const std::uint64_t right = word + *at / 8 * golden;
      report(step, fmt::format("byte {} of the {} at face {} is {:#04x} instead of {:#04x}", *at, length, name(face),
                               static_cast<unsigned>(message[*at]),
                               static_cast<unsigned>(reinterpret_cast<const unsigned char*>(&right)[*at % 8])));
    }
  }

  void check_sums(std::span<const double> sums, double base, std::int64_t step) {
    const double ranks = 0.5 * grid_.size() * (grid_.size() + 1);
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (sums[i] != (base + static_cast<double>(i)) * ranks)
        report(step, fmt::format("sum {} of {} is {} instead of {}", i, sums.size(), sums[i],
                                 (base + static_cast<double>(i)) * ranks));
    ++tally_.reductions;
  }

  void report(std::int64_t step, const std::string& what) {
    if (tally_.wrong) return;  // continue, so that no other rank waits for this one
    tally_.wrong = fmt::format("halo stress, rank {}, step {}, transport {}, grid {}: {}", grid_.rank(), step,
                               exchanges_[0].transport().name(), fmt::join(leg_.dims, "x"), what);
  }

  static std::string name(Face face) {
    return std::string(face.direction > 0 ? "+" : "-") + "xyzt"[static_cast<std::size_t>(face.axis)];
  }

  /// Pauses at random, so that real processes get out of step; the simulation pauses simulated ones itself.
  void pause(Draws& own) const {
    if (!pauses_ || !own.one_in(16)) return;
    if (own.one_in(256)) {
      std::this_thread::sleep_for(std::chrono::microseconds(own.below(200)));
      return;
    }
    const double until = now() + 1e-9 * static_cast<double>(own.below(3000));
    while (now() < until) {
    }
  }

  const Leg& leg_;
  Tally& tally_;
  bool pauses_;
  comm::ProcessGrid grid_;
  std::vector<HaloExchange> exchanges_;
  Balance balance_;
  comm::Reduction sum_;
  std::vector<Face> order_;
};

comm::SimulationOptions simulation(const HaloStressCase& c, const Leg& leg) {
  Draws draws(leg.seed, 2);
  comm::SimulationOptions options;
  options.seed = leg.seed;
  options.jitter = std::array{0.0, 1e-6, 5e-6, 5e-5}[draws.below(4)];
  options.piece_bytes = std::size_t{64} << draws.below(4);
  options.pause_probability = std::array{0.0, 0.01, 0.1}[draws.below(3)];
  options.damage_probability = c.damage;
  return options;
}

void validate(const HaloStressCase& c) {
  const bool simulated = c.carrier.transport == "simulated";
  if (c.carrier.buffers != 1 && c.carrier.buffers != 2)
    throw core::InvalidArgument(fmt::format("{} buffers were asked for; give 1 or 2", c.carrier.buffers));
  if (c.exchanges < 1 || c.longest < 1 || c.longest > 1 << 24)
    throw core::InvalidArgument(
        fmt::format("{} exchanges of up to {} bytes were asked for; give at least one, of 1 byte to 16 MiB",
                    c.exchanges, c.longest));
  if (simulated && (c.ranks < 2 || c.ranks > 64))
    throw core::InvalidArgument(fmt::format("{} simulated ranks were asked for; give a number from 2 to 64", c.ranks));
  if (!simulated && c.damage != 0)
    throw core::InvalidArgument("only the simulated transport can damage messages; leave the damage out");
}

}  // namespace

Result halo_stress(const comm::Communicator& everybody, const HaloStressCase& c, const StressProgress& progress) {
  comm::on_every_rank(everybody, [&] { validate(c); });
  const comm::Communicator group = everybody.split(0, everybody.rank());
  if (c.carrier.transport != "simulated") comm::set_time_limit(group, c.time_limit);
  const bool simulated = c.carrier.transport == "simulated" && group.size() == 1;
  Result result;
  result.bench = "halo";
  result.parameters = {{"measured", std::string("stress")},
                       {"processes", std::int64_t(simulated ? c.ranks : group.size())},
                       {"threads", std::int64_t(1)},
                       {"transport", c.carrier.transport},
                       {"buffers", std::int64_t(c.carrier.buffers)},
                       {"exchanges", c.exchanges},
                       {"longest", c.longest},
                       {"seed", static_cast<std::int64_t>(c.seed)}};
  if (!simulated) result.skipped = unavailable_reason(c.carrier, comm::ProcessGrid(group, {group.size()}));
  if (c.carrier.transport == "mpi")
    result.skipped = "plain MPI is a loop of the benchmark, no transport of the library";
  if (c.carrier.transport == "simulated" && !simulated) result.skipped = "runs its ranks inside one process";
  if (!result.skipped.empty()) return result;

  std::vector<Sample> samples;
  std::array<std::uint64_t, 3> totals{};
  for (std::int64_t number = 0; number * leg_steps < c.exchanges; ++number) {
    const Leg leg = drawn(c, number, simulated ? c.ranks : group.size(), simulated);
    std::vector<Tally> tallies(simulated ? static_cast<std::size_t>(leg.ranks) : 1);
    const double begin = now();
    if (simulated) {
      comm::simulate(leg.ranks, simulation(c, leg), [&](const comm::Communicator& all) {
        Walker(all, c, leg, tallies[static_cast<std::size_t>(all.rank())]).walk();
      });
    } else {
      Walker(group, c, leg, tallies[0]).walk();
    }
    std::array<double, 1> seconds{now() - begin};
    const auto wrong = std::ranges::find_if(tallies, [](const Tally& tally) { return tally.wrong.has_value(); });
    comm::raise_everywhere(group, wrong == tallies.end()
                                      ? std::nullopt
                                      : std::optional(fmt::format("{} (seed {})", *wrong->wrong, c.seed)));
    group.max(seconds);
    samples.push_back({.wall = seconds[0] / static_cast<double>(leg.steps)});
    for (const Tally& tally : tallies) {
      totals[0] += tally.messages;
      totals[1] += tally.bytes;
      totals[2] += tally.reductions;
    }
    if (progress)
      progress(leg.first + leg.steps,
               fmt::format("{} ranks as {}, {} axes", leg.ranks, fmt::join(leg.dims, "x"), leg.dims.size()));
  }
  group.sum(std::span<std::uint64_t>(totals));
  result.seconds = spread(samples);
  result.bytes = static_cast<double>(totals[1]) / static_cast<double>(c.exchanges);
  result.ceilings = no_ceilings();
  result.outcome = {{"exchanges", c.exchanges},
                    {"messages", static_cast<std::int64_t>(totals[0])},
                    {"bytes", static_cast<std::int64_t>(totals[1])},
                    {"reductions", static_cast<std::int64_t>(totals[2])},
                    {"wrong", std::int64_t(0)}};
  return result;
}

}  // namespace halocline::bench
