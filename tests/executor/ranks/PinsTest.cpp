// The buffers that a device copies messages from and to are pinned for it.
#include <gtest/gtest.h>

#include "executor/package/MessageMemory.h"
#include "executor/ranks/StagedMessages.h"
#include "executor/session/Binding.h"
#include "tests/executor/ranks/LocalRanks.h"

namespace lstmc::test {
namespace {

struct CountingPinner final : HostPinner {
  HostPin pin(std::span<std::byte> bytes) override {
    pinned += bytes.size();
    return {bytes.data(), [this, size = bytes.size()](void *) { pinned -= size; }};
  }
  size_t pinned = 0;
};

TEST(Pins, AreThoseOfTheBuffersOfMessages) {
  constexpr int64_t kCount = 40;
  CountingPinner pinner;
  std::vector<std::byte> memory(kCount * 4);
  DeviceTensor value;
  value.range = MemoryRange(std::span(memory));
  value.layout = session::layoutOf(DType::F32, {kCount});
  value.present = true;
  const session::Message message{0, 1, 0, 1, value, value};
  const size_t whole = package::messageBuffers(DType::F32, kCount).whole;
  const std::function<void(size_t)> wake = [](size_t) {};
  auto job = joinLocally(std::make_shared<Mailboxes>(2), 0);
  auto out = ranks::stagedOutgoing(message, {}, job->link(), &pinner, 1, wake, 9);
  EXPECT_EQ(pinner.pinned, whole);
  auto in = ranks::stagedIncoming(message, {}, job->link(), &pinner, 1, wake, 9);
  EXPECT_EQ(pinner.pinned, 2 * whole);
  out.reset();
  EXPECT_EQ(pinner.pinned, whole);
  std::vector<std::unique_ptr<ranks::Request>> begun;
  begun.push_back(std::move(in));
  job->link().detach(std::move(begun));
  job.reset(); // what may be under way is held for as long as the link
  EXPECT_EQ(pinner.pinned, 0u);
}

} // namespace
} // namespace lstmc::test
