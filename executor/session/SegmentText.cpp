#include "executor/session/SegmentText.h"

#include "executor/session/NonFinite.h"

namespace lstmc::session {

std::string segmentText(const package::Package &package, const BoundEntry &entry,
                        const BoundProgram &program, const Segment &segment) {
  const std::string op = opText(package.data(), program.source->launches[segment.launch]);
  const size_t more = segment.last - segment.first;
  auto number = [&] { return entry.messages[segment.message].message.number; };
  switch (segment.kind) {
  case Segment::Kind::Send:
    return fmt::format("send of message {} of {}, {}", number(), entry.name, op);
  case Segment::Kind::Receive:
    return fmt::format("receive of message {} of {}, {}", number(), entry.name, op);
  case Segment::Kind::Await:
    return fmt::format("launch {} of {}, {}, which writes over message {}", segment.launch,
                       entry.name, op, number());
  case Segment::Kind::Launches:
    break;
  }
  if (more == 1)
    return fmt::format("launch {} of {}, {}", segment.launch, entry.name, op);
  return fmt::format("launches {} to {} of {}, from {} on", segment.launch,
                     segment.launch + more - 1, entry.name, op);
}

Place placeOf(const package::Package &package, const BoundProgram &program,
              const Segment &segment) {
  return placeOf(package.location(program.source->launches[segment.launch].location));
}

} // namespace lstmc::session
