// SPDX-License-Identifier: Apache-2.0
//
// Mutation fuzzing, the same every time: thousands of files with flipped, overwritten, inserted, removed and doubled
// bytes, mostly in their headers, are either read or refused with a FileError. Anything else (another exception, a
// crash, an allocation that a length asked for) fails the test; the sanitizer builds run it too.

#include <random>

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "halocline/qcd/io/propagator_file.hpp"
#include "qcd/io/io_helpers.hpp"
#include "qcd/io/propagator_helpers.hpp"

namespace {

using namespace halocline;

const lattice::Coordinates<4> extents{2, 2, 2, 4};

class Mutator {
public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutated(std::string bytes, std::size_t header) {
    const int count = 1 + static_cast<int>(below(4));
    for (int i = 0; i < count && !bytes.empty(); ++i) {
      // Nine in ten changes hit the header: there is the logic.
      const std::size_t range = below(10) < 9 ? std::min(header, bytes.size()) : bytes.size();
      const std::size_t at = below(range);
      const std::size_t length = std::min(1 + below(24), bytes.size() - at);
      switch (below(7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        bytes.replace(at, length, std::string(length, below(2) == 0 ? '\0' : '\xff'));
        break;
      case 5:
        bytes.insert(at, words_[below(words_.size())]);
        break;
      default:
        bytes.resize(below(4) == 0 ? at : bytes.size());
        break;
      }
    }
    return bytes;
  }

private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

  std::mt19937 random_;
  std::vector<std::string> words_{"-1",
                                  "99999999999999999999",
                                  "<",
                                  ">",
                                  "&amp;",
                                  "\n",
                                  "=",
                                  "nan",
                                  "1e999",
                                  "END_HEADER\n",
                                  std::string(1, '\0'),
                                  "(",
                                  ")",
                                  "'",
                                  std::string("\x45\x67\x89\xab\0\1\0\0", 8),
                                  "4294967296"};
};

/// What reading says: "" when it worked or refused with a FileError, else what went wrong.
template <class Read>
std::string misbehaviour(Read&& read) {
  try {
    read();
  } catch (const core::FileError& error) {
    const std::string sentence = error.what();
    for (const char c : sentence)
      if (c == '\n') return "more than one line: " + sentence;
    return {};
  } catch (const std::exception& error) {
    return std::string("threw something else: ") + error.what();
  }
  return {};
}

void read_any_gauge(const std::string& path) {
  const auto info = qcd::io::inspect_gauge(path);
  // Extents that Geometry cannot take are no matter of the file.
  if (info.extents[0] % 2 != 0) return;
  static_cast<void>(qcd::io::read_gauge(path, test::single_geometry(info.extents)));
}

}  // namespace

TEST_CASE("gauge files: thousands of mutated files are read or refused, never more") {
  const test::TemporaryFolder folder;
  const auto u = test::scrambled_field(test::single_geometry(extents));
  struct Seed {
    const char* format;
    std::size_t header;
  };
  unsigned seed = 1;
  for (const Seed& from :
       {Seed{"nersc", 450}, Seed{"ildg", 1900}, Seed{"openqcd", 24}, Seed{"milc", 96}, Seed{"npy", 128}}) {
    CAPTURE(from.format);
    qcd::io::write_gauge(folder.file("sound"), u, {.format = from.format});
    const std::string sound = test::bytes_of_file(folder.file("sound"));
    Mutator mutator(seed++);
    for (int round = 0; round < 500; ++round) {
      CAPTURE(round);
      test::write_bytes(folder.file("mutated"), mutator.mutated(sound, from.header));
      const std::string wrong = misbehaviour([&] { read_any_gauge(folder.file("mutated")); });
      CHECK_MESSAGE(wrong.empty(), wrong);
    }
  }
}

TEST_CASE("propagator files: hundreds of mutated files are read or refused, never more") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry(extents);
  const auto columns = test::scrambled_columns(*geometry);
  qcd::io::write_propagator(folder.file("sound"), *geometry, test::spans_of(columns));
  const std::string sound = test::bytes_of_file(folder.file("sound"));
  Mutator mutator(99);
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    test::write_bytes(folder.file("mutated"), mutator.mutated(sound, 1300));
    const std::string wrong = misbehaviour([&] {
      if (qcd::io::inspect_propagator(folder.file("mutated")).extents == extents)
        static_cast<void>(qcd::io::read_propagator(folder.file("mutated"), *geometry));
    });
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}
