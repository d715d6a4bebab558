// The streams and events of a GPU, and the graphs that what they are given is kept in.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "backends/cuda/runtime/Driver.h"

namespace lstmc::cuda {

class Streams;

/// What streams were given while they were captured. Made once, launched in every run.
struct KeptGraph {
  DriverExecutable executable = nullptr; ///< null until it is made
  uint64_t launches = 0;                 ///< of the package, in it
  bool ran = false;                      ///< in its place, before it was made
  std::vector<Streams *> guests = {};    ///< of other devices, which have a part in it
  bool refused = false;                  ///< it cannot be made
};

/// A graph comes after all that the streams were given before and before all that they are given
/// later: it is launched on stream 0, and the others are joined to that. So an event orders only
/// what is in the same graph, or what is in none, and every other wait for it is left out. All
/// functions return the driver's first error, and are called with the context set.
class Streams {
public:
  explicit Streams(const Driver &driver) : driver_(driver) {}
  Streams(const Streams &) = delete;
  Streams &operator=(const Streams &) = delete;

  DriverResult reserve(uint32_t streams, uint32_t events);
  void destroy();

  /// The stream, to be given something.
  DriverResult use(uint32_t stream, DriverStream &handle);
  DriverResult record(uint32_t stream, uint32_t event);
  DriverResult wait(uint32_t stream, uint32_t event);
  DriverResult synchronize(uint32_t stream);
  DriverResult finish();
  /// What any of them is given from now on comes after an event of another stream.
  DriverResult waitFor(DriverEvent event) const;
  /// What this stream is given comes after an event of another device, whose streams are inside the
  /// same graph, if it was recorded there.
  DriverResult waitFor(uint32_t stream, const Streams &other, uint32_t event);

  /// Makes a graph of what `give` gives the streams, and those of the graph's guests. Nothing of it
  /// is carried out yet. What `give` throws is thrown on, and there is no graph then.
  DriverResult capture(KeptGraph &graph, const std::function<void()> &give);
  DriverResult launch(const KeptGraph &graph);
  /// What `give` gives the streams is carried out in the place of a graph.
  DriverResult inPlaceOfGraph(const std::function<void()> &give);

private:
  struct Stream {
    DriverStream handle = nullptr;
    DriverEvent joined = nullptr;
    bool ahead = false;    ///< has something that stream 0 does not wait for
    bool mustWait = false; ///< does not wait yet for the last graph
    bool inside = false;   ///< takes part in the graph under way
  };
  struct Event {
    DriverEvent handle = nullptr;
    uint64_t graph = 0; ///< the run of a graph in which it was recorded last; 0: in none
  };

  const Streams &leader() const { return leader_ ? *leader_ : *this; }
  DriverResult comeBefore(DriverStream graph);
  DriverResult comeAfter(DriverEvent graph);
  DriverResult join(Stream &stream);
  DriverResult enter();
  DriverResult leave();
  DriverResult ended();

  const Driver &driver_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  DriverEvent begun_ = nullptr, ended_ = nullptr; ///< of the graph under way, and of the last one
  uint64_t graphs_ = 0;                           ///< runs of graphs so far
  uint64_t inside_ = 0;                           ///< the run of a graph under way; 0: none
  const Streams *leader_ = nullptr;               ///< of that graph, if these are its guests
};

} // namespace lstmc::cuda
