// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/processes.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdint>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace halocline::comm::detail;

TEST_CASE("processes: one that runs or is stopped has not ended; a killed one has, noticed or not") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (;;) pause();
  }
  CHECK_FALSE(has_ended(child));
  kill(child, SIGSTOP);
  siginfo_t what = {};
  CHECK(waitid(P_PID, static_cast<id_t>(child), &what, WSTOPPED) == 0);
  CHECK_FALSE(has_ended(child));
  kill(child, SIGKILL);
  CHECK(waitid(P_PID, static_cast<id_t>(child), &what, WEXITED | WNOWAIT) == 0);
  CHECK(has_ended(child));  // a zombie
  CHECK(waitpid(child, nullptr, 0) == child);
  CHECK(has_ended(child));
  CHECK_FALSE(has_ended(getpid()));
  CHECK_FALSE(has_ended(0));
}

TEST_CASE("processes: CPUs are counted once, and numbers of another namespace mean nothing") {
  const ProcessRecord mine = this_process();
  const int cpus = cpus_of(std::span(&mine, 1));
  CHECK(cpus >= 1);
  CHECK(cpus_of(std::vector{mine, mine}) == cpus);
  ProcessRecord one, other;
  one.cpus[0] = 0b0110;
  other.cpus[0] = 0b1100;
  other.cpus[3] = 1;
  CHECK(cpus_of(std::vector{one, other}) == 4);

  CHECK(number_of(mine, mine) == getpid());
  ProcessRecord elsewhere = mine;
  ++elsewhere.space;
  CHECK(number_of(elsewhere, mine) == 0);
  elsewhere.space = 0;
  CHECK(number_of(elsewhere, elsewhere) == 0);
}
