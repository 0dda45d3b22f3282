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
/// message n is written only when message n-2 is known to be free. Symmetric use never meets this rule. A program that
/// would break it (a third message in one direction with nothing coming back) is refused, on every transport alike and
/// on every rank that has a neighbour there. docs/design/0002-double-buffered-halo.md has the proof and what else was
/// considered; detail/link.hpp has the rules alone, and a test that explores them in every order.
///
///   exchange.send_buffer(face) ...    pack every face
///   exchange.post();                  all of them start
///   ...                               the interior
///   exchange.wait(face);              in the order that suits the boundary work
///   exchange.recv_buffer(face) ...    until this face is posted again
///
/// With one buffer (Buffering::one, there to be compared with) the neighbour must say that it has read before the next
/// message may be written. That costs a message back, and waiting for it: in send_buffer() where the message is packed
/// straight into the neighbour's memory, in post() elsewhere.

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/group/process_grid.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::comm {

/// A set of faces: bit Face::index().
using FaceMask = std::uint32_t;
inline constexpr FaceMask all_faces = ~FaceMask{0};
constexpr FaceMask mask_of(Face face) noexcept { return FaceMask{1} << face.index(); }

/// Buffers of each way of a link.
enum class Buffering { one = 1, two = 2 };

/// The same on every rank.
struct HaloOptions {
  Buffering buffering = Buffering::two;
  bool checksum = false;      ///< every message carries a 64-bit checksum, verified by wait()
  bool threads = false;       ///< several threads will post or wait at once
  double time_limit = 300.0;  ///< [s] see HaloExchange::set_time_limit
};

/// Moves one message per face and step. Knows bytes; knows nothing of fields.
///
/// Threads: one at a time, or with HaloOptions::threads several at once, each packing and posting faces of its own, and
/// then, after a barrier among them, each waiting for faces of its own. With one buffer release() comes before a
/// barrier as well. On transports that are not `concurrent` the calls then take turns, and no other thread of the
/// process may be in MPI meanwhile.
class HaloExchange {
public:
  static constexpr int most_axes = 16;

  /// @param grid        neighbours of this rank; an axis may be periodic or end
  /// @param face_bytes  shape (grid.ndim(),) [bytes]: message per face; 0 leaves the axis out. May differ between
  ///                    ranks as long as neighbours along an axis agree on its size
  /// @param transport   how the bytes travel; transport.hpp lists them. The same on every rank
  /// @throws InvalidArgument  wrong length of face_bytes, sizes that differ between neighbours, transports or options
  ///                          that differ between ranks, options that the transport cannot grant; on every rank, before
  ///                          any message
  /// Collective: yes.  Cost: 8 ndim buffers, each rounded up to 64 bytes; half of them on an axis of one process or
  /// where the outbox is the neighbour's inbox.
  HaloExchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, std::unique_ptr<Transport> transport,
               const HaloOptions& options = {});
  /// @param transport  a name as for make_transport, or "auto" for the fastest of a short trial (transport_choice.hpp)
  HaloExchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, std::string_view transport,
               const HaloOptions& options = {});
  HaloExchange(HaloExchange&&) noexcept = default;
  HaloExchange& operator=(HaloExchange&&) = delete;
  /// Collective: no, but what a rank posted should have been waited for by all, else its buffers are never freed.
  ~HaloExchange();
  /// Ends the exchange on all ranks together, which gives back windows of MPI at once instead of when the group opens
  /// the next one. Everything posted has been waited for; afterwards only the destructor may be called.
  /// Collective: yes.
  void close();

  /// An exchange of other sizes through the same buffers, for operators that take turns. Each is used only while
  /// nothing of the others is under way, and its posts end the life of what the others received.
  /// @param face_bytes  shape (ndim,) [bytes], none longer than that of the exchange that made the buffers
  /// @throws InvalidArgument  a longer one, or sizes that differ between neighbours; on every rank
  /// Collective: yes.
  HaloExchange sharing_buffers(std::span<const std::size_t> face_bytes) const;

  /// Something goes and comes over this face: it has a neighbour and a size.
  bool active(Face face) const;

  /// Where to pack the next message of this face; 64-byte aligned, empty for a face that is not active. To be filled
  /// between the wait() that ended this face's last step and the post(); what it holds before is unspecified. Waits,
  /// hardly ever long, until the message that last used it is on its way. With one buffer it also gives free all that
  /// has arrived, as release() does.
  /// @throws InvalidArgument  when two messages are under way with nothing come back
  /// @throws core::Error      after an earlier failure, or when the buffer does not come free within the time limit
  std::span<std::byte> send_buffer(Face face);

  /// Starts the messages that leave through these faces, and opens their arrival at the opposite ones. Never blocks
  /// with two buffers. Every rank posts the same faces in the same order; faces that are not active are passed over.
  /// Ends the life of what has been waited for at these faces.
  /// @throws InvalidArgument  when the opposite face's last message has not been waited for, or two messages are under
  ///                          way with nothing come back; nothing is posted then
  /// @throws core::Error      after an earlier failure
  void post(FaceMask faces = all_faces);
  void post(Face face);

  /// Returns when the message posted last has arrived at this face; at once for a face that is not active.
  /// @throws InvalidArgument  when nothing is posted to this face, or it has been waited for
  /// @throws core::Error      when it has not come within the time limit, its sender is known to have ended, or a
  ///                          message of another step or a damaged one has come: rank, face, step and transport are
  ///                          named, and this exchange cannot be used further
  void wait(Face face);
  /// Waits for all of these faces that something is posted to and not waited for.
  void wait_all(FaceMask faces = all_faces);
  /// Waits for one of these faces, whichever is first. @return nothing when none of them awaits a message
  std::optional<Face> wait_any(FaceMask faces = all_faces);
  /// The message has arrived, or none is awaited: wait() will not wait. Makes progress.
  bool arrived(Face face);

  /// Returns when all messages posted through these faces have left their buffers. Nobody needs to call it: it is here
  /// so that its time can be told from that of arrival.
  void wait_sent(FaceMask faces = all_faces);

  /// The message that arrived last at this face; empty for a face that is not active or before the first wait(). Until
  /// the next post() of this face (with one buffer: until release(), or the next send_buffer() or post() of any face).
  std::span<const std::byte> recv_buffer(Face face) const noexcept;

  /// Gives free what has been waited for at these faces, before the next post does. With one buffer the neighbours can
  /// go on from here; with two it changes nothing for them.
  void release(FaceMask faces = all_faces);

  /// How long waiting lasts before the neighbour is called stalled. @param seconds  positive; 300 at first
  void set_time_limit(double seconds);
  double time_limit() const noexcept;

  /// Messages posted through this face so far, those of exchanges that share the buffers included.
  std::uint64_t steps(Face face) const;

  const ProcessGrid& grid() const noexcept;
  const Transport& transport() const noexcept;
  const HaloOptions& options() const noexcept;

private:
  struct State;
  HaloExchange(std::shared_ptr<State> state, std::span<const std::size_t> face_bytes);

  int checked_index(Face face) const;
  std::size_t bytes(int face) const noexcept { return bytes_[static_cast<std::size_t>(face)]; }
  void set_sizes(std::span<const std::size_t> face_bytes);
  [[noreturn]] void refuse(int face, const std::string& what) const;
  [[noreturn]] void refuse_fill(int face) const;
  void check_post(int face) const;
  void check_wait(int face) const;
  void fill_ready(int face);
  void await_acknowledged(int face);
  void await_sent(int face, std::uint64_t message);
  void put(int face);
  template <class Ready>
  void poll(int face, std::uint64_t step, const char* what, Ready&& ready);
  bool look(int face);
  void finish_wait(int face);

  std::shared_ptr<State> state_;
  std::vector<std::size_t> sizes_;  ///< shape (ndim,): of a message, whether there is a neighbour or not
  std::vector<std::size_t> bytes_;  ///< shape (2 ndim,): of a message, 0 where the face is not active
};

}  // namespace halocline::comm
