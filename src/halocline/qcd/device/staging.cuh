// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transfers of large arrays between pageable host memory and a device, in pieces.
///
/// An upload copies each piece to pinned memory, which the device can copy at full speed to a buffer of its own. A
/// kernel then converts the buffer to the storage of the field. Downloads go the opposite way. There are two pinned
/// buffers and two on the device, so the host fills or empties one pair while the device works on the other.

#include <algorithm>
#include <cstdint>

#include "halocline/gpu/array.hpp"
#include "halocline/qcd/device/context.cuh"
#include "halocline/qcd/device/field_checks.hpp"

namespace halocline::qcd::device::detail {

class Staging {
public:
  static constexpr std::int64_t piece_bytes = std::int64_t{4} << 20;

  struct Piece {
    explicit Piece(const gpu::Device& on) : host(on, piece_bytes), device(on, piece_bytes), done(on) {}
    gpu::PinnedArray<std::byte> host;
    gpu::DeviceArray<std::byte> device;
    gpu::Event done;  ///< marks the end of the last work enqueued with this piece
  };

  explicit Staging(const gpu::Device& device) : pieces_{Piece(device), Piece(device)} {}

  /// The piece that was used less recently. The device may still be using it: wait for `done`.
  Piece& next() noexcept { return pieces_[turn_ ^= 1]; }

private:
  Piece pieces_[2];
  int turn_ = 0;
};

/// The staging area of a context, made at the first call: 8 MiB of pinned memory and 8 MiB of device memory.
Staging& staging_of(Context& context);

/// Copies `items` of `item_bytes` each to the device.
/// @param fill  (double* to, begin, count): writes items begin ... begin + count - 1 contiguously
/// @param use   (const double* from, begin, count): enqueues the kernel that reads these items on the device
/// @throws InvalidArgument  while the stream is capturing
/// Returns when fill() has written the last item; the device may still be working.
template <class Fill, class Use>
void upload_pieces(Context& context, std::int64_t items, std::int64_t item_bytes, const Fill& fill, const Use& use) {
  require_not_recording(context.stream.capturing());
  Staging& staging = staging_of(context);
  const std::int64_t most = Staging::piece_bytes / item_bytes;
  for (std::int64_t begin = 0; begin < items; begin += most) {
    const std::int64_t count = std::min(most, items - begin);
    Staging::Piece& piece = staging.next();
    piece.done.wait();
    fill(reinterpret_cast<double*>(piece.host.data()), begin, count);
    context.stream.copy_to_device(piece.device.data(), piece.host.data(), static_cast<std::size_t>(count * item_bytes));
    use(reinterpret_cast<const double*>(piece.device.data()), begin, count);
    context.stream.record(piece.done);
  }
}

/// Copies `items` of `item_bytes` each to the host.
/// @param make  (double* to, begin, count): enqueues the kernel that writes the items on the device
/// @param take  (const double* from, begin, count): reads them on the host
/// @throws InvalidArgument  while the stream is capturing
/// Returns when take() has read the last item.
template <class Make, class Take>
void download_pieces(Context& context, std::int64_t items, std::int64_t item_bytes, const Make& make,
                     const Take& take) {
  require_not_recording(context.stream.capturing());
  Staging& staging = staging_of(context);
  const std::int64_t most = Staging::piece_bytes / item_bytes;
  Staging::Piece* under_way = nullptr;
  for (std::int64_t begin = 0; begin < items + most; begin += most) {
    Staging::Piece* started = nullptr;
    if (begin < items) {
      const std::int64_t count = std::min(most, items - begin);
      started = &staging.next();
      started->done.wait();
      make(reinterpret_cast<double*>(started->device.data()), begin, count);
      context.stream.copy_to_host(started->host.data(), started->device.data(),
                                  static_cast<std::size_t>(count * item_bytes));
      context.stream.record(started->done);
    }
    if (under_way != nullptr) {
      under_way->done.wait();
      take(reinterpret_cast<const double*>(under_way->host.data()), begin - most, std::min(most, items - begin + most));
    }
    under_way = started;
  }
}

}  // namespace halocline::qcd::device::detail
