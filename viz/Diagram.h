// A network as boxes and arrows, before anyone lays it out: what pictures of sources and of
// packages have in common.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace lstmc::viz {

struct Box {
  enum class Kind { Op, Input, Parameter, Sync } kind = Kind::Op;
  std::string label; ///< lines; the first is what the user calls it
  std::string color = "#fccde5";
  std::string what; ///< the op, for "3 sigmoid"
  std::string name; ///< of the user's node; may be empty
  std::string like; ///< equal for boxes that do the same; empty: this one is like no other
  std::string call; ///< the function of the source that was at work; may be empty
  std::string group;
  std::set<size_t> devices; ///< positions in Diagram::devices
  std::string loop;         ///< text of an arrow from the box to itself; empty: there is none
  std::string frame;        ///< DOT of a frame with boxes of its own in the place of this one
  uint64_t bytes = 0, parameterBytes = 0;
  double seconds = 0;
  std::vector<std::string> places = {}; ///< in the source, of all ops in it (placeText)
};

struct Edge {
  size_t from, to;
  std::string label;
  std::string tail, head; ///< DOT of other ends than the boxes', in frames; empty: the boxes
};

struct Diagram {
  std::string name;
  std::string note;                 ///< above the picture; may be empty
  std::vector<std::string> devices; ///< names
  bool colorsDevices = false;       ///< else colours say what an op is
  bool showsDevices = false, showsMemory = false, showsTime = false; ///< in boxes
  std::vector<Box> boxes;                                            ///< producers before readers
  std::vector<Edge> edges;
};

/// Name of a box in DOT and in the SVG that Graphviz makes of it.
std::string idOf(size_t box);

/// Parameters that one box reads are part of it.
void hideOwnParameters(Diagram &diagram);

/// Where the same boxes read more than three parameters, these become one box.
void joinParameters(Diagram &diagram);

/// Of equal arrows one stays.
void mergeEqualEdges(Diagram &diagram);

/// Takes out the boxes that `keep` does not have, with their edges.
void keepBoxes(Diagram &diagram, const std::vector<bool> &keep);

/// The picture as DOT. Long nets go up and down in columns, wide ones have several rows a level;
/// of more than 300 boxes all places are given, since Graphviz takes minutes to find them.
std::string diagramDot(const Diagram &diagram);

} // namespace lstmc::viz
