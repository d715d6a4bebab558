// The wire over MPI: a library of its own, loaded by who runs as a rank.
#include <cstdlib>
#include <memory>
#include <vector>

#include <mpi.h>

#include "executor/ranks/Wire.h"

namespace lstmc::ranks {

namespace {

class MpiWire final : public Wire {
public:
  explicit MpiWire(MPI_Comm all) : all_(all) {
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &ranks_);
    MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN);
    MPI_Comm here;
    if (MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) == MPI_SUCCESS) {
      MPI_Comm_size(here, &ranksHere_);
      MPI_Comm_free(&here);
    }
  }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  int ranksHere() const override { return ranksHere_; }
  std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int size = 0;
    MPI_Get_library_version(text, &size);
    const std::string version(text, size_t(size));
    return version.substr(0, version.find(','));
  }

  bool send(int to, int tag, std::span<const std::byte> bytes, void *what) override {
    MPI_Request request;
    return well(MPI_Isend(bytes.data(), int(bytes.size()), MPI_BYTE, to, tag, all_, &request)) &&
           add(request, what);
  }
  bool receive(int from, int tag, std::span<std::byte> bytes, void *what) override {
    MPI_Request request;
    return well(MPI_Irecv(bytes.data(), int(bytes.size()), MPI_BYTE, from, tag, all_, &request)) &&
           add(request, what);
  }

  int poll(std::span<Done> done) override {
    if (requests_.empty())
      return 0;
    int count = 0;
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    if (!well(MPI_Testsome(int(requests_.size()), requests_.data(), &count, indices_.data(),
                           statuses_.data())))
      return -1;
    if (count == MPI_UNDEFINED)
      return take(done);
    for (int i = 0; i < count; ++i) {
      int bytes = 0;
      MPI_Get_count(&statuses_[size_t(i)], MPI_BYTE, &bytes);
      done_.push_back({whats_[size_t(indices_[size_t(i)])], size_t(bytes)});
    }
    for (size_t i = 0; i < requests_.size();) {
      if (requests_[i] != MPI_REQUEST_NULL) {
        ++i;
        continue;
      }
      requests_[i] = requests_.back();
      whats_[i] = whats_.back();
      requests_.pop_back();
      whats_.pop_back();
    }
    return take(done);
  }

  std::string error() const override { return error_; }

  void leave() override {
    for (MPI_Request &request : requests_) {
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    requests_.clear();
    MPI_Finalize();
  }

private:
  bool add(MPI_Request request, void *what) {
    requests_.push_back(request);
    whats_.push_back(what);
    return true;
  }

  bool well(int code) {
    if (code == MPI_SUCCESS)
      return true;
    char text[MPI_MAX_ERROR_STRING];
    int size = 0;
    MPI_Error_string(code, text, &size);
    error_.assign(text, size_t(size));
    return false;
  }

  /// As many as there is room for; the rest stays for the next poll.
  int take(std::span<Done> done) {
    size_t count = 0;
    for (; count < done.size() && count < done_.size(); ++count)
      done[count] = done_[count];
    done_.erase(done_.begin(), done_.begin() + long(count));
    return int(count);
  }

  MPI_Comm all_;
  int rank_ = 0, ranks_ = 1, ranksHere_ = 1;
  std::vector<MPI_Request> requests_;
  std::vector<void *> whats_; ///< of the requests
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Done> done_;
  std::string error_;
};

} // namespace

} // namespace lstmc::ranks

extern "C" lstmc::ranks::Wire *lstmcOpenWire(std::string &error) {
  int provided = 0;
  // Only this thread calls MPI.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    error = "MPI_Init_thread failed";
    return nullptr;
  }
  return std::make_unique<lstmc::ranks::MpiWire>(MPI_COMM_WORLD).release();
}
