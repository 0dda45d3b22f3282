// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Waiting for somebody else's memory: look often, then give way, and not for ever.
///
/// The first looks cost nothing but a pause instruction each, so that an answer that is a microsecond away is seen at
/// once. After that every look is followed by Backend::idle(), without which ranks that share a core would wait for a
/// neighbour that cannot run. The clock is read from then on only.

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/pause.hpp"

namespace halocline::comm::detail {

using core::pause;

enum class Waited { ready, too_long, hopeless };

inline constexpr double seconds_between_doubts = 0.02;

/// Polls until `ready()`, for `limit` seconds at most.
/// @param hopeless  asked now and then; true ends the waiting at once
/// @param alone     no other thread of this process communicates meanwhile: messages under way are helped on, without
///                  which a neighbour that waits for one of ours could not come to what we wait for
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
      if (hopeless() && !ready()) return Waited::hopeless;  // it may have finished before it ended
      doubt = now + seconds_between_doubts;
    }
    if (alone) backend.progress();
    backend.idle();
  }
  return Waited::ready;
}

}  // namespace halocline::comm::detail
