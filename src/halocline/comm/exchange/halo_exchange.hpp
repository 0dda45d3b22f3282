// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Halo exchange with the neighbours of a process grid, two buffers deep.
///
/// A message packed in `send_buffer({mu, +1})` goes to the neighbour in direction +mu. It arrives in the neighbour's
/// `recv_buffer({mu, -1})`, because we are on that side of it. So a face is one link with one neighbour, both ways.
///
/// Step k uses buffer pair k mod 2. The exchange is symmetric: every rank that receives from us also sends to us, and
/// posts step k+1 only after it has read step k. So once a neighbour's step k has arrived, it has read our step k-1,
/// whose buffer our step k+1 overwrites: two pairs suffice and nothing is acknowledged.
///
/// Steps are counted for each face and each direction separately. So a program may post some of the faces only, as
/// long as every link is used both ways. Each message carries the number of messages of its link that its sender has
/// read and freed. A rank writes message n only when it knows that message n-2 is free. A program that always posts
/// all faces fulfils this rule by itself. A program that would break it (a third message in one direction with
/// nothing coming back) gets an error, on every transport alike and on every rank that has a neighbour there.
/// docs/design/0002-double-buffered-halo.md has the proof and the alternatives. detail/link.hpp has the rules alone,
/// and a test runs them in every order.
///
///   exchange.send_buffer(face) ...    pack every face
///   exchange.post();                  all of them start
///   ...                               the interior
///   exchange.wait(face);              in the order that suits the boundary work
///   exchange.recv_buffer(face) ...    until this face is posted again
///
/// With one buffer (Buffering::one, for comparison) the neighbour must acknowledge that it has read a message before
/// we may write the next one. That costs a message back and a wait for it. The wait is in send_buffer() where packing
/// writes straight into the neighbour's memory, and in post() elsewhere.

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

/// A set of faces: one bit for each face, at Face::index().
using FaceMask = std::uint32_t;
inline constexpr FaceMask all_faces = ~FaceMask{0};
constexpr FaceMask mask_of(Face face) noexcept { return FaceMask{1} << face.index(); }

/// Buffers in each direction of a link.
enum class Buffering { one = 1, two = 2 };

/// Options of an exchange, the same on every rank.
struct HaloOptions {
  Buffering buffering = Buffering::two;
  bool checksum = false;  ///< every message carries a 64-bit checksum, verified by wait()
  bool threads = false;   ///< several threads will post or wait at once
  /// As `threads` where the transport is concurrent. Elsewhere only one thread may call; concurrent() tells which
  /// holds.
  bool threads_where_concurrent = false;
  double time_limit = 300.0;     ///< [s] see HaloExchange::set_time_limit
  TransportOptions transport{};  ///< for a transport that is given by its name; may differ between ranks
};

/// Moves one message per face and step. Knows bytes; knows nothing of fields.
///
/// Threads: one thread calls at a time, unless HaloOptions::threads is set. Then several threads may call at once.
/// Each packs and posts faces of its own; then comes a barrier among the threads; then each waits for faces of its
/// own. With one buffer, release() comes before a barrier as well. On transports that are not `concurrent` the calls
/// take turns, and no other thread of the process may be in MPI meanwhile.
class HaloExchange {
public:
  static constexpr int most_axes = 16;

  /// @param grid        neighbours of this rank; an axis may be periodic or end
  /// @param face_bytes  shape (grid.ndim(),) [bytes]: message per face; 0 leaves the axis out. May differ between
  ///                    ranks as long as neighbours along an axis agree on its size
  /// @param transport   how the bytes travel; available_transports() lists the names. The same on every rank
  /// @throws InvalidArgument  wrong length of face_bytes, sizes that differ between neighbours, transports or options
  ///                          that differ between ranks, options that the transport does not have; on every rank,
  ///                          before any message
  /// Collective: yes.  Cost: 8 ndim buffers, each rounded up to 64 bytes; half of them with one buffer, on an axis of
  /// one process, and where the outbox is the neighbour's inbox.
  HaloExchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, std::unique_ptr<Transport> transport,
               const HaloOptions& options = {});
  /// @param transport  a name as for make_transport, or "auto" for the fastest of a short trial (transport_choice.hpp)
  HaloExchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, std::string_view transport,
               const HaloOptions& options = {});
  HaloExchange(HaloExchange&&) noexcept = default;
  HaloExchange& operator=(HaloExchange&&) = delete;
  /// Collective: no. All neighbours must have waited for the messages of this rank before; otherwise their buffers
  /// may never be freed.
  ~HaloExchange();
  /// Ends the exchange on all ranks together. This frees MPI windows at once, and not only when the group opens the
  /// next one. Call it after all posted messages have been waited for; afterwards only the destructor may be called.
  /// Collective: yes.
  void close();

  /// An exchange of other sizes through the same buffers, for operators that take turns. Use each exchange only while
  /// no message of the others is under way. Its posts overwrite the messages that the others received.
  /// @param face_bytes  shape (ndim,) [bytes], none longer than that of the exchange that made the buffers
  /// @throws InvalidArgument  a longer one, or sizes that differ between neighbours; on every rank
  /// Collective: yes.
  HaloExchange sharing_buffers(std::span<const std::size_t> face_bytes) const;

  /// True when messages go and come over this face: it has a neighbour, and its size is not 0.
  bool active(Face face) const;

  /// Where to pack the next message of this face; 64-byte aligned, empty for a face that is not active. Fill it
  /// between the wait() that ended this face's last step and the post(); its contents before are unspecified. The
  /// call waits, rarely for long, until the last message has left this buffer. With one buffer it also frees all
  /// messages that have arrived, as release() does.
  /// @throws InvalidArgument  when two messages are under way and none has come back
  /// @throws core::Error      after an earlier failure, or when the buffer does not come free within the time limit
  std::span<std::byte> send_buffer(Face face);

  /// Starts the messages that leave through these faces, and expects messages at the opposite faces. Never blocks
  /// with two buffers. Every rank posts the same faces in the same order; faces that are not active are skipped.
  /// Messages that were waited for at these faces may be overwritten from now on.
  /// @throws InvalidArgument  when the last message at an opposite face has not been waited for, or two messages are
  ///                          under way and none has come back; nothing is posted then
  /// @throws core::Error      after an earlier failure; with one buffer also when the neighbour does not read the
  ///                          last message within the time limit
  void post(FaceMask faces = all_faces);
  void post(Face face);

  /// Returns when the message of the last post has arrived at this face; at once for a face that is not active.
  /// @throws InvalidArgument  when nothing is posted to this face, or its message has been waited for
  /// @throws core::Error      when the message has not come within the time limit, its sender is known to have ended,
  ///                          or a message of another step or a damaged one has come. Names rank, face, step and
  ///                          transport; this exchange cannot be used further
  void wait(Face face);
  /// Waits for all of these faces that await a message.
  void wait_all(FaceMask faces = all_faces);
  /// Waits until a message has arrived at one of these faces. @return that face; nothing when none of them awaits a
  /// message
  std::optional<Face> wait_any(FaceMask faces = all_faces);
  /// True when wait() will not wait: the message has arrived, or none is awaited. Makes progress.
  bool arrived(Face face);

  /// Returns when all messages posted through these faces have left their buffers. No exchange needs this call: it
  /// lets measurements tell the time of sending from that of arrival.
  void wait_sent(FaceMask faces = all_faces);

  /// The message that arrived last at this face; empty for a face that is not active or before the first wait().
  /// Valid until the next post() of this face. With one buffer: valid until release(), or until the next
  /// send_buffer() or post() of any face.
  std::span<const std::byte> recv_buffer(Face face) const noexcept;

  /// Frees the messages that have been waited for at these faces, earlier than the next post would. With one buffer
  /// the neighbours can then go on; with two it changes nothing for them.
  void release(FaceMask faces = all_faces);

  /// How long a wait lasts before it throws an error. @param seconds  positive; HaloOptions::time_limit at first
  void set_time_limit(double seconds);
  double time_limit() const noexcept;

  /// True when several threads may post and wait at the same moment: they were asked for, and the transport is
  /// concurrent.
  bool concurrent() const noexcept;

  /// Bytes of all messages posted so far, if all had the present sizes; without checksums and flags.
  std::uint64_t bytes_posted() const;

  /// Steps posted through this face so far, including the steps of exchanges that share the buffers.
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
  std::vector<std::size_t> sizes_;  ///< shape (ndim,): bytes of a message, with or without a neighbour
  std::vector<std::size_t> bytes_;  ///< shape (2 ndim,): bytes of a message, 0 where the face is not active
};

}  // namespace halocline::comm
