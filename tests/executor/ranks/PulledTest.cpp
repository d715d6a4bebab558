// Messages that one rank reads from the memory of another.
#include <algorithm>
#include <cstring>

#include "executor/ranks/PulledMessages.h"
#include "executor/session/Binding.h"
#include "tests/executor/ranks/LocalRanks.h"

namespace lstmc::test {
namespace {

using ranks::Header;

constexpr int64_t kElements = 1 << 16;

/// The value of a message from rank 0 to rank 1: in the memory of each.
struct End {
  std::vector<float> memory = std::vector<float>(kElements);
  std::function<void(size_t)> wake = [](size_t) {};

  session::Message message() {
    DeviceTensor tensor;
    tensor.layout = session::layoutOf(DType::F32, {kElements});
    tensor.range = MemoryRange(std::as_writable_bytes(std::span(memory)));
    tensor.present = true;
    return {.entry = 0, .number = 0, .from = 0, .to = 1, .value = tensor, .place = tensor};
  }
  static Header header() {
    Header header;
    header.from = 0;
    header.to = 1;
    header.count = kElements;
    return header;
  }
};

/// Until it is so, as a thread of a session waits.
template <typename Ready> void await(ranks::Job &job, Ready ready) {
  for (int looks = 0; !ready();)
    if (auto pause = job.link().help(looks))
      std::this_thread::sleep_for(*pause);
}

/// Its requests may be in flight.
template <typename Message> void giveUp(ranks::Job &job, std::unique_ptr<Message> message) {
  std::vector<std::unique_ptr<ranks::Request>> requests;
  message->giveUp(requests);
  requests.push_back(std::move(message));
  job.link().detach(std::move(requests));
}

TEST(PulledMessages, MayBeWrittenOverWhenTheyHaveBeenRead) {
  inRanks(2, [](std::shared_ptr<ranks::Job> job) {
    End end;
    constexpr uint64_t kRounds = 3;
    if (job->rank() == 0) {
      auto outgoing = ranks::pulledOutgoing(end.message(), End::header(), job->link(), 1, end.wake,
                                            ranks::kTagMessages);
      EXPECT_EQ(outgoing->held(), package::kPulledMessageBytes);
      for (uint64_t round = 0; round < kRounds; ++round) {
        std::ranges::fill(end.memory, 0.5f + float(round));
        outgoing->post(round);
        EXPECT_FALSE(outgoing->sent());
        EXPECT_TRUE(job->vote(true)); // before which the other does not take it
        await(*job, [&] { return outgoing->sent(); });
      }
      giveUp(*job, std::move(outgoing));
    } else {
      auto incoming = ranks::pulledIncoming(end.message(), End::header(), job->link(), 0, end.wake,
                                            ranks::kTagMessages);
      EXPECT_EQ(incoming->held(), package::kPulledMessageBytes);
      for (uint64_t round = 0; round < kRounds; ++round) {
        EXPECT_TRUE(job->vote(true));
        await(*job, [&] { return incoming->arrived(); });
        EXPECT_EQ(incoming->take(round, nullptr), std::nullopt);
        EXPECT_EQ(end.memory, std::vector<float>(kElements, 0.5f + float(round)));
      }
      EXPECT_TRUE(job->vote(true)); // the last answer has been sent
      giveUp(*job, std::move(incoming));
      return;
    }
    EXPECT_TRUE(job->vote(true));
  });
}

TEST(PulledMessages, SayWhyTheyCannotBeRead) {
  auto mail = std::make_shared<Mailboxes>(2);
  mail->onTheWay = [](const Mailboxes::Key &key, std::vector<std::byte> &bytes) {
    constexpr int64_t kNobody = 0x7ffffffe;
    if (std::get<2>(key) == ranks::kTagMessages && bytes.size() > Header::kBytes)
      std::memcpy(bytes.data() + Header::kBytes, &kNobody, sizeof(kNobody));
    return true;
  };
  inRanks(
      2,
      [](std::shared_ptr<ranks::Job> job) {
        End end;
        if (job->rank() == 0) {
          auto outgoing = ranks::pulledOutgoing(end.message(), End::header(), job->link(), 1,
                                                end.wake, ranks::kTagMessages);
          outgoing->post(0);
          EXPECT_TRUE(job->vote(true));
          EXPECT_FALSE(outgoing->sent());
          giveUp(*job, std::move(outgoing));
          return;
        }
        auto incoming = ranks::pulledIncoming(end.message(), End::header(), job->link(), 0,
                                              end.wake, ranks::kTagMessages);
        await(*job, [&] { return incoming->arrived(); });
        EXPECT_EQ(incoming->take(0, nullptr),
                  "payload: cannot be read from process 2147483646: No such process");
        EXPECT_TRUE(job->vote(true));
        giveUp(*job, std::move(incoming));
      },
      mail);
}

} // namespace
} // namespace lstmc::test
