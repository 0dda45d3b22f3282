// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Polling memory that another process writes: often at first, then yielding the core, and not without end.
///
/// The first polls cost nothing but a pause instruction each, so that an answer that is a microsecond away is seen at
/// once. After that every poll is followed by Backend::idle(). Without it, ranks that share a core would wait for a
/// neighbour that cannot run. The clock is read from then on only.

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/pause.hpp"

namespace halocline::comm::detail {

using core::pause;

enum class Waited { ready, too_long, hopeless };

inline constexpr double seconds_between_doubts = 0.02;

/// Polls until `ready()`, for `limit` seconds at most.
/// @param hopeless  asked every 20 ms; true ends the wait at once
/// @param alone     no other thread of this process communicates meanwhile. The wait then also drives messages of
///                  this process that are under way: a neighbour may need one of them before it can send the awaited
///                  one
template <class Ready, class Hopeless>
Waited wait_until(Backend& backend, double limit, Ready&& ready, Hopeless&& hopeless, bool alone = true) {
  for (int spin = backend.spins(); spin > 0; --spin) {
    if (ready()) return Waited::ready;
    pause();
  }
  const double begin = backend.now();
  double doubt = begin + seconds_between_doubts;
  while (!ready()) {
    const double now = backend.now();
    if (now - begin > limit) return Waited::too_long;
    if (now > doubt) {
      if (hopeless() && !ready()) return Waited::hopeless;  // the neighbour may have sent before it ended
      doubt = now + seconds_between_doubts;
    }
    if (alone) backend.progress();
    backend.idle();
  }
  return Waited::ready;
}

}  // namespace halocline::comm::detail
