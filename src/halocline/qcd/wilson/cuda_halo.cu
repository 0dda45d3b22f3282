// SPDX-License-Identifier: Apache-2.0
/// @file
/// The halo of the hopping term: sizes of messages, and the packing kernels.

#include "halocline/qcd/wilson/cuda_halo.cuh"

#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/wilson/detail/halo_pack.cuh"

namespace halocline::qcd::device {
namespace {

constexpr int pack_threads = 128;

/// A kernel that only packs.
template <class S>
struct Pack {
  static constexpr int max_threads = pack_threads;
  static constexpr int min_blocks = 4;  // leaves 128 registers a thread
  HaloPacker<S> packer;
  PackBlocks blocks;
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int block = static_cast<int>(p.x / pack_threads);
    blocks.run(packer, block, static_cast<int>(p.x - std::int64_t{block} * pack_threads));
  }
};
/// The same, but the last block of each face also raises the neighbour's flag.
template <class S>
struct PackAndRaise : Pack<S> {
  gpu::FaceSignals signals;
  HALOCLINE_HOST_DEVICE void end_block(const gpu::BlockPoint& b) const {
    this->blocks.end(signals, static_cast<int>(b.x));
  }
};

template <class S>
std::vector<std::size_t> face_bytes(const Box& box, int columns) {
  std::vector<std::size_t> bytes(4, 0);
  for (int axis = 0; axis < 4; ++axis)
    if (box.is_split(axis)) bytes[static_cast<std::size_t>(axis)] = halo_bytes<S>(box.face_sites(axis), columns);
  return bytes;
}

}  // namespace

template <class S>
HopHalo<S>::HopHalo(ContextPtr context, int columns, std::string_view policy)
    : context_(std::move(context)),
      columns_(columns),
      exchange_(context_->device, context_->geometry->grid(), face_bytes<S>(context_->box, columns),
                policy == "auto" ? "" : policy,
                gpu::FaceExchangeOptions{.emulated = context_->emulated,
                                         .time_limit = context_->halo.time_limit,
                                         .ranks_per_node = context_->halo.ranks_per_node}) {}

template <class S>
HaloPacker<S> HopHalo<S>::packer(const DeviceSpinor<S>& in, int target_parity, bool dagger) const {
  HaloPacker<S> packer{};
  packer.box = context_->box;
  packer.parity = 1 - target_parity;
  packer.in = in.reader(1 - target_parity);
  packer.lower = dagger ? -1 : 1;
  for (int face = 0; face < gpu::most_faces; ++face) {
    const comm::Face f = comm::Face::from_index(face);
    packer.outbox[face] = exchange_.outbox(f);
    packer.slots[face] = exchange_.active(f) ? context_->box.face_sites(f.axis) : 0;
  }
  return packer;
}

template <class S>
HaloReader<S> HopHalo<S>::reader() const {
  HaloReader<S> reader;
  reader.columns = columns_;
  for (int d = 0; d < 8; ++d) {
    const comm::Face face = lattice::face_of(d);
    if (!exchange_.active(face)) continue;
    reader.inbox[d] = exchange_.inbox(face);
    reader.slots[d] = context_->box.face_sites(face.axis);
  }
  return reader;
}

template <class S>
void HopHalo<S>::send(const DeviceSpinor<S>& in, int target_parity, bool dagger) {
  gpu::Stream& stream = context_->stream;
  exchange_.begin(stream);
  Pack<S> pack{packer(in, target_parity, dagger), {}};
  pack.blocks = PackBlocks::of(pack.packer.slots, columns_, pack_threads);
  const gpu::Extent extent{std::int64_t{pack.blocks.count()} * pack_threads};
  if (exchange_.packs_remotely())
    gpu::launch(stream, "pack_halo_and_raise", extent, {pack_threads}, PackAndRaise<S>{pack, exchange_.signals()});
  else
    gpu::launch(stream, "pack_halo", extent, {pack_threads}, pack);
  exchange_.post(stream);
}

template <class S>
HaloReader<S> HopHalo<S>::receive() {
  exchange_.wait(context_->stream);
  return reader();
}

template class HopHalo<double>;
template class HopHalo<float>;
template class HopHalo<Fixed16>;
template class HopHalo<Fixed8>;

}  // namespace halocline::qcd::device
