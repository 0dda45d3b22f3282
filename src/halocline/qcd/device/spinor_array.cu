// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device spinor fields: their memory, and copies from and to the canonical order of the host.
///
/// Of a field of both parities a transfer is a run of canonical sites, which the host copies as it is. Of a field of
/// one parity it is packed as `[site][spin][colour][re, im]`, and the host leaves out the other sites. The device
/// converts order and storage.

#include "halocline/qcd/device/spinor_array.cuh"

#include <algorithm>
#include <cstring>

#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/staging.cuh"

namespace halocline::qcd::device {
namespace {

/// Where the records of a piece stand in its doubles. A record is one site, or four sites with three components.
struct Order {
  Box box;
  std::int64_t begin;  ///< the first record of the piece
  int parity;          ///< of the field; -1: both
  int group;           ///< sites of a record

  /// Numbers of a thread: it has a record, or with both parities every second thread has one of either.
  HALOCLINE_INLINE int parity_of(std::int64_t thread) const {
    return parity >= 0 ? parity : static_cast<int>(thread & 1);
  }
  HALOCLINE_INLINE int record_of(std::int64_t thread) const {
    return static_cast<int>(begin + (parity >= 0 ? thread : thread / 2));
  }
  /// The doubles of spin `part` of the record, or of its site number `part`, from the start of the piece.
  HALOCLINE_INLINE std::int64_t place(std::int64_t thread, int part) const {
    constexpr int reals = spinor_reals / 4;
    if (parity >= 0) return spinor_reals * thread + reals * part;
    const int site = group * record_of(thread) + (group == 1 ? 0 : part);
    const std::int64_t canonical = 2 * (site - group * begin) + (box.coordinates(parity_of(thread), site).x[0] & 1);
    return group == 1 ? spinor_reals * canonical + reals * part : reals * canonical;
  }
};

/// From double, as transferred, to the storage. x counts the threads.
template <class S>
struct Import {
  SpinorWriter<S> out[2];
  const double* from;
  Order order;
  int column;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    Spinor<RealOf<S>> psi;
    HALOCLINE_UNROLL
    for (int part = 0; part < 4; ++part) {
      const double* reals = from + order.place(p.x, part);
      HALOCLINE_UNROLL
      for (int colour = 0; colour < 3; ++colour)
        psi.at[colour][part] = {static_cast<RealOf<S>>(reals[2 * colour]),
                                static_cast<RealOf<S>>(reals[2 * colour + 1])};
    }
    const int record = order.record_of(p.x);
    if (order.parity_of(p.x) == 0)
      out[0].store(record, column, psi);
    else
      out[1].store(record, column, psi);
  }
};

/// From the storage to double, as transferred.
template <class S>
struct Export {
  SpinorReader<S> in[2];
  double* to;
  Order order;
  int column;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int record = order.record_of(p.x);
    const Spinor<RealOf<S>> psi = order.parity_of(p.x) == 0 ? in[0].load(record, column) : in[1].load(record, column);
    HALOCLINE_UNROLL
    for (int part = 0; part < 4; ++part) {
      double* reals = to + order.place(p.x, part);
      HALOCLINE_UNROLL
      for (int colour = 0; colour < 3; ++colour) {
        reals[2 * colour] = static_cast<double>(psi.at[colour][part].re);
        reals[2 * colour + 1] = static_cast<double>(psi.at[colour][part].im);
      }
    }
  }
};

template <class S>
void require_canonical(const DeviceSpinor<S>& field, int column, std::size_t given) {
  detail::require_column(column, field.columns());
  const bool staggered = field.components() != spinor_components;
  detail::require_length(given, std::size_t{24} * static_cast<std::size_t>(field.sites()),
                         staggered ? "a staggered array" : "a spinor array",
                         staggered ? "the shape [t][z][y][x][colour 3]" : "the shape [t][z][y][x][spin 4][colour 3]");
}

/// A transfer of one column between the host's array and pieces. Items are records, with both parities pairs of them.
struct Transfer {
  Order order;
  int components;
  std::int64_t items, bytes;  ///< their number, and the size of one
  int threads;                ///< of an item

  template <class S>
  explicit Transfer(const DeviceSpinor<S>& field)
      : order{field.context()->box, 0, field.subset() == lattice::Subset::full ? -1 : static_cast<int>(field.subset()),
              spinor_components / field.components()},
        components(field.components()),
        items(field.sites()),
        bytes(static_cast<std::int64_t>(spinor_reals * sizeof(double)) * (whole() ? 2 : 1)),
        threads(whole() ? 2 : 1) {}

  bool whole() const { return order.parity < 0; }
  Order from(std::int64_t begin) const {
    Order out = order;
    out.begin = begin;
    return out;
  }

  /// Copies items between the host's array and a piece: move(place in the piece, place in the array, complex numbers),
  /// of the doubles of the one and the complex numbers of the other.
  template <class Move>
  void run(std::int64_t begin, std::int64_t count, const Move& move) const {
    const std::int64_t sites = order.group * count, first = order.group * begin;
    if (whole()) {
      constexpr std::int64_t run = 1024;  // sites, for a thread of the host
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < 2 * sites; i += run)
        move(2 * components * i, components * (2 * first + i), components * std::min(run, 2 * sites - i));
      return;
    }
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < sites; ++i) {
      const int site = static_cast<int>(first + i);
      const std::int64_t canonical = std::int64_t{2} * site + (order.box.coordinates(order.parity, site).x[0] & 1);
      move(2 * components * i, components * canonical, components);
    }
  }
};

}  // namespace

template <class S>
DeviceSpinor<S>::DeviceSpinor(ContextPtr context, lattice::Subset subset, int columns, int components)
    : context_(std::move(context)), subset_(subset), columns_(columns), components_(components) {
  detail::require_columns(columns);
  detail::require_components(components, context_->box);
  memory_ = gpu::DeviceArray<std::byte>(context_->vectors, bytes(context_->box, subset, columns, components));
}

template <class S>
std::int64_t DeviceSpinor<S>::bytes(const Box& box, lattice::Subset subset, int columns, int components) {
  constexpr std::int64_t site = spinor_reals * sizeof(Word) + (Storage<S>::scaled ? sizeof(float) : 0);
  return site * padded(box.sites / (spinor_components / components)) * columns *
         (subset == lattice::Subset::full ? 2 : 1);
}

template <class S>
void from_canonical(DeviceSpinor<S>& field, int column, std::span<const std::complex<double>> canonical) {
  require_canonical(field, column, canonical.size());
  const Transfer all(field);
  Import<S> work{};
  for (int parity = 0; parity < 2; ++parity)
    if (all.whole() || all.order.parity == parity) work.out[parity] = field.writer(parity);
  work.column = column;
  detail::upload_pieces(
      *field.context(), all.items, all.bytes,
      [&](double* to, std::int64_t begin, std::int64_t count) {
        all.run(begin, count, [&](std::int64_t in_piece, std::int64_t in_array, std::int64_t numbers) {
          std::memcpy(to + in_piece, canonical.data() + in_array,
                      static_cast<std::size_t>(numbers) * sizeof(std::complex<double>));
        });
      },
      [&](const double* from, std::int64_t begin, std::int64_t count) {
        work.from = from;
        work.order = all.from(begin);
        gpu::launch(field.context()->stream, "import_spinor", {all.threads * count, 1, 1}, {128, 1, 1}, work);
      });
}

template <class S>
void to_canonical(std::span<std::complex<double>> canonical, const DeviceSpinor<S>& field, int column) {
  require_canonical(field, column, canonical.size());
  const Transfer all(field);
  Export<S> out{};
  for (int parity = 0; parity < 2; ++parity)
    if (all.whole() || all.order.parity == parity) out.in[parity] = field.reader(parity);
  out.column = column;
  detail::download_pieces(
      *field.context(), all.items, all.bytes,
      [&](double* to, std::int64_t begin, std::int64_t count) {
        out.to = to;
        out.order = all.from(begin);
        gpu::launch(field.context()->stream, "export_spinor", {all.threads * count, 1, 1}, {128, 1, 1}, out);
      },
      [&](const double* from, std::int64_t begin, std::int64_t count) {
        all.run(begin, count, [&](std::int64_t in_piece, std::int64_t in_array, std::int64_t numbers) {
          std::memcpy(static_cast<void*>(canonical.data() + in_array), from + in_piece,
                      static_cast<std::size_t>(numbers) * sizeof(std::complex<double>));
        });
      });
}

template <class S>
void copy_columns(DeviceSpinor<S>& out, int to, const DeviceSpinor<S>& in, int from, int count, int parity) {
  detail::require_one_context(out.context() == in.context());
  detail::require_alike(out.context()->box, 1, out.subset(), in.context()->box, 1, in.subset(), parity);
  detail::require_one_kind(out.components(), in.components());
  detail::require_column(to + count - 1, out.columns());
  detail::require_column(from + count - 1, in.columns());
  const auto target = out.writer(parity);
  const auto source = in.reader(parity);
  const auto rows = [&](int columns) { return std::int64_t{source.stride} * columns; };
  auto& stream = out.context()->stream;
  stream.copy_on_device(target.data + rows(spinor_reals * to), source.data + rows(spinor_reals * from),
                        static_cast<std::size_t>(rows(spinor_reals * count)) * sizeof(*target.data));
  if (source.scale != nullptr)
    stream.copy_on_device(target.scale + rows(to), source.scale + rows(from),
                          static_cast<std::size_t>(rows(count)) * sizeof(float));
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template class DeviceSpinor<S>;                                                                                      \
  template void copy_columns(DeviceSpinor<S>&, int, const DeviceSpinor<S>&, int, int, int);                            \
  template void from_canonical(DeviceSpinor<S>&, int, std::span<const std::complex<double>>);                          \
  template void to_canonical(std::span<std::complex<double>>, const DeviceSpinor<S>&, int);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

detail::Staging& detail::staging_of(Context& context) {
  if (!context.staging) context.staging = std::make_shared<Staging>(context.device);
  return *context.staging;
}

}  // namespace halocline::qcd::device
