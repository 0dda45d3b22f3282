// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transfers of large arrays between pageable host memory and a device, in pieces.
///
/// A piece goes through pinned memory, which the device copies at full speed, to a buffer on the device, from which a
/// kernel writes it in its storage. Downloads go the opposite way. There are two of each, so the host fills or empties
/// one while the device works on the other.

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
    gpu::Event done;  ///< after the last work enqueued with this piece
  };

  explicit Staging(const gpu::Device& device) : pieces_{Piece(device), Piece(device)} {}

  /// The piece that was used less recently; its last use may be under way.
  Piece& next() noexcept { return pieces_[turn_ ^= 1]; }

private:
  Piece pieces_[2];
  int turn_ = 0;
};

/// The staging area of a context, made at the first call: 8 MiB of pinned memory and 8 MiB of the device's.
Staging& staging_of(Context& context);

/// Brings `items` of `item_bytes` each to the device.
/// @param fill  (double* to, begin, count): writes items begin ... begin + count - 1 side by side
/// @param use   (const double* from, begin, count): enqueues the kernel that takes them on the device
/// Returns when the last item has been filled in. @throws InvalidArgument  while the stream is capturing
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

/// Brings `items` of `item_bytes` each to the host.
/// @param make  (double* to, begin, count): enqueues the kernel that writes the items on the device
/// @param take  (const double* from, begin, count): reads them on the host
/// Returns when all have been taken.
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
