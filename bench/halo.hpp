// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `halo`: the exchange alone, with no stencil around it.
///
/// `halo_face` moves one face between two processes beside the floor of the same run; `halo_operator` makes the
/// exchanges of one application of the domain-decomposed Wilson operator, at the message sizes of its local lattice.
/// In both every byte of a message is written before it is posted and read after it has arrived, and all carriers are
/// measured in turns.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/carrier.hpp"

namespace halocline::bench {

struct HaloFaceCase {
  std::int64_t bytes = 4096;          ///< of the message, a multiple of 8
  std::string traffic = "ping-pong";  ///< one message at a time, there and back; or "both-ways": both at once
  std::vector<Carrier> carriers;      ///< empty: all_carriers()
};

/// Seconds of one message (ping-pong: half the way there and back), for every carrier. The key "result" has, of the
/// same run: `floor`, the same message handed over with nothing but stores, loads and a flag (bare_pair.hpp);
/// `over_floor`, the ratio; `copy`, one copy of the bytes inside a core's caches; `cache_line`, the hand-over of a flag
/// between the two processes; `over_parts`, the ratio to the sum of these two. Null where there is one process only: it
/// is its own neighbour then, on both faces, and the traffic must be "both-ways".
/// @throws InvalidArgument  for more than two processes or sizes out of range, on every rank
/// Collective: yes.  Cost: about effort.seconds, for all carriers together.
std::vector<Result> halo_face(const comm::Communicator& group, const HaloFaceCase& parameters, const Effort& effort);

struct HaloOperatorCase {
  std::array<std::int64_t, 4> local{32, 6, 4, 3};  ///< sites of each process; y, z, t faces need an even number
  std::string face = "all";                        ///< or "x", "y", "z", "t": that axis alone, all processes along it
  int threads = 1;                                 ///< of each process; each writes and reads faces of its own
  bool posting_by_all = false;                     ///< every thread posts and waits for its faces; else the first does
  std::vector<Carrier> carriers;                   ///< empty: all_carriers()
};

inline constexpr int exchanges_per_application = 10;

/// Bytes of a message of each axis: half spinors in single precision (48 bytes a site) of the face of one of the two
/// domains, which lie side by side in x. 3456, 9216, 13824, 18432 for 32x6x4x3.
std::array<std::int64_t, 4> operator_face_bytes(const std::array<std::int64_t, 4>& local);

/// Seconds of the ten exchanges of one application. An exchange moves both faces of y, z and t, and one of x, up and
/// down in turn. The key "result" has `exchange`, a tenth of it.
/// @throws InvalidArgument  for sizes out of range, on every rank
/// Collective: yes.  Cost: about effort.seconds, for all carriers together.
std::vector<Result> halo_operator(const comm::Communicator& group, const HaloOperatorCase& parameters,
                                  const Effort& effort);

}  // namespace halocline::bench
