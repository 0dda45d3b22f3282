// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/mpi/library_sum.hpp"

#include "halocline/comm/mpi/end.hpp"

#include <algorithm>
#include <vector>

namespace halocline::comm::detail {
namespace {

#if MPI_VERSION >= 4
constexpr bool persistent = true;
int make_request(void* from, void* to, int count, MPI_Comm comm, MPI_Request* made) {
  return MPI_Allreduce_init(from, to, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, made);
}
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
constexpr bool persistent = true;
int make_request(void* from, void* to, int count, MPI_Comm comm, MPI_Request* made) {
  return MPIX_Allreduce_init(from, to, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, made);
}
#else
constexpr bool persistent = false;
int make_request(void* from, void* to, int count, MPI_Comm comm, MPI_Request* made) {
  return MPI_Iallreduce(from, to, count, MPI_DOUBLE, MPI_SUM, comm, made);
}
#endif

class MpiSum final : public LibrarySum {
public:
  MpiSum(MPI_Comm comm, std::size_t longest)
      : mine_(longest), sums_(longest), requests_(longest + 1, MPI_REQUEST_NULL) {
    check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup", -1);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
  }
  ~MpiSum() override {
    abandon();
    if (abandoned_ || given_up() || !mpi_is_running()) return;
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    MPI_Comm_free(&comm_);
  }

  void sum(std::span<double> values) override {
    const int code =
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm_);
    if (code != MPI_SUCCESS) [[unlikely]]
      check_mpi(code, "MPI_Allreduce", rank_);
  }

  void begin(std::span<const double> values) override {
    count_ = values.size();
    std::ranges::copy(values, mine_.begin());
    MPI_Request& request = requests_[count_];
    if (!persistent || request == MPI_REQUEST_NULL)
      check_mpi(make_request(mine_.data(), sums_.data(), static_cast<int>(count_), comm_, &request), "all-reduce",
                rank_);
    if (persistent) check_mpi(MPI_Start(&request), "MPI_Start", rank_);
    under_way_ = true;
  }

  bool test() override {
    if (!under_way_) return true;
    int done = 0;
    check_mpi(MPI_Test(&requests_[count_], &done, MPI_STATUS_IGNORE), "MPI_Test", rank_);
    under_way_ = done == 0;
    return !under_way_;
  }

  std::span<const double> result() const noexcept override { return {sums_.data(), count_}; }

  void abandon() noexcept override {
    if (!under_way_) return;
    abandoned_ = true;
    note_unfinished_requests();
    // MPI may write these at any later time, so they are never freed.
    static_cast<void>(new std::vector<double>(std::move(mine_)));
    static_cast<void>(new std::vector<double>(std::move(sums_)));
  }

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = -1;
  std::vector<double> mine_, sums_;
  std::vector<MPI_Request> requests_;  ///< by the number of values
  std::size_t count_ = 0;
  bool under_way_ = false, abandoned_ = false;
};

}  // namespace

std::unique_ptr<LibrarySum> make_mpi_sum(MPI_Comm comm, std::size_t longest) {
  return std::make_unique<MpiSum>(comm, longest);
}

}  // namespace halocline::comm::detail
