// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Halo exchange with the neighbours of a process grid, two buffers deep.
///
/// What goes where: `send_buffer({mu, +1})` goes to the neighbour in +mu and arrives in its `recv_buffer({mu, -1})`,
/// for that is the side of it on which we are. A face is thus one link with one neighbour, both ways.
///
/// Step k uses buffer pair k mod 2. The exchange is symmetric: every rank that receives from us also sends
/// to us, and posts step k+1 only after it has read step k. So once a neighbour's step k has arrived, it has
/// read our step k-1, whose buffer our step k+1 overwrites: two pairs suffice and nothing is acknowledged.
///
/// Steps are counted for each face and each way apart, so a post of some faces only keeps this true as long as every
/// link goes both ways. Each message tells how many of the messages of its link its sender has read and given free;
/// message n leaves only when message n-2 is known to be free. Symmetric use never meets this rule. A post that would
/// break it (a third message in one direction with nothing coming back) is refused, on every transport alike and on
/// every rank that has a neighbour there. docs/design/0002-double-buffered-halo.md has the proof, and what else was
/// considered.
///
///   exchange.send_buffer(face) ...    pack every face
///   exchange.post();                  all of them start
///   ...                               the interior
///   exchange.wait(face);              in the order that suits the boundary work
///   exchange.recv_buffer(face) ...    until the next post() of a face of this axis

#include "halocline/comm/process_grid.hpp"
#include "halocline/comm/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halocline::comm {

/// A set of faces: bit Face::index().
using FaceMask = std::uint32_t;
inline constexpr FaceMask all_faces = ~FaceMask{0};
constexpr FaceMask mask_of(Face face) noexcept { return FaceMask{1} << face.index(); }

/// Moves one message per face and step. Knows bytes; knows nothing of fields. One thread at a time.
class HaloExchange {
public:
  /// @param grid        neighbours of this rank; an axis may be periodic or end
  /// @param face_bytes  shape (grid.ndim(),) [bytes]: message per face; 0 leaves the axis out. May differ between
  ///                    ranks as long as neighbours along an axis agree on its size
  /// @param transport   how the bytes travel; transport.hpp lists them. The same on every rank
  /// @throws InvalidArgument  wrong length of face_bytes, sizes that differ between neighbours, transports that differ
  ///                          between ranks; on every rank, before any message
  /// Collective: yes.  Cost: 8 ndim buffers, each rounded up to 64 bytes; half of them on an axis of one process.
  HaloExchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, std::unique_ptr<Transport> transport);
  HaloExchange(HaloExchange&&) noexcept = default;
  HaloExchange& operator=(HaloExchange&&) = delete;
  /// Collective: no, but what a rank posted should have been waited for by all, else its buffers are never freed.
  ~HaloExchange();

  /// Something goes and comes over this face: it has a neighbour and a size.
  bool active(Face face) const;

  /// Where to pack the next message of this face; 64-byte aligned, empty for a face that is not active. To be filled
  /// between the wait() that ended this face's last step and the post(); what it holds before is unspecified.
  std::span<std::byte> send_buffer(Face face) noexcept;

  /// Starts the messages that leave through these faces, and opens their arrival at the opposite ones; never blocks.
  /// Every rank posts the same faces in the same order; faces that are not active are passed over. Ends the life of
  /// what has been waited for on the axes of these faces.
  /// @throws InvalidArgument  when the opposite face's last message has not been waited for, or two messages are under
  ///                          way with nothing come back; nothing is posted then
  /// @throws core::Error      after an earlier failure
  void post(FaceMask faces = all_faces);

  /// Returns when the message posted last has arrived at this face; at once for a face that is not active.
  /// @throws InvalidArgument  when nothing is posted to this face, or it has been waited for
  /// @throws core::Error      when it has not come within the time limit, or a message of another step has: rank, face,
  ///                          step and transport are named, and this exchange cannot be used further
  void wait(Face face);
  /// Waits for all of these faces that something is posted to and not waited for.
  void wait_all(FaceMask faces = all_faces);

  /// The message that arrived last at this face; empty for a face that is not active. Until the next post() of a face
  /// of this axis.
  std::span<const std::byte> recv_buffer(Face face) const noexcept;

  /// How long wait() waits before it calls the neighbour stalled. @param seconds  positive; 300 at first
  void set_time_limit(double seconds);
  double time_limit() const noexcept { return time_limit_; }

  /// Messages posted through this face so far.
  std::uint64_t steps(Face face) const;

  const ProcessGrid& grid() const noexcept { return grid_; }
  const Transport& transport() const noexcept { return *transport_; }

private:
  static constexpr int pairs = 2;

  /// Both ways of one link. Counts are of messages since the beginning.
  struct Link {
    std::size_t bytes = 0;
    int neighbour = -1;
    std::uint64_t sent = 0;      ///< posted by us through this face
    std::uint64_t expected = 0;  ///< posted by the neighbour to this face, as all ranks post alike
    std::uint64_t arrived = 0;   ///< of these, waited for
    std::uint64_t freed = 0;     ///< of these, given free by a later post
    std::uint64_t proven = 0;    ///< of `sent`, given free by the neighbour for all we know
    bool active() const noexcept { return bytes > 0; }
  };

  int checked_index(Face face) const;
  Link& link(int face) noexcept { return links_[static_cast<std::size_t>(face)]; }
  const Link& link(int face) const noexcept { return links_[static_cast<std::size_t>(face)]; }
  void check_post(int face) const;
  void free_arrived(int face);
  void finish_send(int face, std::uint64_t message);
  template <class Ready>
  void poll(int face, std::uint64_t step, const char* what, Ready&& ready);
  [[noreturn]] void fail(int face, std::uint64_t step, const std::string& what);

  ProcessGrid grid_;
  std::unique_ptr<Transport> transport_;
  std::vector<Link> links_;
  double time_limit_ = 300.0;
  bool failed_ = false;
};

}  // namespace halocline::comm
