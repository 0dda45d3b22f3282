// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/io/orbital_file.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/io/cube.hpp"
#include "halocline/tddft/io/detail/orbital_header.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

using namespace soft;

namespace {

/// A path of this process's own that is gone at the end.
struct Scratch {
  std::string path;
  explicit Scratch(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("halocline-" + std::to_string(::getpid()) + "-" + name))
                 .string()) {}
  ~Scratch() { std::filesystem::remove(path); }
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

System system_here() { return periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 4, 6, {2, 1, 1}); }

State some_state(Model& model) {
  State state = waves(model);
  for (std::size_t i = 0; i < state.eigenvalues.size(); ++i) state.eigenvalues[i] = 0.1 * static_cast<double>(i) - 0.3;
  model.sum_density(state);
  return state;
}

bool same(const State& a, const State& b) {
  return std::ranges::equal(a.orbitals.values(), b.orbitals.values()) && a.occupations == b.occupations &&
         a.eigenvalues == b.eigenvalues && a.density == b.density;
}

/// The sentence with which reading fails.
std::string refusal(const std::string& path, const Model& model) {
  State state = model.empty_state();
  try {
    read_orbitals(path, model, state);
  } catch (const core::FileError& error) {
    CHECK(error.path() == path);
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("orbital file: what is read is what was written, every bit, and the step with it") {
  const Scratch file("whole.orbitals");
  Model model = model_of(system_here());
  const State state = some_state(model);
  const RunPoint point{1234, 197.44, 0.16, true, "[system]\nname = \"two soft ions\"\n"};
  write_orbitals(file.path, model, state, point);
  State back = model.empty_state();
  const RunPoint read = read_orbitals(file.path, model, back);
  CHECK(same(back, state));
  CHECK(read.step == point.step);
  CHECK(read.time == point.time);
  CHECK(read.time_step == point.time_step);
  CHECK(read.kicked);
  CHECK(read.note == point.note);
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(file.path).parent_path())) {
    const std::string name = entry.path().string();
    CHECK_FALSE((name.starts_with(file.path) && name != file.path));
  }

  const OrbitalFileInfo info = orbital_file_info(file.path);
  CHECK(info.atoms == "Soft2");
  CHECK(info.states == 6);
  CHECK(info.channels == 2);
  CHECK(info.electrons == 4);
  CHECK(info.grid.extent == model.system().grid.extent);
  CHECK(info.point.step == 1234);
}

TEST_CASE("orbital file: orbitals stand as the page of formats says") {
  const Scratch file("layout.orbitals");
  Model model = model_of(system_here());
  const State state = some_state(model);
  write_orbitals(file.path, model, state);
  const std::string bytes = contents(file.path);
  CHECK(bytes.substr(0, 8) == "HALORBIT");
  const std::int64_t points = model.system().grid.points();
  const std::size_t data = bytes.size() - static_cast<std::size_t>(8 * (2 * 6 + 1) + 8 * points + 16 * points * 12);
  CHECK(data % 4096 == 0);
  for (const auto& [channel, number, point] : {std::array<std::int64_t, 3>{0, 0, 0}, {1, 5, 17}, {0, 4, points - 1}}) {
    double value[2];
    std::memcpy(value, bytes.data() + data + 16 * static_cast<std::size_t>((channel * 6 + number) * points + point),
                16);
    const double* psi = state.orbitals.block(channel, number / 4) + point * doubles_per_point + 2 * (number % 4);
    CHECK(value[0] == psi[0]);
    CHECK(value[1] == psi[1]);
  }
}

TEST_CASE("orbital file: states that hold nothing may be left out, others not") {
  const Scratch file("fewer.orbitals");
  Model model = model_of(system_here());
  const State state = some_state(model);
  write_orbitals(file.path, model, state);
  System fewer = system_here();
  fewer.states = 3;
  Model smaller = model_of(fewer);
  State back = smaller.empty_state();
  read_orbitals(file.path, smaller, back);
  for (std::int64_t p = 0; p < back.orbitals.points(); ++p)
    for (int i = 0; i < 6; ++i) CHECK(back.orbitals.block(1, 0)[p * 8 + i] == state.orbitals.block(1, 0)[p * 8 + i]);
  CHECK(back.occupations == std::vector<double>{2, 2, 0, 2, 2, 0});
  CHECK(back.eigenvalues[3] == state.eigenvalues[6]);

  State hot = state;
  hot.occupations[4] = 0.25;
  write_orbitals(file.path, model, hot);
  CHECK(contains(refusal(file.path, smaller), "state 5 of channel 1 holds 0.25"));
  System more = system_here();
  more.states = 7;
  CHECK(contains(refusal(file.path, model_of(more)), "the file has 6 and this run 7"));
}

TEST_CASE("orbital file: a file of another system is refused with the record and both values") {
  const Scratch file("other.orbitals");
  Model model = model_of(system_here());
  write_orbitals(file.path, model, some_state(model));
  const auto changed = [&](const std::function<void(System&)>& change, const std::string& record,
                           const ModelOptions& options = {}) {
    System system = system_here();
    change(system);
    const std::string sentence = refusal(file.path, model_of(system, options));
    CAPTURE(sentence);
    CHECK(contains(sentence, "(" + record));
    CHECK(contains(sentence, "another system"));
  };
  changed([](System& s) { s.grid.extent[1] = 10; }, "GRID");
  changed([](System& s) { s.grid.spacing[2] += 1e-6; }, "SPACING");
  changed([](System& s) { s.grid.axes = tddft::test::axes_of(tddft::test::Lattice::face_centred); }, "AXES 1");
  changed([](System& s) { s.atoms[1].position[0] += 1e-6; }, "ATOM 2");
  changed([](System& s) { s.atoms.pop_back(); }, "ATOMS");
  changed([](System& s) { s.species = {std::make_shared<SoftIon>(2.0, 1.0, 0.5)}; }, "PSEUDOPOTENTIAL Soft");
  changed([](System& s) { s.species = {std::make_shared<SoftIon>(2.0, 0.99, 0.4)}; }, "PSEUDOPOTENTIAL Soft");
  changed([](System& s) { s.channels = monkhorst_pack(s.grid, {1, 2, 1}); }, "CHANNEL 1");
  changed([](System& s) { s.channels = monkhorst_pack(s.grid, {3, 1, 1}); }, "CHANNELS");
  changed([](System& s) { s.electrons = 6; }, "ELECTRONS");
  changed([](System& s) { s.spins = 2, s.channels = monkhorst_pack(s.grid, {2, 1, 1}, {}, false, 2); }, "SPINS");
  changed([](System&) {}, "FUNCTIONAL", {.xc = "pw"});
  changed([](System& s) { s.grid.boundary = Boundary::isolated, s.atoms = {{0, {0, 0, 0}}}, s.channels = {Channel{}}; },
          "BOUNDARY");
}

namespace {

/// A species whose symbol would break a line.
class BrokenSymbol : public SoftIon {
public:
  using SoftIon::SoftIon;
  const std::string& symbol() const noexcept override { return symbol_; }

private:
  std::string symbol_ = "So\nft";
};

}  // namespace

TEST_CASE("orbital file: texts of a file do not break the sentence that refuses it") {
  const Scratch file("lines.orbitals");
  System odd = system_here();
  for (auto& species : odd.species) species = std::make_shared<BrokenSymbol>(2.0, 1.0, 0.4);
  Model written = model_of(odd);
  write_orbitals(file.path, written, some_state(written));
  const std::string sentence = refusal(file.path, model_of(system_here()));
  CHECK(contains(sentence, "So?ft"));
  CHECK(!contains(sentence, "\n"));
}

TEST_CASE("orbital file: the potentials of earlier steps come back, and damage in them is found") {
  const Scratch file("potentials.orbitals");
  Model model = model_of(system_here());
  State state = some_state(model), back = model.empty_state();
  for (std::size_t i = 0; i < 2 * state.density.size(); ++i)
    state.earlier_potentials.push_back(std::sin(0.1 * static_cast<double>(i)));
  write_orbitals(file.path, model, state);
  read_orbitals(file.path, model, back);
  CHECK(back.earlier_potentials == state.earlier_potentials);
  CHECK(back.density == state.density);
  std::string bytes = contents(file.path);
  bytes[bytes.size() - 8 * (12 + 3) - 8 * 5] ^= 1;
  put(file.path, bytes);
  CHECK(contains(refusal(file.path, model), "POTENTIALS"));
  state.earlier_potentials.clear();
  write_orbitals(file.path, model, state);
  read_orbitals(file.path, model, back);
  CHECK(back.earlier_potentials.empty());
}

TEST_CASE("orbital file: versions 1 to 3, which have no light, 1 and 2 no axes, and 1 no potentials, are read") {
  const Scratch file("version1.orbitals");
  Model model = model_of(system_here());
  const State state = some_state(model);
  write_orbitals(file.path, model, state, {7, 0.35, 0.05, true, "note"});
  const std::string newest = contents(file.path);
  tddft::detail::OrbitalHeader header = tddft::detail::read_header(tddft::detail::ReadFile(file.path));
  const auto data = static_cast<std::size_t>(tddft::detail::layout_of(header).data);
  for (const std::uint32_t version : {1u, 2u, 3u}) {
    header.version = version;
    const std::vector<std::byte> head = tddft::detail::encoded(header);
    std::string bytes(reinterpret_cast<const char*>(head.data()), head.size());
    bytes.resize(static_cast<std::size_t>(tddft::detail::layout_of(header).data), '\0');
    put(file.path, bytes + newest.substr(data));
    State back = model.empty_state();
    const RunPoint point = read_orbitals(file.path, model, back);
    CHECK(point.step == 7);
    CHECK(point.note == "note");
    CHECK(std::ranges::equal(back.orbitals.values(), state.orbitals.values()));
    CHECK(back.density == state.density);
    CHECK(back.earlier_potentials.empty());
  }
}

TEST_CASE("orbital file: any bit that is turned is found, and where") {
  const Scratch file("damaged.orbitals");
  Model model = model_of(system_here());
  write_orbitals(file.path, model, some_state(model));
  const std::string whole = contents(file.path);
  const std::size_t points = static_cast<std::size_t>(model.system().grid.points());
  const std::size_t checksums = whole.size() - 8 * 13, density = checksums - 8 * points,
                    data = density - 16 * points * 12;
  const auto turned = [&](std::size_t byte, int bit) {
    std::string bytes = whole;
    bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << bit));
    put(file.path, bytes);
    return refusal(file.path, model);
  };
  CHECK(contains(turned(3, 0), "no orbital file"));
  CHECK(contains(turned(8, 2), "version"));
  CHECK(contains(turned(16, 2), "HEADER"));
  CHECK(contains(turned(24, 3), "HEADER"));
  CHECK(contains(turned(32, 4), "truncated or damaged"));
  for (const std::size_t byte : {64u, 100u, 200u}) CHECK(contains(turned(byte, 5), "HEADER"));
  CHECK(contains(turned(data, 0), "ORBITAL 1 of channel 1"));
  CHECK(contains(turned(data + 16 * points * 7 + 16 * 33 + 15, 7), "ORBITAL 2 of channel 2"));
  CHECK(contains(turned(density - 1, 6), "ORBITAL 6 of channel 2"));
  CHECK(contains(turned(density + 8 * 5, 0), "DENSITY"));
  CHECK(contains(turned(checksums + 8 * 2, 0), "ORBITAL 3 of channel 1"));
  put(file.path, whole);
  CHECK(refusal(file.path, model) == "no error");
}

TEST_CASE("orbital file: two numbers that have changed places are found") {
  const Scratch file("swapped.orbitals");
  Model model = model_of(system_here());
  write_orbitals(file.path, model, some_state(model));
  std::string bytes = contents(file.path);
  const std::size_t points = static_cast<std::size_t>(model.system().grid.points());
  const std::size_t data = bytes.size() - 8 * 13 - 8 * points - 16 * points * 12;
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(data),
                   bytes.begin() + static_cast<std::ptrdiff_t>(data) + 16,
                   bytes.begin() + static_cast<std::ptrdiff_t>(data) + 160);
  put(file.path, bytes);
  CHECK(contains(refusal(file.path, model), "ORBITAL 1 of channel 1"));
}

TEST_CASE("orbital file: missing, foreign, truncated, extended") {
  const Scratch file("broken.orbitals");
  Model model = model_of(system_here());
  CHECK(contains(refusal(file.path, model), "cannot be opened"));
  put(file.path, "");
  CHECK(contains(refusal(file.path, model), "no orbital file"));
  put(file.path, "CONFIG\n{\"grid\": 12}\n");
  CHECK(contains(refusal(file.path, model), "no orbital file"));
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK(contains(refusal(folder, model), "regular file"));
  write_orbitals(file.path, model, some_state(model));
  const std::string whole = contents(file.path);
  for (const std::size_t length :
       {std::size_t{20}, std::size_t{64}, std::size_t{300}, whole.size() / 2, whole.size() - 1}) {
    put(file.path, whole.substr(0, length));
    CHECK(contains(refusal(file.path, model), "truncated"));
  }
  put(file.path, whole + "x");
  CHECK(contains(refusal(file.path, model), "truncated or damaged"));
  CHECK_THROWS_AS(orbital_file_info(file.path), core::FileError);
}

TEST_CASE("orbital file: numbers that are not finite are refused, in the header and in the orbitals") {
  const Scratch file("infinite.orbitals");
  Model model = model_of(system_here());
  State state = some_state(model);
  state.eigenvalues[3] = std::numeric_limits<double>::infinity();
  write_orbitals(file.path, model, state);
  CHECK(contains(refusal(file.path, model), "(HEADER): holds NaN"));
  state = some_state(model);
  state.orbitals.block(1, 0)[3] = std::numeric_limits<double>::quiet_NaN();
  write_orbitals(file.path, model, state);
  CHECK(contains(refusal(file.path, model), "(ORBITALS): hold NaN"));
}

TEST_CASE("orbital file: a header that claims more numbers than the file holds takes no memory for them") {
  const Scratch file("claims.orbitals");
  detail::OrbitalHeader header;  // 80 kB of channels, and 17 GB of occupations and eigenvalues that it claims to hold
  header.grid.extent = {1, 1, 1};
  header.states = 1 << 20;
  header.channels.resize(2000);
  std::vector<std::byte> bytes = detail::encoded(header);
  const std::uint64_t length = bytes.size();
  std::memcpy(bytes.data() + 32, &length, sizeof length);  // what the preamble says of the file
  put(file.path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto most_kib = [] {
    struct rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = most_kib();
  CHECK_THROWS_AS(orbital_file_info(file.path), core::FileError);
  CHECK(most_kib() - before < 100 << 10);
}

TEST_CASE("orbital file: where nothing can be written the old file stays") {
  const Scratch file("kept.orbitals");
  Model model = model_of(system_here());
  const State state = some_state(model);
  write_orbitals(file.path, model, state);
  const std::string before = contents(file.path);
  CHECK_THROWS_AS(write_orbitals(file.path + "/inside", model, state), core::FileError);
  CHECK_THROWS_AS(write_orbitals(std::filesystem::temp_directory_path().string(), model, state), core::FileError);
  CHECK(contents(file.path) == before);
}

TEST_CASE("restart: in the length gauge the kick is in the orbitals, and is not given again") {
  const Scratch file("length.orbitals");
  Field field;
  field.gauge = Gauge::length;
  field.kick = {0, 0.02, 0.05};
  field.table_times = {0, 5};
  field.table_fields = {{0.01, 0, 0}, {0, 0.02, 0}};
  const PropagateOptions options{.time_step = 0.1, .energy_every = 1};
  Model model = model_of(isolated(12, 1.0, std::make_shared<SoftIon>(2.0, 1.0, 0.4), 2, 1));
  State state = oscillator(model, 0.4);
  Propagator run(model, state, field, options);
  run.step();
  run.step();
  write_orbitals(file.path, model, state, {.step = 2, .kicked = true});
  State back = model.empty_state();
  Record straight = run.step(), resumed;
  const RunPoint point = read_orbitals(file.path, model, back);
  CHECK(point.kicked);
  Propagator again(model, back, field, options);
  again.resume(point.step);
  resumed = again.step();
  CHECK(resumed.step == 3);
  CHECK(resumed.dipole == straight.dipole);
  CHECK(resumed.energy.total == straight.energy.total);
  CHECK(resumed.electric_field == straight.electric_field);
  CHECK(std::ranges::equal(back.orbitals.values(), state.orbitals.values()));
}

TEST_CASE("restart: the loss of norm is counted from the first step of the run, whatever the number of its parts") {
  const PropagateOptions options{.time_step = 0.1};
  const auto resumed = [&](double lost) {
    Model model = model_of(isolated(12, 1.0, std::make_shared<SoftIon>(2.0, 1.0, 0.4), 2, 1));
    State state = oscillator(model, 0.4);
    Propagator run(model, state, {}, options);
    run.resume(100, run.observe().norm / (1 - lost));
    run.step();
  };
  CHECK_NOTHROW(resumed(0));
  CHECK_NOTHROW(resumed(0.005));
  CHECK_THROWS_WITH_AS(resumed(0.02), doctest::Contains("at the start"), core::Error);
  CHECK_THROWS_AS(resumed(1), core::InvalidArgument);  // infinitely many electrons at first
}

TEST_CASE("cube: header, order and values are what viewers expect") {
  const Scratch file("density.cube");
  Model model = model_of(system_here());
  const State state = some_state(model);
  write_cube(file.path, model.system(), model.decomposition(), state.density, "density of two soft ions\nand more");
  std::ifstream in(file.path);
  std::string line;
  std::getline(in, line);
  CHECK(line == "density of two soft ions and more");
  std::getline(in, line);
  int atoms = 0;
  double x = 0, y = 0, z = 0;
  in >> atoms >> x >> y >> z;
  CHECK(atoms == 2);
  CHECK(x == 0);
  const Grid& grid = model.system().grid;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::int64_t count = 0;
    Vec3 step{};
    in >> count >> step[0] >> step[1] >> step[2];
    CHECK(count == grid.extent[axis]);
    CHECK(step[axis] == doctest::Approx(grid.spacing[axis]));
  }
  for (std::size_t atom = 0; atom < 2; ++atom) {
    int number = -1;
    double charge = 0;
    in >> number >> charge >> x >> y >> z;
    CHECK(number == 0);  // "Soft" is no element
    CHECK(charge == 2);
    CHECK(z == doctest::Approx(model.system().atoms[atom].position[2]));
  }
  double sum = 0, worst = 0;
  for (std::int64_t ix = 0; ix < grid.extent[0]; ++ix)
    for (std::int64_t iy = 0; iy < grid.extent[1]; ++iy)
      for (std::int64_t iz = 0; iz < grid.extent[2]; ++iz) {
        double value = -1;
        in >> value;
        sum += value;
        const double n = state.density[static_cast<std::size_t>(model.decomposition().box().index(ix, iy, iz))];
        worst = std::max(worst, std::abs(value - n));
      }
  CHECK(worst < 1e-10);
  CHECK(sum * grid.point_volume() == doctest::Approx(4).epsilon(1e-8));
  double more = 0;
  CHECK_FALSE(static_cast<bool>(in >> more));
}
