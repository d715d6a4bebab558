// A network as boxes and edges before layout, common to pictures of sources and of packages.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace lstmc::viz {

struct Box {
  enum class Kind { Op, Input, Parameter, Sync } kind = Kind::Op;
  std::string label; ///< lines; the first is the user's name
  std::string color = "#fccde5";
  std::string what; ///< kind of op, for counts such as "3 sigmoid"
  std::string name; ///< of the user's node; may be empty
  std::string like; ///< equal for boxes with the same function; empty: comparable to no other box
  std::string call; ///< the source function that created the op; may be empty
  std::string group;
  std::set<size_t> devices; ///< indices into Diagram::devices
  std::string loop;         ///< text of a self edge; empty: no self edge
  std::string frame;        ///< DOT of a frame with boxes, drawn instead of this box
  uint64_t bytes = 0, parameterBytes = 0;
  double seconds = 0;
  std::vector<std::string> places = {}; ///< source locations of all ops in the box (placeText)
};

struct Edge {
  size_t from, to;
  std::string label;
  std::string tail, head; ///< DOT ports in frames to use as ends; empty: the boxes
};

struct Diagram {
  std::string name;
  std::string note;                 ///< above the picture; may be empty
  std::vector<std::string> devices; ///< names
  bool colorsDevices = false;       ///< colours show devices; else kinds of ops
  bool showsDevices = false, showsMemory = false, showsTime = false; ///< in boxes
  std::vector<Box> boxes;                                            ///< producers before readers
  std::vector<Edge> edges;
};

/// Identifier of a box in DOT, and in the SVG that Graphviz generates.
std::string idOf(size_t box);

/// Merges parameters with a single reader into the reader's box.
void hideOwnParameters(Diagram &diagram);

/// Merges parameters into one box if more than three have the same readers.
void joinParameters(Diagram &diagram);

/// Removes duplicate edges.
void mergeEqualEdges(Diagram &diagram);

/// Removes the boxes with `keep` false and their edges.
void keepBoxes(Diagram &diagram, const std::vector<bool> &keep);

/// The picture as DOT. Long nets are arranged in columns, wide ones in several rows per level;
/// above 300 boxes all positions are fixed, because Graphviz would take minutes to find them.
std::string diagramDot(const Diagram &diagram);

} // namespace lstmc::viz
