// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/meson.hpp"

#include <fmt/format.h>

#include <array>

#include "halocline/qcd/measure/detail/spatial_sum.hpp"

namespace halocline::qcd::measure {

namespace {

using detail::PackComplex;

/// The products T[a' a b' b] that are computed, of 256, and the position of each in the list.
class Products {
public:
  struct Entry {
    int sink_q, sink_qbar, source_q, source_qbar;  ///< a', a, b', b
  };

  /// Position of a product, added to the list where it is new.
  int position(const Entry& e) {
    int& at = position_[static_cast<std::size_t>(((e.sink_q * 4 + e.sink_qbar) * 4 + e.source_q) * 4 + e.source_qbar)];
    if (at < 0) {
      at = static_cast<int>(list_.size());
      list_.push_back(e);
    }
    return at;
  }
  const std::vector<Entry>& list() const noexcept { return list_; }

private:
  static constexpr std::array<int, 256> none() {
    std::array<int, 256> table{};
    table.fill(-1);
    return table;
  }
  std::array<int, 256> position_ = none();
  std::vector<Entry> list_;
};

/// One summand of a channel: i^power T[position].
struct Summand {
  int position, power;
};

/// tr[gamma5 Gsnk S Gsrc gamma5 S^dagger] as 16 products.
void append_summands(std::vector<Summand>& summands, Products& products, const GammaPair& pair) {
  const SpinMatrix sink = gamma5 * pair.sink, source = pair.source * gamma5;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      const int sink_column = sink.column[static_cast<std::size_t>(a)];
      const int source_column = source.column[static_cast<std::size_t>(b)];
      const int power = sink.power[static_cast<std::size_t>(a)] + source.power[static_cast<std::size_t>(b)];
      summands.push_back({products.position({sink_column, a, b, source_column}), power % 4});
    }
}

/// sum over sink and source colours of S_q[a' b'] conj(S_qbar[a b]): 36 fused multiply-adds a site.
PackComplex colour_trace(const detail::SiteMatrix& q, const detail::SiteMatrix& qbar, const Products::Entry& e) {
  PackComplex even{0.0, 0.0}, odd{0.0, 0.0};  // two chains hide the latency of the multiply-add
  for (int source = 0; source < 3; ++source)
    for (int sink = 0; sink < 3; ++sink)
      core::conj_multiply_add(
          (source + sink) % 2 == 0 ? even : odd,
          qbar[static_cast<std::size_t>(spinor_components * (3 * e.source_qbar + source) + 3 * e.sink_qbar + sink)],
          q[static_cast<std::size_t>(spinor_components * (3 * e.source_q + source) + 3 * e.sink_q + sink)]);
  return even + odd;
}

std::complex<double> times_i_to(int power, const std::complex<double>& z) {
  static constexpr std::array<std::complex<double>, 4> i_to{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  return i_to[static_cast<std::size_t>(power)] * z;
}

}  // namespace

std::vector<Correlator> mesons(const Propagator& quark, const Propagator& antiquark,
                               std::span<const MesonChannel> channels, std::span<const Momentum> momenta) {
  const std::array<const Propagator*, 2> both{&quark, &antiquark};
  detail::check_same_source(both);
  if (momenta.empty()) throw core::InvalidArgument("no momentum was given; the list (0, 0, 0) projects on rest");

  Products products;
  std::vector<std::vector<Summand>> summands(channels.size());
  for (std::size_t c = 0; c < channels.size(); ++c) {
    if (channels[c].pairs.empty())
      throw core::InvalidArgument(
          fmt::format("the meson channel \"{}\" has no pair of gamma matrices; give at least one", channels[c].name));
    for (const GammaPair& pair : channels[c].pairs) append_summands(summands[c], products, pair);
  }

  const auto& entries = products.list();
  const bool same = &quark == &antiquark;
  const auto kernel = [&](std::int64_t site, int count, PackComplex* values) {
    detail::SiteMatrix q, qbar;
    detail::load(q, quark, site, count);
    if (!same) detail::load(qbar, antiquark, site, count);
    const detail::SiteMatrix& second = same ? q : qbar;
    for (std::size_t e = 0; e < entries.size(); ++e) values[e] = colour_trace(q, second, entries[e]);
  };
  const lattice::Geometry4& geometry = quark.geometry();
  const auto width = static_cast<std::int64_t>(entries.size());
  const auto sums = detail::sum_over_local_space(geometry, quark.source(), momenta, width, kernel);

  const auto extent = static_cast<std::size_t>(geometry.global()[3]);
  std::vector<std::complex<double>> values(channels.size() * momenta.size() * extent);
  for (std::int64_t t = 0; t < geometry.local()[3]; ++t) {
    const std::size_t time = detail::shifted_time(geometry, quark.source(), t).index;
    for (std::size_t c = 0; c < channels.size(); ++c)
      for (std::size_t p = 0; p < momenta.size(); ++p) {
        const auto* row = &sums[(static_cast<std::size_t>(t) * momenta.size() + p) * entries.size()];
        std::complex<double> sum = 0;
        for (const Summand& s : summands[c]) sum += times_i_to(s.power, row[s.position]);
        values[(c * momenta.size() + p) * extent + time] = sum / static_cast<double>(channels[c].pairs.size());
      }
  }
  detail::sum_over_ranks(geometry, values);

  std::vector<Correlator> correlators;
  for (std::size_t c = 0; c < channels.size(); ++c)
    for (std::size_t p = 0; p < momenta.size(); ++p) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>((c * momenta.size() + p) * extent);
      correlators.push_back({channels[c].name, momenta[p], {first, first + static_cast<std::ptrdiff_t>(extent)}});
    }
  return correlators;
}

std::vector<Correlator> mesons(const Propagator& quark, const Propagator& antiquark,
                               std::span<const MesonChannel> channels) {
  static constexpr std::array<Momentum, 1> rest{{{0, 0, 0}}};
  return mesons(quark, antiquark, channels, rest);
}

}  // namespace halocline::qcd::measure
