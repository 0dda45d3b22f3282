// SPDX-License-Identifier: Apache-2.0
//
// MILC version 5: magic number 20103, sizes x y z t, a time stamp of 64 bytes, the site order (0: x fastest), the
// checksums sum29 and sum31, then four 3x3 links a site in single precision. 32-bit words throughout, in the byte order
// of the machine that wrote the file, which the magic number reveals.

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/detail/header.hpp"
#include "halocline/qcd/io/detail/xml.hpp"

namespace halocline::qcd::io::detail {

namespace {
constexpr std::uint32_t magic = 20103;
constexpr std::size_t stamp_at = 20, stamp_bytes = 64, order_at = 84, sums_at = 88, head_bytes = 96;
}  // namespace

Header parse_milc(const InputFile& file) {
  std::array<std::byte, head_bytes> head{};
  file.read(0, head, "MILC header");
  Header header;
  GaugeFileInfo& info = header.info;
  header.byte_order =
      load_word<std::uint32_t>(head.data(), ByteOrder::little) == magic ? ByteOrder::little : ByteOrder::big;
  const auto word = [&](std::size_t at) { return load_word<std::uint32_t>(head.data() + at, header.byte_order); };
  info.path = file.path();
  info.format = "milc";
  info.bits = 32;
  info.endian = name_of(header.byte_order);
  for (std::size_t axis = 0; axis < 4; ++axis) info.extents[axis] = static_cast<std::int32_t>(word(4 + 4 * axis));
  std::string stamp(reinterpret_cast<const char*>(head.data() + stamp_at), stamp_bytes);
  stamp.resize(std::min(stamp.find('\0'), stamp.size()));
  std::replace_if(stamp.begin(), stamp.end(), [](char c) { return c < ' ' || c > '~'; }, ' ');
  info.header.emplace_back("time_stamp", trimmed(stamp));
  if (word(order_at) != 0)
    throw core::FileError(file.path(), "order",
                          fmt::format("is {}, expected 0 (x fastest): checkpoints in node order "
                                      "cannot be read; save it in serial order",
                                      word(order_at)));
  header.checksum_kind = ChecksumKind::milc;
  header.milc = MilcChecksum{word(sums_at), word(sums_at + 4)};
  info.checksum = header.milc->text();
  header.data_offset = head_bytes;
  check_data_size(header, "links (read as MILC v5)", file.size() - static_cast<std::int64_t>(head_bytes));
  return header;
}

Envelope make_milc(const Request& request) {
  Envelope envelope;
  envelope.front.resize(head_bytes);
  const auto put = [&](std::size_t at, std::uint32_t value) {
    store_word(envelope.front.data() + at, value, request.order);
  };
  put(0, magic);
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (request.extents[axis] > std::numeric_limits<std::int32_t>::max())
      throw core::InvalidArgument(
          fmt::format("a {} lattice is too large for the MILC format", text_of(request.extents)));
    put(4 + 4 * axis, static_cast<std::uint32_t>(request.extents[axis]));
  }
  const std::string stamp = request.text("time_stamp", "");
  std::memcpy(envelope.front.data() + stamp_at, stamp.data(), std::min(stamp.size(), stamp_bytes - 1));
  put(order_at, 0);
  put(sums_at, request.sums.milc.sum29);
  put(sums_at + 4, request.sums.milc.sum31);
  return envelope;
}

}  // namespace halocline::qcd::io::detail
