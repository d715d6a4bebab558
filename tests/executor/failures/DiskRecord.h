// What this process writes beneath a folder, call by call, and what of it a power loss may leave.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lstmc::test {

/// A file, folder or link, whatever it is called. Names belong to folders.
using Node = int;

/// A call that changed something, or made changes durable.
struct DiskCall {
  enum class Kind {
    Make,     ///< name in folder; what it is follows from `node`
    Write,    ///< bytes at offset of node
    Extend,   ///< node has at least `offset` bytes
    Rename,   ///< name to otherName, in one folder
    Exchange, ///< of the nodes that the two names mean
    Remove,   ///< name from folder
    Sync,     ///< of a file's bytes, or a folder's names
  };
  Kind kind;
  Node folder = -1, node = -1, otherNode = -1; ///< the last two: what name and otherName meant
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

/// Beneath one folder, from now on to the end of its life; one at a time. It takes the calls
/// between program and C library, so it sees what is really asked of the system.
class DiskRecord {
public:
  explicit DiskRecord(const std::string &folder);
  ~DiskRecord();

  static constexpr Node kRoot = 0;
  Disk before; ///< taken for durable
  std::vector<DiskCall> calls;

  /// The calls whose change is not durable after the first `count`: a Sync of their node, or of the
  /// folder of their names, has not followed. No order among them is promised by POSIX.
  std::vector<size_t> unsynced(size_t count) const;
};

} // namespace lstmc::test
