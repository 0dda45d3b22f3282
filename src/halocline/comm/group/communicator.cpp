// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts that all kinds of groups share: argument checks, sums in rank order, gathers of unequal lengths, and
/// errors that reach every rank.

#include "halocline/comm/group/communicator.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace halocline::comm {
namespace {

// Limits of the all-gather of a sum; see Communicator::sum. To share the adding, every rank sends a message to every
// other one, which costs about as much as four kilobytes of an all-gather.
constexpr std::size_t gathered_anyway = 64 * 1024;       // [bytes] of all ranks
constexpr std::size_t short_values = 4 * 1024;           // [bytes] of one rank
constexpr std::size_t most_gathered = 64 * 1024 * 1024;  // [bytes] of all ranks, for short values
constexpr int largest_tag = 32766;                       // MPI promises 32767, and gather() takes one

/// sums[i] = all[0][i] + all[1][i] + ..., from the left.
void add_in_rank_order(std::span<const double> all, std::span<double> sums) {
  const std::size_t n = sums.size();
  std::copy_n(all.begin(), n, sums.begin());
  for (std::size_t begin = n; begin < all.size(); begin += n) {
    for (std::size_t i = 0; i < n; ++i) sums[i] += all[begin + i];
  }
}

double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

PendingSum::PendingSum() noexcept = default;
PendingSum::PendingSum(PendingSum&&) noexcept = default;
PendingSum& PendingSum::operator=(PendingSum&& other) noexcept {
  gather_.reset();  // completes a gather under way while its buffers still exist
  values_ = other.values_;
  mine_ = std::move(other.mine_);
  all_ = std::move(other.all_);
  gather_ = std::move(other.gather_);
  return *this;
}
PendingSum::~PendingSum() = default;

void PendingSum::wait() {
  if (gather_ == nullptr) return;
  try {
    gather_->wait();
  } catch (...) {
    // A late message may still be written into this memory, so it is never freed.
    gather_->abandon();
    gather_.reset();
    static_cast<void>(new std::array{std::move(mine_), std::move(all_)});
    throw;
  }
  add_in_rank_order(all_, values_);
  gather_.reset();
}

Communicator Communicator::self() { return Communicator(detail::make_alone()); }

int Communicator::rank() const noexcept { return backend_->rank(); }
int Communicator::size() const noexcept { return backend_->size(); }
void Communicator::barrier() const { backend_->barrier(); }

void Communicator::check_rank(const char* what, int rank) const {
  if (rank >= 0 && rank < size()) return;
  throw core::InvalidArgument(std::string(what) + " " + std::to_string(rank) +
                              " given, but this group has ranks 0 to " + std::to_string(size() - 1));
}

void Communicator::broadcast(std::span<std::byte> bytes, int root) const {
  check_rank("root", root);
  if (size() > 1) backend_->broadcast(bytes, root);
}

void Communicator::sum(std::span<double> values) const {
  const auto ranks = static_cast<std::size_t>(size());
  if (ranks == 1 || values.empty()) return;
  const std::size_t all_bytes = values.size_bytes() * ranks;
  if (all_bytes <= gathered_anyway || (values.size_bytes() <= short_values && all_bytes <= most_gathered)) {
    std::vector<double> all(values.size() * ranks);
    backend_->all_gather(std::as_bytes(values), std::as_writable_bytes(std::span(all)));
    return add_in_rank_order(all, values);
  }
  // Rank r adds block r of all ranks' values (the last blocks are filled up with zeros); then all ranks gather the
  // sums.
  const std::size_t block = (values.size() + ranks - 1) / ranks;
  std::vector<double> mine(block * ranks, 0.0), all(block * ranks);
  std::copy(values.begin(), values.end(), mine.begin());
  backend_->all_to_all(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  std::vector<double> part(block);
  add_in_rank_order(all, part);
  backend_->all_gather(std::as_bytes(std::span(part)), std::as_writable_bytes(std::span(all)));
  std::copy_n(all.begin(), values.size(), values.begin());
}

PendingSum Communicator::begin_sum(std::span<double> values) const {
  PendingSum pending;
  if (size() == 1 || values.empty()) return pending;
  pending.values_ = values;
  pending.mine_.assign(values.begin(), values.end());
  pending.all_.resize(values.size() * static_cast<std::size_t>(size()));
  pending.gather_ = backend_->begin_all_gather(std::as_bytes(std::span(pending.mine_)),
                                               std::as_writable_bytes(std::span(pending.all_)));
  return pending;
}

void Communicator::sum(std::span<std::uint64_t> values) const {
  if (size() > 1 && !values.empty()) backend_->sum(values);
}

void Communicator::bit_xor(std::span<std::uint32_t> values) const {
  if (size() > 1 && !values.empty()) backend_->bit_xor(values);
}

void Communicator::fold(std::span<double> values, double (*combine)(double, double)) const {
  if (size() == 1 || values.empty()) return;
  const std::size_t n = values.size();
  std::vector<double> all(n * static_cast<std::size_t>(size()));
  backend_->all_gather(std::as_bytes(values), std::as_writable_bytes(std::span(all)));
  std::copy_n(all.begin(), n, values.begin());
  for (std::size_t i = n; i < all.size(); ++i) values[i % n] = combine(values[i % n], all[i]);
}

void Communicator::min(std::span<double> values) const { fold(values, smaller); }
void Communicator::max(std::span<double> values) const { fold(values, larger); }

bool Communicator::any(bool mine) const {
  std::uint64_t count = mine ? 1 : 0;
  sum(std::span(&count, 1));
  return count != 0;
}

bool Communicator::all(bool mine) const { return !any(!mine); }

std::vector<std::byte> Communicator::gather(std::span<const std::byte> mine, int root) const {
  check_rank("root", root);
  if (size() == 1) return {mine.begin(), mine.end()};
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size()));
  const std::uint64_t length = mine.size();
  backend_->all_gather(std::as_bytes(std::span(&length, 1)), std::as_writable_bytes(std::span(lengths)));
  constexpr int tag = 0;
  if (rank() != root) {
    // The root receives from one rank after another, so that a large gather needs no buffers there.
    if (length > 0) backend_->send(mine, root, tag);
    return {};
  }
  std::vector<std::byte> all(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
  std::size_t begin = 0;
  for (int from = 0; from < size(); ++from) {
    const std::span<std::byte> part(all.data() + begin, lengths[static_cast<std::size_t>(from)]);
    if (from == root) std::copy(mine.begin(), mine.end(), part.begin());
    if (from != root && !part.empty()) backend_->receive(part, from, tag);
    begin += part.size();
  }
  return all;
}

std::vector<std::byte> Communicator::allgather(std::span<const std::byte> mine) const {
  if (size() == 1) return {mine.begin(), mine.end()};
  // Every rank sends a block of the longest length; the bytes beyond its own length are cut off again.
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size()));
  const std::uint64_t length = mine.size();
  backend_->all_gather(std::as_bytes(std::span(&length, 1)), std::as_writable_bytes(std::span(lengths)));
  const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::byte> block(longest), blocks(longest * lengths.size()), all;
  std::copy(mine.begin(), mine.end(), block.begin());
  if (longest > 0) backend_->all_gather(block, blocks);
  all.reserve(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
  for (std::size_t from = 0; from < lengths.size(); ++from) {
    const auto begin = blocks.begin() + static_cast<std::ptrdiff_t>(from * longest);
    all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(lengths[from]));
  }
  return all;
}

void Communicator::all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) const {
  if (mine.size() != all.size() || mine.size() % static_cast<std::size_t>(size()) != 0) {
    throw core::InvalidArgument("an all-to-all among " + std::to_string(size()) + " ranks was given " +
                                std::to_string(mine.size()) + " bytes to send and room for " +
                                std::to_string(all.size()) + "; both must be the same multiple of the ranks");
  }
  if (size() == 1) {
    std::copy(mine.begin(), mine.end(), all.begin());
  } else if (!mine.empty()) {
    backend_->all_to_all(mine, all);
  }
}

void Communicator::send(std::span<const std::byte> bytes, int to, int tag) const {
  check_rank("receiving rank", to);
  if (tag < 0 || tag > largest_tag) throw core::InvalidArgument("tag " + std::to_string(tag) + " is not in 0 to 32766");
  if (to == rank()) {
    backend_->mailbox()[tag].emplace_back(bytes.begin(), bytes.end());
  } else {
    backend_->send(bytes, to, tag + 1);  // tag 0 of the layer below belongs to gather()
  }
}

void Communicator::receive(std::span<std::byte> bytes, int from, int tag) const {
  check_rank("sending rank", from);
  if (tag < 0 || tag > largest_tag) throw core::InvalidArgument("tag " + std::to_string(tag) + " is not in 0 to 32766");
  if (from != rank()) return backend_->receive(bytes, from, tag + 1);
  auto& waiting = backend_->mailbox()[tag];
  if (waiting.empty()) {
    throw core::Error("rank " + std::to_string(from) + " receives from itself with tag " + std::to_string(tag) +
                          ", but sent nothing: send first",
                      from);
  }
  const std::vector<std::byte> message = std::move(waiting.front());
  waiting.pop_front();
  if (message.size() != bytes.size()) {
    throw core::Error("rank " + std::to_string(from) + " sent itself " + std::to_string(message.size()) +
                          " bytes with tag " + std::to_string(tag) + " and receives " + std::to_string(bytes.size()),
                      from);
  }
  std::copy(message.begin(), message.end(), bytes.begin());
}

Communicator Communicator::split(int colour, int key) const {
  raise_everywhere(*this, colour >= 0
                              ? std::nullopt
                              : std::optional("colour " + std::to_string(colour) + " given, not negative expected"));
  return Communicator(backend_->split(colour, key));
}

Communicator Communicator::split_by_node() const { return Communicator(backend_->split_by_node()); }

// ---- errors that reach every rank -------------------------------------------------------------------------------

namespace {

enum class Kind : std::uint16_t { none, error, invalid_argument, file_error };

/// The error of a rank. Its three strings travel in one message, each after its length.
struct Report {
  Kind kind = Kind::none;
  std::string sentence, path, record;
  bool of_another = false;  ///< the error names another rank as its origin
};

std::vector<std::byte> packed(const Report& report) {
  std::vector<std::byte> bytes;
  for (const std::string* text : {&report.sentence, &report.path, &report.record}) {
    const std::uint64_t length = text->size();
    const auto head = std::as_bytes(std::span(&length, 1));
    const auto body = std::as_bytes(std::span(*text));
    bytes.insert(bytes.end(), head.begin(), head.end());
    bytes.insert(bytes.end(), body.begin(), body.end());
  }
  return bytes;
}

Report unpacked(Kind kind, std::span<const std::byte> bytes) {
  Report report{.kind = kind};
  for (std::string* text : {&report.sentence, &report.path, &report.record}) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof(length));
    text->assign(reinterpret_cast<const char*>(bytes.data() + sizeof(length)), length);
    bytes = bytes.subspan(sizeof(length) + length);
  }
  return report;
}

[[noreturn]] void raise(const Report& report, int rank, int ranks) {
  const std::string where = ranks > 1 ? "rank " + std::to_string(rank) + ": " : "";
  if (report.kind == Kind::invalid_argument) throw core::InvalidArgument(where + report.sentence, rank);
  if (report.kind == Kind::file_error) {
    // The sentence of a FileError already begins with path and record; the constructor puts them there again.
    const std::string head = report.path + (report.record.empty() ? "" : " (" + report.record + ")") + ": ";
    const bool headed = report.sentence.starts_with(head);
    throw core::FileError(report.path, report.record, headed ? report.sentence.substr(head.size()) : report.sentence);
  }
  throw core::Error(where + report.sentence, rank);
}

void raise_reported(const Communicator& group, const Report& mine) {
  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<std::byte> text = packed(mine);
  struct Head {
    Kind kind;
    std::uint16_t of_another;
    std::uint32_t length;
  };
  const Head head{mine.kind, mine.of_another, static_cast<std::uint32_t>(text.size())};
  std::vector<Head> heads(ranks, head);
  if (ranks > 1)
    group.backend().all_gather(std::as_bytes(std::span(&head, 1)), std::as_writable_bytes(std::span(heads)));
  const auto fails = [](const Head& h) { return h.kind != Kind::none; };
  auto failed = std::find_if(heads.begin(), heads.end(), [&](const Head& h) { return fails(h) && h.of_another == 0; });
  if (failed == heads.end()) failed = std::find_if(heads.begin(), heads.end(), fails);
  if (failed == heads.end()) return;
  const int rank = static_cast<int>(failed - heads.begin());
  text.resize(failed->length);
  group.broadcast(text, rank);
  raise(unpacked(failed->kind, text), rank, group.size());
}

}  // namespace

void raise_everywhere(const Communicator& group, const std::exception* failure) {
  Report mine;
  if (failure != nullptr) {
    mine.kind = dynamic_cast<const core::InvalidArgument*>(failure) != nullptr ? Kind::invalid_argument : Kind::error;
    mine.sentence = failure->what();
    if (const auto* error = dynamic_cast<const core::Error*>(failure);
        error != nullptr && error->rank() >= 0 && group.size() > 1) {
      // An inner group may already have put a rank in front, perhaps with its own numbering: do not name a rank
      // twice.
      const std::string head = "rank " + std::to_string(error->rank()) + ": ";
      if (mine.sentence.starts_with(head)) mine.sentence.erase(0, head.size());
      mine.of_another = error->rank() != group.rank();
    }
    if (const auto* file = dynamic_cast<const core::FileError*>(failure)) {
      mine.kind = Kind::file_error;
      mine.path = file->path();
      mine.record = file->record();
    }
  }
  raise_reported(group, mine);
}

void raise_everywhere(const Communicator& group, const std::optional<std::string>& failure) {
  Report mine;
  if (failure.has_value()) mine = {.kind = Kind::error, .sentence = *failure};
  raise_reported(group, mine);
}

}  // namespace halocline::comm
