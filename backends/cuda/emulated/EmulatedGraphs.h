// Graphs of the emulated driver: what streams were given while they were captured, given again.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/emulated/EmulatedCards.h"

namespace lstmc::cuda::emulated {

/// What streams are given from the begin of a capture on: nothing of it is carried out. A stream
/// that waits for an event of the capture is captured too, as another lane.
struct Capture : std::enable_shared_from_this<Capture> {
  struct Command {
    enum class Kind : uint8_t { Operation, Record, Wait };
    Kind kind;
    size_t lane;
    size_t event = 0; ///< which record, for Record and Wait
    Operation operation = {};
  };

  DriverResult give(Stream &stream, Operation operation);
  DriverResult record(Event &event, Stream &stream);
  /// At least one of the two belongs to a capture.
  static DriverResult wait(Stream &stream, Event &event);

  /// Of each lane, how many commands come before what it is given next.
  using Known = std::vector<size_t>;

  std::vector<Stream *> lanes;   ///< the first is where the capture began; none once it has ended
  std::vector<Card *> cards;     ///< by lane
  std::vector<size_t> recorders; ///< lanes, by record
  std::vector<Known> known;      ///< by lane
  std::vector<Known> recorded;   ///< by record
  std::vector<Command> commands;
  bool broken = false;

  void add(Command command);
  void join(Stream &stream);
};

/// A graph that can be launched: each lane has a stream of its own, so that what the edges leave
/// open is carried out in any order, and an edge that is not there is found.
struct Executable {
  std::shared_ptr<const Capture> capture;
  std::vector<Stream *> lanes;
  std::vector<Event *> records; ///< one for each record of the capture
  std::vector<Event *> ended;   ///< one for each lane
  Event *begun = nullptr;
};

/// Fills these functions of the table.
void addGraphs(Driver &driver);

} // namespace lstmc::cuda::emulated
