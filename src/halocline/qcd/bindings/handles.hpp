// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What stands behind the handles of c.h, and how a collective call runs.
///
/// All objects of a lattice share its Context: the geometry, and whether the processes still agree about the state of
/// everything. A collective call takes its turn, lets each rank check its own arguments and take the memory that it
/// needs for copies, compares the values that must be equal (a digest of 64 bits, one small gather for both), and only
/// then does its work. So a mistake on one rank is the same error on every rank, before any other message. The digest
/// has the name of the call and the number of every object too: ranks that call different functions, or give different
/// objects, are a mistake as well.

#include "halocline/comm/bindings/guard.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/measure/propagator.hpp"
#include "halocline/qcd/measure/staggered.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"

#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace halocline::qcd::bindings {

using comm::bindings::given;
using comm::bindings::guarded;

struct Context {
  std::shared_ptr<const lattice::Geometry4> geometry;
  std::uint64_t identity = 0;  ///< the same on every rank, and another one for each lattice that exists
  std::uint64_t objects = 0;   ///< made so far, the same on every rank
  std::atomic<bool> busy{false};
  std::string failure{};            ///< why the state of the other ranks is unknown; written once
  std::atomic<bool> failed{false};  ///< `failure` is written

  const comm::Communicator& group() const noexcept { return geometry->communicator(); }
  /// The number of an object that is made in a collective call; every rank makes it.
  std::uint64_t next_object() noexcept { return ++objects; }
};
using ContextPointer = std::shared_ptr<Context>;

/// The turn of one call on a lattice.
class Turn {
public:
  enum class For { collective, reading };

  /// @throws InvalidArgument  where another call is under way; core::Error  where the lattice has failed, unless the
  ///                          call only reads
  Turn(Context& context, const char* call, For purpose = For::collective);
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { context_.busy.store(false, std::memory_order_release); }

private:
  Context& context_;
};

/// The values of a call that are the same on every rank, as 64 bits (FNV-1a).
class Digest {
public:
  Digest& operator()(std::string_view text) noexcept;
  template <std::integral T>
  Digest& operator()(T number) noexcept {
    return word(static_cast<std::uint64_t>(number));
  }
  Digest& operator()(double number) noexcept { return word(std::bit_cast<std::uint64_t>(number)); }
  std::uint64_t value() const noexcept { return value_; }

private:
  Digest& word(std::uint64_t bits) noexcept;
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// A check ran out of memory on one rank at least; every rank throws this one, and nothing was changed.
class NoMemory : public std::bad_alloc {
public:
  explicit NoMemory(int rank) noexcept : rank_(rank) {}
  const char* what() const noexcept override { return "out of memory"; }
  int rank() const noexcept { return rank_; }  ///< the lowest one

private:
  int rank_;
};

/// Runs `check(digest)` and raises its error on every rank; then compares the digests, which begin with the call.
/// @throws InvalidArgument  on every rank, for an error of `check` on any rank, or where digests differ
/// @throws NoMemory         on every rank, where a check threw std::bad_alloc
/// Collective: yes.
template <class Check>
void agree(const comm::Communicator& group, const char* call, Check&& check);

/// The work of a collective call in its turn.
/// @param check  called with a Digest; not collective. Memory is taken here where that is possible: only then can all
///               ranks go on after one of them has none
/// @param act    the work
/// @return  the status
template <class Check, class Act>
int collective(Context& context, const char* call, Check&& check, Act&& act) noexcept;

namespace detail {
/// One gather of this rank's failure and digest. @throws as agree()
void compare(const comm::Communicator& group, const char* call, const std::exception* failure, std::uint64_t digest);
/// The status of the exception at hand, noted where it leaves the other ranks in an unknown state. Called in the turn.
int status_at_hand(Context& context) noexcept;
/// The status where every rank has met NoMemory, and keeps a sentence.
int no_memory(const char* call, int rank) noexcept;
}  // namespace detail

template <class Check>
void agree(const comm::Communicator& group, const char* call, Check&& check) {
  Digest digest;
  digest(std::string_view(call));
  std::exception_ptr caught;
  try {
    check(digest);
  } catch (...) {
    caught = std::current_exception();
  }
  if (caught == nullptr) return detail::compare(group, call, nullptr, digest.value());
  try {
    std::rethrow_exception(caught);
  } catch (const std::exception& error) {
    detail::compare(group, call, &error, 0);
  }
}

template <class Check, class Act>
int collective(Context& context, const char* call, Check&& check, Act&& act) noexcept {
  try {
    const Turn turn(context, call);
    try {
      agree(context.group(), call, [&](Digest& digest) {
        digest(context.identity);
        check(digest);
      });
      act();
      return HALOCLINE_OK;
    } catch (const NoMemory& everywhere) {
      return detail::no_memory(call, everywhere.rank());
    } catch (...) {
      return detail::status_at_hand(context);  // noted before another thread can have its turn
    }
  } catch (...) {
    return comm::bindings::failure_at_hand();
  }
}

/// The work of a call of this process alone, in its turn.
template <class Act>
int alone(Context& context, const char* call, Act&& act) noexcept {
  return guarded([&] {
    const Turn turn(context, call, Turn::For::reading);
    act();
  });
}

/// A text of the caller; "" for NULL.
inline std::string_view text(const char* given) noexcept { return given == nullptr ? "" : given; }

/// @throws InvalidArgument  where two handles of a call stand on different lattices
void same_lattice(const ContextPointer& one, const ContextPointer& other, const char* call);

/// The number of reals in an array of the caller. @throws InvalidArgument  names what was given and expected
void check_count(std::size_t count, std::size_t expected, const char* call, const char* of);

}  // namespace halocline::qcd::bindings

struct halocline_lattice {
  halocline::qcd::bindings::ContextPointer context;
};

struct halocline_gauge {
  halocline::qcd::bindings::ContextPointer context;
  std::uint64_t number;  ///< of the object on its lattice, as in the other handles
  std::optional<halocline::qcd::GaugeField> links;

  /// @throws InvalidArgument  where there are none yet
  const halocline::qcd::GaugeField& present(const char* call) const;
};

struct halocline_solver {
  halocline::qcd::bindings::ContextPointer context;
  std::uint64_t number;
  halocline::qcd::QuarkSolver solver;
  std::vector<halocline::qcd::SolveReport> reports{};  ///< of the last solve
};

struct halocline_propagator {
  using Quarks = std::variant<halocline::qcd::measure::Propagator, halocline::qcd::measure::StaggeredPropagator>;

  halocline::qcd::bindings::ContextPointer context;
  std::uint64_t number;
  Quarks quarks;

  bool staggered() const noexcept { return quarks.index() == 1; }
  int columns() const noexcept { return staggered() ? 3 : 12; }
};
