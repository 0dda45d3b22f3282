// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `halo`: the exchange alone, with no stencil around it.
///
/// `halo_face` moves one face between two processes and compares with the floor measured in the same run.
/// `halo_operator` makes the exchanges of one application of the domain-decomposed Wilson operator, with the message
/// sizes of its local lattice. In both, every byte of a message is written before the post and read after the arrival,
/// and the carriers are measured in turns.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/carrier.hpp"

namespace halocline::bench {

struct HaloFaceCase {
  std::int64_t bytes = 4096;          ///< size of the message, a multiple of 8
  std::string traffic = "ping-pong";  ///< one message at a time, there and back; or "both-ways": both at once
  std::vector<Carrier> carriers;      ///< empty: all_carriers()
};

/// Seconds of one message (ping-pong: half of the round trip), for every carrier. The key "result" has, from the same
/// run:
///   floor       the same message passed with only stores, loads and a flag (bare_pair.hpp)
///   over_floor  ratio to the floor
///   copy        one copy of the bytes inside a core's caches
///   cache_line  passing a flag between the two processes
///   over_parts  ratio to the sum of copy and cache_line
/// These are null with a single process. It is then its own neighbour, on both faces, and the traffic must be
/// "both-ways".
/// @throws InvalidArgument  more than two processes, or sizes out of range; on every rank
/// Collective: yes.  Cost: about effort.seconds, for all carriers together.
std::vector<Result> halo_face(const comm::Communicator& group, const HaloFaceCase& parameters, const Effort& effort);

struct HaloOperatorCase {
  std::array<std::int64_t, 4> local{32, 6, 4, 3};  ///< sites of each process; y, z, t faces need an even number
  std::string face = "all";                        ///< or "x", "y", "z", "t": that axis alone, all processes along it
  int threads = 1;                                 ///< of each process; each thread writes and reads faces of its own
  bool posting_by_all = false;                     ///< every thread posts and waits for its faces; else the first does
  std::vector<Carrier> carriers;                   ///< empty: all_carriers()
};

inline constexpr int exchanges_per_application = 10;

/// Size of a message along each axis [bytes]: half spinors in single precision (48 bytes a site) of the face of one of
/// the two domains, which lie side by side in x. 3456, 9216, 13824, 18432 for 32x6x4x3.
std::array<std::int64_t, 4> operator_face_bytes(const std::array<std::int64_t, 4>& local);

/// Seconds of the ten exchanges of one application. An exchange moves both faces of y, z and t, and one face of x,
/// alternating up and down. The key "result" has `exchange`, a tenth of the time.
/// @throws InvalidArgument  sizes out of range; on every rank
/// Collective: yes.  Cost: about effort.seconds, for all carriers together.
std::vector<Result> halo_operator(const comm::Communicator& group, const HaloOperatorCase& parameters,
                                  const Effort& effort);

}  // namespace halocline::bench
