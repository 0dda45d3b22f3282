// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `reorder`: fields in and out of the memory orders of other codes (qcd/order), beside a copy of as many bytes.
///
/// The copy is memcpy by every thread of its own part, from one array to another. Its blocks alternate with those of
/// the reordering. It writes as many bytes as it reads. A reordering between two precisions reads and writes different
/// numbers of bytes; the copy then moves the mean of both. Links are those of a GaugeField, without the exchange of
/// ghosts; spinors are those of the solvers, in the precision of the array. Canonical spinors and propagators are in
/// double: the arrays that Python has.

#include <string>

#include "bench/geometry.hpp"
#include "bench/result.hpp"

namespace halocline::bench {

struct ReorderCase {
  Extents local{32, 16, 16, 32};     ///< sites of each process
  int threads = 1;                   ///< of each process
  std::string order = "quda";        ///< one of qcd::order::names()
  std::string field = "gauge";       ///< or "spinor", "canonical" (a spinor of a canonical array), "propagator"
  std::string direction = "load";    ///< into our field; or "store", into the array
  std::string precision = "double";  ///< of the array, or "float"
  std::string basis{};               ///< of spinors; that of the order when empty
};

/// Measures one case. The result has the bytes a second of the copy and the fraction of it, by median times and by CPU
/// time of one thread.
/// @throws InvalidArgument  an unknown name, or a local box that the order cannot have; on every rank
/// Collective: yes.  Cost: about twice effort.seconds.
Result reorder(const comm::Communicator& group, const ReorderCase& parameters, const Effort& effort);

}  // namespace halocline::bench
