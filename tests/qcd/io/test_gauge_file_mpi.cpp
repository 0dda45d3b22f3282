// SPDX-License-Identifier: Apache-2.0
//
// Under MPI: files do not know how many ranks wrote them, every rank reads its own part, and an error of one rank is
// everybody's.

#include <algorithm>
#include <array>
#include <csignal>
#include <span>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "qcd/io/io_helpers.hpp"
#include "qcd/io/propagator_helpers.hpp"

namespace {

using namespace halocline;
using qcd::io::WriteOptions;

const lattice::Coordinates<4> extents{4, 6, 8, 12};

/// A folder that rank 0 makes and removes, known to all.
class SharedFolder {
public:
  explicit SharedFolder(const comm::Communicator& group) : group_(group) {
    std::array<char, 512> name{};
    if (group.rank() == 0) {
      mine_ = std::make_unique<test::TemporaryFolder>();
      const std::string path = mine_->file("");
      std::copy_n(path.begin(), std::min(path.size(), name.size() - 1), name.begin());
    }
    group.broadcast(std::as_writable_bytes(std::span<char>(name)), 0);
    path_ = name.data();
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() { group_.barrier(); }
  std::string file(const std::string& name) const { return path_ + name; }

private:
  comm::Communicator group_;
  std::unique_ptr<test::TemporaryFolder> mine_;
  std::string path_;
};

const std::array<WriteOptions, 7> encodings{{{.format = "nersc"},
                                             {.format = "nersc", .bits = 32, .rows = 2, .endian = "little"},
                                             {.format = "ildg"},
                                             {.format = "ildg", .bits = 32},
                                             {.format = "openqcd"},
                                             {.format = "milc", .endian = "big"},
                                             {.format = "npy"}}};

/// What must not depend on the ranks: the links with all that follows them, and a checksum in front of them. The
/// plaquette is a sum whose order depends on the grid, so its last printed digit may differ.
std::string data_of(const std::string& bytes) {
  const auto nersc = bytes.find("END_HEADER\n");
  if (bytes.starts_with("BEGIN_HEADER")) {
    const auto checksum = bytes.find("CHECKSUM = ");
    return bytes.substr(checksum, 20) + bytes.substr(nersc);
  }
  const auto ildg = bytes.find("ildg-binary-data");
  if (ildg != std::string::npos) return bytes.substr(ildg);
  const bool is_openqcd = bytes[1] == 0 && bytes[4] != 0 && bytes[5] == 0;
  return is_openqcd ? bytes.substr(0, 16) + bytes.substr(24) : bytes;
}

/// The grids of this many ranks that split each axis in turn, and the one of least surface.
std::vector<std::shared_ptr<const lattice::Geometry4>> geometries(const comm::Communicator& world) {
  std::vector<std::shared_ptr<const lattice::Geometry4>> all{test::geometry_of(extents, world)};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    std::vector<int> dims{1, 1, 1, 1};
    dims[axis] = world.size();
    if (extents[axis] % world.size() != 0 || (extents[axis] / world.size()) % 2 != 0) continue;
    all.push_back(std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, dims)));
  }
  if (world.size() == 8) {
    all.push_back(std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, {2, 1, 2, 2})));
    all.push_back(std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, {1, 1, 8, 1})));
  }
  return all;
}

}  // namespace

TEST_CASE("gauge files: the bytes do not depend on the number of ranks, and any grid reads them back") {
  const comm::Communicator world = comm::world();
  const SharedFolder folder(world);
  const auto alone = test::single_geometry(extents);
  for (const auto& geometry : geometries(world)) {
    const auto u = test::scrambled_field(geometry);
    for (const WriteOptions& options : encodings) {
      CAPTURE(options.format);
      CAPTURE(options.bits);
      qcd::io::write_gauge(folder.file("together"), u, options);
      if (world.rank() == 0) {
        qcd::io::write_gauge(folder.file("alone"), test::scrambled_field(alone), options);
        CHECK(data_of(test::bytes_of_file(folder.file("together"))) ==
              data_of(test::bytes_of_file(folder.file("alone"))));
      }
      world.barrier();
      const auto [v, info] = qcd::io::read_gauge(folder.file("alone"), geometry);
      test::Links expected = u.to_canonical();
      if (info.bits == 32) expected = test::rounded_to_float(expected);
      const double tolerance = info.rows == 3 ? 0.0 : 2e-7;
      CHECK(test::largest_difference(v.to_canonical(), expected) <= tolerance);
      CHECK(info.unitarity_violation < 1e-6);
      world.barrier();
    }
  }
}

TEST_CASE("propagator files: the bytes do not depend on the number of ranks") {
  const comm::Communicator world = comm::world();
  const SharedFolder folder(world);
  const auto alone = test::single_geometry(extents);
  for (const auto& geometry : geometries(world)) {
    const auto columns = test::scrambled_columns(*geometry);
    qcd::io::write_propagator(folder.file("together"), *geometry, test::spans_of(columns));
    if (world.rank() == 0) {
      const auto all = test::scrambled_columns(*alone);
      qcd::io::write_propagator(folder.file("alone"), *alone, test::spans_of(all));
      CHECK(test::bytes_of_file(folder.file("together")) == test::bytes_of_file(folder.file("alone")));
    }
    world.barrier();
    CHECK(qcd::io::read_propagator(folder.file("together"), *geometry).first == columns);
    world.barrier();
  }
}

TEST_CASE("gauge files: damage in one rank's part is an error on every rank") {
  const comm::Communicator world = comm::world();
  const SharedFolder folder(world);
  const auto geometry = test::geometry_of(extents, world);
  const auto u = test::scrambled_field(geometry);
  const auto fails_everywhere = [&](const char* part) {
    const std::string sentence = test::sentence_of<core::FileError>(
        [&] { static_cast<void>(qcd::io::read_gauge(folder.file("file"), geometry)); });
    CHECK(test::contains(sentence, part));
    world.barrier();
  };
  for (const char* format : {"nersc", "ildg", "milc"}) {
    CAPTURE(format);
    qcd::io::write_gauge(folder.file("file"), u, {.format = format});
    if (world.rank() == 0) {
      std::string bytes = test::bytes_of_file(folder.file("file"));
      bytes[bytes.size() - 1000] = static_cast<char>(bytes[bytes.size() - 1000] ^ 4);
      test::write_bytes(folder.file("file"), bytes);
    }
    world.barrier();
    fails_everywhere("the file claims");
    if (world.rank() == 0) std::filesystem::resize_file(folder.file("file"), 300000);
    world.barrier();
    fails_everywhere("");
  }
  // A file that only one rank cannot open, as on a machine whose folders are not all shared.
  const std::string path = folder.file(world.rank() == world.size() - 1 ? "not here" : "file");
  qcd::io::write_gauge(folder.file("file"), u, {.format = "nersc"});
  const std::string sentence =
      test::sentence_of<core::FileError>([&] { static_cast<void>(qcd::io::read_gauge(path, geometry)); });
  CHECK(test::contains(sentence, "No such file"));
}

TEST_CASE("gauge files: a full disk on one rank is an error on every rank, and the old file stays") {
  const comm::Communicator world = comm::world();
  const SharedFolder folder(world);
  const auto u = test::scrambled_field(test::geometry_of(extents, world));
  if (world.rank() == 0) test::write_bytes(folder.file("file"), "precious");
  world.barrier();

  const bool is_limited = world.rank() == world.size() - 1;
  struct rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 100000;
  if (is_limited) REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string sentence =
      test::sentence_of<core::FileError>([&] { qcd::io::write_gauge(folder.file("file"), u, {.format = "ildg"}); });
  if (is_limited) ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);

  CHECK(test::contains(sentence, "cannot be written"));
  CHECK(test::bytes_of_file(folder.file("file")) == "precious");
  world.barrier();
  if (world.rank() == 0) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) files += entry.is_regular_file();
    CHECK(files == 1);  // and no partial one
  }
}
