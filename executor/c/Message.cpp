#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "executor/c/CallerStruct.h"
#include "executor/c/Guard.h"

namespace {

/// Text of fixed size, so that a failed allocation can be reported too; what does not fit is cut.
template <size_t Size> struct FixedText {
  char text[Size] = {};

  /// Appends, and returns where that begins.
  size_t add(std::string_view more) {
    const size_t has = std::strlen(text), length = std::min(more.size(), Size - 1 - has);
    std::copy_n(more.data(), length, text + has);
    text[has + length] = 0;
    return has;
  }
};

/// The last failure of a thread: the whole message, whose tail is the message proper, and the parts
/// before it.
struct LastError {
  lstmc_status status = LSTMC_OK;
  FixedText<4096> whole;
  FixedText<512> place;
  FixedText<8> code;
  size_t messageAt = 0; ///< in the whole message
};
constinit thread_local LastError last;

/// As Error::text(), without allocating.
lstmc_status keep(std::string_view code, lstmc_status status, std::string_view place,
                  std::string_view message) {
  last.whole.text[0] = last.place.text[0] = last.code.text[0] = 0;
  last.status = status;
  last.place.add(place);
  last.code.add(code);
  last.whole.add(place);
  last.whole.add(place.empty() ? "error[" : ": error[");
  last.whole.add(code);
  last.whole.add("]: ");
  last.messageAt = last.whole.add(message);
  return status;
}

/// As in Error::text(): "F.lnet:3:9", "F: byte 12", "F"; of a file name that is very long, the
/// beginning.
FixedText<512> placeOf(const lstmc::Place &place) {
  FixedText<512> text;
  text.add(place.file);
  char number[64] = "";
  if (place.line > 0)
    std::snprintf(number, sizeof number, ":%d:%d", place.line, place.column);
  else if (place.byte >= 0)
    std::snprintf(number, sizeof number, ": byte %" PRId64, place.byte);
  text.add(number);
  return text;
}

} // namespace

namespace lstmc::c {

lstmc_status failed(const Error &error) noexcept {
  const ErrorRecord &record = errorRecord(error.code);
  return keep(record.name, lstmc_status(int(record.exit)), placeOf(error.place).text,
              error.message);
}

lstmc_status nullArgument() noexcept {
  return keep("E0001", LSTMC_USAGE, {}, "found a null pointer, want an argument");
}

lstmc_status outOfMemory() noexcept {
  return keep("E0901", LSTMC_OUT_OF_MEMORY, {}, "out of memory");
}

lstmc_status unexpected(const char *what) noexcept {
  return keep("E0099", LSTMC_INTERNAL, {}, what);
}

} // namespace lstmc::c

extern "C" {

const char *lstmc_message(void) { return last.whole.text; }

void lstmc_last_error(lstmc_error *error) {
  if (!error)
    return;
  lstmc_error found = {};
  found.status = last.status;
  found.code = last.code.text;
  found.place = last.place.text;
  found.message = last.whole.text + last.messageAt;
  lstmc::c::give(found, error);
}

const char *lstmc_version(void) { return LSTMC_VERSION; }
}
