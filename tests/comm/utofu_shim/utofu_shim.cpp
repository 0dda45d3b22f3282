// SPDX-License-Identifier: Apache-2.0
/// @file
/// The imitated network: puts under way, and polls that carry some of them on.
///
/// Every poll of any queue moves a few pieces, of puts drawn from a seeded generator, whatever queue they are of. So
/// puts of different faces overtake each other. The pieces of one put go from its first byte to its last with strong
/// ordering, and from the last to the first without it, which is the order most harmful to a flag at the end: what the
/// hardware does without the flag is any order. A put is complete for its sender when all its pieces have been read.
///
/// Handles, ids and addresses are numbers that mean nothing outside, so mixing them up is noticed.

#include "utofu.h"

#include "shim_control.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <vector>

namespace utofu_shim {
namespace {

constexpr std::size_t piece = 40;  // [bytes]; no divisor of a line, so that pieces end anywhere
constexpr std::size_t most_piggyback = 32;
constexpr std::uint64_t id_mark = std::uint64_t{0x5a} << 56;

struct Region {
  std::byte* memory;
  std::size_t bytes;
  utofu_vcq_hdl_t queue;
};

struct Notice {
  int code;
  void* data;
};

struct Queue {
  utofu_tni_id_t interface;
  std::size_t under_way = 0;
  std::deque<Notice> completed;
};

struct Put {
  utofu_vcq_hdl_t queue, there;
  utofu_stadd_t from, to;       // from: unless inline
  std::vector<std::byte> data;  // inside the descriptor
  std::size_t length, done = 0;
  unsigned long flags;
  void* notice;
};

/// All of the imitated network. One lock: the shim is for correctness.
struct Network {
  std::mutex mutex;
  Machine machine;
  Traffic traffic;
  std::mt19937_64 random;
  std::uint64_t next = 1;
  std::map<utofu_vcq_hdl_t, Queue> queues;
  std::map<utofu_stadd_t, Region> regions;  // by first address
  std::vector<Put> puts;
  utofu_onesided_caps caps{};
  int poll_code = UTOFU_SUCCESS;

  std::byte* at(utofu_stadd_t address, std::size_t length, utofu_vcq_hdl_t queue) {
    auto region = regions.upper_bound(address);
    if (region == regions.begin()) return nullptr;
    --region;
    const std::size_t offset = address - region->first;
    if (offset + length > region->second.bytes || region->second.queue != queue) return nullptr;
    return region->second.memory + offset;
  }
};

Network& network() {
  static Network all;
  return all;
}

/// 0, which is no handle, for what is no id.
utofu_vcq_hdl_t queue_of(utofu_vcq_id_t id) { return (id ^ id_mark) % 3 == 0 ? (id ^ id_mark) / 3 : 0; }
utofu_vcq_id_t id_of(utofu_vcq_hdl_t queue) { return (queue * 3) ^ id_mark; }

/// One piece of one put. @return false when there is nothing under way
bool carry_on(Network& n) {
  if (n.puts.empty()) return false;
  const std::size_t which = n.random() % n.puts.size();
  Put& put = n.puts[which];
  const std::size_t length = std::min(piece, put.length - put.done);
  const bool strong = (put.flags & UTOFU_ONESIDED_FLAG_STRONG_ORDER) != 0;
  const std::size_t begin = strong ? put.done : put.length - put.done - length;
  std::byte* const to = n.at(put.to + begin, length, put.there);
  const std::byte* const from = put.data.empty() ? n.at(put.from + begin, length, put.queue) : put.data.data() + begin;
  const bool lost = to == nullptr || from == nullptr;  // a side has taken its memory back
  if (!lost) std::memcpy(to, from, length);
  put.done += length;
  if (!lost && put.done < put.length) return true;
  if (const auto queue = n.queues.find(put.queue); queue != n.queues.end()) {
    --queue->second.under_way;
    if (lost) queue->second.completed.push_back({UTOFU_ERR_TCQ_STADD, put.notice});
    if (!lost && (put.flags & UTOFU_ONESIDED_FLAG_TCQ_NOTICE) != 0) {
      queue->second.completed.push_back({UTOFU_SUCCESS, put.notice});
    }
  }
  n.puts.erase(n.puts.begin() + static_cast<std::ptrdiff_t>(which));
  return true;
}

/// Checks what the interface checks, and enters the put.
int enter(Network& n, Put put, utofu_vcq_id_t there, std::uint64_t edata) {
  constexpr unsigned long known =
      UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_CACHE_INJECTION | UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
  const auto queue = n.queues.find(put.queue);
  if (queue == n.queues.end()) return UTOFU_ERR_INVALID_VCQ_HDL;
  put.there = queue_of(there);
  if (put.there == 0) return UTOFU_ERR_INVALID_VCQ_ID;
  if ((put.flags & ~known) != 0) return UTOFU_ERR_INVALID_FLAGS;
  if (edata > 255) return UTOFU_ERR_INVALID_EDATA;
  if (put.length == 0 || put.length > n.machine.most_bytes) return UTOFU_ERR_INVALID_SIZE;
  if (put.data.empty() && n.at(put.from, put.length, put.queue) == nullptr) return UTOFU_ERR_INVALID_STADD;
  // What is wrong on the other side is not known here: the put is entered, and lost.
  if (queue->second.under_way >= n.machine.queue_length) {
    ++n.traffic.busy;
    return UTOFU_ERR_BUSY;
  }
  ++queue->second.under_way;
  ++n.traffic.by_interface[queue->second.interface];
  if ((put.flags & UTOFU_ONESIDED_FLAG_CACHE_INJECTION) != 0) {
    ++n.traffic.injected;
    const auto address = reinterpret_cast<std::uintptr_t>(n.at(put.to, 1, put.there));
    if (address % n.caps.cache_line_size != 0) ++n.traffic.misaligned;
  }
  if ((put.flags & UTOFU_ONESIDED_FLAG_STRONG_ORDER) == 0) ++n.traffic.weak;
  n.puts.push_back(std::move(put));
  return UTOFU_SUCCESS;
}

int put_inside(const void* data, utofu_vcq_hdl_t queue, utofu_vcq_id_t there, utofu_stadd_t to, std::size_t length,
               std::uint64_t edata, unsigned long flags, void* notice, std::uint64_t Traffic::* counter) {
  Network& n = network();
  const std::lock_guard lock(n.mutex);
  if (data == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (length == 0 || length > most_piggyback) return UTOFU_ERR_INVALID_SIZE;
  const auto* const begin = static_cast<const std::byte*>(data);
  const int code = enter(n, {queue, 0, 0, to, {begin, begin + length}, length, 0, flags, notice}, there, edata);
  if (code == UTOFU_SUCCESS) ++(n.traffic.*counter);
  return code;
}

}  // namespace

void reset(const Machine& machine) {
  Network& n = network();
  const std::lock_guard lock(n.mutex);
  n.machine = machine;
  n.traffic = {};
  n.poll_code = UTOFU_SUCCESS;
  n.random.seed(machine.seed);
  n.queues.clear();
  n.regions.clear();
  n.puts.clear();
  n.caps.cache_line_size = 256;
  n.caps.stag_address_alignment = 256;
  n.caps.max_putget_size = machine.most_bytes;
  n.caps.max_piggyback_size = most_piggyback;
  n.caps.max_edata_size = 1;
}

Traffic traffic() {
  Network& n = network();
  const std::lock_guard lock(n.mutex);
  return n.traffic;
}

void fail_polls(int code) {
  Network& n = network();
  const std::lock_guard lock(n.mutex);
  n.poll_code = code;
}

std::size_t open_queues() {
  Network& n = network();
  const std::lock_guard lock(n.mutex);
  return n.queues.size();
}

std::size_t registered() {
  Network& n = network();
  const std::lock_guard lock(n.mutex);
  return n.regions.size();
}

}  // namespace utofu_shim

using utofu_shim::network;

int utofu_get_onesided_tnis(utofu_tni_id_t** tni_ids, size_t* num_tnis) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  if (tni_ids == nullptr || num_tnis == nullptr) return UTOFU_ERR_INVALID_POINTER;
  *num_tnis = static_cast<std::size_t>(n.machine.interfaces);
  *tni_ids = nullptr;
  if (*num_tnis == 0) return UTOFU_SUCCESS;
  *tni_ids = static_cast<utofu_tni_id_t*>(std::malloc(*num_tnis * sizeof(utofu_tni_id_t)));
  for (std::size_t i = 0; i < *num_tnis; ++i) (*tni_ids)[i] = static_cast<utofu_tni_id_t>(i);
  return UTOFU_SUCCESS;
}

int utofu_query_onesided_caps(utofu_tni_id_t tni_id, struct utofu_onesided_caps** tni_caps) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  if (tni_id >= n.machine.interfaces) return UTOFU_ERR_INVALID_TNI_ID;
  if (tni_caps == nullptr) return UTOFU_ERR_INVALID_POINTER;
  *tni_caps = &n.caps;
  return UTOFU_SUCCESS;
}

int utofu_create_vcq(utofu_tni_id_t tni_id, unsigned long int flags, utofu_vcq_hdl_t* vcq_hdl) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  if (tni_id >= n.machine.interfaces) return UTOFU_ERR_INVALID_TNI_ID;
  if ((flags & ~(UTOFU_VCQ_FLAG_THREAD_SAFE | UTOFU_VCQ_FLAG_EXCLUSIVE)) != 0) return UTOFU_ERR_INVALID_FLAGS;
  if (vcq_hdl == nullptr) return UTOFU_ERR_INVALID_POINTER;
  const auto there = std::ranges::count_if(n.queues, [&](const auto& q) { return q.second.interface == tni_id; });
  if (static_cast<std::size_t>(there) >= n.machine.queues) return UTOFU_ERR_FULL;
  *vcq_hdl = n.next++ * 1024;
  n.queues[*vcq_hdl].interface = tni_id;
  return UTOFU_SUCCESS;
}

int utofu_free_vcq(utofu_vcq_hdl_t vcq_hdl) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  const bool used = std::ranges::any_of(n.regions, [&](const auto& r) { return r.second.queue == vcq_hdl; });
  if (used) return UTOFU_ERR_BUSY;
  return n.queues.erase(vcq_hdl) == 1 ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_VCQ_HDL;
}

int utofu_query_vcq_id(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t* vcq_id) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  if (n.queues.count(vcq_hdl) == 0) return UTOFU_ERR_INVALID_VCQ_HDL;
  if (vcq_id == nullptr) return UTOFU_ERR_INVALID_POINTER;
  *vcq_id = utofu_shim::id_of(vcq_hdl);
  return UTOFU_SUCCESS;
}

int utofu_set_vcq_id_path(utofu_vcq_id_t* vcq_id, uint8_t path_coords[]) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  if (vcq_id == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (path_coords != nullptr) return UTOFU_ERR_INVALID_ARG;
  return n.queues.count(utofu_shim::queue_of(*vcq_id)) == 1 ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_VCQ_ID;
}

int utofu_reg_mem(utofu_vcq_hdl_t vcq_hdl, void* addr, size_t size, unsigned long int flags, utofu_stadd_t* stadd) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  if (n.queues.count(vcq_hdl) == 0) return UTOFU_ERR_INVALID_VCQ_HDL;
  if (addr == nullptr) return UTOFU_ERR_INVALID_ADDRESS;
  if (size == 0) return UTOFU_ERR_INVALID_SIZE;
  if (flags != 0) return UTOFU_ERR_INVALID_FLAGS;
  if (stadd == nullptr) return UTOFU_ERR_INVALID_POINTER;
  *stadd = n.next++ << 40;  // far apart: an address beyond a region is in no other
  n.regions[*stadd] = {static_cast<std::byte*>(addr), size, vcq_hdl};
  return UTOFU_SUCCESS;
}

int utofu_dereg_mem(utofu_vcq_hdl_t vcq_hdl, utofu_stadd_t stadd, unsigned long int flags) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  if (flags != 0) return UTOFU_ERR_INVALID_FLAGS;
  const auto region = n.regions.find(stadd);
  if (region == n.regions.end()) return UTOFU_ERR_INVALID_STADD;
  if (region->second.queue != vcq_hdl) return UTOFU_ERR_INVALID_VCQ_HDL;
  n.regions.erase(region);
  return UTOFU_SUCCESS;
}

int utofu_put(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd,
              size_t length, uint64_t edata, unsigned long int flags, void* cbdata) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  const int code = enter(n, {vcq_hdl, 0, lcl_stadd, rmt_stadd, {}, length, 0, flags, cbdata}, rmt_vcq_id, edata);
  if (code == UTOFU_SUCCESS) ++n.traffic.puts;
  return code;
}

int utofu_put_piggyback(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, void* lcl_data, utofu_stadd_t rmt_stadd,
                        size_t length, uint64_t edata, unsigned long int flags, void* cbdata) {
  return utofu_shim::put_inside(lcl_data, vcq_hdl, rmt_vcq_id, rmt_stadd, length, edata, flags, cbdata,
                                &utofu_shim::Traffic::piggybacks);
}

int utofu_put_piggyback8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, uint64_t lcl_data, utofu_stadd_t rmt_stadd,
                         size_t length, uint64_t edata, unsigned long int flags, void* cbdata) {
  if (length > sizeof(lcl_data)) return UTOFU_ERR_INVALID_SIZE;
  return utofu_shim::put_inside(&lcl_data, vcq_hdl, rmt_vcq_id, rmt_stadd, length, edata, flags, cbdata,
                                &utofu_shim::Traffic::words);
}

int utofu_poll_tcq(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags, void** cbdata) {
  auto& n = network();
  const std::lock_guard lock(n.mutex);
  const auto queue = n.queues.find(vcq_hdl);
  if (queue == n.queues.end()) return UTOFU_ERR_INVALID_VCQ_HDL;
  if (flags != 0) return UTOFU_ERR_INVALID_FLAGS;
  if (cbdata == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (n.poll_code != UTOFU_SUCCESS) return n.poll_code;
  for (std::uint64_t pieces = n.random() % 64; pieces > 0 && utofu_shim::carry_on(n); --pieces) {
  }
  if (queue->second.completed.empty()) return UTOFU_ERR_NOT_FOUND;
  const utofu_shim::Notice notice = queue->second.completed.front();
  queue->second.completed.pop_front();
  *cbdata = notice.data;
  return notice.code;
}
