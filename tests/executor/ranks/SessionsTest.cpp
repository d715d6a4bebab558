// Sessions of several ranks against one of a single process, on a package made by hand.
#include <map>
#include <mutex>
#include <optional>
#include <regex>

#include "executor/package/MessageMemory.h"
#include "executor/session/RemoteDevice.h"
#include "tests/executor/ranks/LocalRanks.h"
#include "tests/executor/session/DeviceSession.h"

namespace lstmc::test {
namespace {

using JobPointer = std::shared_ptr<ranks::Job>;

constexpr uint32_t kDevices = 4;

/// `channels`: between GPUs of two ranks.
std::unique_ptr<Session> sessionOf(JobPointer job, SessionOptions options = {},
                                   std::string_view kind = "cpu", bool channels = false) {
  package::PackageData data = package::transferPackage(kDevices);
  for (uint32_t device = 0; device < kDevices; ++device)
    data.devices[device].name = fmt::format("{}:{}", kind, device);
  auto package = package::Package::open(package::serialize(data));
  auto made = makeDevices(fmt::format("{}x{}", kDevices, kind),
                          {.threads = 1, .engine = Engine::Fast, .channels = channels});
  EXPECT_TRUE(package.ok() && made.ok());
  for (size_t device = 0; device < kDevices; ++device)
    if (job->rankOf(device, kDevices) != job->rank())
      (*made)[device] = session::makeRemoteDevice((*made)[device]->name());
  options.peers = job;
  auto session = Session::create(*package, std::move(*made), std::move(options));
  EXPECT_TRUE(session.ok()) << session.error().text();
  return std::move(*session);
}

TEST(Ranks, TrainToTheBitsOfOneProcess) {
  const uint64_t want = trainedHash(*makeSession(kDevices));
  for (int ranks : {2, 3, 4})
    for (const char *kind : {"cpu", "trap"})
      for (bool anyThread : {true, false}) {
        auto mail = std::make_shared<Mailboxes>(ranks);
        mail->anyThread = anyThread;
        inRanks(
            ranks,
            [&](JobPointer job) {
              EXPECT_EQ(trainedHash(*sessionOf(job, {}, kind)), want)
                  << ranks << " ranks of " << kind;
            },
            mail);
      }
}

/// Values of GPUs then go by channels, and between the ranks only headers and the answers to them;
/// what is not dense goes by way of the host all the same.
TEST(Ranks, TrainToTheBitsOfOneProcessByChannels) {
  const uint64_t want = trainedHash(*makeSession(kDevices));
  for (int ranks : {2, 3, 4})
    for (bool channels : {false, true}) {
      auto mail = std::make_shared<Mailboxes>(ranks);
      std::map<size_t, int> sizes;
      mail->onTheWay = [&](const Mailboxes::Key &key, std::vector<std::byte> &bytes) {
        const int tag = std::get<2>(key);
        if (tag >= ranks::kTagMessages && tag < ranks::kTagChannels)
          ++sizes[bytes.size()];
        return true;
      };
      inRanks(
          ranks,
          [&](JobPointer job) {
            EXPECT_EQ(trainedHash(*sessionOf(job, {}, "emu", channels)), want) << ranks << " ranks";
          },
          mail);
      if (channels)
        EXPECT_EQ(sizes, (std::map<size_t, int>{{8, sizes[64]}, {64, sizes[64]}}));
      else
        EXPECT_FALSE(sizes.contains(8));
    }
}

/// What is planned for messages is what they hold, at both ends.
TEST(Ranks, HoldForMessagesWhatIsPlanned) {
  struct Case {
    const char *kind;
    bool channels;
  };
  for (const auto &[kind, channels] :
       {Case{"cpu", false}, Case{"trap", false}, Case{"emu", false}, Case{"emu", true}})
    for (int ranks : {1, 2, 3, 4}) {
      std::mutex mutex;
      uint64_t sum = 0;
      inRanks(ranks, [&](JobPointer job) {
        auto session = sessionOf(job, {}, kind, channels);
        trainedHash(*session);
        const package::PackageData &data = session->package().data();
        const package::MessageWays ways{package::processesOf(kDevices, ranks), channels};
        const std::vector<DevicePeak> peaks = session->peaks();
        size_t next = 0;
        for (uint32_t device = 0; device < kDevices; ++device) {
          if (session::isRemote(session->device(device)))
            continue;
          const DevicePeak &peak = peaks[next++];
          const bool own = session->device(device).hostVisible(); // else there may be tables in it
          const uint64_t planned =
              (own ? peak.plannedBytes - data.devices[device].arenaBytes : 0) + peak.plannedOfHost;
          EXPECT_EQ(peak.touchedBytes - session->device(device).touchedBytes() + peak.heldOfHost,
                    planned)
              << ranks << " ranks, " << peak.device << ", " << channels;
          EXPECT_EQ(planned, package::messageBytes(data, device, ways)); // by its name alone
          std::lock_guard lock(mutex);
          sum += planned;
        }
      });
      EXPECT_EQ(sum > 0, ranks > 1) << kind;
    }
}

/// A value that is posted again while it is still being sent is packed later: until then its device
/// must not overwrite it.
TEST(Ranks, WaitForValuesThatAreStillBeingSent) {
  const uint64_t want = trainedHash(*makeSession(kDevices));
  auto mail = std::make_shared<Mailboxes>(2);
  mail->held = std::chrono::milliseconds(100);
  inRanks(2, [&](JobPointer job) { EXPECT_EQ(trainedHash(*sessionOf(job)), want); }, mail);
}

/// Products that are 0, 0.5 or -0.5 are sent in two bits each, and arrive as they are.
TEST(Ranks, SendValuesOfOneMagnitudeInTwoBits) {
  auto update = [](Session &session) {
    EXPECT_TRUE(session.initialise(3).ok());
    fillInput(session, 1);
    Tensor w = *session.parameter("w"), x = *session.input("step", "x");
    for (int64_t i = 0; i < w.elements(); ++i)
      w.as<float>()[i] = 0.5f;
    for (int64_t i = 0; i < x.elements(); ++i)
      x.as<float>()[i] = float(i % 3 - 1);
    session.parametersChanged();
    Status status = session.run("step");
    EXPECT_TRUE(status.ok()) << status.error().text();
    return session.weightsHash();
  };
  const uint64_t want = update(*makeSession(kDevices));
  auto mail = std::make_shared<Mailboxes>(2);
  std::map<size_t, int> sizes; // of messages from rank 1
  mail->onTheWay = [&](const Mailboxes::Key &key, std::vector<std::byte> &bytes) {
    if (std::get<0>(key) == 1 && std::get<2>(key) >= ranks::kTagMessages)
      ++sizes[bytes.size()];
    return true;
  };
  inRanks(2, [&](JobPointer job) { EXPECT_EQ(update(*sessionOf(job)), want); }, mail);
  // Six elements of a product of each of its devices; and four of v, which is initialised there.
  EXPECT_EQ(sizes, (std::map<size_t, int>{{64 + 4 + 2, 2}, {64 + 16, 2}}));
}

/// Receives are begun when the package is bound, and again when a value is taken: no value waits in
/// buffers of MPI, whatever the ranks' speeds.
TEST(Ranks, HaveBegunToReceiveWhatIsSent) {
  for (int slow : {0, 1}) {
    auto mail = std::make_shared<Mailboxes>(2);
    inRanks(
        2,
        [&](JobPointer job) {
          auto session = sessionOf(job, withHook([&, rank = job->rank()](const DeviceMoment &) {
                                     if (rank == slow)
                                       std::this_thread::sleep_for(std::chrono::microseconds(100));
                                   }));
          ASSERT_TRUE(job->gather("bound").ok()); // as the command does, which compares weights
          trainedHash(*session);
        },
        mail);
    EXPECT_EQ(mail->unexpected, 0) << "rank " << slow << " is slow";
  }
}

/// Messages that take long, each another time, change nothing.
TEST(Ranks, WaitForWhatIsDelayed) {
  const uint64_t want = trainedHash(*makeSession(kDevices));
  auto mail = std::make_shared<Mailboxes>(4);
  unsigned number = 0; // under the mailboxes' lock
  mail->delay = [&](const Mailboxes::Key &) {
    number = number * 1664525 + 1013904223;
    return std::chrono::microseconds((number >> 16) % 3000);
  };
  inRanks(4, [&](JobPointer job) { EXPECT_EQ(trainedHash(*sessionOf(job)), want); }, mail);
}

/// A value that comes twice is taken for the next one, which its number shows; one that is cut
/// short has another size.
TEST(Ranks, EndWhenAMessageComesTwiceOrCut) {
  struct Case {
    bool cut;
    std::string_view found, kind;
  };
  for (const auto &[cut, found, kind] :
       {Case{false, "sequence", "cpu"}, Case{true, "size: found", "cpu"},
        Case{false, "sequence", "emu"}, Case{true, "size: found", "emu"}}) {
    auto mail = std::make_shared<Mailboxes>(2);
    int messages = 0;
    mail->onTheWay = [&, cut = cut](const Mailboxes::Key &key, std::vector<std::byte> &bytes) {
      if (std::get<2>(key) < ranks::kTagMessages || bytes.size() < package::kMessageHeaderBytes ||
          std::get<2>(key) >= ranks::kTagChannels || ++messages != 10)
        return true;
      if (cut)
        bytes.resize(bytes.size() - 1);
      else
        mail->boxes[key].push_back({{}, bytes});
      return true;
    };
    inRanks(
        2,
        [&, found = found, kind = kind](JobPointer job) {
          auto session = sessionOf(job, {}, kind, kind == "emu");
          ASSERT_TRUE(session->initialise(3).ok());
          Status status;
          for (int update = 1; update <= 5 && status.ok(); ++update) {
            fillInput(*session, update);
            status = session->run("step");
          }
          ASSERT_FALSE(status.ok());
          EXPECT_EQ(status.error().code, ErrorCode::E0804);
          EXPECT_NE(status.error().text().find(found), std::string::npos) << status.error().text();
        },
        mail);
  }
}

/// Two values of one size in each other's place: the message names both ops with their lines.
TEST(Ranks, NameBothOpsWhenMessagesAreExchanged) {
  auto mail = std::make_shared<Mailboxes>(2);
  std::optional<std::pair<Mailboxes::Key, std::vector<std::byte>>> first;
  bool exchanged = false;
  mail->onTheWay = [&](const Mailboxes::Key &key, std::vector<std::byte> &bytes) {
    const auto &[from, to, tag] = key;
    if (from != 1 || tag < ranks::kTagMessages || exchanged)
      return true;
    if (!first) {
      first.emplace(key, bytes);
      return false; // until there is another one
    }
    if (first->first == key || first->second.size() != bytes.size())
      return true;
    exchanged = true;
    mail->boxes[first->first].push_back({{}, bytes});
    bytes = first->second;
    return true;
  };
  std::atomic<int> named = 0;
  inRanks(
      2,
      [&](JobPointer job) {
        auto session = sessionOf(job);
        ASSERT_TRUE(session->initialise(3).ok());
        fillInput(*session, 1);
        Status status = session->run("step");
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code, ErrorCode::E0804);
        const std::string text = status.error().text();
        static const std::regex both(
            "cpu:\\d waits for message \\d+ of \\w+, .+ at net\\.lnet:\\d+; "
            "rank 1 sent message \\d+ of \\w+, .+ at net\\.lnet:\\d+: ");
        named += std::regex_search(text, both);
        EXPECT_TRUE(std::regex_search(text, both)) << text;
      },
      mail);
  EXPECT_TRUE(exchanged);
  EXPECT_EQ(named, 2); // both ranks say it
}

TEST(Ranks, EndWhenABitFlipsOnTheWay) {
  auto mail = std::make_shared<Mailboxes>(2);
  std::atomic<int> messages = 0;
  mail->onTheWay = [&](const Mailboxes::Key &key, std::vector<std::byte> &bytes) {
    if (std::get<2>(key) >= ranks::kTagMessages && ++messages == 5)
      bytes[70] ^= std::byte(1);
    return true;
  };
  inRanks(
      2,
      [&](JobPointer job) {
        auto session = sessionOf(job);
        ASSERT_TRUE(session->initialise(3).ok());
        Status status;
        for (int update = 1; update <= 5 && status.ok(); ++update) {
          fillInput(*session, update);
          status = session->run("step");
        }
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code, ErrorCode::E0804);
        EXPECT_NE(status.error().text().find("payload: its checksum is wrong"), std::string::npos)
            << status.error().text();
        EXPECT_NE(status.error().text().find("net.lnet:"), std::string::npos);
      },
      mail);
}

TEST(Ranks, ADeviceThatThrowsEndsAllOfThem) {
  for (const char *kind : {"cpu", "emu"})
    inRanks(2, [&](JobPointer job) {
      auto session = sessionOf(job, withHook([](const DeviceMoment &moment) {
                                 if (moment.device == 3 && moment.entry == "step")
                                   throw std::runtime_error("broken");
                               }),
                               kind, true);
      ASSERT_TRUE(session->initialise(3).ok());
      fillInput(*session, 1);
      Status status = session->run("step");
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, ErrorCode::E0803);
      EXPECT_NE(status.error().message.find(fmt::format("{}:3 failed at", kind)),
                std::string::npos);
      EXPECT_FALSE(session->run("step").ok()); // an error ends the job
    });
}

/// A receiver that waits for bytes of a rank that has died is let go when the job ends.
TEST(Ranks, AnEndOfTheJobEndsChannels) {
  auto mail = std::make_shared<Mailboxes>(2);
  mail->onTheWay = [](const Mailboxes::Key &key, std::vector<std::byte> &bytes) {
    return std::get<2>(key) < ranks::kTagMessages || bytes.size() != 8; // no answer arrives
  };
  inRanks(
      2,
      [](JobPointer job) {
        auto session = sessionOf(job, {}, "emu", true);
        ASSERT_TRUE(session->initialise(3).ok());
        fillInput(*session, 1);
        std::thread launch([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
          job->breakWith(fail(ErrorCode::E0801, "a rank has died"));
        });
        const auto begin = std::chrono::steady_clock::now();
        Status status = session->run("step");
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
        launch.join();
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code, ErrorCode::E0801);
      },
      mail);
}

TEST(Ranks, ALostMessageIsNamed) {
  auto mail = std::make_shared<Mailboxes>(2);
  std::atomic<int> messages = 0;
  mail->onTheWay = [&](const Mailboxes::Key &key, std::vector<std::byte> &) {
    return std::get<2>(key) < ranks::kTagMessages || ++messages != 7;
  };
  inRanks(
      2,
      [&](JobPointer job) {
        SessionOptions options;
        options.deadline = std::chrono::milliseconds(200);
        auto session = sessionOf(job, options);
        ASSERT_TRUE(session->initialise(3).ok());
        Status status;
        for (int update = 1; update <= 5 && status.ok(); ++update) {
          fillInput(*session, update);
          status = session->run("step");
        }
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code, ErrorCode::E0802) << status.error().text();
      },
      mail);
}

/// Numbers that overflow on a device of the last rank are found by all, with the words of one
/// process.
TEST(Ranks, FindTheFirstNumberThatIsNone) {
  for (bool checkNan : {false, true}) {
    SessionOptions options;
    options.checkNan = checkNan;
    auto one = makeSession(kDevices, options);
    ASSERT_TRUE(one->initialise(3).ok());
    ASSERT_TRUE(one->run("init").ok());
    overflowOn(*one, 2);
    one->parametersChanged();
    const Status want = one->run("step");
    ASSERT_FALSE(want.ok());
    inRanks(2, [&](JobPointer job) {
      auto session = sessionOf(job, options);
      ASSERT_TRUE(session->initialise(3).ok());
      ASSERT_TRUE(session->run("init").ok());
      overflowOn(*session, 2);
      session->parametersChanged();
      Status status = session->run("step");
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().text(), want.error().text());
      ASSERT_TRUE(session->fault());
      EXPECT_EQ(session->fault()->reasons.at(0).text, one->fault()->reasons.at(0).text);
    });
  }
}

/// What rank 0 reads for a checkpoint is what one process has.
TEST(Ranks, CollectsWhatPersistsInRank0) {
  auto one = makeSession(kDevices);
  trainedHash(*one);
  inRanks(3, [&](JobPointer job) {
    auto session = sessionOf(job);
    trainedHash(*session);
    ASSERT_TRUE(session->collect().ok());
    for (const package::Parameter &parameter : one->package().data().parameters)
      if (job->rank() == 0) {
        EXPECT_EQ(session->storedParameter(parameter.name)->hash(),
                  one->storedParameter(parameter.name)->hash())
            << parameter.name;
      }
    EXPECT_EQ(session->weightHashes(), one->weightHashes());
    EXPECT_TRUE(session->compareReplicas().ok());
  });
}

} // namespace
} // namespace lstmc::test
