// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/io/detail/orbital_header.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <fmt/core.h>

namespace halocline::tddft::detail {
namespace {

using core::FileError;

static_assert(std::endian::native == std::endian::little, "orbital files are little-endian");

constexpr std::array<char, 8> magic{'H', 'A', 'L', 'O', 'R', 'B', 'I', 'T'};
constexpr std::int64_t preamble_bytes = 64, page = 4096;
constexpr std::size_t longest_note = std::size_t{1} << 24;

struct Preamble {
  std::array<char, 8> magic;
  std::uint32_t version, spare;
  std::uint64_t header_bytes, header_checksum, file_bytes;
  std::array<std::byte, 24> zeros;
};
static_assert(sizeof(Preamble) == preamble_bytes && std::is_trivially_copyable_v<Preamble>);

/// Packs bytes one after another, without gaps.
class Packer {
public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void put(const Vec3& v) {
    for (const double x : v) put(x);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

private:
  std::vector<std::byte> bytes_;
};

class Unpacker {
public:
  Unpacker(std::string path, std::vector<std::byte> bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}

  template <class T>
  T get() {
    need(sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    if constexpr (std::is_floating_point_v<T>) all_finite_ = all_finite_ && std::isfinite(value);
    return value;
  }
  Vec3 vector() {
    const auto x = get<double>(), y = get<double>(), z = get<double>();
    return {x, y, z};
  }
  std::string text() {
    const auto length = get<std::uint64_t>();
    need(length);
    std::string text(reinterpret_cast<const char*>(bytes_.data() + at_), length);
    at_ += length;
    return text;
  }
  /// Reads a number of items of at least `bytes` each, which must fit into the remaining bytes.
  std::size_t count(std::size_t bytes) {
    const auto n = get<std::uint64_t>();
    need_values(n, bytes);
    return n;
  }
  /// Refuses `count` items of `bytes` each that do not fit into the remaining bytes, before memory is allocated for
  /// them.
  void need_values(std::uint64_t count, std::size_t bytes) const {
    if (count > (bytes_.size() - at_) / bytes) throw FileError(path_, "HEADER", "is damaged; take another copy");
  }
  /// Whether all real numbers read so far are finite.
  bool all_finite() const noexcept { return all_finite_; }

private:
  void need(std::uint64_t length) const {
    if (length > bytes_.size() - at_) throw FileError(path_, "HEADER", "is damaged; take another copy");
  }

  std::string path_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  bool all_finite_ = true;
};

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    sum += scrambled(scrambled(at + 1) ^ word);
  }
  return sum;
}

std::vector<std::byte> packed(const OrbitalHeader& h) {
  Packer out;
  out.put(h.point.step);
  out.put(h.point.time);
  out.put(h.point.time_step);
  out.put(static_cast<std::uint32_t>(h.point.kicked));
  if (h.version > 1) out.put(h.potentials);
  if (h.version > 3) out.put(h.light);
  for (const std::int64_t extent : h.grid.extent) out.put(extent);
  out.put(h.grid.spacing);
  if (h.version > 2)
    for (const Vec3& axis : h.grid.axes) out.put(axis);
  out.put(static_cast<std::uint32_t>(h.grid.boundary == Boundary::isolated));
  out.put(static_cast<std::uint32_t>(h.spins));
  out.put(h.states);
  out.put(h.electrons);
  out.put(h.functional);
  out.put(static_cast<std::uint64_t>(h.channels.size()));
  for (const Channel& channel : h.channels) {
    out.put(channel.k);
    out.put(channel.weight);
    out.put(static_cast<std::int64_t>(channel.spin));
  }
  out.put(static_cast<std::uint64_t>(h.species.size()));
  for (const SpeciesMark& species : h.species) {
    out.put(species.symbol);
    out.put(species.valence);
    for (const double sample : species.samples) out.put(sample);
  }
  out.put(static_cast<std::uint64_t>(h.atoms.size()));
  for (const Atom& atom : h.atoms) {
    out.put(static_cast<std::int64_t>(atom.species));
    out.put(atom.position);
  }
  out.put(static_cast<std::uint32_t>(h.has_jellium));
  out.put(h.jellium.radius_per_charge);
  out.put(h.jellium.charge);
  out.put(h.jellium.centre);
  for (const double f : h.occupations) out.put(f);
  for (const double e : h.eigenvalues) out.put(e);
  out.put(h.point.note);
  return out.take();
}

OrbitalHeader unpacked(const std::string& path, std::vector<std::byte> bytes, std::uint32_t version) {
  Unpacker in(path, std::move(bytes));
  OrbitalHeader h;
  h.version = version;
  h.point.step = in.get<std::int64_t>();
  h.point.time = in.get<double>();
  h.point.time_step = in.get<double>();
  h.point.kicked = in.get<std::uint32_t>() != 0;
  if (version > 1) h.potentials = in.get<std::int64_t>();
  if (version > 3) h.light = in.get<std::int64_t>();
  for (std::int64_t& extent : h.grid.extent) extent = in.get<std::int64_t>();
  h.grid.spacing = in.vector();
  if (version > 2)
    for (Vec3& axis : h.grid.axes) axis = in.vector();
  h.grid.boundary = in.get<std::uint32_t>() != 0 ? Boundary::isolated : Boundary::periodic;
  h.spins = static_cast<int>(in.get<std::uint32_t>());
  h.states = in.get<std::int64_t>();
  h.electrons = in.get<double>();
  h.functional = in.text();
  h.channels.resize(in.count(40));
  for (Channel& channel : h.channels) {
    channel.k = in.vector();
    channel.weight = in.get<double>();
    channel.spin = static_cast<int>(in.get<std::int64_t>());
  }
  h.species.resize(in.count(48));
  for (SpeciesMark& species : h.species) {
    species.symbol = in.text();
    species.valence = in.get<double>();
    for (double& sample : species.samples) sample = in.get<double>();
  }
  h.atoms.resize(in.count(32));
  for (Atom& atom : h.atoms) {
    atom.species = static_cast<int>(in.get<std::int64_t>());
    atom.position = in.vector();
    if (atom.species < 0 || static_cast<std::size_t>(atom.species) >= h.species.size())
      throw FileError(path, "HEADER", "is damaged; take another copy");
  }
  h.has_jellium = in.get<std::uint32_t>() != 0;
  h.jellium.radius_per_charge = in.get<double>();
  h.jellium.charge = in.get<double>();
  h.jellium.centre = in.vector();
  // A checksum does not protect against a forged file: check the numbers before they are used as sizes.
  const auto sensible = [](std::int64_t n, std::int64_t most) { return n >= 1 && n <= most; };
  const bool sizes =
      h.potentials >= 0 && h.potentials <= 8 * most_earlier_potentials && (h.light == 0 || h.light == light_meshes) &&
      sensible(h.states, 1 << 20) && sensible(h.spins, 2) && sensible(h.grid.extent[0], 1 << 13) &&
      sensible(h.grid.extent[1], 1 << 13) && sensible(h.grid.extent[2], 1 << 13) &&
      sensible(static_cast<std::int64_t>(h.channels.size()), 1 << 20) &&
      static_cast<double>(h.grid.points()) * static_cast<double>(h.states) * static_cast<double>(h.channels.size()) <
          0x1p56;
  if (!sizes) throw FileError(path, "HEADER", "has impossible sizes; take another copy");
  const std::size_t all = h.channels.size() * static_cast<std::size_t>(h.states);
  in.need_values(all, 2 * sizeof(double));
  h.occupations.resize(all);
  h.eigenvalues.resize(all);
  for (double& f : h.occupations) f = in.get<double>();
  for (double& e : h.eigenvalues) e = in.get<double>();
  h.point.note = in.text();
  if (!in.all_finite())
    throw FileError(path, "HEADER", "holds NaN or infinite numbers; compute the orbitals again, or take another copy");
  return h;
}

SpeciesMark mark_of(const Pseudopotential& p) {
  SpeciesMark mark{p.symbol(), p.valence(), {p.local(0.5), p.local(1.5), p.local_fourier(1.0), 0.0}};
  for (int l = 0; l <= p.largest_l(); ++l)
    for (int i = 0; i < p.projectors(l); ++i)
      for (int j = 0; j < p.projectors(l); ++j)
        mark.samples[3] += (l + 1) * p.coupling(l, i, j) * p.projector(l, i, 0.8) * p.projector(l, j, 0.8);
  return mark;
}

bool close(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * (1 + std::abs(b)); }

bool close(const Vec3& a, const Vec3& b, double tolerance) {
  return close(a[0], b[0], tolerance) && close(a[1], b[1], tolerance) && close(a[2], b[2], tolerance);
}

std::string text(const Vec3& v) { return fmt::format("({:.10g}, {:.10g}, {:.10g})", v[0], v[1], v[2]); }
const char* text(Boundary boundary) { return boundary == Boundary::periodic ? "periodic" : "isolated"; }

/// Reports the first difference.
class Comparison {
public:
  explicit Comparison(std::string path) : path_(std::move(path)) {}

  template <class A, class B>
  void require(bool same, const std::string& record, const A& found, const B& expected) const {
    if (same) return;
    std::string said = fmt::format(
        "the file has {} and this run {}: it belongs to another system; take its own file or change the input", found,
        expected);
    // Control characters from a damaged file must not spoil the message.
    std::replace_if(said.begin(), said.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    throw FileError(path_, record, said);
  }

private:
  std::string path_;
};

}  // namespace

OrbitalHeader header_of(const Model& model, const State& state, const RunPoint& point) {
  const System& system = model.system();
  OrbitalHeader h;
  h.point = point;
  h.grid = system.grid;
  h.spins = system.spins;
  h.states = system.states;
  h.electrons = system.electrons;
  h.functional = model.xc().name();
  h.channels = system.channels;
  for (const auto& species : system.species) h.species.push_back(mark_of(*species));
  h.atoms = system.atoms;
  h.has_jellium = system.jellium.has_value();
  h.jellium = system.jellium.value_or(JelliumSphere{});
  h.occupations = state.occupations;
  h.eigenvalues = state.eigenvalues;
  const std::int64_t mesh = system.spins * model.decomposition().box().points();
  h.potentials = static_cast<std::int64_t>(state.earlier_potentials.size()) / mesh;
  h.light =
      static_cast<std::int64_t>(state.light.size()) / std::max<std::int64_t>(1, model.decomposition().box().points());
  return h;
}

std::vector<std::byte> encoded(const OrbitalHeader& header) {
  if (header.point.note.size() > longest_note)
    throw core::InvalidArgument(
        fmt::format("a note of {} bytes given, at most {} expected", header.point.note.size(), longest_note));
  const std::vector<std::byte> body = packed(header);
  Preamble preamble{magic, header.version, 0, body.size(), checksum_of(body), 0, {}};
  preamble.file_bytes = static_cast<std::uint64_t>(layout_of(header).size);
  std::vector<std::byte> bytes(sizeof preamble + body.size());
  std::memcpy(bytes.data(), &preamble, sizeof preamble);
  std::copy(body.begin(), body.end(), bytes.begin() + sizeof preamble);
  return bytes;
}

FileLayout layout_of(const OrbitalHeader& header) {
  const auto header_bytes = preamble_bytes + static_cast<std::int64_t>(packed(header).size());
  FileLayout layout;
  layout.orbitals = static_cast<std::int64_t>(header.channels.size()) * header.states;
  layout.meshes = (1 + header.potentials) * header.spins + header.light;
  layout.data = (header_bytes + page - 1) / page * page;
  layout.density = layout.data + 16 * header.grid.points() * layout.orbitals;
  layout.checksums = layout.density + 8 * header.grid.points() * layout.meshes;
  layout.size = layout.checksums + 8 * (layout.orbitals + layout.meshes);
  return layout;
}

OrbitalHeader read_header(const ReadFile& file) {
  Preamble preamble{};
  std::array<std::byte, sizeof preamble> bytes{};
  if (file.size() >= 8) file.read(0, std::span(bytes).first(8), "PREAMBLE");
  std::memcpy(&preamble, bytes.data(), 8);
  if (preamble.magic != magic)
    throw FileError(file.path(), "PREAMBLE", "does not begin with HALORBIT: this is no orbital file; name one");
  file.read(0, bytes, "PREAMBLE");
  std::memcpy(&preamble, bytes.data(), sizeof preamble);
  if (preamble.version < 1 || preamble.version > newest_version)
    throw FileError(file.path(), "PREAMBLE",
                    fmt::format("has version {} and this program reads 1 to {}; use the program that wrote it",
                                preamble.version, newest_version));
  if (preamble.file_bytes != static_cast<std::uint64_t>(file.size()))
    throw FileError(file.path(), "PREAMBLE",
                    fmt::format("says that the file has {} bytes, but it has {}: it is truncated or damaged; take "
                                "another copy",
                                preamble.file_bytes, file.size()));
  if (preamble.header_bytes > preamble.file_bytes - preamble_bytes)
    throw FileError(file.path(), "PREAMBLE", "is damaged; take another copy");
  std::vector<std::byte> body(preamble.header_bytes);
  file.read(preamble_bytes, body, "HEADER");
  const std::uint64_t found = checksum_of(body);
  if (found != preamble.header_checksum)
    throw FileError(file.path(), "HEADER",
                    fmt::format("has checksum {:016x} where {:016x} is written: it is damaged; take another copy",
                                found, preamble.header_checksum));
  OrbitalHeader header = unpacked(file.path(), std::move(body), preamble.version);
  if (layout_of(header).size != file.size())
    throw FileError(file.path(), "HEADER",
                    fmt::format("describes a file of {} bytes, but it has {}; take another copy",
                                layout_of(header).size, file.size()));
  return header;
}

void check_same_system(const std::string& path, const OrbitalHeader& found, const OrbitalHeader& expected) {
  const Comparison same(path);
  const auto extents = [](const Grid& g) { return fmt::format("{} x {} x {}", g.extent[0], g.extent[1], g.extent[2]); };
  same.require(found.grid.extent == expected.grid.extent, "GRID", extents(found.grid), extents(expected.grid));
  same.require(close(found.grid.spacing, expected.grid.spacing, 1e-10), "SPACING", text(found.grid.spacing),
               text(expected.grid.spacing));
  for (std::size_t a = 0; a < 3; ++a)
    same.require(close(found.grid.axes[a], expected.grid.axes[a], 1e-10), fmt::format("AXES {}", a + 1),
                 text(found.grid.axes[a]), text(expected.grid.axes[a]));
  same.require(found.grid.boundary == expected.grid.boundary, "BOUNDARY", text(found.grid.boundary),
               text(expected.grid.boundary));
  same.require(found.spins == expected.spins, "SPINS", found.spins, expected.spins);
  same.require(close(found.electrons, expected.electrons, 1e-10), "ELECTRONS", found.electrons, expected.electrons);
  same.require(found.functional == expected.functional, "FUNCTIONAL", found.functional, expected.functional);
  same.require(formula(found) == formula(expected), "ATOMS", formula(found), formula(expected));
  for (std::size_t a = 0; a < found.atoms.size(); ++a) {
    const SpeciesMark& f = found.species[static_cast<std::size_t>(found.atoms[a].species)];
    const SpeciesMark& e = expected.species[static_cast<std::size_t>(expected.atoms[a].species)];
    const std::string record = fmt::format("ATOM {}", a + 1);
    same.require(f.symbol == e.symbol, record, f.symbol, e.symbol);
    same.require(close(found.atoms[a].position, expected.atoms[a].position, 1e-9), record,
                 text(found.atoms[a].position), text(expected.atoms[a].position));
    same.require(close(f.valence, e.valence, 1e-10), record + ", valence charge", f.valence, e.valence);
    for (std::size_t i = 0; i < f.samples.size(); ++i)
      same.require(close(f.samples[i], e.samples[i], 1e-9), "PSEUDOPOTENTIAL " + f.symbol,
                   fmt::format("a potential of value {:.12g} at a point of comparison", f.samples[i]),
                   fmt::format("{:.12g}", e.samples[i]));
  }
  const auto jellium = [](const OrbitalHeader& h) {
    return fmt::format("r_s {:.10g}, charge {:.10g}, centre {}", h.jellium.radius_per_charge, h.jellium.charge,
                       text(h.jellium.centre));
  };
  same.require(jellium(found) == jellium(expected), "JELLIUM", jellium(found), jellium(expected));
  same.require(found.channels.size() == expected.channels.size(), "CHANNELS", found.channels.size(),
               expected.channels.size());
  for (std::size_t c = 0; c < found.channels.size(); ++c) {
    const Channel &f = found.channels[c], &e = expected.channels[c];
    const std::string record = fmt::format("CHANNEL {}", c + 1);
    same.require(close(f.k, e.k, 1e-10), record, "k " + text(f.k), text(e.k));
    same.require(close(f.weight, e.weight, 1e-10), record, fmt::format("weight {:.10g}", f.weight), e.weight);
    same.require(f.spin == e.spin, record, fmt::format("spin {}", f.spin), e.spin);
  }
  same.require(found.states >= expected.states, "STATES", found.states, expected.states);
  for (std::size_t c = 0; c < found.channels.size(); ++c)
    for (std::int64_t i = expected.states; i < found.states; ++i) {
      const double f = found.occupations[c * static_cast<std::size_t>(found.states) + static_cast<std::size_t>(i)];
      if (std::abs(f) > 1e-12)
        throw FileError(path, "STATES",
                        fmt::format("the file has {} states and this run {}, but state {} of channel {} holds {:.3g} "
                                    "electrons; ask for at least {} states",
                                    found.states, expected.states, i + 1, c + 1, f, i + 1));
    }
}

std::string formula(const OrbitalHeader& header) {
  if (header.has_jellium) return fmt::format("jellium sphere of charge {:g}", header.jellium.charge);
  std::vector<std::pair<std::string, int>> counts;
  for (const Atom& atom : header.atoms) {
    const std::string& symbol = header.species[static_cast<std::size_t>(atom.species)].symbol;
    const auto at = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == symbol; });
    if (at == counts.end())
      counts.emplace_back(symbol, 1);
    else
      ++at->second;
  }
  std::string all;
  for (const auto& [symbol, count] : counts) all += fmt::format("{}{}{}", all.empty() ? "" : " ", symbol, count);
  return all;
}

}  // namespace halocline::tddft::detail
