// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/vector_length.hpp"

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace halocline;

namespace {

std::string sentence(const comm::Communicator& group, int bits, int compiled) {
  try {
    comm::check_vector_lengths(group, bits, compiled);
  } catch (const core::InvalidArgument& error) {
    return error.what();
  }
  return "";
}

/// Whether all ranks hold the same text.
bool same_everywhere(const comm::Communicator& group, const std::string& text) {
  const auto all = group.allgather(std::as_bytes(std::span(text)));
  std::string repeated;
  for (int rank = 0; rank < group.size(); ++rank) repeated += text;
  return std::string(reinterpret_cast<const char*>(all.data()), all.size()) == repeated;
}

}  // namespace

TEST_CASE("vector length: registers of one length, that of the build, pass") {
  const comm::Communicator world = comm::world();
  CHECK(sentence(world, 512, 512) == "");
  CHECK(sentence(world, 256, 256) == "");
  CHECK_NOTHROW(comm::check_vector_lengths(world));
  CHECK(sentence(comm::Communicator::self(), 128, 128) == "");
}

TEST_CASE("vector length: a length that differs between ranks is one sentence, with the ranks, on every rank") {
  const comm::Communicator world = comm::world();
  const int last = world.size() - 1;
  const std::string said = sentence(world, world.rank() == last ? 256 : 512, 512);
  CHECK(same_everywhere(world, said));
  CHECK(said.find("compiled for SVE registers of 512 bits") != said.npos);
  CHECK(said.find("256 bits on rank " + std::to_string(last)) != said.npos);
  if (world.size() == 2) CHECK(said.find("512 bits on rank 0;") != said.npos);
  if (world.size() == 8) CHECK(said.find("512 bits on ranks 0, 1, 2, 3 and 3 more;") != said.npos);
}

TEST_CASE("vector length: one length on all ranks that is not that of the build is refused on every rank") {
  const comm::Communicator world = comm::world();
  const std::string said = sentence(world, 128, 512);
  CHECK(same_everywhere(world, said));
  CHECK(said.find("they have 128 bits on rank") != said.npos);
}
