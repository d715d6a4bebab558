// The copies on several devices follow the one value that counts.
#include "executor/session/Binding.h"
#include "tests/executor/session/DeviceSession.h"

namespace lstmc {
namespace {

using namespace test;

/// A value's copies, beginning with the one that counts.
std::vector<std::vector<float>> copiesOf(const Session &session,
                                         const std::vector<uint32_t> &buffers) {
  std::vector<std::vector<float>> copies;
  for (uint32_t index : buffers) {
    const package::Buffer &buffer = session.package().data().buffers[index];
    copies.push_back(values(session::bind(buffer, session.device(buffer.device))));
  }
  return copies;
}

class Copies : public testing::Test {
protected:
  std::unique_ptr<Session> session = makeSession(3);
  const package::Parameter &w = session->package().data().parameters[0];
  const package::Parameter &v = session->package().data().parameters[1];

  void run() {
    fillInput(*session, 1);
    ASSERT_TRUE(session->run("step").ok());
  }
  void expectCopies(const std::vector<uint32_t> &buffers, const std::vector<float> &want) {
    EXPECT_EQ(copiesOf(*session, buffers), std::vector(3, want));
  }
};

TEST_F(Copies, FollowInitialValues) {
  ASSERT_TRUE(session->initialise(5).ok());
  std::vector<float> first = values(*session->parameter("v"));
  EXPECT_NE(copiesOf(*session, v.buffers)[1], first); // not updated yet
  run();
  expectCopies(v.buffers, first);
  ASSERT_TRUE(session->initialise(6).ok());
  run();
  expectCopies(v.buffers, values(*session->parameter("v")));
  EXPECT_NE(values(*session->parameter("v")), first);
}

TEST_F(Copies, FollowWhatIsSetFromOutside) {
  std::vector<float> given = {1, 2, 3, 4};
  Tensor value = *session->parameter("v");
  value.data = given.data();
  ASSERT_TRUE(session->setParameter("v", value).ok());
  run();
  expectCopies(v.buffers, given);

  std::vector<float> slot = {1, 2, 3, 4, 5, 6};
  value = *session->slot("w", "momentum");
  value.data = slot.data();
  ASSERT_TRUE(session->setSlot("w", "momentum", value).ok());
  run();
  expectCopies(w.slots[0].buffers, slot);

  session->parameter("v")->as<float>()[2] = 7;
  session->parametersChanged();
  given[2] = 7;
  run();
  expectCopies(v.buffers, given);
}

TEST_F(Copies, AreMadeOnlyThen) {
  run();
  session->parameter("v")->as<float>()[2] = 7; // without telling the session
  run();
  EXPECT_EQ(copiesOf(*session, v.buffers)[1], std::vector<float>(4, 0));
}

TEST_F(Copies, AreMadeAnewWhenARunFailed) {
  ASSERT_TRUE(session->initialise(5).ok());
  run();
  overflowOn(*session, 1);
  session->parameter("v")->as<float>()[2] = 7;
  ASSERT_FALSE(session->run("step").ok());
  Tensor w = *session->parameter("w");
  std::fill_n(w.as<float>(), w.elements(), 0.5f);
  run();
  expectCopies(v.buffers, values(*session->parameter("v")));
}

} // namespace
} // namespace lstmc
