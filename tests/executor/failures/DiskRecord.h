// Records what this process writes below a folder, call by call, and which of it a power loss may
// keep.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lstmc::test {

/// A file, folder or link, independent of its name. Names belong to folders.
using Node = int;

/// A call that changed something, or made changes durable.
struct DiskCall {
  enum class Kind {
    Make,     ///< a name in a folder; `node` says what is made
    Write,    ///< bytes at offset of node
    Extend,   ///< makes the node at least `offset` bytes long
    Rename,   ///< name to otherName, in one folder
    Exchange, ///< exchanges the nodes of the two names
    Remove,   ///< removes a name from a folder
    Sync,     ///< syncs a file's bytes, or a folder's names
  };
  Kind kind;
  Node folder = -1, node = -1, otherNode = -1; ///< the last two: the nodes of name and otherName
  std::string name, otherName;
  uint64_t offset = 0;
  std::string bytes;
};

/// One state of a disk.
struct Disk {
  std::map<Node, std::map<std::string, Node>> folders;
  std::map<Node, std::string> files, links;

  void apply(const DiskCall &call);
};

/// Records calls below one folder as long as it lives; one at a time. It intercepts the calls from
/// the program to the C library, so it sees what is really asked of the system.
class DiskRecord {
public:
  explicit DiskRecord(const std::string &folder);
  ~DiskRecord();

  static constexpr Node kRoot = 0;
  Disk before; ///< the state at the start, which counts as durable
  std::vector<DiskCall> calls;

  /// Those of the first `count` calls that are not durable, because no Sync of their node or of the
  /// folder of their names follows. POSIX promises no order among them.
  std::vector<size_t> unsynced(size_t count) const;
};

} // namespace lstmc::test
