#include "executor/package/Check.h"

#include <algorithm>

#include "executor/package/Plan.h"
#include "executor/package/Streams.h"

namespace lstmc::package {

namespace {

StreamPlace placeOf(const Launch &launch) {
  return {launch.stream, launch.event, launch.waits, isTransfer(launch.kernel)};
}

Status checkProgram(const PackageData &data, const DeviceProgram &program, const Path &path) {
  std::vector<StreamPlace> places;
  for (const Launch &launch : program.launches)
    places.push_back(placeOf(launch));
  if (std::ranges::all_of(places, &StreamPlace::plain))
    return {};
  std::vector<ByteAccess> accesses;
  for (uint32_t i = 0; i < program.launches.size(); ++i) {
    const Launch &launch = program.launches[i];
    for (size_t k = 0; k < launch.operands.size(); ++k) {
      const Operand &operand = launch.operands[k];
      if (operand.buffer == kNoBuffer)
        continue;
      const auto [begin, end] = bytesOf(data, operand);
      accesses.push_back({i, writes(data, launch, k), begin, end});
    }
  }
  if (auto fault = findStreamFault(places, program.commit, accesses))
    return refuse(Path(Path(path, "launches", fault->launch), fault->field), ErrorCode::E0611, "{}",
                  fault->text);
  return {};
}

} // namespace

Status checkStreams(const PackageData &data) {
  for (size_t e = 0; e < data.entries.size(); ++e)
    for (size_t p = 0; p < data.entries[e].programs.size(); ++p)
      LSTMC_TRY(checkProgram(data, data.entries[e].programs[p],
                             Path(Path("entries", int64_t(e)), "programs", int64_t(p))));
  for (size_t i = 0; i < data.parameters.size(); ++i)
    if (!placeOf(data.parameters[i].initialise).plain())
      return refuse(Path(Path("parameters", int64_t(i)), "initialise"), ErrorCode::E0611,
                    "found a stream or an event, want neither");
  return {};
}

} // namespace lstmc::package
