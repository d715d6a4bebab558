// What the C interface says of a package before there is a session, of errors, and of options.
#include <cstddef>
#include <cstring>
#include <string>

#include "tests/executor/c/Interface.h"
#include "tests/executor/c/SampleBytes.h"

namespace {

using namespace lstmc::test;

Package openRanged() {
  const std::vector<std::byte> bytes = sampleBytes();
  lstmc_package *package = nullptr;
  EXPECT_EQ(lstmc_package_open_memory(bytes.data(), bytes.size(), &package), LSTMC_OK)
      << lstmc_message();
  return Package(package);
}

lstmc_tensor_info infoOf(const Package &package, lstmc_kind kind, const char *entry,
                         const char *name) {
  lstmc_tensor_info info = {.size = sizeof info};
  EXPECT_EQ(lstmc_package_tensor(package.get(), kind, entry, name, &info), LSTMC_OK)
      << lstmc_message();
  return info;
}

TEST(CPackage, TensorsAreKnownBeforeASession) {
  Package package = openRanged();
  const lstmc_tensor_info x = infoOf(package, LSTMC_INPUT, "forward", "x");
  EXPECT_STREQ(x.name, "x");
  EXPECT_STREQ(x.role, "data");
  EXPECT_EQ(x.tensor.data, nullptr);
  EXPECT_EQ(x.tensor.dtype, LSTMC_F32);
  ASSERT_EQ(x.tensor.rank, 2);
  EXPECT_EQ(x.tensor.shape[0], 2);
  EXPECT_EQ(x.tensor.shape[1], 4);
  EXPECT_STREQ(x.dims[0], "batch");
  EXPECT_STREQ(x.dims[1], "");
  EXPECT_STREQ(x.dims[LSTMC_MAX_RANK - 1], "");
  EXPECT_EQ(x.has_range, 1u);
  EXPECT_EQ(x.low, -100);
  EXPECT_EQ(x.high, 100);
  EXPECT_EQ(x.has_ignored, 1u);
  EXPECT_EQ(x.ignored, 7777);

  const lstmc_tensor_info y = infoOf(package, LSTMC_OUTPUT, "forward", "y");
  EXPECT_STREQ(y.role, "output");
  EXPECT_EQ(y.has_range, 0u);
  EXPECT_EQ(lstmc_tensor_bytes(&y.tensor), 2 * 3 * sizeof(float));
  EXPECT_STREQ(infoOf(package, LSTMC_STATE, nullptr, "h").role, "");
  EXPECT_EQ(infoOf(package, LSTMC_STATE, nullptr, "h").tensor.shape[1], 3);
  EXPECT_EQ(infoOf(package, LSTMC_PARAMETER, nullptr, "w").tensor.shape[0], 3);
  EXPECT_EQ(infoOf(package, LSTMC_SLOT, nullptr, "w/momentum").tensor.shape[1], 4);
  EXPECT_STREQ(infoOf(package, LSTMC_SLOT, nullptr, "w/momentum").name, "w/momentum");
}

TEST(CPackage, UnknownNamesAreRefusedWithTheNearest) {
  Package package = openRanged();
  lstmc_tensor_info info = {.size = sizeof info};
  auto refused = [&](lstmc_kind kind, const char *entry, const char *name) {
    EXPECT_EQ(lstmc_package_tensor(package.get(), kind, entry, name, &info), LSTMC_USAGE);
    return std::string(lstmc_message());
  };
  EXPECT_EQ(refused(LSTMC_INPUT, "step", "learning_rat"),
            "error[E0001]: input \"learning_rat\": step has none of that name, did you mean "
            "\"learning_rate\"?; there are learning_rate, update, x");
  EXPECT_NE(refused(LSTMC_INPUT, "forwards", "x").find("did you mean \"forward\"?"),
            std::string::npos);
  EXPECT_NE(refused(LSTMC_OUTPUT, nullptr, "y").find("entry \"\""), std::string::npos);
  EXPECT_NE(refused(LSTMC_STATE, nullptr, "c").find("there is h"), std::string::npos);
  EXPECT_NE(refused(LSTMC_PARAMETER, nullptr, "v").find("there is w"), std::string::npos);
  EXPECT_NE(refused(LSTMC_SLOT, nullptr, "w/mean").find("there is w/momentum"), std::string::npos);
  EXPECT_NE(refused(lstmc_kind(9), nullptr, "w").find("kind: found 9"), std::string::npos);
  EXPECT_EQ(lstmc_package_tensor(package.get(), LSTMC_STATE, nullptr, nullptr, &info), LSTMC_USAGE);
  info.size = 0;
  EXPECT_NE(refused(LSTMC_STATE, nullptr, "h").find("info: found size 0"), std::string::npos);
}

TEST(CPackage, AnErrorHasItsParts) {
  lstmc_package *package = nullptr;
  ASSERT_EQ(lstmc_package_open("no/such.lstmc", &package), LSTMC_BAD_FILE);
  lstmc_error error = {.size = sizeof error};
  lstmc_last_error(&error);
  EXPECT_EQ(error.status, LSTMC_BAD_FILE);
  EXPECT_STREQ(error.code, "E0601");
  EXPECT_STREQ(error.place, "no/such.lstmc");
  EXPECT_EQ(std::string(error.place) + ": error[E0601]: " + error.message, lstmc_message());

  ASSERT_EQ(lstmc_package_open_memory("junkjunkjunkjunk", 16, &package), LSTMC_BAD_FILE);
  lstmc_last_error(&error);
  EXPECT_EQ(std::string(error.place).substr(0, 6), "memory");
  ASSERT_EQ(lstmc_package_open(nullptr, &package), LSTMC_USAGE);
  lstmc_last_error(&error);
  EXPECT_STREQ(error.code, "E0001");
  EXPECT_STREQ(error.place, "");

  // A struct of an earlier header is filled as far as it goes.
  error = {.size = offsetof(lstmc_error, place), .place = "kept"};
  lstmc_last_error(&error);
  EXPECT_STREQ(error.code, "E0001");
  EXPECT_STREQ(error.place, "kept");
  lstmc_last_error(nullptr);
}

TEST(CPackage, ALongMessageIsCut) {
  const std::string name(10000, 'n');
  lstmc_package *package = nullptr;
  ASSERT_EQ(lstmc_package_open(name.c_str(), &package), LSTMC_BAD_FILE);
  EXPECT_EQ(std::strlen(lstmc_message()), 511 + std::strlen(": error[E0601]: ") +
                                              std::strlen(std::strchr(lstmc_message(), ']') + 3));
}

lstmc_status create(const Package &package, const lstmc_session_options &options,
                    Session *made = nullptr) {
  lstmc_session *session = nullptr;
  const lstmc_status status = lstmc_session_create(package.get(), &options, &session);
  Session owned(session);
  if (made)
    *made = std::move(owned);
  return status;
}

TEST(CPackage, OptionsAreChecked) {
  Package package = openRanged();
  EXPECT_EQ(create(package, {.size = 0}), LSTMC_USAGE); // a size that was forgotten
  EXPECT_NE(std::string(lstmc_message()).find("options: found size 0"), std::string::npos);
  EXPECT_EQ(create(package, {.size = sizeof(lstmc_session_options), .threads = -1}), LSTMC_USAGE);
  EXPECT_STREQ(lstmc_message(), "error[E0001]: threads: found -1, want a number from 0 on");

  // Fields of a later header that are 0 change nothing, others are refused.
  struct {
    lstmc_session_options known;
    uint64_t later;
  } options = {{.size = sizeof options}, 0};
  EXPECT_EQ(create(package, options.known), LSTMC_OK) << lstmc_message();
  options.later = 1;
  EXPECT_EQ(create(package, options.known), LSTMC_USAGE);
  EXPECT_NE(std::string(lstmc_message()).find("a newer lstmc.h"), std::string::npos);
}

TEST(CPackage, ASessionOfSomeEntries) {
  Package package = openRanged();
  Session forwardOnly;
  const lstmc_session_options options = {.size = sizeof options, .entries = "forward"};
  ASSERT_EQ(create(package, options, &forwardOnly), LSTMC_OK) << lstmc_message();
  EXPECT_EQ(lstmc_session_run(forwardOnly.get(), "step"), LSTMC_USAGE);
  EXPECT_STREQ(lstmc_message(),
               "error[E0001]: entry \"step\": the package has none of that name; there is forward");
  ASSERT_EQ(lstmc_session_initialise(forwardOnly.get(), 3), LSTMC_OK);
  EXPECT_EQ(forward(forwardOnly.get(), 1).size(), 6u);

  EXPECT_EQ(create(package, {.size = sizeof options, .entries = "forward,stepp"}), LSTMC_USAGE);
  EXPECT_NE(std::string(lstmc_message()).find("did you mean \"step\"?"), std::string::npos);
}

TEST(CPackage, ASessionOfExtents) {
  Package package = openRanged();
  Session session;
  const lstmc_session_options options = {.size = sizeof options, .dims = "batch=2"};
  ASSERT_EQ(create(package, options, &session), LSTMC_OK) << lstmc_message();
  const lstmc_package *own = lstmc_session_package(session.get());
  package.reset(); // the session has its package
  EXPECT_STREQ(lstmc_package_input(own, "forward", 0), "x");
  EXPECT_EQ(lstmc_session_package(nullptr), nullptr);

  package = openRanged();
  auto refused = [&](const char *dims) {
    EXPECT_EQ(create(package, {.size = sizeof options, .dims = dims}), LSTMC_USAGE);
    return std::string(lstmc_message());
  };
  EXPECT_EQ(refused("batch=3"), "error[E0001]: dims: found batch=3, want those of a plan that the "
                                "package has: batch=2; compile its source for others");
  EXPECT_NE(refused("bach=3").find("did you mean \"batch\"?"), std::string::npos);
  for (const char *wrong : {"batch", "batch=", "batch=two", "batch=0", "=2", ","})
    EXPECT_NE(refused(wrong).find("dims"), std::string::npos) << wrong;
}

TEST(CPackage, MorePlansAreThoseOfTheNetwork) {
  Package package = openRanged();
  const std::vector<std::byte> bytes = sampleBytes();
  uint32_t found = 2;
  EXPECT_EQ(lstmc_package_find_plan(package.get(), "batch=2", &found), LSTMC_OK);
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(lstmc_package_find_plan(package.get(), "batch=3", &found), LSTMC_OK);
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(lstmc_package_find_plan(package.get(), "bach=3", &found), LSTMC_USAGE);
  auto add = [&](const char *dims, size_t size) {
    return lstmc_package_add_plan(package.get(), dims, bytes.data(), size);
  };
  EXPECT_EQ(add("batch=3", bytes.size()), LSTMC_USAGE);
  EXPECT_STREQ(lstmc_message(), "error[E0001]: dims: found a plan of batch=2, want one of batch=3");
  EXPECT_EQ(add("", bytes.size()), LSTMC_USAGE);
  EXPECT_EQ(add("batch=2", 16), LSTMC_BAD_FILE);
  EXPECT_EQ(add("batch=2", bytes.size()), LSTMC_OK) << lstmc_message();
}

TEST(CPackage, ValuesOutOfRangeAreRefused) {
  Package package = openRanged();
  Session session = createSession(package.get());
  lstmc_tensor x;
  ASSERT_EQ(lstmc_session_input(session.get(), "forward", "x", &x), LSTMC_OK);
  auto *values = static_cast<float *>(x.data);
  values[6] = 101;
  EXPECT_EQ(lstmc_session_run(session.get(), "forward"), LSTMC_BAD_FILE);
  EXPECT_STREQ(lstmc_message(), "error[E0604]: input \"x\" row 1, at [1, 2]: found 101, want -100 "
                                "to 100, or 7777");
  values[6] = 7777;
  EXPECT_EQ(lstmc_session_run(session.get(), "forward"), LSTMC_OK) << lstmc_message();
}

TEST(CPackage, ParametersAreReadAndSet) {
  Package package = openRanged();
  Session session = createSession(package.get());
  std::vector<float> weights(12, 0.5f);
  ASSERT_EQ(lstmc_session_set_parameter(session.get(), "w", weights.data(), 48), LSTMC_OK)
      << lstmc_message();
  lstmc_tensor w;
  ASSERT_EQ(lstmc_session_parameter(session.get(), "w", &w), LSTMC_OK);
  ASSERT_EQ(lstmc_tensor_bytes(&w), 48u);
  EXPECT_EQ(std::memcmp(w.data, weights.data(), 48), 0);
  EXPECT_EQ(forward(session.get(), 0)[0], 3); // 0.5 * (0 + 1 + 2 + 3)
  weights.assign(12, 1);
  ASSERT_EQ(lstmc_session_set_parameter(session.get(), "w", weights.data(), 48), LSTMC_OK);
  EXPECT_EQ(forward(session.get(), 0)[0], 6);

  EXPECT_EQ(lstmc_session_set_parameter(session.get(), "w", weights.data(), 44), LSTMC_USAGE);
  EXPECT_STREQ(lstmc_message(), "error[E0001]: parameter \"w\": found 44 bytes, want 48");
  EXPECT_EQ(lstmc_session_parameter(session.get(), "v", &w), LSTMC_USAGE);
  EXPECT_EQ(lstmc_session_gradient(session.get(), "w", &w), LSTMC_OK) << lstmc_message();
  EXPECT_EQ(lstmc_tensor_bytes(&w), 48u);
}

} // namespace
