// The wire over MPI: a library of its own, loaded by who runs as a rank.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>
#include <sched.h>

#include "executor/ranks/Wire.h"

namespace lstmc::ranks {

namespace {

class MpiWire final : public Wire {
public:
  /// `piece`: bytes that one message of MPI has at most, which counts them in an int.
  MpiWire(MPI_Comm all, size_t piece, bool anyThread)
      : all_(all), piece_(piece), anyThread_(anyThread) {
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

  bool takesAnyThread() const override { return anyThread_; }
  /// `lstmc launch` has found out whether they can.
  bool receiversPull() const override {
    const char *asked = std::getenv("OMPI_MCA_btl_vader_single_copy_mechanism");
    return ranksHere_ == ranks_ && asked && std::string_view(asked) == "cma";
  }

  /// All pieces at once: MPI keeps those of one tag in order. A message ends with a piece shorter
  /// than the others, if need be an empty one.
  bool send(int to, int tag, std::span<const std::byte> bytes, void *what) override {
    auto message = std::make_shared<Message>(Message{what, to, tag, bytes.size(), {}, 0});
    message->pieces = bytes.size() / piece_ + 1;
    for (size_t i = 0; i < message->pieces; ++i) {
      const auto part = bytes.subspan(i * piece_, std::min(piece_, bytes.size() - i * piece_));
      MPI_Request request;
      if (!well(MPI_Isend(part.data(), int(part.size()), MPI_BYTE, to, tag, all_, &request)))
        return false;
      requests_.push_back(request);
      messages_.push_back(message);
    }
    return true;
  }
  bool receive(int from, int tag, std::span<std::byte> bytes, void *what) override {
    auto message = std::make_shared<Message>(Message{what, from, tag, 0, bytes, 0});
    // Until a message of several pieces has come whole, its tag is its own.
    if (bytes.size() >= piece_ || longReceives_.contains({from, tag})) {
      auto &queue = longReceives_[{from, tag}];
      queue.push_back(message);
      if (queue.size() > 1)
        return true;
    }
    return receivePiece(message);
  }

  int poll(std::span<Done> done) override {
    if (requests_.empty())
      return take(done);
    int count = 0;
    // MPI_Testsome looks at what is through before it brings messages over, so that is done first.
    int first = 0;
    MPI_Request_get_status(requests_.front(), &first, MPI_STATUS_IGNORE);
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    if (!well(MPI_Testsome(int(requests_.size()), requests_.data(), &count, indices_.data(),
                           statuses_.data())))
      return -1;
    if (count == MPI_UNDEFINED)
      return take(done);
    std::vector<std::pair<MessagePointer, size_t>> pieces; ///< that are through, and their bytes
    for (int i = 0; i < count; ++i) {
      int bytes = 0;
      MPI_Get_count(&statuses_[size_t(i)], MPI_BYTE, &bytes);
      pieces.emplace_back(messages_[size_t(indices_[size_t(i)])], size_t(bytes));
    }
    for (size_t i = 0; i < requests_.size();) {
      if (requests_[i] != MPI_REQUEST_NULL) {
        ++i;
        continue;
      }
      requests_[i] = requests_.back();
      messages_[i] = std::move(messages_.back());
      requests_.pop_back();
      messages_.pop_back();
    }
    for (const auto &[message, bytes] : pieces)
      if (!(message->pieces > 0 ? pieceSent(*message) : pieceReceived(message, bytes)))
        return -1;
    return take(done);
  }

  std::string error() const override { return error_; }

  void leave() override {
    for (MPI_Request &request : requests_) {
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    requests_.clear();
    messages_.clear();
    longReceives_.clear();
    MPI_Finalize();
  }

private:
  struct Message {
    void *what;
    int peer, tag;
    size_t bytes;              ///< sent, or received so far
    std::span<std::byte> room; ///< for the rest of what is received
    size_t pieces;             ///< under way, of one that is sent
  };
  using MessagePointer = std::shared_ptr<Message>;

  bool receivePiece(const MessagePointer &message) {
    MPI_Request request;
    if (!well(MPI_Irecv(message->room.data(), int(std::min(piece_, message->room.size())), MPI_BYTE,
                        message->peer, message->tag, all_, &request)))
      return false;
    requests_.push_back(request);
    messages_.push_back(message);
    return true;
  }

  bool pieceSent(Message &message) {
    if (--message.pieces == 0)
      done_.push_back({message.what, message.bytes});
    return true;
  }

  bool pieceReceived(const MessagePointer &message, size_t bytes) {
    message->bytes += bytes;
    message->room = message->room.subspan(bytes);
    if (bytes == piece_)
      return receivePiece(message);
    done_.push_back({message->what, message->bytes});
    const auto found = longReceives_.find({message->peer, message->tag});
    if (found == longReceives_.end())
      return true;
    found->second.pop_front();
    if (!found->second.empty())
      return receivePiece(found->second.front());
    longReceives_.erase(found);
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
  const size_t piece_;
  const bool anyThread_;
  int rank_ = 0, ranks_ = 1, ranksHere_ = 1;
  std::vector<MPI_Request> requests_;
  std::vector<MessagePointer> messages_; ///< of the requests
  /// Receives that may be of several pieces, and those of the same peer and tag after them: the
  /// first of each queue is begun.
  std::map<std::pair<int, int>, std::deque<MessagePointer>> longReceives_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Done> done_;
  std::string error_;
};

/// For tests a smaller one, the same in all ranks.
size_t largestPiece() {
  const char *text = std::getenv("LSTMC_MPI_PIECE");
  const long long asked = text ? std::atoll(text) : 0;
  return asked > 0 ? size_t(std::min(asked, 1LL << 30)) : size_t(1) << 30;
}

/// Where ranks outnumber the processors of their host, one that waits yields. Else it must not: a
/// thread that polls would give its processor away while it has the wire.
void chooseWhetherToYield() {
  const char *text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  cpu_set_t processors;
  CPU_ZERO(&processors);
  const bool known = text && ::sched_getaffinity(0, sizeof(processors), &processors) == 0;
  const bool crowded = !known || std::atoi(text) > CPU_COUNT(&processors);
  ::setenv("OMPI_MCA_mpi_yield_when_idle", crowded ? "1" : "0", 0); // the user's word stands
}

} // namespace

} // namespace lstmc::ranks

extern "C" lstmc::ranks::Wire *lstmcOpenWire(std::string &error) {
  lstmc::ranks::chooseWhetherToYield();
  int provided = 0;
  // One thread at a time calls MPI.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    error = "MPI_Init_thread failed";
    return nullptr;
  }
  return std::make_unique<lstmc::ranks::MpiWire>(MPI_COMM_WORLD, lstmc::ranks::largestPiece(),
                                                 provided >= MPI_THREAD_SERIALIZED)
      .release();
}
